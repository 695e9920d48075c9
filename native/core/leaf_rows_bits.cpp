// Leaves as bits.
//
// A split makes the bits of both children, block by block of the table, and counts them. A child with too few rows to
// go on as bits gets a list made of them. Histograms are built from the bits (see RowReader).
#include <algorithm>
#include <bit>

#include "core/leaf_rows.h"

namespace gossamer {
namespace {

// A child with fewer than one in so many rows of the table is a list.
constexpr std::int64_t kTableRowsPerRow = 16;

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
  Bits& bits = bits_[at(number)];
  bits.words.grow_to((end_row_ + 63) / 64);
  bits.before.assign(at((end_row_ + kBitRows - 1) / kBitRows + 1), 0);
  bits.is_listed = false;
  return number;
}

// The bits of the root.
std::int32_t LeafRows::all_bits() {
  const std::int32_t number = new_bits();
  Bits& bits = bits_[at(number)];
  std::fill_n(bits.words.data(), end_row_ / 64, ~std::uint64_t{0});
  if (end_row_ % 64 != 0) bits.words[end_row_ / 64] = (std::uint64_t{1} << (end_row_ % 64)) - 1;
  const std::int64_t n_blocks = (end_row_ + kBitRows - 1) / kBitRows;
  for (std::int64_t block = 0; block <= n_blocks; ++block)
    bits.before[at(block)] = std::min(block * kBitRows, end_row_);
  bits.is_listed = true;  // as numbers in their order
  return number;
}

void LeafRows::make_list(Team& team, RowRange leaf) {
  Bits& bits = bits_[at(leaf.bits)];
  const std::int64_t n_blocks = (end_row_ + kBitRows - 1) / kBitRows;
  team.for_each(n_blocks, [&](std::int64_t block, int) { list_block(bits, block, rows_.data() + leaf.begin); });
  bits.is_listed = true;
}

void LeafRows::list_block(const Bits& bits, std::int64_t block, RowIdx* list) const {
  const std::int64_t n_words = (std::min(kBitRows, end_row_ - block * kBitRows) + 63) / 64;
  kernels().list_bits(bits.words.data() + block * (kBitRows / 64), n_words, static_cast<RowIdx>(block * kBitRows),
                      list + bits.before[at(block)], list + bits.before[at(block + 1)]);
}

LeafRows::Cut LeafRows::cut(const Bits& bits, std::int64_t n_rows) const {
  const std::int64_t n_words = (end_row_ + 63) / 64;
  if (n_rows >= bits.before.back()) return {n_words, bits.before.back()};
  const auto block = std::upper_bound(bits.before.begin(), bits.before.end(), n_rows) - bits.before.begin() - 1;
  Cut found{block * (kBitRows / 64), bits.before[at(block)]};
  while (found.n_before < n_rows) found.n_before += std::popcount(bits.words[found.word++]);
  return found;
}

void LeafRows::split_bits(Team& team, std::span<LeafSplit* const> splits) {
  const std::int64_t n_blocks = (end_row_ + kBitRows - 1) / kBitRows;
  const auto n_splits = static_cast<std::int64_t>(splits.size());
  for (LeafSplit* const split : splits) {
    for (std::int32_t& bits : split->bits) bits = new_bits();
  }
  // Tasks are blocks of rows in their order, and in a block all splits: a thread keeps to its own rows.
  const auto block_rows = [&](std::int64_t block) { return std::min(kBitRows, end_row_ - block * kBitRows); };
  const auto words_of = [&](std::int32_t bits, std::int64_t block) {
    return bits_[at(bits)].words.data() + block * (kBitRows / 64);
  };
  team.for_each(n_splits * n_blocks, [&](std::int64_t task, int) {
    const std::int64_t s = task % n_splits;
    const LeafSplit& split = *splits[at(s)];
    const std::int64_t block = task / n_splits;
    const std::int64_t n_rows = block_rows(block);
    const auto& before = bits_[at(split.leaf.bits)].before;
    const std::int64_t n_left =
        split.splitter.split_bits(block * kBitRows, n_rows, words_of(split.leaf.bits, block),
                                  words_of(split.bits[0], block), words_of(split.bits[1], block));
    bits_[at(split.bits[0])].before[at(block + 1)] = n_left;
    bits_[at(split.bits[1])].before[at(block + 1)] = before[at(block + 1)] - before[at(block)] - n_left;
  });
  struct Side {
    std::int32_t bits;
    std::int64_t begin;  // of its list
  };
  std::vector<Side> listed;
  for (LeafSplit* const split : splits) {
    bits_[at(split->leaf.bits)].is_listed = false;
    for (const std::int32_t number : split->bits) {
      auto& before = bits_[at(number)].before;
      for (std::size_t block = 0; block < at(n_blocks); ++block) before[block + 1] += before[block];
    }
    split->n_left = bits_[at(split->bits[0])].before.back();
    for (std::size_t side = 0; side < 2; ++side) {
      if (kTableRowsPerRow * bits_[at(split->bits[side])].before.back() >= end_row_) continue;
      listed.push_back({split->bits[side], split->leaf.begin + (side == 0 ? 0 : split->n_left)});
      split->bits[side] = -1;
    }
  }
  team.for_each(std::ssize(listed) * n_blocks, [&](std::int64_t task, int) {
    const Side& side = listed[at(task % std::ssize(listed))];
    list_block(bits_[at(side.bits)], task / std::ssize(listed), rows_.data() + side.begin);
  });
  for (const Side& side : listed) free_bits_.push_back(side.bits);
}

}  // namespace gossamer
