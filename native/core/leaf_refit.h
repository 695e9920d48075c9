// Leaf values from the residuals of a leaf's rows: weighted quantiles, for losses whose Newton step
// is not useful (the hessian of an absolute error is not a curvature).
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.h"

namespace gossamer {

struct LeafRefit {
  const float* label = nullptr;   // by row; nullptr: leaf values stay as they are
  const float* weight = nullptr;  // by row; nullptr: all 1
  const double* score = nullptr;  // by row, without the tree
  double alpha = 0.5;
  double delta = 0.0;  // above 0: Huber's loss, see below
};

struct Residual {
  double value;
  double weight;
};

// The smallest residual that at least a share `alpha` of the weight does not exceed; halfway to the
// next residual if the share is met exactly. 0 without rows or weight. `residuals` are reordered.
double weighted_quantile(std::vector<Residual>& residuals, double alpha);

// How far a row's label is from its score, and the row's weight.
inline Residual residual_of(const LeafRefit& refit, RowIdx row) {
  const double weight = refit.weight != nullptr ? static_cast<double>(refit.weight[row]) : 1.0;
  return {static_cast<double>(refit.label[row]) - refit.score[row], weight};
}

// The value of a leaf with these rows. With `delta`, one step from the quantile towards the minimum of
// Huber's loss: plus the mean of the residuals from there, each cut off at `delta`.
double refit_leaf(const LeafRefit& refit, const RowIdx* rows, std::int64_t n_rows, std::vector<Residual>& scratch);
// The same from the residuals.
double refit_residuals(const LeafRefit& refit, const std::vector<Residual>& residuals, std::vector<Residual>& scratch);

}  // namespace gossamer
