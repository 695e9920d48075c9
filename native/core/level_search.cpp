// The part of the histogram evaluator that finds one split for all leaves of a level (symmetric trees).
//
// The gain of a candidate is the sum of its gains in the leaves. A leaf in which it gains nothing, or leaves a side too
// few rows, adds nothing: it is not split, and waits for the split of the next level. Gains are added in the order of
// the jobs, so that neither threads nor shards change them. A category is tried against all others.
#include <algorithm>
#include <cmath>

#include "core/category_search.h"
#include "core/histogram_evaluator.h"
#include "core/index.h"
#include "core/random.h"

namespace gossamer {
namespace {

// The bins of a feature in one leaf as 64-bit sums.
LargeCells unpack(const FeatureCells& cells, std::int64_t n, const CellLayout& layout,
                  std::vector<std::int64_t>& memory) {
  if (cells.cells == nullptr) return cells.large;
  memory.assign(at(3 * n), 0);
  const LargeCells sums{memory.data(), memory.data() + n, reinterpret_cast<std::uint32_t*>(memory.data() + 2 * n)};
  kernels().unpack_add(cells.cells, n, layout, sums);
  return sums;
}

}  // namespace

// What a split with these rows on the left gains in a leaf, in units of the layout; 0: the leaf is not split.
double HistogramEvaluator::level_gain(const SearchedLeaf& leaf, const Sums& left, const SplitRules& rules) const {
  const Sums right = leaf.sums - left;
  const double least = std::max(rules.min_data, 1.0);
  if (static_cast<double>(std::min(left.count, right.count)) < least) return 0.0;
  if (std::min(hessian_of(left), hessian_of(right)) < least_hessian(rules)) return 0.0;
  const auto gain_of = [&](const Sums& side) {
    return leaf_gain(static_cast<double>(side.gradient), hessian_of(side), static_cast<double>(side.count), rules,
                     leaf.output);
  };
  // The rounding error of a zero gain must not count as a gain.
  const double both = gain_of(left) + gain_of(right);
  const double gain = both - leaf.own_gain;
  return gain <= 1e-12 * std::abs(both) ? 0.0 : gain;
}

// Adds the gains of one leaf: by bin with missing rows on the right, then by bin with missing rows on the left.
void HistogramEvaluator::add_level_gains(const SearchedLeaf& leaf, std::int32_t f, int thread) {
  const Feature& own = feature(f);
  const SplitRules rules = rules_of(own);
  const std::int64_t n = own.n_value_bins;
  LevelScratch& scratch = level_scratch_[at(thread)];
  const LargeCells cells = unpack(cells_of(leaf, f, thread), n + own.has_missing, layout(), scratch.cells);
  const auto sums_of = [&](std::int64_t bin) {
    return Sums{cells.gradient[bin], layout().constant_hessian() ? 0 : cells.hessian[bin], cells.count[bin]};
  };
  double* const gains = scratch.gains.data();
  if (own.is_categorical()) {
    for (std::int64_t b = 0; b < n; ++b) {
      if (own.category[at(b)] >= 0 && cells.count[b] > 0) gains[b] += level_gain(leaf, sums_of(b), rules);
    }
    return;
  }
  const Sums missing = own.has_missing ? sums_of(n) : Sums{};
  scratch.n_missing += missing.count;
  Sums left;
  double to_right = 0.0;
  double to_left = missing.count > 0 ? level_gain(leaf, missing, rules) : 0.0;
  for (std::int64_t b = 0; b < n; ++b) {
    if (cells.count[b] > 0) {
      left += sums_of(b);
      to_right = to_left = level_gain(leaf, left, rules);
      if (missing.count > 0) {
        Sums both = left;
        both += missing;
        to_left = level_gain(leaf, both, rules);
      }
    }
    gains[b] += to_right;
    gains[n + b] += to_left;
  }
}

// With extra trees one threshold of a feature is tried, or one of the categories that gain something.
std::pair<std::int64_t, std::int64_t> HistogramEvaluator::level_candidates(const Feature& own, std::int32_t f,
                                                                           const double* gains) const {
  const std::int64_t n = own.n_value_bins;
  if (!search_->extra_trees || own.l2 != 0.0) return {0, n};
  const std::uint64_t random =
      random_bits(search_->extra_key ^ leaves_.front().job->key, static_cast<std::uint64_t>(f));
  const auto draw = [&](std::int64_t of) {
    return static_cast<std::int64_t>(random % static_cast<std::uint64_t>(std::max<std::int64_t>(of, 1)));
  };
  std::int64_t place = draw(n - !own.has_missing);
  if (own.is_categorical()) {
    std::int64_t k = draw(std::count_if(gains, gains + n, [](double gain) { return gain > 0.0; }));
    for (place = 0; place + 1 < n && (gains[place] <= 0.0 || k-- > 0);) ++place;
  }
  return {place, place + 1};
}

HistogramEvaluator::Found HistogramEvaluator::search_level_on(std::int32_t f, int thread) {
  const Feature& own = feature(f);
  const std::int64_t n = own.n_value_bins;
  LevelScratch& scratch = level_scratch_[at(thread)];
  scratch.gains.assign(at(2 * n), 0.0);
  scratch.n_missing = 0;
  for (const SearchedLeaf& leaf : leaves_) {
    if (leaf.may_split()) add_level_gains(leaf, f, thread);
  }
  const auto [begin, end] = level_candidates(own, f, scratch.gains.data());
  Found found;
  found.gain = 0.0;
  for (int side = 0; side < (scratch.n_missing > 0 ? 2 : 1); ++side) {
    for (std::int64_t b = begin; b < end; ++b) {
      const double gain = scratch.gains[at(side * n + b)];
      if (gain <= found.gain) continue;
      found.gain = gain;
      found.split.feature = f;
      found.split.threshold = static_cast<std::int32_t>(b);
      found.split.missing_left = side == 1;
    }
  }
  if (real_gain(found.gain) <= search_->rules.min_gain_to_split) return {};
  found.split.l2 = own.l2;
  if (own.is_categorical()) {
    found.split.goes_left.assign(at(n) + 1, 0);
    found.split.goes_left[at(found.split.threshold)] = 1;
    found.split.threshold = 0;
  } else if (scratch.n_missing == 0) {
    found.split.missing_left = is_majority_left(found.split, thread);
  }
  return found;
}

// No row of the level is missing, so missing values will follow the majority.
bool HistogramEvaluator::is_majority_left(const BestSplit& split, int thread) {
  std::int64_t n_left = 0;
  std::int64_t n_rows = 0;
  for (const SearchedLeaf& leaf : leaves_) {
    if (!leaf.may_split()) continue;
    n_left += sum_bins(cells_of(leaf, split.feature, thread), 0, split.threshold + 1, layout()).count;
    n_rows += leaf.sums.count;
  }
  return 2 * n_left >= n_rows;
}

// All leaves of the level have the same features to choose from: their keys and depths are the same.
void HistogramEvaluator::search_level(Team& team, std::span<Found> best) {
  level_scratch_.resize(at(team.n_threads()));
  // Sparse columns with too few entries for a split have no cells.
  const auto has_cells = [&](std::int32_t f) { return !feature(f).loose() || sparse_->place_of[at(f)] >= 0; };
  std::vector<std::int32_t> features;
  for (const std::int32_t f : allowed_.tree_features()) {
    if (allowed_.in_histogram(leaves_.front().job->node, f) && has_cells(f) && owns(f)) features.push_back(f);
  }
  std::vector<Found> found(features.size());
  team.for_each(std::ssize(features),
                [&](std::int64_t i, int thread) { found[at(i)] = search_level_on(features[at(i)], thread); });
  Found winner;
  for (Found& each : found) {
    if (each.split.feature >= 0 && winner.loses_to(each.gain, each.split.feature)) winner = std::move(each);
  }
  std::fill(best.begin(), best.end(), winner);
}

// The split of the level as it is in one leaf: with the leaf's own gain and sums, or none.
void HistogramEvaluator::settle_in_level(const SearchedLeaf& leaf, int thread, const Found& found, BestSplit& split) {
  NodeState& node = state(leaf.job->node);
  split = BestSplit{};
  if (found.split.feature >= 0 && leaf.may_split()) {
    const Feature& f = feature(found.split.feature);
    const FeatureCells cells = cells_of(leaf, found.split.feature, thread);
    if (f.is_categorical()) {
      node.left = sum_left_bins(cells, f, found.split, layout());
    } else {
      node.left = sum_bins(cells, 0, found.split.threshold + 1, layout());
      if (f.has_missing && found.split.missing_left) node.left += sum_bins(cells, f.n_value_bins, 1, layout());
    }
    const double gain = level_gain(leaf, node.left, rules_of(f));
    if (gain > 0.0) {
      split = found.split;
      split.gain = real_gain(gain);
      split.left_count = node.left.count;
    }
  }
  node.gain = split.gain;
  node.feature = split.feature;
}

}  // namespace gossamer
