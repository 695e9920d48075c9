// Categories: counting them, splitting them, walking down their splits.
#include <cmath>
#include <limits>
#include <memory>

#include "core/categories.h"
#include "core/grower.h"
#include "random_forest.h"
#include "sparse_table.h"

namespace gossamer::tests {
namespace {

// Columns 0 and 1 hold categories (5 and 300 of them, with gaps between), column 2 numbers.
struct Problem {
  std::shared_ptr<BinMatrix> matrix;
  std::vector<float> values;  // row-major
  std::vector<float> gradient;
  std::vector<float> hessian;

  std::int64_t n_rows() const { return matrix->n_rows(); }
  MatrixView view() const { return {values.data(), DType::f32, static_cast<std::int64_t>(gradient.size()), 3, 3, 1}; }
};

Feature categories_of(std::int32_t column, int n, int step) {
  Feature f;
  f.column = column;
  for (int c = 0; c < n; ++c) {
    f.upper.push_back(c * step - 0.5);
    f.category.push_back(-1);
    f.upper.push_back(c * step + 0.5);
    f.category.push_back(c * step);
  }
  f.upper.push_back(std::numeric_limits<double>::infinity());
  f.category.push_back(-1);
  f.n_value_bins = static_cast<std::int32_t>(f.upper.size());
  return f;
}

Problem make_problem(std::int64_t n_rows, std::uint64_t seed, bool share_lanes) {
  Random random(seed);
  Problem p;
  Feature number;
  number.column = 2;
  number.n_value_bins = 20;
  for (int b = 0; b + 1 < 20; ++b) number.upper.push_back(b + 0.5);
  number.upper.push_back(std::numeric_limits<double>::infinity());
  std::vector<Feature> features{categories_of(0, 5, 2), categories_of(1, 300, 3), number};
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const auto a = static_cast<int>(random.below(5));
    const auto b = static_cast<int>(random.below(300));
    const auto x = static_cast<int>(random.below(20));
    const bool missing = random.chance(0.1);
    const bool unknown = random.chance(0.02);
    p.values.push_back(missing ? NAN : static_cast<float>(2 * a));
    p.values.push_back(unknown ? 1.0f : static_cast<float>(3 * b));
    p.values.push_back(static_cast<float>(x));
    const double signal = std::sin(b * 12.9) + (a == 3 ? 1.0 : 0.0) * x / 10.0 + (missing ? 0.7 : 0.0);
    p.gradient.push_back(static_cast<float>(std::round(16.0 * (signal + random.normal())) / 16.0));
    p.hessian.push_back(static_cast<float>(1 + random.below(31)) / 16.0f);
  }
  p.matrix = std::make_shared<BinMatrix>(std::move(features), n_rows, share_lanes);
  Team team(1);
  p.matrix->fill(team, p.view(), Use::training);
  return p;
}

struct Grown {
  Tree tree;
  std::vector<double> score;
};

Grown grow(const Problem& p, const GrowParams& params, int n_threads) {
  Team team(n_threads);
  Grower grower(p.matrix);
  Grown g;
  g.score.assign(at(p.n_rows()), 0.0);
  g.tree = grower.grow(team, p.gradient.data(), p.hessian.data(), nullptr, p.n_rows(), params, g.score.data());
  return g;
}

// One node; the categories of its set go right, to the value 2, all else to the value 1.
Forest one_set(std::vector<std::int64_t> begin, std::vector<std::int32_t> category) {
  Forest f;
  f.n_columns = 1;
  f.node_begin = {0, 1};
  f.leaf_begin = {0, 2};
  f.column = {0};
  f.threshold = {0.0};
  f.missing_kind = {0};
  f.default_left = {1};
  f.left = {~0};
  f.right = {~1};
  f.leaf_value = {1.0, 2.0};
  f.category_begin = std::move(begin);
  f.category = std::move(category);
  prepare_forest(f);
  return f;
}

GrowParams small_groups() {
  GrowParams params;
  params.shape.num_leaves = 40;
  params.search.rules.min_data_per_group = 10;
  return params;
}

}  // namespace

TEST_SUITE_BEGIN("categories");

TEST_CASE("counting: dense and sparse, small and large numbers") {
  const std::vector<double> x{0, 3, 3, NAN, -1, 2e9, 3, 0};
  const MatrixView view{x.data(), DType::f64, 8, 1, 1, 1};
  const std::vector<std::int32_t> columns{0};
  Team team(2);
  const CategoryCounts found = count_categories(team, view, columns).front();
  CHECK(found.categories == std::vector<std::int32_t>{0, 3, 2000000000});
  CHECK(found.counts == std::vector<std::int64_t>{2, 3, 1});
  CHECK(found.n_missing == 2);
  CHECK(!found.has_odd);
  for (const double odd : {0.5, 3e9, std::numeric_limits<double>::infinity()}) {
    const std::vector<double> bad{1.0, odd};
    const CategoryCounts counts =
        count_categories(team, MatrixView{bad.data(), DType::f64, 2, 1, 1, 1}, columns).front();
    CHECK(counts.has_odd);
    CHECK(counts.odd == odd);
  }
}

