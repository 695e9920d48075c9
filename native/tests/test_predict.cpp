// Prediction from the user's matrix, and the gate that keeps broken trees out.
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "core/bin_bounds.h"
#include "core/bin_matrix.h"
#include "core/predict.h"
#include "core/row_predictor.h"
#include "random_forest.h"
#include "support.h"

namespace gossamer::tests {
namespace {

// Two trees for one output. Tree 0 has three nodes, tree 1 is a single leaf, tree 2 has one node.
//
//   tree 0:  x0 <= 0 ? (x1 <= 1 ? leaf0 : leaf1) : (x0 <= 5 ? leaf2 : leaf3)
Forest make_forest() {
  Forest f;
  f.n_columns = 2;
  f.node_begin = {0, 3, 3, 4};
  f.leaf_begin = {0, 4, 5, 7};
  f.column = {0, 1, 0, 1};
  f.threshold = {0.0, 1.0, 5.0, -2.0};
  f.missing_kind = {0, 0, 0, 1};
  f.default_left = {1, 0, 0, 1};
  f.left = {1, ~0, ~2, ~0};
  f.right = {2, ~1, ~3, ~1};
  f.leaf_value = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0};
  return f;
}

template <class Change>
void check_rejected(const char* what, const Change& change) {
  CAPTURE(what);
  Forest f = make_forest();
  change(f);
  CHECK_THROWS_AS(prepare_forest(f), std::invalid_argument);
}

std::int32_t naive_leaf(const Forest& f, std::int64_t tree, const std::vector<double>& row) {
  const std::int64_t first = f.node_begin[at(tree)];
  if (f.node_begin[at(tree) + 1] == first) return 0;
  std::int32_t n = 0;
  while (n >= 0) {
    const std::size_t k = at(first + n);
    double x = row[at(f.column[k])];
    bool missing = x != x;
    const auto kind = static_cast<MissingKind>(f.missing_kind[k]);
    if (kind == MissingKind::nan_is_zero && missing) {
      x = 0.0;
      missing = false;
    }
    if (kind == MissingKind::zero && std::abs(x) <= kZero) missing = true;
    const bool left = missing ? f.default_left[k] != 0 : x <= f.threshold[k];
    n = left ? f.left[k] : f.right[k];
  }
  return ~n;
}

// Leaves of the rows that a view of `values` shows, one after another, against the plain walk.
template <class T>
void check_view(const Forest& f, DType dtype, const std::vector<T>& values, std::int64_t n_rows,
                std::int64_t row_stride, std::int64_t column_stride) {
  const MatrixView view{values.data(), dtype, n_rows, f.n_columns, row_stride, column_stride};
  std::vector<std::int32_t> expected;
  std::vector<double> expected_score(at(n_rows), 0.5);
  for (std::int64_t row = 0; row < n_rows; ++row) {
    std::vector<double> x;
    for (std::int64_t c = 0; c < f.n_columns; ++c) {
      x.push_back(static_cast<double>(values[at(row * row_stride + c * column_stride)]));
    }
    for (std::int64_t t = 0; t < f.n_trees(); ++t) {
      expected.push_back(naive_leaf(f, t, x));
      expected_score[at(row)] += f.leaf_value[at(f.leaf_begin[at(t)] + expected.back())];
    }
  }
  at_every_level([&] {
    Team team(2);
    std::vector<std::int32_t> leaves(expected.size());
    predict_leaves(team, f, view, 0, f.n_trees(), leaves.data());
    CHECK(first_difference(leaves, expected) == -1);
    std::vector<double> score(at(n_rows), 0.5);
    predict_scores(team, f, view, 0, f.n_trees(), score.data());
    CHECK(first_difference(score, expected_score) == -1);
  });
}

void check_types(const Forest& f, std::int64_t n_rows, Random& random, double scale = 1.0) {
  const auto check_as = [&]<class T>(DType dtype, T) {
    CAPTURE(dtype);
    std::vector<T> values;
    for (std::int64_t i = 0; i < 2 * n_rows * f.n_columns; ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        values.push_back(
            random.chance(0.1)    ? static_cast<T>(NAN)
            : random.chance(0.05) ? static_cast<T>(random.chance(0.5) ? INFINITY : -INFINITY)
            : random.chance(0.1)
                ? static_cast<T>(f.threshold[at(random.below(static_cast<std::int64_t>(f.threshold.size())))])
            : random.chance(0.1) ? static_cast<T>(1e-35)
                                 : static_cast<T>(random.between(-4, 4) * scale));
      } else {
        values.push_back(static_cast<T>(random.below(9) - (std::is_signed_v<T> ? 4 : 0)));
      }
    }
    check_view(f, dtype, values, n_rows, f.n_columns, 1);
    check_view(f, dtype, values, n_rows, 1, n_rows);               // column by column
    check_view(f, dtype, values, n_rows, 2 * f.n_columns - 1, 2);  // every other column
  };
  check_as(DType::f32, float{});
  check_as(DType::f64, double{});
  check_as(DType::i8, std::int8_t{});
  check_as(DType::u16, std::uint16_t{});
  check_as(DType::i32, std::int32_t{});
  check_as(DType::u64, std::uint64_t{});
}

}  // namespace

