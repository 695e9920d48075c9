// Gradients to integers: statistics, the choice of a layout, rounding.
#include <algorithm>
#include <limits>

#include "core/layout.h"
#include "support.h"

namespace gossamer::tests {
namespace {

struct Gradients {
  std::vector<float> gradient;
  std::vector<float> hessian;

  std::int64_t size() const { return static_cast<std::int64_t>(gradient.size()); }
};

Gradients random_gradients(std::int64_t n, Random& random) {
  Gradients g;
  for (std::int64_t i = 0; i < n; ++i) {
    g.gradient.push_back(static_cast<float>(random.normal()));
    g.hessian.push_back(static_cast<float>(random.unit()));
  }
  return g;
}

GradientStats stats_of(const Gradients& g, bool with_hessian) {
  GradientStats stats;
  kernels().gradient_stats(g.gradient.data(), with_hessian ? g.hessian.data() : nullptr, g.size(), 8, &stats, 1);
  return stats;
}

// Fields of the rows as quantize() wrote them, and the sums that it returned.
struct Quantized {
  std::vector<std::int64_t> gradient;
  std::vector<std::int64_t> hessian;
  Sums sums;
};

Quantized quantize(const Gradients& g, const CellLayout& layout) {
  Quantized q;
  const float* const hessian = layout.constant_hessian() ? nullptr : g.hessian.data();
  if (layout.wide) {
    std::vector<WideCell> rows(at(g.size() + 1), {77, 77});  // one more: must stay
    q.sums = kernels().quantize(g.gradient.data(), hessian, g.size(), layout, rows.data());
    CHECK(rows.back().gradient == 77);
    rows.pop_back();
    std::int64_t wrong_counts = 0;
    for (const WideCell& row : rows) {
      q.gradient.push_back(static_cast<std::int64_t>(row.gradient));
      q.hessian.push_back(static_cast<std::int64_t>(row.hessian_count >> layout.count_bits));
      wrong_counts += (row.hessian_count & ((1u << layout.count_bits) - 1)) != 1;
    }
    CHECK(wrong_counts == 0);
  } else {
    std::vector<PackedRow> rows(at(g.size() + 1), 77);
    q.sums = kernels().quantize(g.gradient.data(), hessian, g.size(), layout, rows.data());
    CHECK(rows.back() == 77);
    rows.pop_back();
    for (const PackedRow row : rows) {
      q.gradient.push_back(static_cast<std::int32_t>(row) >> layout.row_hessian_bits);
      q.hessian.push_back(row & ((1u << layout.row_hessian_bits) - 1));
    }
  }
  return q;
}

// The sums over all rows must be those that the rows' own fields add up to.
void check_sums(const Quantized& q) {
  Sums total;
  for (std::size_t i = 0; i < q.gradient.size(); ++i) total += {q.gradient[i], q.hessian[i], 1};
  CHECK(q.sums.gradient == total.gradient);
  CHECK(q.sums.hessian == total.hessian);
  CHECK(q.sums.count == total.count);
}

void check_rounding(const Gradients& g, const CellLayout& layout) {
  same_at_every_level([&] { return quantize(g, layout).gradient; });
  same_at_every_level([&] { return quantize(g, layout).hessian; });
  const Quantized q = quantize(g, layout);
  check_sums(q);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < g.size(); ++i) {
    const double scaled = static_cast<double>(g.gradient[at(i)]) / layout.gradient_unit;
    wrong += q.gradient[at(i)] != static_cast<std::int64_t>(std::nearbyint(scaled));
    if (layout.constant_hessian()) continue;
    const double h = static_cast<double>(g.hessian[at(i)]);
    wrong += q.hessian[at(i)] != static_cast<std::int64_t>(std::nearbyint(h / layout.hessian_unit));
  }
  CHECK(wrong == 0);
}

bool is_power_of_two(double x) {
  int exponent = 0;
  return std::frexp(x, &exponent) == 0.5;
}

// No sum of max_rows rows may leave its field, no sum of all rows 63 bits.
void check_capacity(const CellLayout& layout, std::int64_t n_rows) {
  const int gradient_bits = layout.wide ? 64 : 64 - layout.count_bits - layout.hessian_bits;
  CHECK(layout.max_rows < (std::int64_t{1} << layout.count_bits));
  CHECK(std::ldexp(1.0, gradient_bits - 1) >
        static_cast<double>(layout.gradient_limit) * static_cast<double>(layout.max_rows));
  if (!layout.constant_hessian()) {
    CHECK(std::ldexp(1.0, layout.hessian_bits) >
          static_cast<double>(layout.hessian_limit) * static_cast<double>(layout.max_rows));
    CHECK(is_power_of_two(layout.hessian_unit));
  }
  CHECK(static_cast<double>(layout.gradient_limit) * static_cast<double>(n_rows) <= 0x1.0p63);
  CHECK(is_power_of_two(layout.gradient_unit));
}

}  // namespace

