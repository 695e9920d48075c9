#include "core/quantised_rows.h"

#include <algorithm>
#include <vector>

#include "core/index.h"
#include "core/layout.h"
#include "core/leaf_rows.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kRowBlock = 8192;
constexpr int kStatsStep = 8;  // step over all rows; a sample is small enough to count every row

// Gradients of consecutive rows of a tree: where they are, or in a buffer.
struct RowBlock {
  const float* gradient;
  const float* hessian;  // nullptr: all 1
  std::vector<float> gathered;

  // `copies`: the gradients are about to be overwritten.
  RowBlock(const TreeTask& task, std::int64_t begin, std::int64_t end, bool copies = false) {
    const float* const g = task.gradient;
    const float* const h = task.hessian;
    if (task.rows == nullptr) {
      if (copies) gathered.assign(g + begin, g + end);
      gradient = copies ? gathered.data() : g + begin;
      hessian = h != nullptr ? h + begin : nullptr;
      return;
    }
    const std::int64_t n = end - begin;
    gathered.resize(at(h != nullptr ? 2 * n : n));
    gather(task, begin, end, gathered.data(), gathered.data() + n);
    gradient = gathered.data();
    hessian = h != nullptr ? gathered.data() + n : nullptr;
  }

  static void gather(const TreeTask& task, std::int64_t begin, std::int64_t end, float* gradient, float* hessian) {
    const RowIdx* const rows = task.rows + begin;
    const std::int64_t n = end - begin;
    for (std::int64_t i = 0; i < n; ++i) gradient[i] = task.gradient[rows[i]];
    if (task.hessian == nullptr) return;
    for (std::int64_t i = 0; i < n; ++i) hessian[i] = task.hessian[rows[i]];
  }
};

// Gradients of a sample are read twice, so they are copied to memory that is free now. Returns the task unchanged if
// not enough memory is free.
TreeTask gather_sample(Team& team, const TreeTask& task) {
  if (task.rows == nullptr) return task;
  const LeafRows::Spare spare = task.leaf_rows->spare(task.n_rows);
  if (spare.first == nullptr) return task;
  static_assert(sizeof(float) == sizeof(RowIdx));
  auto* const gradient = reinterpret_cast<float*>(spare.first);
  auto* const hessian = reinterpret_cast<float*>(spare.second);
  for_blocks(team, task.n_rows, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    RowBlock::gather(task, begin, end, gradient + begin, hessian + begin);
  });
  TreeTask gathered = task;
  gathered.rows = nullptr;
  gathered.gradient = gradient;
  if (task.hessian != nullptr) gathered.hessian = hessian;
  return gathered;
}

std::int64_t words_of(const CellLayout& layout) { return layout.wide ? 4 : 1; }  // 32-bit words per row

bool are_same(const CellLayout& a, const CellLayout& b) {
  return a.count_bits == b.count_bits && a.row_hessian_bits == b.row_hessian_bits && a.hessian_bits == b.hessian_bits &&
         a.max_rows == b.max_rows && a.gradient_limit == b.gradient_limit && a.hessian_limit == b.hessian_limit &&
         a.gradient_unit == b.gradient_unit && a.hessian_unit == b.hessian_unit && a.wide == b.wide;
}

// Of all shards. `n_rows` becomes the rows of all of them.
GradientStats find_stats(Team& team, const TreeTask& task, int step, Exchange* exchange, std::int64_t& n_rows) {
  std::vector<GradientStats> parts(at(team.n_threads()));
  for_blocks(team, task.n_rows, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
    const RowBlock block(task, begin, end);
    kernels().gradient_stats(block.gradient, block.hessian, end - begin, step, parts[at(thread)]);
  });
  GradientStats total = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) add_stats(parts[i], total);
  if (exchange == nullptr) return total;
  const std::span<std::uint64_t> counts[3] = {{reinterpret_cast<std::uint64_t*>(total.gradient_exponents), 256},
                                              {reinterpret_cast<std::uint64_t*>(total.hessian_exponents), 256},
                                              {reinterpret_cast<std::uint64_t*>(&n_rows), 1}};
  exchange->add(counts);
  double extremes[3] = {total.max_abs_gradient, total.max_hessian, -total.min_hessian};
  exchange->keep_largest(extremes);
  total.max_abs_gradient = extremes[0];
  total.max_hessian = extremes[1];
  total.min_hessian = -extremes[2];
  return total;
}

}  // namespace

void QuantisedRows::make_memory(const TreeTask& task, std::int64_t n_all) {
  const std::int64_t words = words_of(layout_);
  const bool in_place = task.rounds_in_place && !layout_.wide;
  static_assert(sizeof(float) == sizeof(std::uint32_t));
  if (in_place || std::ssize(task.row_values) >= n_all * words) {
    own_ = {};
    values_ = in_place ? reinterpret_cast<std::uint32_t*>(const_cast<float*>(task.gradient)) : task.row_values.data();
  } else {
    own_.grow_to(n_all * words);
    values_ = own_.data();
  }
}

