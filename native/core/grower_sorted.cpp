// The part of the grower that finds splits in sorted columns: exact ones, or local proposals.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/grower.h"
#include "core/timer.h"

namespace gossamer {
namespace {

constexpr std::int64_t kRowBlock = 16384;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

// Features that have a sorted column are searched there, not in histograms.
void Grower::plan_sorted() {
  sorted_ = params_->sorted.get();
  list_used_.assign(matrix_->features().size(), 0);
  if (sorted_ == nullptr || boxes_of_ == sorted_) return;
  boxes_of_ = sorted_;
  box_features_.clear();
  for (std::size_t f = 0; f < matrix_->features().size(); ++f) {
    const Feature& feature = matrix_->features()[f];
    Feature box;
    box.missing_kind = feature.missing_kind;
    box.category = feature.category;
    box.n_value_bins = feature.n_value_bins;
    const std::int32_t place = sorted_->place_of[f];
    if (place >= 0) box.n_value_bins = static_cast<std::int32_t>(sorted_->columns[at(place)].n_places());
    box_features_.push_back(std::move(box));
  }
}

void Grower::start_sorted(Team& team) {
  if (sorted_ == nullptr) return;
  const auto* const wide = reinterpret_cast<const WideCell*>(row_values_.data());
  const bool halves = layout_.gradient_limit <= std::int64_t{1} << 30;
  half_values_ = {};
  if (halves) {
    half_values_.reset(matrix_->n_rows());
    const bool constant = layout_.constant_hessian();
    for_blocks(team, n_rows_, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = user_rows_ != nullptr ? user_rows_[i] : i;
        const std::uint64_t hessian = constant ? 0 : wide[row].hessian_count >> layout_.count_bits;
        half_values_[row] = wide[row].gradient << 32 | hessian;
      }
    });
  }
  leaves_[0].stretches = lists_.start(team, *sorted_, list_used_, user_rows_, n_rows_);
  if (params_->global_eps > 0.0) keep_proposals(team);
}

// Leaves a threshold only where enough weight has come together since the last one: candidates of the whole tree.
void Grower::keep_proposals(Team& team) {
  const auto weight_of = [&](const Sums& sums) { return layout_.constant_hessian() ? sums.count : sums.hessian; };
  const auto places = lists_.used();
  team.for_each(static_cast<std::int64_t>(places.size()), [&](std::int64_t i, int) {
    const auto place = at(places[at(i)]);
    const SortedLists::Stretch& stretch = leaves_[0].stretches[place];
    const Unlisted sums = unlisted(leaves_[0], place);
    const std::int64_t total = weight_of(leaves_[0].sums) - weight_of(sums.missing);
    const double step = params_->global_eps * static_cast<double>(total);
    double weight = 0.0;
    SortedEntry* const entries = lists_.entries(place, stretch);
    for (std::int64_t e = 0; e < stretch.n_values; ++e) {
      // Zero, where it is the rest, is parted from its neighbours anyway.
      if (e == stretch.n_low && sorted_->columns[place].rest_is_zero) weight = 0.0;
      if (entries[e] & kNewValue) {
        if (e > 0 && weight < step) {
          entries[e] &= ~kNewValue;
        } else {
          weight = 0.0;
        }
      }
      const SortedSearchArgs one = sorted_args(place, stretch, e, 1);
      weight += static_cast<double>(weight_of(kernels().sum_sorted(one, layout_)));
    }
  });
}

SortedSearchArgs Grower::sorted_args(std::size_t place, const SortedLists::Stretch& stretch, std::int64_t first,
                                     std::int64_t n) const {
  SortedSearchArgs args;
  args.entries = lists_.entries(place, stretch) + first;
  args.n = n;
  if (half_values_.size() > 0) {
    args.row_values = half_values_.data();
  } else {
    args.wide_values = reinterpret_cast<const WideCell*>(row_values_.data());
  }
  return args;
}

