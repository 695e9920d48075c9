// The sorted columns of a growing tree: the rows of each leaf are contiguous, in the order of their values.
//
//   column   | rows of leaf 0 .......... | rows of leaf 2 ... | rows of leaf 1 ........ |
//
// A split divides the leaf's range of every column. Both sides keep the order, so that nothing is sorted again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/sorted_table.h"
#include "core/types.h"

namespace gossamer {

class SortedLists {
 public:
  // A leaf's entries in one column: values below zero, other values, missing ones; see SortedColumn.
  struct EntryRange {
    std::int64_t begin = 0;
    std::int64_t n_low = 0;
    std::int64_t n_values = 0;  // n_low included
    std::int64_t n = 0;
  };
  // A leaf that has been split; children are filled in.
  struct Split {
    const std::vector<EntryRange>* parent;
    std::vector<EntryRange>* children[2];
  };

  // All of `rows` (nullptr: every row of the table) are in one leaf. Only the columns of `used` features are kept.
  std::vector<EntryRange> start(Team& team, const SortedTable& table, const std::vector<char>& used, const RowIdx* rows,
                                std::int64_t n_rows);
  // Divides the leaves by `side`.
  void split(Team& team, std::span<const Split> splits);
  // Which side a row goes to when its leaf is split: 0 left, 1 right.
  std::uint8_t* side() { return side_.data(); }
  // By place in SortedTable::columns.
  const SortedEntry* entries(std::size_t place, const EntryRange& range) const {
    return lists_[place].data() + range.begin;
  }
  SortedEntry* entries(std::size_t place, const EntryRange& range) { return lists_[place].data() + range.begin; }
  // Places of the columns that are kept.
  std::span<const std::int32_t> used() const { return used_; }

 private:
  std::vector<Buffer<SortedEntry>> lists_;
  std::vector<std::int32_t> used_;
  std::vector<Buffer<SortedEntry>> scratch_;  // by thread
  Buffer<std::uint8_t> side_;
};

}  // namespace gossamer
