// The part of the histogram evaluator that finds splits in the cells of lanes and sparse columns.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/category_search.h"
#include "core/histogram_evaluator.h"
#include "core/index.h"
#include "core/random.h"

namespace gossamer {
namespace {

constexpr int kTasksPerThread = 4;  // so many balance themselves

bool has_elected(std::span<const Digit> digits, const char* elected) {
  return std::any_of(digits.begin(), digits.end(), [&](const Digit& digit) {
    return std::any_of(digit.features.begin(), digit.features.end(), [&](std::int32_t f) { return elected[f]; });
  });
}

}  // namespace

// Whether all lanes of a leaf are searched by one task: with so many families, tasks balance themselves.
bool HistogramEvaluator::have_one_block(int n_threads, std::size_t n_families) const {
  return shape_.n_groups() == 1 && !sparse_ && shares_.empty() &&
         (n_threads == 1 || static_cast<std::int64_t>(n_families) >= std::int64_t{kTasksPerThread} * n_threads);
}

// Enough blocks for every thread, but no more: a block's cells are searched one after another.
void HistogramEvaluator::list_lane_blocks(int n_threads, std::size_t n_families, const CellShare* share) {
  const auto& groups = data_.matrix->groups();
  const auto n_ranges = share != nullptr ? std::ssize(share->lanes) : shape_.n_groups();
  const std::int64_t n_tasks = static_cast<std::int64_t>(n_families) * n_ranges;
  const std::int64_t n_enough = std::int64_t{kTasksPerThread} * n_threads;
  // Rows would be copied for every part of a group whose histogram waits.
  const bool is_whole = n_tasks >= n_enough || shape_.has_many_groups(n_threads);
  // Of few tasks, every thread should get the same number. Of several groups, large ones make more blocks.
  const auto n_parts_of = [&](std::int64_t n_cells) {
    if (is_whole) return std::int64_t{1};
    if (n_ranges > 1) {
      const std::int64_t n_all = data_.matrix->n_cells() * static_cast<std::int64_t>(n_families);
      return std::max<std::int64_t>(n_enough * n_cells / n_all, 1);
    }
    std::int64_t n = 1;
    while (n_tasks * n < n_enough && n_tasks * n % n_threads != 0) ++n;
    return n;
  };
  lane_blocks_.clear();
  const auto add = [&](std::int32_t group, std::int64_t begin, std::int64_t end) {
    const std::int64_t n_parts = n_parts_of(groups[at(group)].lane_begin(end) - groups[at(group)].lane_begin(begin));
    const std::int64_t block = std::max<std::int64_t>((end - begin + n_parts - 1) / n_parts, 2);
    for (std::int64_t first = begin; first < end; first += block) {
      lane_blocks_.push_back(
          {group, static_cast<std::int32_t>(first), static_cast<std::int32_t>(std::min(block, end - first))});
    }
  };
  if (share != nullptr) {
    for (const CellShare::Lanes& own : share->lanes) add(own.group, own.first, own.first + own.n);
    return;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (shape_.group_used[g]) add(static_cast<std::int32_t>(g), 0, groups[g].n_lanes);
  }
  const bool are_few = n_families < at(kTasksPerThread) && shape_.has_many_groups(n_threads);
  if (are_few && n_ranges % n_threads != 0) cut_smallest_block(n_threads);
}

// With a group left over, some threads would wait for others: each gets a part of the smallest block as its last task.
void HistogramEvaluator::cut_smallest_block(int n_threads) {
  constexpr std::int32_t kLeastLanes = 4;  // every part reads the rows again
  const auto smallest = std::min_element(lane_blocks_.begin(), lane_blocks_.end(),
                                         [](const LaneBlock& a, const LaneBlock& b) { return a.n < b.n; });
  const LaneBlock whole = *smallest;
  if (whole.n < kLeastLanes * n_threads) return;
  lane_blocks_.erase(smallest);
  const auto n_others = std::ssize(lane_blocks_);
  for (std::int32_t part = n_threads; part-- > 0;) {
    const std::int32_t begin = whole.n * part / n_threads;
    const std::int32_t end = whole.n * (part + 1) / n_threads;
    // Parts after this one are there already: it comes after the same share of the other blocks.
    lane_blocks_.insert(lane_blocks_.begin() + n_others * (part + 1) / n_threads,
                        {whole.group, whole.first + begin, end - begin});
  }
}

void HistogramEvaluator::list_tasks(const std::vector<Family>& families) {
  constexpr std::int64_t kBlocksPerTask = 8;
  tasks_.clear();
  for (std::size_t family = 0; family < families.size(); ++family) {
    const std::int64_t n_rows = families[family].waiting_rows();
    for (std::size_t b = 0; b < lane_blocks_.size(); ++b) {
      tasks_.push_back({family, static_cast<std::int32_t>(b), 0, 0, n_rows});
    }
    const auto n_alive = static_cast<std::int64_t>(families[family].alive.size());
    for (std::int64_t first = 0; first < n_alive; first += kBlocksPerTask) {
      const std::int64_t n = std::min(kBlocksPerTask, n_alive - first);
      tasks_.push_back({family, -1, static_cast<std::int32_t>(first), static_cast<std::int32_t>(n), n_rows});
    }
  }
}

// A thread gets the families whose parent it has in its cache, the longest first: the last task to start should be a
// short one.
void HistogramEvaluator::deal_tasks(int n_threads) {
  share_begin_.assign(at(n_threads) + 1, 0);
  for (SearchTask& task : tasks_) {
    task.thread = thread_of(families_[task.family]);
    ++share_begin_[at(task.thread) + 1];
  }
  std::partial_sum(share_begin_.begin(), share_begin_.end(), share_begin_.begin());
  std::sort(tasks_.begin(), tasks_.end(), [](const SearchTask& a, const SearchTask& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    return a.n_rows != b.n_rows ? a.n_rows > b.n_rows : a.family < b.family;
  });
}

void HistogramEvaluator::search_whole(Team& team, std::span<BestSplit> splits) {
  list_lane_blocks(team.n_threads(), families_.size(), nullptr);
  list_tasks(families_);
  const auto search_task = [&](std::int64_t t, int thread) {
    Family& family = families_[tasks_[at(t)].family];
    if (family.late_split != nullptr) task_.leaf_rows->split_late(*family.late_split, thread);
    Found found[2];
    search_lanes(leaves_, family, lane_blocks_.front(), next_lanes(families_, t + 1), thread, found);
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t job = family.jobs[side];
      if (job == kNone) continue;
      if (leaves_[job].histogram != nullptr) leaves_[job].histogram->thread = thread;
      settle(leaves_[job], thread, found[side], splits[job]);
    }
  };
  if (team.n_threads() == 1) {
    team.for_each(std::ssize(tasks_), search_task);
  } else {
    deal_tasks(team.n_threads());
    team.for_each_dealt(share_begin_, search_task);
  }
}

