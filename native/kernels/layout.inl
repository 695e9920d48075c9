// How real gradients become integers in one round, from counts and extremes that do not depend on the order of rows.
// Written without the standard library, so that NVRTC can compile it; the functions of C's math library that it calls
// are exact, or rounded as IEEE says.

// Smallest power of two u with value / u <= limit.
inline double power_of_two_unit(double value, int64_t limit) {
  if (!(value > 0.0)) return 1.0;
  int exponent = 0;
  const double mantissa = frexp(value / static_cast<double>(limit), &exponent);
  const int power = mantissa == 0.5 ? exponent - 1 : exponent;
  return ldexp(1.0, power > -1000 ? power : -1000);
}

inline int64_t two_to(int bits) { return int64_t{1} << bits; }

// Bits that a number needs.
inline int bit_count(int64_t n) {
  int bits = 0;
  for (; n > 0; n >>= 1) ++bits;
  return bits;
}

// The part of values with one exponent in the sum of roots. All values of an octave count as its middle.
inline double root_term(int64_t count, int exponent) {
  return exponent > 0 && count > 0 ? static_cast<double>(count) * sqrt(ldexp(1.5, exponent - 127)) : 0.0;
}

// A typical magnitude: the square of the mean root, so that a few outliers count for little. `terms` are those of the
// exponents, where those that no value has may be left out; `n` values were counted, zeros among them.
inline double typical_of_terms(const double* terms, int n_terms, int64_t n) {
  double sum_of_roots = 0.0;
  for (int i = 0; i < n_terms; ++i) sum_of_roots += terms[i];
  const double mean = sum_of_roots / static_cast<double>(n > 1 ? n : 1);
  return mean * mean > 1e-300 ? mean * mean : 1e-300;
}

// What the layout depends on.
struct GradientScale {
  double typical_gradient;
  double typical_hessian;
  double max_abs_gradient;
  double max_hessian;
  double min_hessian;
};

// Packed cells (64 bits):
//   varying hessian    count 13 | hessian 24 (11 + 13) | gradient 27 (1 + 13 + 13)
//                      count 12 | hessian 25 (13 + 12) | gradient 27 (1 + 14 + 12)
//                      count 11 | hessian 26 (15 + 11) | gradient 27 (1 + 15 + 11)
//   constant hessian   count 16 |                        gradient 48 (1 + 31 + 16)
// Wide cells (128 bits):   count 20 | hessian 44 (23 + 20 + 1 spare);   gradient 64
//
// Typical values must keep 16 steps at least: where the largest value dwarfs them, small gradients would vanish. A
// count of fewer bits leaves more of them to gradients and hessians, but cells must be emptied more often. Where that
// is not enough, cells are wide, which takes half as long again.
constexpr int kMostExtraBits = 2;

// Bits that gradients get beyond 13, and half of those that hessians get beyond 11; more than kMostExtraBits: no packed
// cell is fine enough.
inline int extra_bits(double gradient_spread, double hessian_spread) {
  int extra = 0;
  while (extra <= kMostExtraBits &&
         (gradient_spread > ldexp(1.0, 8 + extra) || hessian_spread > ldexp(1.0, 6 + 2 * extra))) {
    ++extra;
  }
  return extra;
}

inline CellLayout layout_of(const GradientScale& stats, int64_t n_rows, bool hessian_given, bool fine) {
  const double gradient_spread = stats.max_abs_gradient / stats.typical_gradient;
  const double hessian_spread = stats.max_hessian / stats.typical_hessian;
  const bool constant = !hessian_given || stats.min_hessian == stats.max_hessian;

  CellLayout layout;
  const int extra = constant ? 0 : extra_bits(gradient_spread, hessian_spread);
  layout.wide = fine || (constant ? gradient_spread > 0x1.0p18 : extra > kMostExtraBits);
  if (layout.wide) {
    // Sums over all rows must fit 63 bits.
    const int most_bits = 62 - bit_count(n_rows);
    const int gradient_bits = fine && gradient_spread < 0x1.0p10 ? 30 : 43;
    layout.count_bits = 20;
    layout.hessian_bits = constant ? 0 : 44;
    layout.max_rows = two_to(20) - 1;
    layout.gradient_limit = two_to(gradient_bits < most_bits ? gradient_bits : most_bits);
    layout.hessian_limit = two_to(23);
  } else if (constant) {
    layout.count_bits = 16;
    layout.max_rows = two_to(16) - 1;
    layout.gradient_limit = two_to(30);
  } else {
    layout.count_bits = 13 - extra;
    layout.row_hessian_bits = 11 + 2 * extra;
    layout.hessian_bits = layout.row_hessian_bits + layout.count_bits;
    layout.max_rows = two_to(layout.count_bits) - 1;
    layout.gradient_limit = two_to(13 + extra);
    layout.hessian_limit = two_to(layout.row_hessian_bits) - 1;
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

// The rules in units of the layout: gradients count in gradient_unit, hessians in hessian_unit, leaf values in their
// ratio.
inline SplitRules rules_in_units(const SplitRules& given, const CellLayout& layout) {
  SplitRules rules = given;
  rules.lambda_l1 = given.lambda_l1 / layout.gradient_unit;
  rules.lambda_l2 = given.lambda_l2 / layout.hessian_unit;
  rules.min_sum_hessian = given.min_sum_hessian / layout.hessian_unit;
  rules.cat_l2 = given.cat_l2 / layout.hessian_unit;
  rules.cat_smooth = given.cat_smooth / layout.hessian_unit;
  rules.max_delta_step = given.max_delta_step * layout.hessian_unit / layout.gradient_unit;
  rules.min_data = given.min_data > 1.0 ? given.min_data : 1.0;
  return rules;
}
