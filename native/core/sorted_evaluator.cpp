#include "core/sorted_evaluator.h"

#include "core/timer.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/index.h"

namespace gossamer {
namespace {

constexpr std::int64_t kRowBlock = 16384;

}  // namespace

SortedEvaluator::SortedEvaluator(GrowData data) : HistogramEvaluator(std::move(data)) {
  if (data_.exchange != nullptr) throw std::invalid_argument("sorted columns cannot be searched on shards of rows");
}

Searched SortedEvaluator::where(std::int32_t f) const {
  if (feature(f).hidden) return Searched::nowhere;
  return is_listed(f) ? Searched::sorted_column : Searched::histogram;
}

void SortedEvaluator::clear() {
  HistogramEvaluator::clear();
  ranges_.clear();
}

std::vector<SortedLists::EntryRange>& SortedEvaluator::ranges(std::int32_t node) {
  if (ranges_.size() <= at(node)) ranges_.resize(at(node) + 1);
  return ranges_[at(node)];
}

void SortedEvaluator::start_sources(Team& team) {
  if (boxes_of_ != &table()) {
    box_features_.clear();
    for (std::size_t f = 0; f < data_.matrix->features().size(); ++f) {
      const Feature& own = data_.matrix->features()[f];
      Feature box;
      box.missing_kind = own.missing_kind;
      box.category = own.category;
      box.n_value_bins = own.n_value_bins;
      const std::int32_t place = table().place_of[f];
      if (place >= 0) box.n_value_bins = static_cast<std::int32_t>(table().columns[at(place)].n_places());
      box_features_.push_back(std::move(box));
    }
    boxes_of_ = &table();
  }
  const auto* const wide = reinterpret_cast<const WideCell*>(quantised_->values());
  half_values_ = {};
  if (layout().gradient_limit <= std::int64_t{1} << 30) {
    half_values_.reset(data_.matrix->n_rows());
    const bool constant = layout().constant_hessian();
    for_blocks(team, task_.n_rows, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = task_.rows != nullptr ? task_.rows[i] : i;
        const std::uint64_t hessian = constant ? 0 : wide[row].hessian_count >> layout().count_bits;
        half_values_[row] = wide[row].gradient << 32 | hessian;
      }
    });
  }
  ranges_.clear();
  ranges(0) = lists_.start(team, table(), allowed_.tree_sorted_columns(), task_.rows, task_.n_rows);
  if (task_.params[0].by_value.global_eps > 0.0) keep_proposals(team);
}

// Keeps a threshold only if enough weight has been added since the last one: candidates for the whole tree.
void SortedEvaluator::keep_proposals(Team& team) {
  const auto weight_of = [&](const Sums& sums) { return layout().constant_hessian() ? sums.count : sums.hessian; };
  const auto places = lists_.used();
  team.for_each(static_cast<std::int64_t>(places.size()), [&](std::int64_t i, int) {
    const auto place = at(places[at(i)]);
    const SortedLists::EntryRange& range = ranges_[0][place];
    const Unlisted sums = unlisted(0, quantised_->total(), place);
    const std::int64_t total = weight_of(quantised_->total()) - weight_of(sums.missing);
    const double step = task_.params[0].by_value.global_eps * static_cast<double>(total);
    double weight = 0.0;
    SortedEntry* const entries = lists_.entries(place, range);
    for (std::int64_t e = 0; e < range.n_values; ++e) {
      // Zero, if it is the rest, is separated from its neighbours anyway.
      if (e == range.n_low && table().columns[place].rest_is_zero) weight = 0.0;
      if (entries[e] & kNewValue) {
        if (e > 0 && weight < step) {
          entries[e] &= ~kNewValue;
        } else {
          weight = 0.0;
        }
      }
      const SortedSearchArgs one = sorted_args(place, range, e, 1);
      weight += static_cast<double>(weight_of(kernels().sum_sorted(one, layout())));
    }
  });
}

SortedSearchArgs SortedEvaluator::sorted_args(std::size_t place, const SortedLists::EntryRange& range,
                                              std::int64_t first, std::int64_t n) const {
  SortedSearchArgs args;
  args.entries = lists_.entries(place, range) + first;
  args.n = n;
  if (half_values_.size() > 0) {
    args.row_values = half_values_.data();
  } else {
    args.wide_values = reinterpret_cast<const WideCell*>(quantised_->values());
  }
  return args;
}

