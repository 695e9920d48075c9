#include "core/metrics.h"

#include <vector>

#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBlock = 8192;

const float* from(const float* p, std::int64_t offset) { return p != nullptr ? p + offset : nullptr; }

// Adds block(begin, end) over all blocks, in order.
template <class Block>
double sum_blocks(Team& team, std::int64_t n, const Block& block) {
  std::vector<double> sums(static_cast<std::size_t>((n + kBlock - 1) / kBlock));
  for_blocks(team, n, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    sums[static_cast<std::size_t>(b)] = block(begin, end);
  });
  double total = 0.0;
  for (const double s : sums) total += s;
  return total;
}

double weight_of(const RowTargets& t, std::int64_t i) {
  return t.weight != nullptr ? static_cast<double>(t.weight[i]) : 1.0;
}

}  // namespace

double sum_squared_error(Team& team, const RowTargets& t, const double* score) {
  return sum_blocks(team, t.n_rows, [&](std::int64_t begin, std::int64_t end) {
    return kernels().sum_squared_error(score + begin, t.label + begin, from(t.weight, begin), end - begin);
  });
}

double sum_absolute_error(Team& team, const RowTargets& t, const double* score) {
  return sum_blocks(team, t.n_rows, [&](std::int64_t begin, std::int64_t end) {
    return kernels().sum_absolute_error(score + begin, t.label + begin, from(t.weight, begin), end - begin);
  });
}

double sum_logloss(Team& team, const RowTargets& t, const double* score, double sigmoid) {
  return sum_blocks(team, t.n_rows, [&](std::int64_t begin, std::int64_t end) {
    return kernels().sum_logloss(score + begin, t.label + begin, from(t.weight, begin), end - begin, sigmoid);
  });
}

double sum_binary_error(Team& team, const RowTargets& t, const double* score, double threshold) {
  return sum_blocks(team, t.n_rows, [&](std::int64_t begin, std::int64_t end) {
    double wrong = 0.0;
    for (std::int64_t i = begin; i < end; ++i) {
      wrong += (score[i] > threshold) != (t.label[i] > 0.0f) ? weight_of(t, i) : 0.0;
    }
    return wrong;
  });
}

double sum_multi_logloss(Team& team, const RowTargets& t, const double* score, int n_classes) {
  return sum_blocks(team, t.n_rows, [&](std::int64_t begin, std::int64_t end) {
    return kernels().sum_multi_logloss(score, t.n_rows, t.label, t.weight, begin, end, n_classes);
  });
}

double sum_multi_error(Team& team, const RowTargets& t, const double* score, int n_classes, int top_k) {
  return sum_blocks(team, t.n_rows, [&](std::int64_t begin, std::int64_t end) {
    return kernels().sum_multi_error(score, t.n_rows, t.label, t.weight, begin, end, n_classes, top_k);
  });
}

}  // namespace gossamer
