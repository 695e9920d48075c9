// The part of the vector evaluator that builds histograms and finds splits in them.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/index.h"
#include "core/random.h"
#include "core/split_math.h"
#include "core/timer.h"
#include "core/vector_evaluator.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kPieceRows = 4096;  // least rows per build task

}  // namespace

void VectorEvaluator::build(Team& team, std::span<const LeafJob> jobs, const std::vector<Family>& families) {
  const Timer timer(task_.stats->build, task_.stats->is_timed);
  std::vector<const LeafJob*> built;
  for (const Family& family : families) {
    for (const std::size_t i : family.built) built.push_back(&jobs[i]);
  }
  std::vector<BuildTask> tasks;
  const auto n_blocks = static_cast<std::int64_t>(blocks_.size() * built.size());
  for (const LeafJob* job : built) {
    state(job->node).cells = acquire();
    const std::int64_t n_rows = job->rows.end - job->rows.begin;
    task_.stats->built_rows += n_rows;
    const std::int64_t wanted = team.n_threads() == 1 ? 1 : (2 * team.n_threads() + n_blocks - 1) / n_blocks;
    const std::int64_t n = std::clamp<std::int64_t>(n_rows / kPieceRows, 1, wanted);
    for (const Block& block : blocks_) {
      for (std::int64_t p = 0; p < n; ++p) {
        tasks.push_back({job, &block, {job->rows.begin + n_rows * p / n, job->rows.begin + n_rows * (p + 1) / n}, {}});
        if (p > 0) tasks.back().partial.reset(block.n_cells * width_);
      }
    }
  }
  team.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t t, int) { fill(tasks[at(t)]); });
  for (const BuildTask& task : tasks) {
    if (task.partial.size() == 0) continue;
    std::int32_t* const out = state(task.job->node).cells->data() + task.block->first_cell * width_;
    for_blocks(team, task.block->n_cells, 128, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      kernels().add_ints(task.partial.data() + begin * width_, (end - begin) * width_, out + begin * width_);
    });
  }
  if (data_.exchange == nullptr) return;
  // By group, not by block: how lanes are cut into blocks depends on threads.
  std::vector<std::span<std::int32_t>> parts;
  for (const LeafJob* job : built) {
    std::int32_t* const cells = state(job->node).cells->data();
    const auto add = [&](std::int64_t first, std::int64_t n) {
      parts.emplace_back(cells + first * width_, at(n * width_));
    };
    for (std::size_t g = 0; g < group_used_.size(); ++g) {
      const Group& group = data_.matrix->groups()[g];
      if (group_used_[g]) add(group.first_cell, group.n_cells);
    }
    if (sparse_) add(data_.matrix->n_cells(), sparse_->n_cells);
  }
  data_.exchange->add(parts);
}

void VectorEvaluator::fill(const BuildTask& task) {
  const Block& block = *task.block;
  std::int32_t* const own = task.partial.size() > 0 ? const_cast<std::int32_t*>(task.partial.data())
                                                    : state(task.job->node).cells->data() + block.first_cell * width_;
  std::memset(own, 0, at(block.n_cells * width_) * sizeof(std::int32_t));
  VectorBuildArgs args;
  args.rows = task_.leaf_rows->from(task.rows.begin);
  args.first_row = task.rows.begin;
  args.n_rows = task.rows.end - task.rows.begin;
  args.values = values_.data();
  args.width = width_;
  if (block.group < 0) {
    args.codes = sparse_->codes();
    args.two_bytes = !sparse_->wide_codes();
    args.row_begin = sparse_->row_begin.data();
    args.cells = own;
  } else {
    const Group& group = data_.matrix->groups()[at(block.group)];
    args.two_bytes = group.two_bytes;
    args.bins = group.two_bytes ? static_cast<const void*>(group.bins16.data() + block.first)
                                : static_cast<const void*>(group.bins8.data() + block.first);
    args.row_stride = group.row_stride;
    args.n_lanes = block.n;
    args.lane_first = lane_first_[at(block.group)].data() + block.first;
    args.cells = own - block.first_cell * width_;
  }
  kernels().build_vector(args);
}

// ---- search ----

