// The part of the grower that finds splits in histograms.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/grower.h"
#include "core/random.h"
#include "core/timer.h"

namespace gossamer {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void Grower::plan_blocks(int n_threads) {
  const auto& p = *params_;
  const auto n_features = static_cast<std::int64_t>(matrix_->features().size());
  columns_ = std::make_unique<ColumnSampler>(n_features, p.fractions, p.column_key,
                                             p.limits ? p.limits->sampling_weights : std::vector<double>{});
  feature_used_.assign(at(n_features), 0);
  group_used_.assign(matrix_->groups().size(), 0);
  plan_sorted();
  start_limits();
  sample_nodes_ = p.fractions.by_level < 1.0 || p.fractions.by_node < 1.0 || (p.limits && !p.limits->groups.empty());
  const auto& direction = p.monotone.direction;
  const bool monotone = std::any_of(direction.begin(), direction.end(), [](std::int8_t d) { return d != 0; });
  adjusts_gains_ = adjusts_gains_ || (monotone && p.monotone.penalty > 0.0);
  one_by_one_ = p.extra_trees || monotone || adjusts_gains_;
  for (const std::int32_t f : columns_->tree_features()) {
    const Feature& feature = matrix_->features()[at(f)];
    if (feature.hidden) continue;
    if (is_listed(f)) {
      list_used_[at(f)] = 1;
      continue;
    }
    feature_used_[at(f)] = 1;
    if (!feature.loose()) group_used_[at(feature.group)] = 1;
  }
  n_cells_ = matrix_->n_cells() + (sparse_ ? sparse_->n_heavy : 0);
  // Where all features are sorted columns, histograms have nothing to hold.
  const bool lists_only = sorted_ != nullptr && !sparse_ &&
                          std::none_of(group_used_.begin(), group_used_.end(), [](char used) { return used; });
  if (lists_only) n_cells_ = 0;
  all_blocks_.resize(sparse_ ? sparse_->blocks.size() : 0);
  std::iota(all_blocks_.begin(), all_blocks_.end(), 0);
  blocks_.clear();
  const std::int64_t block = n_threads == 1 ? 32 : std::clamp<std::int64_t>(n_features / (2 * n_threads), 4, 32);
  for (std::size_t g = 0; g < matrix_->groups().size(); ++g) {
    if (!group_used_[g]) continue;
    const std::int64_t n = matrix_->groups()[g].n_lanes;
    for (std::int64_t first = 0; first < n; first += block) {
      blocks_.push_back({static_cast<std::int32_t>(g), static_cast<std::int32_t>(first),
                         static_cast<std::int32_t>(std::min(block, n - first))});
    }
  }
  int max_bins = sorted_ != nullptr ? kSortedChunk : 1;
  for (const Feature& f : matrix_->features()) max_bins = std::max(max_bins, f.n_value_bins);
  build_scratch_.resize(at(std::max<std::int64_t>(n_threads, static_cast<std::int64_t>(build_scratch_.size()))));
  search_scratch_.resize(build_scratch_.size());
  for (auto& scratch : search_scratch_) scratch.grow_to(search_scratch_size(max_bins));
  marginal_scratch_.resize(build_scratch_.size());
  for (auto& scratch : marginal_scratch_) scratch.grow_to(kFeatureScratchWords);
  zero_scratch_.resize(build_scratch_.size());
  const std::int64_t block_cells = sparse_ ? sparse_->max_block_cells : 0;
  for (auto& scratch : zero_scratch_)
    scratch.grow_to(zero_scratch_words(std::max<std::int64_t>(max_bins + 1, block_cells)));
}

// Blocks of sparse columns in which the parent's rows still allow a split.
std::span<const std::int32_t> Grower::alive_before(const Family& family) const {
  if (family.again) return family.alive;
  return family.parent >= 0 ? leaves_[at(family.parent)].alive : all_blocks_;
}

void Grower::search(Team& team, std::vector<Family>& families) {
  const Timer timer(stats_.search);
  for (Family& family : families) {
    if (family.rest < 0) continue;
    const bool becomes_small =
        leaves_[at(family.parent)].histogram->large && leaves_[at(family.rest)].n_rows() <= layout_.max_rows;
    if (becomes_small) {
      family.packed_rest = acquire(false);
      // Light cells need no packing: they move over as they are.
      std::swap(family.packed_rest->light, leaves_[at(family.parent)].histogram->light);
    }
  }
  allow_columns(families);
  for (const Family& family : families) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (family.searched(side) >= 0) monotone_.prepare_search(family.searched(side));
    }
  }
  constexpr std::int64_t kBlocksPerTask = 8;
  std::vector<SearchTask> tasks;
  for (std::size_t i = 0; i < families.size(); ++i) {
    const auto family = static_cast<std::int32_t>(i);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      tasks.push_back({family, static_cast<std::int32_t>(b), 0, 0});
    }
    const auto n_alive = static_cast<std::int64_t>(alive_before(families[i]).size());
    for (std::int64_t first = 0; first < n_alive; first += kBlocksPerTask) {
      const std::int64_t n = std::min(kBlocksPerTask, n_alive - first);
      tasks.push_back({family, -1, static_cast<std::int32_t>(first), static_cast<std::int32_t>(n)});
    }
    if (sorted_ == nullptr) continue;
    for (const std::int32_t place : lists_.used()) tasks.push_back({family, -1, 0, 0, place});
  }
  team.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t t, int thread) {
    SearchTask& task = tasks[at(t)];
    Family& family = families[at(task.family)];
    if (task.lane_block >= 0) {
      search_lanes(family, blocks_[at(task.lane_block)], thread, task.found);
    } else if (task.sorted >= 0) {
      search_sorted(family, task.sorted, thread, task.found);
    } else {
      search_sparse(family, task, thread);
    }
  });
  std::vector<Found> best(families.size() * 2);
  for (SearchTask& task : tasks) {
    for (std::size_t side = 0; side < 2; ++side) {
      const Found& f = task.found[side];
      Found& b = best[at(task.family) * 2 + side];
      if (f.split.feature >= 0 && b.loses_to(f.gain, f.split.feature)) b = f;
      const std::int32_t searched = families[at(task.family)].searched(side);
      if (searched < 0) continue;
      auto& alive = leaves_[at(searched)].alive;
      alive.insert(alive.end(), task.alive[side].begin(), task.alive[side].end());
    }
  }
  for (std::size_t i = 0; i < families.size(); ++i) {
    Family& family = families[i];
    if (family.rest >= 0) {
      Leaf& parent = leaves_[at(family.parent)];
      Leaf& rest = leaves_[at(family.rest)];
      rest.histogram = std::move(family.packed_rest ? family.packed_rest : parent.histogram);
      pool_.release(std::move(parent.histogram));
    }
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t searched = family.searched(side);
      if (searched < 0) continue;
      Found& found = best[i * 2 + side];
      found.split.gain = found.gain;
      leaves_[at(searched)].split = found.split;
    }
  }
}

