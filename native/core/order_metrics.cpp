#include "core/order_metrics.h"

#include <cmath>
#include <vector>

#include "core/sorted_scores.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBlock = 8192;

bool has_both(const ClassWeights& all) { return all.positive > 0.0 && all.negative > 0.0; }

// Rows of each class, in their order: class c has rows[begin[c]], ..., rows[begin[c + 1] - 1].
struct RowsByClass {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> rows;

  RowsByClass(const RowTargets& t, int n_classes)
      : begin(static_cast<std::size_t>(n_classes) + 1), rows(static_cast<std::size_t>(t.n_rows)) {
    const auto class_of = [&](std::int64_t i) { return static_cast<std::size_t>(t.label[i]); };
    for (std::int64_t i = 0; i < t.n_rows; ++i) ++begin[class_of(i) + 1];
    for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
    std::vector<std::int64_t> next(begin);
    for (std::int64_t i = 0; i < t.n_rows; ++i) rows[static_cast<std::size_t>(next[class_of(i)]++)] = i;
  }
};

// Rows of two classes, and how far each row is on the side of the first class.
struct Pair {
  std::vector<double> score;
  std::vector<float> label;
  std::vector<float> weight;

  RowTargets targets() const {
    return {static_cast<std::int64_t>(label.size()), label.data(), weight.empty() ? nullptr : weight.data()};
  }
};

}  // namespace

double auc(Team& team, const RowTargets& t, const double* score) {
  const TieSum won = sum_ties(team, t, score, [](const ClassWeights& above, const ClassWeights& tie) {
    return tie.negative * (above.positive + 0.5 * tie.positive);
  });
  return has_both(won.all) ? won.sum / (won.all.positive * won.all.negative) : 1.0;
}

double average_precision(Team& team, const RowTargets& t, const double* score) {
  const TieSum precision = sum_ties(team, t, score, [](const ClassWeights& above, const ClassWeights& tie) {
    if (!(tie.positive > 0.0)) return 0.0;
    const double positive = above.positive + tie.positive;
    return tie.positive * (positive / (positive + above.negative + tie.negative));
  });
  return has_both(precision.all) ? precision.sum / precision.all.positive : 1.0;
}

double aucpr(Team& team, const RowTargets& t, const double* score) {
  const TieSum area = sum_ties(team, t, score, [](const ClassWeights& above, const ClassWeights& tie) {
    if (!(tie.positive > 0.0)) return 0.0;
    // Integral of x / (slope * x + offset) over x, the weight of the positives so far.
    const double slope = 1.0 + tie.negative / tie.positive;
    const double offset = above.positive + above.negative - slope * above.positive;
    if (offset == 0.0) return tie.positive / slope;
    const double before = above.positive + above.negative;
    const double after = before + tie.positive + tie.negative;
    if (!(before > 0.0)) return tie.positive / slope;
    return (tie.positive - offset / slope * std::log(after / before)) / slope;
  });
  return has_both(area.all) ? area.sum / area.all.positive : 1.0;
}

double auc_mu(Team& team, const RowTargets& t, const double* score, int n_classes, const double* costs) {
  const RowsByClass by_class(t, n_classes);
  Pair pair;
  std::vector<double> direction(static_cast<std::size_t>(n_classes));
  double sum = 0.0;
  std::int64_t n_pairs = 0;
  for (int a = 0; a < n_classes; ++a) {
    for (int b = a + 1; b < n_classes; ++b) {
      const std::int64_t first_a = by_class.begin[static_cast<std::size_t>(a)];
      const std::int64_t first_b = by_class.begin[static_cast<std::size_t>(b)];
      const std::int64_t n_a = by_class.begin[static_cast<std::size_t>(a) + 1] - first_a;
      const std::int64_t n_b = by_class.begin[static_cast<std::size_t>(b) + 1] - first_b;
      if (n_a == 0 || n_b == 0) continue;
      for (int c = 0; c < n_classes; ++c) {
        direction[static_cast<std::size_t>(c)] = costs[a * n_classes + c] - costs[b * n_classes + c];
      }
      // The sign that puts class a on the positive side.
      const double side = direction[static_cast<std::size_t>(a)] - direction[static_cast<std::size_t>(b)];
      const auto n = static_cast<std::size_t>(n_a + n_b);
      pair.score.resize(n);
      pair.label.resize(n);
      pair.weight.resize(t.weight != nullptr ? n : 0);
      for_blocks(team, n_a + n_b, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
        for (std::int64_t k = begin; k < end; ++k) {
          const bool is_a = k < n_a;
          const std::int64_t i = by_class.rows[static_cast<std::size_t>(is_a ? first_a + k : first_b + k - n_a)];
          double along = 0.0;
          for (int c = 0; c < n_classes; ++c) {
            const double factor = direction[static_cast<std::size_t>(c)];
            if (factor != 0.0) along += factor * score[c * t.n_rows + i];
          }
          pair.score[static_cast<std::size_t>(k)] = side * along;
          pair.label[static_cast<std::size_t>(k)] = is_a ? 1.0f : 0.0f;
          if (t.weight != nullptr) pair.weight[static_cast<std::size_t>(k)] = t.weight[i];
        }
      });
      sum += auc(team, pair.targets(), pair.score.data());
      ++n_pairs;
    }
  }
  return n_pairs > 0 ? sum / static_cast<double>(n_pairs) : 1.0;
}

}  // namespace gossamer
