// Sparse columns row by row, against a plain loop over their entries.
#include "core/sparse_rows.h"

#include <algorithm>

#include "sparse_table.h"

namespace gossamer::tests {
namespace {

struct Column {
  int n_value_bins;
  double share;  // of rows with an entry
  MissingKind kind = MissingKind::nan;
  bool may_miss = false;
  double first_bound = 0.5;  // zero is in bin 0; below zero: in a higher one
};

// All features are loose. Entries are put in as they are.
std::shared_ptr<BinMatrix> make_loose(std::int64_t n_rows, const std::vector<Column>& columns, Random& random) {
  std::vector<Feature> features;
  Storage storage;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::vector<double> upper;
    for (int b = 0; b + 1 < columns[c].n_value_bins; ++b) upper.push_back(columns[c].first_bound + b);
    upper.push_back(kInfinity);
    features.push_back(make_feature(static_cast<std::int32_t>(c), upper, columns[c].kind));
    features.back().may_miss = columns[c].may_miss;
    storage.loose.push_back(static_cast<std::int32_t>(c));
  }
  auto matrix = std::make_shared<BinMatrix>(std::move(features), n_rows, storage);
  SparseColumns entries;
  std::vector<RowIdx> rows;
  std::vector<std::uint16_t> bins;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Feature& f = matrix->features()[c];
    entries.features.push_back(static_cast<std::int32_t>(c));
    for (std::int64_t row = 0; row < n_rows; ++row) {
      if (!random.chance(columns[c].share)) continue;
      rows.push_back(static_cast<RowIdx>(row));
      bins.push_back(
          static_cast<std::uint16_t>(f.bin_of_other(static_cast<std::int32_t>(random.below(f.n_other_bins())))));
    }
    entries.begin.push_back(static_cast<std::int64_t>(rows.size()));
  }
  entries.rows.reset(static_cast<std::int64_t>(rows.size()));
  entries.bins.reset(static_cast<std::int64_t>(rows.size()));
  std::copy(rows.begin(), rows.end(), entries.rows.begin());
  std::copy(bins.begin(), bins.end(), entries.bins.begin());
  matrix->set_sparse(entries);
  return matrix;
}

void check_places(const BinMatrix& matrix, const SparseRows& r, std::int64_t min_count) {
  const SparseColumns& columns = matrix.sparse();
  const auto count_of = [&](std::int32_t f) {
    const std::int32_t c = matrix.features()[at(f)].entries;
    return c < 0 ? 0 : static_cast<std::int64_t>(columns.rows_of(c).size());
  };
  // Who is there, and where its cells are.
  REQUIRE(r.place_of.size() == matrix.features().size());
  REQUIRE(r.first_cell.size() == r.features.size() + 1);
  CHECK(r.first_cell.front() == 0);
  CHECK(r.first_cell.back() == r.n_cells);
  REQUIRE(r.feature_of.size() == at(r.n_cells));
  std::int64_t n_here = 0;
  for (std::size_t f = 0; f < r.place_of.size(); ++f) {
    const std::int64_t count = count_of(static_cast<std::int32_t>(f));
    CHECK((r.place_of[f] >= 0) == (count >= std::max<std::int64_t>(min_count, 0) && matrix.features()[f].entries >= 0));
    if (r.place_of[f] < 0) continue;
    ++n_here;
    REQUIRE(at(r.place_of[f]) < r.features.size());
    CHECK(r.features[at(r.place_of[f])] == static_cast<std::int32_t>(f));
  }
  CHECK(n_here == static_cast<std::int64_t>(r.features.size()));
  for (std::size_t p = 0; p < r.features.size(); ++p) {
    const std::int32_t f = r.features[p];
    CHECK(r.first_cell[p + 1] - r.first_cell[p] == matrix.features()[at(f)].n_other_bins());
    for (std::int64_t cell = r.first_cell[p]; cell < r.first_cell[p + 1]; ++cell) CHECK(r.feature_of[at(cell)] == f);
  }
  // Packed cells take 8191, 4095 or 2047 rows: features with more come first.
  for (const std::int64_t max_rows : {1000000, 8191, 4095, 2047}) {
    CAPTURE(max_rows);
    for (std::size_t p = 0; p < r.features.size(); ++p) {
      CHECK((r.first_cell[p] < r.n_heavy(max_rows)) ==
            (count_of(r.features[p]) > std::min<std::int64_t>(max_rows, 8191)));
    }
  }
  // Blocks follow each other and have one nature each.
  std::int32_t place = 0;
  std::int64_t largest = 0;
  for (const SparseRows::Block& block : r.blocks) {
    CHECK(block.first == place);
    CHECK(block.n > 0);
    CHECK(block.first_cell == r.first_cell[at(place)]);
    CHECK(block.n_cells == r.first_cell[at(place + block.n)] - block.first_cell);
    CHECK((block.n == 1 || block.n_cells <= 512));
    for (std::int32_t p = place; p < place + block.n; ++p) {
      const Feature& f = matrix.features()[at(r.features[at(p)])];
      CHECK(block.rising == (f.zero_bin == 0 && !f.may_miss));
      for (const std::int64_t max_rows : {8191, 4095, 2047}) {
        CHECK((block.first_cell < r.n_heavy(max_rows)) == (count_of(r.features[at(p)]) > max_rows));
      }
    }
    place += block.n;
    largest = std::max(largest, block.n_cells);
  }
  CHECK(place == static_cast<std::int32_t>(r.features.size()));
  CHECK(r.max_block_cells == largest);
}

