// The part of the grower that makes histograms and finds splits in them.
#include <algorithm>
#include <cmath>

#include "core/grower.h"
#include "core/random.h"
#include "core/timer.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBuildRows = 4096;  // least rows per histogram task

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void Grower::evaluate(Team& team, std::vector<Family>& families) {
  build(team, families);
  search(team, families);
  for (Partial& partial : partials_) pool_.release(std::move(partial.histogram));
  partials_.clear();
  for (Family& family : families) {
    for (const std::int32_t leaf : {family.built[0], family.built[1], family.rest}) {
      if (leaf >= 0) settle(leaves_[at(leaf)]);
    }
  }
}

// The histogram of a leaf that will be split late is given up when memory runs short; its children
// are then both built from rows.
std::unique_ptr<Histogram> Grower::acquire(bool large) {
  if (pool_.exhausted(large)) {
    Leaf* worst = nullptr;
    for (const std::int32_t i : frontier_) {
      Leaf& leaf = leaves_[at(i)];
      if (leaf.expanded || !leaf.histogram || leaf.histogram->large != large) continue;
      if (worst == nullptr || comes_before(*worst, leaf)) worst = &leaf;
    }
    if (worst != nullptr) return std::move(worst->histogram);
  }
  return pool_.acquire(large);
}

void Grower::build(Team& team, std::vector<Family>& families) {
  const Timer timer(stats_.build);
  std::int64_t total_rows = 0;
  for (const Family& family : families) {
    for (const std::int32_t i : family.built) {
      if (i >= 0) total_rows += leaves_[at(i)].n_rows();
    }
  }
  stats_.built_rows += total_rows;
  const auto n_groups = static_cast<std::int64_t>(matrix_->groups().size());
  // Every piece of a leaf costs a histogram to be merged: with many threads, one piece each.
  const std::int64_t n_pieces = team.n_threads() * (team.n_threads() <= 4 ? 2 : 1);
  const std::int64_t rows_per_task =
      team.n_threads() == 1 ? n_rows_ : std::max(kBuildRows, total_rows * n_groups / n_pieces + 1);
  std::vector<BuildTask> tasks;
  for (Family& family : families) {
    for (const std::int32_t i : family.built) {
      if (i < 0) continue;
      Leaf& leaf = leaves_[at(i)];
      leaf.histogram = acquire(leaf.n_rows() > layout_.max_rows);
      const std::int64_t n_parts = std::max<std::int64_t>(1, (leaf.n_rows() + rows_per_task / 2) / rows_per_task);
      for (std::int64_t g = 0; g < n_groups; ++g) {
        if (!group_used_[at(g)]) continue;
        for (std::int64_t part = 0; part < n_parts; ++part) {
          BuildTask task{i, static_cast<std::int32_t>(g), leaf.begin + leaf.n_rows() * part / n_parts,
                         leaf.begin + leaf.n_rows() * (part + 1) / n_parts, leaf.histogram.get()};
          if (part > 0) {
            const bool large = leaf.histogram->large && task.end - task.begin > layout_.max_rows;
            partials_.push_back({i, task.group, pool_.acquire(large)});
            task.target = partials_.back().histogram.get();
          }
          tasks.push_back(task);
        }
      }
    }
  }
  // Longest first: the last task to start should be a short one.
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const BuildTask& a, const BuildTask& b) { return a.end - a.begin > b.end - b.begin; });
  team.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t t, int thread) {
    const BuildTask& task = tasks[at(t)];
    const Group& group = matrix_->groups()[at(task.group)];
    Buffer<std::uint64_t>& scratch = build_scratch_[at(thread)];
    if (task.target->large) scratch.grow_to(group.n_cells * 2);
    const RowIdx* const rows = identity_root_ && task.leaf == 0 ? nullptr : row_index_.data() + task.begin;
    build_group(group, rows, task.begin, task.end - task.begin, row_values_.data(), matrix_->n_cells(), layout_,
                scratch.data(), *task.target);
  });
}

// ---- split search ----

void Grower::plan_blocks(int n_threads) {
  const auto& p = *params_;
  const auto n_features = static_cast<std::int64_t>(matrix_->features().size());
  columns_ = std::make_unique<ColumnSampler>(n_features, p.fractions, p.column_key);
  sample_nodes_ = p.fractions.by_level < 1.0 || p.fractions.by_node < 1.0;
  feature_used_.assign(at(n_features), 0);
  group_used_.assign(matrix_->groups().size(), 0);
  for (const std::int32_t f : columns_->tree_features()) {
    feature_used_[at(f)] = 1;
    group_used_[at(matrix_->features()[at(f)].group)] = 1;
  }
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
  int max_bins = 1;
  for (const Feature& f : matrix_->features()) max_bins = std::max(max_bins, f.n_value_bins);
  build_scratch_.resize(at(std::max<std::int64_t>(n_threads, static_cast<std::int64_t>(build_scratch_.size()))));
  search_scratch_.resize(build_scratch_.size());
  for (auto& scratch : search_scratch_) scratch.grow_to(search_scratch_size(max_bins));
  marginal_scratch_.resize(build_scratch_.size());
  for (auto& scratch : marginal_scratch_) scratch.grow_to(kFeatureScratchWords);
}

