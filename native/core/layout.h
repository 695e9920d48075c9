// Choosing how gradients become integers for one round.
#pragma once

#include <cstdint>

#include "core/types.h"
#include "kernels/kernels.h"

namespace gossamer {

void add_stats(const GradientStats& part, GradientStats& total);
double typical_value(const std::int64_t (&exponents)[256]);

// `n_rows` counts the rows of all shards. `hessian_given` false: every hessian is 1. Units are powers of two, so that
// gradients with few significant bits (counts, halves) are represented exactly. `fine`: keeps as many bits of the
// gradients as a wide cell holds, or 32 bits where these are enough.
CellLayout choose_layout(const GradientStats& stats, std::int64_t n_rows, bool hessian_given, bool fine = false);

// The rules in units of the layout: gradients count in gradient_unit, hessians in hessian_unit, leaf values in their
// ratio.
SplitRules scale_rules(const SplitRules& given, const CellLayout& layout);

}  // namespace gossamer
