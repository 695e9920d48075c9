// Weighted quantiles against a sort, and leaf values made of them.
#include <algorithm>
#include <numeric>

#include "core/leaf_refit.h"
#include "support.h"

namespace gossamer::tests {
namespace {

// By definition, with weights that are whole numbers so that sums are exact.
double quantile_by_sort(std::vector<Residual> rows, double alpha) {
  std::erase_if(rows, [](const Residual& r) { return r.weight == 0.0; });
  if (rows.empty()) return 0.0;
  std::sort(rows.begin(), rows.end(), [](const Residual& a, const Residual& b) { return a.value < b.value; });
  double total = 0.0;
  for (const Residual& r : rows) total += r.weight;
  double before = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    before += rows[i].weight;
    if (before > alpha * total) return rows[i].value;
    if (before == alpha * total && i + 1 < rows.size()) return 0.5 * (rows[i].value + rows[i + 1].value);
  }
  return rows.back().value;
}

std::vector<Residual> residuals(std::int64_t n, double step, int heaviest, Random& random) {
  std::vector<Residual> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    rows.push_back({std::round(random.normal() / step) * step, static_cast<double>(random.below(heaviest + 1))});
  }
  return rows;
}

}  // namespace

TEST_SUITE("leaf_refit") {
  TEST_CASE("weighted quantile: ties, zero weights, exact shares, any size") {
    Random random(91);
    for (const std::int64_t n : {1, 2, 3, 10, 63, 64, 65, 66, 100, 128, 129, 1000, 5003}) {
      for (const double step : {1e-6, 0.5, 100.0}) {
        for (const int heaviest : {1, 2, 7}) {
          const std::vector<Residual> rows = residuals(n, step, heaviest, random);
          for (const double alpha : {1e-9, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0}) {
            CAPTURE(n);
            CAPTURE(step);
            CAPTURE(alpha);
            std::vector<Residual> copy = rows;
            CHECK(weighted_quantile(copy, alpha) == quantile_by_sort(rows, alpha));
          }
        }
      }
    }
  }

  TEST_CASE("median of an even number of rows lies halfway") {
    for (const std::int64_t n : {2, 64, 66, 100, 256, 1000}) {
      std::vector<Residual> rows;
      for (std::int64_t i = 0; i < n; ++i) rows.push_back({static_cast<double>((i * 7919) % n), 1.0});
      CHECK(weighted_quantile(rows, 0.5) == 0.5 * static_cast<double>(n - 1));
    }
  }

  TEST_CASE("nothing to take a quantile of") {
    std::vector<Residual> none;
    CHECK(weighted_quantile(none, 0.5) == 0.0);
    std::vector<Residual> weightless(100, {3.0, 0.0});
    CHECK(weighted_quantile(weightless, 0.5) == 0.0);
  }

  TEST_CASE("fractional weights: the share below is alpha") {
    Random random(92);
    for (const double alpha : {0.05, 0.5, 0.93}) {
      std::vector<Residual> rows;
      double total = 0.0;
      for (int i = 0; i < 3001; ++i) {
        rows.push_back({random.normal(), random.between(0.1, 3.0)});
        total += rows.back().weight;
      }
      std::vector<Residual> copy = rows;
      const double found = weighted_quantile(copy, alpha);
      double below = 0.0, up_to = 0.0;
      for (const Residual& r : rows) {
        if (r.value < found) below += r.weight;
        if (r.value <= found) up_to += r.weight;
      }
      CHECK(below <= alpha * total);
      CHECK(up_to >= alpha * total);
    }
  }

  TEST_CASE("a leaf uses its own rows, their weights, and label - score") {
    const std::vector<float> label{1.0f, 5.0f, 100.0f, 9.0f, 3.0f};
    const std::vector<double> score{0.5, 1.0, 0.0, 2.0, 3.0};
    const std::vector<float> weight{1.0f, 1.0f, 50.0f, 1.0f, 0.0f};
    const std::vector<RowIdx> rows{0, 1, 3, 4};  // residuals 0.5, 4, 7, (0 of weight 0)
    std::vector<Residual> scratch;
    LeafRefit refit{label.data(), weight.data(), score.data(), 0.5, 0.0};
    CHECK(refit_leaf(refit, rows.data(), 4, scratch) == 4.0);
    refit.weight = nullptr;
    CHECK(refit_leaf(refit, rows.data(), 4, scratch) == 2.25);
    refit.delta = 2.0;  // residuals from 2.25: -1.75, 1.75, 4.75 cut to 2, -2.25 cut to -2
    CHECK(refit_leaf(refit, rows.data(), 4, scratch) == doctest::Approx(2.25 + 0.0 / 4.0));
    refit.delta = 100.0;  // nothing is cut: the mean
    CHECK(refit_leaf(refit, rows.data(), 4, scratch) == doctest::Approx((0.5 + 4.0 + 7.0 + 0.0) / 4.0));
  }
}

}  // namespace gossamer::tests
