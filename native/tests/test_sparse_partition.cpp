// Rows to the two sides of a split of a sparse column, against a plain loop.
#include "core/sparse_partition.h"

#include <algorithm>
#include <map>

#include "support.h"

namespace gossamer::tests {
namespace {

struct Case {
  std::vector<RowIdx> entry_rows;
  std::vector<std::uint16_t> entry_bins;
  std::vector<RowIdx> rows;  // increasing
  bool contiguous = false;   // then rows is first_row, ...
  std::uint32_t threshold = 0;
  std::uint32_t missing_bin = 9;
  bool missing_left = false;
  bool zero_left = false;
};

std::vector<RowIdx> naive(const Case& c, std::int64_t& n_left) {
  std::map<RowIdx, std::uint32_t> bins;
  for (std::size_t e = 0; e < c.entry_rows.size(); ++e) bins[c.entry_rows[e]] = c.entry_bins[e];
  std::vector<RowIdx> left, right;
  for (const RowIdx row : c.rows) {
    bool goes_left = c.zero_left;
    if (const auto found = bins.find(row); found != bins.end()) {
      goes_left = found->second == c.missing_bin ? c.missing_left : found->second <= c.threshold;
    }
    (goes_left ? left : right).push_back(row);
  }
  n_left = static_cast<std::int64_t>(left.size());
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// Left rows, then right rows. The outputs are exactly n_rows long: nothing may be written behind.
std::vector<RowIdx> run(const Case& c, bool in_place, std::int64_t& n_left) {
  const auto n = static_cast<std::int64_t>(c.rows.size());
  std::vector<RowIdx> left(c.rows.size()), right(c.rows.size());
  if (in_place) left = c.rows;
  SparsePartition p;
  p.entry_rows = c.entry_rows;
  p.entry_bins = c.entry_bins;
  p.rows = c.contiguous ? nullptr : in_place ? left.data() : c.rows.data();
  p.first_row = c.contiguous && n > 0 ? static_cast<std::int64_t>(c.rows.front()) : 0;
  p.n_rows = n;
  p.threshold = c.threshold;
  p.missing_bin = c.missing_bin;
  p.missing_left = c.missing_left;
  p.zero_left = c.zero_left;
  p.left = left.data();
  p.right = right.data();
  n_left = partition_sparse(p);
  REQUIRE(n_left >= 0);
  REQUIRE(n_left <= n);
  left.resize(at(n_left));
  left.insert(left.end(), right.begin(), right.begin() + (n - n_left));
  return left;
}

void check(Case c) {
  for (const bool zero_left : {false, true}) {
    for (const bool missing_left : {false, true}) {
      for (const std::uint32_t threshold : {0u, 4u, 8u}) {
        c.zero_left = zero_left;
        c.missing_left = missing_left;
        c.threshold = threshold;
        std::int64_t expected_left = 0;
        const std::vector<RowIdx> expected = naive(c, expected_left);
        for (const bool in_place : {false, true}) {
          if (in_place && c.contiguous) continue;
          CAPTURE(c.rows.size());
          CAPTURE(c.entry_rows.size());
          CAPTURE(c.contiguous);
          CAPTURE(in_place);
          CAPTURE(zero_left);
          CAPTURE(missing_left);
          CAPTURE(threshold);
          std::int64_t n_left = -1;
          const std::vector<RowIdx> got = run(c, in_place, n_left);
          CHECK(n_left == expected_left);
          CHECK(first_difference(got, expected) == -1);
        }
      }
    }
  }
}

std::vector<RowIdx> random_rows(std::int64_t first, std::int64_t n, double share, Random& random) {
  std::vector<RowIdx> rows;
  for (std::int64_t row = first; row < first + n; ++row) {
    if (random.chance(share)) rows.push_back(static_cast<RowIdx>(row));
  }
  return rows;
}

void add_bins(Case& c, Random& random) {
  c.entry_bins.clear();
  for (std::size_t e = 0; e < c.entry_rows.size(); ++e) {
    c.entry_bins.push_back(static_cast<std::uint16_t>(random.below(10)));
  }
}

}  // namespace

TEST_SUITE("sparse_partition") {
  TEST_CASE("random rows and entries, from none to all") {
    Random random(41);
    for (const std::int64_t n : {1, 2, 7, 64, 500}) {
      for (const double entry_share : {0.0, 0.01, 0.1, 0.5, 1.0}) {
        for (const double row_share : {0.0, 0.02, 0.3, 0.9, 1.0}) {
          for (int round = 0; round < 3; ++round) {
            Case c;
            c.entry_rows = random_rows(0, n, entry_share, random);
            add_bins(c, random);
            c.rows = random_rows(0, n, row_share, random);
            check(c);
          }
        }
      }
    }
  }

  TEST_CASE("contiguous rows, from any first row") {
    Random random(42);
    for (const std::int64_t n : {0, 1, 5, 100}) {
      for (const std::int64_t first : {0, 1, 63, 200}) {
        for (const double entry_share : {0.0, 0.05, 0.6, 1.0}) {
          Case c;
          c.contiguous = true;
          c.entry_rows = random_rows(0, 400, entry_share, random);
          add_bins(c, random);
          for (std::int64_t i = 0; i < n; ++i) c.rows.push_back(static_cast<RowIdx>(first + i));
          check(c);
        }
      }
    }
  }

  TEST_CASE("entries before, between and behind the rows") {
    Random random(43);
    const std::vector<std::vector<RowIdx>> lists{
        {},    {0},         {999},         {0, 999}, {400, 500, 600}, {0, 1, 2, 3}, {996, 997, 998, 999},
        {500}, {499, 501},  {0, 500, 999}, {450},    {550},           {449, 551},   {450, 550},
        {450}, {500, 4000}, {4000000000u}};
    for (const auto& rows : lists) {
      for (const auto& entries : lists) {
        Case c;
        c.rows = rows;
        c.entry_rows = entries;
        add_bins(c, random);
        check(c);
      }
    }
    // A stretch of rows among entries on all sides of it.
    Case c;
    for (RowIdx row = 450; row <= 550; ++row) c.rows.push_back(row);
    for (const auto& entries : lists) {
      c.entry_rows = entries;
      add_bins(c, random);
      c.contiguous = false;
      check(c);
      c.contiguous = true;
      check(c);
    }
  }

  TEST_CASE("far apart: long runs of rows without entries and of entries without rows") {
    Random random(44);
    Case c;
    for (RowIdx block = 0; block < 40; ++block) {
      const RowIdx first = block * 5000;
      for (RowIdx i = 0; i < 700; ++i) (block % 2 == 0 ? c.rows : c.entry_rows).push_back(first + i * 7);
      c.rows.push_back(first + 4995);
      c.entry_rows.push_back(first + (block % 3 == 0 ? 4995 : 4996));
    }
    add_bins(c, random);
    check(c);
    std::swap(c.rows, c.entry_rows);
    add_bins(c, random);
    check(c);
  }

  TEST_CASE("rows near the end of their range") {
    Random random(45);
    Case c;
    constexpr RowIdx kLast = 0xFFFFFFFEu;
    for (RowIdx i = 0; i < 50; ++i) {
      c.rows.push_back(kLast - 100 + 2 * i);
      if (i % 3 == 0) c.entry_rows.push_back(kLast - 100 + 2 * i + (i % 2));
    }
    c.rows.push_back(kLast);
    c.entry_rows.push_back(kLast);
    add_bins(c, random);
    check(c);
  }
}

}  // namespace gossamer::tests