// Sums of the rows of a leaf that have no entry in a column, and of those that are missing there.
Grower::Unlisted Grower::unlisted(const Leaf& leaf, std::size_t place) const {
  const SortedColumn& column = sorted_->columns[place];
  const SortedLists::Stretch& stretch = leaf.stretches[place];
  Unlisted found;
  if (stretch.n < leaf.n_rows()) {
    found.rest = leaf.sums - kernels().sum_sorted(sorted_args(place, stretch, 0, stretch.n), layout_);
    if (layout_.constant_hessian()) found.rest.hessian = 0;
  }
  const std::int64_t n_missing = stretch.n - stretch.n_values;
  if (!column.rest_is_zero) {
    found.missing = found.rest;
  } else if (n_missing > 0) {
    found.missing = kernels().sum_sorted(sorted_args(place, stretch, stretch.n_values, n_missing), layout_);
  }
  return found;
}

void Grower::search_sorted(Family& family, std::int32_t place, int thread, Found* found) {
  const SortedColumn& column = sorted_->columns[at(place)];
  const std::int32_t f = column.feature;
  for (std::size_t side = 0; side < 2; ++side) {
    const std::int32_t i = family.searched(side);
    if (i < 0 || !may_split(leaves_[at(i)])) continue;
    if (sample_nodes_ && !list_allowed_[at(i)][at(f)]) continue;
    const Leaf& leaf = leaves_[at(i)];
    const SortedLists::Stretch& stretch = leaf.stretches[at(place)];
    // One side of every split is made of entries alone.
    if (static_cast<double>(stretch.n) < rules_.min_data) continue;
    const Unlisted sums = unlisted(leaf, at(place));

    ValueLimits limits;
    SearchArgs leaf_args = search_args(leaf, {}, matrix_->features()[at(f)], thread);
    if (monotone_.is_on()) {
      const double scale = layout_.hessian_unit / layout_.gradient_unit;
      if (monotone_.limit_search(i, f, scale, thread, limits)) {
        limits.first_bin = 0;  // places, here
        limits.last_bin = static_cast<int>(stretch.n_values + column.rest_is_zero);
        leaf_args.limits = &limits;
      }
    }
    Found& best = found[side];
    Candidate candidate;
    const bool strict = f > best.split.feature && !adjusts_gains_;
    if (strict) candidate.gain = best.gain;
    const std::int64_t n_first = column.rest_is_zero ? stretch.n_low : stretch.n_values;
    SortedSearchArgs args = sorted_args(at(place), stretch, 0, n_first);
    args.leaf = leaf_args;
    args.missing = sums.missing;
    args.ends = column.rest_is_zero || sums.missing.count > 0;
    // Shares are those of rows with a value: missing ones are no reason to look less closely.
    const auto missing_weight =
        static_cast<double>(layout_.constant_hessian() ? sums.missing.count : sums.missing.hessian);
    args.min_step = params_->local_eps * (leaf_args.hessian - missing_weight);
    bool improved = kernels().search_sorted(args, layout_, rules_, candidate);
    if (column.rest_is_zero) {
      args.before += sums.rest;
      args.entries += n_first;
      args.first_place = n_first + 1;
      args.n = stretch.n_values - n_first;
      args.ends = sums.missing.count > 0;
      improved |= kernels().search_sorted(args, layout_, rules_, candidate);
    }
    improved |= args.settle(candidate);
    if (!improved) continue;
    if (adjusts_gains_) candidate.gain = adjusted_gain(leaf, f, candidate.gain);
    Split split;
    split.gain = candidate.gain;
    split.feature = f;
    split.threshold = candidate.threshold;
    split.missing_left = candidate.missing_left;
    if (refunds_) note_offer(leaf, split);
    if (!strict && !best.loses_to(candidate.gain, f)) continue;
    best.gain = candidate.gain;
    best.split = std::move(split);
  }
}