SortedEvaluator::Unlisted SortedEvaluator::unlisted(std::int32_t node, const Sums& sums, std::size_t place) {
  const SortedColumn& column = table().columns[place];
  const SortedLists::EntryRange& range = ranges_[at(node)][place];
  Unlisted found;
  if (range.n < sums.count) {
    found.rest = sums - kernels().sum_sorted(sorted_args(place, range, 0, range.n), layout());
    if (layout().constant_hessian()) found.rest.hessian = 0;
  }
  const std::int64_t n_missing = range.n - range.n_values;
  if (!column.rest_is_zero) {
    found.missing = found.rest;
  } else if (n_missing > 0) {
    found.missing = kernels().sum_sorted(sorted_args(place, range, range.n_values, n_missing), layout());
  }
  return found;
}

// ---- search ----

void SortedEvaluator::search_sources(Team& team, std::span<const SearchedLeaf> leaves, std::span<Found> best) {
  const auto places = lists_.used();
  const auto n_places = static_cast<std::int64_t>(places.size());
  std::vector<Found> found(leaves.size() * places.size());
  team.for_each(static_cast<std::int64_t>(found.size()), [&](std::int64_t task, int thread) {
    const SearchedLeaf& leaf = leaves[at(task / n_places)];
    if (leaf.is_searched()) search_column(leaf, places[at(task % n_places)], thread, found[at(task)]);
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    Found& b = best[i / places.size()];
    if (found[i].split.feature >= 0 && b.loses_to(found[i].gain, found[i].split.feature)) b = std::move(found[i]);
  }
}

void SortedEvaluator::search_column(const SearchedLeaf& leaf, std::int32_t place, int thread, Found& best) {
  const SortedColumn& column = table().columns[at(place)];
  const std::int32_t f = column.feature;
  const std::int32_t node = leaf.job->node;
  if (!allowed_.in_sorted_column(node, f)) return;
  const SortedLists::EntryRange& range = ranges_[at(node)][at(place)];
  // One side of every split consists of entries alone.
  if (static_cast<double>(range.n) < rules_.min_data) return;
  const Unlisted sums = unlisted(node, leaf.sums, at(place));

  ValueLimits limits;
  SearchArgs leaf_args = search_args(leaf, {}, feature(f), thread);
  if (limits_of(leaf, f, thread, limits) != nullptr) {
    limits.first_bin = 0;  // places instead of bins
    limits.last_bin = static_cast<int>(range.n_values + column.rest_is_zero);
    leaf_args.limits = &limits;
  }
  Candidate candidate;
  const std::int64_t n_first = column.rest_is_zero ? range.n_low : range.n_values;
  SortedSearchArgs args = sorted_args(at(place), range, 0, n_first);
  args.leaf = leaf_args;
  args.missing = sums.missing;
  args.ends = column.rest_is_zero || sums.missing.count > 0;
  // Shares are relative to rows with a value: missing rows must not make the steps coarser.
  args.min_step = task_.params[0].by_value.local_eps * (leaf_args.hessian - hessian_of(sums.missing));
  const SplitRules rules = rules_of(feature(f));
  bool improved = kernels().search_sorted(args, layout(), rules, candidate);
  if (column.rest_is_zero) {
    args.before += sums.rest;
    args.entries += n_first;
    args.first_place = n_first + 1;
    args.n = range.n_values - n_first;
    args.ends = sums.missing.count > 0;
    improved |= kernels().search_sorted(args, layout(), rules, candidate);
  }
  improved |= args.settle(candidate);
  if (!improved) return;
  BestSplit split;
  split.feature = f;
  split.threshold = candidate.threshold;
  split.missing_left = candidate.missing_left;
  split.l2 = feature(f).l2;
  offer(leaf, candidate.gain, std::move(split), best);
}

// ---- the winner ----

void SortedEvaluator::finish_split(const SearchedLeaf& leaf, int thread, BestSplit& split, Sums& left) {
  if (is_listed(split.feature)) {
    finish_column(leaf, split, left);
    return;
  }
  HistogramEvaluator::finish_split(leaf, thread, split, left);
  if (!feature(split.feature).is_categorical()) set_value(cells_of(leaf, split.feature, thread), split);
}

// Exact sums of the left side; the threshold lies halfway between the leaf's own values.
void SortedEvaluator::finish_column(const SearchedLeaf& leaf, BestSplit& split, Sums& left) {
  const auto place = at(table().place_of[at(split.feature)]);
  const SortedColumn& column = table().columns[place];
  const SortedLists::EntryRange& range = ranges_[at(leaf.job->node)][place];
  const Unlisted sums = unlisted(leaf.job->node, leaf.sums, place);
  const bool zero_left = column.rest_is_zero && split.threshold > range.n_low;
  const std::int64_t n_left = split.threshold - zero_left;
  left = kernels().sum_sorted(sorted_args(place, range, 0, n_left), layout());
  if (zero_left) left += sums.rest;
  if (layout().constant_hessian()) left.hessian = 0;
  if (split.missing_left) left += sums.missing;
  if (sums.missing.count == 0) split.missing_left = 2 * left.count >= leaf.sums.count;

  const SortedEntry* const entries = lists_.entries(place, range);
  const bool has_zero = column.rest_is_zero && sums.rest.count > 0;
  double low = n_left > 0 ? table().value(column, entries[n_left - 1]) : 0.0;
  if (has_zero && n_left == range.n_low && zero_left) low = 0.0;
  double high = std::numeric_limits<double>::infinity();
  if (has_zero && n_left == range.n_low && !zero_left) {
    high = 0.0;
  } else if (n_left < range.n_values) {
    high = table().value(column, entries[n_left]);
  } else {
    split.value = high;  // all values go left, missing ones right
    split.place = column.n_places() - 1;
    return;
  }
  split.value = halfway(low, high);
  split.place = task_.monotone->is_on() ? table().places_up_to(column, split.value) - 1 : 0;
}

// The same for features whose bins hold one value each.
void SortedEvaluator::set_value(const FeatureCells& cells, BestSplit& split) const {
  const std::vector<double>& values = table().bin_values[at(split.feature)];
  const auto n = static_cast<std::int64_t>(values.size());
  const auto has_rows = [&](std::int64_t bin) { return sum_bins(cells, bin, 1, layout()).count > 0; };
  std::int64_t low = split.threshold;
  std::int64_t high = split.threshold + 1;
  while (low >= 0 && !has_rows(low)) --low;
  while (high < n && !has_rows(high)) ++high;
  split.value = std::numeric_limits<double>::infinity();
  if (low >= 0 && high < n) split.value = halfway(values[at(low)], values[at(high)]);
  split.place = high < n ? split.threshold : n - 1;
}

// ---- rows ----

// Notes which side each row of a leaf goes to.
RowSplitter SortedEvaluator::splitter(std::int32_t node, RowRange rows, const BestSplit& split) {
  if (listed_split_.size() <= at(node)) listed_split_.resize(at(node) + 1, 0);
  listed_split_[at(node)] = is_listed(split.feature);
  if (!is_listed(split.feature)) return HistogramEvaluator::splitter(node, rows, split);
  const auto place = at(table().place_of[at(split.feature)]);
  const SortedColumn& column = table().columns[place];
  const SortedLists::EntryRange& range = ranges_[at(node)][place];
  const bool zero_left = column.rest_is_zero && split.threshold > range.n_low;
  const std::int64_t n_left = split.threshold - zero_left;
  std::uint8_t* const side = lists_.side();
  if (range.n < rows.end - rows.begin) {
    const RowIdx* const own = task_.leaf_rows->from(rows.begin);
    const bool rest_right = column.rest_is_zero ? !zero_left : !split.missing_left;
    for (std::int64_t i = 0; i < rows.end - rows.begin; ++i) {
      side[own != nullptr ? own[i] : static_cast<RowIdx>(rows.begin + i)] = rest_right;
    }
  }
  const SortedEntry* const entries = lists_.entries(place, range);
  for (std::int64_t i = 0; i < range.n_values; ++i) side[entries[i] & ~kNewValue] = i >= n_left;
  for (std::int64_t i = range.n_values; i < range.n; ++i) side[entries[i] & ~kNewValue] = !split.missing_left;
  return RowSplitter(side);
}

void SortedEvaluator::rows_were_split(Team& team, std::span<const SplitNode> nodes) {
  const Timer timer(task_.stats->partition, task_.stats->is_timed);
  if (lists_.used().empty()) return;
  std::vector<SortedLists::Split> splits;
  for (const SplitNode& node : nodes) {
    if (!node.searched) continue;
    if (!listed_split_[at(node.node)]) {
      const RowIdx* const rows = task_.leaf_rows->from(node.rows.begin);
      for (std::int64_t i = 0; i < node.rows.end - node.rows.begin; ++i) lists_.side()[rows[i]] = i >= node.n_left;
    }
    ranges(std::max(node.children[0], node.children[1]));  // makes the list long enough for both
  }
  for (const SplitNode& node : nodes) {
    if (!node.searched) continue;
    splits.push_back({&ranges_[at(node.node)], {&ranges_[at(node.children[0])], &ranges_[at(node.children[1])]}});
  }
  lists_.split(team, splits);
}

}  // namespace gossamer
