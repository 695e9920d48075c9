// Shapley values against their definition: sums over all sets of columns.
#include "core/shap.h"

#include <bit>
#include <limits>
#include <stdexcept>

#include "core/bin_bounds.h"
#include "core/feature.h"
#include "random_forest.h"
#include "support.h"

namespace gossamer::tests {
namespace {

// A forest whose nodes and leaves say how many rows they had.
struct Counted {
  Forest forest;
  std::vector<std::int64_t> node, leaf;

  Covers covers() const { return {node, leaf}; }
};

std::int64_t count_rows(const Forest& f, std::int64_t tree, std::int32_t place, Counted& found, Random& random) {
  if (place < 0) return found.leaf[at(f.leaf_begin[at(tree)] + ~place)] = 1 + random.below(50);
  const std::int64_t k = f.node_begin[at(tree)] + place;
  const std::int64_t sum =
      count_rows(f, tree, f.left[at(k)], found, random) + count_rows(f, tree, f.right[at(k)], found, random);
  return found.node[at(k)] = sum;
}

void count_all(Counted& found, Random& random) {
  const Forest& f = found.forest;
  found.node.resize(f.column.size());
  found.leaf.resize(f.leaf_value.size());
  for (std::int64_t t = 0; t < f.n_trees(); ++t) {
    const bool is_leaf = f.node_begin[at(t)] == f.node_begin[at(t) + 1];
    count_rows(f, t, is_leaf ? ~0 : 0, found, random);
  }
}

// Gives most leaves up to three terms, some of columns that are not on the way, and bounds that rows reach.
void make_linear(Forest& f, Random& random) {
  LinearLeaves& linear = f.linear;
  linear.begin = {0};
  for (const double value : f.leaf_value) {
    const std::int64_t n_terms = f.used_columns.empty() ? 0 : random.below(4);
    std::int64_t place = 0;
    for (std::int64_t t = 0; t < n_terms && place < static_cast<std::int64_t>(f.used_columns.size()); ++t) {
      linear.column.push_back(f.used_columns[at(place)]);
      linear.coefficient.push_back(random.normal());
      linear.centre.push_back(random.normal());
      place += 1 + random.below(2);
    }
    linear.begin.push_back(static_cast<std::int64_t>(linear.column.size()));
    const bool is_linear = linear.begin.end()[-1] > linear.begin.end()[-2];
    linear.constant.push_back(is_linear ? value + random.normal() : value);
    linear.low.push_back(is_linear ? value - 3.0 : value);
    linear.high.push_back(is_linear ? value + 3.0 : value);
  }
}

Counted make_counted(std::int64_t n_trees, std::int64_t max_nodes, std::int64_t n_columns, Random& random) {
  Counted found{make_random_forest(n_trees, max_nodes, n_columns, random), {}, {}};
  count_all(found, random);
  return found;
}

// Each node asks about a column of its own, and leads to a leaf and the next node.
Counted make_chain(std::int32_t n_columns, Random& random) {
  Counted found;
  Forest& f = found.forest;
  f.n_columns = n_columns;
  f.node_begin = {0, n_columns};
  f.leaf_begin = {0, n_columns + 1};
  for (std::int32_t i = 0; i < n_columns; ++i) {
    f.column.push_back(i);
    f.threshold.push_back(0.0);
    f.missing_kind.push_back(0);
    f.default_left.push_back(0);
    f.left.push_back(~i);
    f.right.push_back(i + 1 < n_columns ? i + 1 : ~n_columns);
  }
  for (std::int32_t i = 0; i <= n_columns; ++i) f.leaf_value.push_back(random.normal());
  prepare_forest(f);
  count_all(found, random);
  return found;
}

std::vector<double> make_rows(std::int64_t n_rows, std::int64_t n_columns, Random& random) {
  std::vector<double> rows(at(n_rows * n_columns));
  for (double& x : rows) {
    x = random.chance(0.1) ? std::numeric_limits<double>::quiet_NaN() : std::floor(random.between(-4.0, 4.0));
  }
  return rows;
}

MatrixView view_of(const std::vector<double>& rows, std::int64_t n_columns) {
  const auto n_rows = static_cast<std::int64_t>(rows.size()) / n_columns;
  return {rows.data(), DType::f64, n_rows, n_columns, n_columns, 1};
}

bool goes_left(const Forest& f, std::size_t k, double x) {
  bool missing = x != x;
  const auto kind = static_cast<MissingKind>(f.missing_kind[k]);
  if (kind == MissingKind::nan_is_zero && missing) {
    x = 0.0;
    missing = false;
  }
  if (kind == MissingKind::zero && std::abs(x) <= kZero) missing = true;
  return missing ? f.default_left[k] != 0 : x <= f.threshold[k];
}

// What a tree predicts if only the columns of `known` are known; `other`: the row that the other values come from, or
// nullptr.
double naive_value(const Counted& c, std::int64_t tree, std::int32_t place, const double* row, const double* other,
                   std::uint32_t known) {
  const Forest& f = c.forest;
  if (place < 0) {
    const std::size_t leaf = at(f.leaf_begin[at(tree)] + ~place);
    if (f.linear.empty()) return f.leaf_value[leaf];
    const auto read = [&](std::int32_t column) { return (known >> column & 1 ? row : other)[column]; };
    return f.linear.value(leaf, f.leaf_value[leaf], read);  // linear leaves: against background rows only
  }
  const std::size_t k = at(f.node_begin[at(tree)] + place);
  const auto below = [&](std::int32_t child) { return naive_value(c, tree, child, row, other, known); };
  const bool is_known = known >> f.column[k] & 1;
  if (is_known || other != nullptr) {
    return below(goes_left(f, k, (is_known ? row : other)[f.column[k]]) ? f.left[k] : f.right[k]);
  }
  const auto count = [&](std::int32_t child) {
    return static_cast<double>(child >= 0 ? c.node[at(f.node_begin[at(tree)] + child)]
                                          : c.leaf[at(f.leaf_begin[at(tree)] + ~child)]);
  };
  const double left = count(f.left[k]);
  const double right = count(f.right[k]);
  return (left * below(f.left[k]) + right * below(f.right[k])) / (left + right);
}

struct Naive {
  std::vector<double> value;  // (columns + 1)
  std::vector<double> pair;   // (columns + 1) x (columns + 1)
};

Naive naive_shap(const Counted& c, const double* row, const std::vector<const double*>& others) {
  const auto n = static_cast<int>(c.forest.n_columns);
  std::vector<double> game(std::size_t{1} << n, 0.0);
  for (std::uint32_t set = 0; set < game.size(); ++set) {
    for (std::int64_t t = 0; t < c.forest.n_trees(); ++t) {
      const std::int32_t root = c.forest.node_begin[at(t)] == c.forest.node_begin[at(t) + 1] ? ~0 : 0;
      for (const double* other : others) {
        game[set] += naive_value(c, t, root, row, other, set) / static_cast<double>(others.size());
      }
    }
  }
  const auto factorial = [](int k) { return std::tgamma(k + 1.0); };
  const std::size_t width = at(n) + 1;
  Naive found{std::vector<double>(width), std::vector<double>(width * width)};
  found.value[at(n)] = found.pair[width * width - 1] = game[0];
  for (std::uint32_t set = 0; set < game.size(); ++set) {
    const int size = std::popcount(set);
    for (int i = 0; i < n; ++i) {
      const std::uint32_t own = std::uint32_t{1} << i;
      if (set & own) continue;
      const double share = factorial(size) * factorial(n - size - 1) / factorial(n);
      found.value[at(i)] += share * (game[set | own] - game[set]);
      for (int j = 0; j < n; ++j) {
        const std::uint32_t two = std::uint32_t{1} << j;
        if (j == i || (set & two)) continue;
        const double half = factorial(size) * factorial(n - size - 2) / (2.0 * factorial(n - 1));
        found.pair[at(i) * width + at(j)] +=
            half * (game[set | own | two] - game[set | own] - game[set | two] + game[set]);
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    double rest = found.value[at(i)];
    for (int j = 0; j < n; ++j) {
      if (j != i) rest -= found.pair[at(i) * width + at(j)];
    }
    found.pair[at(i) * width + at(i)] = rest;
  }
  return found;
}

void check_close(const std::vector<double>& found, const std::vector<double>& expected, std::size_t first) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found[first + i] - expected[i]) < 1e-11);
  }
}