void HistogramEvaluator::search(Team& team, std::span<const SearchedLeaf> leaves, std::vector<Family>& families,
                                const CellShare* share, std::span<Found> best) {
  list_lane_blocks(team.n_threads(), families.size(), share);
  list_tasks(families);
  const bool has_many_groups = shape_.has_many_groups(team.n_threads());
  // Longest first.
  if (team.n_threads() > 1 && families.size() > 1) {
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [](const SearchTask& a, const SearchTask& b) { return a.n_rows > b.n_rows; });
  }
  if (findings_.size() < tasks_.size()) findings_.resize(tasks_.size());
  const auto search_task = [&](std::int64_t t, int thread) {
    const SearchTask& task = tasks_[at(t)];
    Findings& findings = findings_[at(t)];
    findings = {};
    Family& family = families[task.family];
    if (task.lane_block >= 0) {
      const auto next = next_lanes(families, t + (has_many_groups ? 1 : team.n_threads()));
      search_lanes(leaves, family, lane_blocks_[at(task.lane_block)], next, thread, findings.found);
    } else {
      search_sparse(leaves, family, task, thread, findings);
    }
  };
  if (has_many_groups) {
    // A thread keeps to its groups: their bins and cells are in its cache.
    std::stable_sort(tasks_.begin(), tasks_.end(), [](const SearchTask& a, const SearchTask& b) {
      return static_cast<std::uint32_t>(a.lane_block) < static_cast<std::uint32_t>(b.lane_block);
    });
    team.for_each(std::ssize(tasks_), search_task);
  } else {
    team.for_each_in_order(std::ssize(tasks_), search_task);
  }
  for (const SearchedLeaf& leaf : leaves) state(leaf.job->node).alive.clear();
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::size_t job = families[tasks_[t].family].jobs[side];
      if (job == kNone) continue;
      Found& found = findings_[t].found[side];
      if (found.split.feature >= 0 && best[job].loses_to(found.gain, found.split.feature)) best[job] = std::move(found);
      const auto& own = findings_[t].alive[side];
      auto& alive = state(leaves[job].job->node).alive;
      alive.insert(alive.end(), own.begin(), own.end());
    }
  }
}

