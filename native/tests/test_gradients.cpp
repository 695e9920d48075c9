// exp, log, sigmoid and softmax, and the objectives made of them, against libm in long double.
#include <algorithm>

#include "core/objectives.h"
#include "support.h"

namespace gossamer::tests {
namespace {

// Scores that reach both ends, dense around zero.
std::vector<double> scores(std::int64_t n, double widest, Random& random) {
  std::vector<double> s;
  for (std::int64_t i = 0; i < n; ++i) {
    s.push_back(i % 3 == 0 ? random.between(-widest, widest) : i % 3 == 1 ? random.normal() : 5.0 * random.normal());
  }
  return s;
}

double relative_error(double got, long double expected) {
  if (expected == 0.0L) return std::abs(got);
  return static_cast<double>(std::abs((static_cast<long double>(got) - expected) / expected));
}

long double sigmoid_exactly(long double x) { return 1.0L / (1.0L + std::exp(-x)); }

struct Targets {
  std::vector<float> label;
  std::vector<float> weight;
};

Targets targets(std::int64_t n, int n_classes, Random& random) {
  Targets t;
  for (std::int64_t i = 0; i < n; ++i) {
    t.label.push_back(static_cast<float>(random.below(n_classes)));
    t.weight.push_back(static_cast<float>(random.between(0.1, 3.0)));
  }
  return t;
}

// Runs kernel(n, gradient, hessian) on the first n rows: a row's result may not depend on n.
template <class Kernel>
void check_prefixes(std::int64_t n_all, const Kernel& kernel) {
  const auto run = [&](std::int64_t n) {
    std::vector<float> out(at(2 * n_all), -99.0f);
    kernel(n, out.data(), out.data() + n_all);
    return out;
  };
  const std::vector<float> all = same_at_every_level([&] { return run(n_all); });
  at_every_level([&] {
    std::int64_t wrong = 0;
    for (std::int64_t n = 0; n <= n_all; ++n) {
      const std::vector<float> some = run(n);
      for (std::int64_t i = 0; i < n_all; ++i) {
        for (const std::int64_t offset : {std::int64_t{0}, n_all}) {
          const float expected = i < n ? all[at(offset + i)] : -99.0f;  // nothing behind the end
          wrong += some[at(offset + i)] != expected;
        }
      }
    }
    CHECK(wrong == 0);
  });
}

}  // namespace

TEST_SUITE("gradients") {
  TEST_CASE("sigmoid is accurate everywhere") {
    Random random(41);
    for (const double steepness : {1.0, 0.3, 2.5}) {
      const std::vector<double> s = scores(20003, 700.0 / steepness, random);
      const auto out = same_at_every_level([&] {
        std::vector<double> p(s.size());
        kernels().sigmoid(s.data(), static_cast<std::int64_t>(s.size()), steepness, p.data());
        return p;
      });
      double worst = 0.0;
      for (std::size_t i = 0; i < s.size(); ++i) {
        const auto x = static_cast<long double>(s[i] * -steepness);  // the product is rounded on purpose
        worst = std::max(worst, relative_error(out[i], sigmoid_exactly(-x)));
      }
      CHECK(worst < 1e-15);
    }
  }

  TEST_CASE("sigmoid beyond the range of exp") {
    at_every_level([] {
      const std::vector<double> s{-1e308, -1000.0, -745.0, 0.0, 745.0, 1000.0, 1e308, -INFINITY, INFINITY};
      std::vector<double> p(s.size());
      kernels().sigmoid(s.data(), static_cast<std::int64_t>(s.size()), 1.0, p.data());
      for (const std::size_t i : {0, 1, 2, 7}) {
        CHECK(p[i] >= 0.0);
        CHECK(p[i] < 1e-300);
      }
      for (const std::size_t i : {4, 5, 6, 8}) CHECK(p[i] == 1.0);
      CHECK(p[3] == 0.5);
    });
  }

  TEST_CASE("sigmoid, all tails") {
    Random random(42);
    const std::vector<double> s = scores(40, 30.0, random);
    std::vector<double> all(s.size());
    kernels().sigmoid(s.data(), 40, 1.0, all.data());
    at_every_level([&] {
      for (std::int64_t n = 0; n <= 40; ++n) {
        std::vector<double> p(at(n));
        kernels().sigmoid(s.data(), n, 1.0, p.data());
        CHECK(first_difference(p, std::vector<double>(all.begin(), all.begin() + n)) == -1);
      }
    });
  }

  TEST_CASE("softmax: accurate, sums to one, all tails") {
    Random random(43);
    for (const int n_classes : {2, 3, 10}) {
      const std::int64_t stride = 45;
      const std::vector<double> s = scores(stride * n_classes, 300.0, random);
      for (std::int64_t begin : {0, 3}) {
        for (std::int64_t end = begin; end <= 40; ++end) {
          const auto out = same_at_every_level([&] {
            std::vector<double> p(at(stride * n_classes), -1.0);
            kernels().softmax(s.data(), stride, begin, end, n_classes, p.data());
            return p;
          });
          double worst = 0.0;
          for (std::int64_t i = 0; i < stride; ++i) {
            if (i < begin || i >= end) {
              for (int c = 0; c < n_classes; ++c) CHECK(out[at(i * n_classes + c)] == -1.0);
              continue;
            }
            double top = -INFINITY;
            for (int c = 0; c < n_classes; ++c) top = std::max(top, s[at(c * stride + i)]);
            long double sum = 0.0L;
            for (int c = 0; c < n_classes; ++c) sum += std::exp(static_cast<long double>(s[at(c * stride + i)] - top));
            double total = 0.0;
            for (int c = 0; c < n_classes; ++c) {
              const long double p = std::exp(static_cast<long double>(s[at(c * stride + i)] - top)) / sum;
              worst = std::max(worst, relative_error(out[at(i * n_classes + c)], p));
              total += out[at(i * n_classes + c)];
            }
            CHECK(total == doctest::Approx(1.0).epsilon(1e-14));
          }
          CHECK(worst < 2e-15);
        }
      }
    }
  }

  TEST_CASE("log loss: exp and log together") {
    Random random(44);
    const Targets t = targets(3001, 2, random);
    const std::vector<double> s = scores(3001, 600.0, random);
    for (const bool weighted : {false, true}) {
      double worst = 0.0;
      for (std::size_t i = 0; i < s.size(); ++i) {
        const long double z = t.label[i] > 0.0f ? -static_cast<long double>(s[i]) : static_cast<long double>(s[i]);
        long double expected = z > 0.0L ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
        if (weighted) expected *= static_cast<long double>(t.weight[i]);
        const float* const w = weighted ? t.weight.data() + i : nullptr;
        const double got = kernels().sum_logloss(s.data() + i, t.label.data() + i, w, 1, 1.0);
        // log(1 + tiny) keeps absolute, not relative accuracy.
        worst = std::max(worst, static_cast<double>(std::abs(static_cast<long double>(got) - expected)) /
                                    std::max(1.0, static_cast<double>(expected)));
      }
      CHECK(worst < 1e-15);
    }
  }

  TEST_CASE("losses, all tails") {
    Random random(45);
    const Targets t = targets(40, 2, random);
    const std::vector<double> s = scores(40, 20.0, random);
    for (std::int64_t n = 0; n <= 40; ++n) {
      for (const bool weighted : {false, true}) {
        const float* const w = weighted ? t.weight.data() : nullptr;
        const auto got = same_at_every_level([&] {
          return std::vector<double>{kernels().sum_squared_error(s.data(), t.label.data(), w, n),
                                     kernels().sum_absolute_error(s.data(), t.label.data(), w, n),
                                     kernels().sum_logloss(s.data(), t.label.data(), w, n, 0.7)};
        });
        double squared = 0.0, absolute = 0.0, logloss = 0.0;
        for (std::int64_t i = 0; i < n; ++i) {
          const double weight = weighted ? static_cast<double>(t.weight[at(i)]) : 1.0;
          const double difference = s[at(i)] - static_cast<double>(t.label[at(i)]);
          squared += weight * difference * difference;
          absolute += weight * std::abs(difference);
          const double z = 0.7 * (t.label[at(i)] > 0.0f ? -s[at(i)] : s[at(i)]);
          logloss += weight * (std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))));
        }
        CHECK(got[0] == doctest::Approx(squared).epsilon(1e-13));
        CHECK(got[1] == doctest::Approx(absolute).epsilon(1e-13));
        CHECK(got[2] == doctest::Approx(logloss).epsilon(1e-13));
      }
    }
  }

  TEST_CASE("gradients of binary: accurate to a few units in the last place") {
    Random random(46);
    const std::int64_t n = 20003;
    const Targets t = targets(n, 2, random);
    const std::vector<double> s = scores(n, 80.0, random);
    for (const double steepness : {1.0, 0.5}) {
      std::vector<float> g(at(n)), h(at(n));
      kernels().gradients_binary(s.data(), t.label.data(), nullptr, n, steepness, 2.0, 3.0, g.data(), h.data());
      double worst_g = 0.0, worst_h = 0.0;
      for (std::int64_t i = 0; i < n; ++i) {
        const bool positive = t.label[at(i)] > 0.0f;
        const long double w = positive ? 3.0L : 2.0L;
        // The kernel works on the score in single precision.
        const auto x = static_cast<long double>(static_cast<float>(s[at(i)]) * static_cast<float>(steepness));
        const long double k = static_cast<long double>(steepness);
        const long double p = sigmoid_exactly(x);
        const long double q = sigmoid_exactly(-x);
        const long double expected = positive ? -q * k * w : p * k * w;
        worst_g = std::max(worst_g, relative_error(static_cast<double>(g[at(i)]), expected));
        worst_h =
            std::max(worst_h, static_cast<double>(std::abs(static_cast<long double>(h[at(i)]) - p * q * k * k * w)));
        CHECK(h[at(i)] >= 0.0f);
      }
      CHECK(worst_g < 1e-6);
      CHECK(worst_h < 1e-6);
    }
  }

  TEST_CASE("gradients of binary: tails, ends, no NaN") {
    Random random(47);
    const Targets t = targets(70, 2, random);
    std::vector<double> s = scores(70, 80.0, random);
    s[3] = 1e300;
    s[4] = -1e300;
    s[20] = INFINITY;
    s[21] = -INFINITY;
    for (const bool weighted : {false, true}) {
      check_prefixes(70, [&](std::int64_t n, float* g, float* h) {
        kernels().gradients_binary(s.data(), t.label.data(), weighted ? t.weight.data() : nullptr, n, 1.0, 1.0, 2.0, g,
                                   h);
      });
    }
    std::vector<float> g(70), h(70);
    kernels().gradients_binary(s.data(), t.label.data(), nullptr, 70, 1.0, 1.0, 1.0, g.data(), h.data());
    for (std::size_t i = 0; i < 70; ++i) {
      CHECK(std::abs(g[i]) <= 1.0f);
      CHECK(h[i] >= 0.0f);
      CHECK(h[i] <= 0.25f);
    }
  }

  TEST_CASE("gradients of l2") {
    Random random(48);
    const Targets t = targets(70, 5, random);
    const std::vector<double> s = scores(70, 100.0, random);
    check_prefixes(70, [&](std::int64_t n, float* g, float* h) {
      kernels().gradients_l2(s.data(), t.label.data(), t.weight.data(), n, g, h);
    });
    std::vector<float> g(70);
    kernels().gradients_l2(s.data(), t.label.data(), nullptr, 70, g.data(), nullptr);
    for (std::size_t i = 0; i < 70; ++i) CHECK(g[i] == static_cast<float>(s[i] - static_cast<double>(t.label[i])));
  }

  TEST_CASE("gradients of softmax: relative accuracy at both ends, all tails") {
    Random random(49);
    for (const int n_classes : {2, 3, 4, 10, 31, 100}) {
      for (const double widest : {2.0, 50.0, 350.0}) {
        for (const bool weighted : {true, false}) {
          const std::int64_t n = 50;
          const std::int64_t begin = n_classes % 3, end = n - random.below(18);
          Targets t = targets(n, n_classes, random);
          std::vector<double> s = scores(n * n_classes, widest, random);
          for (std::int64_t i = 0; i < n; ++i) {
            if (i % 5 == 0) s[at(static_cast<std::int64_t>(t.label[at(i)]) * n + i)] = widest;  // right, and sure
            if (i % 5 == 1) s[at((static_cast<std::int64_t>(t.label[at(i)]) + 1) % n_classes * n + i)] = widest;
            if (i % 5 == 2) s[at(i)] = s[at(n + i)] = 0.5 * widest;  // two at the top
          }
          const auto size = n * n_classes;
          const auto out = same_at_every_level([&] {
            std::vector<float> both(at(2 * size), 77.0f);
            kernels().gradients_softmax(s.data(), n, t.label.data(), weighted ? t.weight.data() : nullptr, begin, end,
                                        n_classes, both.data(), both.data() + size, n);
            return both;
          });
          for (std::int64_t i = 0; i < n; ++i) {
            long double top = -INFINITY, sum = 0.0L;
            for (int c = 0; c < n_classes; ++c) top = std::max<long double>(top, s[at(c * n + i)]);
            for (int c = 0; c < n_classes; ++c) sum += std::exp(static_cast<long double>(s[at(c * n + i)]) - top);
            for (int c = 0; c < n_classes; ++c) {
              const auto g = static_cast<double>(out[at(c * n + i)]);
              const auto h = static_cast<double>(out[at(size + c * n + i)]);
              if (i < begin || i >= end) {
                CHECK(g == 77.0);
                CHECK(h == 77.0);
                continue;
              }
              // The share of a class, and of all others together: neither from the other.
              const long double distance = top - static_cast<long double>(s[at(c * n + i)]);
              const long double p = std::exp(-distance) / sum;
              long double rest = 0.0L;
              for (int o = 0; o < n_classes; ++o) {
                if (o != c) rest += std::exp(static_cast<long double>(s[at(o * n + i)]) - top) / sum;
              }
              const long double w = weighted ? static_cast<long double>(t.weight[at(i)]) : 1.0L;
              const bool own = t.label[at(i)] == static_cast<float>(c);
              const long double gradient = (own ? -rest : p) * w;
              const long double hessian = p * rest * w * n_classes / (n_classes - 1.0L);
              CAPTURE(n_classes);
              CAPTURE(widest);
              CAPTURE(i);
              CAPTURE(c);
              // The distance to the top is rounded to a float; below exp(-87) there is nothing but a tiny number.
              const double tolerance = 2e-6 + 1e-7 * widest * 2.0;
              const double nothing = 1e-35;
              CHECK(std::abs(g - static_cast<double>(gradient)) <=
                    tolerance * static_cast<double>(std::abs(gradient)) + nothing);
              CHECK(std::abs(h - static_cast<double>(hessian)) <= tolerance * static_cast<double>(hessian) + nothing);
            }
          }
        }
      }
    }
  }

  TEST_CASE("any number of threads gives the same bits") {
    Random random(50);
    const std::int64_t n = 20001;
    const Targets t = targets(n, 3, random);
    const std::vector<double> s = scores(3 * n, 50.0, random);
    const RowTargets row_targets{n, t.label.data(), t.weight.data()};
    const auto run = [&](int n_threads) {
      Team team(n_threads);
      std::vector<float> out(at(6 * n));
      gradients_softmax(team, row_targets, s.data(), 3, out.data(), out.data() + 3 * n);
      gradients_binary(team, row_targets, s.data(), 1.0, 1.0, 1.0, out.data(), out.data() + n);
      gradients_l2(team, row_targets, s.data(), out.data() + 2 * n, out.data() + 5 * n);
      std::vector<double> p(at(3 * n));
      softmax(team, s.data(), n, 3, p.data());
      sigmoid(team, s.data(), n, 1.0, p.data());
      for (const double x : p) out.push_back(static_cast<float>(x));
      return out;
    };
    const std::vector<float> one = run(1);
    for (const int n_threads : {2, 3, 4, 8}) CHECK(first_difference(run(n_threads), one) == -1);
  }
}

}  // namespace gossamer::tests
