// Which rows are in which leaf of a growing tree: one array of rows, a leaf is a range of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/row_splitter.h"
#include "core/types.h"

namespace gossamer {

struct RowRange {
  std::int64_t begin, end;
};

// A leaf to be split.
struct LeafSplit {
  std::int64_t begin, end;
  RowSplitter splitter;
  std::int64_t n_left = 0;  // set by LeafRows::split
};

class LeafRows {
 public:
  // All of `rows` (nullptr: 0 ... n_rows - 1) are in one leaf.
  void start(Team& team, const RowIdx* rows, std::int64_t n_rows);
  // Rows of each leaf go left, to the front of its range, or right; they keep their order.
  void split(Team& team, std::span<LeafSplit> splits);
  // The rows from position `begin` on; nullptr: they are begin, begin + 1, ...
  const RowIdx* from(std::int64_t begin) const { return identity_ ? nullptr : rows_.data() + begin; }
  // The part of a leaf's range whose rows are in [rows.begin, rows.end) of the table. Rows must be increasing there:
  // the leaf has not been split.
  RowRange within(RowRange leaf, RowRange rows) const {
    if (identity_) return {std::clamp(rows.begin, leaf.begin, leaf.end), std::clamp(rows.end, leaf.begin, leaf.end)};
    if (rows.begin <= 0 && rows.end >= end_row_) return leaf;
    return {find(leaf, rows.begin) - rows_.data(), find(leaf, rows.end) - rows_.data()};
  }
  // Restores the order of the table in leaves whose split was not used: sums over their rows must not depend on what
  // was tried. Some leaf must have been split.
  void sort(Team& team, std::span<const RowRange> leaves);
  // Calls body(leaf, rows, n) for pieces of the leaves that together hold all their rows. Some leaf must have been
  // split. All rows of one stretch of the table go to one thread, so that threads do not share cache lines of arrays by
  // row.
  template <class Body>
  void for_pieces(Team& team, std::span<const RowRange> leaves, const Body& body) const {
    const std::int64_t stretch = stretch_rows(team, leaves);
    const std::int64_t n_stretches = (end_row_ + stretch - 1) / stretch;
    team.for_each(n_stretches, [&](std::int64_t s, int) {
      for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        const RowIdx* const first = find(leaves[leaf], s * stretch);
        const RowIdx* const last = find(leaves[leaf], (s + 1) * stretch);
        if (first != last) body(leaf, first, static_cast<std::int64_t>(last - first));
      }
    });
  }

 private:
  struct Piece {
    std::size_t split;
    std::int64_t begin, end;
    bool whole;
    std::int64_t n_left = 0;
    std::int64_t left_to = 0, right_to = 0;
  };

  // Rows per stretch: enough to be worth a search for its ends in every leaf.
  std::int64_t stretch_rows(Team& team, std::span<const RowRange> leaves) const;
  // The first row of a leaf that is at or after `row`.
  const RowIdx* find(RowRange leaf, std::int64_t row) const;

  bool increasing_ = true;    // rows are in the order of the table
  std::int64_t end_row_ = 0;  // one after the last row
  bool identity_ = true;      // no leaf has been split, and all rows are used
  Buffer<RowIdx> rows_;
  Buffer<RowIdx> left_;
  Buffer<RowIdx> right_;
};

}  // namespace gossamer
