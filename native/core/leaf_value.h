// The value of a leaf from the sums of its rows.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/types.h"

namespace gossamer {

// All in real units. `parent_output` (nullptr: none) is what path smoothing pulls towards.
// Newton's step overshoots where rows are predicted with confidence and wrong: -G/H grows like 1/p, the
// best step like log(1/p). From `damp_from` on (0: never) it bends towards twice that.
inline double leaf_output(double gradient, double hessian, double count, const SplitRules& rules, double damp_from,
                          const double* parent_output) {
  const double shrunk = std::max(std::abs(gradient) - rules.lambda_l1, 0.0);
  const double denominator = hessian + rules.lambda_l2;
  double output = denominator > 0.0 ? -std::copysign(shrunk, gradient) / denominator : 0.0;
  if (damp_from > 0.0 && std::abs(output) > damp_from) {
    output = std::copysign(damp_from * (2.0 - damp_from / std::abs(output)), output);
  }
  if (rules.max_delta_step > 0.0) output = std::clamp(output, -rules.max_delta_step, rules.max_delta_step);
  if (rules.path_smooth > 0.0 && parent_output != nullptr) {
    const double trust = count / rules.path_smooth;
    output = output * trust / (trust + 1.0) + *parent_output / (trust + 1.0);
  }
  return output;
}

// What a leaf adds to a score: its output times the learning rate, as a multiple of `unit` (0: any number).
inline double shrink_output(double output, double learning_rate, double unit) {
  const double value = output * learning_rate;
  return unit > 0.0 ? std::nearbyint(value / unit) * unit : value;
}

}  // namespace gossamer
