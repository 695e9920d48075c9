// Losses of one score and one label per row, and links, over all rows in parallel.
#pragma once

#include "core/objectives.h"
#include "core/parallel.h"
#include "kernels/loss.h"

namespace gossamer {

// `hessian` may be nullptr: not wanted. The loss must have derivatives.
void gradients_of(Team& team, const RowTargets& targets, const LossArgs& loss, const double* score, float* gradient,
                  float* hessian);

// Weighted sum over rows, block by block in a fixed order.
double sum_loss(Team& team, const RowTargets& targets, const LossArgs& loss, const double* score);

void apply_link(Team& team, Link link, const double* score, std::int64_t n, double* out);

}  // namespace gossamer
