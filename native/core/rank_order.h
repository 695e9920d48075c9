// The rows of a query from the highest score to the lowest; equal scores keep their order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/radix_sort.h"

namespace gossamer {

struct RankItem {
  std::uint64_t key;  // increases as the score falls
  std::uint32_t row;  // within the query
  bool operator<(const RankItem& other) const { return key != other.key ? key < other.key : row < other.row; }
};

// -0 and 0 are the same score.
inline std::uint64_t descending_key(double score) { return ~ordered_key(score + 0.0); }

inline void rank_rows(const double* score, std::int64_t n, std::vector<RankItem>& items) {
  items.resize(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    items[static_cast<std::size_t>(i)] = {descending_key(score[i]), static_cast<std::uint32_t>(i)};
  }
  if (n < 64) {
    std::sort(items.begin(), items.end());
    return;
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
}

// Only the best k, in order. Few rows beat the worst of them, so k should be small.
inline void rank_top(const double* score, std::int64_t n, std::int64_t k, std::vector<RankItem>& items) {
  constexpr std::int64_t kMost = 64;
  if (k >= n || k > kMost) {
    rank_rows(score, n, items);
    items.resize(static_cast<std::size_t>(std::min(n, k)));
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
