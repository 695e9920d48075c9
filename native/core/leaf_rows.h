// Which rows are in which leaf of a growing tree: one array of rows, a leaf is a range of it.
//
// A leaf that holds a large part of the table is kept as bits, one for each row of the table: splitting it takes a pass
// over the bins of all rows in their order, which is faster than following a list. It has its range, too, but a list
// there only after make_list. See leaf_rows_bits.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/index.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/row_list.h"
#include "core/row_pages.h"
#include "core/row_range.h"
#include "core/row_splitter.h"
#include "core/types.h"

namespace gossamer {

// A leaf to be split.
struct LeafSplit {
  RowRange leaf;
  RowSplitter splitter;
  std::int64_t n_left = 0;          // set by LeafRows::split; on pages it must be known before
  std::int32_t bits[2] = {-1, -1};  // of the children, set by LeafRows::split
  bool may_be_late = false;         // n_left is known, and split_late will be called if it `is_late`
  bool is_late = false;             // set by LeafRows::split, which has not split it

  std::int64_t n_rows() const { return leaf.end - leaf.begin; }
  // The ranges of the children.
  RowRange left() const { return {leaf.begin, leaf.begin + n_left, bits[0]}; }
  RowRange right() const { return {leaf.begin + n_left, leaf.end, bits[1]}; }
};

class LeafRows {
 public:
  enum class Use {
    lists,     // every leaf has its list
    bits_too,  // large leaves may be bits; lists are asked for by make_list
    pages,     // leaves will be split with start_split
  };
  // All of `rows` (nullptr: 0 ... n_rows - 1) are in one leaf, which is returned.
  RowRange start(Team& team, const RowIdx* rows, std::int64_t n_rows, Use use = Use::lists);
  // Gives its memory back until the next start.
  void release();
  // Rows of each leaf go left, to the front of its range, or right; they keep their order. Lists of at most `late_rows`
  // rows are left to split_late, which many threads may call at once.
  void split(Team& team, std::span<LeafSplit> splits, std::int64_t late_rows = 0);
  static constexpr std::int64_t kLateRows = 8192;  // the most that late_rows may be
  void split_late(LeafSplit& split, int thread) { split_whole(split, thread * kLateRows); }
  // Whether a leaf has a list. Splitting its bits takes the list's place.
  bool is_listed(RowRange leaf) const { return leaf.bits < 0 || bits_[at(leaf.bits)].is_listed; }
  void make_list(Team& team, RowRange leaf);
  // The next leaf may take the bits of this one.
  void forget(RowRange leaf) {
    if (leaf.bits >= 0) free_bits_.push_back(leaf.bits);
  }
  // The same while pages pass by: start_split, then split_page for every page in any order, then finish_split, which
  // counts the rows that went left again. Until then only part may be called. The rows must be increasing.
  void start_split(std::span<LeafSplit> splits, std::span<const RowRange> pages);
  void split_page(Team& team, const RowPage& page);
  void finish_split(Team& team);
  bool is_splitting() const { return !splits_.empty(); }
  // Rows [begin, end) of a leaf, or, of a leaf that is on several pages, the same part of its rows in the page. Parts
  // of bits begin with a word of theirs. Of the leaves that are being split, it has the children, once their page was
  // split.
  RowList part(RowRange leaf, const RowPage& page, std::int64_t begin, std::int64_t end) const;
  // The rows from position `begin` on; nullptr: they are begin, begin + 1, ...
  const RowIdx* from(std::int64_t begin) const { return identity_ ? nullptr : rows_.data() + begin; }
  // The part of a leaf's range whose rows are in [rows.begin, rows.end) of the table. Rows must be increasing there:
  // the leaf has not been split.
  RowRange within(RowRange leaf, RowRange rows) const {
    if (identity_) return {std::clamp(rows.begin, leaf.begin, leaf.end), std::clamp(rows.end, leaf.begin, leaf.end)};
    if (rows.begin <= 0 && rows.end >= end_row_) return leaf;
    return {find(leaf, rows.begin) - rows_.data(), find(leaf, rows.end) - rows_.data()};
  }
  // Makes lists of all leaves, and restores the order of the table in those whose split was not used: sums over their
  // rows must not depend on what was tried. Some leaf must have been split.
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
        if (!is_listed(leaves[leaf])) {
          visit_bits(bits_[at(leaves[leaf].bits)], s * stretch, std::min((s + 1) * stretch, end_row_),
                     [&](const RowIdx* rows, std::int64_t n) { body(leaf, rows, n); });
          continue;
        }
        const RowIdx* const first = find(leaves[leaf], s * stretch);
        const RowIdx* const last = find(leaves[leaf], (s + 1) * stretch);
        if (first != last) body(leaf, first, static_cast<std::int64_t>(last - first));
      }
    });
  }
  // Calls body(first_row, n, leaf_of) for blocks of the table: row first_row + i is in leaves[leaf_of[i]]. Every row
  // of the table must be in one of the leaves, at most kMostNumbered of them, and none of these split: see for_pieces.
  // Faster, since arrays by row are read and written in their order.
  static constexpr std::size_t kMostNumbered = 1024;
  template <class Body>
  void for_numbered(Team& team, std::span<const RowRange> leaves, const Body& body) const {
    const std::int64_t stretch = stretch_rows(team, leaves);
    // By thread: where it is in the list of each leaf. Made here, so that a lack of memory stops it before any row.
    std::vector<std::vector<const RowIdx*>> places(at(team.n_threads()), std::vector<const RowIdx*>(leaves.size()));
    team.for_each((end_row_ + stretch - 1) / stretch, [&](std::int64_t s, int thread) {
      std::array<std::uint16_t, kNumberedRows> leaf_of;
      std::vector<const RowIdx*>& next = places[at(thread)];
      for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        if (is_listed(leaves[leaf])) next[leaf] = find(leaves[leaf], s * stretch);
      }
      const std::int64_t end = std::min((s + 1) * stretch, end_row_);
      for (std::int64_t first = s * stretch; first < end; first += kNumberedRows) {
        const std::int64_t n = std::min(kNumberedRows, end - first);
        number_rows(leaves, first, first + n, next, leaf_of);
        body(first, n, leaf_of.data());
      }
    });
  }

 private:
  struct Piece {
    std::size_t split;
    std::int64_t begin, end;
    std::int64_t aside;  // where its rows are put aside
    bool whole;
    std::int64_t n_left = 0;
    std::int64_t left_to = 0, right_to = 0;
  };
  struct Bits {
    Buffer<std::uint64_t> words;
    std::vector<std::int64_t> before;  // rows of the leaf before each block of kBitRows rows of the table, and in all
    bool is_listed = false;
  };
  // Rows of a task, a multiple of 64.
  static constexpr std::int64_t kBitRows = 65536;
  // Likewise, and few enough for the numbers of their leaves to stay in a first-level cache.
  static constexpr std::int64_t kNumberedRows = 8192;

  void split_lists(Team& team, std::span<LeafSplit* const> splits);
  void split_pieces(Team& team, std::span<LeafSplit* const> splits, std::int64_t total_rows);
  // Splits a leaf on one thread; its rows stay where they are in the list. Those that go right are put aside meanwhile.
  void split_whole(LeafSplit& split, std::int64_t aside);
  void split_bits(Team& team, std::span<LeafSplit* const> splits);
  std::int32_t new_bits();
  std::int32_t all_bits();
  RowList in_page(RowRange leaf, const RowPage& page) const;
  // The first word after so many rows of the leaf, or after the few more that share the last of the words before it.
  struct Cut {
    std::int64_t word;
    std::int64_t n_before;  // rows
  };
  Cut cut(const Bits& bits, std::int64_t n_rows) const;
  void list_block(const Bits& bits, std::int64_t block, RowIdx* list) const;
  // Calls body(rows, n) for pieces of the rows of a leaf in [begin, end), both multiples of 64 or the end of the table.
  template <class Body>
  void visit_bits(const Bits& bits, std::int64_t begin, std::int64_t end, const Body& body) const {
    const std::uint64_t* const words = bits.words.data() + begin / 64;
    std::array<RowIdx, 4096 + RowReader::kSlack> list;
    RowReader reader({nullptr, begin, count_bits(words, (end - begin + 63) / 64), words}, list);
    while (reader.n_left() > 0) {
      const RowList piece = reader.next(std::ssize(list));
      body(piece.rows, piece.n);
    }
  }
  static std::int64_t count_bits(const std::uint64_t* words, std::int64_t n_words);
  // Writes down the leaf of every row in [begin, end), and moves `next` behind them.
  void number_rows(std::span<const RowRange> leaves, std::int64_t begin, std::int64_t end,
                   std::span<const RowIdx*> next, std::span<std::uint16_t> leaf_of) const;
  // Splits one large leaf on two threads.
  void split_from_both_ends(Team& team, LeafSplit& split);
  // Rows per stretch: enough to be worth a search for its ends in every leaf.
  std::int64_t stretch_rows(Team& team, std::span<const RowRange> leaves) const;
  // The first row of a leaf that is at or after `row`.
  const RowIdx* find(RowRange leaf, std::int64_t row) const;

  // The rows of a leaf in a page, while the leaf is split: in left_, first those that go left.
  struct PagePiece {
    std::int64_t begin, end;
    std::int64_t n_left = 0;
  };
  PagePiece& piece(std::size_t split, std::size_t page) { return page_pieces_[split * n_pages_ + page]; }
  const PagePiece& piece(std::size_t split, std::size_t page) const { return page_pieces_[split * n_pages_ + page]; }

  bool increasing_ = true;    // rows are in the order of the table
  std::int64_t end_row_ = 0;  // one after the last row
  bool identity_ = true;      // no leaf has been split, and all rows are used
  Buffer<RowIdx> rows_;
  // Rows put aside while leaves are split, from the front on, so that few pages are touched, and stay in cache. On
  // pages: left_ has both children of every leaf, right_ is of one page.
  Buffer<RowIdx> left_;
  Buffer<RowIdx> right_;
  std::vector<Bits> bits_;
  std::vector<std::int32_t> free_bits_;
  std::vector<LeafSplit*> listed_, as_bits_;  // of a call of split
  std::span<LeafSplit> splits_;               // leaves that are being split on pages
  std::vector<std::size_t> split_order_;      // of splits_, by where their leaves begin
  std::vector<PagePiece> page_pieces_;        // by split and page
  std::size_t n_pages_ = 0;
  Buffer<RowIdx> page_left_;
};

}  // namespace gossamer
