// A copy of the sparse columns of a training table by row: the cells of the histogram that a row adds to.
#pragma once

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
    bool heavy;
    bool rising;  // all of its features rise from zero
  };

  std::int64_t min_count = 0;            // rows a feature needs to be here
  std::vector<std::int32_t> features;    // by place
  std::vector<std::int64_t> first_cell;  // by place, and the end
  std::vector<std::int32_t> place_of;    // by feature; -1: not here
  std::vector<std::int32_t> feature_of;  // by cell
  std::vector<Block> blocks;
  // Cells of features with so many rows that packed sums may overflow come first.
  std::int64_t n_heavy = 0;
  std::int64_t n_cells = 0;
  std::int64_t max_block_cells = 0;
  Buffer<std::int64_t> row_begin;
  Buffer<std::uint16_t> codes16;  // cells of each row, increasing; 16 bits if they suffice
  Buffer<std::uint32_t> codes32;

  bool wide_codes() const { return n_cells > 65536; }
  const void* codes() const {
    return wide_codes() ? static_cast<const void*>(codes32.data()) : static_cast<const void*>(codes16.data());
  }
  std::int64_t n_entries() const { return row_begin.size() == 0 ? 0 : row_begin[row_begin.size() - 1]; }
};

std::shared_ptr<const SparseRows> make_sparse_rows(Team& team, const BinMatrix& matrix, std::int64_t min_count);

}  // namespace gossamer
