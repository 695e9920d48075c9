// Rows by score, best first: metrics of order (AUC, average precision, ...) are sums over them.
//
// Rows are assigned to buckets by a monotone function of the score, chosen from a sample of the scores;
// then each bucket is sorted on its own while it is in the cache. Neither the buckets nor the order of
// rows with equal scores depends on the number of threads, so weights are added in one fixed order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "core/objectives.h"
#include "core/parallel.h"
#include "core/radix_sort.h"

namespace gossamer {

// Weights of the rows of one or several scores.
struct ClassWeights {
  double positive = 0.0;
  double negative = 0.0;
};

struct TieSum {
  double sum = 0.0;
  ClassWeights all;
};

// Which bucket a score belongs to; higher scores come first.
struct ScoreGrid {
  double low = 0.0;
  double scale = 0.0;  // 0: one cell, because the sampled scores are equal (or infinitely far apart)
  int n_cells = 1;

  int n_buckets() const { return n_cells + 1; }

  // Rounding is monotone, so equal scores share a bucket and higher ones never come later. Scores below zero are moved
  // one bucket further: no bucket has both signs, and the sign bit is free for the label.
  int bucket(double score) const {
    double t = (score - low) * scale;
    t = t > 0.0 ? t : 0.0;  // false for NaN too
    t = t < n_cells - 1.0 ? t : n_cells - 1.0;
    return n_cells - 1 - static_cast<int>(t) + (score >= 0.0 ? 0 : 1);
  }
};

ScoreGrid make_score_grid(const double* score, std::int64_t n);

namespace sorted_scores {

// Keys of the scores (descending) without their sign, then one bit: whether the row is positive.
struct CountedRow {
  std::uint64_t bits;
};
struct WeightedRow {
  std::uint64_t bits;
  float weight;
};

template <class Row>
std::uint64_t score_bits(const Row& row) {
  return row.bits | 1;
}
template <class Row>
bool is_positive(const Row& row) {
  return (row.bits & 1) != 0;
}

inline ClassWeights sum_weights(const CountedRow* first, const CountedRow* last) {
  std::int64_t n_positive = 0;
  for (const CountedRow* row = first; row != last; ++row) n_positive += is_positive(*row);
  return {static_cast<double>(n_positive), static_cast<double>(last - first - n_positive)};
}
inline ClassWeights sum_weights(const WeightedRow* first, const WeightedRow* last) {
  ClassWeights sum;
  for (const WeightedRow* row = first; row != last; ++row) {
    const auto weight = static_cast<double>(row->weight);
    sum.positive += is_positive(*row) ? weight : 0.0;
    sum.negative += is_positive(*row) ? 0.0 : weight;
  }
  return sum;
}

constexpr std::int64_t kBlock = 65536;
constexpr std::int64_t kLargeCell = 24;  // up to here insertion sort is fastest
constexpr int kLargestCellBits = 15;     // counters stay in the cache

template <class Row>
struct Scratch {
  std::vector<Row> rows;
  std::vector<std::uint32_t> ends;
};

template <class Row>
void insertion_sort(Row* rows, std::int64_t n) {
  for (std::int64_t i = 1; i < n; ++i) {
    const Row row = rows[i];
    std::int64_t j = i;
    for (; j > 0 && score_bits(rows[j - 1]) > score_bits(row); --j) rows[j] = rows[j - 1];
    rows[j] = row;
  }
}

// Cells within which a few rows are out of order are left to the caller's insertion sort.
template <class Row>
void sort_large_cells(Row* rows, const std::vector<std::uint32_t>& ends) {
  std::uint32_t begin = 0;
  for (const std::uint32_t end : ends) {
    const auto less = [](const Row& a, const Row& b) { return score_bits(a) < score_bits(b); };
    if (end - begin > kLargeCell && !std::is_sorted(rows + begin, rows + end, less)) {
      std::vector<Row> cell(rows + begin, rows + end);
      radix_sort(cell, [](const Row& row) { return score_bits(row); });
      std::copy(cell.begin(), cell.end(), rows + begin);
    }
    begin = end;
  }
}

// Sorts by score, keeping the order of equal scores.
template <class Row>
void sort_bucket(Row* rows, std::int64_t n, Scratch<Row>& scratch) {
  if (n <= kLargeCell) return insertion_sort(rows, n);
  std::uint64_t least = score_bits(rows[0]);
  std::uint64_t most = least;
  for (std::int64_t i = 1; i < n; ++i) {
    least = std::min(least, score_bits(rows[i]));
    most = std::max(most, score_bits(rows[i]));
  }
  if (least == most) return;
  // A counting sort into about as many cells as rows leaves almost everything in order.
  const int cell_bits = std::min(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))), kLargestCellBits);
  const int shift = std::max(0, static_cast<int>(std::bit_width(most - least)) - cell_bits);
  const auto cell = [&](const Row& row) { return static_cast<std::size_t>((score_bits(row) - least) >> shift); };
  auto& ends = scratch.ends;
  ends.assign(static_cast<std::size_t>((most - least) >> shift) + 1, 0);
  for (std::int64_t i = 0; i < n; ++i) ++ends[cell(rows[i])];
  std::uint32_t sum = 0;
  std::uint32_t largest = 0;
  for (std::uint32_t& end : ends) {
    largest = std::max(largest, end);
    end = std::exchange(sum, sum + end);
  }
  scratch.rows.resize(std::max(scratch.rows.size(), static_cast<std::size_t>(n)));
  Row* const out = scratch.rows.data();
  for (std::int64_t i = 0; i < n; ++i) out[ends[cell(rows[i])]++] = rows[i];
  if (largest > kLargeCell) sort_large_cells(out, ends);
  insertion_sort(out, n);
  std::copy(out, out + n, rows);
}

