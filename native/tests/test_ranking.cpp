// Order within a query, pairs of rows and the metrics of ranking against plain loops.
#include "core/ranking.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/power_of_two.h"
#include "core/rank_order.h"
#include "core/ranking_metrics.h"
#include "support.h"

namespace gossamer::tests {
namespace {

struct Queries {
  QueryBegin begin = {0};
  std::vector<double> score;
  std::vector<float> label;
  std::vector<float> weight;

  Queries(const std::vector<std::int64_t>& sizes, double step, int n_labels, std::uint64_t seed) {
    Random random(seed);
    for (const std::int64_t size : sizes) begin.push_back(begin.back() + size);
    for (std::int64_t i = 0; i < begin.back(); ++i) {
      score.push_back(std::round(random.normal() / step) * step);
      label.push_back(static_cast<float>(random.below(n_labels)));
      weight.push_back(static_cast<float>(0.5 + random.unit()));
    }
  }

  RankTargets targets(bool weighted) const {
    RankTargets t;
    t.label = label.data();
    t.weight = weighted ? weight.data() : nullptr;
    return t;
  }
};

std::vector<std::uint32_t> plain_order(const double* score, std::int64_t n) {
  std::vector<std::uint32_t> order(at(n));
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return score[a] > score[b]; });
  return order;
}

std::vector<std::uint32_t> rows_of(const std::vector<RankItem>& items) {
  std::vector<std::uint32_t> rows;
  for (const RankItem& item : items) rows.push_back(item.row);
  return rows;
}

// Change of DCG over the best possible, for two ranks that swap.
double plain_delta(PairDelta kind, const std::vector<double>& labels, std::size_t i, std::size_t j,
                   std::int64_t n_top) {
  if (kind == PairDelta::pairwise) return 1.0;
  const auto value = [&](const std::vector<double>& y, std::size_t n) {
    double sum = 0.0, hits = 0.0;
    for (std::size_t r = 0; r < std::min(n, y.size()); ++r) {
      if (kind == PairDelta::ndcg) sum += (std::exp2(y[r]) - 1.0) / std::log2(2.0 + static_cast<double>(r));
      if (kind == PairDelta::map && y[r] > 0.0) sum += ++hits / static_cast<double>(r + 1);
    }
    return sum;
  };
  std::vector<double> swapped = labels, best = labels;
  std::swap(swapped[i], swapped[j]);
  std::sort(best.rbegin(), best.rend());
  const double all =
      kind == PairDelta::map ? std::accumulate(labels.begin(), labels.end(), 0.0) : value(best, at(n_top));
  return std::abs(value(labels, labels.size()) - value(swapped, labels.size())) / all;
}

std::vector<double> plain_gradients(const Queries& q, const LambdaRules& rules) {
  const std::size_t n_rows = q.score.size();
  std::vector<double> out(2 * n_rows);
  for (std::size_t query = 0; query + 1 < q.begin.size(); ++query) {
    const std::int64_t first = q.begin[query];
    const auto order = plain_order(q.score.data() + first, q.begin[query + 1] - first);
    std::vector<double> s, y;
    for (const std::uint32_t row : order) {
      s.push_back(q.score[at(first + row)]);
      y.push_back(static_cast<double>(q.label[at(first + row)]));
    }
    std::vector<double> g(s.size()), h(s.size());
    double total = 0.0;
    for (std::size_t i = 0; i < std::min(s.size(), at(rules.n_top)); ++i) {
      for (std::size_t j = i + 1; j < s.size(); ++j) {
        if (y[i] == y[j]) continue;
        const std::size_t high = y[i] > y[j] ? i : j, low = y[i] > y[j] ? j : i;
        double delta = plain_delta(rules.delta, y, i, j, rules.n_top);
        if (rules.divide_by_difference && s.front() != s.back()) delta /= 0.01 + (s[i] - s[j]);
        const double p = 1.0 / (1.0 + std::exp(rules.sigmoid * (s[high] - s[low])));
        g[high] -= rules.sigmoid * p * delta;
        g[low] += rules.sigmoid * p * delta;
        h[i] += rules.sigmoid * rules.sigmoid * rules.hessian_factor * p * (1.0 - p) * delta;
        h[j] += rules.sigmoid * rules.sigmoid * rules.hessian_factor * p * (1.0 - p) * delta;
        total += 2.0 * rules.sigmoid * p * delta;
      }
    }
    const bool scales = rules.norm == LambdaRules::Norm::gradients && total > 0.0;
    const double factor = scales ? std::log2(1.0 + total) / total : 1.0;
    for (std::size_t r = 0; r < s.size(); ++r) {
      out[at(first) + order[r]] = g[r] * factor;
      out[n_rows + at(first) + order[r]] = h[r] * factor;
    }
  }
  return out;
}

std::vector<float> fill(const Queries& q, const LambdaRules& rules, bool weighted, int n_threads) {
  const std::int64_t n = q.begin.back();
  Team team(n_threads);
  const LambdaRank ranker(team, q.begin, q.label.data(), rules);
  std::vector<float> out(at(2 * n));
  ranker.fill(team, q.targets(weighted), q.score.data(), 7, out.data(), out.data() + n);
  return out;
}

}  // namespace

