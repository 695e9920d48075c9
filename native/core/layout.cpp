#include "core/layout.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gossamer {
namespace {

// Smallest power of two u with value / u <= limit.
double power_of_two_unit(double value, std::int64_t limit) {
  if (!(value > 0.0)) return 1.0;
  int exponent = 0;
  const double mantissa = std::frexp(value / static_cast<double>(limit), &exponent);
  const int power = mantissa == 0.5 ? exponent - 1 : exponent;
  return std::ldexp(1.0, std::max(power, -1000));
}

std::int64_t power(int bits) { return std::int64_t{1} << bits; }

}  // namespace

// A typical magnitude: the square of the mean root, so that a few outliers count for little. All values of an octave
// count as its middle.
double typical_value(const std::int64_t (&exponents)[256]) {
  double sum_of_roots = 0.0;
  std::int64_t n = exponents[0];
  for (int e = 1; e < 256; ++e) {
    n += exponents[e];
    if (exponents[e] > 0) sum_of_roots += static_cast<double>(exponents[e]) * std::sqrt(std::ldexp(1.5, e - 127));
  }
  const double mean = sum_of_roots / static_cast<double>(std::max<std::int64_t>(n, 1));
  return std::max(mean * mean, 1e-300);
}

void add_stats(const GradientStats& part, GradientStats& total) {
  for (int e = 0; e < 256; ++e) {
    total.gradient_exponents[e] += part.gradient_exponents[e];
    total.hessian_exponents[e] += part.hessian_exponents[e];
  }
  total.max_abs_gradient = std::max(total.max_abs_gradient, part.max_abs_gradient);
  total.max_hessian = std::max(total.max_hessian, part.max_hessian);
  total.min_hessian = std::min(total.min_hessian, part.min_hessian);
}

// Packed cells (64 bits):
//   varying hessian    count 13 | hessian 24 (11 + 13) | gradient 27 (1 + 13 + 13)
//   constant hessian   count 16 |                        gradient 48 (1 + 31 + 16)
// Wide cells (128 bits):   count 20 | hessian 44 (23 + 20 + 1 spare);   gradient 64
//
// Packed fields are fine while typical values keep enough steps; where the largest value dwarfs
// them, small gradients would vanish and the wide form is used.
CellLayout choose_layout(const GradientStats& stats, std::int64_t n_rows, bool hessian_given, bool fine) {
  const double gradient_spread = stats.max_abs_gradient / typical_value(stats.gradient_exponents);
  const double hessian_spread = stats.max_hessian / typical_value(stats.hessian_exponents);
  const bool constant = !hessian_given || stats.min_hessian == stats.max_hessian;

  CellLayout layout;
  const double widest_packed_gradient = constant ? 0x1.0p18 : 0x1.0p8;
  layout.wide = fine || gradient_spread > widest_packed_gradient || (!constant && hessian_spread > 64.0);
  if (layout.wide) {
    // Sums over all rows must fit 63 bits.
    const auto row_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n_rows)));
    layout.count_bits = 20;
    layout.hessian_bits = constant ? 0 : 44;
    layout.max_rows = power(20) - 1;
    const int gradient_bits = fine && gradient_spread < 0x1.0p10 ? 30 : 43;
    layout.gradient_limit = power(std::min(gradient_bits, 62 - row_bits));
    layout.hessian_limit = power(23);
  } else if (constant) {
    layout.count_bits = 16;
    layout.max_rows = power(16) - 1;
    layout.gradient_limit = power(30);
  } else {
    layout.count_bits = 13;
    layout.row_hessian_bits = 11;
    layout.hessian_bits = 24;
    layout.max_rows = power(13) - 1;
    layout.gradient_limit = power(13);
    layout.hessian_limit = power(11) - 1;
  }
  layout.gradient_unit = power_of_two_unit(stats.max_abs_gradient, layout.gradient_limit);
  if (constant) {
    layout.hessian_unit = hessian_given ? stats.max_hessian : 1.0;
    if (!(layout.hessian_unit > 0.0)) layout.hessian_unit = 1e-300;  // all zero: no leaf has weight
  } else {
    layout.hessian_unit = power_of_two_unit(stats.max_hessian, layout.hessian_limit);
  }
  return layout;
}

}  // namespace gossamer
