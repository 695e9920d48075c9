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

// One of these losses, for rounds that follow one another without a look at the scores in between.
struct RowLoss {
  enum class Kind { squared, logistic, softmax };
  Kind kind = Kind::squared;
  int n_outputs = 1;
  double sigmoid = 1.0;  // of logistic, and so are the weights
  double weight_negative = 1.0;
  double weight_positive = 1.0;

  // `hessian` may be nullptr if the loss is squared and rows have no weights.
  void fill(Team& team, const RowTargets& targets, const double* score, float* gradient, float* hessian) const;
  // Of rows begin ... end - 1, by one thread; the results of row `begin` come first. Not for softmax.
  void fill_rows(const RowTargets& targets, const double* score, std::int64_t begin, std::int64_t end, float* gradient,
                 float* hessian) const;
};

// Gradients that are computed from the scores wherever they are needed: for one output.
struct GradientSource {
  RowLoss loss;
  RowTargets targets;
  const double* score = nullptr;
  bool has_hessian = true;  // false: every hessian is 1
};

void sigmoid(Team& team, const double* score, std::int64_t n, double steepness, double* out);
// Converts class-major scores to row-major probabilities.
void softmax(Team& team, const double* score, std::int64_t n_rows, int n_classes, double* out);

}  // namespace gossamer