// ---- lanes ----

// A numeric feature that has its lane to itself is searched together with others.
void HistogramEvaluator::plan_plain_features() {
  plain_.clear();
  plain_begin_.clear();
  first_lane_.clear();
  const bool together = !layout().wide && rules_.plain() && !one_by_one_;
  for (const Group& group : data_.matrix->groups()) {
    first_lane_.push_back(static_cast<std::int32_t>(plain_begin_.size()));
    for (const Lane& lane : group.lanes) {
      plain_begin_.push_back(static_cast<std::int32_t>(plain_.size()));
      const std::int32_t first = lane.digits.front().features.front();
      const Feature& f = feature(first);
      if (!together || f.shared || f.bundled || f.is_categorical() || f.l2 != 0.0) continue;
      plain_.push_back({first, f.n_value_bins, f.first_cell, f.has_missing});
    }
  }
  plain_begin_.push_back(static_cast<std::int32_t>(plain_.size()));
}

// What a thread builds first in a task, if anything.
std::optional<LanesToBuild> HistogramEvaluator::next_lanes(const std::vector<Family>& families, std::int64_t t) const {
  if (t >= std::ssize(tasks_) || tasks_[at(t)].lane_block < 0) return std::nullopt;
  const LaneBlock& block = lane_blocks_[at(tasks_[at(t)].lane_block)];
  const Family& family = families[tasks_[at(t)].family];
  if (family.late_split != nullptr) return std::nullopt;  // another thread may be splitting these rows
  for (const BuiltHistogram* const built : family.built) {
    if (built != nullptr && built->waits) return LanesToBuild{built, block.group, {block.first, block.n}};
  }
  return std::nullopt;
}

// A few lanes at a time, so that cells are merged, subtracted and searched while they are in cache.
void HistogramEvaluator::search_lanes(std::span<const SearchedLeaf> leaves, Family& family, const LaneBlock& block,
                                      const std::optional<LanesToBuild>& next_task, int thread, Found* found) {
  constexpr std::int64_t kStepCells = 2048;  // eight lanes of 256 cells are searched side by side
  const Group& group = data_.matrix->groups()[at(block.group)];
  const std::int32_t end = block.first + block.n;
  for (const BuiltHistogram* const built : family.built) {
    if (built == nullptr || !built->waits) continue;
    builder_.build_lanes(shape_, *quantised_, *task_.leaf_rows, resident_->first(),
                         {built, block.group, {block.first, block.n}}, next_task ? &*next_task : nullptr, thread);
  }
  for (std::int32_t lane = block.first, next = lane; lane < end; lane = next) {
    next = lane + 1;
    while (next < end && group.lane_begin(next + 1) - group.lane_begin(lane) <= kStepCells) ++next;
    const CellRange range = LaneRange{lane, next - lane}.cells(group);
    for (BuiltHistogram* const built : family.built) {
      if (built != nullptr) built->merge_lanes(shape_, block.group, range);
    }
    if (family.subtracts && !family.takes_rows_out) {
      subtract_range(*leaves[family.jobs[0]].histogram, range, shape_.n_cells, layout(),
                     *state(family.parent).histogram, family.packed_rest.get());
    }
    for (std::size_t side = 0; side < 2; ++side) {
      if (family.jobs[side] == kNone || !leaves[family.jobs[side]].is_searched()) continue;
      search_side(leaves[family.jobs[side]], block.group, lane, next, thread, found[side]);
    }
  }
}

void HistogramEvaluator::search_side(const SearchedLeaf& leaf, std::int32_t group, std::int32_t lane, std::int32_t end,
                                     int thread, Found& best) {
  const bool packed = !leaf.histogram->large;
  const std::int32_t* const begin = plain_begin_.data() + first_lane_[at(group)];
  const Group& lanes = data_.matrix->groups()[at(group)];
  if (packed) {
    const std::span<const SearchedFeature> plain(plain_.data() + begin[lane], plain_.data() + begin[end]);
    search_plain(leaf, plain, lanes.two_bytes ? 0 : lanes.lane_cells, thread, best);
  }
  for (; lane < end; ++lane) {
    if (packed && begin[lane] < begin[lane + 1]) continue;
    const auto& digits = lanes.lanes[at(lane)].digits;
    if (leaf.elected != nullptr && !has_elected(digits, leaf.elected)) continue;  // no cells of this lane were sent
    for (const Digit& digit : digits) search_digit(leaf, digit, thread, best);
  }
}