std::vector<double> values_of(const Counted& c, const std::vector<double>& rows, int n_threads) {
  const MatrixView view = view_of(rows, c.forest.n_columns);
  std::vector<double> out(at(view.n_rows * (c.forest.n_columns + 1)), 0.0);
  Team team(n_threads);
  add_shap_values(team, c.forest, c.covers(), view, 0, c.forest.n_trees(), {out.data(), false});
  return out;
}

}  // namespace

TEST_SUITE("shap") {
  TEST_CASE("values, interactions and values against background rows, as defined") {
    Random random(31);
    for (const std::int64_t max_nodes : {1, 4, 20}) {
      CAPTURE(max_nodes);
      const Counted c = make_counted(4, max_nodes, 5, random);
      const std::vector<double> rows = make_rows(70, 5, random);
      const std::vector<double> background = make_rows(9, 5, random);
      const MatrixView view = view_of(rows, 5);
      const std::vector<double> values = same_at_every_level([&] { return values_of(c, rows, 1); });
      const std::vector<double> pairs = same_at_every_level([&] {
        std::vector<double> out(at(70 * 36), 0.0);
        Team team(2);
        add_shap_interactions(team, c.forest, c.covers(), view, 0, 4, out.data());
        return out;
      });
      std::vector<double> against(at(70 * 6), 0.0);
      Team team(2);
      add_shap_values_of(team, c.forest, view_of(background, 5), view, 0, 4, {against.data(), false});
      std::vector<const double*> others;
      for (std::size_t i = 0; i < 9; ++i) others.push_back(background.data() + 5 * i);
      for (std::size_t r = 0; r < 70; r += 3) {
        CAPTURE(r);
        const Naive plain = naive_shap(c, rows.data() + 5 * r, {nullptr});
        check_close(values, plain.value, 6 * r);
        check_close(pairs, plain.pair, 36 * r);
        check_close(against, naive_shap(c, rows.data() + 5 * r, others).value, 6 * r);
      }
    }
  }

  TEST_CASE("linear leaves") {
    Random random(36);
    for (const std::int64_t max_nodes : {1, 4, 20}) {
      CAPTURE(max_nodes);
      Counted c = make_counted(4, max_nodes, 5, random);
      make_linear(c.forest, random);
      const std::vector<double> rows = make_rows(70, 5, random);
      const std::vector<double> background = make_rows(70, 5, random);
      const MatrixView view = view_of(rows, 5);
      const auto against = [&](int n_threads) {
        std::vector<double> out(at(70 * 6), 0.0);
        Team team(n_threads);
        add_shap_values_of(team, c.forest, view_of(background, 5), view, 0, 4, {out.data(), false});
        return out;
      };
      const std::vector<double> found = against(1);
      CHECK(first_difference(against(3), found) == -1);
      std::vector<const double*> others;
      for (std::size_t i = 0; i < 70; ++i) others.push_back(background.data() + 5 * i);
      for (std::size_t r = 0; r < 70; r += 9) {
        CAPTURE(r);
        check_close(found, naive_shap(c, rows.data() + 5 * r, others).value, 6 * r);
      }
      // Lines of interactions sum up to the values, and these to the score.
      const std::vector<double> values = values_of(c, rows, 1);
      std::vector<double> pairs(at(70 * 36), 0.0);
      Team team(2);
      add_shap_interactions(team, c.forest, c.covers(), view, 0, 4, pairs.data());
      std::vector<double> score(70, 0.0);
      predict_scores(team, c.forest, view, 0, 4, score.data());
      for (std::size_t r = 0; r < 70; ++r) {
        double sum = 0.0;
        for (std::size_t i = 0; i < 6; ++i) {
          double line = 0.0;
          for (std::size_t j = 0; j < 6; ++j) line += pairs[36 * r + 6 * i + j];
          CHECK(std::abs(line - values[6 * r + i]) < 1e-11);
          sum += values[6 * r + i];
        }
        CHECK(std::abs(sum - score[r]) < 1e-11);
      }
    }
  }

  TEST_CASE("ways of many columns") {
    Random random(32);
    const Counted c = make_chain(14, random);
    const std::vector<double> rows = make_rows(3, 14, random);
    const std::vector<double> values = same_at_every_level([&] { return values_of(c, rows, 1); });
    for (std::size_t r = 0; r < 3; ++r)
      check_close(values, naive_shap(c, rows.data() + 14 * r, {nullptr}).value, 15 * r);
  }

  TEST_CASE("they sum up to the score, on ways of hundreds of columns as well; more are refused") {
    Random random(33);
    for (const std::int32_t n_columns : {100, 511, 512}) {
      CAPTURE(n_columns);
      const Counted c = make_chain(n_columns, random);
      std::vector<double> rows(at(4 * n_columns));
      for (double& x : rows) x = random.chance(0.02) ? -1.0 : 1.0;
      const std::vector<double> values = values_of(c, rows, 1);
      std::vector<double> score(4, 0.0);
      Team team(1);
      predict_scores(team, c.forest, view_of(rows, n_columns), 0, 1, score.data());
      for (std::size_t r = 0; r < 4; ++r) {
        double sum = 0.0;
        for (std::int32_t i = 0; i <= n_columns; ++i) sum += values[r * at(n_columns + 1) + at(i)];
        CHECK(std::abs(sum - score[r]) < 1e-9);
      }
    }
    const Counted c = make_chain(513, random);
    const std::vector<double> rows(513, 0.0);
    CHECK_THROWS_AS(values_of(c, rows, 1), std::invalid_argument);
  }

  TEST_CASE("any number of threads") {
    Random random(34);
    const Counted c = make_counted(30, 30, 12, random);
    const std::vector<double> rows = make_rows(1500, 12, random);
    const std::vector<double> expected = values_of(c, rows, 1);
    for (const int n_threads : {2, 3, 8}) CHECK(first_difference(values_of(c, rows, n_threads), expected) == -1);
  }

  TEST_CASE("counts that do not fit, or are not known, are refused") {
    Random random(35);
    Counted c = make_counted(3, 6, 4, random);
    while (c.node.empty()) c = make_counted(3, 6, 4, random);
    const std::vector<double> rows = make_rows(2, 4, random);
    Counted none{std::move(c.forest), std::vector<std::int64_t>(c.node.size(), 0), c.leaf};
    CHECK_THROWS_AS(values_of(none, rows, 1), std::invalid_argument);
    none.node = c.node;
    none.leaf.pop_back();
    CHECK_THROWS_AS(values_of(none, rows, 1), std::invalid_argument);
  }
}

}  // namespace gossamer::tests
