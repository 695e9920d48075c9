#include "core/shared_roots.h"

#include <algorithm>

#include "core/index.h"
#include "core/timer.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kMostLanes = 8;  // at a time

// As a pool makes it: a grower takes the histogram for its tree, and gives another one in return.
void make_histogram(const BinMatrix& matrix, SharedRoot& root) {
  root.histogram.large = root.rows.total().count > root.rows.layout().max_rows;
  const std::int64_t n = Histogram::words_of(matrix.n_cells(), root.histogram.large, false);
  if (root.histogram.words.size() != n) root.histogram.words.reset(n);
}

}  // namespace

bool SharedRoots::fits(const BinMatrix& matrix) {
  const auto& groups = matrix.groups();
  return matrix.storage().loose.empty() && matrix.n_rows() >= kLeastRows && !groups.empty() &&
         std::none_of(groups.begin(), groups.end(), [](const Group& group) { return group.two_bytes; });
}

void SharedRoots::start(Team& team, const GrowData& data, const float* gradient, const float* hessian,
                        std::int64_t n_trees) {
  const BinMatrix& matrix = *data.matrix;
  const std::int64_t n_rows = matrix.n_rows();
  roots_.resize(std::max(roots_.size(), at(n_trees)));
  scratch_.resize(std::max(scratch_.size(), at(team.n_threads())));
  {
    const Timer timer(stats_.quantize);
    team.for_each(n_trees, [&](std::int64_t i, int) {
      Team alone(1);
      TreeTask task;
      task.gradient = gradient + i * n_rows;
      task.hessian = hessian != nullptr ? hessian + i * n_rows : nullptr;
      task.n_rows = n_rows;
      task.is_sample = data.is_sample;
      roots_[at(i)].is_built = false;
      roots_[at(i)].rows.start(alone, task, n_rows, false, nullptr);
    });
  }
  trees_.clear();
  for (std::size_t i = 0; i < at(n_trees); ++i) {
    if (!roots_[i].rows.layout().wide) trees_.push_back(i);
  }
  const std::size_t n_over = trees_.size() % kTrees;
  if (n_over < kLeastTrees) trees_.resize(trees_.size() - n_over);
  const Timer timer(stats_.build);
  for (const std::size_t i : trees_) {
    make_histogram(matrix, roots_[i]);
    roots_[i].is_built = true;
  }
  list_blocks(team.n_threads(), matrix);
  team.for_each(std::ssize(blocks_), [&](std::int64_t b, int thread) { build(matrix, blocks_[at(b)], thread); });
  stats_.built_rows += std::ssize(trees_) * n_rows;
}

void SharedRoots::list_blocks(int n_threads, const BinMatrix& matrix) {
  std::int64_t n_lanes = 0;
  for (const Group& group : matrix.groups()) n_lanes += group.n_lanes;
  const std::int64_t n_sets = (std::ssize(trees_) + kTrees - 1) / kTrees;
  // Fewer lanes at a time are slower, but keep more threads busy.
  const std::int64_t most = std::clamp<std::int64_t>((n_lanes * n_sets + n_threads - 1) / n_threads, 2, kMostLanes);
  blocks_.clear();
  for (std::size_t first = 0; first < trees_.size(); first += kTrees) {
    const std::size_t n = std::min<std::size_t>(kTrees, trees_.size() - first);
    for (const Group& group : matrix.groups()) {
      const int n_blocks = (group.n_lanes + static_cast<int>(most) - 1) / static_cast<int>(most);
      for (int b = 0; b < n_blocks; ++b) {
        const int begin = group.n_lanes * b / n_blocks;
        blocks_.push_back({first, n, &group, {begin, group.n_lanes * (b + 1) / n_blocks - begin}});
      }
    }
  }
}

void SharedRoots::build(const BinMatrix& matrix, const Block& block, int thread) {
  const CellRange range = block.lanes.cells(*block.group);
  EightBuildArgs args;
  args.bins = block.group->bins8.data();
  args.row_stride = block.group->row_stride;
  args.first_lane = block.lanes.first;
  args.n_lanes = block.lanes.n;
  args.lane_cells = block.group->lane_cells;
  args.n_trees = static_cast<int>(block.n);
  std::int64_t step = matrix.n_rows();  // before some cell may overflow
  for (std::size_t i = 0; i < block.n; ++i) {
    SharedRoot& root = roots_[trees_[block.first + i]];
    args.row_values[i] = root.rows.values();
    args.layouts[i] = &root.rows.layout();
    step = std::min(step, root.rows.layout().max_rows);
  }
  // Packed cells of all trees, their sums, and the sums of one tree.
  Buffer<std::uint64_t>& scratch = scratch_[at(thread)];
  scratch.grow_to((4 * kTrees + 3) * range.n);
  std::fill_n(scratch.data(), 4 * kTrees * range.n, std::uint64_t{0});
  args.cells = scratch.data();
  auto* const sums = reinterpret_cast<std::int64_t*>(args.cells + kTrees * range.n);
  for (; args.first_row < matrix.n_rows(); args.first_row += step) {
    args.n_rows = std::min(step, matrix.n_rows() - args.first_row);
    kernels().build_eight(args);
    kernels().empty_eight(args, sums);
  }
  std::int64_t* const one = sums + 3 * kTrees * range.n;
  const LargeCells small{one, one + range.n, reinterpret_cast<std::uint32_t*>(one + 2 * range.n)};
  for (std::size_t i = 0; i < block.n; ++i) {
    Histogram& histogram = roots_[trees_[block.first + i]].histogram;
    const LargeCells out = histogram.large ? histogram.sums(matrix.n_cells()).offset(range.first) : small;
    kernels().take_one_of_eight(sums, range.n, static_cast<int>(i), out);
    if (histogram.large) continue;
    kernels().pack(small, range.n, *args.layouts[i], histogram.cells(range.first, *args.layouts[i]));
  }
}

}  // namespace gossamer