TEST_CASE("sets take room in proportion to their categories") {
  for (const std::int32_t last : {5, 63, 64, 1023, 1024, 65535, 65536}) {
    const Forest f = one_set({0, 2}, {1, last});
    CHECK((f.sets[0].bits.size() <= 32 && f.sets[0].sorted.size() <= 2));
    for (const double x : {0.0, 1.0, 2.0, last - 1.0, double(last), last + 1.0}) {
      CHECK(f.sets[0].contains(x) == (x == 1.0 || x == last));
    }
  }
}

TEST_CASE("the same tree for any number of threads, level and storage") {
  const GrowParams base = small_groups();
  for (const bool extra : {false, true}) {
    GrowParams params = base;
    params.search.extra_trees = extra;
    params.search.extra_key = 99;
    const Grown expected = grow(make_problem(4000, 1, false), params, 1);
    REQUIRE(!expected.tree.category.empty());
    for (const bool share : {false, true}) {
      const Problem p = make_problem(4000, 1, share);
      for (const int n_threads : {1, 2, 3, 8}) {
        const Grown g = grow(p, params, n_threads);
        CHECK(g.tree.category == expected.tree.category);
        CHECK(g.tree.category_begin == expected.tree.category_begin);
        CHECK(g.tree.default_left == expected.tree.default_left);
        CHECK(first_difference(g.score, expected.score) == -1);
      }
    }
  }
}

TEST_CASE("rows walk down where training put them") {
  for (const std::int64_t n_rows : {300, 5000, 40000}) {
    const Problem p = make_problem(n_rows, 7, true);
    const Grown g = grow(p, small_groups(), 2);
    REQUIRE(!g.tree.category.empty());
    const Forest forest = as_forest(g.tree, 3);
    Team team(2);
    std::vector<double> predicted(at(n_rows), 0.0);
    predict_scores(team, forest, p.view(), 0, 1, predicted.data());
    CHECK(first_difference(predicted, g.score) == -1);
    std::vector<double> added(at(n_rows), 0.0);
    add_tree_to_scores(team, *p.matrix, g.tree, nullptr, n_rows, added.data());
    CHECK(first_difference(added, g.score) == -1);
    // The way back from what a file keeps.
    Tree again = g.tree;
    again.feature.clear();
    again.threshold_bin.clear();
    again.goes_left.clear();
    REQUIRE(again.find_bins(p.matrix->features()) == -1);
    std::vector<double> replayed(at(n_rows), 0.0);
    add_tree_to_scores(team, *p.matrix, again, nullptr, n_rows, replayed.data());
    CHECK(first_difference(replayed, g.score) == -1);
  }
}

TEST_CASE("categories that a table does not know are told") {
  const Problem p = make_problem(3000, 3, false);
  Tree tree = grow(p, small_groups(), 1).tree;
  for (std::size_t i = 0; i < tree.column.size(); ++i) {
    if (tree.category_begin[i] == tree.category_begin[i + 1]) continue;
    tree.category[at(tree.category_begin[i])] = 1;  // lies in a gap
    CHECK(tree.find_bins(p.matrix->features()) == static_cast<std::int64_t>(i));
    break;
  }
}

TEST_CASE("sets of small and of large numbers") {
  for (const std::int32_t factor : {1, 1000000}) {
    const Forest f = one_set({0, 2}, {3 * factor, 70 * factor});
    const std::vector<double> x{3.0 * factor, 70.0 * factor, 4.0 * factor, NAN, -1, 0, 1e300, INFINITY, -INFINITY};
    std::vector<double> out(x.size(), 0.0);
    Team team(1);
    predict_scores(team, f, MatrixView{x.data(), DType::f64, static_cast<std::int64_t>(x.size()), 1, 1, 1}, 0, 1,
                   out.data());
    CHECK(out == std::vector<double>{2, 2, 1, 1, 1, 1, 1, 1, 1});
  }
}

TEST_CASE("broken sets are refused") {
  CHECK_NOTHROW(one_set({0, 2}, {1, 2}));
  CHECK_THROWS(one_set({0, 3}, {1, 2}));
  CHECK_THROWS(one_set({0}, {1, 2}));
  CHECK_THROWS(one_set({1, 2}, {1, 2}));
  CHECK_THROWS(one_set({0, 2}, {2, 1}));
  CHECK_THROWS(one_set({0, 2}, {1, 1}));
  CHECK_THROWS(one_set({0, 2}, {-1, 1}));
  CHECK_THROWS(one_set({}, {1, 1}));
}

TEST_SUITE_END();

}  // namespace gossamer::tests
