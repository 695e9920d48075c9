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
double sum_binary_error(Team& team, const RowTargets& targets, const double* score);
double sum_multi_logloss(Team& team, const RowTargets& targets, const double* score, int n_classes);
// A row is right when its class is among the top_k scores (ties count as right, as in LightGBM).
double sum_multi_error(Team& team, const RowTargets& targets, const double* score, int n_classes, int top_k);

// Area under the ROC curve; ties count half. 1 when only one class is present.
double auc(const RowTargets& targets, const double* score);

}  // namespace gossamer
