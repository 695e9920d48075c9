#include "core/leaf_rows.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace gossamer {
namespace {

constexpr std::int64_t kPieceRows = 8192;  // least rows per task

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void LeafRows::start(const RowIdx* rows, std::int64_t n_rows) {
  rows_.grow_to(n_rows);
  left_.grow_to(n_rows);
  right_.grow_to(n_rows);
  identity_ = rows == nullptr;
  if (rows != nullptr && n_rows > 0) std::memcpy(rows_.data(), rows, at(n_rows) * sizeof(RowIdx));
}

void LeafRows::split(Team& team, std::span<const LeafSplit> splits) {
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
    if (piece.whole) std::memcpy(left + piece.n_left, right, at(n - piece.n_left) * sizeof(RowIdx));
  });
  identity_ = false;
  if (all_whole) return;

  // Where each piece of a leaf goes: left parts first, in order, then the right parts.
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