// Features of the leaves to be searched: those that their paths allow, or a sample of them.
void Grower::allow_columns(const std::vector<Family>& families) {
  if (!sample_nodes_) return;
  allowed_.resize(leaves_.size());
  list_allowed_.resize(leaves_.size());
  for (const Family& family : families) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t i = family.searched(side);
      if (i < 0) continue;
      std::vector<char>& allowed = allowed_[at(i)];
      allowed.assign(matrix_->features().size(), 0);
      std::vector<char>& list_allowed = list_allowed_[at(i)];
      if (sorted_ != nullptr) list_allowed.assign(allowed.size(), 0);
      const Leaf& leaf = leaves_[at(i)];
      std::function<bool(std::int32_t)> may_meet;
      if (limits_ != nullptr && !limits_->groups.empty()) {
        may_meet = [&](std::int32_t f) { return limits_->groups.allows(leaf.limits.open, f); };
      }
      for (const std::int32_t f : columns_->node_features(leaf.depth, leaf.key, may_meet)) {
        (is_listed(f) ? list_allowed : allowed)[at(f)] = 1;
      }
    }
  }
}

bool Grower::is_allowed(std::int32_t leaf, std::int32_t feature) const {
  return feature_used_[at(feature)] && (!sample_nodes_ || allowed_[at(leaf)][at(feature)]);
}

