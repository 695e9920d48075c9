// Metrics that depend on the order of the scores alone. A row is positive when its label is above zero.
// All are 1 if only one class is present, as in LightGBM; the value does not depend on the number of threads.
#pragma once

#include "core/objectives.h"
#include "core/parallel.h"

namespace gossamer {

// Area under the ROC curve; ties count half.
double auc(Team& team, const RowTargets& targets, const double* score);

// Mean precision at the positives; a positive counts together with the rows that tie with it.
double average_precision(Team& team, const RowTargets& targets, const double* score);

// Area under the precision-recall curve, along which between two distinct scores the weight of the
// negatives grows linearly with the weight of the positives (as in XGBoost's aucpr).
double aucpr(Team& team, const RowTargets& targets, const double* score);

// Mean over all pairs of classes i < j of the AUC of class i against class j (AUC-mu, Kleiman and Page,
// 2019). Rows are ordered along (costs[i] - costs[j]) . scores, `costs` being n_classes x n_classes, row by
// row. Pairs with an absent class are left out.
double auc_mu(Team& team, const RowTargets& targets, const double* score, int n_classes, const double* costs);

}  // namespace gossamer
