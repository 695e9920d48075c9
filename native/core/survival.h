// Accelerated failure time, and how well times are ranked.
#pragma once

#include <array>
#include <cstdint>

#include "core/objectives.h"
#include "core/parallel.h"

namespace gossamer {

// A row's time lies between `label` and `upper`: they are equal if it is known, 0 or infinity if there is no such end.
// upper == nullptr: all times are known.
struct AftTargets {
  RowTargets rows;
  const float* upper = nullptr;
  int distribution = 0;  // of log(time): 0 normal, 1 logistic, 2 smallest extreme values
  double sigma = 1.0;
};

void gradients_aft(Team& team, const AftTargets& targets, const double* score, float* gradient, float* hessian);
// Weighted sum of the loss, of each row at most `most`.
double sum_aft_loss(Team& team, const AftTargets& targets, const double* score, double most);
// Weighted sums of the two derivatives if every row has the same score; nothing is clipped.
std::array<double, 2> aft_slopes(Team& team, const AftTargets& targets, double score);

// Harrell's C: among the pairs of rows of which one surely came first, the share in which that row has the higher risk;
// equal risks count half. 0.5 if there are no such pairs. O(n log n).
double concordance(const float* lower, const float* upper, const double* risk, const float* weight, std::int64_t n);

}  // namespace gossamer
