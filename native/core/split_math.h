// Gains and leaf values on the host; the formulas are shared with the kernels.
#pragma once

#include "core/types.h"

namespace gossamer {

#include "kernels/split_math.inl"

// The value of a leaf in real units. `parent_output` (nullptr: none) is what path smoothing pulls towards.
// Newton's step overshoots where rows are predicted with confidence and wrong: -G/H grows like 1/p, the
// best step like log(1/p). From `damp_from` on (0: never) the step bends towards twice that.
inline double leaf_output(double gradient, double hessian, double count, const SplitRules& rules, double damp_from,
                          const double* parent_output) {
  const double denominator = hessian + rules.lambda_l2;
  double step = denominator > 0.0 ? -shrink(gradient, rules.lambda_l1) / denominator : 0.0;
  if (damp_from > 0.0 && magnitude_of(step) > damp_from) {
    const double damped = damp_from * (2.0 - damp_from / magnitude_of(step));
    step = step < 0.0 ? -damped : damped;
  }
  if (parent_output != nullptr) return limit_step(step, count, rules, *parent_output);
  SplitRules without_parent = rules;
  without_parent.path_smooth = 0.0;
  return limit_step(step, count, without_parent, 0.0);
}

}  // namespace gossamer
