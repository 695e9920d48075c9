// Distributing the rows of a leaf by a feature that is zero in nearly all of them.
#pragma once

#include <cstdint>
#include <span>

#include "core/types.h"

namespace gossamer {

struct SparsePartition {
  std::span<const RowIdx> entry_rows;  // increasing
  std::span<const std::uint16_t> entry_bins;
  const RowIdx* rows = nullptr;  // increasing; nullptr: first_row, first_row + 1, ...
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;
  std::uint32_t threshold = 0;
  std::uint32_t missing_bin = 0;
  bool missing_left = false;
  bool zero_left = false;
  RowIdx* left = nullptr;  // may be `rows` itself
  RowIdx* right = nullptr;
};

// Order is kept on both sides; returns how many rows went left.
std::int64_t partition_sparse(const SparsePartition& p);

}  // namespace gossamer
