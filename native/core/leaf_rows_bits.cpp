// Leaves as bits.
//
// A split makes the bits of both children, block by block of the table, and counts them. Then it is known where the
// rows of each block belong in the lists. Two kinds of children get a list made of their bits: the smaller child of a
// split, for its histogram, and a child with too few rows to go on as bits.
#include <algorithm>
#include <bit>
#include <utility>

#include "core/leaf_rows.h"

namespace gossamer {
namespace {

// A child with fewer than one in so many rows of the table is a list.
constexpr std::int64_t kTableRowsPerRow = 4;

}  // namespace

std::int64_t LeafRows::count_bits(const std::uint64_t* words, std::int64_t n_words) {
  std::int64_t n = 0;
  for (std::int64_t w = 0; w < n_words; ++w) n += std::popcount(words[w]);
  return n;
}

std::int32_t LeafRows::new_bits() {
  if (free_bits_.empty()) {
    bits_.emplace_back();
    free_bits_.reserve(bits_.size());  // so that forgetting needs no memory
    free_bits_.push_back(static_cast<std::int32_t>(bits_.size()) - 1);
  }
  const std::int32_t number = free_bits_.back();
  free_bits_.pop_back();
  bits_[at(number)].words.grow_to((end_row_ + 63) / 64);
  bits_[at(number)].is_listed = false;
  return number;
}

// The bits of the root.
std::int32_t LeafRows::all_bits() {
  const std::int32_t number = new_bits();
  Bits& bits = bits_[at(number)];
  std::fill_n(bits.words.data(), end_row_ / 64, ~std::uint64_t{0});
  if (end_row_ % 64 != 0) bits.words[end_row_ / 64] = (std::uint64_t{1} << (end_row_ % 64)) - 1;
  bits.is_listed = true;  // as numbers in their order
  return number;
}

void LeafRows::make_list(Team& team, RowRange leaf) {
  Bits& bits = bits_[at(leaf.bits)];
  const std::int64_t n_blocks = (end_row_ + kBitRows - 1) / kBitRows;
  std::vector<std::int64_t> begin(at(n_blocks + 1), leaf.begin);
  const auto words_in = [&](std::int64_t block) { return (std::min(kBitRows, end_row_ - block * kBitRows) + 63) / 64; };
  team.for_each(n_blocks, [&](std::int64_t block, int) {
    begin[at(block + 1)] = count_bits(bits.words.data() + block * (kBitRows / 64), words_in(block));
  });
  for (std::size_t block = 0; block < at(n_blocks); ++block) begin[block + 1] += begin[block];
  team.for_each(n_blocks, [&](std::int64_t block, int) {
    kernels().list_bits(bits.words.data() + block * (kBitRows / 64), words_in(block),
                        static_cast<RowIdx>(block * kBitRows), rows_.data() + begin[at(block)],
                        rows_.data() + begin[at(block + 1)]);
  });
  bits.is_listed = true;
}

void LeafRows::split_bits(Team& team, std::span<LeafSplit* const> splits) {
  const std::int64_t n_blocks = (end_row_ + kBitRows - 1) / kBitRows;
  const auto n_splits = static_cast<std::int64_t>(splits.size());
  for (LeafSplit* const split : splits) {
    for (std::int32_t& bits : split->bits) bits = new_bits();
  }
  // Tasks are blocks of rows in their order, and in a block all splits: a thread keeps to its own rows.
  // By split, block and side: rows, then where their list begins.
  std::vector<std::int64_t> place(at(2 * n_splits * n_blocks));
  const auto block_rows = [&](std::int64_t block) { return std::min(kBitRows, end_row_ - block * kBitRows); };
  const auto words_of = [&](std::int32_t bits, std::int64_t block) {
    return bits_[at(bits)].words.data() + block * (kBitRows / 64);
  };
  team.for_each(n_splits * n_blocks, [&](std::int64_t task, int) {
    const std::int64_t s = task % n_splits;
    const LeafSplit& split = *splits[at(s)];
    const std::int64_t block = task / n_splits;
    const std::int64_t n_rows = block_rows(block);
    std::int64_t* const own = place.data() + 2 * (s * n_blocks + block);
    std::uint64_t* const right = words_of(split.bits[1], block);
    own[0] = split.splitter.split_bits(block * kBitRows, n_rows, words_of(split.leaf.bits, block),
                                       words_of(split.bits[0], block), right);
    own[1] = count_bits(right, (n_rows + 63) / 64);
  });
  struct Side {
    std::int64_t split;
    std::int64_t side;
    std::int64_t end;
  };
  std::vector<Side> listed;
  for (std::int64_t s = 0; s < n_splits; ++s) {
    LeafSplit& split = *splits[at(s)];
    std::int64_t* const own = place.data() + 2 * s * n_blocks;
    split.n_left = 0;
    for (std::int64_t block = 0; block < n_blocks; ++block) split.n_left += own[2 * block];
    const std::int64_t begin[2] = {split.leaf.begin, split.leaf.begin + split.n_left};
    const std::int64_t end[2] = {begin[1], split.leaf.end};
    const bool left_is_smaller = 2 * split.n_left <= split.n_rows();
    bits_[at(split.leaf.bits)].is_listed = false;
    for (std::int64_t side = 0; side < 2; ++side) {
      std::int64_t next = begin[side];
      for (std::int64_t block = 0; block < n_blocks; ++block) next += std::exchange(own[2 * block + side], next);
      const bool is_smaller = left_is_smaller == (side == 0);
      const bool stays_bits = kTableRowsPerRow * (end[side] - begin[side]) >= end_row_;
      bits_[at(split.bits[side])].is_listed = is_smaller || !stays_bits;
      if (is_smaller || !stays_bits) listed.push_back({s, side, end[side]});
    }
  }
  team.for_each(std::ssize(listed) * n_blocks, [&](std::int64_t task, int) {
    const Side& side = listed[at(task % std::ssize(listed))];
    const std::int64_t block = task / std::ssize(listed);
    const std::int64_t* const own = place.data() + 2 * side.split * n_blocks + side.side;
    const std::int64_t end = block + 1 < n_blocks ? own[2 * (block + 1)] : side.end;
    const std::int32_t bits = splits[at(side.split)]->bits[side.side];
    kernels().list_bits(words_of(bits, block), (block_rows(block) + 63) / 64, static_cast<RowIdx>(block * kBitRows),
                        rows_.data() + own[2 * block], rows_.data() + end);
  });
  for (const Side& side : listed) {
    LeafSplit& split = *splits[at(side.split)];
    const std::int64_t n = side.side == 0 ? split.n_left : split.n_rows() - split.n_left;
    if (kTableRowsPerRow * n >= end_row_) continue;
    free_bits_.push_back(split.bits[side.side]);
    split.bits[side.side] = -1;
  }
}

}  // namespace gossamer
