#include "core/quantised_rows.h"

#include <algorithm>
#include <vector>

#include "core/index.h"
#include "core/layout.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kRowBlock = 8192;
constexpr std::int64_t kChunkRows = 1024;  // a multiple of kStatsStep; what is done with a chunk stays in cache
constexpr int kStatsStep = 8;              // step over all rows; a sample is small enough to count every row
constexpr std::int64_t kManyRows = 65536;  // from so many on, more statistics to add up save time

bool has_hessians(const TreeTask& task) {
  return task.source != nullptr ? task.source->has_hessian : task.hessian != nullptr;
}

// Gradients of at most kChunkRows rows of a tree: where they are, or in a buffer.
class GradientChunk {
 public:
  const float* gradient;
  const float* hessian = nullptr;  // nullptr: all 1

  // `copies`: the gradients are about to be overwritten.
  GradientChunk(const TreeTask& task, std::int64_t begin, std::int64_t end, bool copies) : gradient(g_) {
    const std::int64_t n = end - begin;
    if (has_hessians(task)) hessian = h_;
    if (task.source != nullptr) {
      float* const h = hessian != nullptr ? h_ : nullptr;
      task.source->loss.fill_rows(task.source->targets, task.source->score, begin, end, g_, h);
    } else if (task.rows != nullptr) {
      const RowIdx* const rows = task.rows + begin;
      for (std::int64_t i = 0; i < n; ++i) g_[i] = task.gradient[rows[i]];
      for (std::int64_t i = 0; i < n && hessian != nullptr; ++i) h_[i] = task.hessian[rows[i]];
    } else {
      gradient = copies ? g_ : task.gradient + begin;
      if (copies) std::copy_n(task.gradient + begin, n, g_);
      if (hessian != nullptr) hessian = task.hessian + begin;
    }
  }
  GradientChunk(const GradientChunk&) = delete;  // it may point into itself
  GradientChunk& operator=(const GradientChunk&) = delete;

 private:
  float g_[kChunkRows];
  float h_[kChunkRows];
};

std::int64_t words_of(const CellLayout& layout) { return layout.wide ? 4 : 1; }  // 32-bit words per row

bool are_same(const CellLayout& a, const CellLayout& b) {
  return a.count_bits == b.count_bits && a.row_hessian_bits == b.row_hessian_bits && a.hessian_bits == b.hessian_bits &&
         a.max_rows == b.max_rows && a.gradient_limit == b.gradient_limit && a.hessian_limit == b.hessian_limit &&
         a.gradient_unit == b.gradient_unit && a.hessian_unit == b.hessian_unit && a.wide == b.wide;
}

// Of all shards. `n_rows` becomes the rows of all of them.
GradientStats add_all(std::span<const GradientStats> parts, Exchange* exchange, std::int64_t& n_rows) {
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

// One pass over the rows, where the layout of the last tree is the right one again: that is known when all gradients
// have been seen. Otherwise there is a second pass.
void QuantisedRows::start(Team& team, const TreeTask& task, std::int64_t n_all, bool fine, Exchange* exchange) {
  const bool has_hessian = has_hessians(task);
  const int n_parts = task.n_rows < kManyRows ? 1 : 4;  // of each thread's statistics
  stats_.assign(at(team.n_threads() * n_parts), GradientStats{});
  sums_.resize(at(team.n_threads()));
  const auto pass = [&](bool counts, bool rounds) {
    if (rounds) make_memory(task, n_all);
    std::fill(sums_.begin(), sums_.end(), Sums{});
    const std::int64_t words = words_of(layout_);
    const bool copies = rounds && task.rounds_in_place && !layout_.wide;
    for_blocks(team, task.n_rows, kRowBlock, [&](std::int64_t first, std::int64_t last, std::int64_t, int thread) {
      Sums sum{};
      for (std::int64_t begin = first; begin < last; begin += kChunkRows) {
        const std::int64_t end = std::min(begin + kChunkRows, last);
        const GradientChunk chunk(task, begin, end, copies);
        if (counts) {
          const int step = task.is_sample ? 1 : kStatsStep;
          kernels().gradient_stats(chunk.gradient, chunk.hessian, end - begin, step, &stats_[at(thread * n_parts)],
                                   n_parts);
        }
        if (!rounds) continue;
        std::uint32_t in_order[4 * kChunkRows];
        std::uint32_t* const out = task.rows == nullptr ? values_ + begin * words : in_order;
        sum += kernels().quantize(chunk.gradient, chunk.hessian, end - begin, layout_, out);
        if (task.rows == nullptr) continue;
        const RowIdx* const rows = task.rows + begin;
        for (std::int64_t i = 0; i < end - begin && words == 1; ++i) values_[rows[i]] = in_order[i];
        for (std::int64_t i = 0; i < end - begin && words == 4; ++i) {
          std::copy_n(in_order + 4 * i, 4, values_ + rows[i] * std::int64_t{4});
        }
      }
      sums_[at(thread)] += sum;
    });
  };
  // What was rounded in place cannot be rounded again, and a layout with fields for hessians is of no use where there
  // are none.
  const bool has_guess = has_layout_ && !task.rounds_in_place && (has_hessian || layout_.constant_hessian());
  pass(true, has_guess);
  std::int64_t n_rows = task.n_rows;
  const GradientStats all = add_all(stats_, exchange, n_rows);
  const CellLayout layout = choose_layout(all, n_rows, has_hessian, fine);
  if (!has_guess || !are_same(layout, layout_)) {
    layout_ = layout;
    has_layout_ = true;
    pass(false, true);
  }
  total_ = {};
  for (const Sums& s : sums_) total_ += s;
  if (layout_.constant_hessian()) total_.hessian = 0;
  if (exchange == nullptr) return;
  std::uint64_t sums_of_all[3] = {static_cast<std::uint64_t>(total_.gradient),
                                  static_cast<std::uint64_t>(total_.hessian), static_cast<std::uint64_t>(total_.count)};
  const std::span<std::uint64_t> part(sums_of_all);
  exchange->add(std::span(&part, 1));
  total_ = {static_cast<std::int64_t>(sums_of_all[0]), static_cast<std::int64_t>(sums_of_all[1]),
            static_cast<std::int64_t>(sums_of_all[2])};
}

}  // namespace gossamer