// Exact sums of the left side; the threshold lies halfway between the leaf's own values.
void Grower::finish_sorted(const Leaf& leaf, Split& split) const {
  const auto place = at(sorted_->place_of[at(split.feature)]);
  const SortedColumn& column = sorted_->columns[place];
  const SortedLists::Stretch& stretch = leaf.stretches[place];
  const Unlisted sums = unlisted(leaf, place);
  const bool zero_left = column.rest_is_zero && split.threshold > stretch.n_low;
  const std::int64_t n_left = split.threshold - zero_left;
  split.left = kernels().sum_sorted(sorted_args(place, stretch, 0, n_left), layout_);
  if (zero_left) split.left += sums.rest;
  if (layout_.constant_hessian()) split.left.hessian = 0;
  if (split.missing_left) split.left += sums.missing;
  if (sums.missing.count == 0) split.missing_left = 2 * split.left.count >= leaf.sums.count;

  const SortedEntry* const entries = lists_.entries(place, stretch);
  const bool has_zero = column.rest_is_zero && sums.rest.count > 0;
  double low = n_left > 0 ? sorted_->value(column, entries[n_left - 1]) : 0.0;
  if (has_zero && n_left == stretch.n_low && zero_left) low = 0.0;
  double high = std::numeric_limits<double>::infinity();
  if (has_zero && n_left == stretch.n_low && !zero_left) {
    high = 0.0;
  } else if (n_left < stretch.n_values) {
    high = sorted_->value(column, entries[n_left]);
  } else {
    split.value = high;  // all values go left, what is missing right
    split.place = column.n_places() - 1;
    return;
  }
  split.value = halfway(low, high);
  split.place = monotone_.is_on() ? sorted_->places_up_to(column, split.value) - 1 : 0;
}

// The same where the bins of a feature hold one value each.
void Grower::set_value(const FeatureCells& cells, Split& split) const {
  const std::vector<double>& values = sorted_->bin_values[at(split.feature)];
  const auto n = static_cast<std::int64_t>(values.size());
  const auto has_rows = [&](std::int64_t bin) { return sum_bins(cells, bin, 1, layout_).count > 0; };
  std::int64_t low = split.threshold;
  std::int64_t high = split.threshold + 1;
  while (low >= 0 && !has_rows(low)) --low;
  while (high < n && !has_rows(high)) ++high;
  split.value = std::numeric_limits<double>::infinity();
  if (low >= 0 && high < n) split.value = halfway(values[at(low)], values[at(high)]);
  split.place = high < n ? split.threshold : n - 1;
}

// ---- rows ----

// Notes which side the rows of a leaf go to.
RowSplitter Grower::mark_sides(const Leaf& leaf) {
  const Split& split = leaf.split;
  const auto place = at(sorted_->place_of[at(split.feature)]);
  const SortedColumn& column = sorted_->columns[place];
  const SortedLists::Stretch& stretch = leaf.stretches[place];
  const bool zero_left = column.rest_is_zero && split.threshold > stretch.n_low;
  const std::int64_t n_left = split.threshold - zero_left;
  std::uint8_t* const side = lists_.side();
  if (stretch.n < leaf.n_rows()) {
    const RowIdx* const rows = rows_.from(leaf.begin);
    const bool rest_right = column.rest_is_zero ? !zero_left : !split.missing_left;
    for (std::int64_t i = 0; i < leaf.n_rows(); ++i) {
      side[rows != nullptr ? rows[i] : static_cast<RowIdx>(leaf.begin + i)] = rest_right;
    }
  }
  const SortedEntry* const entries = lists_.entries(place, stretch);
  for (std::int64_t i = 0; i < stretch.n_values; ++i) side[entries[i] & ~kNewValue] = i >= n_left;
  for (std::int64_t i = stretch.n_values; i < stretch.n; ++i) side[entries[i] & ~kNewValue] = !split.missing_left;
  return RowSplitter(side);
}

// The same once a histogram's split has parted the rows.
void Grower::mark_rows(const Leaf& leaf) {
  std::uint8_t* const side = lists_.side();
  const RowIdx* const rows = rows_.from(leaf.begin);
  for (std::int64_t i = 0; i < leaf.n_rows(); ++i) side[rows[i]] = i >= leaf.split.left.count;
}

void Grower::split_lists(Team& team, const std::vector<std::int32_t>& nodes) {
  const Timer timer(stats_.partition);
  std::vector<SortedLists::Split> splits;
  for (const std::int32_t node : nodes) {
    Leaf& parent = leaves_[at(node)];
    splits.push_back(
        {&parent.stretches, {&leaves_[at(parent.children[0])].stretches, &leaves_[at(parent.children[1])].stretches}});
  }
  lists_.split(team, splits);
}

}  // namespace gossamer
