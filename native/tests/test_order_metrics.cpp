// Metrics of the order of scores, against every pair of rows and against a plain sort.
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/order_metrics.h"
#include "core/sorted_scores.h"
#include "support.h"

namespace gossamer::tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Data {
  std::vector<double> score;
  std::vector<float> label;
  std::vector<float> weight;

  RowTargets targets(bool weighted) const {
    return {static_cast<std::int64_t>(label.size()), label.data(), weighted ? weight.data() : nullptr};
  }
};

// Weights are multiples of 1/2: their sums are exact in any order.
template <class Draw>
Data make_data(std::int64_t n, std::uint64_t seed, const Draw& draw) {
  Random random(seed);
  Data d;
  for (std::int64_t i = 0; i < n; ++i) {
    d.label.push_back(random.chance(0.3) ? 1.0f : 0.0f);
    d.weight.push_back(static_cast<float>(random.below(5)) * 0.5f);
    d.score.push_back(draw(random));
  }
  return d;
}

// Distributions that the buckets must cope with.
std::vector<Data> all_kinds(std::int64_t n) {
  std::vector<Data> kinds;
  kinds.push_back(make_data(n, 1, [](Random& r) { return r.normal(); }));
  kinds.push_back(make_data(n, 2, [](Random& r) { return std::round(r.normal() * 4.0) / 4.0; }));
  kinds.push_back(make_data(n, 3, [](Random&) { return 0.25; }));
  kinds.push_back(make_data(n, 4, [](Random& r) { return static_cast<double>(r.below(2)) * 1e-300; }));
  kinds.push_back(make_data(n, 5, [](Random& r) { return std::exp(r.normal() * 200.0) * (r.chance(0.5) ? 1 : -1); }));
  kinds.push_back(make_data(n, 6, [](Random& r) { return r.chance(0.99) ? 1.0 : r.normal(); }));
  kinds.push_back(make_data(n, 7, [](Random& r) { return r.chance(0.999) ? 1e-9 * r.normal() : 1e9 * r.normal(); }));
  kinds.push_back(make_data(n, 8, [](Random& r) { return r.chance(0.5) ? -0.0 : 0.0; }));
  kinds.push_back(make_data(n, 9, [](Random& r) { return r.chance(0.3) ? kInfinity : -kInfinity; }));
  kinds.push_back(make_data(n, 10, [](Random& r) { return r.chance(0.1) ? kInfinity : r.normal() * 1e308; }));
  // Neighbouring doubles: nothing but the last bits differ.
  kinds.push_back(make_data(n, 11, [](Random& r) { return 1.0 + static_cast<double>(r.below(64)) * 0x1p-52; }));
  return kinds;
}

struct Metrics {
  double auc, average_precision, aucpr;
};

// From a plain sort, tie by tie.
Metrics plain(const Data& d, bool weighted) {
  std::vector<std::size_t> order(d.score.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return d.score[a] > d.score[b]; });
  double positives = 0.0, negatives = 0.0;
  Metrics m{};
  for (std::size_t i = 0; i < order.size();) {
    const double score = d.score[order[i]];
    double p = 0.0, n = 0.0;
    for (; i < order.size() && d.score[order[i]] == score; ++i) {
      const double w = weighted ? static_cast<double>(d.weight[order[i]]) : 1.0;
      (d.label[order[i]] > 0.0f ? p : n) += w;
    }
    m.auc += n * (positives + 0.5 * p);
    if (p > 0.0) {
      m.average_precision += p * (positives + p) / (positives + p + negatives + n);
      // The integral of the precision by Simpson's rule.
      const int n_steps = 2000;
      const auto precision = [&](double share) {
        const double x = positives + share * p, all = x + negatives + share * n;
        return all > 0.0 ? x / all : p / (p + n);
      };
      double area = precision(0.0) + precision(1.0);
      for (int k = 1; k < n_steps; ++k) area += (k % 2 == 1 ? 4.0 : 2.0) * precision(k / double(n_steps));
      m.aucpr += area / (3.0 * n_steps) * p;
    }
    positives += p;
    negatives += n;
  }
  return {m.auc / (positives * negatives), m.average_precision / positives, m.aucpr / positives};
}

}  // namespace