void HistogramEvaluator::search_plain(const SearchedLeaf& leaf, std::span<const SearchedFeature> features,
                                      std::int64_t lane_cells, int thread, Found& best) {
  if (features.empty()) return;
  PackedSearchArgs args;
  args.cells = leaf.histogram->words.data();
  args.features = features.data();
  args.n_features = std::ssize(features);
  args.lane_cells = lane_cells;
  args.allowed = allowed_.flags(leaf.job->node);
  args.gradient = static_cast<double>(leaf.sums.gradient);
  args.hessian = hessian_of(leaf.sums);
  args.count = leaf.sums.count;
  args.scratch = search_scratch_[at(thread)].data();
  PackedCandidate candidate{best.gain, best.split.feature};
  if (!kernels().search_packed(args, layout(), rules_, candidate)) return;
  best.gain = candidate.gain;
  best.split = BestSplit{};
  best.split.feature = candidate.feature;
  best.split.threshold = candidate.threshold;
  best.split.missing_left = candidate.missing_left;
}

void HistogramEvaluator::search_digit(const SearchedLeaf& leaf, const Digit& digit, int thread, Found& best) {
  const std::int32_t first = digit.features.front();
  if (!digit.bundle && !may_search(leaf, first)) return;
  const FeatureCells cells =
      feature_cells(*leaf.histogram, feature(first), shape_.n_cells, layout(), marginal_scratch_[at(thread)].data());
  if (!digit.bundle) {
    search_cells(leaf, cells, first, thread, best);
    return;
  }
  // Features of two bins have one cell each, next to one another.
  const auto is_one_hot = [&](std::size_t k) { return !one_by_one_ && feature(digit.features[k]).one_hot(); };
  for (std::size_t k = 0; k < digit.features.size();) {
    const Feature& f = feature(digit.features[k]);
    const FeatureCells others = cells.from(f.first_value, layout());
    if (!is_one_hot(k)) {
      if (can_split(others, f.n_other_bins())) search_other_bins(leaf, others, digit.features[k], thread, best);
      ++k;
      continue;
    }
    std::size_t end = k + 1;
    while (end < digit.features.size() && is_one_hot(end)) ++end;
    search_right(leaf, others, digit.features.data() + k, static_cast<int>(end - k), best);
    k = end;
  }
}

// ---- sparse columns ----

FeatureCells HistogramEvaluator::sparse_cells(Histogram& histogram, std::int64_t first_cell) {
  FeatureCells cells;
  if (first_cell >= shape_.n_heavy) {
    cells.cells = histogram.light.data() + (first_cell - shape_.n_heavy) * shape_.words_per_cell();
  } else if (histogram.large) {
    cells.large = histogram.sums(shape_.n_cells).offset(data_.matrix->n_cells() + first_cell);
  } else {
    cells.cells = histogram.cells(data_.matrix->n_cells() + first_cell, layout());
  }
  return cells;
}

// Partial sums are added up; the larger child is the parent minus the smaller one.
void HistogramEvaluator::merge_sparse_block(Family& family, const SparseRows::Block& block) {
  for (BuiltHistogram* const built : family.built) {
    if (built != nullptr) built->merge_sparse(shape_, block);
  }
  if (!family.subtracts) return;
  Histogram& child = *family.built[0]->own;
  Histogram& parent = *state(family.parent).histogram;
  if (shape_.is_heavy(block)) {
    subtract_range(child, shape_.sparse_range(block), shape_.n_cells, layout(), parent, family.packed_rest.get());
    return;
  }
  const std::int64_t first = shape_.light_word(block);
  Histogram& rest = family.packed_rest ? *family.packed_rest : parent;
  kernels().subtract_words(child.light.data() + first, block.n_cells * shape_.words_per_cell(),
                           rest.light.data() + first);
}