TEST_SUITE("predict") {
  TEST_CASE("a good forest passes") {
    Forest good = make_forest();
    CHECK_NOTHROW(prepare_forest(good));
    CHECK_NOTHROW(prepare_forest(good));  // again: no harm
    CHECK(good.nodes.size() == good.column.size());
    Forest empty;
    empty.node_begin = {0};
    empty.leaf_begin = {0};
    CHECK_NOTHROW(prepare_forest(empty));
    Forest infinite = make_forest();
    infinite.threshold[0] = std::numeric_limits<double>::infinity();
    CHECK_NOTHROW(prepare_forest(infinite));
  }

  TEST_CASE("what is not a tree is refused") {
    check_rejected("default_left", [](Forest& f) { f.default_left[1] = 2; });
    check_rejected("many outputs", [](Forest& f) { f.n_outputs = std::int64_t{1} << 40; });
    check_rejected("columns below 0", [](Forest& f) { f.n_columns = -1; });
    check_rejected("many columns", [](Forest& f) { f.n_columns = std::int64_t{1} << 40; });
    check_rejected("a node that is its own child", [](Forest& f) { f.left[0] = 0; });
    check_rejected("a cycle", [](Forest& f) { f.left[2] = 1; });
    check_rejected("a cycle through the root", [](Forest& f) { f.left[1] = 0; });
    check_rejected("a node used twice", [](Forest& f) { f.left[0] = 2; });
    check_rejected("a leaf used twice", [](Forest& f) { f.right[1] = ~0; });
    check_rejected("a child beyond the tree", [](Forest& f) { f.left[0] = 3; });
    check_rejected("a leaf beyond the tree", [](Forest& f) { f.right[2] = ~4; });
    check_rejected("the smallest integer", [](Forest& f) { f.right[2] = std::numeric_limits<std::int32_t>::min(); });
    check_rejected("the largest integer", [](Forest& f) { f.right[2] = std::numeric_limits<std::int32_t>::max(); });
  }

  TEST_CASE("values out of range are refused") {
    check_rejected("column below zero", [](Forest& f) { f.column[1] = -1; });
    check_rejected("column too large", [](Forest& f) { f.column[1] = 2; });
    check_rejected("NaN threshold", [](Forest& f) { f.threshold[3] = NAN; });
    check_rejected("NaN leaf", [](Forest& f) { f.leaf_value[6] = NAN; });
    check_rejected("infinite leaf", [](Forest& f) { f.leaf_value[0] = INFINITY; });
    check_rejected("kind of missing", [](Forest& f) { f.missing_kind[0] = 3; });
    check_rejected("kind of missing below zero", [](Forest& f) { f.missing_kind[0] = -1; });
    check_rejected("no outputs", [](Forest& f) { f.n_outputs = 0; });
    check_rejected("outputs below zero", [](Forest& f) { f.n_outputs = -3; });
    check_rejected("trees that do not fill the outputs", [](Forest& f) { f.n_outputs = 2; });
  }

  TEST_CASE("lengths and offsets that do not fit are refused") {
    check_rejected("short threshold", [](Forest& f) { f.threshold.pop_back(); });
    check_rejected("short kinds", [](Forest& f) { f.missing_kind.pop_back(); });
    check_rejected("short default", [](Forest& f) { f.default_left.pop_back(); });
    check_rejected("short left", [](Forest& f) { f.left.pop_back(); });
    check_rejected("short right", [](Forest& f) { f.right.pop_back(); });
    check_rejected("short leaves", [](Forest& f) { f.leaf_value.pop_back(); });
    check_rejected("short offsets", [](Forest& f) { f.leaf_begin.pop_back(); });
    check_rejected("no offsets", [](Forest& f) { f.node_begin = f.leaf_begin = {}; });
    check_rejected("offsets that start late", [](Forest& f) { f.node_begin[0] = 1; });
    check_rejected("offsets that go back", [](Forest& f) { f.node_begin[1] = 4; });
    check_rejected("offsets below zero", [](Forest& f) { f.node_begin[1] = -1; });
    check_rejected("offsets beyond the end", [](Forest& f) {
      f.node_begin[1] = 1000;
      f.leaf_begin[1] = 1001;
    });
    // Differences of such offsets overflow 64 bits.
    check_rejected("the smallest offset",
                   [](Forest& f) { f.leaf_begin[2] = std::numeric_limits<std::int64_t>::min(); });
    check_rejected("the smallest offset of a node",
                   [](Forest& f) { f.node_begin[2] = std::numeric_limits<std::int64_t>::min(); });
    check_rejected("the largest offset", [](Forest& f) { f.leaf_begin[1] = std::numeric_limits<std::int64_t>::max(); });
  }

  TEST_CASE("scores and leaves of the small forest") {
    Forest f = make_forest();
    prepare_forest(f);
    const std::vector<double> rows{-1.0, 0.5, -1.0, 1.5, 3.0, 0.0, 9.0, -3.0, NAN, NAN, 0.0, 1.0};
    Team team(1);
    const MatrixView view{rows.data(), DType::f64, 6, 2, 2, 1};
    std::vector<double> score(6, 100.0);
    predict_scores(team, f, view, 0, 3, score.data());
    // Tree 2 (zero is missing, missing goes left): x1 of 0.5, 1.5, 0, -3, NaN, 1.
    CHECK(score == std::vector<double>{100 + 1 + 16 + 64, 100 + 2 + 16 + 64, 100 + 4 + 16 + 32, 100 + 8 + 16 + 32,
                                       100 + 2 + 16 + 32, 100 + 1 + 16 + 64});
    std::vector<std::int32_t> leaves(12);
    predict_leaves(team, f, view, 1, 3, leaves.data());
    CHECK(leaves == std::vector<std::int32_t>{0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1});
  }

  TEST_CASE("random forests against a plain walk: types, outputs, ranges of trees, threads") {
    Random random(81);
    Forest f;
    f.n_outputs = 3;
    f.n_columns = 5;
    f.node_begin = {0};
    f.leaf_begin = {0};
    for (int t = 0; t < 12; ++t) add_random_tree(f, random.below(40), random);
    REQUIRE_NOTHROW(prepare_forest(f));
    const std::int64_t n_rows = 1500;
    std::vector<float> values;
    for (std::int64_t i = 0; i < n_rows * 5; ++i) {
      values.push_back(random.chance(0.1)   ? NAN
                       : random.chance(0.1) ? 0.0f
                                            : std::floor(static_cast<float>(random.between(-4, 4))));
    }
    const MatrixView view{values.data(), DType::f32, n_rows, 5, 5, 1};
    for (const auto& [first, last] : {std::pair<int, int>{0, 12}, {3, 9}, {6, 6}}) {
      std::vector<double> expected(at(n_rows * 3));
      std::vector<std::int32_t> expected_leaves;
      for (std::int64_t row = 0; row < n_rows; ++row) {
        const std::vector<double> x(values.begin() + row * 5, values.begin() + row * 5 + 5);
        for (int t = first; t < last; ++t) {
          const std::int32_t leaf = naive_leaf(f, t, x);
          expected[at(row * 3 + t % 3)] += f.leaf_value[at(f.leaf_begin[at(t)] + leaf)];
          expected_leaves.push_back(leaf);
        }
      }
      for (const int n_threads : {1, 2, 4}) {
        Team team(n_threads);
        std::vector<double> score(expected.size());
        predict_scores(team, f, view, first, last, score.data());
        CHECK(first_difference(score, expected) == -1);
        std::vector<std::int32_t> leaves(expected_leaves.size());
        predict_leaves(team, f, view, first, last, leaves.data());
        CHECK(first_difference(leaves, expected_leaves) == -1);
      }
    }
  }

  TEST_CASE("thresholds at the ends of the numbers") {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    constexpr double kMax = std::numeric_limits<double>::max();
    constexpr double kMin = std::numeric_limits<double>::min();
    constexpr double kTiny = std::numeric_limits<double>::denorm_min();
    std::vector<double> numbers{0.0, -0.0, kZero, 1.0, kMin, kTiny, 2 * kTiny, kMin - kTiny, kMax, kInf};
    for (std::size_t i = 0, n = numbers.size(); i < n; ++i) {
      numbers.push_back(-numbers[i]);
      numbers.push_back(std::nextafter(numbers[i], kInf));
      numbers.push_back(std::nextafter(numbers[i], -kInf));
    }
    Forest f;
    f.n_columns = 1;
    f.node_begin = f.leaf_begin = {0};
    for (const double threshold : numbers) {
      for (int kind = 0; kind < 3; ++kind) {
        for (int default_left = 0; default_left < 2; ++default_left) {
          f.column.push_back(0);
          f.threshold.push_back(threshold);
          f.missing_kind.push_back(static_cast<std::int8_t>(kind));
          f.default_left.push_back(static_cast<std::int8_t>(default_left));
          f.left.push_back(~0);
          f.right.push_back(~1);
          f.leaf_value.insert(f.leaf_value.end(), {1.0, 2.0});
          f.node_begin.push_back(static_cast<std::int64_t>(f.column.size()));
          f.leaf_begin.push_back(static_cast<std::int64_t>(f.leaf_value.size()));
        }
      }
    }
    prepare_forest(f);
    numbers.push_back(NAN);
    const auto n_rows = static_cast<std::int64_t>(numbers.size());
    std::vector<std::int32_t> leaves(at(n_rows * f.n_trees()));
    Team team(1);
    predict_leaves(team, f, {numbers.data(), DType::f64, n_rows, 1, 1, 1}, 0, f.n_trees(), leaves.data());
    for (std::int64_t row = 0; row < n_rows; ++row) {
      for (std::int64_t t = 0; t < f.n_trees(); ++t) {
        CAPTURE(numbers[at(row)]);
        CAPTURE(f.threshold[at(t)]);
        CHECK(leaves[at(row * f.n_trees() + t)] == naive_leaf(f, t, {numbers[at(row)]}));
      }
    }
  }

  TEST_CASE("compact trees against a plain walk: types, strides, few and many rows, levels, threads") {
    Random random(82);
    // Trees of one leaf, of the most leaves that one piece has, larger ones, and such as are walked.
    for (const std::int64_t max_nodes : {3, 40, 255, 400, 900, 2100}) {
      Forest f;
      f.n_columns = 4;
      f.node_begin = f.leaf_begin = {0};
      add_random_tree(f, 0, random);
      for (int t = 0; t < 12; ++t) add_random_tree(f, t % 3 == 0 ? max_nodes : random.below(max_nodes), random);
      for (double& threshold : f.threshold) {  // many of them: several blocks
        if (random.chance(0.7)) threshold = random.between(-3.0, 3.0);
      }
      prepare_forest(f);
      if (max_nodes == 255) CHECK(f.compact().blocks.size() > 1);
      if (max_nodes == 400) CHECK(f.compact().trees[1].n_exits > 1);
      if (max_nodes == 2100) CHECK_FALSE(f.compact().trees[1].is_compact);
      for (const std::int64_t n_rows : {1, 5, 6, 17, 63, 64, 65, 255, 256, 257, 700}) {
        if (max_nodes > 400 && n_rows > 65) break;  // a plain walk takes long
        check_types(f, n_rows, random);
      }
    }
  }

  TEST_CASE("all rows at once, row by row and by a row predictor: the same, also with categories") {
    Random random(85);
    for (const std::int64_t n_categories : {0, 5, 250, 900}) {
      Forest f;
      f.n_outputs = 2;
      f.n_columns = 4;
      f.node_begin = f.leaf_begin = {0};
      for (int t = 0; t < 20; ++t) add_random_tree(f, t == 4 ? 0 : random.below(60), random);
      f.category_begin = {0};
      for (std::size_t n = 0; n < f.column.size(); ++n) {
        for (std::int32_t c = 0; c < n_categories && n % 3 == 0; ++c) {
          if (random.chance(0.4)) f.category.push_back(n_categories == 900 ? 1000 * c : c);
        }
        f.category_begin.push_back(static_cast<std::int64_t>(f.category.size()));
      }
      prepare_forest(f);
      const std::int64_t n_rows = 300;
      std::vector<double> values;
      for (std::int64_t i = 0; i < n_rows * 4; ++i) {
        values.push_back(random.chance(0.1)   ? NAN
                         : random.chance(0.3) ? random.between(-4, 4)
                                              : static_cast<double>(random.below(n_categories + 2) - 1) *
                                                    (n_categories == 900 ? 1000 : 1));
      }
      Team team(1);
      std::vector<double> expected(at(n_rows * 2), 0.5);  // few rows are walked
      std::vector<double> single = expected;
      const RowPredictor predictor(f, 0, f.n_trees());
      for (std::int64_t row = 0; row < n_rows; ++row) {
        const double* const x = values.data() + row * 4;
        predict_scores(team, f, {x, DType::f64, 1, 4, 4, 1}, 0, f.n_trees(), expected.data() + row * 2);
        predictor.add_scores(x, single.data() + row * 2);
      }
      CHECK(first_difference(single, expected) == -1);
      at_every_level([&] {
        std::vector<double> score(expected.size(), 0.5);
        predict_scores(team, f, {values.data(), DType::f64, n_rows, 4, 4, 1}, 0, f.n_trees(), score.data());
        CHECK(first_difference(score, expected) == -1);
      });
    }
  }

  TEST_CASE("255 thresholds of a column share a block, 256 do not") {
    Random random(83);
    for (const int n_trees : {255, 256}) {
      Forest f;
      f.n_columns = 1;
      f.node_begin = f.leaf_begin = {0};
      for (int t = 0; t < n_trees; ++t) {
        add_random_tree(f, 1, random);
        f.threshold.back() = t;
      }
      prepare_forest(f);
      CHECK(f.compact().blocks.size() == (n_trees == 255 ? 1 : 2));
      check_types(f, 100, random, 40.0);
    }
  }

  TEST_CASE("rows stop when their scores are clear") {
    Random random(84);
    for (const std::int64_t n_outputs : {1, 3}) {
      Forest f;
      f.n_outputs = n_outputs;
      f.n_columns = 4;
      f.node_begin = f.leaf_begin = {0};
      for (int t = 0; t < 30; ++t) add_random_tree(f, t == 20 ? 300 : random.below(30), random);
      prepare_forest(f);
      const std::int64_t n_rows = 600;
      std::vector<double> values;
      for (std::int64_t i = 0; i < n_rows * 4; ++i) values.push_back(random.chance(0.1) ? NAN : random.between(-4, 4));
      const MatrixView view{values.data(), DType::f64, n_rows, 4, 4, 1};
      for (const double margin : {-1.0, 0.0, 2.5, 1e9}) {
        const EarlyStop stop{2 * n_outputs, margin};
        std::vector<double> expected(at(n_rows * n_outputs), 0.25);
        std::int64_t n_stopped = 0;
        for (std::int64_t row = 0; row < n_rows; ++row) {
          const std::vector<double> x(values.begin() + row * 4, values.begin() + row * 4 + 4);
          double* const score = expected.data() + row * n_outputs;
          for (std::int64_t t = 3; t < 30; ++t) {
            score[t % n_outputs] += f.leaf_value[at(f.leaf_begin[at(t)] + naive_leaf(f, t, x))];
            if ((t - 2) % stop.every != 0 || !stop.is_clear(score, n_outputs)) continue;
            n_stopped += t < 29;
            break;
          }
        }
        CHECK((n_stopped == 0) == (margin == 1e9));
        for (const int n_threads : {1, 3}) {
          Team team(n_threads);
          std::vector<double> score(expected.size(), 0.25);
          predict_scores_until_clear(team, f, view, 3, 30, stop, score.data());
          CHECK(first_difference(score, expected) == -1);
        }
      }
    }
  }

  TEST_CASE("clear scores") {
    const double scores[] = {1.0, -3.0, 0.5};
    CHECK(EarlyStop{1, 1.9}.is_clear(scores, 1));
    CHECK_FALSE(EarlyStop{1, 2.0}.is_clear(scores, 1));
    CHECK(EarlyStop{1, 5.9}.is_clear(scores + 1, 1));
    CHECK(EarlyStop{1, 0.4}.is_clear(scores, 3));
    CHECK_FALSE(EarlyStop{1, 0.5}.is_clear(scores, 3));
  }

  TEST_CASE("no rows") {
    Team team(2);
    Forest f = make_forest();
    prepare_forest(f);
    predict_scores(team, f, {nullptr, DType::f64, 0, 2, 2, 1}, 0, 3, nullptr);
  }
}

}  // namespace gossamer::tests
