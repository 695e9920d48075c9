// The built-in objectives over all rows, in parallel. Label and weight are float, scores double.
#pragma once

#include <cstdint>

#include "core/parallel.h"

namespace gossamer {

struct RowTargets {
  std::int64_t n_rows = 0;
  const float* label = nullptr;
  const float* weight = nullptr;  // nullptr: all 1
};

// Without weights the hessian is 1 throughout and `hessian` is not written.
void gradients_l2(Team& team, const RowTargets& targets, const double* score, float* gradient, float* hessian);
void gradients_binary(Team& team, const RowTargets& targets, const double* score, double sigmoid,
                      double weight_negative, double weight_positive, float* gradient, float* hessian);
// Scores and results are class-major: class c of row i at [c * n_rows + i].
void gradients_softmax(Team& team, const RowTargets& targets, const double* score, int n_classes, float* gradient,
                       float* hessian);

void sigmoid(Team& team, const double* score, std::int64_t n, double steepness, double* out);
// Converts class-major scores to row-major probabilities.
void softmax(Team& team, const double* score, std::int64_t n_rows, int n_classes, double* out);

}  // namespace gossamer