// The same as flags; nullptr: every feature.
const char* Grower::allowed_features(std::int32_t leaf) const {
  if (sample_nodes_) return allowed_[at(leaf)].data();
  return params_->fractions.by_tree < 1.0 || sorted_ != nullptr ? feature_used_.data() : nullptr;
}

// Lane by lane, so that its cells are merged, subtracted and searched while they are in cache.
void Grower::search_lanes(Family& family, const LaneBlock& block, int thread, Found* found) {
  const Group& group = matrix_->groups()[at(block.group)];
  for (std::int32_t lane = block.first; lane < block.first + block.n; ++lane) {
    const std::int64_t first = group.lane_begin(lane);
    const CellRange range{group.first_cell + first, group.lane_begin(lane + 1) - first};
    for (Partial& partial : partials_) {
      if (partial.group != block.group) continue;
      if (partial.leaf != family.built[0] && partial.leaf != family.built[1]) continue;
      add_range(*partial.histogram, range, n_cells_, layout_, *leaves_[at(partial.leaf)].histogram);
    }
    Histogram* rest = nullptr;
    if (family.rest >= 0) {
      Histogram& parent = *leaves_[at(family.parent)].histogram;
      subtract_range(*leaves_[at(family.built[0])].histogram, range, n_cells_, layout_, parent,
                     family.packed_rest.get());
      rest = family.packed_rest ? family.packed_rest.get() : &parent;
    }
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t i = family.searched(side);
      if (i < 0 || !may_split(leaves_[at(i)])) continue;
      Histogram& histogram = i == family.rest ? *rest : *leaves_[at(i)].histogram;
      for (const Digit& digit : group.lanes[at(lane)].digits) search_digit(i, histogram, digit, thread, found[side]);
    }
  }
}

void Grower::search_digit(std::int32_t i, Histogram& histogram, const Digit& digit, int thread, Found& best) {
  const Leaf& leaf = leaves_[at(i)];
  if (!digit.bundle && !is_allowed(i, digit.features.front())) return;
  const Feature& first = matrix_->features()[at(digit.features.front())];
  const FeatureCells cells = feature_cells(histogram, first, n_cells_, layout_, marginal_scratch_[at(thread)].data());
  if (!digit.bundle) {
    search_cells(leaf, cells, digit.features.front(), thread, best);
    return;
  }
  // Features of two bins stand in runs of one cell each.
  const auto is_one_hot = [&](std::size_t k) {
    return !one_by_one_ && matrix_->features()[at(digit.features[k])].one_hot();
  };
  for (std::size_t k = 0; k < digit.features.size();) {
    const Feature& f = matrix_->features()[at(digit.features[k])];
    const FeatureCells others = cells.from(f.first_value, layout_);
    if (!is_one_hot(k)) {
      if (can_split(others, f.n_other_bins())) search_other_bins(i, others, digit.features[k], thread, best);
      ++k;
      continue;
    }
    std::size_t end = k + 1;
    while (end < digit.features.size() && is_one_hot(end)) ++end;
    search_right(i, others, digit.features.data() + k, static_cast<int>(end - k), best);
    k = end;
  }
}

// ---- sparse columns ----

FeatureCells Grower::sparse_cells(Histogram& histogram, std::int64_t first_cell, bool heavy) {
  FeatureCells cells;
  if (!heavy) {
    cells.cells = histogram.light.data() + (first_cell - sparse_->n_heavy) * (layout_.wide ? 2 : 1);
  } else if (histogram.large) {
    cells.large = histogram.sums(n_cells_).offset(matrix_->n_cells() + first_cell);
  } else {
    cells.cells = histogram.cells(matrix_->n_cells() + first_cell, layout_);
  }
  return cells;
}

