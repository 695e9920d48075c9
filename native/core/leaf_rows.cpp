#include "core/leaf_rows.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace gossamer {
namespace {

constexpr std::int64_t kPieceRows = 8192;  // least rows per task
constexpr std::int64_t kCopyRows = 65536;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void LeafRows::start(Team& team, const RowIdx* rows, std::int64_t n_rows) {
  rows_.grow_to(n_rows);
  left_.grow_to(n_rows);
  right_.grow_to(n_rows);
  identity_ = rows == nullptr;
  increasing_ = true;
  end_row_ = n_rows;
  if (rows == nullptr || n_rows == 0) return;
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
}

std::int64_t LeafRows::stretch_rows(Team& team, std::span<const RowRange> leaves) const {
  if (!increasing_ || end_row_ == 0) return std::max<std::int64_t>(end_row_, 1);
  const auto least = std::max<std::int64_t>(8192, 64 * static_cast<std::int64_t>(leaves.size()));
  return std::max(least, std::min<std::int64_t>(end_row_ / (8 * team.n_threads()) + 1, 65536));
}

void LeafRows::sort(Team& team, std::span<const RowRange> leaves) {
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

void LeafRows::split(Team& team, std::span<LeafSplit> splits) {
  std::vector<Piece> pieces;
  bool all_whole = true;
  for (std::size_t s = 0; s < splits.size(); ++s) {
    const std::int64_t begin = splits[s].begin;
    const std::int64_t n_rows = splits[s].end - begin;
    const std::int64_t n = team.n_threads() == 1 && !identity_
                               ? 1
                               : std::clamp<std::int64_t>(n_rows / kPieceRows, 1, 4 * team.n_threads());
    for (std::int64_t i = 0; i < n; ++i)
      pieces.push_back({s, begin + n_rows * i / n, begin + n_rows * (i + 1) / n, n == 1});
    all_whole &= n == 1;
  }
  team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t p, int) {
    Piece& piece = pieces[at(p)];
    const std::int64_t n = piece.end - piece.begin;
    RowIdx* const left = (piece.whole ? rows_.data() : left_.data()) + piece.begin;
    RowIdx* const right = right_.data() + piece.begin;
    piece.n_left = splits[piece.split].splitter.split(from(piece.begin), piece.begin, n, left, right);
    // An empty shard has no buffers: nothing may be copied, not even nothing.
    const bool moves = piece.whole && n > piece.n_left;
    if (moves) std::memcpy(left + piece.n_left, right, at(n - piece.n_left) * sizeof(RowIdx));
  });
  identity_ = false;
  for (LeafSplit& split : splits) split.n_left = 0;
  for (const Piece& piece : pieces) splits[piece.split].n_left += piece.n_left;
  if (all_whole) return;

  // Where each piece of a leaf goes: left parts first, in order, then the right parts. Offsets come from the splitter,
  // not from the counts of the histogram.
  std::int64_t left_to = 0;
  std::int64_t right_to = 0;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    Piece& piece = pieces[p];
    if (p == 0 || piece.split != pieces[p - 1].split) {
      left_to = splits[piece.split].begin;
      right_to = left_to + splits[piece.split].n_left;
    }
    piece.left_to = left_to;
    piece.right_to = right_to;
    left_to += piece.n_left;
    right_to += piece.end - piece.begin - piece.n_left;
  }
  team.for_each(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t p, int) {
    const Piece& piece = pieces[at(p)];
    if (piece.whole) return;
    std::memcpy(rows_.data() + piece.left_to, left_.data() + piece.begin, at(piece.n_left) * sizeof(RowIdx));
    std::memcpy(rows_.data() + piece.right_to, right_.data() + piece.begin,
                at(piece.end - piece.begin - piece.n_left) * sizeof(RowIdx));
  });
}

}  // namespace gossamer
