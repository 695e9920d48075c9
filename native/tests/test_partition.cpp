// Rows to the two sides of a split, against a plain loop.
#include "support.h"

namespace gossamer::tests {
namespace {

struct Case {
  std::int64_t n_all = 0;      // rows of the column
  std::int64_t first_row = 0;  // contiguous
  std::vector<RowIdx> rows;    // gathered, unless `contiguous`
  bool contiguous = false;
  std::uint32_t threshold = 0;
  std::uint32_t missing_bin = 0;
  bool missing_left = false;

  std::int64_t n_rows = 0;
};

template <class Bin>
std::vector<RowIdx> naive(const Case& c, const Buffer<Bin>& column, std::int64_t& n_left) {
  std::vector<RowIdx> left, right;
  for (std::int64_t i = 0; i < c.n_rows; ++i) {
    const auto row = c.contiguous ? static_cast<RowIdx>(c.first_row + i) : c.rows[at(i)];
    const std::uint32_t bin = column[row];
    const bool goes_left = bin == c.missing_bin ? c.missing_left : bin <= c.threshold;
    (goes_left ? left : right).push_back(row);
  }
  n_left = static_cast<std::int64_t>(left.size());
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// Left rows then right rows. The outputs are exactly n_rows long: nothing may be written behind.
template <class Bin>
std::vector<RowIdx> run(const Case& c, const Buffer<Bin>& column, bool in_place, std::int64_t& n_left) {
  std::vector<RowIdx> left(at(c.n_rows)), right(at(c.n_rows));
  if (in_place) left = c.rows;
  PartitionArgs args;
  args.column = column.data();
  args.rows = c.contiguous ? nullptr : in_place ? left.data() : c.rows.data();
  args.first_row = c.first_row;
  args.n_rows = c.n_rows;
  args.threshold = c.threshold;
  args.missing_bin = c.missing_bin;
  args.missing_left = c.missing_left;
  args.left = left.data();
  args.right = right.data();
  n_left = sizeof(Bin) == 1 ? kernels().partition_u8(args) : kernels().partition_u16(args);
  left.resize(at(n_left));
  left.insert(left.end(), right.begin(), right.begin() + (c.n_rows - n_left));
  return left;
}

template <class Bin>
Buffer<Bin> random_column(std::int64_t n, std::int64_t n_bins, Random& random) {
  Buffer<Bin> column(n + 1);
  for (std::int64_t i = 0; i < n; ++i) column[i] = static_cast<Bin>(random.below(n_bins + 1));
  return column;
}

template <class Bin>
void check(const Case& c, const Buffer<Bin>& column) {
  std::int64_t expected_left = 0;
  const std::vector<RowIdx> expected = naive(c, column, expected_left);
  CAPTURE(c.n_rows);
  CAPTURE(c.contiguous);
  CAPTURE(c.threshold);
  CAPTURE(c.missing_left);
  for (const bool in_place : {false, true}) {
    if (in_place && c.contiguous) continue;
    CAPTURE(in_place);
    std::int64_t n_left = -1;
    const std::vector<RowIdx> got = run(c, column, in_place, n_left);
    CHECK(n_left == expected_left);
    CHECK(first_difference(got, expected) == -1);
  }
}

template <class Bin>
void check_size(std::int64_t n_rows, std::int64_t n_bins, Random& random) {
  Case c;
  c.n_all = 3 * n_rows + 40;
  c.n_rows = n_rows;
  c.missing_bin = static_cast<std::uint32_t>(n_bins);
  const Buffer<Bin> column = random_column<Bin>(c.n_all, n_bins, random);
  // Every third row, give or take: increasing, as the grower keeps them.
  for (std::int64_t i = 0; i < n_rows; ++i) c.rows.push_back(static_cast<RowIdx>(3 * i + random.below(3)));
  for (const std::int64_t threshold : {std::int64_t{0}, n_bins / 2, n_bins - 1}) {
    for (const bool missing_left : {false, true}) {
      c.threshold = static_cast<std::uint32_t>(threshold);
      c.missing_left = missing_left;
      c.contiguous = false;
      check(c, column);
      c.contiguous = true;
      for (const std::int64_t first : {0, 1, 37}) {
        c.first_row = first;
        check(c, column);
      }
    }
  }
}

// Lane values that stand 2^shift apart: by a table, or by a threshold.
template <class Bin>
void check_lane(std::int64_t n_rows, std::int64_t n_values, int shift, Random& random) {
  const std::int64_t n_all = 2 * n_rows + 20;
  Buffer<Bin> lanes((n_all << shift) + 1);
  for (auto& v : lanes) v = static_cast<Bin>(random.below(n_values));
  std::vector<std::uint8_t> table(sizeof(Bin) == 1 ? 256 : at(n_values));
  for (auto& left : table) left = random.chance(0.5);
  std::vector<RowIdx> gathered;
  for (std::int64_t i = 0; i < n_rows; ++i) gathered.push_back(static_cast<RowIdx>(2 * i + random.below(2)));
  for (const bool by_table : {true, false}) {
    for (const bool contiguous : {true, false}) {
      for (const bool missing_left : {true, false}) {
        PartitionArgs args;
        args.column = lanes.data();
        args.row_shift = shift;
        args.goes_left = by_table ? table.data() : nullptr;
        args.first_row = 13;
        args.n_rows = n_rows;
        args.threshold = static_cast<std::uint32_t>(n_values / 3);
        args.missing_bin = static_cast<std::uint32_t>(n_values - 1);
        args.missing_left = missing_left;
        std::vector<RowIdx> expected[2];
        for (std::int64_t i = 0; i < n_rows; ++i) {
          const RowIdx row = contiguous ? static_cast<RowIdx>(13 + i) : gathered[at(i)];
          const std::uint32_t v = lanes[static_cast<std::int64_t>(row) << shift];
          const bool by_value = v == args.missing_bin ? missing_left : v <= args.threshold;
          expected[by_table ? 1 - table[v] : 1 - by_value].push_back(row);
        }
        // In place, too: the outputs are exactly n_rows long.
        std::vector<RowIdx> left = gathered, right(at(n_rows));
        args.rows = contiguous ? nullptr : left.data();
        args.left = left.data();
        args.right = right.data();
        const std::int64_t n_left = sizeof(Bin) == 1 ? kernels().partition_u8(args) : kernels().partition_u16(args);
        CAPTURE(n_rows);
        CAPTURE(n_values);
        CAPTURE(shift);
        CAPTURE(by_table);
        CAPTURE(contiguous);
        REQUIRE(n_left == static_cast<std::int64_t>(expected[0].size()));
        left.resize(at(n_left));
        right.resize(at(n_rows - n_left));
        CHECK(left == expected[0]);
        CHECK(right == expected[1]);
      }
    }
  }
}

}  // namespace

TEST_SUITE("partition") {
  TEST_CASE("all sizes up to 100, one byte") {
    at_every_level([] {
      Random random(1);
      for (std::int64_t n = 0; n <= 100; ++n) check_size<std::uint8_t>(n, 255, random);
    });
  }

  TEST_CASE("all sizes up to 100, two bytes") {
    at_every_level([] {
      Random random(2);
      for (std::int64_t n = 0; n <= 100; ++n) check_size<std::uint16_t>(n, 1000, random);
    });
  }

  TEST_CASE("few bins, one byte") {
    at_every_level([] {
      Random random(3);
      for (const std::int64_t n_bins : {1, 2, 3}) check_size<std::uint8_t>(77, n_bins, random);
    });
  }

  TEST_CASE("thousands of rows") {
    at_every_level([] {
      Random random(4);
      for (const std::int64_t n : {1000, 4096, 20001}) {
        check_size<std::uint8_t>(n, 200, random);
        check_size<std::uint16_t>(n, 65535, random);
      }
    });
  }

  TEST_CASE("everything to one side") {
    at_every_level([] {
      for (const int bin : {0, 255}) {
        Case c;
        c.n_rows = c.n_all = 100;
        c.contiguous = true;
        c.threshold = 100;
        c.missing_bin = 255;
        Buffer<std::uint8_t> column(c.n_all);
        for (auto& b : column) b = static_cast<std::uint8_t>(bin);
        for (const bool missing_left : {false, true}) {
          c.missing_left = missing_left;
          std::int64_t n_left = -1;
          run(c, column, false, n_left);
          CHECK(n_left == (bin == 0 || missing_left ? 100 : 0));
        }
      }
    });
  }

  TEST_CASE("rows need not be in order") {
    at_every_level([] {
      Random random(5);
      Case c;
      c.n_all = 500;
      c.n_rows = 300;
      c.threshold = 90;
      c.missing_bin = 200;
      const Buffer<std::uint8_t> column = random_column<std::uint8_t>(c.n_all, 200, random);
      for (std::int64_t i = 0; i < c.n_rows; ++i) c.rows.push_back(static_cast<RowIdx>(random.below(c.n_all)));
      check(c, column);
    });
  }

  TEST_CASE("a table of lane values decides, lanes stand apart") {
    at_every_level([] {
      Random random(6);
      for (const std::int64_t n : {0, 1, 15, 16, 17, 100, 1001}) {
        for (const int shift : {0, 1, 5}) {
          check_lane<std::uint8_t>(n, 256, shift, random);
          check_lane<std::uint8_t>(n, 3, shift, random);
          check_lane<std::uint16_t>(n, 1000, shift, random);
          check_lane<std::uint16_t>(n, 65536, shift, random);
        }
      }
    });
  }
}

}  // namespace gossamer::tests
