// Splits of categories: which of them go left.
//
// With few categories, each is tried against the rest. More are sorted by gradient over hessian; the best set for a
// convex loss is then a prefix (Fisher 1958), and prefixes are tried from both ends. Missing values and categories too
// rare to be known form one more category.
#pragma once

#include <cstdint>
#include <optional>

#include "core/feature.h"
#include "core/histogram.h"
#include "core/leaf_evaluator.h"
#include "core/types.h"
#include "kernels/kernels.h"

namespace gossamer {

struct CategorySearch {
  const Feature& feature;
  const CellLayout& layout;
  SplitRules rules;          // in units of the layout
  double real_cat_l2 = 0.0;  // in real units
  double real_cat_smooth = 0.0;
  Sums leaf;
  double parent_output = 0.0;           // in units of the layout
  const ValueLimits* limits = nullptr;  // nullptr: none
  std::optional<std::uint64_t> random;  // with extra_trees: bits that choose the one set to try
};

struct CategorySplit {
  double gain = -1.0e300;  // sum over both children, in units of the layout
  BestSplit split;         // without its feature; goes_left is empty if there is no split
};

CategorySplit search_categories(const CategorySearch& search, const FeatureCells& cells);

// Sums of the bins that a split sends left.
Sums sum_left_bins(const FeatureCells& cells, const Feature& feature, const BestSplit& split, const CellLayout& layout);

}  // namespace gossamer
