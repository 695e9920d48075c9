// Survival and distribution kernels against their definitions in long double.
#include <algorithm>

#include "core/cox.h"
#include "core/distribution.h"
#include "core/survival.h"
#include "support.h"

namespace gossamer::tests {
namespace {

double relative(double got, long double expected) {
  return static_cast<double>(std::abs((static_cast<long double>(got) - expected) / expected));
}

struct Times {
  std::vector<float> lower, upper, weight, signed_time;
  std::vector<double> score;
};

// Known, right-, left- and interval-censored times, many of them equal.
Times make_times(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  Times t;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto time = static_cast<float>(1 + random.below(n / 4 + 2)) * 0.25f;
    const std::int64_t kind = random.below(4);
    t.lower.push_back(kind == 2 ? 0.0f : time);
    t.upper.push_back(kind == 0 ? time : kind == 1 ? INFINITY : kind == 2 ? time : time * 1.5f);
    t.signed_time.push_back(kind == 0 ? time : -time);
    t.weight.push_back(static_cast<float>(random.below(4)) * 0.5f);
    t.score.push_back(random.normal() * (i % 5 == 0 ? 20.0 : 1.0));
  }
  return t;
}

long double cdf(int distribution, long double z) {
  if (distribution == 0) return 0.5L * std::erfc(-z / std::sqrt(2.0L));
  return 1.0L / (1.0L + std::exp(-z));
}

long double density(int distribution, long double z) {
  if (distribution == 0) return std::exp(-0.5L * z * z) / std::sqrt(2.0L * std::acos(-1.0L));
  if (distribution == 1) return std::exp(-z) / ((1.0L + std::exp(-z)) * (1.0L + std::exp(-z)));
  return std::exp(z - std::exp(z));
}

long double aft_loss(int distribution, long double sigma, long double lower, long double upper, long double score) {
  if (lower == upper) return -std::log(density(distribution, (std::log(lower) - score) / sigma) / (sigma * lower));
  const long double low = lower <= 0.0L ? -INFINITY : (std::log(lower) - score) / sigma;
  const long double high = std::isinf(upper) ? INFINITY : (std::log(upper) - score) / sigma;
  if (distribution == 2) {
    const long double w = lower <= 0.0L ? 0.0L : std::exp(low);
    return w - (std::isinf(upper) ? 0.0L : std::log(-std::expm1(w - std::exp(high))));
  }
  // Symmetric: in the tail where the difference does not cancel.
  return -std::log(low > 0.0L ? cdf(distribution, -low) - cdf(distribution, -high)
                              : cdf(distribution, high) - cdf(distribution, low));
}

double aft_sum(int distribution, double sigma, float lower, float upper, double score) {
  AftArgs args;
  args.score = &score;
  args.lower = &lower;
  args.upper = &upper;
  args.n = 1;
  args.distribution = distribution;
  args.sigma = sigma;
  double sums[3];
  kernels().sum_aft(args, INFINITY, sums);
  return sums[0];
}

double cox_loss(const Times& t, bool weighted) {
  long double loss = 0.0L;
  for (std::size_t i = 0; i < t.score.size(); ++i) {
    if (!(t.signed_time[i] > 0.0f)) continue;
    long double at_risk = 0.0L;
    for (std::size_t j = 0; j < t.score.size(); ++j) {
      if (std::abs(t.signed_time[j]) < t.signed_time[i]) continue;
      at_risk +=
          (weighted ? static_cast<long double>(t.weight[j]) : 1.0L) * std::exp(static_cast<long double>(t.score[j]));
    }
    const long double w = weighted ? static_cast<long double>(t.weight[i]) : 1.0L;
    if (w > 0.0L) loss += w * (std::log(at_risk) - static_cast<long double>(t.score[i]));
  }
  return static_cast<double>(loss);
}

RowTargets rows_of(const Times& t, bool weighted) {
  return {static_cast<std::int64_t>(t.score.size()), t.signed_time.data(), weighted ? t.weight.data() : nullptr};
}

}  // namespace

