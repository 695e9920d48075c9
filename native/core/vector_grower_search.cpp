// The part of the vector grower that builds histograms and finds splits in them.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/random.h"
#include "core/timer.h"
#include "core/vector_grower.h"

namespace gossamer {
namespace {

constexpr std::int64_t kPieceRows = 4096;  // least rows per build task

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void VectorGrower::build(Team& team, const std::vector<std::int32_t>& leaves) {
  const Timer timer(stats_.build);
  std::vector<BuildTask> tasks;
  const auto n_blocks = static_cast<std::int64_t>(blocks_.size() * leaves.size());
  for (const std::int32_t i : leaves) {
    Leaf& leaf = leaves_[at(i)];
    leaf.cells = acquire();
    stats_.built_rows += leaf.n_rows();
    const std::int64_t wanted = team.n_threads() == 1 ? 1 : (2 * team.n_threads() + n_blocks - 1) / n_blocks;
    const std::int64_t n = std::clamp<std::int64_t>(leaf.n_rows() / kPieceRows, 1, wanted);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (std::int64_t p = 0; p < n; ++p) {
        BuildTask task{i,
                       static_cast<std::int32_t>(b),
                       leaf.begin + leaf.n_rows() * p / n,
                       leaf.begin + leaf.n_rows() * (p + 1) / n,
                       {}};
        if (p > 0) task.partial.reset(blocks_[b].n_cells * width_);
        tasks.push_back(std::move(task));
      }
    }
  }
  team.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t t, int) {
    BuildTask& task = tasks[at(t)];
    const Block& block = blocks_[at(task.block)];
    std::int32_t* const own = task.partial.size() > 0
                                  ? task.partial.data()
                                  : leaves_[at(task.leaf)].cells->data() + block.first_cell * width_;
    std::memset(own, 0, at(block.n_cells * width_) * sizeof(std::int32_t));
    VectorBuildArgs args;
    args.rows = rows_.from(task.begin);
    args.first_row = task.begin;
    args.n_rows = task.end - task.begin;
    args.values = values_.data();
    args.width = width_;
    if (block.group < 0) {
      args.codes = sparse_->codes();
      args.two_bytes = !sparse_->wide_codes();
      args.row_begin = sparse_->row_begin.data();
      args.cells = own;
    } else {
      const Group& group = matrix_->groups()[at(block.group)];
      args.two_bytes = group.two_bytes;
      args.bins = group.two_bytes ? static_cast<const void*>(group.bins16.data() + block.first)
                                  : static_cast<const void*>(group.bins8.data() + block.first);
      args.row_stride = group.row_stride;
      args.n_lanes = block.n;
      args.lane_first = lane_first_[at(block.group)].data() + block.first;
      args.cells = own - block.first_cell * width_;
    }
    kernels().build_vector(args);
  });
  for (const BuildTask& task : tasks) {
    if (task.partial.size() == 0) continue;
    const Block& block = blocks_[at(task.block)];
    std::int32_t* const out = leaves_[at(task.leaf)].cells->data() + block.first_cell * width_;
    for_blocks(team, block.n_cells, 128, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      kernels().add_ints(task.partial.data() + begin * width_, (end - begin) * width_, out + begin * width_);
    });
  }
}

// ---- search ----

void VectorGrower::search(Team& team, const Family& family) {
  const Timer timer(stats_.search);
  std::vector<SearchTask> tasks;
  for (std::size_t g = 0; g < matrix_->groups().size(); ++g) {
    if (!group_used_[g]) continue;
    for (std::int32_t lane = 0; lane < matrix_->groups()[g].n_lanes; ++lane) {
      tasks.push_back({static_cast<std::int32_t>(g), lane, {}});
    }
  }
  for (std::size_t b = 0; sparse_ && b < sparse_->blocks.size(); ++b) {
    tasks.push_back({-1, static_cast<std::int32_t>(b), {}});
  }
  if (family.rest >= 0) leaves_[at(family.rest)].cells = std::move(leaves_[at(family.parent)].cells);
  std::int32_t searched[2] = {family.built[0], family.rest};
  if (family.built.size() > 1) searched[1] = family.built[1];
  team.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t t, int thread) {
    SearchTask& task = tasks[at(t)];
    const Group* const group = task.group >= 0 ? &matrix_->groups()[at(task.group)] : nullptr;
    const SparseRows::Block* const block = group == nullptr ? &sparse_->blocks[at(task.index)] : nullptr;
    const std::int64_t first =
        group != nullptr ? group->first_cell + group->lane_begin(task.index) : matrix_->n_cells() + block->first_cell;
    const std::int64_t n =
        group != nullptr ? group->lane_begin(task.index + 1) - group->lane_begin(task.index) : block->n_cells;
    if (family.rest >= 0) {
      kernels().subtract_ints(leaves_[at(family.built[0])].cells->data() + first * width_, n * width_,
                              leaves_[at(family.rest)].cells->data() + first * width_);
    }
    for (int side = 0; side < 2; ++side) {
      const std::int32_t i = searched[side];
      if (i < 0 || !may_split(leaves_[at(i)])) continue;
      const std::int32_t* const cells = leaves_[at(i)].cells->data() + first * width_;
      if (group != nullptr) {
        search_lane(i, group->lanes[at(task.index)], cells, thread, task.found[side]);
      } else {
        search_sparse(i, *block, cells, thread, task.found[side]);
      }
    }
  });
  for (int side = 0; side < 2; ++side) {
    if (searched[side] < 0) continue;
    Found best;
    for (const SearchTask& task : tasks) {
      const Found& f = task.found[side];
      if (f.feature >= 0 && (f.gain > best.gain || (f.gain == best.gain && f.feature < best.feature))) best = f;
    }
    settle(leaves_[at(searched[side])], best);
  }
}