void QuantisedRows::start(Team& team, const TreeTask& task, std::int64_t n_all, bool fine, Exchange* exchange) {
  if (task.source != nullptr) return start_from_source(team, task, fine);
  std::int64_t n_rows = task.n_rows;
  const TreeTask gathered = gather_sample(team, task);
  const GradientStats stats = find_stats(team, gathered, task.rows == nullptr ? kStatsStep : 1, exchange, n_rows);
  layout_ = choose_layout(stats, n_rows, task.hessian != nullptr, fine);
  has_layout_ = true;
  make_memory(task, n_all);
  const std::int64_t words = words_of(layout_);
  const bool copies = task.rounds_in_place && !layout_.wide && task.rows == nullptr;
  std::vector<Sums> sums(at(team.n_threads()));
  for_blocks(team, task.n_rows, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
    const RowBlock block(gathered, begin, end, copies);
    if (task.rows == nullptr) {
      sums[at(thread)] +=
          kernels().quantize(block.gradient, block.hessian, end - begin, layout_, values_ + begin * words);
      return;
    }
    std::vector<std::uint32_t> own(at((end - begin) * words));
    sums[at(thread)] += kernels().quantize(block.gradient, block.hessian, end - begin, layout_, own.data());
    const RowIdx* const rows = task.rows + begin;
    if (words == 1) {
      for (std::int64_t i = 0; i < end - begin; ++i) values_[rows[i]] = own[at(i)];
      return;
    }
    for (std::int64_t i = 0; i < end - begin; ++i)
      std::copy_n(own.data() + i * 4, 4, values_ + rows[i] * std::int64_t{4});
  });
  total_ = {};
  for (const Sums& s : sums) total_ += s;
  if (layout_.constant_hessian()) total_.hessian = 0;
  if (exchange == nullptr) return;
  std::uint64_t sums_of_all[3] = {static_cast<std::uint64_t>(total_.gradient),
                                  static_cast<std::uint64_t>(total_.hessian), static_cast<std::uint64_t>(total_.count)};
  const std::span<std::uint64_t> part(sums_of_all);
  exchange->add(std::span(&part, 1));
  total_ = {static_cast<std::int64_t>(sums_of_all[0]), static_cast<std::int64_t>(sums_of_all[1]),
            static_cast<std::int64_t>(sums_of_all[2])};
}

// One pass over the rows, where the layout of the last tree is the right one again: that is known when all gradients
// have been seen. Otherwise there is a second pass.
void QuantisedRows::start_from_source(Team& team, const TreeTask& task, bool fine) {
  constexpr std::int64_t kChunkRows = 1024;  // a multiple of the rows between two that are counted
  const GradientSource& source = *task.source;
  std::vector<GradientStats> stats(at(team.n_threads()));
  std::vector<Sums> sums(at(team.n_threads()));
  const auto pass = [&](bool counts, bool rounds) {
    if (rounds) make_memory(task, task.n_rows);
    std::fill(sums.begin(), sums.end(), Sums{});
    const std::int64_t words = words_of(layout_);
    for_blocks(team, task.n_rows, kRowBlock, [&](std::int64_t first, std::int64_t last, std::int64_t, int thread) {
      float gradient[kChunkRows];
      float hessian[kChunkRows];
      float* const h = source.has_hessian ? hessian : nullptr;
      for (std::int64_t begin = first; begin < last; begin += kChunkRows) {
        const std::int64_t end = std::min(begin + kChunkRows, last);
        source.loss.fill_rows(source.targets, source.score, begin, end, gradient, h);
        if (counts) kernels().gradient_stats(gradient, h, end - begin, kStatsStep, stats[at(thread)]);
        if (rounds) {
          sums[at(thread)] += kernels().quantize(gradient, h, end - begin, layout_, values_ + begin * words);
        }
      }
    });
  };
  // A layout with fields for hessians is of no use where there are none.
  const bool has_guess = has_layout_ && (source.has_hessian || layout_.constant_hessian());
  pass(true, has_guess);
  for (std::size_t i = 1; i < stats.size(); ++i) add_stats(stats[i], stats[0]);
  const CellLayout layout = choose_layout(stats[0], task.n_rows, source.has_hessian, fine);
  if (!has_guess || !are_same(layout, layout_)) {
    layout_ = layout;
    has_layout_ = true;
    pass(false, true);
  }
  total_ = {};
  for (const Sums& s : sums) total_ += s;
  if (layout_.constant_hessian()) total_.hessian = 0;
}

}  // namespace gossamer
