#include "core/metrics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/radix_sort.h"
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

double sum_binary_error(Team& team, const RowTargets& t, const double* score) {
  return sum_blocks(team, t.n_rows, [&](std::int64_t begin, std::int64_t end) {
    double wrong = 0.0;
    for (std::int64_t i = begin; i < end; ++i) {
      if ((score[i] > 0.0) != (t.label[i] > 0.0f)) wrong += weight_of(t, i);
    }
    return wrong;
  });
}

double sum_multi_logloss(Team& team, const RowTargets& t, const double* score, int n_classes) {
  return sum_blocks(team, t.n_rows, [&](std::int64_t begin, std::int64_t end) {
    double loss = 0.0;
    for (std::int64_t i = begin; i < end; ++i) {
      double top = score[i];
      for (int c = 1; c < n_classes; ++c) top = std::max(top, score[c * t.n_rows + i]);
      double sum = 0.0;
      for (int c = 0; c < n_classes; ++c) sum += std::exp(score[c * t.n_rows + i] - top);
      const double own = score[static_cast<std::int64_t>(t.label[i]) * t.n_rows + i] - top;
      loss += weight_of(t, i) * (std::log(sum) - own);
    }
    return loss;
  });
}

double sum_multi_error(Team& team, const RowTargets& t, const double* score, int n_classes, int top_k) {
  return sum_blocks(team, t.n_rows, [&](std::int64_t begin, std::int64_t end) {
    double wrong = 0.0;
    for (std::int64_t i = begin; i < end; ++i) {
      const double own = score[static_cast<std::int64_t>(t.label[i]) * t.n_rows + i];
      int above = 0;
      for (int c = 0; c < n_classes; ++c) above += score[c * t.n_rows + i] > own;
      if (above >= top_k) wrong += weight_of(t, i);
    }
    return wrong;
  });
}

double auc(const RowTargets& t, const double* score) {
  struct Row {
    std::uint64_t key;
    float positive, negative;
  };
  std::vector<Row> rows(static_cast<std::size_t>(t.n_rows));
  for (std::int64_t i = 0; i < t.n_rows; ++i) {
    const float w = t.weight != nullptr ? t.weight[i] : 1.0f;
    const bool positive = t.label[i] > 0.0f;
    rows[static_cast<std::size_t>(i)] = {ordered_key(score[i] + 0.0), positive ? w : 0.0f, positive ? 0.0f : w};
  }
  radix_sort(rows, [](const Row& row) { return row.key; });
  double negatives = 0.0;  // below the current score
  double positives = 0.0;
  double pairs = 0.0;
  for (std::size_t i = 0; i < rows.size();) {
    double tied_positive = 0.0;
    double tied_negative = 0.0;
    const std::uint64_t key = rows[i].key;
    for (; i < rows.size() && rows[i].key == key; ++i) {
      tied_positive += static_cast<double>(rows[i].positive);
      tied_negative += static_cast<double>(rows[i].negative);
    }
    pairs += tied_positive * (negatives + 0.5 * tied_negative);
    negatives += tied_negative;
    positives += tied_positive;
  }
  if (positives == 0.0 || negatives == 0.0) return 1.0;
  return pairs / (positives * negatives);
}

}  // namespace gossamer