void VectorEvaluator::search(Team& team, std::span<const LeafJob> jobs, const std::vector<Family>& families,
                             std::span<Found> best) {
  std::vector<SearchTask> tasks;
  for (std::size_t f = 0; f < families.size(); ++f) {
    const Family& family = families[f];
    if (family.rest != kNone) state(jobs[family.rest].node).cells = std::move(state(family.parent).cells);
    for (std::size_t g = 0; g < group_used_.size(); ++g) {
      if (!group_used_[g]) continue;
      for (std::int32_t lane = 0; lane < data_.matrix->groups()[g].n_lanes; ++lane) {
        tasks.push_back({f, static_cast<std::int32_t>(g), lane, {}});
      }
    }
    for (std::size_t b = 0; sparse_ && b < sparse_->blocks.size(); ++b) {
      tasks.push_back({f, -1, static_cast<std::int32_t>(b), {}});
    }
  }
  team.for_each(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t t, int thread) {
    search_task(jobs, families[tasks[at(t)].family], tasks[at(t)], thread);
  });
  for (const SearchTask& task : tasks) {
    const Family& family = families[task.family];
    const std::size_t searched[2] = {family.built[0], family.built.size() > 1 ? family.built[1] : family.rest};
    for (int side = 0; side < 2; ++side) {
      const Found& f = task.found[side];
      if (f.feature < 0) continue;
      Found& b = best[searched[side]];
      if (beats(f.gain, f.feature, b.gain, b.feature)) b = f;
    }
  }
}

void VectorEvaluator::search_task(std::span<const LeafJob> jobs, const Family& family, SearchTask& task, int thread) {
  const Group* const group = task.group >= 0 ? &data_.matrix->groups()[at(task.group)] : nullptr;
  const SparseRows::Block* const block = group == nullptr ? &sparse_->blocks[at(task.index)] : nullptr;
  const std::int64_t first = group != nullptr ? group->first_cell + group->lane_begin(task.index)
                                              : data_.matrix->n_cells() + block->first_cell;
  const std::int64_t n =
      group != nullptr ? group->lane_begin(task.index + 1) - group->lane_begin(task.index) : block->n_cells;
  if (family.rest != kNone) {
    kernels().subtract_ints(state(jobs[family.built[0]].node).cells->data() + first * width_, n * width_,
                            state(jobs[family.rest].node).cells->data() + first * width_);
  }
  const std::size_t searched[2] = {family.built[0], family.built.size() > 1 ? family.built[1] : family.rest};
  for (int side = 0; side < 2; ++side) {
    if (searched[side] == kNone || !jobs[searched[side]].may_split) continue;
    const LeafJob& job = jobs[searched[side]];
    const std::int32_t* const cells = state(job.node).cells->data() + first * width_;
    if (group != nullptr) {
      search_lane(job, group->lanes[at(task.index)], cells, thread, task.found[side]);
    } else {
      search_sparse(job, *block, cells, thread, task.found[side]);
    }
  }
}

void VectorEvaluator::search_lane(const LeafJob& job, const Lane& lane, const std::int32_t* cells, int thread,
                                  Found& best) {
  for (const Digit& digit : lane.digits) {
    if (!digit.bundle && !allowed_.in_histogram(job.node, digit.features.front())) continue;
    const std::int32_t* const own = digit_cells(lane, digit, cells, thread);
    if (!digit.bundle) {
      search_feature(job, digit.features.front(), own, thread, best);
      continue;
    }
    for (const std::int32_t f : digit.features) {
      search_others(job, f, own + feature(f).first_value * width_, thread, best);
    }
  }
}

void VectorEvaluator::search_sparse(const LeafJob& job, const SparseRows::Block& block, const std::int32_t* cells,
                                    int thread, Found& best) {
  for (std::int32_t k = 0; k < block.n; ++k) {
    const std::int64_t first = sparse_->first_cell[at(block.first + k)] - block.first_cell;
    search_others(job, sparse_->features[at(block.first + k)], cells + first * width_, thread, best);
  }
}