void VectorGrower::search_lane(std::int32_t leaf, const Lane& lane, const std::int32_t* cells, int thread,
                               Found& best) {
  for (const Digit& digit : lane.digits) {
    if (!digit.bundle && !is_allowed(leaf, digit.features.front())) continue;
    const std::int32_t* const own = digit_cells(lane, digit, cells, thread);
    if (!digit.bundle) {
      search_feature(leaf, digit.features.front(), own, thread, best);
      continue;
    }
    for (const std::int32_t f : digit.features) {
      search_others(leaf, f, own + matrix_->features()[at(f)].first_value * width_, thread, best);
    }
  }
}

void VectorGrower::search_sparse(std::int32_t leaf, const SparseRows::Block& block, const std::int32_t* cells,
                                 int thread, Found& best) {
  for (std::int32_t k = 0; k < block.n; ++k) {
    const std::int64_t first = sparse_->first_cell[at(block.first + k)] - block.first_cell;
    search_others(leaf, sparse_->features[at(block.first + k)], cells + first * width_, thread, best);
  }
}

// Cells of one digit: those of its lane, or their marginal sums.
const std::int32_t* VectorGrower::digit_cells(const Lane& lane, const Digit& digit, const std::int32_t* cells,
                                              int thread) {
  if (lane.digits.size() == 1) return cells;
  std::int32_t* const out = digit_scratch_[at(thread)].data();
  std::memset(out, 0, at(digit.radix * width_) * sizeof(std::int32_t));
  for (std::int32_t v = 0; v < lane.n_values; ++v) {
    kernels().add_ints(cells + static_cast<std::int64_t>(v) * width_, width_,
                       out + static_cast<std::int64_t>(v / digit.stride % digit.radix) * width_);
  }
  return out;
}

// All cells of a feature whose bins other than zero's are known: zero's is what they leave of the leaf.
const std::int32_t* VectorGrower::with_zero_bin(const Leaf& leaf, const Feature& feature, const std::int32_t* others,
                                                int thread) {
  std::int32_t* const out = zero_scratch_[at(thread)].data();
  std::memset(out, 0, at(static_cast<std::int64_t>(feature.n_value_bins + 1) * width_) * sizeof(std::int32_t));
  Vector zero = leaf.sums;
  for (std::int32_t o = 0; o < feature.n_other_bins(); ++o) {
    const std::int32_t* const cell = others + static_cast<std::int64_t>(o) * width_;
    kernels().subtract_ints(cell, width_, zero.data());
    std::memcpy(out + static_cast<std::int64_t>(feature.bin_of_other(o)) * width_, cell,
                at(width_) * sizeof(std::int32_t));
  }
  std::memcpy(out + static_cast<std::int64_t>(feature.zero_bin) * width_, zero.data(),
              at(width_) * sizeof(std::int32_t));
  return out;
}

void VectorGrower::search_others(std::int32_t leaf, std::int32_t f, const std::int32_t* others, int thread,
                                 Found& best) {
  if (!is_allowed(leaf, f)) return;
  const Feature& feature = matrix_->features()[at(f)];
  std::int64_t count = 0;  // one side of every split is without zero
  for (std::int32_t o = 0; o < feature.n_other_bins(); ++o) {
    count += others[static_cast<std::int64_t>(o) * width_ + n_outputs_];
  }
  if (static_cast<double>(count) < std::max(params_->rules.min_data, 1.0)) return;
  search_feature(leaf, f, with_zero_bin(leaves_[at(leaf)], feature, others, thread), thread, best);
}

bool VectorGrower::is_allowed(std::int32_t leaf, std::int32_t feature) const {
  return feature_used_[at(feature)] && (!sample_nodes_ || allowed_[at(leaf)][at(feature)]);
}

