// Losses of one score and one label: the same bits everywhere, finite everywhere, accurate links.
#include <algorithm>

#include "core/pointwise.h"
#include "support.h"

namespace gossamer::tests {
namespace {

struct Case {
  LossArgs args;
  int kind_of_label;  // 0: any number, 1: positive, 2: zero or one, 3: from 0 to 1
};

std::vector<Case> losses() {
  return {{{Loss::l1}, 0},
          {{Loss::huber, 0.9}, 0},
          {{Loss::fair, 1.5}, 0},
          {{Loss::quantile, 0.3}, 0},
          {{Loss::mape}, 0},
          {{Loss::pseudo_huber, 0.7}, 0},
          {{Loss::log_cosh}, 0},
          {{Loss::expectile, 0.8}, 0},
          {{Loss::poisson, 2.0}, 1},
          {{Loss::gamma}, 1},
          {{Loss::tweedie, 1.3}, 1},
          {{Loss::hinge}, 2},
          {{Loss::focal, 2.0, 0.75, 0.25}, 2},
          {{Loss::cross_entropy}, 3},
          {{Loss::cross_entropy_lambda}, 3},
          {{Loss::poisson_deviance, 0.0, 1.0, 1e-16}, 1},
          {{Loss::gamma_likelihood}, 1},
          {{Loss::gamma_deviance}, 1},
          {{Loss::tweedie_likelihood, 1.5}, 1},
          {{Loss::squared_log}, 1},
          {{Loss::probability, 1e-12}, 3},
          {{Loss::intensity, 1e-12}, 3}};
}

struct ManyRows {
  std::vector<double> score;
  std::vector<float> label;
  std::vector<float> weight;
  std::int64_t n() const { return static_cast<std::int64_t>(score.size()); }
};

ManyRows make_rows(const Case& c, std::int64_t n, double widest, Random& random) {
  ManyRows rows;
  const bool of_predictions = !has_derivatives(c.args.kind);
  for (std::int64_t i = 0; i < n; ++i) {
    const double s = i % 2 == 0 ? random.normal() : random.between(-widest, widest);
    rows.score.push_back(!of_predictions ? s : c.kind_of_label == 3 ? random.unit() : std::abs(s));
    const double y = c.kind_of_label == 0   ? 3.0 * random.normal()
                     : c.kind_of_label == 1 ? std::exp(random.normal())
                     : c.kind_of_label == 2 ? static_cast<double>(random.below(2))
                                            : random.unit();
    rows.label.push_back(static_cast<float>(y));
    rows.weight.push_back(static_cast<float>(random.between(0.1, 3.0)));
  }
  return rows;
}

double relative_error(double got, long double expected) {
  return static_cast<double>(std::abs(static_cast<long double>(got) - expected) /
                             std::max(std::abs(expected), 1e-300L));
}

}  // namespace

TEST_SUITE("pointwise") {
  TEST_CASE("all levels, all tails, nothing behind the end") {
    Random random(101);
    for (const Case& c : losses()) {
      CAPTURE(static_cast<int>(c.args.kind));
      const ManyRows rows = make_rows(c, 40, 20.0, random);
      for (const bool weighted : {false, true}) {
        const float* const w = weighted ? rows.weight.data() : nullptr;
        const auto run = [&](std::int64_t n) {
          std::vector<float> out(80, -99.0f);
          kernels().gradients_of(c.args, rows.score.data(), rows.label.data(), w, n, out.data(), out.data() + 40);
          return out;
        };
        const std::vector<float> all = same_at_every_level([&] { return run(40); });
        at_every_level([&] {
          for (std::int64_t n = 0; n <= 40; ++n) {
            std::vector<float> expected = all;
            for (std::int64_t i = n; i < 40; ++i) expected[at(i)] = expected[at(40 + i)] = -99.0f;
            CHECK(first_difference(run(n), expected) == -1);
          }
        });
        std::vector<float> gradient(40);  // without hessians the gradients are the same
        kernels().gradients_of(c.args, rows.score.data(), rows.label.data(), w, 40, gradient.data(), nullptr);
        if (has_derivatives(c.args.kind)) {
          CHECK(first_difference(gradient, std::vector<float>(all.begin(), all.begin() + 40)) == -1);
        }
        for (std::int64_t n = 0; n <= 40; ++n) {
          const auto sum = same_at_every_level([&] {
            return std::vector<double>{kernels().sum_loss(c.args, rows.score.data(), rows.label.data(), w, n)};
          });
          double expected = 0.0;
          for (std::int64_t i = 0; i < n; ++i) {
            const float* const own = weighted ? w + i : nullptr;
            expected += kernels().sum_loss(c.args, rows.score.data() + i, rows.label.data() + i, own, 1);
          }
          CHECK(sum[0] == doctest::Approx(expected).epsilon(1e-12));
        }
      }
    }
  }

  TEST_CASE("any number of threads gives the same bits") {
    Random random(102);
    for (const Case& c : losses()) {
      const ManyRows rows = make_rows(c, 20001, 20.0, random);
      const RowTargets targets{rows.n(), rows.label.data(), rows.weight.data()};
      const auto run = [&](int n_threads) {
        Team team(n_threads);
        std::vector<double> out;
        std::vector<float> both(at(2 * rows.n()));
        gradients_of(team, targets, c.args, rows.score.data(), both.data(), both.data() + rows.n());
        for (const float x : both) out.push_back(static_cast<double>(x));
        out.push_back(sum_loss(team, targets, c.args, rows.score.data()));
        return out;
      };
      const auto one = run(1);
      for (const int n_threads : {2, 3, 8}) CHECK(first_difference(run(n_threads), one) == -1);
    }
  }

  TEST_CASE("extreme scores and labels give finite derivatives") {
    for (const Case& c : losses()) {
      if (!has_derivatives(c.args.kind)) continue;
      CAPTURE(static_cast<int>(c.args.kind));
      const std::vector<float> labels = c.kind_of_label == 0   ? std::vector<float>{-3e38f, -1.0f, 0.0f, 1.0f, 3e38f}
                                        : c.kind_of_label == 1 ? std::vector<float>{1e-38f, 1.0f, 3e38f}
                                                               : std::vector<float>{0.0f, 1.0f};
      for (const double s : {-1e300, -1e38, -800.0, -30.0, 0.0, 30.0, 800.0, 1e38, 1e300}) {
        for (const float y : labels) {
          for (const float w : {1e-30f, 1.0f, 1e30f}) {
            float g = NAN, h = NAN;
            kernels().gradients_of(c.args, &s, &y, &w, 1, &g, &h);
            CAPTURE(s);
            CAPTURE(y);
            CAPTURE(w);
            CHECK(std::isfinite(g));
            CHECK(std::isfinite(h));
            CHECK(h >= 0.0f);
          }
        }
      }
    }
  }

  TEST_CASE("links are accurate and the same at every level") {
    Random random(103);
    std::vector<double> s;
    for (int i = 0; i < 4001; ++i) {
      s.push_back(i % 3 == 0 ? random.between(-600.0, 600.0) : i % 3 == 1 ? random.normal() : 1e-9 * random.normal());
    }
    const auto run = [&](Link link) {
      return same_at_every_level([&] {
        std::vector<double> out(s.size());
        kernels().apply_link(link, s.data(), static_cast<std::int64_t>(s.size()), out.data());
        return out;
      });
    };
    const auto exponential = run(Link::exp), minus_one = run(Link::expm1), square = run(Link::signed_square),
               softplus = run(Link::log1p_exp);
    double worst = 0.0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      const auto x = static_cast<long double>(s[i]);
      worst = std::max(worst, relative_error(exponential[i], std::exp(x)));
      worst = std::max(worst, relative_error(minus_one[i], std::expm1(x)));
      worst = std::max(worst,
                       relative_error(softplus[i], x > 0.0L ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x))));
      CHECK(square[i] == std::copysign(s[i] * s[i], s[i]));
    }
    CHECK(worst < 2e-15);
  }

  TEST_CASE("log(y!) of the Poisson likelihood") {
    double worst = 0.0;
    for (double y = 0.0; y < 300.0; y += 0.37) {
      const auto label = static_cast<float>(y);
      const double prediction = 1.0;  // log(1) = 0
      const double got = kernels().sum_loss({Loss::poisson_deviance, 0.0, 1.0, 1e-16}, &prediction, &label, nullptr, 1);
      const long double expected = 1.0L + std::lgamma(static_cast<long double>(label) + 1.0L);
      worst = std::max(worst, relative_error(got, expected));
    }
    CHECK(worst < 1e-13);
  }
}

}  // namespace gossamer::tests
