// Weighted quantiles and leaf values from residuals, against sorting.
#include "core/leaf_refit.h"

#include <algorithm>

#include "support.h"

namespace gossamer::tests {
namespace {

// By definition: the smallest value whose share is at least alpha; halfway to the next where it is alpha.
double by_sorting(std::vector<Residual> r, double alpha) {
  std::erase_if(r, [](const Residual& x) { return x.weight == 0.0; });
  if (r.empty()) return 0.0;
  std::sort(r.begin(), r.end(), [](const Residual& a, const Residual& b) { return a.value < b.value; });
  double total = 0.0;
  for (const Residual& x : r) total += x.weight;
  double before = 0.0;
  for (std::size_t i = 0; i < r.size(); ++i) {
    before += r[i].weight;
    if (before > alpha * total) return r[i].value;
    if (before == alpha * total) return i + 1 < r.size() ? 0.5 * (r[i].value + r[i + 1].value) : r[i].value;
  }
  return r.back().value;
}

}  // namespace

TEST_SUITE("leaf_refit") {
  TEST_CASE("weighted quantiles: any number of rows, ties, rows of no weight") {
    Random random(400);
    for (int n = 1; n <= 200; ++n) {
      for (int kind = 0; kind < 6; ++kind) {
        std::vector<Residual> r;
        for (int i = 0; i < n; ++i) {
          // Weights are whole numbers: sums are exact in any order.
          const double value = kind % 2 == 0 ? random.normal() : static_cast<double>(random.below(5));
          const double weight = kind < 2 ? 1.0 : kind < 4 ? static_cast<double>(random.below(4)) : 1.0 + i % 7 * 100.0;
          r.push_back({value, weight});
        }
        if (kind == 5) std::sort(r.begin(), r.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
        for (const double alpha : {1e-12, 0.001, 0.0625, 0.25, 0.5, 0.75, 0.9, 0.999, 1.0 - 1e-12, 1.0}) {
          CAPTURE(n);
          CAPTURE(kind);
          CAPTURE(alpha);
          std::vector<Residual> work = r;
          CHECK(weighted_quantile(work, alpha) == by_sorting(r, alpha));
        }
      }
    }
  }

  TEST_CASE("any weights: the order of the rows does not matter beyond rounding") {
    Random random(401);
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<Residual> r;
      const auto n = 1 + random.below(2000);
      for (std::int64_t i = 0; i < n; ++i) r.push_back({random.normal(), std::exp(3.0 * random.normal())});
      const double alpha = random.between(0.01, 0.99);
      std::vector<Residual> work = r;
      const double q = weighted_quantile(work, alpha);
      double total = 0.0, below = 0.0, up_to = 0.0;
      for (const Residual& x : r) {
        total += x.weight;
        if (x.value < q) below += x.weight;
        if (x.value <= q) up_to += x.weight;
      }
      CHECK(below <= alpha * total * (1.0 + 1e-12));
      CHECK(up_to >= alpha * total * (1.0 - 1e-12));
    }
  }

  TEST_CASE("nothing to go by: 0") {
    std::vector<Residual> none;
    CHECK(weighted_quantile(none, 0.5) == 0.0);
    none = {{3.0, 0.0}, {4.0, 0.0}};
    CHECK(weighted_quantile(none, 0.5) == 0.0);
  }

  TEST_CASE("the value of a leaf: quantile of its residuals, and Huber's step from there") {
    Random random(402);
    const std::vector<RowIdx> rows{3, 5, 6, 20, 21, 44, 49};
    std::vector<float> label, weight;
    std::vector<double> score;
    for (int i = 0; i < 50; ++i) {
      label.push_back(static_cast<float>(random.normal()));
      weight.push_back(static_cast<float>(1 + random.below(3)));
      score.push_back(random.normal());
    }
    for (const bool weighted : {false, true}) {
      for (const double delta : {0.0, 0.3, 100.0}) {
        LeafRefit refit{label.data(), weighted ? weight.data() : nullptr, score.data(), 0.4, delta};
        std::vector<Residual> residuals, scratch;
        for (const RowIdx row : rows) {
          residuals.push_back(
              {static_cast<double>(label[row]) - score[row], weighted ? static_cast<double>(weight[row]) : 1.0});
        }
        double expected = by_sorting(residuals, 0.4);
        if (delta > 0.0) {
          double sum = 0.0, total = 0.0;
          for (const Residual& r : residuals) {
            sum += r.weight * std::clamp(r.value - expected, -delta, delta);
            total += r.weight;
          }
          expected += sum / total;
        }
        CHECK(refit_leaf(refit, rows.data(), 7, scratch) == doctest::Approx(expected).epsilon(1e-13));
        CHECK(refit_leaf(refit, rows.data(), 0, scratch) == 0.0);
      }
    }
  }
}

}  // namespace gossamer::tests
