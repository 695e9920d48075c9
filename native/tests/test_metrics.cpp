// Metrics against their definitions.
#include <algorithm>

#include "core/metrics.h"
#include "support.h"

namespace gossamer::tests {
namespace {

struct Data {
  std::vector<double> score;
  std::vector<float> label;
  std::vector<float> weight;

  RowTargets targets(bool weighted) const {
    return {static_cast<std::int64_t>(label.size()), label.data(), weighted ? weight.data() : nullptr};
  }
};

Data make_data(std::int64_t n, int n_classes, double step, std::uint64_t seed) {
  Random random(seed);
  Data d;
  for (std::int64_t i = 0; i < n; ++i) {
    d.label.push_back(static_cast<float>(random.below(n_classes)));
    d.weight.push_back(static_cast<float>(1 + random.below(4)) * 0.5f);
  }
  // Rounded scores: ties on purpose.
  for (std::int64_t i = 0; i < n * n_classes; ++i) d.score.push_back(std::round(random.normal() / step) * step);
  return d;
}

// Every pair of a positive and a negative row, counted one by one.
double auc_by_pairs(const Data& d, bool weighted) {
  double won = 0.0, all = 0.0;
  for (std::size_t i = 0; i < d.label.size(); ++i) {
    for (std::size_t j = 0; j < d.label.size(); ++j) {
      if (!(d.label[i] > 0.0f) || d.label[j] > 0.0f) continue;
      const double w = weighted ? static_cast<double>(d.weight[i]) * static_cast<double>(d.weight[j]) : 1.0;
      all += w;
      won += w * (d.score[i] > d.score[j] ? 1.0 : d.score[i] == d.score[j] ? 0.5 : 0.0);
    }
  }
  return won / all;
}

}  // namespace

TEST_SUITE("metrics") {
  TEST_CASE("auc counts pairs, ties half") {
    for (const double step : {1e-9, 0.25, 10.0}) {
      const Data d = make_data(400, 2, step, 71);
      for (const bool weighted : {false, true}) {
        CHECK(auc(d.targets(weighted), d.score.data()) == doctest::Approx(auc_by_pairs(d, weighted)).epsilon(1e-12));
      }
    }
  }

  TEST_CASE("auc of one class, of no rows, of signed zeros and infinities") {
    Data d = make_data(10, 2, 0.1, 72);
    std::fill(d.label.begin(), d.label.end(), 1.0f);
    CHECK(auc(d.targets(false), d.score.data()) == 1.0);
    const Data none;
    CHECK(auc(none.targets(false), none.score.data()) == 1.0);
    const Data zeros{{0.0, -0.0}, {1.0f, 0.0f}, {1.0f, 1.0f}};
    CHECK(auc(zeros.targets(false), zeros.score.data()) == 0.5);
    const Data ends{{-INFINITY, INFINITY, 0.0}, {0.0f, 1.0f, 0.0f}, {1.0f, 1.0f, 1.0f}};
    CHECK(auc(ends.targets(false), ends.score.data()) == 1.0);
  }

  TEST_CASE("sums do not depend on the number of threads") {
    const Data d = make_data(30000, 3, 1e-6, 73);
    const RowTargets t = d.targets(true);
    const auto run = [&](int n_threads) {
      Team team(n_threads);
      return std::vector<double>{
          sum_squared_error(team, t, d.score.data()),    sum_absolute_error(team, t, d.score.data()),
          sum_logloss(team, t, d.score.data(), 1.0),     sum_binary_error(team, t, d.score.data()),
          sum_multi_logloss(team, t, d.score.data(), 3), sum_multi_error(team, t, d.score.data(), 3, 1)};
    };
    const auto one = same_at_every_level([&] { return run(1); });
    for (const int n_threads : {2, 3, 4, 8}) CHECK(first_difference(run(n_threads), one) == -1);
  }

  TEST_CASE("errors and multi-class loss by their definitions") {
    const std::int64_t n = 500;
    const Data d = make_data(n, 3, 0.5, 74);
    Team team(2);
    for (const bool weighted : {false, true}) {
      double binary = 0.0, loss = 0.0, top1 = 0.0, top2 = 0.0;
      for (std::int64_t i = 0; i < n; ++i) {
        const double w = weighted ? static_cast<double>(d.weight[at(i)]) : 1.0;
        const auto own = static_cast<std::int64_t>(d.label[at(i)]);
        if ((d.score[at(i)] > 0.0) != (own > 0)) binary += w;
        double sum = 0.0;
        int above = 0;
        for (std::int64_t c = 0; c < 3; ++c) {
          sum += std::exp(d.score[at(c * n + i)]);
          above += d.score[at(c * n + i)] > d.score[at(own * n + i)];
        }
        loss -= w * std::log(std::exp(d.score[at(own * n + i)]) / sum);
        top1 += above >= 1 ? w : 0.0;
        top2 += above >= 2 ? w : 0.0;
      }
      const RowTargets t = d.targets(weighted);
      CHECK(sum_binary_error(team, t, d.score.data()) == doctest::Approx(binary));
      CHECK(sum_multi_logloss(team, t, d.score.data(), 3) == doctest::Approx(loss).epsilon(1e-12));
      CHECK(sum_multi_error(team, t, d.score.data(), 3, 1) == doctest::Approx(top1));
      CHECK(sum_multi_error(team, t, d.score.data(), 3, 2) == doctest::Approx(top2));
    }
  }
}

}  // namespace gossamer::tests