void Grower::search(Team& team, std::vector<Family>& families) {
  const Timer timer(stats_.search);
  for (Family& family : families) {
    if (family.rest < 0) continue;
    const bool becomes_small =
        leaves_[at(family.parent)].histogram->large && leaves_[at(family.rest)].n_rows() <= layout_.max_rows;
    if (becomes_small) family.packed_rest = acquire(false);
  }
  allow_columns(families);
  const std::size_t n_blocks = blocks_.size();
  std::vector<Found> found(families.size() * n_blocks * 2);
  team.for_each(static_cast<std::int64_t>(families.size() * n_blocks), [&](std::int64_t t, int thread) {
    search_lanes(families[at(t) / n_blocks], blocks_[at(t) % n_blocks], thread, &found[at(t) * 2]);
  });
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
      Found best;
      for (std::size_t b = 0; b < n_blocks; ++b) {
        const Found& f = found[(i * n_blocks + b) * 2 + side];
        // Equal gains: the smaller feature, whatever the order of groups and blocks.
        if (f.split.feature >= 0 &&
            (f.gain > best.gain || (f.gain == best.gain && f.split.feature < best.split.feature))) {
          best = f;
        }
      }
      best.split.gain = best.gain;
      leaves_[at(searched)].split = best.split;
    }
  }
}

// Node-level column samples of the leaves to be searched.
void Grower::allow_columns(const std::vector<Family>& families) {
  if (!sample_nodes_) return;
  allowed_.resize(leaves_.size());
  for (const Family& family : families) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t i = family.searched(side);
      if (i < 0) continue;
      std::vector<char>& allowed = allowed_[at(i)];
      allowed.assign(matrix_->features().size(), 0);
      for (const std::int32_t f : columns_->node_features(leaves_[at(i)].depth, leaves_[at(i)].key)) allowed[at(f)] = 1;
    }
  }
}

// Lane by lane, so that its cells are merged, subtracted and searched while they are in cache.
void Grower::search_lanes(Family& family, const LaneBlock& block, int thread, Found* found) {
  const std::int64_t n_cells = matrix_->n_cells();
  const Group& group = matrix_->groups()[at(block.group)];
  for (std::int32_t lane = block.first; lane < block.first + block.n; ++lane) {
    const std::int64_t first = group.lane_begin(lane);
    const CellRange range{group.first_cell + first, group.lane_begin(lane + 1) - first};
    for (Partial& partial : partials_) {
      if (partial.group != block.group) continue;
      if (partial.leaf != family.built[0] && partial.leaf != family.built[1]) continue;
      add_range(*partial.histogram, range, n_cells, layout_, *leaves_[at(partial.leaf)].histogram);
    }
    Histogram* rest = nullptr;
    if (family.rest >= 0) {
      Histogram& parent = *leaves_[at(family.parent)].histogram;
      subtract_range(*leaves_[at(family.built[0])].histogram, range, n_cells, layout_, parent,
                     family.packed_rest.get());
      rest = family.packed_rest ? family.packed_rest.get() : &parent;
    }
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t i = family.searched(side);
      if (i < 0 || !may_split(leaves_[at(i)])) continue;
      Histogram& histogram = i == family.rest ? *rest : *leaves_[at(i)].histogram;
      for (const std::int32_t f : group.lanes[at(lane)]) {
        if (!feature_used_[at(f)] || (sample_nodes_ && !allowed_[at(i)][at(f)])) continue;
        search_feature(leaves_[at(i)], histogram, f, thread, found[side]);
      }
    }
  }
}

void Grower::search_feature(const Leaf& leaf, Histogram& histogram, std::int32_t f, int thread, Found& best) {
  const Feature& feature = matrix_->features()[at(f)];
  const FeatureCells cells =
      feature_cells(histogram, feature, matrix_->n_cells(), layout_, marginal_scratch_[at(thread)].data());
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
  if (params_->extra_trees) {
    const int n_thresholds = std::max(feature.n_value_bins - (feature.has_missing ? 0 : 1), 1);
    args.only_threshold = static_cast<int>(random_bits(params_->extra_key ^ leaf.key, static_cast<std::uint64_t>(f)) %
                                           static_cast<std::uint64_t>(n_thresholds));
  }
  Candidate candidate;
  // A feature seen later in this block but numbered lower must win ties: search it on its own.
  const bool strict = f > best.split.feature;
  if (strict) candidate.gain = best.gain;
  if (!kernels().search(args, layout_, rules_, candidate)) return;
  if (!strict && candidate.gain < best.gain) return;
  best.gain = candidate.gain;
  best.split.feature = f;
  best.split.threshold = candidate.threshold;
  best.split.missing_left = candidate.missing_left;
}

// Turns the winning candidate into a split: exact sums of the left side, gain above the leaf's own.
void Grower::settle(Leaf& leaf) {
  Split& split = leaf.split;
  if (split.feature >= 0) {
    // What rounding leaves of a gain of zero must not pass for a gain.
    const double gain = split.gain - gain_of(leaf.sums, leaf.output);
    const bool is_noise = gain <= 1e-12 * std::abs(split.gain);
    split.gain = gain * layout_.gradient_unit * layout_.gradient_unit / layout_.hessian_unit;
    if (is_noise || split.gain <= params_->rules.min_gain_to_split) split = Split{};
  }
  if (split.feature < 0) {
    pool_.release(std::move(leaf.histogram));
    return;
  }
  const Feature& feature = matrix_->features()[at(split.feature)];
  const FeatureCells cells =
      feature_cells(*leaf.histogram, feature, matrix_->n_cells(), layout_, marginal_scratch_[0].data());
  split.left = sum_bins(cells, 0, split.threshold + 1, layout_);
  const Sums missing = feature.has_missing ? sum_bins(cells, feature.n_value_bins, 1, layout_) : Sums{};
  if (split.missing_left) split.left += missing;
  // Nothing to learn a direction from: missing values will follow the majority.
  if (missing.count == 0) split.missing_left = 2 * split.left.count >= leaf.sums.count;
}

}  // namespace gossamer
