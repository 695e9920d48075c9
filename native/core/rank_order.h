// The rows of a query from the highest score to the lowest; equal scores keep their order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/radix_sort.h"
#include "kernels/kernels.h"

namespace gossamer {

struct RankItem {
  std::uint64_t key;  // increases as the score falls
  std::uint32_t row;  // within the query
  bool operator<(const RankItem& other) const { return key != other.key ? key < other.key : row < other.row; }
};

constexpr std::int64_t kFewRows = 256;  // beyond it, sorting is faster than comparing all pairs

// -0 and 0 are the same score.
inline std::uint64_t descending_key(double score) { return ~ordered_key(score + 0.0); }

// Few rows, by the upper halves of their keys, which tell most scores apart.
inline void rank_few(const double* score, std::int64_t n, std::vector<std::uint32_t>& rows) {
  std::int32_t key[kFewRows];
  std::int32_t rank[kFewRows];
  for (std::int64_t i = 0; i < n; ++i) {
    key[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(descending_key(score[i]) >> 32) ^ 0x80000000u);
  }
  kernels().rank_keys(key, n, rank);
  for (std::int64_t i = 0; i < n; ++i) rows[static_cast<std::size_t>(rank[i])] = static_cast<std::uint32_t>(i);
  bool is_sorted = true;
  for (std::size_t r = 1; r < rows.size(); ++r) is_sorted &= !(score[rows[r - 1]] < score[rows[r]]);
  if (is_sorted) return;
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return RankItem{descending_key(score[a]), a} < RankItem{descending_key(score[b]), b};
  });
}

inline void rank_rows(const double* score, std::int64_t n, std::vector<std::uint32_t>& rows) {
  rows.resize(static_cast<std::size_t>(n));
  if (n <= kFewRows) return rank_few(score, n, rows);
  std::vector<RankItem> items(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    items[static_cast<std::size_t>(i)] = {descending_key(score[i]), static_cast<std::uint32_t>(i)};
  }
  // The upper halves of the keys tell most scores apart; runs that share them are sorted by all bits.
  const auto upper = [](const RankItem& item) { return static_cast<std::uint32_t>(item.key >> 32); };
  radix_sort(items, upper);
  for (std::size_t i = 0; i < items.size();) {
    std::size_t end = i + 1;
    bool differ = false;
    for (; end < items.size() && upper(items[end]) == upper(items[i]); ++end) differ |= items[end].key != items[i].key;
    if (differ) std::sort(items.data() + i, items.data() + end);
    i = end;
  }
  for (std::size_t r = 0; r < items.size(); ++r) rows[r] = items[r].row;
}

// Only the best k, in order. Few rows beat the worst of them, so k should be small.
inline void rank_top(const double* score, std::int64_t n, std::int64_t k, std::vector<RankItem>& items) {
  constexpr std::int64_t kMost = 64;
  if (k >= n || k > kMost) {
    std::vector<std::uint32_t> rows;
    rank_rows(score, n, rows);
    items.resize(static_cast<std::size_t>(std::min(n, k)));
    for (std::size_t r = 0; r < items.size(); ++r) items[r] = {descending_key(score[rows[r]]), rows[r]};
    return;
  }
  items.resize(static_cast<std::size_t>(k));
  std::int64_t filled = 0;
  double worst = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (filled == k && !(score[i] > worst)) continue;
    const RankItem item = {descending_key(score[i]), static_cast<std::uint32_t>(i)};
    std::int64_t place = filled < k ? filled++ : k - 1;
    for (; place > 0 && item < items[static_cast<std::size_t>(place - 1)]; --place) {
      items[static_cast<std::size_t>(place)] = items[static_cast<std::size_t>(place - 1)];
    }
    items[static_cast<std::size_t>(place)] = item;
    worst = score[items.back().row];
  }
}

}  // namespace gossamer