// Partial sums are added up; the larger child is the parent less the smaller one.
void Grower::merge_sparse_block(Family& family, const SparseRows::Block& block) {
  const auto group = static_cast<std::int32_t>(matrix_->groups().size());
  const CellRange range{matrix_->n_cells() + block.first_cell, block.n_cells};
  const std::int64_t width = layout_.wide ? 2 : 1;
  const std::int64_t first_word = (block.first_cell - sparse_->n_heavy) * width;
  for (Partial& partial : partials_) {
    if (partial.group != group || (partial.leaf != family.built[0] && partial.leaf != family.built[1])) continue;
    Histogram& out = *leaves_[at(partial.leaf)].histogram;
    if (block.heavy) {
      add_range(*partial.histogram, range, n_cells_, layout_, out);
    } else {
      kernels().add_words(partial.histogram->light.data() + first_word, block.n_cells * width,
                          out.light.data() + first_word);
    }
  }
  if (family.rest < 0) return;
  Histogram& child = *leaves_[at(family.built[0])].histogram;
  Histogram& parent = *leaves_[at(family.parent)].histogram;
  if (block.heavy) {
    subtract_range(child, range, n_cells_, layout_, parent, family.packed_rest.get());
  } else {
    Histogram& rest = family.packed_rest ? *family.packed_rest : parent;
    kernels().subtract_words(child.light.data() + first_word, block.n_cells * width, rest.light.data() + first_word);
  }
}

void Grower::search_sparse(Family& family, SearchTask& task, int thread) {
  const auto alive = alive_before(family).subspan(at(task.first_alive), at(task.n_alive));
  for (const std::int32_t b : alive) {
    const SparseRows::Block& block = sparse_->blocks[at(b)];
    merge_sparse_block(family, block);
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t i = family.searched(side);
      if (i < 0 || !may_split(leaves_[at(i)])) continue;
      Histogram* histogram = leaves_[at(i)].histogram.get();
      if (i == family.rest) {
        histogram = family.packed_rest ? family.packed_rest.get() : leaves_[at(family.parent)].histogram.get();
      }
      if (search_sparse_block(i, *histogram, block, thread, task.found[side])) task.alive[side].push_back(b);
    }
  }
}

// Returns whether some feature has enough rows that are not zero: without them neither this leaf nor
// what is split off it can use the feature.
bool Grower::search_sparse_block(std::int32_t i, Histogram& histogram, const SparseRows::Block& block, int thread,
                                 Found& best) {
  const std::int32_t* const features = sparse_->features.data() + block.first;
  if (block.rising && !one_by_one_) {
    const std::int32_t* const feature_of = sparse_->feature_of.data() + block.first_cell;
    FeatureCells cells = sparse_cells(histogram, block.first_cell, block.heavy);
    if (block.n_cells > block.n) {
      cells = sums_from_above(cells, {sparse_->first_cell.data() + block.first, at(block.n) + 1}, layout_,
                              zero_scratch_[at(thread)].data());
    }
    FeatureCandidate found;
    const bool alive = search_right(i, cells, feature_of, static_cast<int>(block.n_cells), best, &found);
    if (found.cell >= 0) {
      const std::int64_t first_cell = sparse_->first_cell[at(sparse_->place_of[at(found.feature)])];
      best.split.threshold = static_cast<std::int32_t>(block.first_cell + found.cell - first_cell);
    }
    return alive;
  }
  bool alive = false;
  for (std::int32_t k = 0; k < block.n; ++k) {
    const std::int64_t first_cell = sparse_->first_cell[at(block.first + k)];
    const std::int64_t n_cells = sparse_->first_cell[at(block.first + k) + 1] - first_cell;
    const FeatureCells others = sparse_cells(histogram, first_cell, block.heavy);
    if (!can_split(others, n_cells)) continue;
    alive = true;
    search_other_bins(i, others, features[k], thread, best);
  }
  return alive;
}

