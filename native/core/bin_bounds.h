// Upper bounds of the bins of each column, from a sample of its values.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/matrix_view.h"
#include "core/parallel.h"
#include "core/sparse_view.h"

namespace gossamer {

// |value| at or below this counts as zero (LightGBM's constant).
inline constexpr double kZero = 1e-35;

// Strictly increasing values; counts[i] rows hold values[i].
struct DistinctValues {
  std::vector<double> values;
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> weights = {};  // total weight of those rows; empty: the counts

  const std::vector<std::int64_t>& sizes() const { return weights.empty() ? counts : weights; }
};

// The largest T at or below the bound: for x of type T, `x <= bound` has the same result.
template <class T>
T round_down(double bound) {
  auto t = static_cast<T>(bound);
  if (static_cast<double>(t) > bound) t = std::nextafter(t, -std::numeric_limits<T>::infinity());
  return t;
}

// Bounds in the type of the values, padded to a power of two for the branchless search.
template <class T>
struct SearchBounds {
  std::vector<T> bounds;
  int n_steps = 0;

  explicit SearchBounds(const std::vector<double>& upper) {
    const auto n = std::bit_ceil(std::max<std::size_t>(upper.size(), 1));
    n_steps = std::countr_zero(n);
    bounds.assign(n, std::numeric_limits<T>::infinity());
    for (std::size_t b = 0; b < upper.size(); ++b) bounds[b] = round_down<T>(upper[b]);
  }
};

struct BinOptions {
  std::vector<std::int32_t> max_bin;  // one per column; counts the missing bin
  std::int64_t min_data_in_bin = 3;
  bool use_missing = true;  // false: NaN is read as zero
  bool zero_as_missing = false;
  std::vector<std::vector<double>> forced = {};  // by column, increasing: required bounds; empty: none
  // By row of the table: bins get about equal weights instead of equal numbers of rows; rows of weight 0 do not count.
  // Empty: no weights.
  std::vector<std::int64_t> weights = {};
};

// Weights of rows as integer multiples of a power of two: their sums are exact in any order, also in a double. Weights
// other than 0 become 1 or more.
std::vector<std::int64_t> integer_weights(std::span<const float> weights);

struct ColumnBounds {
  std::vector<double> upper;  // increasing, the last is +inf: `value <= upper[b]` finds the bin
  bool missing_in_sample = false;
  double zero_share = 0.0;  // share of zeros in the sample
};

// Upper bounds for one column: a bin per distinct value while they fit, else bins of about equal
// sizes in which frequent values get a bin of their own.
std::vector<double> choose_bounds(const DistinctValues& distinct, std::int64_t max_bin, std::int64_t min_data_in_bin);
// The same with required bounds; the other bins are distributed by rows.
std::vector<double> choose_bounds_between(const DistinctValues& distinct, std::int64_t max_bin,
                                          std::int64_t min_data_in_bin, std::span<const double> forced);

// `sample` lists rows in increasing order; empty means every row.
std::vector<ColumnBounds> find_bounds(Team& team, const MatrixView& matrix, std::span<const std::int64_t> sample,
                                      const BinOptions& options);
// The same bounds as for the dense matrix with the same values. The view must be canonical.
std::vector<ColumnBounds> find_bounds(Team& team, const SparseView& matrix, std::span<const std::int64_t> sample,
                                      const BinOptions& options);

}  // namespace gossamer
