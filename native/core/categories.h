// The categories of columns: which there are, and how often.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix_view.h"
#include "core/parallel.h"
#include "core/sparse_view.h"

namespace gossamer {

// Categories are whole numbers up to this.
inline constexpr double kMaxCategory = 2147483647.0;

// The category of a value, whose fraction is cut off as in LightGBM; -1: missing or none.
inline std::int32_t category_of(double x) { return x > -1.0 && x <= kMaxCategory ? static_cast<std::int32_t>(x) : -1; }

struct CategoryCounts {
  std::vector<std::int32_t> categories;  // increasing
  std::vector<std::int64_t> counts;
  std::int64_t n_missing = 0;  // NaN, or negative
  bool has_odd = false;        // some value is not a whole number, or too large: the largest such value
  double odd = 0.0;
};

// Counts over all rows, for each of `columns`; fractions are cut off, see `category_of`.
std::vector<CategoryCounts> count_categories(Team& team, const MatrixView& matrix,
                                             std::span<const std::int32_t> columns);
std::vector<CategoryCounts> count_categories(Team& team, const SparseView& matrix,
                                             std::span<const std::int32_t> columns);

}  // namespace gossamer
