// Applies one split to rows, wherever its feature is stored.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/bin_matrix.h"
#include "core/raw_table.h"
#include "core/row_pages.h"
#include "core/sparse_partition.h"
#include "core/types.h"
#include "kernels/kernels.h"

namespace gossamer {

// A split that reads a lane of one byte: which of its values go left.
struct LaneTest {
  const std::uint8_t* column = nullptr;  // nullptr: the split reads something else
  int row_shift = 0;                     // row r is at column[r << row_shift]
  const std::uint8_t* by_value = nullptr;
  std::uint32_t n_values = 0;  // of by_value
  std::uint32_t threshold = 0;
  std::uint32_t missing = 0;  // goes left, too

  bool goes_left(std::uint32_t value) const {
    if (by_value != nullptr) return value < n_values && by_value[value] != 0;
    return value <= threshold || value == missing;
  }
};

// Made once per split, then used by any number of threads. The matrix must outlive it.
class RowSplitter {
 public:
  RowSplitter(const BinMatrix& matrix, std::int32_t feature, std::int32_t threshold, bool missing_left);
  // For a categorical feature: goes_left[bin], the last one for missing values.
  RowSplitter(const BinMatrix& matrix, std::int32_t feature, std::span<const std::uint8_t> goes_left);

  // By the values of a column: values at or below the threshold go left. Categories of `set` (increasing) go to the
  // other side than missing and unknown ones.
  RowSplitter(const RawTable& raw, std::int32_t column, double threshold, MissingKind missing_kind, bool missing_left,
              std::span<const std::int32_t> set);
  // By row: 0 goes left, 1 right.
  explicit RowSplitter(const std::uint8_t* side);

  // Distributes increasing rows (nullptr: first_row, first_row + 1, ...) to the two sides, keeping
  // their order; returns how many went left. `left` may be `rows`; both sides hold n_rows entries. With a page, the
  // rows are rows of the page, and their bins are read from there.
  std::int64_t split(const RowIdx* rows, std::int64_t first_row, std::int64_t n_rows, RowIdx* left, RowIdx* right,
                     const RowPage* page = nullptr) const;
  LaneTest lane_test() const;

  // Whether the split reads a copy of a lane of one byte: leaves can then be split as bits.
  bool can_split_bits() const {
    return raw_ == nullptr && !two_bytes_ && sparse_.entry_rows.empty() && lane_.column != nullptr &&
           lane_.row_shift == 0;
  }
  // Splits `n_rows` rows from `first_row` on, a multiple of 64, whose bits begin at the pointers. Returns how many rows
  // went left.
  std::int64_t split_bits(std::int64_t first_row, std::int64_t n_rows, const std::uint64_t* leaf, std::uint64_t* left,
                          std::uint64_t* right) const;

 private:
  void find_lane(const BinMatrix& matrix);
  template <class GoesLeft>
  void fill_table(const GoesLeft& goes_left);
  bool goes_left(std::int32_t bin) const { return bin == feature_->n_value_bins ? missing_left_ : bin <= threshold_; }
  std::int64_t split_values(const RowIdx* rows, std::int64_t first_row, std::int64_t n_rows, RowIdx* left,
                            RowIdx* right) const;
  PartitionArgs lane_of(const RowPage& page) const;
  std::int64_t split_misfits(const PartitionArgs& lane) const;

  const Feature* feature_ = nullptr;  // nullptr: sides are given by row
  std::int32_t threshold_ = 0;
  bool missing_left_ = false;
  bool two_bytes_ = false;
  std::int64_t row_stride_ = 0;  // of the feature's group
  PartitionArgs lane_;           // without the rows; unused for a sparse column
  SparsePartition sparse_;       // entries of a sparse column, or values that did not fit the feature's bundle
  std::vector<std::uint8_t> table_;
  const RawTable* raw_ = nullptr;  // if set, the next members compare values
  std::int32_t column_ = 0;
  double value_ = 0.0;
  MissingKind missing_kind_ = MissingKind::nan;
  std::span<const std::int32_t> set_;
};

}  // namespace gossamer