// Rows by bucket, in their order; begin[b] is the first of bucket b.
template <class Row>
void deal(Team& team, const RowTargets& t, const double* score, Buffer<Row>& rows, std::vector<std::int64_t>& begin) {
  const ScoreGrid grid = make_score_grid(score, t.n_rows);
  const auto n_buckets = static_cast<std::size_t>(grid.n_buckets());
  const auto n_blocks = static_cast<std::size_t>((t.n_rows + kBlock - 1) / kBlock);
  Buffer<std::uint16_t> bucket_of(t.n_rows);
  std::vector<std::int64_t> next(n_blocks * n_buckets);  // per block: where its next row of a bucket goes
  for_blocks(team, t.n_rows, kBlock, [&](std::int64_t first, std::int64_t last, std::int64_t b, int) {
    std::int64_t* const counts = next.data() + static_cast<std::size_t>(b) * n_buckets;
    for (std::int64_t i = first; i < last; ++i) {
      const int bucket = grid.bucket(score[i]);
      bucket_of[i] = static_cast<std::uint16_t>(bucket);
      ++counts[bucket];
    }
  });
  begin.assign(n_buckets + 1, 0);
  std::int64_t sum = 0;
  for (std::size_t bucket = 0; bucket < n_buckets; ++bucket) {
    begin[bucket] = sum;
    for (std::size_t b = 0; b < n_blocks; ++b) {
      std::int64_t& place = next[b * n_buckets + bucket];
      place = std::exchange(sum, sum + place);
    }
  }
  begin[n_buckets] = sum;
  rows.reset(t.n_rows);
  for_blocks(team, t.n_rows, kBlock, [&](std::int64_t first, std::int64_t last, std::int64_t b, int) {
    std::int64_t* const places = next.data() + static_cast<std::size_t>(b) * n_buckets;
    for (std::int64_t i = first; i < last; ++i) {
      // + 0.0 makes -0 and 0 equal.
      const std::uint64_t bits = (~ordered_key(score[i] + 0.0) << 1) | (t.label[i] > 0.0f ? 1u : 0u);
      Row& row = rows[places[bucket_of[i]]++];
      if constexpr (std::is_same_v<Row, WeightedRow>) {
        row = {bits, t.weight[i]};
      } else {
        row = {bits};
      }
    }
  });
}

template <class Row, class Term>
TieSum sum_ties(Team& team, const RowTargets& t, const double* score, const Term& term) {
  Buffer<Row> rows;
  std::vector<std::int64_t> begin;
  deal(team, t, score, rows, begin);
  const auto n_buckets = static_cast<std::int64_t>(begin.size()) - 1;
  const auto rows_of = [&](std::int64_t bucket) {
    const auto b = static_cast<std::size_t>(bucket);
    return std::pair(rows.data() + begin[b], rows.data() + begin[b + 1]);
  };
  std::vector<Scratch<Row>> scratch(static_cast<std::size_t>(team.n_threads()));
  std::vector<ClassWeights> above(static_cast<std::size_t>(n_buckets));  // at first the weights of the bucket itself
  team.for_each(n_buckets, [&](std::int64_t bucket, int thread) {
    const auto [first, last] = rows_of(bucket);
    sort_bucket(first, last - first, scratch[static_cast<std::size_t>(thread)]);
    above[static_cast<std::size_t>(bucket)] = sum_weights(first, last);
  });
  TieSum total;
  for (ClassWeights& weights : above) {
    const ClassWeights own = std::exchange(weights, total.all);
    total.all.positive += own.positive;
    total.all.negative += own.negative;
  }
  std::vector<double> sums(static_cast<std::size_t>(n_buckets));
  team.for_each(n_buckets, [&](std::int64_t bucket, int) {
    const auto [first, last] = rows_of(bucket);
    ClassWeights before = above[static_cast<std::size_t>(bucket)];
    double sum = 0.0;
    for (const Row* row = first; row != last;) {
      const Row* const begin_of_tie = row;
      do ++row;
      while (row != last && score_bits(*row) == score_bits(*begin_of_tie));
      const ClassWeights tie = sum_weights(begin_of_tie, row);
      sum += term(before, tie);
      before.positive += tie.positive;
      before.negative += tie.negative;
    }
    sums[static_cast<std::size_t>(bucket)] = sum;
  });
  for (const double sum : sums) total.sum += sum;
  return total;
}

}  // namespace sorted_scores

// Adds term(weights above the score, weights of its rows) over all distinct scores, best first.
// A row is positive when its label is above zero.
template <class Term>
TieSum sum_ties(Team& team, const RowTargets& targets, const double* score, const Term& term) {
  return targets.weight != nullptr ? sorted_scores::sum_ties<sorted_scores::WeightedRow>(team, targets, score, term)
                                   : sorted_scores::sum_ties<sorted_scores::CountedRow>(team, targets, score, term);
}

}  // namespace gossamer
