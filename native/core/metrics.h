// Metrics that run every round. Sums go block by block in a fixed order: the value does not depend
// on the number of threads.
#pragma once

#include <cstdint>

#include "core/objectives.h"
#include "core/parallel.h"

namespace gossamer {

// Weighted sums over rows; the caller divides by the sum of weights.
double sum_squared_error(Team& team, const RowTargets& targets, const double* score);
double sum_absolute_error(Team& team, const RowTargets& targets, const double* score);
double sum_logloss(Team& team, const RowTargets& targets, const double* score, double sigmoid);
// Scores above the threshold mean a positive label.
double sum_binary_error(Team& team, const RowTargets& targets, const double* score, double threshold);
double sum_multi_logloss(Team& team, const RowTargets& targets, const double* score, int n_classes);
// A row is wrong when top_k classes other than its own score at least as much (LightGBM's rule for ties).
double sum_multi_error(Team& team, const RowTargets& targets, const double* score, int n_classes, int top_k);

}  // namespace gossamer
