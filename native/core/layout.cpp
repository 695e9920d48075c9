#include "core/layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gossamer {
namespace {

using std::frexp;
using std::int64_t;
using std::ldexp;
using std::sqrt;

#include "kernels/layout.inl"

}  // namespace

double typical_value(const std::int64_t (&exponents)[256]) {
  // As root_term, with roots that are computed once.
  static const std::array<double, 256> roots = [] {
    std::array<double, 256> one{};
    for (int e = 0; e < 256; ++e) one[static_cast<std::size_t>(e)] = root_term(1, e);
    return one;
  }();
  double terms[256];
  int n_terms = 0;
  std::int64_t n = 0;
  for (std::size_t first = 0; first < 256; first += 8) {  // most octaves are empty
    std::int64_t any = 0;
    for (std::size_t e = first; e < first + 8; ++e) any |= exponents[e];
    for (std::size_t e = first; any != 0 && e < first + 8; ++e) {
      if (exponents[e] == 0) continue;
      terms[n_terms++] = static_cast<double>(exponents[e]) * roots[e];
      n += exponents[e];
    }
  }
  return typical_of_terms(terms, n_terms, n);
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

CellLayout choose_layout(const GradientStats& stats, std::int64_t n_rows, bool hessian_given, bool fine) {
  const GradientScale scale{typical_value(stats.gradient_exponents), typical_value(stats.hessian_exponents),
                            stats.max_abs_gradient, stats.max_hessian, stats.min_hessian};
  return layout_of(scale, n_rows, hessian_given, fine);
}

SplitRules scale_rules(const SplitRules& given, const CellLayout& layout) { return rules_in_units(given, layout); }

}  // namespace gossamer
