#include "core/quantised_rows.h"

#include <algorithm>
#include <vector>

#include "core/layout.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kRowBlock = 8192;
constexpr int kStatsStep = 8;  // step over all rows; a sample is small enough to count every row

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Gradients of consecutive rows of a tree: where they are, or gathered into a buffer.
struct RowBlock {
  const float* gradient;
  const float* hessian;  // nullptr: all 1
  std::vector<float> gathered;

  RowBlock(const TreeTask& task, std::int64_t begin, std::int64_t end) {
    const float* const g = task.gradient;
    const float* const h = task.hessian;
    if (task.rows == nullptr) {
      gradient = g + begin;
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

GradientStats find_stats(Team& team, const TreeTask& task, Exchange* exchange) {
  std::vector<GradientStats> parts(at(team.n_threads()));
  for_blocks(team, task.n_rows, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
    const RowBlock block(task, begin, end);
    const int step = task.rows == nullptr ? kStatsStep : 1;
    kernels().gradient_stats(block.gradient, block.hessian, end - begin, step, parts[at(thread)]);
  });
  GradientStats total = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) add_stats(parts[i], total);
  if (exchange == nullptr) return total;
  const std::span<std::uint64_t> counts[2] = {{reinterpret_cast<std::uint64_t*>(total.gradient_exponents), 256},
                                              {reinterpret_cast<std::uint64_t*>(total.hessian_exponents), 256}};
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
  const std::int64_t n_rows = exchange != nullptr ? exchange->sum(task.n_rows) : task.n_rows;
  layout_ = choose_layout(find_stats(team, task, exchange), n_rows, task.hessian != nullptr, fine);
  const std::int64_t words = layout_.wide ? 4 : 1;  // 32-bit words per row
  values_.grow_to(n_all * words);
  std::vector<Sums> sums(at(team.n_threads()));
  for_blocks(team, task.n_rows, kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
    const RowBlock block(task, begin, end);
    if (task.rows == nullptr) {
      sums[at(thread)] +=
          kernels().quantize(block.gradient, block.hessian, end - begin, layout_, values_.data() + begin * words);
      return;
    }
    std::vector<std::uint32_t> own(at((end - begin) * words));
    sums[at(thread)] += kernels().quantize(block.gradient, block.hessian, end - begin, layout_, own.data());
    for (std::int64_t i = 0; i < end - begin; ++i) {
      std::copy_n(own.data() + i * words, words, values_.data() + task.rows[begin + i] * words);
    }
  });
  total_ = {};
  for (const Sums& s : sums) total_ += s;
  if (layout_.constant_hessian()) total_.hessian = 0;
  if (exchange == nullptr) return;
  total_ = {exchange->sum(total_.gradient), exchange->sum(total_.hessian), exchange->sum(total_.count)};
}

}  // namespace gossamer
