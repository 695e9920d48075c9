// Metrics against their definitions.
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

}  // namespace

TEST_SUITE("metrics") {
  TEST_CASE("sums do not depend on the number of threads") {
    const Data d = make_data(30000, 3, 1e-6, 73);
    const RowTargets t = d.targets(true);
    const auto run = [&](int n_threads) {
      Team team(n_threads);
      return std::vector<double>{
          sum_squared_error(team, t, d.score.data()),    sum_absolute_error(team, t, d.score.data()),
          sum_logloss(team, t, d.score.data(), 1.0),     sum_binary_error(team, t, d.score.data(), 0.25),
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
        if ((d.score[at(i)] > 0.25) != (own > 0)) binary += w;
        double sum = 0.0;
        int others = 0;  // that score at least as much
        for (std::int64_t c = 0; c < 3; ++c) {
          sum += std::exp(d.score[at(c * n + i)]);
          others += c != own && d.score[at(c * n + i)] >= d.score[at(own * n + i)];
        }
        loss -= w * std::log(std::exp(d.score[at(own * n + i)]) / sum);
        top1 += others >= 1 ? w : 0.0;
        top2 += others >= 2 ? w : 0.0;
      }
      const RowTargets t = d.targets(weighted);
      CHECK(sum_binary_error(team, t, d.score.data(), 0.25) == doctest::Approx(binary));
      CHECK(sum_multi_logloss(team, t, d.score.data(), 3) == doctest::Approx(loss).epsilon(1e-12));
      CHECK(sum_multi_error(team, t, d.score.data(), 3, 1) == doctest::Approx(top1));
      CHECK(sum_multi_error(team, t, d.score.data(), 3, 2) == doctest::Approx(top2));
    }
  }
}

}  // namespace gossamer::tests
