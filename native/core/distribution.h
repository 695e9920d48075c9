// Objectives whose several outputs describe one label: a normal distribution, quantiles.
#pragma once

#include <cstdint>

#include "core/objectives.h"
#include "core/parallel.h"

namespace gossamer {

// Scores and results are class-major: means, then logarithms of standard deviations (not below `floor`).
// Derivatives by the mean are multiplied by scale^2.
void gradients_normal(Team& team, const RowTargets& targets, const double* score, double floor, double scale,
                      float* gradient, float* hessian);
double sum_normal_loss(Team& team, const RowTargets& targets, const double* score, double floor);
// Continuous ranked probability score.
double sum_normal_crps(Team& team, const RowTargets& targets, const double* score, double floor);

// Pinball losses, class-major, one output per quantile. Without weights no hessian is written: it is 1.
void gradients_quantiles(Team& team, const RowTargets& targets, const double* score, const double* alphas,
                         int n_quantiles, float* gradient, float* hessian);
// Converts class-major scores to rows of increasing values.
void sort_outputs(Team& team, const double* score, std::int64_t n_rows, int n_outputs, double* out);

void exp_scores(Team& team, const double* score, std::int64_t n, double* out);

}  // namespace gossamer
