#include "core/leaf_rows.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/index.h"

namespace gossamer {
namespace {

constexpr std::int64_t kPieceRows = 8192;  // least rows per task
constexpr std::int64_t kCopyRows = 65536;
constexpr std::int64_t kEndRows = 16384;    // rows that a thread takes from one end of a leaf at a time
constexpr std::int64_t kLeastBits = 16384;  // rows of a table whose leaves may be bits

}  // namespace

RowRange LeafRows::start(Team& team, const RowIdx* rows, std::int64_t n_rows, Use use) {
  const bool on_pages = use == Use::pages;
  rows_.grow_to(n_rows);
  left_.grow_to(n_rows);
  if (!on_pages) right_.grow_to(std::max(n_rows, team.n_threads() * kLateRows));
  splits_ = {};
  identity_ = rows == nullptr;
  increasing_ = true;
  end_row_ = n_rows;
  free_bits_.resize(bits_.size());
  std::iota(free_bits_.begin(), free_bits_.end(), 0);
  if (rows == nullptr && use == Use::bits_too && n_rows >= kLeastBits) return {0, n_rows, all_bits()};
  if (rows == nullptr || n_rows == 0) return {0, n_rows};
  struct Seen {
    RowIdx last = 0;
    bool increasing = true;
  };
  std::vector<Seen> seen(at(team.n_threads()));
  for_blocks(team, n_rows, kCopyRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
    Seen own = seen[at(thread)];
    std::memcpy(rows_.data() + begin, rows + begin, at(end - begin) * sizeof(RowIdx));
    for (std::int64_t i = begin; i < end; ++i) {
      own.increasing &= i == 0 || rows[i - 1] <= rows[i];
      own.last = std::max(own.last, rows[i]);
    }
    seen[at(thread)] = own;
  });
  RowIdx last = 0;
  for (const Seen& own : seen) {
    increasing_ &= own.increasing;
    last = std::max(last, own.last);
  }
  end_row_ = static_cast<std::int64_t>(last) + 1;
  if (on_pages && !increasing_) throw std::invalid_argument("on pages, the rows of a tree must be increasing");
  return {0, n_rows};
}

void LeafRows::release() {
  for (Buffer<RowIdx>* const buffer : {&rows_, &left_, &right_, &page_left_}) buffer->reset(0);
  bits_.clear();
  free_bits_.clear();
}

std::int64_t LeafRows::stretch_rows(Team& team, std::span<const RowRange> leaves) const {
  if (!increasing_ || end_row_ == 0) return std::max<std::int64_t>(end_row_, 1);
  const auto least = std::max<std::int64_t>(8192, 64 * static_cast<std::int64_t>(leaves.size()));
  // Whole words of bits.
  return std::max(least, std::min<std::int64_t>(end_row_ / (8 * team.n_threads()) / 64 * 64 + 64, 65536));
}

void LeafRows::sort(Team& team, std::span<const RowRange> leaves) {
  for (const RowRange& leaf : leaves) {
    if (!is_listed(leaf)) make_list(team, leaf);
  }
  team.for_each(static_cast<std::int64_t>(leaves.size()), [&](std::int64_t i, int) {
    RowIdx* const begin = rows_.data() + leaves[at(i)].begin;
    RowIdx* const end = rows_.data() + leaves[at(i)].end;
    if (!std::is_sorted(begin, end)) std::sort(begin, end);
  });
}

const RowIdx* LeafRows::find(RowRange leaf, std::int64_t row) const {
  const RowIdx* const begin = rows_.data() + leaf.begin;
  const RowIdx* const end = rows_.data() + leaf.end;
  if (row <= 0) return begin;
  if (row >= end_row_) return end;
  return std::lower_bound(begin, end, static_cast<RowIdx>(row));
}

void LeafRows::number_rows(std::span<const RowRange> leaves, std::int64_t begin, std::int64_t end,
                           std::span<const RowIdx*> next, std::span<std::uint16_t> leaf_of) const {
  for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const auto number = static_cast<std::uint16_t>(leaf);
    if (!is_listed(leaves[leaf])) {
      const std::uint64_t* const words = bits_[at(leaves[leaf].bits)].words.data() + begin / 64;
      kernels().number_bits(words, (end - begin + 63) / 64, number, leaf_of.data());
      continue;
    }
    const RowIdx* row = next[leaf];
    const RowIdx* const last = rows_.data() + leaves[leaf].end;
    for (; row != last && *row < end; ++row) leaf_of[at(*row - begin)] = number;
    next[leaf] = row;
    __builtin_prefetch(row + 32, 0, 2);  // for the next rows
  }
}

