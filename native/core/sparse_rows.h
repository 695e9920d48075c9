// A copy of the sparse columns of a training table by row: the cells of the histogram that a row adds to.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/bin_matrix.h"
#include "core/memory.h"
#include "core/parallel.h"

namespace gossamer {

// Features of few rows cannot split when leaves need more: they are left out.
struct SparseRows {
  // Features whose cells are contiguous: the unit of search and subtraction.
  struct Block {
    std::int32_t first, n;  // places
    std::int64_t first_cell, n_cells;
    int size_class;  // of its features
    bool rising;     // all of its features rise from zero
  };

  std::int64_t min_count = 0;            // rows a feature needs to be here
  std::vector<std::int32_t> features;    // by place
  std::vector<std::int64_t> first_cell;  // by place, and the end
  std::vector<std::int32_t> place_of;    // by feature; -1: not here
  std::vector<std::int32_t> feature_of;  // by cell
  std::vector<Block> blocks;
  // Features of many rows come first: these are the cells of features with more than kMaxRows[i] rows.
  std::array<std::int64_t, 3> n_above = {};
  std::int64_t n_cells = 0;
  std::int64_t max_block_cells = 0;
  Buffer<std::int64_t> row_begin;
  Buffer<std::uint16_t> codes16;  // cells of each row, increasing; 16 bits if they suffice
  Buffer<std::uint32_t> codes32;

  // The most rows of a packed cell, by layout (see layout.inl).
  static constexpr std::array<std::int64_t, 3> kMaxRows = {8191, 4095, 2047};

  // How many kinds of packed cells can take all rows of a feature.
  static int size_class_of(std::int64_t count) {
    return static_cast<int>(std::count_if(kMaxRows.begin(), kMaxRows.end(), [=](auto most) { return count <= most; }));
  }
  // Cells that may overflow where a cell takes so many rows at most: the first ones.
  std::int64_t n_heavy(std::int64_t max_rows) const {
    for (std::size_t i = 0; i < kMaxRows.size(); ++i) {
      if (max_rows >= kMaxRows[i]) return n_above[i];
    }
    return n_cells;
  }

  bool wide_codes() const { return n_cells > 65536; }
  const void* codes() const {
    return wide_codes() ? static_cast<const void*>(codes32.data()) : static_cast<const void*>(codes16.data());
  }
  std::int64_t n_entries() const { return row_begin.size() == 0 ? 0 : row_begin[row_begin.size() - 1]; }
};

std::shared_ptr<const SparseRows> make_sparse_rows(Team& team, const BinMatrix& matrix, std::int64_t min_count);

}  // namespace gossamer