void VectorGrower::search_feature(std::int32_t i, std::int32_t f, const std::int32_t* cells, int thread, Found& best) {
  const Leaf& leaf = leaves_[at(i)];
  const Feature& feature = matrix_->features()[at(f)];
  const SplitRules& rules = params_->rules;
  VectorSearchArgs args;
  args.cells = cells;
  args.n_value_bins = feature.n_value_bins;
  args.has_missing = feature.has_missing;
  args.n_outputs = n_outputs_;
  args.n_chunks = n_chunks_;
  args.total = leaf.sums.data();
  args.gradient_unit = search_gradient_unit_.data();
  args.hessian_unit = constant_hessian_ ? nullptr : search_hessian_unit_.data();
  args.count_hessian = static_cast<float>(static_cast<double>(count_hessian_) * hessian_scale_);
  args.lambda_l1 = static_cast<float>(rules.lambda_l1 * gradient_scale_);
  args.lambda_l2 = static_cast<float>(rules.lambda_l2 * hessian_scale_);
  args.min_data = static_cast<std::int32_t>(std::ceil(std::clamp(rules.min_data, 1.0, 2147483647.0)));
  // Without any hessian there is no leaf value.
  const double least =
      rules.min_sum_hessian > 0.0 || rules.lambda_l2 > 0.0 ? rules.min_sum_hessian * hessian_scale_ : 1e-30;
  args.min_sum_hessian = static_cast<float>(least);
  args.scratch = search_scratch_[at(thread)].data();
  if (params_->extra_trees) {
    const int n_thresholds = std::max(feature.n_value_bins - (feature.has_missing ? 0 : 1), 1);
    args.only_threshold = static_cast<int>(random_bits(params_->extra_key ^ leaf.key, static_cast<std::uint64_t>(f)) %
                                           static_cast<std::uint64_t>(n_thresholds));
  }
  VectorCandidate candidate;
  if (!kernels().search_vector(args, candidate)) return;
  const bool better = candidate.gain > best.gain || (candidate.gain == best.gain && f < best.feature);
  if (better) best = {candidate.gain, f, candidate.threshold, candidate.missing_left};
}

// Sums of the rows that a split sends left, missing ones apart.
VectorGrower::Vector VectorGrower::sums_left(Leaf& leaf, const Split& split) {
  const Feature& feature = matrix_->features()[at(split.feature)];
  const std::int32_t* cells = leaf.cells->data();
  if (feature.loose()) {
    const std::int64_t first = sparse_->first_cell[at(sparse_->place_of[at(split.feature)])];
    cells = with_zero_bin(leaf, feature, cells + (matrix_->n_cells() + first) * width_, 0);
  } else {
    const Group& group = matrix_->groups()[at(feature.group)];
    const Lane& lane = group.lanes[at(feature.lane)];
    cells += (group.first_cell + group.lane_begin(feature.lane)) * width_;
    for (const Digit& digit : lane.digits) {
      if (std::find(digit.features.begin(), digit.features.end(), split.feature) == digit.features.end()) continue;
      cells = digit_cells(lane, digit, cells, 0);
      if (digit.bundle) cells = with_zero_bin(leaf, feature, cells + feature.first_value * width_, 0);
      break;
    }
  }
  Vector left(at(width_));
  for (std::int32_t b = 0; b <= split.threshold; ++b) {
    kernels().add_ints(cells + static_cast<std::int64_t>(b) * width_, width_, left.data());
  }
  if (feature.has_missing && split.missing_left) {
    kernels().add_ints(cells + static_cast<std::int64_t>(feature.n_value_bins) * width_, width_, left.data());
  }
  return left;
}

// Turns the winning candidate into a split: exact sums, and the gain above the leaf's own in full precision.
void VectorGrower::settle(Leaf& leaf, const Found& found) {
  leaf.split = Split{};
  if (found.feature < 0) return;
  Split split{0.0, found.feature, found.threshold, found.missing_left, {}};
  split.left = sums_left(leaf, split);
  Vector right = leaf.sums;
  kernels().subtract_ints(split.left.data(), width_, right.data());
  const double both = gain_of(split.left) + gain_of(right);
  split.gain = both - gain_of(leaf.sums);
  const bool is_noise = split.gain <= 1e-12 * both;
  if (is_noise || split.gain <= params_->rules.min_gain_to_split) return;
  // Nothing to learn a direction from: missing values will follow the majority.
  if (!split.missing_left) {
    Split other = split;
    other.missing_left = true;
    if (!matrix_->features()[at(split.feature)].has_missing ||
        count_of(sums_left(leaf, other)) == count_of(split.left)) {
      split.missing_left = 2 * count_of(split.left) >= count_of(leaf.sums);
    }
  }
  leaf.split = std::move(split);
}

}  // namespace gossamer