// One thread starts at the first row, the other at the last, until they meet. Rows that go left stay in front as soon
// as the first thread has found them, rows that go right stay behind in the same way; only the others are copied.
void LeafRows::split_from_both_ends(Team& team, LeafSplit& split) {
  const std::int64_t begin = split.leaf.begin;
  const std::int64_t end = split.leaf.end;
  const std::int64_t n_blocks = (end - begin + kEndRows - 1) / kEndRows;
  std::atomic<std::int64_t> n_taken = 0;
  struct Sides {
    std::int64_t left = 0, right = 0;
  };
  Sides first, last;
  team.for_each(2, [&](std::int64_t from_last, int) {
    for (std::int64_t b = 0; n_taken.fetch_add(1, std::memory_order_relaxed) < n_blocks; ++b) {
      const std::int64_t to = begin + (from_last ? n_blocks - 1 - b : b) * kEndRows;
      const std::int64_t n = std::min(kEndRows, end - to);
      if (!from_last) {
        const std::int64_t n_left =
            split.splitter.split(from(to), to, n, rows_.data() + begin + first.left, right_.data() + first.right);
        first.left += n_left;
        first.right += n - n_left;
        continue;
      }
      const std::int64_t n_left = split.splitter.split(from(to), to, n, rows_.data() + to, right_.data() + to - begin);
      last.left += n_left;
      last.right += n - n_left;
      std::memcpy(left_.data() + end - begin - last.left, rows_.data() + to, at(n_left) * sizeof(RowIdx));
      std::memcpy(rows_.data() + end - last.right, right_.data() + to - begin, at(n - n_left) * sizeof(RowIdx));
    }
  });
  split.n_left = first.left + last.left;
  // What was put aside: rows of the last blocks that go left, then rows of the first blocks that go right.
  const std::int64_t n_left_blocks = (last.left + kPieceRows - 1) / kPieceRows;
  const std::int64_t n_right_blocks = (first.right + kPieceRows - 1) / kPieceRows;
  team.for_each(n_left_blocks + n_right_blocks, [&](std::int64_t b, int) {
    const bool is_left = b < n_left_blocks;
    const RowIdx* const source = is_left ? left_.data() + end - begin - last.left : right_.data();
    RowIdx* const target = rows_.data() + begin + (is_left ? first.left : split.n_left);
    const std::int64_t from_row = (is_left ? b : b - n_left_blocks) * kPieceRows;
    const std::int64_t n = std::min(kPieceRows, (is_left ? last.left : first.right) - from_row);
    std::memcpy(target + from_row, source + from_row, at(n) * sizeof(RowIdx));
  });
}

void LeafRows::split(Team& team, std::span<LeafSplit> splits, std::int64_t late_rows) {
  listed_.clear();
  as_bits_.clear();
  for (LeafSplit& split : splits) {
    // A table with all its rows has no list before its first split.
    split.is_late =
        late_rows > 0 && split.may_be_late && split.leaf.bits < 0 && !identity_ && split.n_rows() <= late_rows;
    if (split.is_late) continue;
    const bool as_bits = split.leaf.bits >= 0 && split.splitter.can_split_bits();
    if (!as_bits && !is_listed(split.leaf)) make_list(team, split.leaf);
    (as_bits ? as_bits_ : listed_).push_back(&split);
  }
  if (!as_bits_.empty()) split_bits(team, as_bits_);
  if (!listed_.empty()) split_lists(team, listed_);
  identity_ = false;
}

void LeafRows::split_whole(LeafSplit& split, std::int64_t aside) {
  const std::int64_t begin = split.leaf.begin;
  RowIdx* const left = rows_.data() + begin;
  RowIdx* const right = right_.data() + aside;
  split.n_left = split.splitter.split(from(begin), begin, split.n_rows(), left, right);
  const std::int64_t n_right = split.n_rows() - split.n_left;
  // An empty shard has no buffers: nothing may be copied, not even nothing.
  if (n_right > 0) std::memcpy(left + split.n_left, right, at(n_right) * sizeof(RowIdx));
}

void LeafRows::split_lists(Team& team, std::span<LeafSplit* const> splits) {
  std::int64_t total_rows = 0;
  for (const LeafSplit* const split : splits) total_rows += split->n_rows();
  if ((team.n_threads() == 1 || total_rows < kPieceRows) && !identity_) {
    for (LeafSplit* const split : splits) split_whole(*split, 0);
  } else if (team.n_threads() == 2 && splits.size() == 1 && total_rows >= 8 * kEndRows) {
    split_from_both_ends(team, *splits.front());
  } else {
    split_pieces(team, splits, total_rows);
  }
}

