// Which rows are in which leaf of a growing tree: one array of rows, a leaf is a range of it.
#pragma once

#include <cstdint>
#include <span>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/row_splitter.h"
#include "core/types.h"

namespace gossamer {

// A leaf to be split: its range, and how many of its rows will go left.
struct LeafSplit {
  std::int64_t begin, end;
  std::int64_t n_left;
  RowSplitter splitter;
};

class LeafRows {
 public:
  // All of `rows` (nullptr: 0 ... n_rows - 1) are in one leaf.
  void start(const RowIdx* rows, std::int64_t n_rows);
  // Rows of each leaf go left, to the front of its range, or right; they keep their order.
  void split(Team& team, std::span<const LeafSplit> splits);
  // Rows from `begin` of the range on; nullptr: they are begin, begin + 1, ...
  const RowIdx* from(std::int64_t begin) const { return identity_ ? nullptr : rows_.data() + begin; }
  std::int64_t row(std::int64_t i) const { return identity_ ? i : static_cast<std::int64_t>(rows_[i]); }

 private:
  struct Piece {
    std::size_t split;
    std::int64_t begin, end;
    bool whole;
    std::int64_t n_left = 0;
    std::int64_t left_to = 0, right_to = 0;
  };

  bool identity_ = true;  // no leaf has been split, and there are all rows
  Buffer<RowIdx> rows_;
  Buffer<RowIdx> left_;
  Buffer<RowIdx> right_;
};

}  // namespace gossamer