void check_codes(const BinMatrix& matrix, const SparseRows& r) {
  std::vector<std::vector<std::uint32_t>> expected(at(matrix.n_rows()));
  for (std::size_t p = 0; p < r.features.size(); ++p) {
    const Feature& f = matrix.features()[at(r.features[p])];
    const auto rows = matrix.sparse().rows_of(f.entries);
    const auto bins = matrix.sparse().bins_of(f.entries);
    for (std::size_t e = 0; e < rows.size(); ++e) {
      // Cells are the bins in order, without zero's bin.
      std::int64_t cell = r.first_cell[p];
      for (std::int32_t b = 0; b < bins[e]; ++b) cell += b != f.zero_bin;
      expected[rows[e]].push_back(static_cast<std::uint32_t>(cell));
    }
  }
  REQUIRE(r.row_begin.size() == matrix.n_rows() + 1);
  CHECK(r.row_begin[0] == 0);
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < matrix.n_rows(); ++row) {
    auto& codes = expected[at(row)];
    std::sort(codes.begin(), codes.end());
    const std::int64_t begin = r.row_begin[row];
    if (r.row_begin[row + 1] - begin != static_cast<std::int64_t>(codes.size())) {
      ++wrong;
      continue;
    }
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const std::int64_t e = begin + static_cast<std::int64_t>(i);
      wrong += (r.wide_codes() ? r.codes32[e] : r.codes16[e]) != codes[i];
    }
  }
  CHECK(wrong == 0);
  CHECK(r.codes() == (r.wide_codes() ? static_cast<const void*>(r.codes32.data()) : r.codes16.data()));
}

}  // namespace

