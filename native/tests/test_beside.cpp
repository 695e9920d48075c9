// Two tables put side by side: every bin is where it was, however the two are kept.
#include <numeric>
#include <stdexcept>

#include "core/row_splitter.h"
#include "core/sparse_rows.h"
#include "sparse_table.h"

namespace gossamer::tests {
namespace {

// Values of both tables in one, for the plain loop.
Table<float> join(const Table<float>& left, const Table<float>& right) {
  Table<float> both(left.n_rows(), left.n_columns() + right.n_columns());
  for (std::int64_t row = 0; row < both.n_rows(); ++row) {
    for (std::int64_t c = 0; c < both.n_columns(); ++c) {
      both(row, c) = c < left.n_columns() ? left(row, c) : right(row, c - left.n_columns());
    }
  }
  return both;
}

std::int32_t width(const Mixed& m) { return static_cast<std::int32_t>(m.table.n_columns()); }

// Which rows go left by the kernels, against the bins.
void check_splits(const BinMatrix& matrix) {
  std::vector<RowIdx> rows(at(matrix.n_rows()));
  std::iota(rows.begin(), rows.end(), RowIdx{0});
  for (std::size_t f = 0; f < matrix.features().size(); ++f) {
    CAPTURE(f);
    const Feature& feature = matrix.features()[f];
    const std::int32_t threshold = feature.n_value_bins / 2;
    const auto bins = column_of(matrix, f);
    std::vector<RowIdx> expected;
    for (const RowIdx row : rows) {
      if (bins[row] == feature.n_value_bins || bins[row] <= threshold) expected.push_back(row);
    }
    const RowSplitter splitter(matrix, static_cast<std::int32_t>(f), threshold, true);
    std::vector<RowIdx> left = rows, right(rows.size());
    const auto n_left = splitter.split(rows.data(), 0, matrix.n_rows(), left.data(), right.data());
    left.resize(at(n_left));
    CHECK(first_difference(left, expected) == -1);
  }
}

void check_pair(const Mixed& a, const Mixed& b, int n_threads) {
  const Table<float> both = join(a.table, b.table);
  const auto storages_a = storages_of(a), storages_b = storages_of(b);
  Team team(n_threads);
  for (const NamedStorage& sa : storages_a) {
    for (const NamedStorage& sb : storages_b) {
      CAPTURE(sa.name);
      CAPTURE(sb.name);
      const auto left = fill_training(a, sa.storage, a.table.dense());
      const auto right = fill_training(b, sb.storage, b.table.dense());
      const auto matrix = put_beside(team, *left, *right, width(a));
      REQUIRE(matrix->features().size() == a.features.size() + b.features.size());
      check_bins(*matrix, both);
      CHECK(matrix->is_trainable());
      CHECK(matrix->sparse().n_entries() == left->sparse().n_entries() + right->sparse().n_entries());
      matrix->make_columns(team);
      check_splits(*matrix);
      // Some rows of it, and entries row by row, as of any other table.
      const auto rows = matrix->sparse_rows(team, 0);
      CHECK(rows->n_entries() == matrix->sparse().n_entries());
      const std::vector<RowIdx> some{5, 0, 7, 7, 99};
      BinMatrix taken(matrix->features(), static_cast<std::int64_t>(some.size()), matrix->storage());
      taken.fill_from(team, *matrix, some);
      for (std::size_t f = 0; f < taken.features().size(); ++f) {
        const auto all = column_of(*matrix, f), part = column_of(taken, f);
        for (std::size_t i = 0; i < some.size(); ++i) CHECK(part[i] == all[some[i]]);
      }
    }
  }
}

TEST_SUITE_BEGIN("beside");

TEST_CASE("every bin is kept, whatever the storage of the two") {
  for (const MissingKind kind : kMissingKinds) {
    for (const int n_threads : {1, 3}) {
      CAPTURE(static_cast<int>(kind));
      check_pair(make_mixed({300, 2, 4, 4, 3, kind}, 1), make_mixed({300, 2, 5, 3, 3, kind}, 2), n_threads);
    }
  }
}

TEST_CASE("features of both share lanes and groups as if they had come together") {
  const Mixed a = make_mixed({300, 1, 9, 0, 3}, 3), b = make_mixed({300, 1, 3, 0, 2}, 4);
  Mixed whole = make_mixed({300, 1, 9, 0, 3}, 3);
  const Table<float> both = join(a.table, b.table);
  whole.table = both;
  for (Feature f : b.features) {
    f.column += width(a);
    whole.features.push_back(f);
  }
  Team team(1);
  for (const bool share : {false, true}) {
    const auto at_once = fill_training(whole, {share, {}, {}}, both.dense());
    const auto left = fill_training(a, {share, {}, {}}, a.table.dense());
    const auto right = fill_training(b, {share, {}, {}}, b.table.dense());
    const auto matrix = put_beside(team, *left, *right, width(a));
    CHECK(matrix->n_cells() == at_once->n_cells());
    REQUIRE(matrix->groups().size() == at_once->groups().size());
    for (std::size_t g = 0; g < matrix->groups().size(); ++g) {
      CHECK(matrix->groups()[g].n_lanes == at_once->groups()[g].n_lanes);
    }
  }
}

TEST_CASE("values that did not fit their bundle stay beside it") {
  const Mixed a = make_mixed({}, 5), b = make_mixed({}, 6);
  Mixed other_a = make_mixed({}, 7), other_b = make_mixed({}, 8);
  for (std::int64_t row = 0; row < other_a.n_rows(); row += 3) {  // values meet where they never did
    for (std::int32_t c = 0; c < 6; ++c) other_a.table(row, c) = other_b.table(row, c) = c == 2 ? NAN : 1.0f;
  }
  Team team(2);
  const Storage storage_a{false, a.groups, a.sparse}, storage_b{true, b.groups, {}};
  const auto left = make_like(*fill_training(a, storage_a, a.table.dense()), a.n_rows());
  const auto right = make_like(*fill_training(b, storage_b, b.table.dense()), b.n_rows());
  left->fill(team, other_a.table.dense(), Use::other);
  right->fill(team, other_b.table.dense(), Use::other);
  const auto matrix = put_beside(team, *left, *right, width(a));
  check_bins(*matrix, join(other_a.table, other_b.table), false);
  CHECK_FALSE(matrix->is_trainable());
  check_bins(*make_trainable(*matrix), join(other_a.table, other_b.table), false);
}

TEST_CASE("a table without features adds none") {
  const Mixed a = make_mixed({}, 9);
  const auto left = fill_training(a, {true, a.groups, a.sparse}, a.table.dense());
  const BinMatrix empty({}, a.n_rows(), false);
  Team team(1);
  check_bins(*put_beside(team, *left, empty, width(a)), a.table);
  check_bins(*put_beside(team, empty, *left, 0), a.table);
}

TEST_CASE("tables that do not fit are refused") {
  const Mixed a = make_mixed({300}, 10), b = make_mixed({301}, 11);
  const Mixed zeros = make_mixed({300, 3, 6, 7, 3, MissingKind::zero}, 12);
  const auto left = fill_training(a, {}, a.table.dense());
  const auto longer = fill_training(b, {}, b.table.dense());
  const auto other_kind = fill_training(zeros, {}, zeros.table.dense());
  Team team(1);
  CHECK_THROWS_AS(put_beside(team, *left, *longer, width(a)), std::invalid_argument);
  CHECK_THROWS_AS(put_beside(team, *left, *other_kind, width(a)), std::invalid_argument);
  CHECK_THROWS_AS(put_beside(team, *left, *left, width(a) - 1), std::invalid_argument);
  CHECK_THROWS_AS(put_beside(team, *left, *left, std::numeric_limits<std::int32_t>::max()), std::invalid_argument);
}

TEST_SUITE_END();

}  // namespace
}  // namespace gossamer::tests