// Whether enough rows are not zero: one side of every split is without zero.
bool Grower::can_split(const FeatureCells& others, std::int64_t n) const {
  std::uint64_t count = 0;
  if (others.cells == nullptr) {
    for (std::int64_t c = 0; c < n; ++c) count += others.large.count[c];
  } else {
    // The count is in the lowest bits of a packed cell, and of the second word of a wide one.
    const auto* const words = static_cast<const std::uint64_t*>(others.cells);
    const std::uint64_t mask = (std::uint64_t{1} << layout_.count_bits) - 1;
    for (std::int64_t c = 0; c < n; ++c) count += (layout_.wide ? words[2 * c + 1] : words[c]) & mask;
  }
  return static_cast<double>(count) >= rules_.min_data;
}

// Splits with one cell each; a new best one has the threshold 0 unless the caller knows better.
bool Grower::search_right(std::int32_t i, const FeatureCells& cells, const std::int32_t* features, int n, Found& best,
                          FeatureCandidate* found) {
  const Leaf& leaf = leaves_[at(i)];
  SearchRightArgs args;
  args.cells = cells.cells;
  args.large = cells.large;
  args.n = n;
  args.features = features;
  args.allowed = allowed_features(i);
  args.leaf = leaf.sums;
  args.parent_output = leaf.output * layout_.hessian_unit / layout_.gradient_unit;
  FeatureCandidate candidate;
  candidate.gain = best.gain;
  candidate.feature = best.split.feature;
  if (kernels().search_right(args, layout_, rules_, candidate)) {
    best.gain = candidate.gain;
    best.split = Split{};
    best.split.feature = candidate.feature;
  }
  if (found != nullptr) *found = candidate;
  return candidate.any_filled;
}

// A feature whose cell of zero is what the others leave.
void Grower::search_other_bins(std::int32_t i, const FeatureCells& others, std::int32_t f, int thread, Found& best) {
  const Leaf& leaf = leaves_[at(i)];
  const Feature& feature = matrix_->features()[at(f)];
  if (!is_allowed(i, f)) return;
  const bool large = leaf.n_rows() > layout_.max_rows;
  const FeatureCells cells =
      with_zero_cell(others, feature, leaf.sums, large, layout_, zero_scratch_[at(thread)].data());
  search_cells(leaf, cells, f, thread, best);
}

// ---- one feature ----

// All cells of a feature, wherever it is kept.
FeatureCells Grower::cells_of(const Leaf& leaf, Histogram& histogram, const Feature& feature, std::int32_t f,
                              int thread) {
  const bool large = leaf.n_rows() > layout_.max_rows;
  std::uint64_t* const scratch = zero_scratch_[at(thread)].data();
  if (feature.loose()) {
    const std::int64_t first_cell = sparse_->first_cell[at(sparse_->place_of[at(f)])];
    const FeatureCells others = sparse_cells(histogram, first_cell, first_cell < sparse_->n_heavy);
    return with_zero_cell(others, feature, leaf.sums, large, layout_, scratch);
  }
  const FeatureCells digit = feature_cells(histogram, feature, n_cells_, layout_, marginal_scratch_[at(thread)].data());
  if (!feature.bundled) return digit;
  return with_zero_cell(digit.from(feature.first_value, layout_), feature, leaf.sums, large, layout_, scratch);
}

SearchArgs Grower::search_args(const Leaf& leaf, const FeatureCells& cells, const Feature& feature, int thread) {
  SearchArgs args;
  args.cells = cells.cells;
  args.large = cells.large;
  args.n_value_bins = feature.n_value_bins;
  args.has_missing = feature.has_missing;
  args.gradient = static_cast<double>(leaf.sums.gradient);
  args.hessian = static_cast<double>(layout_.constant_hessian() ? leaf.sums.count : leaf.sums.hessian);
  args.count = static_cast<double>(leaf.sums.count);
  args.parent_output = leaf.output * layout_.hessian_unit / layout_.gradient_unit;
  args.scratch = search_scratch_[at(thread)].data();
  return args;
}

