// Gains and leaf values on the host; the formulas are shared with the kernels.
#pragma once

#include "core/types.h"

namespace gossamer {

#include "kernels/split_math.inl"

inline SplitRules with_l2(SplitRules rules, double l2) {
  rules.lambda_l2 += l2;
  return rules;
}

}  // namespace gossamer