TEST_SUITE("survival") {
  TEST_CASE("aft: the loss of known times is accurate from end to end") {
    for (int distribution = 0; distribution < 3; ++distribution) {
      double worst = 0.0;
      for (double z = -40.0; z <= (distribution == 2 ? 5.0 : 40.0); z += 0.37) {
        const long double expected = aft_loss(distribution, 1.0L, 1.0L, 1.0L, -static_cast<long double>(z));
        worst = std::max(worst, std::abs(aft_sum(distribution, 1.0, 1.0f, 1.0f, -z) - static_cast<double>(expected)) /
                                    std::max(1.0, std::abs(static_cast<double>(expected))));
      }
      CHECK(worst < 1e-14);
    }
  }

  TEST_CASE("aft: the tail of the normal distribution is accurate (Mills ratio)") {
    for (double z = 0.0; z <= 100.0; z += z < 12.0 ? 0.0137 : 0.71) {
      const long double expected = -std::log(0.5L * std::erfc(static_cast<long double>(z) / std::sqrt(2.0L)));
      CHECK(relative(aft_sum(0, 1.0, 1.0f, INFINITY, -z), expected) < 4e-15);  // right-censored at 1
      CHECK(relative(aft_sum(0, 1.0, 0.0f, 1.0f, z), expected) < 4e-15);       // left-censored
    }
  }

  TEST_CASE("aft: intervals, and their derivatives by finite differences") {
    Random random(61);
    for (int distribution = 0; distribution < 3; ++distribution) {
      double worst_loss = 0.0, worst_gradient = 0.0, worst_hessian = 0.0;
      for (int i = 0; i < 3000; ++i) {
        const double sigma = random.between(0.7, 3.0);
        const auto lower = static_cast<float>(std::exp(random.normal()));
        const int kind = i % 4;
        const float upper = kind == 0   ? lower
                            : kind == 1 ? INFINITY
                                        : lower * (1.0f + static_cast<float>(random.unit()));
        const float first = kind == 3 && i % 8 == 3 ? 0.0f : lower;
        const double score = random.normal();
        const auto loss = [&](long double s) {
          return aft_loss(distribution, static_cast<long double>(sigma), static_cast<long double>(first),
                          static_cast<long double>(upper), s);
        };
        const long double here = loss(static_cast<long double>(score));
        worst_loss = std::max(worst_loss,
                              std::abs(aft_sum(distribution, sigma, first, upper, score) - static_cast<double>(here)));
        const long double step = 1e-5L;
        const long double up = loss(static_cast<long double>(score) + step);
        const long double down = loss(static_cast<long double>(score) - step);
        const AftTargets t{{1, &first, nullptr}, &upper, distribution, sigma};
        Team team(1);
        float g, h;
        gradients_aft(team, t, &score, &g, &h);
        const double gradient = std::clamp(static_cast<double>((up - down) / (2.0L * step)), -15.0, 15.0);
        const double hessian = std::clamp(static_cast<double>((up - 2.0L * here + down) / (step * step)), 0.0, 15.0);
        worst_gradient = std::max(worst_gradient, std::abs(static_cast<double>(g) - gradient));
        worst_hessian = std::max(worst_hessian, std::abs(static_cast<double>(h) - hessian));
      }
      CHECK(worst_loss < 1e-11);
      CHECK(worst_gradient < 2e-6);
      CHECK(worst_hessian < 1e-4);
    }
  }

  TEST_CASE("aft: scores without end give finite, bounded results; all tails alike") {
    Times t = make_times(70, 62);
    for (std::size_t i = 0; i < 10; ++i)
      t.score[i] = (i % 2 == 0 ? 1.0 : -1.0) * std::pow(10.0, static_cast<double>(i));
    for (int distribution = 0; distribution < 3; ++distribution) {
      const auto run = [&](std::int64_t n) {
        std::vector<float> out(140, -99.0f);
        AftArgs args;
        args.score = t.score.data();
        args.lower = t.lower.data();
        args.upper = t.upper.data();
        args.weight = t.weight.data();
        args.n = n;
        args.distribution = distribution;
        args.sigma = 0.3;
        kernels().gradients_aft(args, out.data(), out.data() + 70);
        return out;
      };
      const std::vector<float> all = same_at_every_level([&] { return run(70); });
      for (std::size_t i = 0; i < 70; ++i) {
        CHECK(std::abs(all[i]) <= 15.0f * t.weight[i]);
        CHECK(all[70 + i] >= 0.0f);
        CHECK(all[70 + i] <= 15.0f * t.weight[i]);
      }
      for (std::int64_t n = 0; n < 70; ++n) {
        const std::vector<float> some = run(n);
        for (std::int64_t i = 0; i < 70; ++i) CHECK(some[at(i)] == (i < n ? all[at(i)] : -99.0f));
      }
    }
  }

  TEST_CASE("cox: loss by its definition, derivatives by finite differences") {
    Times t = make_times(60, 63);
    for (double& s : t.score) s = std::clamp(s, -3.0, 3.0);
    for (const bool weighted : {false, true}) {
      const CoxOrder order(rows_of(t, weighted));
      Team team(2);
      CHECK(order.loss(team, t.score.data()) == doctest::Approx(cox_loss(t, weighted)).epsilon(1e-12));
      std::vector<float> g(60), h(60);
      order.gradients(team, t.score.data(), g.data(), h.data());
      for (std::size_t i = 0; i < 60; ++i) {
        Times up = t, down = t;
        up.score[i] += 1e-4;
        down.score[i] -= 1e-4;
        const double above = cox_loss(up, weighted), below = cox_loss(down, weighted), here = cox_loss(t, weighted);
        CHECK(static_cast<double>(g[i]) == doctest::Approx((above - below) / 2e-4).epsilon(1e-5));
        CHECK(std::abs(static_cast<double>(h[i]) - (above - 2.0 * here + below) / 1e-8) < 1e-4);
      }
    }
  }

  TEST_CASE("cox: extreme scores stay finite; any threads and kernels give the same bits") {
    Times t = make_times(30000, 64);
    for (std::size_t i = 0; i < t.score.size(); i += 7) t.score[i] *= 1e3;
    for (const bool weighted : {false, true}) {
      const CoxOrder order(rows_of(t, weighted));
      const auto run = [&](int n_threads) {
        Team team(n_threads);
        std::vector<float> out(60001);
        order.gradients(team, t.score.data(), out.data(), out.data() + 30000);
        out[60000] = static_cast<float>(order.loss(team, t.score.data()));
        return out;
      };
      const std::vector<float> one = same_at_every_level([&] { return run(1); });
      for (const int n_threads : {2, 3, 8}) CHECK(first_difference(run(n_threads), one) == -1);
      CHECK(std::all_of(one.begin(), one.end(), [](float x) { return std::isfinite(x); }));
      CHECK(std::all_of(one.begin() + 30000, one.end(), [](float x) { return x >= 0.0f; }));
    }
  }

  TEST_CASE("cox: no rows, and no events") {
    Team team(1);
    const CoxOrder none(RowTargets{0, nullptr, nullptr});
    CHECK(none.loss(team, nullptr) == 0.0);
    none.gradients(team, nullptr, nullptr, nullptr);
    const std::vector<float> censored{-1.0f, -2.0f};
    const std::vector<double> score{0.5, 1.0};
    const CoxOrder order(RowTargets{2, censored.data(), nullptr});
    CHECK(order.loss(team, score.data()) == 0.0);
    std::vector<float> g(2, 9.0f), h(2, 9.0f);
    order.gradients(team, score.data(), g.data(), h.data());
    CHECK(g == std::vector<float>{0.0f, 0.0f});
    CHECK(h == std::vector<float>{0.0f, 0.0f});
  }

  TEST_CASE("concordance counts pairs") {
    Times t = make_times(300, 65);
    for (double& s : t.score) s = std::round(s);
    for (const bool weighted : {false, true}) {
      double won = 0.0, all = 0.0;
      for (std::size_t i = 0; i < 300; ++i) {
        for (std::size_t j = 0; j < 300; ++j) {
          const bool both_known = t.lower[i] == t.upper[i] && t.lower[j] == t.upper[j];
          if (!(t.upper[i] < t.lower[j] || (t.upper[i] == t.lower[j] && !both_known))) continue;
          const double w = weighted ? static_cast<double>(t.weight[i]) * static_cast<double>(t.weight[j]) : 1.0;
          all += w;
          won += w * (t.score[i] > t.score[j] ? 1.0 : t.score[i] == t.score[j] ? 0.5 : 0.0);
        }
      }
      const float* const w = weighted ? t.weight.data() : nullptr;
      CHECK(concordance(t.lower.data(), t.upper.data(), t.score.data(), w, 300) ==
            doctest::Approx(won / all).epsilon(1e-12));
    }
    CHECK(concordance(nullptr, nullptr, nullptr, nullptr, 0) == 0.5);
  }

  TEST_CASE("normal distributions: derivatives, loss and crps by their definitions") {
    Random random(66);
    const std::int64_t n = 301;
    std::vector<float> label, weight;
    std::vector<double> score;
    for (std::int64_t i = 0; i < n; ++i) {
      label.push_back(static_cast<float>(random.normal()));
      weight.push_back(static_cast<float>(random.between(0.1, 2.0)));
    }
    for (std::int64_t i = 0; i < 2 * n; ++i) score.push_back(random.normal());
    const RowTargets t{n, label.data(), weight.data()};
    long double loss = 0.0L, crps = 0.0L;
    const long double pi = std::acos(-1.0L);
    for (std::int64_t i = 0; i < n; ++i) {
      const long double sigma = std::exp(static_cast<long double>(score[at(n + i)]));
      const long double z = (static_cast<long double>(label[at(i)]) - static_cast<long double>(score[at(i)])) / sigma;
      const auto w = static_cast<long double>(weight[at(i)]);
      loss += w * (std::log(sigma) + 0.5L * z * z + 0.5L * std::log(2.0L * pi));
      crps += w * sigma *
              (z * std::erf(z / std::sqrt(2.0L)) + 2.0L * std::exp(-0.5L * z * z) / std::sqrt(2.0L * pi) -
               1.0L / std::sqrt(pi));
    }
    const auto run = [&](int n_threads) {
      Team team(n_threads);
      std::vector<float> out(at(4 * n));
      gradients_normal(team, t, score.data(), -20.0, 1.5, out.data(), out.data() + 2 * n);
      CHECK(relative(sum_normal_loss(team, t, score.data(), -20.0), loss) < 1e-13);
      CHECK(relative(sum_normal_crps(team, t, score.data(), -20.0), crps) < 1e-13);
      return out;
    };
    const std::vector<float> out = same_at_every_level([&] { return run(1); });
    CHECK(first_difference(run(3), out) == -1);
    for (std::int64_t i = 0; i < n; ++i) {
      const double sigma = std::exp(score[at(n + i)]);
      const double z = (score[at(i)] - static_cast<double>(label[at(i)])) / sigma;
      const auto w = static_cast<double>(weight[at(i)]);
      CHECK(static_cast<double>(out[at(i)]) == doctest::Approx(w * z / sigma * 2.25).epsilon(1e-6));
      CHECK(static_cast<double>(out[at(n + i)]) == doctest::Approx(w * (1.0 - z * z)).epsilon(1e-5));
      CHECK(static_cast<double>(out[at(2 * n + i)]) == doctest::Approx(w * 2.25 / (sigma * sigma)).epsilon(1e-6));
      CHECK(static_cast<double>(out[at(3 * n + i)]) == doctest::Approx(w * std::max(1.0 + z * z, 2.0)).epsilon(1e-6));
    }
  }

  TEST_CASE("rows of outputs are sorted") {
    Random random(67);
    const std::int64_t n = 20000;
    std::vector<double> score;
    for (std::int64_t i = 0; i < 5 * n; ++i) score.push_back(random.normal());
    Team team(3);
    std::vector<double> out(score.size());
    sort_outputs(team, score.data(), n, 5, out.data());
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<double> row;
      for (int k = 0; k < 5; ++k) row.push_back(score[at(k * n + i)]);
      std::sort(row.begin(), row.end());
      for (int k = 0; k < 5; ++k) wrong += out[at(i * 5 + k)] != row[static_cast<std::size_t>(k)];
    }
    CHECK(wrong == 0);
  }
}

}  // namespace gossamer::tests
