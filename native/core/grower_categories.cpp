// The part of the grower that splits categories: which of them go left.
//
// With few categories, one against the rest. With more, they stand in the order of their gradient per hessian,
// where the best set for a convex loss is a prefix (Fisher 1958); prefixes are tried from both ends. What is
// missing, or was not seen often enough to be known, is one more category.
#include <algorithm>
#include <cmath>

#include "core/grower.h"
#include "core/random.h"

namespace gossamer {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

// Those that have rows in the leaf; what is not known comes last.
std::vector<Grower::Category> Grower::categories_of(const FeatureCells& cells, const Feature& feature) const {
  const auto n = static_cast<std::int64_t>(feature.n_value_bins) + feature.has_missing;
  std::vector<std::int64_t> room;
  std::vector<std::uint32_t> counts;
  LargeCells sums = cells.large;
  if (cells.cells != nullptr) {
    room.assign(at(2 * n), 0);
    counts.assign(at(n), 0);
    sums = {room.data(), room.data() + n, counts.data()};
    kernels().unpack_add(cells.cells, n, layout_, sums);
  }
  std::vector<Category> found;
  Category others{-1, {}};
  for (std::int64_t b = 0; b < n; ++b) {
    if (sums.count[b] == 0) continue;
    const Sums own{sums.gradient[b], layout_.constant_hessian() ? 0 : sums.hessian[b], sums.count[b]};
    if (b < feature.n_value_bins && feature.category[at(b)] >= 0) {
      found.push_back({static_cast<std::int32_t>(b), own});
    } else {
      others.sums += own;
    }
  }
  if (others.sums.count > 0) found.push_back(others);
  return found;
}

// As the search of thresholds, for one side.
double Grower::side_gain(const Sums& sums, double l2, double parent_output, const ValueLimits* limits) const {
  const auto gradient = static_cast<double>(sums.gradient);
  const auto hessian = static_cast<double>(layout_.constant_hessian() ? sums.count : sums.hessian);
  const double denominator = hessian + l2;
  const double s = std::copysign(std::max(std::abs(gradient) - rules_.lambda_l1, 0.0), gradient);
  if (rules_.plain() && limits == nullptr) return s * s / denominator;
  double w = -s / denominator;
  if (rules_.max_delta_step > 0.0) w = std::clamp(w, -rules_.max_delta_step, rules_.max_delta_step);
  if (rules_.path_smooth > 0.0) {
    const double trust = static_cast<double>(sums.count) / rules_.path_smooth;
    w = w * trust / (trust + 1.0) + parent_output / (trust + 1.0);
  }
  if (limits != nullptr) w = std::max(std::min(w, limits->high), limits->low);
  return -(2.0 * s * w + denominator * w * w);
}

void Grower::search_categories(const Leaf& leaf, const FeatureCells& cells, std::int32_t f, int thread, Found& best) {
  const Feature& feature = matrix_->features()[at(f)];
  const std::vector<Category> all = categories_of(cells, feature);
  if (all.size() < 2) return;
  std::vector<Category> categories = all;  // that may be told apart
  ValueLimits room;
  const ValueLimits* limits = nullptr;
  if (monotone_.is_on()) {
    const auto i = static_cast<std::int32_t>(&leaf - leaves_.data());
    if (monotone_.limit_search(i, f, layout_.hessian_unit / layout_.gradient_unit, thread, room)) limits = &room;
  }
  const double parent_output = leaf.output * layout_.hessian_unit / layout_.gradient_unit;
  const auto hessian_of = [&](const Sums& s) {
    return static_cast<double>(layout_.constant_hessian() ? s.count : s.hessian);
  };
  const double min_hessian = rules_.min_sum_hessian > 0.0 || rules_.lambda_l2 > 0.0 ? rules_.min_sum_hessian : 0.5;
  const auto is_enough = [&](const Sums& s) {
    return static_cast<double>(s.count) >= rules_.min_data && hessian_of(s) >= min_hessian;
  };
  const auto n_known = std::count_if(feature.category.begin(), feature.category.end(), [](auto c) { return c >= 0; });
  const bool one_hot = n_known + feature.has_missing <= rules_.max_cat_to_onehot;
  const double l2 = rules_.lambda_l2 + (one_hot ? 0.0 : rules_.cat_l2);
  if (!one_hot) {
    // Rare ones tell little of where they belong: they stay with the rest.
    std::erase_if(categories,
                  [&](const Category& c) { return static_cast<double>(c.sums.count) < params_->rules.cat_smooth; });
    for (Category& c : categories) {
      c.order = static_cast<double>(c.sums.gradient) / (hessian_of(c.sums) + rules_.cat_smooth);
    }
    std::stable_sort(categories.begin(), categories.end(),
                     [](const Category& a, const Category& b) { return a.order < b.order; });
  }
  const auto n = static_cast<std::int64_t>(categories.size());
  const std::int64_t n_tried = one_hot ? n : std::min<std::int64_t>(rules_.max_cat_threshold, (n + 1) / 2);
  std::int64_t only = -1;
  if (params_->extra_trees && n_tried > 0) {
    only = static_cast<std::int64_t>(random_bits(params_->extra_key ^ leaf.key, static_cast<std::uint64_t>(f)) %
                                     static_cast<std::uint64_t>(n_tried));
  }
  double best_gain = -1.0e300;
  std::int64_t first = -1, last = -1;  // of the categories that go left
  for (int direction = 0; direction < (one_hot ? 1 : 2); ++direction) {
    Sums left;
    double group = 0.0;  // rows since the last set that was tried
    for (std::int64_t i = 0; i < n_tried; ++i) {
      const std::int64_t place = direction == 0 ? i : n - 1 - i;
      if (one_hot) left = {};
      left += categories[at(place)].sums;
      group += static_cast<double>(categories[at(place)].sums.count);
      const Sums right = leaf.sums - left;
      if (!is_enough(left)) continue;
      if (!is_enough(right) || (!one_hot && static_cast<double>(right.count) < rules_.min_data_per_group)) {
        if (one_hot) continue;
        break;
      }
      if (!one_hot && group < rules_.min_data_per_group) continue;
      group = 0.0;
      if (only >= 0 && i != only) continue;
      const double gain = side_gain(left, l2, parent_output, limits) + side_gain(right, l2, parent_output, limits);
      if (!(gain > best_gain)) continue;
      best_gain = gain;
      first = one_hot || direction == 1 ? place : 0;
      last = one_hot || direction == 0 ? place : n - 1;
    }
  }
  if (first < 0) return;
  if (adjusts_gains_) best_gain = adjusted_gain(leaf, f, best_gain);
  const bool is_better = best.loses_to(best_gain, f);
  if (!is_better && !refunds_) return;

  // What has no rows here goes with the rest, as in LightGBM; so does what is not known, unless it was chosen.
  std::uint8_t others = 0;
  for (std::int64_t i = first; i <= last; ++i) others |= categories[at(i)].bin < 0;
  Split split;
  split.gain = best_gain;
  split.feature = f;
  split.missing_left = others != 0;
  split.l2 = one_hot ? 0.0 : params_->rules.cat_l2;
  split.goes_left.assign(at(feature.n_value_bins) + 1, others);
  for (const Category& c : all) {
    if (c.bin >= 0) split.goes_left[at(c.bin)] = 0;
  }
  for (std::int64_t i = first; i <= last; ++i) {
    if (categories[at(i)].bin >= 0) split.goes_left[at(categories[at(i)].bin)] = 1;
  }
  if (refunds_) note_offer(leaf, split);
  if (!is_better) return;
  best.gain = best_gain;
  best.split = std::move(split);
}

Sums Grower::sum_left(const FeatureCells& cells, const Split& split) const {
  const auto n_bins = static_cast<std::int64_t>(split.goes_left.size());
  const Feature& feature = matrix_->features()[at(split.feature)];
  Sums left;
  for (std::int64_t b = 0; b < n_bins - !feature.has_missing; ++b) {
    if (split.goes_left[at(b)] != 0) left += sum_bins(cells, b, 1, layout_);
  }
  return left;
}

}  // namespace gossamer