void LeafRows::split_pieces(Team& team, std::span<LeafSplit* const> splits, std::int64_t total_rows) {
  const std::int64_t piece_rows = std::max(kPieceRows, total_rows / (8 * team.n_threads()));
  std::vector<Piece> pieces;
  bool all_whole = true;
  std::int64_t aside = 0;
  for (std::size_t s = 0; s < splits.size(); ++s) {
    const std::int64_t begin = splits[s]->leaf.begin;
    const std::int64_t n_rows = splits[s]->n_rows();
    const std::int64_t n = std::max<std::int64_t>(n_rows / piece_rows, 1);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t first = n_rows * i / n;
      pieces.push_back({s, begin + first, begin + n_rows * (i + 1) / n, aside + first, n == 1});
    }
    aside += n_rows;
    all_whole &= n == 1;
  }
  // Tasks are in the order of the table: a thread splits rows that it has split before. A piece of a leaf has about the
  // same share of the table's rows as of the leaf's; the rows of a whole leaf stay in their part of the list.
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t p) {
    const Piece& piece = pieces[p];
    const RowRange leaf = splits[piece.split]->leaf;
    if (piece.whole) return static_cast<double>(leaf.begin) / static_cast<double>(rows_.size());
    return static_cast<double>(piece.begin - leaf.begin) / static_cast<double>(leaf.end - leaf.begin);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t p, int) {
    Piece& piece = pieces[order[at(p)]];
    LeafSplit& split = *splits[piece.split];
    if (piece.whole) return split_whole(split, piece.aside);
    piece.n_left = split.splitter.split(from(piece.begin), piece.begin, piece.end - piece.begin,
                                        left_.data() + piece.aside, right_.data() + piece.aside);
  });
  if (all_whole) return;
  for (const Piece& piece : pieces) {
    if (!piece.whole) splits[piece.split]->n_left = 0;
  }
  for (const Piece& piece : pieces) splits[piece.split]->n_left += piece.n_left;

  // Where each piece of a leaf goes: left parts first, in order, then the right parts. Offsets come from the splitter,
  // not from the counts of the histogram.
  std::int64_t left_to = 0;
  std::int64_t right_to = 0;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    Piece& piece = pieces[p];
    if (p == 0 || piece.split != pieces[p - 1].split) {
      left_to = splits[piece.split]->leaf.begin;
      right_to = left_to + splits[piece.split]->n_left;
    }
    piece.left_to = left_to;
    piece.right_to = right_to;
    left_to += piece.n_left;
    right_to += piece.end - piece.begin - piece.n_left;
  }
  team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t p, int) {
    const Piece& piece = pieces[order[at(p)]];
    if (piece.whole) return;
    std::memcpy(rows_.data() + piece.left_to, left_.data() + piece.aside, at(piece.n_left) * sizeof(RowIdx));
    std::memcpy(rows_.data() + piece.right_to, right_.data() + piece.aside,
                at(piece.end - piece.begin - piece.n_left) * sizeof(RowIdx));
  });
}

// ---- on pages ----

void LeafRows::start_split(std::span<LeafSplit> splits, std::span<const RowRange> pages) {
  n_pages_ = pages.size();
  page_pieces_.clear();
  page_pieces_.reserve(splits.size() * n_pages_);
  std::int64_t most = 0;
  for (const RowRange& page : pages) most = std::max(most, page.end - page.begin);
  for (const LeafSplit& split : splits) {
    for (const RowRange& page : pages) {
      const RowRange range = within(split.leaf, page);
      page_pieces_.push_back({range.begin, range.end});
    }
  }
  split_order_.resize(splits.size());
  std::iota(split_order_.begin(), split_order_.end(), std::size_t{0});
  std::sort(split_order_.begin(), split_order_.end(),
            [&](std::size_t a, std::size_t b) { return splits[a].leaf.begin < splits[b].leaf.begin; });
  page_left_.grow_to(most);
  right_.grow_to(most);
  splits_ = splits;
}

