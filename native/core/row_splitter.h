// One split as a question to rows, wherever its feature is kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/bin_matrix.h"
#include "core/raw_table.h"
#include "core/sparse_partition.h"
#include "core/types.h"
#include "kernels/kernels.h"

namespace gossamer {

// Made once per split, then asked by any number of threads. The matrix must outlive it.
class RowSplitter {
 public:
  RowSplitter(const BinMatrix& matrix, std::int32_t feature, std::int32_t threshold, bool missing_left);
  // Of a categorical feature: goes_left[bin], the last one that of missing values.
  RowSplitter(const BinMatrix& matrix, std::int32_t feature, std::span<const std::uint8_t> goes_left);

  // By the values of a column: at or below the threshold goes left. Of categories: those of `set` (increasing) do not
  // go where missing and unknown ones go.
  RowSplitter(const RawTable& raw, std::int32_t column, double threshold, MissingKind missing_kind, bool missing_left,
              std::span<const std::int32_t> set);
  // By row: 0 goes left, 1 right.
  explicit RowSplitter(const std::uint8_t* side);

  // Distributes increasing rows (nullptr: first_row, first_row + 1, ...) to the two sides, keeping
  // their order; returns how many went left. `left` may be `rows`; both sides hold n_rows entries.
  std::int64_t split(const RowIdx* rows, std::int64_t first_row, std::int64_t n_rows, RowIdx* left,
                     RowIdx* right) const;

 private:
  void find_lane(const BinMatrix& matrix);
  template <class GoesLeft>
  void fill_table(const GoesLeft& goes_left);
  bool goes_left(std::int32_t bin) const { return bin == feature_->n_value_bins ? missing_left_ : bin <= threshold_; }
  std::int64_t split_values(const RowIdx* rows, std::int64_t first_row, std::int64_t n_rows, RowIdx* left,
                            RowIdx* right) const;
  std::int64_t split_misfits(const RowIdx* rows, std::int64_t first_row, std::int64_t n_rows, RowIdx* left,
                             RowIdx* right) const;

  const Feature* feature_ = nullptr;  // none: sides are given by row
  std::int32_t threshold_ = 0;
  bool missing_left_ = false;
  bool two_bytes_ = false;
  PartitionArgs lane_;      // all but the rows; a sparse column has none
  SparsePartition sparse_;  // entries of a sparse column, or what did not fit the feature's bundle
  std::vector<std::uint8_t> table_;
  const RawTable* raw_ = nullptr;  // then these four ask for values
  std::int32_t column_ = 0;
  double value_ = 0.0;
  MissingKind missing_kind_ = MissingKind::nan;
  std::span<const std::int32_t> set_;
};

}  // namespace gossamer