// Cells of one digit: the cells of its lane, or their marginal sums.
const std::int32_t* VectorEvaluator::digit_cells(const Lane& lane, const Digit& digit, const std::int32_t* cells,
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

// All cells of a feature whose bins other than zero's are known: the cell of zero is the leaf minus the others.
const std::int32_t* VectorEvaluator::with_zero_bin(const Vector& sums, const Feature& feature,
                                                   const std::int32_t* others, int thread) {
  std::int32_t* const out = zero_scratch_[at(thread)].data();
  std::memset(out, 0, at(static_cast<std::int64_t>(feature.n_value_bins + 1) * width_) * sizeof(std::int32_t));
  Vector zero = sums;
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

void VectorEvaluator::search_others(const LeafJob& job, std::int32_t f, const std::int32_t* others, int thread,
                                    Found& best) {
  if (!allowed_.in_histogram(job.node, f)) return;
  const Feature& own = feature(f);
  std::int64_t count = 0;  // one side of every split is without zero
  for (std::int32_t o = 0; o < own.n_other_bins(); ++o) {
    count += others[static_cast<std::int64_t>(o) * width_ + n_outputs_];
  }
  if (static_cast<double>(count) < std::max(search_->rules.min_data, 1.0)) return;
  search_feature(job, f, with_zero_bin(state(job.node).sums, own, others, thread), thread, best);
}

void VectorEvaluator::search_feature(const LeafJob& job, std::int32_t f, const std::int32_t* cells, int thread,
                                     Found& best) {
  const Feature& own = feature(f);
  const SplitRules& rules = search_->rules;
  VectorSearchArgs args;
  args.cells = cells;
  args.n_value_bins = own.n_value_bins;
  args.has_missing = own.has_missing;
  args.n_outputs = n_outputs_;
  args.n_chunks = n_chunks_;
  args.total = state(job.node).sums.data();
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
  if (search_->extra_trees) {
    const int n_thresholds = std::max(own.n_value_bins - (own.has_missing ? 0 : 1), 1);
    args.only_threshold = static_cast<int>(random_bits(search_->extra_key ^ job.key, static_cast<std::uint64_t>(f)) %
                                           static_cast<std::uint64_t>(n_thresholds));
  }
  VectorCandidate candidate;
  if (!kernels().search_vector(args, candidate)) return;
  if (!beats(candidate.gain, f, best.gain, best.feature)) return;
  best = {candidate.gain, f, candidate.threshold, candidate.missing_left};
}

// Sums of the rows that a split sends left, without missing ones.
VectorEvaluator::Vector VectorEvaluator::sums_left(const NodeState& node, const BestSplit& split) {
  const Feature& own = feature(split.feature);
  const std::int32_t* cells = node.cells->data();
  if (own.loose()) {
    const std::int64_t first = sparse_->first_cell[at(sparse_->place_of[at(split.feature)])];
    cells = with_zero_bin(node.sums, own, cells + (data_.matrix->n_cells() + first) * width_, 0);
  } else {
    const Group& group = data_.matrix->groups()[at(own.group)];
    const Lane& lane = group.lanes[at(own.lane)];
    cells += (group.first_cell + group.lane_begin(own.lane)) * width_;
    for (const Digit& digit : lane.digits) {
      if (std::find(digit.features.begin(), digit.features.end(), split.feature) == digit.features.end()) continue;
      cells = digit_cells(lane, digit, cells, 0);
      if (digit.bundle) cells = with_zero_bin(node.sums, own, cells + own.first_value * width_, 0);
      break;
    }
  }
  Vector left(at(width_));
  for (std::int32_t b = 0; b <= split.threshold; ++b) {
    kernels().add_ints(cells + static_cast<std::int64_t>(b) * width_, width_, left.data());
  }
  if (own.has_missing && split.missing_left) {
    kernels().add_ints(cells + static_cast<std::int64_t>(own.n_value_bins) * width_, width_, left.data());
  }
  return left;
}

// Turns the winning candidate into a split: exact sums, and the gain above the leaf's own in full precision.
void VectorEvaluator::settle(NodeState& node, const Found& found, BestSplit& split) {
  if (found.feature < 0) return;
  BestSplit own;
  own.feature = found.feature;
  own.threshold = found.threshold;
  own.missing_left = found.missing_left;
  Vector left = sums_left(node, own);
  Vector right = node.sums;
  kernels().subtract_ints(left.data(), width_, right.data());
  const double both = gain_of(left) + gain_of(right);
  own.gain = both - gain_of(node.sums);
  const bool is_noise = own.gain <= 1e-12 * both;
  if (is_noise || own.gain <= search_->rules.min_gain_to_split) return;
  own.left_count = count_of(left);
  // No row is missing here, so missing values will follow the majority.
  if (!own.missing_left) {
    BestSplit other = own;
    other.missing_left = true;
    if (!feature(own.feature).has_missing || count_of(sums_left(node, other)) == own.left_count) {
      own.missing_left = 2 * own.left_count >= count_of(node.sums);
    }
  }
  node.left = std::move(left);
  split = std::move(own);
}

}  // namespace gossamer