TEST_SUITE("sparse_rows") {
  TEST_CASE("every row's cells: zero in any bin, missing values, heavy columns, several tiles of rows") {
    Random random(51);
    // More rows than a tile has; a share of 0.3 is more than a packed cell takes.
    const std::int64_t n_rows = 70001;
    std::vector<Column> columns;
    for (int i = 0; i < 12; ++i) {
      columns.push_back({2, 0.01 * i});
      columns.push_back({5, i % 5 == 0 ? 0.3 : 0.002 * i});
      columns.push_back({7, 0.004 * i, MissingKind::nan, i % 2 == 0, -2.5});
      columns.push_back({4, i % 7 == 0 ? 0.2 : 0.01, MissingKind::zero, true});
      columns.push_back({200, 0.02, MissingKind::nan, false, i % 2 == 0 ? 0.5 : -100.5});
    }
    const auto matrix = make_loose(n_rows, columns, random);
    for (const int n_threads : {1, 3}) {
      Team team(n_threads);
      for (const std::int64_t min_count : {1, 20, 900, 15000}) {
        CAPTURE(n_threads);
        CAPTURE(min_count);
        const auto rows = make_sparse_rows(team, *matrix, min_count);
        CHECK(rows->min_count == min_count);
        CHECK_FALSE(rows->wide_codes());
        check_places(*matrix, *rows, min_count);
        check_codes(*matrix, *rows);
        if (min_count == 1) CHECK(rows->n_heavy(8191) > 0);
        if (min_count == 1) CHECK(rows->n_heavy(8191) < rows->n_heavy(2047));
        if (min_count == 1) CHECK(rows->n_heavy(2047) < rows->n_cells);
        if (min_count == 15000) CHECK(rows->n_heavy(8191) == rows->n_cells);
      }
    }
  }

  TEST_CASE("16 bits for 65,536 cells, 32 for more") {
    Random random(52);
    for (const int n_columns : {16, 17}) {
      // One of the 4097 bins is zero's.
      std::vector<Column> columns(at(n_columns), Column{4097, 0.1});
      const auto matrix = make_loose(3000, columns, random);
      Team team(2);
      const auto rows = make_sparse_rows(team, *matrix, 1);
      CHECK(rows->n_cells == n_columns * 4096);
      CHECK(rows->wide_codes() == (n_columns == 17));
      check_places(*matrix, *rows, 1);
      check_codes(*matrix, *rows);
    }
  }

  TEST_CASE("the fullest first, then the smaller feature") {
    Random random(53);
    std::vector<Column> columns;
    for (const double share : {0.1, 0.5, 0.1, 0.9, 0.3}) columns.push_back({2, share});
    const auto matrix = make_loose(2000, columns, random);
    Team team(1);
    const auto rows = make_sparse_rows(team, *matrix, 1);
    CHECK(rows->features[0] == 3);
    CHECK(rows->features[1] == 1);
    CHECK(rows->features[2] == 4);
    // A copy of a column has as many rows: the smaller number comes first.
    std::vector<Column> equal(5, Column{2, 1.0});
    const auto same = make_loose(100, equal, random);
    CHECK(make_sparse_rows(team, *same, 1)->features == std::vector<std::int32_t>{0, 1, 2, 3, 4});
  }

  TEST_CASE("exactly as many rows as a packed cell takes") {
    Random random(54);
    for (const std::int64_t max_rows : {2047, 4095, 8191}) {
      for (const std::int64_t n_rows : {max_rows, max_rows + 1}) {
        const auto matrix = make_loose(n_rows, {{2, 1.0}}, random);
        Team team(1);
        const auto rows = make_sparse_rows(team, *matrix, 1);
        CHECK(rows->n_heavy(max_rows) == (n_rows > max_rows ? 1 : 0));
        check_places(*matrix, *rows, 1);
      }
    }
  }

  TEST_CASE("nothing left, nothing there") {
    Random random(55);
    Team team(3);
    const auto few = make_loose(100, {{2, 0.1}, {3, 0.2}}, random);
    const auto none = make_sparse_rows(team, *few, 50);
    CHECK(none->n_cells == 0);
    CHECK(none->blocks.empty());
    CHECK(none->n_entries() == 0);
    check_codes(*few, *none);
    const auto empty = make_loose(100, {{2, 0.0}, {3, 0.0}}, random);
    CHECK(make_sparse_rows(team, *empty, 1)->n_cells == 0);
    const auto no_rows = make_loose(0, {{2, 0.5}}, random);
    CHECK(make_sparse_rows(team, *no_rows, 1)->n_entries() == 0);
  }

  TEST_CASE("a matrix keeps them until another count is asked for") {
    Random random(56);
    const auto matrix = make_loose(1000, {{2, 0.1}, {2, 0.5}}, random);
    Team team(1);
    const auto first = matrix->sparse_rows(team, 1);
    CHECK(matrix->sparse_rows(team, 1) == first);
    const auto other = matrix->sparse_rows(team, 300);
    CHECK(other->features == std::vector<std::int32_t>{1});
    CHECK(first->features.size() == 2);  // who holds them keeps them
    CHECK(matrix->sparse_rows(team, 1)->features.size() == 2);
  }
}

}  // namespace gossamer::tests