TEST_SUITE("quantize") {
  TEST_CASE("statistics, all tails") {
    Random random(31);
    for (std::int64_t n = 1; n <= 40; ++n) {
      const Gradients g = random_gradients(n, random);
      for (const bool with_hessian : {true, false}) {
        same_at_every_level([&] {
          const GradientStats s = stats_of(g, with_hessian);
          return std::vector<double>{typical_value(s.gradient_exponents), s.max_abs_gradient,
                                     typical_value(s.hessian_exponents), s.max_hessian};
        });
        double max_g = 0.0, max_h = 0.0, min_h = 1e300;
        for (std::int64_t i = 0; i < n; ++i) {
          max_g = std::max(max_g, std::abs(static_cast<double>(g.gradient[at(i)])));
          max_h = std::max(max_h, static_cast<double>(g.hessian[at(i)]));
          min_h = std::min(min_h, static_cast<double>(g.hessian[at(i)]));
        }
        const GradientStats s = stats_of(g, with_hessian);
        CHECK(s.max_abs_gradient == max_g);
        CHECK(typical_value(s.gradient_exponents) > 0.0);
        CHECK(typical_value(s.gradient_exponents) <= 1.5 * max_g);
        if (!with_hessian) continue;
        CHECK(s.max_hessian == max_h);
        CHECK(s.min_hessian == min_h);
      }
    }
  }

  TEST_CASE("the typical size comes from a sample that is good enough") {
    Random random(39);
    const std::int64_t n = 8192;
    const Gradients g = random_gradients(n, random);
    double root_g = 0.0, root_h = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
      root_g += std::sqrt(std::abs(static_cast<double>(g.gradient[at(i)]))) / static_cast<double>(n);
      root_h += std::sqrt(static_cast<double>(g.hessian[at(i)])) / static_cast<double>(n);
    }
    const GradientStats s = stats_of(g, true);
    CHECK(std::sqrt(typical_value(s.gradient_exponents)) == doctest::Approx(root_g).epsilon(0.05));
    CHECK(std::sqrt(typical_value(s.hessian_exponents)) == doctest::Approx(root_h).epsilon(0.05));
  }

  TEST_CASE("statistics do not depend on the order of the rows, nor on how they are shared out") {
    Random random(40);
    Gradients g = random_gradients(1000, random);
    GradientStats all;
    kernels().gradient_stats(g.gradient.data(), g.hessian.data(), 1000, 1, &all, 1);
    GradientStats parts[2];
    kernels().gradient_stats(g.gradient.data(), g.hessian.data(), 333, 1, &parts[0], 1);
    kernels().gradient_stats(g.gradient.data() + 333, g.hessian.data() + 333, 667, 1, &parts[1], 1);
    add_stats(parts[0], parts[1]);
    std::reverse(g.gradient.begin(), g.gradient.end());
    std::reverse(g.hessian.begin(), g.hessian.end());
    GradientStats reversed[4];
    kernels().gradient_stats(g.gradient.data(), g.hessian.data(), 1000, 1, reversed, 4);
    for (int i = 1; i < 4; ++i) add_stats(reversed[i], reversed[0]);
    for (const GradientStats& other : {parts[1], reversed[0]}) {
      for (int e = 0; e < 256; ++e) {
        CHECK(other.gradient_exponents[e] == all.gradient_exponents[e]);
        CHECK(other.hessian_exponents[e] == all.hessian_exponents[e]);
      }
      CHECK(other.max_abs_gradient == all.max_abs_gradient);
      CHECK(other.max_hessian == all.max_hessian);
      CHECK(other.min_hessian == all.min_hessian);
    }
  }

  TEST_CASE("rounding, all tails and forms") {
    Random random(32);
    for (std::int64_t n = 0; n <= 40; ++n) {
      const Gradients g = random_gradients(n, random);
      for (const Form form : kForms) {
        CellLayout layout = layout_of(form);
        layout.gradient_unit =
            std::ldexp(8.0, -static_cast<int>(std::log2(static_cast<double>(layout.gradient_limit))));
        layout.hessian_unit = form == Form::wide ? 0x1.0p-23 : 0x1.0p-10;
        check_rounding(g, layout);
      }
    }
  }

  // Packed rows are rounded in single precision where the units allow it.
  TEST_CASE("rows beyond the limits, ties and tiny values are rounded as in double precision") {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    for (const double unit : {0x1.0p-10, 0x1.0p-119, 0x1.0p-121, 0x1.0p119, 0x1.0p121}) {
      CellLayout layout = layout_of(Form::packed);
      layout.gradient_unit = layout.hessian_unit = unit;
      Gradients g;
      for (int copies = 0; copies < 5; ++copies) {
        for (const float x : {0.0f, 0.5f, 1.5f, 2.5f, 0.49999997f, 1e-30f, 8190.5f, 8191.5f, 8192.5f, 1e9f, 1e30f}) {
          for (const float sign : {1.0f, -1.0f}) {
            g.gradient.push_back(sign * static_cast<float>(x * unit));
            g.hessian.push_back(static_cast<float>(x * unit));
          }
        }
        for (const float x : {kNaN, kInfinity, -kInfinity, 1e-45f, 1e-38f, 3e38f}) {
          g.gradient.push_back(x);
          g.hessian.push_back(x < 0.0f ? -x : x);
        }
      }
      at_every_level([&] {
        const Quantized q = quantize(g, layout);
        check_sums(q);
        const auto rounded = [unit](float x, std::int64_t least, std::int64_t most) {
          double scaled = static_cast<double>(x) / unit;
          scaled = scaled < static_cast<double>(most) ? scaled : static_cast<double>(most);  // NaN, too
          return std::max(static_cast<std::int64_t>(std::nearbyint(scaled)), least);
        };
        std::int64_t wrong = 0;
        for (std::size_t i = 0; i < g.gradient.size(); ++i) {
          wrong += q.gradient[i] != rounded(g.gradient[i], -layout.gradient_limit, layout.gradient_limit);
          wrong += q.hessian[i] != rounded(g.hessian[i], 0, layout.hessian_limit);
        }
        CHECK(wrong == 0);
      });
    }
  }

  TEST_CASE("chosen layouts hold their sums and round to half a step") {
    Random random(33);
    for (const std::int64_t n : {1, 100, 5000}) {
      for (const bool with_hessian : {true, false}) {
        for (const double tail : {0.0, 1.0, 4.0}) {  // log-normal spread of the gradients
          Gradients g = random_gradients(n, random);
          for (float& x : g.gradient) x *= static_cast<float>(std::exp(tail * random.normal()));
          const CellLayout layout = choose_layout(stats_of(g, with_hessian), n, with_hessian);
          CAPTURE(n);
          CAPTURE(with_hessian);
          CAPTURE(tail);
          check_capacity(layout, n);
          check_rounding(g, layout);
        }
      }
    }
  }

  TEST_CASE("capacity for very many rows") {
    Random random(34);
    const Gradients g = random_gradients(1000, random);
    GradientStats stats = stats_of(g, true);
    for (const std::int64_t n : {std::int64_t{1} << 20, std::int64_t{1} << 31, (std::int64_t{1} << 32) - 2}) {
      stats.gradient_exponents[0] = n;  // a few outliers, the rest nothing
      check_capacity(choose_layout(stats, n, true), n);
      check_capacity(choose_layout(stats, n, false), n);
      stats.gradient_exponents[0] = 0;
      check_capacity(choose_layout(stats, n, true), n);
    }
  }

  TEST_CASE("equal hessians need no field of their own") {
    Random random(35);
    Gradients g = random_gradients(100, random);
    std::fill(g.hessian.begin(), g.hessian.end(), 0.75f);
    const CellLayout layout = choose_layout(stats_of(g, true), 100, true);
    CHECK(layout.constant_hessian());
    CHECK(layout.hessian_unit == 0.75);
    CHECK(choose_layout(stats_of(g, false), 100, false).constant_hessian());
    CHECK(choose_layout(stats_of(g, false), 100, false).hessian_unit == 1.0);
  }

  // One row has the largest gradient or hessian, all others the typical one.
  TEST_CASE("the further the largest value is from the typical one, the more bits rows get") {
    const auto layout_for = [](float gradient, float hessian) {
      Gradients g;
      g.gradient.assign(10000, 1.5f);
      g.hessian.assign(10000, 1.5f);
      g.gradient[0] = gradient;
      g.hessian[0] = hessian;
      const CellLayout layout = choose_layout(stats_of(g, true), g.size(), true);
      check_capacity(layout, g.size());
      check_rounding(g, layout);
      return layout;
    };
    const auto count_bits = [&](float gradient, float hessian) {
      const CellLayout layout = layout_for(1.5f * gradient, 1.5f * hessian);
      CHECK(layout.gradient_limit == std::int64_t{1} << (layout.wide ? 43 : 26 - layout.count_bits));
      // Typical values keep 16 steps or more.
      CHECK(1.5 / layout.gradient_unit >= 16.0);
      CHECK(1.5 / layout.hessian_unit >= 16.0);
      return layout.count_bits;
    };
    CHECK(count_bits(250.0f, 60.0f) == 13);
    CHECK(count_bits(500.0f, 60.0f) == 12);
    CHECK(count_bits(250.0f, 68.0f) == 12);
    CHECK(count_bits(500.0f, 250.0f) == 12);
    CHECK(count_bits(1000.0f, 2.0f) == 11);
    CHECK(count_bits(1.0f, 1000.0f) == 11);
    CHECK(count_bits(1100.0f, 2.0f) == 20);
    CHECK(count_bits(1.0f, 1100.0f) == 20);
  }

  TEST_CASE("outliers make the layout wide, and small gradients survive") {
    Random random(36);
    for (const bool with_hessian : {true, false}) {
      Gradients g = random_gradients(2000, random);
      g.gradient[77] = 1e9f;
      const CellLayout layout = choose_layout(stats_of(g, with_hessian), 2000, with_hessian);
      CHECK(layout.wide);
      CHECK(layout.gradient_unit < 1e-3);
      check_rounding(g, layout);
    }
  }

  TEST_CASE("halves and small integers are exact") {
    Gradients g;
    for (int i = -50; i <= 50; ++i) {
      g.gradient.push_back(0.5f * static_cast<float>(i));
      g.hessian.push_back(1.0f);
    }
    for (const bool with_hessian : {true, false}) {
      const CellLayout layout = choose_layout(stats_of(g, with_hessian), g.size(), with_hessian);
      const Quantized q = quantize(g, layout);
      for (std::int64_t i = 0; i < g.size(); ++i) {
        CHECK(static_cast<double>(q.gradient[at(i)]) * layout.gradient_unit == static_cast<double>(g.gradient[at(i)]));
      }
    }
  }

  // Rounded up, rows of next to no weight would together pass min_sum_hessian_in_leaf.
  TEST_CASE("hessians round to the nearest, also to zero") {
    Gradients g;
    for (int i = 0; i < 20; ++i) {
      g.gradient.push_back(1.0f);
      g.hessian.push_back(i == 0 ? 0.0f : i == 1 ? 1.0f : 1e-30f);
    }
    for (const Form form : {Form::packed, Form::packed_fine, Form::wide}) {
      CellLayout layout = layout_of(form);
      layout.gradient_unit = 0x1.0p-10;
      layout.hessian_unit = 0x1.0p-10;
      const Quantized q = quantize(g, layout);
      CHECK(q.hessian[0] == 0);
      CHECK(q.hessian[1] == 1024);
      CHECK(q.hessian[2] == 0);
    }
  }

  TEST_CASE("all zero, tiny and huge gradients") {
    for (const float scale : {0.0f, 1e-45f, 1e-38f, 1e38f}) {
      Gradients g;
      for (int i = 0; i < 30; ++i) {
        g.gradient.push_back(scale * (i % 2 == 0 ? 1.0f : -1.0f));
        g.hessian.push_back(scale * (i % 3 == 0 ? 1.0f : 0.5f));
      }
      for (const bool with_hessian : {true, false}) {
        const CellLayout layout = choose_layout(stats_of(g, with_hessian), g.size(), with_hessian);
        CAPTURE(scale);
        CHECK(std::isfinite(layout.gradient_unit));
        CHECK(layout.gradient_unit > 0.0);
        CHECK(std::isfinite(layout.hessian_unit));
        CHECK(layout.hessian_unit > 0.0);
        const Quantized q = quantize(g, layout);
        check_sums(q);
        const double back = static_cast<double>(q.gradient[0]) * layout.gradient_unit;
        CHECK(back == doctest::Approx(static_cast<double>(scale)).epsilon(1e-3));
      }
    }
  }

  // The Python side refuses such gradients. Should one get here all the same, the sums of the root
  // and of the cells must agree, or right = total - left would be wrong everywhere.
  TEST_CASE("gradients that are not finite leave root and cells in agreement") {
    Random random(37);
    for (const Form form : kForms) {
      CellLayout layout = layout_of(form);
      layout.gradient_unit = 0x1.0p-8;
      layout.hessian_unit = 0x1.0p-8;
      Gradients g = random_gradients(100, random);
      g.gradient[3] = NAN;
      g.gradient[98] = NAN;
      g.gradient[50] = -INFINITY;
      g.gradient[99] = INFINITY;
      check_sums(quantize(g, layout));
    }
  }
}

}  // namespace gossamer::tests
