// Every number type and record that crosses a stage, with the reason for its width.
//
// Words used in the core:
//   row      a row of the user's table; at most 2^32 - 1 of them, so a row index is 32 bits
//            (index lists are the largest thing a tree moves around)
//   feature  a column that can split (constant columns never get here)
//   bin      a feature's value as a small integer; the bin after the last value bin is "missing"
//   lane     a column of bins inside a group; a group stores up to 32 lanes row by row
//   cell     (gradient, hessian, count) of one bin of one feature, for the rows of one leaf
#pragma once

#include <cstdint>

#include "kernels/split_rules.h"

namespace gossamer {

using RowIdx = std::uint32_t;

// One row's gradient, hessian and count as fields of one unsigned integer, so that a histogram
// update is a single add. Low to high: count, hessian, gradient (signed, takes what is left).
using PackedCell = std::uint64_t;

// The same for gradients whose range is extreme: 64 bits for the gradient, hessian and count share
// the other 64.
struct WideCell {
  std::uint64_t gradient;
  std::uint64_t hessian_count;
};

// One row's gradient and hessian before they are spread over a cell: hessian in the low bits,
// gradient (signed) above. Four bytes, since rows are gathered from all over memory.
using PackedRow = std::uint32_t;

// How real gradients map to integer fields during one round. Chosen from the data alone.
struct CellLayout {
  int count_bits = 0;
  int row_hessian_bits = 0;         // in a PackedRow
  int hessian_bits = 0;             // 0: all hessians equal `hessian_unit`, so the count replaces them
  std::int64_t max_rows = 0;        // rows that one cell can absorb without overflow
  std::int64_t gradient_limit = 0;  // largest |quantised gradient|
  std::int64_t hessian_limit = 0;   // largest quantised hessian
  double gradient_unit = 1.0;       // real value of one step
  double hessian_unit = 1.0;
  bool wide = false;

  bool constant_hessian() const { return hessian_bits == 0; }
};

// Exact integer sums over the rows of a leaf, in units of the layout.
struct Sums {
  std::int64_t gradient = 0;
  std::int64_t hessian = 0;
  std::int64_t count = 0;

  Sums& operator+=(const Sums& other) {
    gradient += other.gradient;
    hessian += other.hessian;
    count += other.count;
    return *this;
  }
  friend Sums operator-(const Sums& a, const Sums& b) {
    return {a.gradient - b.gradient, a.hessian - b.hessian, a.count - b.count};
  }
};

// Histogram of a leaf with more rows than a cell can absorb: three arrays, one entry per cell.
struct LargeCells {
  std::int64_t* gradient = nullptr;
  std::int64_t* hessian = nullptr;  // unused when the hessian is constant
  std::uint32_t* count = nullptr;

  LargeCells offset(std::int64_t n) const { return {gradient + n, hessian + n, count + n}; }
};

}  // namespace gossamer