void LeafRows::split_page(Team& team, const RowPage& page) {
  struct Part {
    std::size_t split;
    std::int64_t begin, end;
    std::int64_t scratch;  // its place in page_left_ and right_
    std::int64_t n_left = 0;
    std::int64_t left_to = 0, right_to = 0;
  };
  std::vector<Part> parts;
  std::int64_t scratch = 0;
  for (std::size_t s = 0; s < splits_.size(); ++s) {
    const PagePiece& own = piece(s, page.number);
    const std::int64_t n_rows = own.end - own.begin;
    const std::int64_t n = std::clamp<std::int64_t>(n_rows / kPieceRows, 1, 4 * team.n_threads());
    for (std::int64_t i = 0; i < n && n_rows > 0; ++i) {
      const std::int64_t begin = own.begin + n_rows * i / n;
      const std::int64_t end = own.begin + n_rows * (i + 1) / n;
      parts.push_back({s, begin, end, scratch});
      scratch += end - begin;
    }
  }
  team.for_each(std::ssize(parts), [&](std::int64_t p, int) {
    Part& part = parts[at(p)];
    part.n_left =
        splits_[part.split].splitter.split(from(part.begin), part.begin, part.end - part.begin,
                                           page_left_.data() + part.scratch, right_.data() + part.scratch, &page);
  });
  for (const Part& part : parts) piece(part.split, page.number).n_left += part.n_left;
  std::int64_t left_to = 0;
  std::int64_t right_to = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Part& part = parts[p];
    if (p == 0 || part.split != parts[p - 1].split) {
      const PagePiece& own = piece(part.split, page.number);
      left_to = own.begin;
      right_to = own.begin + own.n_left;
    }
    part.left_to = left_to;
    part.right_to = right_to;
    left_to += part.n_left;
    right_to += part.end - part.begin - part.n_left;
  }
  team.for_each(std::ssize(parts), [&](std::int64_t p, int) {
    const Part& part = parts[at(p)];
    std::memcpy(left_.data() + part.left_to, page_left_.data() + part.scratch, at(part.n_left) * sizeof(RowIdx));
    std::memcpy(left_.data() + part.right_to, right_.data() + part.scratch,
                at(part.end - part.begin - part.n_left) * sizeof(RowIdx));
  });
}

void LeafRows::finish_split(Team& team) {
  struct Move {
    std::int64_t from, to, n;
  };
  std::vector<Move> moves;
  for (std::size_t s = 0; s < splits_.size(); ++s) {
    LeafSplit& split = splits_[s];
    split.n_left = 0;
    for (std::size_t p = 0; p < n_pages_; ++p) split.n_left += piece(s, p).n_left;
    std::int64_t left_to = split.leaf.begin;
    std::int64_t right_to = split.leaf.begin + split.n_left;
    for (std::size_t p = 0; p < n_pages_; ++p) {
      const PagePiece& own = piece(s, p);
      const std::int64_t n_right = own.end - own.begin - own.n_left;
      if (own.n_left > 0) moves.push_back({own.begin, left_to, own.n_left});
      if (n_right > 0) moves.push_back({own.begin + own.n_left, right_to, n_right});
      left_to += own.n_left;
      right_to += n_right;
    }
  }
  team.for_each(std::ssize(moves), [&](std::int64_t m, int) {
    const Move& move = moves[at(m)];
    std::memcpy(rows_.data() + move.to, left_.data() + move.from, at(move.n) * sizeof(RowIdx));
  });
  identity_ = false;
  splits_ = {};
}

RowList LeafRows::part(RowRange leaf, const RowPage& page, std::int64_t begin, std::int64_t end) const {
  if (!is_listed(leaf)) {
    const Bits& bits = bits_[at(leaf.bits)];
    const Cut first = cut(bits, begin);
    return {nullptr, 64 * first.word, cut(bits, end).n_before - first.n_before, bits.words.data() + first.word};
  }
  const RowList rows = in_page(leaf, page);
  const std::int64_t total = leaf.end - leaf.begin;
  return total == 0 ? rows : rows.part(rows.n * begin / total, rows.n * end / total);
}

RowList LeafRows::in_page(RowRange leaf, const RowPage& page) const {
  if (is_splitting() && leaf.begin < leaf.end) {
    const auto after =
        std::upper_bound(split_order_.begin(), split_order_.end(), leaf.begin,
                         [&](std::int64_t begin, std::size_t s) { return begin < splits_[s].leaf.begin; });
    const std::size_t s = after == split_order_.begin() ? splits_.size() : *(after - 1);
    if (s < splits_.size() && leaf.begin < splits_[s].leaf.end) {
      const LeafSplit& split = splits_[s];
      const PagePiece& own = piece(s, page.number);
      const bool is_left = leaf.begin == split.leaf.begin && leaf.end == split.leaf.begin + split.n_left;
      if (is_left) return {left_.data() + own.begin, 0, own.n_left, nullptr};
      return {left_.data() + own.begin + own.n_left, 0, own.end - own.begin - own.n_left, nullptr};
    }
  }
  const RowRange range = within(leaf, page.rows);
  return {from(range.begin), range.begin, range.end - range.begin, nullptr};
}

}  // namespace gossamer
