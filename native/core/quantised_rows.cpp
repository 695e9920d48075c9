#include "core/quantised_rows.h"

#include <algorithm>
#include <vector>

#include "core/index.h"
#include "core/layout.h"
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
    const RowIdx* const rows = task.rows + begin;
    const std::int64_t n = end - begin;
    gathered.resize(at(h != nullptr ? 2 * n : n));
    for (std::int64_t i = 0; i < n; ++i) gathered[at(i)] = g[rows[i]];
    gradient = gathered.data();
    hessian = nullptr;
    if (h == nullptr) return;
    for (std::int64_t i = 0; i < n; ++i) gathered[at(n + i)] = h[rows[i]];
    hessian = gathered.data() + n;
  }
};

// Of all shards. `n_rows` becomes the rows of all of them.
GradientStats find_stats(Team& team, const TreeTask& task, Exchange* exchange, std::int64_t& n_rows) {
  std::vector<GradientStats> parts(at(team.n_threads()));
  for_blocks(team, task.n_rows, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
    const RowBlock block(task, begin, end);
    const int step = task.rows == nullptr ? kStatsStep : 1;
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

void QuantisedRows::start(Team& team, const TreeTask& task, std::int64_t n_all, bool fine, Exchange* exchange) {
  std::int64_t n_rows = task.n_rows;
  const GradientStats stats = find_stats(team, task, exchange, n_rows);
  layout_ = choose_layout(stats, n_rows, task.hessian != nullptr, fine);
  const std::int64_t words = layout_.wide ? 4 : 1;  // 32-bit words per row
  const bool in_place = task.rounds_in_place && !layout_.wide;
  static_assert(sizeof(float) == sizeof(std::uint32_t));
  if (in_place || std::ssize(task.row_values) >= n_all * words) {
    own_ = {};
    values_ = in_place ? reinterpret_cast<std::uint32_t*>(const_cast<float*>(task.gradient)) : task.row_values.data();
  } else {
    own_.grow_to(n_all * words);
    values_ = own_.data();
  }
  std::vector<Sums> sums(at(team.n_threads()));
  for_blocks(team, task.n_rows, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
    const RowBlock block(task, begin, end, in_place);
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

}  // namespace gossamer