TEST_SUITE("order_metrics") {
  TEST_CASE("every pair of a positive and a negative row counts, ties half") {
    for (const Data& d : all_kinds(300)) {
      double won = 0.0, all = 0.0;
      for (std::size_t i = 0; i < d.label.size(); ++i) {
        for (std::size_t j = 0; j < d.label.size(); ++j) {
          if (!(d.label[i] > 0.0f) || d.label[j] > 0.0f) continue;
          const double w = static_cast<double>(d.weight[i]) * static_cast<double>(d.weight[j]);
          all += w;
          won += w * (d.score[i] > d.score[j] ? 1.0 : d.score[i] == d.score[j] ? 0.5 : 0.0);
        }
      }
      Team team(1);
      CHECK(auc(team, d.targets(true), d.score.data()) == won / all);
    }
  }

  TEST_CASE("a plain sort gives the same") {
    int kind = 0;
    for (const Data& d : all_kinds(20000)) {
      CAPTURE(++kind);
      Team team(2);
      for (const bool weighted : {false, true}) {
        CAPTURE(weighted);
        const Metrics expected = plain(d, weighted);
        const RowTargets t = d.targets(weighted);
        CHECK(auc(team, t, d.score.data()) == expected.auc);  // all sums are exact
        CHECK(average_precision(team, t, d.score.data()) == doctest::Approx(expected.average_precision).epsilon(1e-12));
        CHECK(aucpr(team, t, d.score.data()) == doctest::Approx(expected.aucpr).epsilon(1e-6));
      }
    }
  }

  TEST_CASE("the number of threads does not matter") {
    for (Data& d : all_kinds(200000)) {
      Random random(77);
      for (float& w : d.weight) w = static_cast<float>(random.unit());  // sums depend on their order
      const RowTargets t = d.targets(true);
      const auto run = [&](int n_threads) {
        Team team(n_threads);
        return std::vector<double>{auc(team, t, d.score.data()), average_precision(team, t, d.score.data()),
                                   aucpr(team, t, d.score.data()), auc(team, d.targets(false), d.score.data())};
      };
      const auto one = run(1);
      for (const int n_threads : {2, 3, 8}) CHECK(first_difference(run(n_threads), one) == -1);
    }
  }

  TEST_CASE("one class, no rows, weights of zero") {
    Team team(2);
    Data d = make_data(50, 12, [](Random& r) { return r.normal(); });
    const auto check_one = [&](const Data& data, bool weighted) {
      const RowTargets t = data.targets(weighted);
      CHECK(auc(team, t, data.score.data()) == 1.0);
      CHECK(average_precision(team, t, data.score.data()) == 1.0);
      CHECK(aucpr(team, t, data.score.data()) == 1.0);
    };
    for (const float label : {0.0f, 1.0f}) {
      std::fill(d.label.begin(), d.label.end(), label);
      check_one(d, false);
      check_one(d, true);
    }
    check_one(Data{}, false);
    d.label[0] = 0.0f;
    std::fill(d.weight.begin(), d.weight.end(), 0.0f);
    check_one(d, true);
  }

  TEST_CASE("rows of weight zero change nothing, wherever they are") {
    Team team(1);
    const Data d{{3.0, 2.5, 2.0, 1.0, 4.0}, {1.0f, 1.0f, 0.0f, 1.0f, 0.0f}, {1.0f, 0.0f, 1.0f, 2.0f, 0.0f}};
    const Data without{{3.0, 2.0, 1.0}, {1.0f, 0.0f, 1.0f}, {1.0f, 1.0f, 2.0f}};
    for (const auto metric : {&auc, &average_precision, &aucpr}) {
      CHECK(metric(team, d.targets(true), d.score.data()) == metric(team, without.targets(true), without.score.data()));
    }
  }

  TEST_CASE("buckets hold one sign and follow the scores") {
    for (const Data& d : all_kinds(20000)) {
      const ScoreGrid grid = make_score_grid(d.score.data(), 20000);
      std::vector<double> sorted(d.score);
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      int last = 0;
      std::vector<int> sign(at(grid.n_buckets()), -1);
      for (const double score : sorted) {
        const int bucket = grid.bucket(score);
        REQUIRE(bucket >= last);
        REQUIRE(bucket < grid.n_buckets());
        last = bucket;
        int& seen = sign[at(bucket)];
        if (seen == -1) seen = score >= 0.0;
        REQUIRE(seen == (score >= 0.0));
      }
    }
  }

  TEST_CASE("auc_mu is the mean over pairs of classes") {
    const int n_classes = 4;
    const std::int64_t n = 400;
    Random random(13);
    Data d;
    for (std::int64_t i = 0; i < n; ++i) {
      d.label.push_back(static_cast<float>(random.below(n_classes - 1)));  // the last class is missing
      d.weight.push_back(static_cast<float>(1 + random.below(4)) * 0.5f);
    }
    for (std::int64_t i = 0; i < n * n_classes; ++i) d.score.push_back(std::round(random.normal() * 4.0) / 4.0);
    std::vector<double> ones(16, 1.0), costs(16);
    for (double& cost : costs) cost = 0.25 * static_cast<double>(1 + random.below(8));
    for (int c = 0; c < n_classes; ++c) ones[at(c * 5)] = costs[at(c * 5)] = 0.0;
    for (const auto& matrix : {ones, costs}) {
      for (const bool weighted : {false, true}) {
        double sum = 0.0;
        for (int a = 0; a < 3; ++a) {
          for (int b = a + 1; b < 3; ++b) {
            const auto along = [&](std::int64_t i) {
              double v = 0.0;
              for (int c = 0; c < n_classes; ++c) {
                v += (matrix[at(a * 4 + c)] - matrix[at(b * 4 + c)]) * d.score[at(c * n + i)];
              }
              // Class a costs nothing where it is right: its rows must come out lower.
              return matrix[at(b * 4 + a)] + matrix[at(a * 4 + b)] > 0.0 ? -v : v;
            };
            double won = 0.0, all = 0.0;
            for (std::int64_t i = 0; i < n; ++i) {
              for (std::int64_t j = 0; j < n; ++j) {
                if (d.label[at(i)] != static_cast<float>(a) || d.label[at(j)] != static_cast<float>(b)) continue;
                const double w = weighted ? static_cast<double>(d.weight[at(i)] * d.weight[at(j)]) : 1.0;
                all += w;
                won += w * (along(i) > along(j) ? 1.0 : along(i) == along(j) ? 0.5 : 0.0);
              }
            }
            sum += won / all;
          }
        }
        for (const int n_threads : {1, 3}) {
          Team team(n_threads);
          const double found = auc_mu(team, d.targets(weighted), d.score.data(), n_classes, matrix.data());
          CHECK(found == doctest::Approx(sum / 3.0).epsilon(1e-12));
        }
      }
    }
  }
}

}  // namespace gossamer::tests