TEST_SUITE("ranking") {
  TEST_CASE("powers of two are exact where they can be, and the same on every platform") {
    std::int64_t n_wrong = 0;
    for (int e = -1074; e < 1024; ++e) n_wrong += power_of_two(e) != std::ldexp(1.0, e);
    CHECK(n_wrong == 0);
    const std::pair<double, std::uint64_t> known[] = {{0.5, 0x3ff6a09e667f3bcc},
                                                      {0.3, 0x3ff3b2c47bff8329},
                                                      {-1.7, 0x3fd3b2c47bff8329},
                                                      {10.25, 0x409306fe0a31b715},
                                                      {-0.0001, 0x3fefff6ea43bd8ec}};
    for (const auto& [x, bits] : known) {
      CHECK(std::bit_cast<std::uint64_t>(power_of_two(x)) == bits);
      CHECK(power_of_two(x) == doctest::Approx(std::exp2(x)).epsilon(1e-15));
    }
  }

  TEST_CASE("rows of a query in order; ties keep theirs") {
    Random random(1);
    std::vector<RankItem> items;
    std::vector<std::uint32_t> rows;
    for (const std::int64_t n : {1, 2, 15, 16, 17, 63, 255, 256, 257, 1000, 9000}) {
      for (const double step : {1e-12, 0.01, 1.0, 100.0}) {
        std::vector<double> score;
        // Close together: the upper halves of the keys are alike.
        for (std::int64_t i = 0; i < n; ++i) score.push_back(1.0 + std::round(1e-9 * random.normal() / step) * step);
        for (std::int64_t i = 0; i < n; i += 3) score[at(i)] = std::round(random.normal() / step) * step * -1.0;
        const auto expected = plain_order(score.data(), n);
        rank_rows(score.data(), n, rows);
        CHECK(rows == expected);
        for (const std::int64_t k : {1, 5, 64, 65, 2000}) {
          rank_top(score.data(), n, k, items);
          const auto n_top = static_cast<std::ptrdiff_t>(std::min(n, k));
          CHECK(rows_of(items) == std::vector<std::uint32_t>(expected.begin(), expected.begin() + n_top));
        }
      }
    }
  }

  TEST_CASE("pairs against a plain loop") {
    for (const PairDelta delta : {PairDelta::ndcg, PairDelta::pairwise, PairDelta::map}) {
      const int n_labels = delta == PairDelta::map ? 2 : 5;
      for (const double step : {1e-9, 0.25, 100.0}) {
        const Queries q({1, 2, 7, 8, 9, 17, 40, 3}, step, n_labels, 11);
        for (const std::int64_t n_top : {1, 8, 1000}) {
          LambdaRules rules;
          rules.delta = delta;
          rules.n_top = n_top;
          rules.sigmoid = 1.5;
          rules.divide_by_difference = n_top != 8;
          rules.norm = n_top == 1 ? LambdaRules::Norm::none : LambdaRules::Norm::gradients;
          const std::vector<double> expected = plain_gradients(q, rules);
          const std::vector<float> found = fill(q, rules, false, 2);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            CHECK(static_cast<double>(found[i]) == doctest::Approx(expected[i]).epsilon(1e-5).scale(0.01));
          }
        }
      }
    }
  }

  TEST_CASE("ratios of 1 change nothing, and costs do not depend on threads") {
    const Queries q(std::vector<std::int64_t>(700, 9), 0.25, 2, 14);
    for (const PairDelta delta : {PairDelta::ndcg, PairDelta::pairwise, PairDelta::map}) {
      for (const std::int64_t n_drawn : {0, 3}) {
        LambdaRules rules;
        rules.delta = delta;
        rules.n_drawn = n_drawn;
        const std::vector<float> expected = fill(q, rules, true, 1);
        const std::int64_t n = q.begin.back();
        const std::vector<double> ratios(12, 1.0);
        const auto unbiased = [&](int n_threads, std::vector<double>& costs) {
          Team team(n_threads);
          const LambdaRank ranker(team, q.begin, q.label.data(), rules);
          RankTargets targets = q.targets(true);
          targets.place_bias = {6, ratios.data(), ratios.data() + 6};
          std::vector<float> out(at(2 * n));
          ranker.fill(team, targets, q.score.data(), 7, out.data(), out.data() + n, costs.data());
          return out;
        };
        std::vector<double> costs(12), again(12);
        const std::vector<float> found = unbiased(1, costs);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          CHECK(static_cast<double>(found[i]) ==
                doctest::Approx(static_cast<double>(expected[i])).epsilon(1e-5).scale(0.01));
        }
        CHECK(first_difference(unbiased(3, again), found) == -1);
        CHECK(again == costs);
        CHECK(*std::min_element(costs.begin(), costs.end()) > 0.0);
      }
    }
  }

  TEST_CASE("pairs of a query of several tiles") {
    const Queries q({5000}, 1e-6, 5, 13);
    for (const std::int64_t n_top : {8, 2100}) {
      LambdaRules rules;
      rules.delta = PairDelta::pairwise;
      rules.n_top = n_top;
      const std::vector<double> expected = plain_gradients(q, rules);
      const std::vector<float> found = fill(q, rules, false, 2);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(static_cast<double>(found[i]) == doctest::Approx(expected[i]).epsilon(1e-5).scale(0.01));
      }
    }
  }

  TEST_CASE("single and double precision") {
    for (const double step : {1e-9, 0.01}) {
      const Queries q({15, 16, 17, 40, 300, 2100}, step, 5, 15);
      for (const bool divide : {false, true}) {
        LambdaRules rules;
        rules.n_top = 70;
        rules.divide_by_difference = divide;
        rules.gain.kind = GainRule::Kind::table;
        rules.gain.table = {0.0, 1.0, 3.0, 7.0, 15.0};
        const std::vector<float> found = fill(q, rules, false, 1);
        rules.gain.table.push_back(0.0);  // no row has it, but gains that fall are computed in double precision
        const std::vector<float> expected = fill(q, rules, false, 1);
        CHECK(first_difference(found, expected) != -1);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          CHECK(static_cast<double>(found[i]) ==
                doctest::Approx(static_cast<double>(expected[i])).epsilon(2e-6).scale(0.01));
        }
      }
    }
  }

  TEST_CASE("threads and levels do not matter") {
    std::vector<std::int64_t> sizes(300, 40);
    sizes.push_back(20000);
    const Queries q(sizes, 1e-6, 2, 12);
    for (const PairDelta delta : {PairDelta::ndcg, PairDelta::pairwise, PairDelta::map}) {
      for (const std::int64_t n_drawn : {0, 3}) {
        LambdaRules rules;
        rules.delta = delta;
        rules.n_drawn = n_drawn;
        const auto one = same_at_every_level([&] { return fill(q, rules, true, 1); });
        for (const int n_threads : {2, 3, 8}) CHECK(first_difference(fill(q, rules, true, n_threads), one) == -1);
      }
    }
    const auto xendcg = [&](int n_threads) {
      const std::int64_t n = q.begin.back();
      Team team(n_threads);
      std::vector<float> out(at(2 * n));
      gradients_xendcg(team, q.begin, q.targets(true), q.score.data(), 3, out.data(), out.data() + n);
      return out;
    };
    const auto one = same_at_every_level([&] { return xendcg(1); });
    for (const int n_threads : {2, 3, 8}) CHECK(first_difference(xendcg(n_threads), one) == -1);
    const auto metric = [&](int n_threads) {
      Team team(n_threads);
      RankMetricRules rules;
      rules.n_top = 10;
      return std::vector<double>{
          ranking_metric(team, q.begin, {q.begin.back(), q.label.data(), q.weight.data()}, q.score.data(), rules)};
    };
    const auto value = same_at_every_level([&] { return metric(1); });
    for (const int n_threads : {2, 3, 8}) CHECK(first_difference(metric(n_threads), value) == -1);
  }

  TEST_CASE("discounts, exponentials and logarithms") {
    at_every_level([] {
      std::vector<double> d(21), e(21), x(21);
      kernels().discounts(21, d.data());
      for (int i = 0; i < 21; ++i) x[at(i)] = 0.3 * i - 2.0;
      const double sum = kernels().exp_sum(x.data(), 1.0, 21, e.data());
      double expected = 0.0;
      for (int i = 0; i < 21; ++i) {
        CHECK(d[at(i)] == doctest::Approx(1.0 / std::log2(2.0 + i)).epsilon(1e-14));
        CHECK(e[at(i)] == doctest::Approx(std::exp(x[at(i)] - 1.0)).epsilon(1e-14));
        expected += std::exp(x[at(i)] - 1.0);
      }
      CHECK(sum == doctest::Approx(expected).epsilon(1e-14));
      for (const double v : {1.0, 1.5, 1024.0, 1e300}) CHECK(kernels().log2(v) == doctest::Approx(std::log2(v)));
    });
  }

  TEST_CASE("gains of huge labels keep their shares") {
    const GainRule rule;
    CHECK(rule.shift(900.0) == 0);
    CHECK(rule.gain(3.0, 0) == 7.0);
    CHECK(rule.gain(0.0, 0) == 0.0);
    const int shift = rule.shift(50000.0);
    CHECK(rule.gain(50000.0, shift) == 2.0 * rule.gain(49999.0, shift));
    CHECK(std::isfinite(1e6 * rule.gain(50000.0, shift)));
    CHECK(rule.gain(0.0, shift) == 0.0);
  }

  TEST_CASE("blocks hold whole queries, all of them") {
    for (const std::int64_t n_queries : {1, 2, 5000}) {
      QueryBegin begin = {0};
      for (std::int64_t q = 0; q < n_queries; ++q) begin.push_back(begin.back() + 1 + q % 7);
      const auto blocks = query_blocks(begin);
      CHECK(blocks.front() == 0);
      CHECK(blocks.back() == n_queries);
      CHECK(std::is_sorted(blocks.begin(), blocks.end()));
      CHECK(std::adjacent_find(blocks.begin(), blocks.end()) == blocks.end());
    }
  }
}

}  // namespace gossamer::tests
