#include "core/leaf_refit.h"

#include <algorithm>

namespace gossamer {
namespace {

// Sums have one order, whatever the number of threads: one thread refits a leaf, its rows in order.
double total_weight(const Residual* begin, const Residual* end) {
  double total = 0.0;
  for (const Residual* r = begin; r != end; ++r) total += r->weight;
  return total;
}

// Added by row: the search for the quantile has changed the order of the residuals.
template <class At>
double huber_step(double delta, double quantile, std::int64_t n, const At& residual) {
  double sum = 0.0;
  double total = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    const Residual r = residual(i);
    sum += r.weight * std::clamp(r.value - quantile, -delta, delta);
    total += r.weight;
  }
  return total > 0.0 ? quantile + sum / total : quantile;
}

}  // namespace

// Quickselect by weight: each step discards the side that the quantile is not in.
double weighted_quantile(std::vector<Residual>& residuals, double alpha) {
  std::erase_if(residuals, [](const Residual& r) { return !(r.weight > 0.0); });
  Residual* begin = residuals.data();
  Residual* end = begin + residuals.size();
  const double wanted = alpha * total_weight(begin, end);
  if (begin == end || !(wanted > 0.0)) return 0.0;
  const auto below = [](const Residual& a, const Residual& b) {
    return a.value != b.value ? a.value < b.value : a.weight < b.weight;
  };
  double before = 0.0;  // weight of the residuals discarded on the left
  while (end - begin > 64) {
    Residual* const middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, below);
    const double left = before + total_weight(begin, middle);
    // `middle` itself stays with the left side: the quantile may lie halfway between the sides.
    if (left >= wanted) {
      end = middle + 1;
    } else {
      before = left;
      begin = middle;
    }
  }
  std::sort(begin, end, below);
  for (Residual* r = begin; r != end; ++r) {
    before += r->weight;
    if (before < wanted) continue;
    if (before > wanted) return r->value;
    return r + 1 != end ? 0.5 * (r->value + (r + 1)->value) : r->value;
  }
  return (end - 1)->value;  // rounding left a little weight
}

double refit_leaf(const LeafRefit& refit, const RowIdx* rows, std::int64_t n_rows, std::vector<Residual>& scratch) {
  const auto residual = [&](std::int64_t i) { return residual_of(refit, rows[i]); };
  scratch.clear();
  for (std::int64_t i = 0; i < n_rows; ++i) scratch.push_back(residual(i));
  const double quantile = weighted_quantile(scratch, refit.alpha);
  return refit.delta > 0.0 ? huber_step(refit.delta, quantile, n_rows, residual) : quantile;
}

double refit_residuals(const LeafRefit& refit, const std::vector<Residual>& residuals, std::vector<Residual>& scratch) {
  scratch = residuals;
  const double quantile = weighted_quantile(scratch, refit.alpha);
  if (!(refit.delta > 0.0)) return quantile;
  return huber_step(refit.delta, quantile, static_cast<std::int64_t>(residuals.size()),
                    [&](std::int64_t i) { return residuals[static_cast<std::size_t>(i)]; });
}

}  // namespace gossamer