void HistogramEvaluator::search_sparse(std::span<const SearchedLeaf> leaves, Family& family, const SearchTask& task,
                                       int thread, Findings& findings) {
  for (std::int32_t k = task.first_alive; k < task.first_alive + task.n_alive; ++k) {
    const std::int32_t b = family.alive[at(k)];
    const SparseRows::Block& block = sparse_->blocks[at(b)];
    merge_sparse_block(family, block);
    for (std::size_t side = 0; side < 2; ++side) {
      if (family.jobs[side] == kNone || !leaves[family.jobs[side]].is_searched()) continue;
      if (search_sparse_block(leaves[family.jobs[side]], block, thread, findings.found[side])) {
        findings.alive[side].push_back(b);
      }
    }
  }
}

// Returns whether some feature has enough rows that are not zero: otherwise neither this leaf nor its children can use
// the feature.
bool HistogramEvaluator::search_sparse_block(const SearchedLeaf& leaf, const SparseRows::Block& block, int thread,
                                             Found& best) {
  if (block.rising && !one_by_one_) {
    const std::int32_t* const feature_of = sparse_->feature_of.data() + block.first_cell;
    FeatureCells cells = sparse_cells(*leaf.histogram, block.first_cell);
    if (block.n_cells > block.n) {
      cells = sums_from_above(cells, {sparse_->first_cell.data() + block.first, at(block.n) + 1}, layout(),
                              zero_scratch_[at(thread)].data());
    }
    FeatureCandidate found;
    const bool alive = search_right(leaf, cells, feature_of, static_cast<int>(block.n_cells), best, &found);
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
    const FeatureCells others = sparse_cells(*leaf.histogram, first_cell);
    if (!can_split(others, n_cells)) continue;
    alive = true;
    search_other_bins(leaf, others, sparse_->features[at(block.first + k)], thread, best);
  }
  return alive;
}

// Whether enough rows are not zero: one side of every split is without zero.
bool HistogramEvaluator::can_split(const FeatureCells& others, std::int64_t n) const {
  std::uint64_t count = 0;
  if (others.cells == nullptr) {
    for (std::int64_t c = 0; c < n; ++c) count += others.large.count[c];
  } else {
    // The count is in the lowest bits of a packed cell, and of the second word of a wide one.
    const auto* const words = static_cast<const std::uint64_t*>(others.cells);
    const std::uint64_t mask = (std::uint64_t{1} << layout().count_bits) - 1;
    for (std::int64_t c = 0; c < n; ++c) count += (layout().wide ? words[2 * c + 1] : words[c]) & mask;
  }
  return static_cast<double>(count) >= rules_.min_data;
}

// Splits with one cell each; a new best split has the threshold 0 unless the caller sets another.
bool HistogramEvaluator::search_right(const SearchedLeaf& leaf, const FeatureCells& cells, const std::int32_t* features,
                                      int n, Found& best, FeatureCandidate* found) {
  SearchRightArgs args;
  args.cells = cells.cells;
  args.large = cells.large;
  args.n = n;
  args.features = features;
  args.allowed = allowed_.flags(leaf.job->node);
  args.leaf = leaf.sums;
  args.parent_output = leaf.output;
  FeatureCandidate candidate;
  candidate.gain = best.gain;
  candidate.feature = best.split.feature;
  if (kernels().search_right(args, layout(), rules_, candidate)) {
    best.gain = candidate.gain;
    best.split = BestSplit{};
    best.split.feature = candidate.feature;
  }
  if (found != nullptr) *found = candidate;
  return candidate.any_filled;
}

// A feature whose cell of zero is the leaf minus the other cells.
void HistogramEvaluator::search_other_bins(const SearchedLeaf& leaf, const FeatureCells& others, std::int32_t f,
                                           int thread, Found& best) {
  if (!may_search(leaf, f)) return;
  const bool large = leaf.histogram->large;
  const FeatureCells cells =
      with_zero_cell(others, feature(f), leaf.sums, large, layout(), zero_scratch_[at(thread)].data());
  search_cells(leaf, cells, f, thread, best);
}

// ---- one feature ----

// All cells of a feature, wherever it is stored.
FeatureCells HistogramEvaluator::cells_of(const SearchedLeaf& leaf, std::int32_t f, int thread) {
  const Feature& own = feature(f);
  const bool large = leaf.histogram->large;
  std::uint64_t* const scratch = zero_scratch_[at(thread)].data();
  if (own.loose()) {
    const std::int64_t first_cell = sparse_->first_cell[at(sparse_->place_of[at(f)])];
    const FeatureCells others = sparse_cells(*leaf.histogram, first_cell);
    return with_zero_cell(others, own, leaf.sums, large, layout(), scratch);
  }
  const FeatureCells digit =
      feature_cells(*leaf.histogram, own, shape_.n_cells, layout(), marginal_scratch_[at(thread)].data());
  if (!own.bundled) return digit;
  return with_zero_cell(digit.from(own.first_value, layout()), own, leaf.sums, large, layout(), scratch);
}

