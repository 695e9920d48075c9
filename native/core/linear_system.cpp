#include "core/linear_system.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gossamer {
namespace {

// A column counts as explained by the others where no more than this share of its variance is left.
constexpr double kCollinear = 1e-8;

}  // namespace

Factor::Factor(std::vector<double> matrix, std::size_t n, double ridge) : n_(n), lower_(std::move(matrix)), kept_(n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!kept_[j]) continue;
      double sum = cell(i, j);
      for (std::size_t p = 0; p < j; ++p) sum -= kept_[p] ? cell(i, p) * cell(j, p) : 0.0;
      cell(i, j) = sum / cell(j, j);
    }
    double rest = 1.0 + ridge;
    for (std::size_t p = 0; p < i; ++p) rest -= kept_[p] ? cell(i, p) * cell(i, p) : 0.0;
    kept_[i] = rest > kCollinear;
    cell(i, i) = kept_[i] ? std::sqrt(rest) : 1.0;
  }
}

void Factor::solve_lower(double* x) const {
  for (std::size_t i = 0; i < n_; ++i) {
    if (!kept_[i]) {
      x[i] = 0.0;
      continue;
    }
    for (std::size_t p = 0; p < i; ++p) x[i] -= kept_[p] ? cell(i, p) * x[p] : 0.0;
    x[i] /= cell(i, i);
  }
}

void Factor::solve(double* x) const {
  solve_lower(x);
  for (std::size_t i = n_; i-- > 0;) {
    if (!kept_[i]) continue;
    for (std::size_t p = i + 1; p < n_; ++p) x[i] -= kept_[p] ? cell(p, i) * x[p] : 0.0;
    x[i] /= cell(i, i);
  }
}

std::vector<std::size_t> choose_terms(std::vector<double> matrix, std::vector<double> right, double ridge,
                                      double least) {
  const std::size_t n = right.size();
  std::vector<double> rest(n, 1.0 + ridge);  // of the diagonal, behind the chosen ones
  std::vector<char> is_open(n, 1);
  std::vector<std::size_t> chosen;
  while (chosen.size() < n) {
    std::size_t best = n;
    double gain = least;
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_open[i] || !(rest[i] > kCollinear)) continue;
      const double found = right[i] * right[i] / rest[i];
      if (found > gain) {
        gain = found;
        best = i;
      }
    }
    if (best == n) break;
    is_open[best] = 0;
    chosen.push_back(best);
    for (std::size_t i = 0; i < n; ++i) {
      if (!is_open[i]) continue;
      const double share = matrix[best * n + i] / rest[best];
      right[i] -= share * right[best];
      rest[i] -= share * matrix[best * n + i];
      for (std::size_t j = 0; j < n; ++j) {
        if (is_open[j] && j != i) matrix[i * n + j] -= share * matrix[best * n + j];
      }
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace gossamer
