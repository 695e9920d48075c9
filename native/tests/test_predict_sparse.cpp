// Prediction from compressed rows: the same bits as from the dense matrix.
#include <limits>

#include "core/predict.h"
#include "random_forest.h"
#include "support.h"

namespace gossamer::tests {
namespace {

// Compressed rows, and the same as a dense matrix as wide as the forest: what is not there is NaN.
template <class T, class Index>
struct SparseRows {
  std::vector<T> values;
  std::vector<Index> indices;
  std::vector<Index> begin{0};
  std::vector<double> dense;
  SparseView sparse_view;
  MatrixView dense_view;

  SparseRows(std::int64_t n_rows, std::int64_t n_columns, std::int64_t n_forest_columns, double share, DType dtype,
             Random& random) {
    for (std::int64_t row = 0; row < n_rows; ++row) {
      const bool empty = random.chance(0.1);
      for (std::int64_t c = 0; c < std::max(n_columns, n_forest_columns); ++c) {
        T x = 0;
        if (c < n_columns && !empty && random.chance(share)) {
          x = static_cast<T>(std::floor(random.between(std::is_unsigned_v<T> ? 0.0 : -3.0, 4.0)));
          if (std::is_floating_point_v<T> && random.chance(0.1)) x = std::numeric_limits<T>::quiet_NaN();
          values.push_back(x);  // zeros too
          indices.push_back(static_cast<Index>(c));
        }
        if (c < n_forest_columns) dense.push_back(c < n_columns ? static_cast<double>(x) : NAN);
      }
      begin.push_back(static_cast<Index>(values.size()));
    }
    sparse_view = {values.data(), dtype, indices.data(), sizeof(Index) == 8, begin.data(), n_rows, n_columns, true};
    dense_view = {dense.data(), DType::f64, n_rows, n_forest_columns, n_forest_columns, 1};
  }
};

template <class T, class Index>
void check_same(const Forest& forest, const SparseRows<T, Index>& rows, std::int64_t first, std::int64_t last) {
  const auto n_rows = static_cast<std::size_t>(rows.sparse_view.n_rows);
  Team one(1);
  std::vector<double> expected(n_rows * static_cast<std::size_t>(forest.n_outputs), 0.5);
  std::vector<std::int32_t> expected_leaves(n_rows * static_cast<std::size_t>(last - first), -1);
  predict_scores(one, forest, rows.dense_view, first, last, expected.data());
  predict_leaves(one, forest, rows.dense_view, first, last, expected_leaves.data());
  for (const int n_threads : {1, 3}) {
    Team team(n_threads);
    std::vector<double> score(expected.size(), 0.5);
    std::vector<std::int32_t> leaves(expected_leaves.size(), -1);
    predict_scores(team, forest, rows.sparse_view, first, last, score.data());
    predict_leaves(team, forest, rows.sparse_view, first, last, leaves.data());
    CHECK(first_difference(score, expected) == -1);
    CHECK(first_difference(leaves, expected_leaves) == -1);
  }
}

}  // namespace

TEST_SUITE("predict_sparse") {
  TEST_CASE("as dense, for types of values and indices, and any share of entries") {
    Random random(5);
    Forest forest = make_random_forest(60, 30, 40, random);
    forest.n_outputs = 3;
    for (const double share : {0.0, 0.05, 0.5, 1.0}) {
      CAPTURE(share);
      check_same(forest, SparseRows<float, std::int32_t>(300, 40, 40, share, DType::f32, random), 0, 60);
      check_same(forest, SparseRows<double, std::int64_t>(67, 40, 40, share, DType::f64, random), 3, 33);
      check_same(forest, SparseRows<std::int8_t, std::int32_t>(9, 40, 40, share, DType::i8, random), 0, 60);
      check_same(forest, SparseRows<std::uint64_t, std::int64_t>(1, 40, 40, share, DType::u64, random), 6, 6);
    }
  }

  TEST_CASE("columns the matrix lacks are missing, further ones are ignored") {
    Random random(6);
    const Forest forest = make_random_forest(50, 20, 30, random);
    for (const std::int64_t n_columns : {0, 1, 29, 30, 31, 100}) {
      CAPTURE(n_columns);
      check_same(forest, SparseRows<double, std::int32_t>(100, n_columns, 30, 0.3, DType::f64, random), 0, 50);
    }
  }

  TEST_CASE("more used columns than fit a tile of many rows") {
    Random random(7);
    const Forest forest = make_random_forest(200, 60, 9000, random);
    CHECK(forest.used_columns.size() > 2500);
    check_same(forest, SparseRows<float, std::int32_t>(70, 9000, 9000, 0.1, DType::f32, random), 0, 200);
  }

  TEST_CASE("no trees, no nodes, no rows") {
    Random random(8);
    Forest forest;
    forest.n_columns = 5;
    forest.node_begin = {0, 0};
    forest.leaf_begin = {0, 1};
    forest.leaf_value = {2.5};
    prepare_forest(forest);
    CHECK(forest.place_of.empty());
    check_same(forest, SparseRows<float, std::int32_t>(10, 5, 5, 0.5, DType::f32, random), 0, 1);
    check_same(forest, SparseRows<float, std::int32_t>(10, 5, 5, 0.5, DType::f32, random), 0, 0);
    check_same(forest, SparseRows<float, std::int32_t>(0, 5, 5, 0.5, DType::f32, random), 0, 1);
  }
}

}  // namespace gossamer::tests