SplitRules HistogramEvaluator::rules_of(const Feature& feature) const {
  return with_l2(rules_, feature.l2 / layout().hessian_unit);
}

SearchArgs HistogramEvaluator::search_args(const SearchedLeaf& leaf, const FeatureCells& cells, const Feature& feature,
                                           int thread) {
  SearchArgs args;
  args.cells = cells.cells;
  args.large = cells.large;
  args.n_value_bins = feature.n_value_bins;
  args.has_missing = feature.has_missing;
  args.gradient = static_cast<double>(leaf.sums.gradient);
  args.hessian = hessian_of(leaf.sums);
  args.count = static_cast<double>(leaf.sums.count);
  args.parent_output = leaf.output;
  args.scratch = search_scratch_[at(thread)].data();
  return args;
}

// The limits that monotone constraints set on the values of the children; nullptr: none.
const ValueLimits* HistogramEvaluator::limits_of(const SearchedLeaf& leaf, std::int32_t f, int thread,
                                                 ValueLimits& limits) {
  if (!task_.monotone->is_on()) return nullptr;
  return task_.monotone->limit_search(leaf.job->node, f, value_scale(), thread, limits) ? &limits : nullptr;
}

void HistogramEvaluator::search_cells(const SearchedLeaf& leaf, const FeatureCells& cells, std::int32_t f, int thread,
                                      Found& best) {
  const Feature& own = feature(f);
  ValueLimits own_limits;
  const ValueLimits* const limits = limits_of(leaf, f, thread, own_limits);
  const std::uint64_t random =
      search_->extra_trees ? random_bits(search_->extra_key ^ leaf.job->key, static_cast<std::uint64_t>(f)) : 0;
  if (own.is_categorical()) {
    CategorySearch search{own,       layout(),    rules_, search_->rules.cat_l2, search_->rules.cat_smooth,
                          leaf.sums, leaf.output, limits, std::nullopt};
    if (search_->extra_trees) search.random = random;
    CategorySplit found = search_categories(search, cells);
    if (found.split.goes_left.empty()) return;
    found.split.feature = f;
    offer(leaf, found.gain, std::move(found.split), best);
    return;
  }
  SearchArgs args = search_args(leaf, cells, own, thread);
  args.limits = limits;
  // Target statistics (which have an L2 penalty) are searched whole: in deep leaves, most random thresholds lie outside
  // the few bins that a statistic still has there, and a column that explains much could not be split further.
  if (search_->extra_trees && own.l2 == 0.0) {
    const int n_thresholds = std::max(own.n_value_bins - (own.has_missing ? 0 : 1), 1);
    args.only_threshold = static_cast<int>(random % static_cast<std::uint64_t>(n_thresholds));
  }
  Candidate candidate;
  // A feature that wins ties is searched on its own; any other feature must be strictly better than the best so far.
  if (f > best.split.feature && !costs_.adjusts_gains()) candidate.gain = best.gain;
  std::optional<SplitRules> own_rules;  // of few features: a copy takes as long as a short search
  if (own.l2 != 0.0) own_rules = rules_of(own);
  if (!kernels().search(args, layout(), own_rules ? *own_rules : rules_, candidate)) return;
  BestSplit split;
  split.feature = f;
  split.threshold = candidate.threshold;
  split.missing_left = candidate.missing_left;
  split.l2 = own.l2;
  offer(leaf, candidate.gain, std::move(split), best);
}

void HistogramEvaluator::offer(const SearchedLeaf& leaf, double gain, BestSplit split, Found& best) {
  if (costs_.adjusts_gains()) {
    gain = costs_.adjusted(*leaf.job, leaf.sums.count, leaf.own_gain, split.feature, gain);
  }
  if (leaf.gains != nullptr) {
    leaf.gains[split.feature] = gain;
    return;
  }
  split.gain = gain;
  if (costs_.has_refunds()) costs_.note(leaf.job->node, split);
  if (!best.loses_to(gain, split.feature)) return;
  best.gain = gain;
  best.split = std::move(split);
}

}  // namespace gossamer
