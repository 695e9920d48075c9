#include "core/distribution.h"

#include <vector>

#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBlock = 8192;

NormalArgs block_of(const RowTargets& t, const double* score, double floor, std::int64_t begin, std::int64_t end) {
  NormalArgs args;
  args.mean = score + begin;
  args.log_sigma = score + t.n_rows + begin;
  args.label = t.label + begin;
  args.weight = t.weight != nullptr ? t.weight + begin : nullptr;
  args.n = end - begin;
  args.floor = floor;
  return args;
}

double sum_blocks(Team& team, const RowTargets& t, const double* score, double floor,
                  double (*sum)(const NormalArgs&)) {
  std::vector<double> sums(static_cast<std::size_t>((t.n_rows + kBlock - 1) / kBlock));
  for_blocks(team, t.n_rows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    sums[static_cast<std::size_t>(b)] = sum(block_of(t, score, floor, begin, end));
  });
  double total = 0.0;
  for (const double s : sums) total += s;
  return total;
}

}  // namespace

void gradients_normal(Team& team, const RowTargets& t, const double* score, double floor, double scale, float* gradient,
                      float* hessian) {
  for_blocks(team, t.n_rows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    const NormalOut out{gradient + begin, hessian + begin, gradient + t.n_rows + begin, hessian + t.n_rows + begin};
    kernels().gradients_normal(block_of(t, score, floor, begin, end), scale, out);
  });
}

double sum_normal_loss(Team& team, const RowTargets& t, const double* score, double floor) {
  return sum_blocks(team, t, score, floor, kernels().sum_normal_loss);
}

double sum_normal_crps(Team& team, const RowTargets& t, const double* score, double floor) {
  return sum_blocks(team, t, score, floor, kernels().sum_normal_crps);
}

// Only comparisons and copies: however the compiler vectorises them, the results are the same at every level.
void gradients_quantiles(Team& team, const RowTargets& t, const double* score, const double* alphas, int n_quantiles,
                         float* gradient, float* hessian) {
  for_blocks(team, t.n_rows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    for (int k = 0; k < n_quantiles; ++k) {
      const double* const s = score + k * t.n_rows;
      float* const g = gradient + k * t.n_rows;
      const auto above = static_cast<float>(1.0 - alphas[k]);
      const auto below = static_cast<float>(-alphas[k]);
      for (std::int64_t i = begin; i < end; ++i) g[i] = s[i] >= static_cast<double>(t.label[i]) ? above : below;
      if (t.weight == nullptr) continue;
      float* const h = hessian + k * t.n_rows;
      for (std::int64_t i = begin; i < end; ++i) {
        g[i] *= t.weight[i];
        h[i] = t.weight[i];
      }
    }
  });
}

void sort_outputs(Team& team, const double* score, std::int64_t n_rows, int n_outputs, double* out) {
  for_blocks(team, n_rows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    for (std::int64_t i = begin; i < end; ++i) {
      double* const row = out + i * n_outputs;
      for (int k = 0; k < n_outputs; ++k) {  // insertion: rows are nearly in order
        const double value = score[k * n_rows + i];
        int place = k;
        for (; place > 0 && row[place - 1] > value; --place) row[place] = row[place - 1];
        row[place] = value;
      }
    }
  });
}

void exp_scores(Team& team, const double* score, std::int64_t n, double* out) {
  for_blocks(team, n, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    kernels().exp_shifted(score + begin, end - begin, 0.0, -708.0, out + begin);
  });
}

}  // namespace gossamer