void Grower::search_cells(const Leaf& leaf, const FeatureCells& cells, std::int32_t f, int thread, Found& best) {
  const Feature& feature = matrix_->features()[at(f)];
  if (feature.is_categorical()) {
    search_categories(leaf, cells, f, thread, best);
    return;
  }
  SearchArgs args = search_args(leaf, cells, feature, thread);
  if (params_->extra_trees) {
    const int n_thresholds = std::max(feature.n_value_bins - (feature.has_missing ? 0 : 1), 1);
    args.only_threshold = static_cast<int>(random_bits(params_->extra_key ^ leaf.key, static_cast<std::uint64_t>(f)) %
                                           static_cast<std::uint64_t>(n_thresholds));
  }
  ValueLimits limits;
  if (monotone_.is_on()) {
    const auto i = static_cast<std::int32_t>(&leaf - leaves_.data());
    const double scale = layout_.hessian_unit / layout_.gradient_unit;
    if (monotone_.limit_search(i, f, scale, thread, limits)) args.limits = &limits;
  }
  Candidate candidate;
  // A feature seen later in this block but numbered lower must win ties: search it on its own.
  const bool strict = f > best.split.feature && !adjusts_gains_;
  if (strict) candidate.gain = best.gain;
  SplitRules penalised = rules_;
  penalised.lambda_l2 += feature.l2 / layout_.hessian_unit;
  if (!kernels().search(args, layout_, penalised, candidate)) return;
  if (adjusts_gains_) candidate.gain = adjusted_gain(leaf, f, candidate.gain);
  Split split;
  split.gain = candidate.gain;
  split.feature = f;
  split.threshold = candidate.threshold;
  split.missing_left = candidate.missing_left;
  split.l2 = feature.l2;
  if (refunds_) note_offer(leaf, split);
  if (!strict && !best.loses_to(candidate.gain, f)) return;
  best.gain = candidate.gain;
  best.split = std::move(split);
}

// Turns the winning candidate into a split.
void Grower::settle(Leaf& leaf) {
  if (leaf.split.feature >= 0) finish_split(leaf, leaf.split);
  if (leaf.limits.offers) settle_offers(leaf);
  if (leaf.limits.forced >= 0) force(leaf);
  if (leaf.split.feature < 0 && !monotone_.changes_others()) pool_.release(std::move(leaf.histogram));
}

// Exact sums of the left side, gain above the leaf's own; none at all if it is not enough.
void Grower::finish_split(Leaf& leaf, Split& split) {
  // What rounding leaves of a gain of zero must not pass for a gain.
  const double gain = split.gain - own_gain(leaf);
  const bool is_noise = gain <= 1e-12 * std::abs(split.gain);
  split.gain = gain * layout_.gradient_unit * layout_.gradient_unit / layout_.hessian_unit;
  if (is_noise || split.gain <= params_->rules.min_gain_to_split) {
    split = Split{};
    return;
  }
  const Feature& feature = matrix_->features()[at(split.feature)];
  if (is_listed(split.feature)) {
    finish_sorted(leaf, split);
    return;
  }
  const FeatureCells cells = cells_of(leaf, *leaf.histogram, feature, split.feature, 0);
  if (feature.is_categorical()) {
    split.left = sum_left(cells, split);
    return;
  }
  split.left = sum_bins(cells, 0, split.threshold + 1, layout_);
  const Sums missing = feature.has_missing ? sum_bins(cells, feature.n_value_bins, 1, layout_) : Sums{};
  if (split.missing_left) split.left += missing;
  // Nothing to learn a direction from: missing values will follow the majority.
  if (missing.count == 0) split.missing_left = 2 * split.left.count >= leaf.sums.count;
  if (sorted_ != nullptr) set_value(cells, split);
}

}  // namespace gossamer
