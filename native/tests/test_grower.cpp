// Whole trees: the same for any number of threads and any memory, and true to their rows.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include "core/grower.h"
#include "random_forest.h"
#include "sparse_table.h"

namespace gossamer::tests {
namespace {

struct Problem {
  std::shared_ptr<BinMatrix> matrix;
  std::vector<float> values;  // row-major
  std::int64_t n_columns = 0;
  std::vector<float> gradient;
  std::vector<float> hessian;

  std::int64_t n_rows() const { return matrix->n_rows(); }
  MatrixView view() const { return {values.data(), DType::f32, n_rows(), n_columns, n_columns, 1}; }
};

// Columns take 1 ... 400 distinct values, some are missing; gradients are multiples of 1/16, so
// that rounding to integers loses nothing.
Problem make_problem(std::int64_t n_rows, std::int64_t n_columns, std::uint64_t seed, bool share_lanes = true) {
  Random random(seed);
  Problem p;
  p.n_columns = n_columns;
  const int sizes[] = {255, 4, 60, 400, 16, 2, 255, 30};
  std::vector<Feature> features;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    Feature f;
    f.column = static_cast<std::int32_t>(c);
    f.n_value_bins = sizes[c % 8];
    f.may_miss = c % 3 == 0;
    for (int b = 0; b + 1 < f.n_value_bins; ++b) f.upper.push_back(b + 0.5);
    f.upper.push_back(INFINITY);
    features.push_back(std::move(f));
  }
  for (std::int64_t row = 0; row < n_rows; ++row) {
    double signal = 0.0;
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const int n = sizes[c % 8];
      const bool missing = c % 3 == 0 && random.chance(0.15);
      const auto x = static_cast<float>(random.below(n));
      p.values.push_back(missing ? NAN : x);
      signal += missing ? 0.5 : std::sin(static_cast<double>(x) * 7.0 / n + static_cast<double>(c));
    }
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

Grown grow(Grower& grower, Team& team, const Problem& p, const GrowParams& params, bool with_hessian = true,
           const std::vector<RowIdx>* rows = nullptr) {
  GrowParams own = params;
  if (!own.monotone.direction.empty()) own.monotone.direction.resize(p.matrix->features().size());
  Grown g;
  g.score.assign(at(p.n_rows()), 0.25);
  g.tree = grower.grow(team, p.gradient.data(), with_hessian ? p.hessian.data() : nullptr,
                       rows != nullptr ? rows->data() : nullptr,
                       rows != nullptr ? static_cast<std::int64_t>(rows->size()) : p.n_rows(), own, g.score.data());
  return g;
}

// With a new grower.
Grown grow(const Problem& p, const GrowParams& params, int n_threads, bool with_hessian = true,
           const std::vector<RowIdx>* rows = nullptr) {
  Team team(n_threads);
  Grower grower(p.matrix);
  return grow(grower, team, p, params, with_hessian, rows);
}

bool same_tree(const Tree& a, const Tree& b) {
  return a.feature == b.feature && a.column == b.column && a.threshold_bin == b.threshold_bin &&
         a.threshold == b.threshold && a.missing_kind == b.missing_kind && a.default_left == b.default_left &&
         a.left == b.left && a.right == b.right && first_difference(a.gain, b.gain) == -1 &&
         first_difference(a.node_value, b.node_value) == -1 && first_difference(a.node_weight, b.node_weight) == -1 &&
         a.node_count == b.node_count && first_difference(a.leaf_value, b.leaf_value) == -1 &&
         first_difference(a.leaf_weight, b.leaf_weight) == -1 && a.leaf_count == b.leaf_count;
}

bool same(const Grown& a, const Grown& b) {
  return same_tree(a.tree, b.tree) && first_difference(a.score, b.score) == -1;
}

int depth_of(const Tree& t, std::int32_t node) {
  if (node < 0 || t.left.empty()) return 0;
  return 1 + std::max(depth_of(t, t.left[at(node)]), depth_of(t, t.right[at(node)]));
}

// The tree must say of its rows what is true of them: counts, weights, values, by walking them.
void check_true_to_rows(const Problem& p, const GrowParams& params, const Grown& g, bool with_hessian,
                        const std::vector<RowIdx>& rows) {
  const Forest forest = as_forest(g.tree, p.n_columns);
  Team team(1);
  std::vector<std::int32_t> leaf_of(at(p.n_rows()));
  predict_leaves(team, forest, p.view(), 0, 1, leaf_of.data());
  const auto n_leaves = at(g.tree.n_leaves());
  std::vector<double> gradient(n_leaves), hessian(n_leaves);
  std::vector<std::int64_t> count(n_leaves);
  std::vector<double> expected_score(at(p.n_rows()), 0.25);
  for (const RowIdx row : rows) {
    const std::size_t leaf = at(leaf_of[row]);
    gradient[leaf] += static_cast<double>(p.gradient[row]);
    hessian[leaf] += with_hessian ? static_cast<double>(p.hessian[row]) : 1.0;
    count[leaf] += 1;
    expected_score[row] += g.tree.leaf_value[leaf];
  }
  CHECK(std::ranges::equal(g.tree.leaf_count, count));
  CHECK(first_difference(g.score, expected_score) == -1);
  for (std::size_t l = 0; l < n_leaves; ++l) {
    CHECK(g.tree.leaf_weight[l] == doctest::Approx(hessian[l]).epsilon(1e-12));
    if (params.search.rules.plain() && params.monotone.direction.empty()) {
      const double value = -gradient[l] / (hessian[l] + params.search.rules.lambda_l2) * params.values.learning_rate;
      CHECK(g.tree.leaf_value[l] == doctest::Approx(value).epsilon(1e-12));
    }
    if (n_leaves > 1) {
      CHECK(static_cast<double>(count[l]) >= params.search.rules.min_data);
      CHECK(hessian[l] >= params.search.rules.min_sum_hessian);
    }
  }
  // Counts add up at every node.
  const auto count_of = [&](std::int32_t child) {
    return child >= 0 ? g.tree.node_count[at(child)] : g.tree.leaf_count[at(~child)];
  };
  for (std::size_t n = 0; n < g.tree.left.size(); ++n) {
    CHECK(g.tree.node_count[n] == count_of(g.tree.left[n]) + count_of(g.tree.right[n]));
    CHECK(g.tree.gain[n] > params.search.rules.min_gain_to_split);
  }
}

std::vector<RowIdx> all_rows(const Problem& p) {
  std::vector<RowIdx> rows;
  for (std::int64_t i = 0; i < p.n_rows(); ++i) rows.push_back(static_cast<RowIdx>(i));
  return rows;
}

std::vector<RowIdx> bag(const Problem& p, double share) {
  Random random(99);
  std::vector<RowIdx> rows;
  for (std::int64_t i = 0; i < p.n_rows(); ++i) {
    if (random.chance(share)) rows.push_back(static_cast<RowIdx>(i));
  }
  return rows;
}

struct Setting {
  const char* name;
  GrowParams params;
};

std::vector<Setting> settings() {
  GrowParams base;
  base.shape.num_leaves = 31;
  std::vector<Setting> all{{"base", base}};
  const auto add = [&](const char* name, auto&& change) {
    GrowParams p = base;
    change(p);
    all.push_back({name, p});
  };
  add("many leaves", [](GrowParams& p) { p.shape.num_leaves = 255; });
  add("two leaves", [](GrowParams& p) { p.shape.num_leaves = 2; });
  add("depth", [](GrowParams& p) { p.shape.max_depth = 3; });
  add("depthwise", [](GrowParams& p) { p.shape.depthwise = true; });
  add("depthwise, many leaves", [](GrowParams& p) {
    p.shape.depthwise = true;
    p.shape.num_leaves = 200;
  });
  add("extra trees", [](GrowParams& p) {
    p.search.extra_trees = true;
    p.search.extra_key = 12345;
  });
  add("columns", [](GrowParams& p) {
    p.search.fractions = {0.7, 0.7, 0.5};
    p.search.column_key = 777;
  });
  add("l1 and l2", [](GrowParams& p) {
    p.search.rules.lambda_l1 = 5.0;
    p.search.rules.lambda_l2 = 10.0;
  });
  add("step and smoothing", [](GrowParams& p) {
    p.search.rules.max_delta_step = 0.3;
    p.search.rules.path_smooth = 20.0;
  });
  add("small leaves", [](GrowParams& p) {
    p.search.rules.min_data = 1.0;
    p.shape.num_leaves = 400;
  });
  add("gain", [](GrowParams& p) { p.search.rules.min_gain_to_split = 30.0; });
  for (const MonotoneMethod method : {MonotoneMethod::basic, MonotoneMethod::intermediate, MonotoneMethod::advanced}) {
    add("monotone", [&](GrowParams& p) {
      p.monotone.direction = {1, 0, -1, 1};
      p.monotone.method = method;
    });
    add("monotone, many leaves, columns, penalty", [&](GrowParams& p) {
      p.shape.num_leaves = 100;
      p.search.fractions = {0.9, 0.9, 0.7};
      p.search.column_key = 777;
      p.monotone = {{1, -1, 0, -1}, method, 1.5};
    });
  }
  return all;
}

// ---- bundles and sparse columns ----

// Multiples of 1/16, from the bins of every feature.
std::pair<std::vector<float>, std::vector<float>> random_gradients(const Mixed& m, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> signal(at(m.n_rows()), 0.0);
  for (std::size_t f = 0; f < m.features.size(); ++f) {
    const auto bins = m.table.naive_bins(m.features[f]);
    for (std::size_t row = 0; row < bins.size(); ++row) {
      signal[row] +=
          std::sin(static_cast<double>(bins[row]) * 5.0 / m.features[f].n_value_bins + 2.0 * static_cast<double>(f));
    }
  }
  std::pair<std::vector<float>, std::vector<float>> result;
  for (const double s : signal) {
    result.first.push_back(static_cast<float>(std::round(16.0 * (s + random.normal())) / 16.0));
    result.second.push_back(static_cast<float>(1 + random.below(31)) / 16.0f);
  }
  return result;
}

Problem problem_of(const Mixed& m, const std::pair<std::vector<float>, std::vector<float>>& gradients,
                   std::shared_ptr<BinMatrix> matrix) {
  Problem p;
  p.matrix = std::move(matrix);
  p.n_columns = m.table.n_columns();
  const auto* const values = static_cast<const float*>(m.table.dense().data);
  p.values.assign(values, values + m.n_rows() * p.n_columns);
  p.gradient = gradients.first;
  p.hessian = gradients.second;
  return p;
}

// One table in every storage; the first one has plain lanes only.
struct SparseProblem {
  std::vector<const char*> names;
  std::vector<Problem> problems;
};

SparseProblem make_sparse_problem(const MixedShape& shape, std::uint64_t seed) {
  Mixed m = make_mixed(shape, seed);
  const auto gradients = random_gradients(m, seed);
  const SparseView by_row = m.table.by_row();
  SparseProblem s;
  for (const NamedStorage& storage : storages_of(m)) {
    s.names.push_back(storage.name);
    s.problems.push_back(problem_of(m, gradients,
                                    s.names.size() % 2 == 0 ? fill_training(m, storage.storage, m.table.dense())
                                                            : fill_training(m, storage.storage, by_row)));
  }
  return s;
}

}  // namespace

TEST_SUITE("grower") {
  TEST_CASE("any number of threads, any level: the same tree") {
    // Enough rows that leaves are partitioned and built in several pieces.
    const Problem p = make_problem(40000, 11, 91);
    const std::vector<RowIdx> rows = bag(p, 0.6);
    for (const Setting& s : settings()) {
      for (const bool with_hessian : {true, false}) {
        for (const bool bagged : {false, true}) {
          CAPTURE(s.name);
          CAPTURE(with_hessian);
          CAPTURE(bagged);
          const std::vector<RowIdx>* const used = bagged ? &rows : nullptr;
          const Grown one = grow(p, s.params, 1, with_hessian, used);
          for (const int n_threads : {2, 3, 4, 8}) {
            CAPTURE(n_threads);
            CHECK(same(grow(p, s.params, n_threads, with_hessian, used), one));
          }
          at_every_level([&] { CHECK(same(grow(p, s.params, 2, with_hessian, used), one)); });
        }
      }
    }
  }

  // With two threads, lanes of these are built when they are searched, however many rows a leaf has.
  TEST_CASE("many groups of lanes, large leaves: the same tree for any number of threads") {
    // Of an odd number of groups, two threads cut one where a batch has few leaves.
    for (const auto& [n_columns, n_groups] : {std::pair<std::int64_t, std::int64_t>{180, 7}, {200, 8}}) {
      CAPTURE(n_columns);
      const Problem p = make_problem(24000, n_columns, 77, false);
      REQUIRE(std::ssize(p.matrix->groups()) == n_groups);
      GrowParams params;
      params.shape.num_leaves = 40;
      const Grown one = grow(p, params, 1);
      CHECK(one.tree.n_leaves() == 40);
      for (const int n_threads : {2, 3, 5}) CHECK(same(grow(p, params, n_threads), one));
      std::vector<RowIdx> rows;
      for (RowIdx row = 0; row < 24000; row += 1 + row % 3) rows.push_back(row);
      const Grown sample = grow(p, params, 1, false, &rows);
      for (const int n_threads : {2, 3}) CHECK(same(grow(p, params, n_threads, false, &rows), sample));
    }
  }

  TEST_CASE("trees are true to their rows") {
    const Problem p = make_problem(12000, 9, 92);
    const std::vector<RowIdx> rows = bag(p, 0.4);
    for (const Setting& s : settings()) {
      for (const bool with_hessian : {true, false}) {
        CAPTURE(s.name);
        CAPTURE(with_hessian);
        const Grown whole = grow(p, s.params, 2, with_hessian);
        check_true_to_rows(p, s.params, whole, with_hessian, all_rows(p));
        CHECK(whole.tree.n_leaves() <= s.params.shape.num_leaves);
        CHECK(whole.tree.n_leaves() > 1);
        if (s.params.shape.max_depth > 0) CHECK(depth_of(whole.tree, 0) <= s.params.shape.max_depth);
        check_true_to_rows(p, s.params, grow(p, s.params, 2, with_hessian, &rows), with_hessian, rows);
      }
    }
  }

  TEST_CASE("little memory for histograms: the same tree") {
    const Problem p = make_problem(20000, 9, 93);
    for (const Setting& s : settings()) {
      for (const int n_threads : {1, 3}) {
        CAPTURE(s.name);
        CAPTURE(n_threads);
        const Grown plenty = grow(p, s.params, n_threads);
        for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{60000}, std::int64_t{400000}}) {
          GrowParams little = s.params;
          little.search.max_histogram_bytes = bytes;
          CAPTURE(bytes);
          CHECK(same(grow(p, little, n_threads), plenty));
        }
      }
    }
  }

  TEST_CASE("features in shared lanes: the same tree") {
    const Problem alone = make_problem(20000, 11, 110, false);
    const Problem shared = make_problem(20000, 11, 110, true);
    CHECK(shared.matrix->n_cells() < alone.matrix->n_cells());
    for (const Setting& s : settings()) {
      for (const bool with_hessian : {true, false}) {
        CAPTURE(s.name);
        CAPTURE(with_hessian);
        CHECK(same(grow(shared, s.params, 2, with_hessian), grow(alone, s.params, 2, with_hessian)));
      }
    }
  }

  TEST_CASE("small features alone, in one shared lane") {
    Random random(111);
    for (const bool share : {false, true}) {
      std::vector<Feature> features(3);
      for (std::size_t f = 0; f < 3; ++f) {
        features[f].column = static_cast<std::int32_t>(f);
        features[f].n_value_bins = static_cast<std::int32_t>(2 + f);
        features[f].may_miss = false;
        for (std::size_t b = 0; b < 1 + f; ++b) features[f].upper.push_back(static_cast<double>(b) + 0.5);
        features[f].upper.push_back(INFINITY);
      }
      Problem p;
      p.n_columns = 3;
      for (std::int64_t i = 0; i < 3000; ++i) {
        for (std::int64_t f = 0; f < 3; ++f) p.values.push_back(static_cast<float>(random.below(2 + f)));
        const double signal = static_cast<double>(p.values[at(3 * i)]) - static_cast<double>(p.values[at(3 * i + 2)]);
        p.gradient.push_back(static_cast<float>(std::round(16.0 * (signal + random.normal())) / 16.0));
        p.hessian.push_back(static_cast<float>(1 + random.below(31)) / 16.0f);
      }
      p.matrix = std::make_shared<BinMatrix>(std::move(features), 3000, share);
      Team team(1);
      p.matrix->fill(team, p.view(), Use::training);
      GrowParams params;
      for (const bool with_hessian : {true, false}) {
        const Grown g = grow(p, params, 2, with_hessian);
        CHECK(g.tree.n_leaves() > 4);
        check_true_to_rows(p, params, g, with_hessian, all_rows(p));
      }
    }
  }

  TEST_CASE("extreme gradients take the wide form, the same for any number of threads") {
    Problem p = make_problem(30000, 9, 94);
    Random random(95);
    for (float& g : p.gradient) g *= static_cast<float>(std::exp(4.0 * random.normal()));
    GrowParams params;
    for (const bool with_hessian : {true, false}) {
      Team team(1);
      Grower grower(p.matrix);
      std::vector<double> score(at(p.n_rows()));
      if (with_hessian) {
        grower.grow(team, p.gradient.data(), p.hessian.data(), nullptr, p.n_rows(), params, score.data());
        CHECK(grower.stats().wide_rounds == 1);
      }
      const Grown one = grow(p, params, 1, with_hessian);
      CHECK(one.tree.n_leaves() > 1);
      for (const int n_threads : {2, 3, 8}) CHECK(same(grow(p, params, n_threads, with_hessian), one));
      at_every_level([&] { CHECK(same(grow(p, params, 2, with_hessian), one)); });
    }
  }

  TEST_CASE("a grower forgets the tree before, whatever its form and size") {
    Problem p = make_problem(10000, 9, 96);
    const std::vector<float> calm = p.gradient;
    std::vector<float> wild = p.gradient;
    for (std::size_t i = 0; i < wild.size(); ++i) wild[i] *= i % 1000 == 0 ? 1e6f : 1.0f;
    const std::vector<RowIdx> rows = bag(p, 0.5);
    GrowParams params;
    Team team(2);
    Grower grower(p.matrix);
    for (int round = 0; round < 6; ++round) {
      const bool is_wild = round % 3 == 1;
      const bool bagged = round % 2 == 1;
      p.gradient = is_wild ? wild : calm;
      params.shape.num_leaves = round % 2 == 0 ? 60 : 15;
      const Grown fresh = grow(p, params, 2, true, bagged ? &rows : nullptr);
      const Grown again = grow(grower, team, p, params, true, bagged ? &rows : nullptr);
      CAPTURE(round);
      CHECK(same(again, fresh));
    }
  }

  TEST_CASE("a grower forgets which features the tree before had") {
    const Problem p = make_problem(20000, 90, 98);
    REQUIRE(p.matrix->groups().size() > 2);
    const std::vector<RowIdx> rows = bag(p, 0.7);
    Team team(2);
    Grower grower(p.matrix);
    const double by_tree[] = {0.02, 1.0, 1.0, 0.02, 0.5, 1.0};
    for (int round = 0; round < 6; ++round) {
      GrowParams params;
      params.search.fractions.by_tree = by_tree[round];
      params.search.column_key = static_cast<std::uint64_t>(round);
      const bool bagged = round == 2;
      const Grown fresh = grow(p, params, 1, true, bagged ? &rows : nullptr);
      const Grown again = grow(grower, team, p, params, true, bagged ? &rows : nullptr);
      CAPTURE(round);
      CHECK(same(again, fresh));
    }
  }

  TEST_CASE("the root split is the best of all, by a plain loop") {
    const Problem p = make_problem(3000, 9, 97);
    GrowParams params;
    params.shape.num_leaves = 2;
    params.search.rules.lambda_l2 = 1.0;
    const Grown g = grow(p, params, 1);
    REQUIRE(g.tree.n_leaves() == 2);
    double total_g = 0.0, total_h = 0.0;
    for (std::size_t i = 0; i < p.gradient.size(); ++i) {
      total_g += static_cast<double>(p.gradient[i]);
      total_h += static_cast<double>(p.hessian[i]);
    }
    const auto score = [](double gradient, double h) { return gradient * gradient / (h + 1.0); };
    double best = 0.0;
    for (std::size_t f = 0; f < p.matrix->features().size(); ++f) {
      const Feature& feature = p.matrix->features()[f];
      std::vector<std::uint16_t> bins(at(p.n_rows()));
      p.matrix->copy_column(static_cast<std::int64_t>(f), bins.data());
      for (int t = 0; t < feature.n_value_bins; ++t) {
        for (const bool missing_left : {false, true}) {
          double left_g = 0.0, left_h = 0.0, left_n = 0.0;
          for (std::size_t i = 0; i < bins.size(); ++i) {
            if (bins[i] == feature.n_value_bins ? !missing_left : bins[i] > t) continue;
            left_g += static_cast<double>(p.gradient[i]);
            left_h += static_cast<double>(p.hessian[i]);
            left_n += 1.0;
          }
          if (left_n < 20 || static_cast<double>(bins.size()) - left_n < 20) continue;
          best = std::max(best,
                          score(left_g, left_h) + score(total_g - left_g, total_h - left_h) - score(total_g, total_h));
        }
      }
    }
    CHECK(g.tree.gain[0] == doctest::Approx(best).epsilon(1e-10));
  }

  TEST_CASE("sampled columns are the only ones used") {
    const Problem p = make_problem(5000, 24, 98);
    GrowParams params;
    params.search.fractions.by_tree = 0.25;
    params.search.column_key = 5;
    const Grown g = grow(p, params, 2);
    auto used = g.tree.feature;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    CHECK(used.size() <= 6);
    CHECK(used.size() > 1);
  }

  TEST_CASE("a tree finds its bins again") {
    const Problem p = make_problem(3000, 9, 99);
    const Grown g = grow(p, {}, 2);
    Tree again = g.tree;
    again.feature.clear();
    again.threshold_bin.clear();
    CHECK(again.find_bins(p.matrix->features()) == -1);
    CHECK(again.feature == g.tree.feature);
    CHECK(again.threshold_bin == g.tree.threshold_bin);
    again.threshold[2] = std::nextafter(again.threshold[2], 1e30);
    CHECK(again.find_bins(p.matrix->features()) == 2);
    again = g.tree;
    again.column[1] = 1000;
    CHECK(again.find_bins(p.matrix->features()) == 1);
    again = g.tree;
    again.missing_kind[0] = static_cast<std::int8_t>(again.missing_kind[0] + 1);
    CHECK(again.find_bins(p.matrix->features()) == 0);
  }

  TEST_CASE("an interrupted tree changes no score, and the next one is as if it had not been") {
    const Problem p = make_problem(20000, 9, 101);
    static int n_asked;
    for (const int n_threads : {1, 3}) {
      Team team(n_threads);
      Grower grower(p.matrix);
      const std::vector<double> before(at(p.n_rows()), 0.25);
      std::vector<double> score = before;
      n_asked = 0;
      Interrupt interrupt([] { return ++n_asked > 0; });
      GrowParams params;
      params.interrupt = &interrupt;
      std::this_thread::sleep_for(std::chrono::milliseconds(30));  // it is not asked at once
      CHECK_THROWS_AS(grower.grow(team, p.gradient.data(), p.hessian.data(), nullptr, p.n_rows(), params, score.data()),
                      Interrupted);
      CHECK(n_asked == 1);
      CHECK(first_difference(score, before) == -1);
      params.interrupt = nullptr;
      grower.grow(team, p.gradient.data(), p.hessian.data(), nullptr, p.n_rows(), params, score.data());
      std::vector<double> expected = before;
      Grower(p.matrix).grow(team, p.gradient.data(), p.hessian.data(), nullptr, p.n_rows(), params, expected.data());
      CHECK(first_difference(score, expected) == -1);
    }
  }

  TEST_CASE("only the thread that made an interrupt asks, and all of them hear the answer") {
    static int n_asked;
    n_asked = 0;
    Interrupt interrupt([] { return ++n_asked > 1; });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    std::thread([&] { CHECK_NOTHROW(interrupt.check()); }).join();
    CHECK(n_asked == 0);
    CHECK_NOTHROW(interrupt.check());
    CHECK(n_asked == 1);
    CHECK_NOTHROW(interrupt.check());  // not so soon again
    CHECK(n_asked == 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    // The last step was short: the clock is read again after fifteen more at the latest.
    int n_more = 0;
    const auto check_often = [&] {
      for (; n_more < 16; ++n_more) interrupt.check();
    };
    CHECK_THROWS_AS(check_often(), Interrupted);
    CHECK(n_more == 15);
    std::thread([&] { CHECK_THROWS_AS(interrupt.check(), Interrupted); }).join();
    CHECK(n_asked == 2);
  }

  TEST_CASE("scores of other rows follow the tree") {
    const Problem p = make_problem(9000, 9, 100);
    const std::vector<RowIdx> rows = bag(p, 0.5);
    std::vector<RowIdx> rest;
    for (const RowIdx row : all_rows(p)) {
      if (!std::binary_search(rows.begin(), rows.end(), row)) rest.push_back(row);
    }
    Grown g = grow(p, {}, 2, true, &rows);
    for (const int n_threads : {1, 3}) {
      Team team(n_threads);
      std::vector<double> score = g.score;
      add_tree_to_scores(team, *p.matrix, g.tree, rest.data(), static_cast<std::int64_t>(rest.size()), score.data());
      std::vector<double> everywhere(at(p.n_rows()), 0.25);
      add_tree_to_scores(team, *p.matrix, g.tree, nullptr, p.n_rows(), everywhere.data());
      std::vector<double> predicted(at(p.n_rows()), 0.25);
      predict_scores(team, as_forest(g.tree, p.n_columns), p.view(), 0, 1, predicted.data());
      CHECK(first_difference(score, everywhere) == -1);
      CHECK(first_difference(score, predicted) == -1);
    }
  }

  TEST_CASE("leaf values are multiples of the unit") {
    const Problem p = make_problem(5000, 7, 105);
    GrowParams params;
    const Grown plain = grow(p, params, 2);
    params.values.value_unit = 0x1.0p-12;
    const Grown g = grow(p, params, 2);
    CHECK(g.tree.threshold == plain.tree.threshold);
    for (std::size_t leaf = 0; leaf < g.tree.leaf_value.size(); ++leaf) {
      CHECK(g.tree.leaf_value[leaf] == std::nearbyint(plain.tree.leaf_value[leaf] * 0x1.0p12) * 0x1.0p-12);
    }
    std::vector<double> score(at(p.n_rows()), 0.25);
    Team team(1);
    add_tree_to_scores(team, *p.matrix, g.tree, nullptr, p.n_rows(), score.data());
    CHECK(first_difference(score, g.score) == -1);
  }

  TEST_CASE("nothing to split: one leaf") {
    GrowParams params;
    Problem tiny = make_problem(30, 3, 101);
    CHECK(grow(tiny, params, 2).tree.n_leaves() == 1);
    Problem flat = make_problem(1000, 3, 102);
    std::fill(flat.gradient.begin(), flat.gradient.end(), 0.5f);
    std::fill(flat.hessian.begin(), flat.hessian.end(), 1.0f);
    const Grown g = grow(flat, params, 2);
    CHECK(g.tree.n_leaves() == 1);
    CHECK(g.tree.leaf_value[0] == doctest::Approx(-0.05));
    CHECK(g.score[0] == 0.25);  // it adds nothing
    std::fill(flat.gradient.begin(), flat.gradient.end(), 0.0f);
    CHECK(grow(flat, params, 2).tree.leaf_value[0] == 0.0);
    params.shape.num_leaves = 1;
    CHECK(grow(make_problem(1000, 3, 103), params, 2).tree.n_leaves() == 1);
  }

  TEST_CASE("one row, one column, no columns, an empty bag") {
    GrowParams params;
    params.search.rules.min_data = 1.0;
    params.search.rules.min_sum_hessian = 0.0;
    CHECK(grow(make_problem(1, 1, 104), params, 2).tree.n_leaves() == 1);
    CHECK(grow(make_problem(50, 1, 105), params, 2).tree.n_leaves() > 1);
    CHECK(grow(make_problem(50, 0, 106), params, 2).tree.n_leaves() == 1);
    const Problem p = make_problem(50, 4, 107);
    std::vector<RowIdx> none;
    none.reserve(1);  // a null pointer would mean all rows
    const Grown g = grow(p, params, 2, true, &none);
    CHECK(g.tree.n_leaves() == 1);
    CHECK(std::isfinite(g.tree.leaf_value[0]));
  }

  TEST_CASE("all hessians zero") {
    Problem p = make_problem(500, 4, 108);
    std::fill(p.hessian.begin(), p.hessian.end(), 0.0f);
    const Grown g = grow(p, {}, 2);
    for (const double value : g.tree.leaf_value) CHECK(std::isfinite(value));
  }

  // Two models may be trained on one data set at the same time.
  TEST_CASE("several growers on one matrix at once") {
    const Problem p = make_problem(20000, 9, 109);
    const Grown alone = grow(make_problem(20000, 9, 109), {}, 2);
    std::vector<Grown> grown(4);
    std::vector<std::thread> threads;
    for (Grown& g : grown) threads.emplace_back([&p, &g] { g = grow(p, {}, 2); });
    for (auto& t : threads) t.join();
    for (const Grown& g : grown) CHECK(same(g, alone));
  }

  // ---- bundles and sparse columns ----

  TEST_CASE("any storage, any number of threads: the same tree") {
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.n_rows = 20000;  // beyond what a packed cell holds
      shape.kind = kind;
      const SparseProblem s = make_sparse_problem(shape, 120);
      const std::vector<RowIdx> rows = bag(s.problems[0], 0.5);
      int round = 0;
      for (const Setting& setting : settings()) {
        for (const bool with_hessian : {true, false}) {
          const bool bagged = ++round % 3 == 0;
          const std::vector<RowIdx>* const used = bagged ? &rows : nullptr;
          const Grown expected = grow(s.problems[0], setting.params, 1, with_hessian, used);
          CHECK(expected.tree.n_leaves() > 1);
          for (std::size_t i = 0; i < s.problems.size(); ++i) {
            CAPTURE(static_cast<int>(kind));
            CAPTURE(setting.name);
            CAPTURE(with_hessian);
            CAPTURE(bagged);
            CAPTURE(s.names[i]);
            const int threads[] = {1, 2, 3, 8};
            const int n_threads = threads[(i + at(round)) % 4];
            CAPTURE(n_threads);
            CHECK(same(grow(s.problems[i], setting.params, n_threads, with_hessian, used), expected));
          }
        }
      }
      // Each storage with every number of threads, at every level.
      GrowParams params;
      params.shape.num_leaves = 63;
      const Grown expected = grow(s.problems[0], params, 1);
      check_true_to_rows(s.problems[0], params, expected, true, all_rows(s.problems[0]));
      for (std::size_t i = 0; i < s.problems.size(); ++i) {
        CAPTURE(s.names[i]);
        for (const int n_threads : {1, 2, 3, 8}) CHECK(same(grow(s.problems[i], params, n_threads), expected));
        at_every_level([&] { CHECK(same(grow(s.problems[i], params, 2), expected)); });
      }
    }
  }

  TEST_CASE("any storage: extreme gradients, which take the wide form") {
    MixedShape shape;
    shape.n_rows = 15000;
    SparseProblem s = make_sparse_problem(shape, 121);
    Random random(121);
    std::vector<float> factor;
    for (std::int64_t i = 0; i < shape.n_rows; ++i) {
      factor.push_back(static_cast<float>(std::exp(5.0 * random.normal())));
    }
    for (Problem& p : s.problems) {
      for (std::size_t i = 0; i < factor.size(); ++i) p.gradient[i] *= factor[i];
    }
    for (const bool with_hessian : {true, false}) {
      for (const double min_data : {1.0, 20.0}) {
        GrowParams params;
        params.shape.num_leaves = 100;
        params.search.rules.min_data = min_data;
        Team team(1);
        Grower grower(s.problems[0].matrix);
        std::vector<double> score(at(shape.n_rows));
        grower.grow(team, s.problems[0].gradient.data(), with_hessian ? s.problems[0].hessian.data() : nullptr, nullptr,
                    shape.n_rows, params, score.data());
        if (with_hessian) CHECK(grower.stats().wide_rounds == 1);
        const Grown expected = grow(s.problems[0], params, 1, with_hessian);
        CHECK(expected.tree.n_leaves() > 10);
        for (std::size_t i = 0; i < s.problems.size(); ++i) {
          CAPTURE(s.names[i]);
          CAPTURE(with_hessian);
          CAPTURE(min_data);
          CHECK(same(grow(s.problems[i], params, 1 + static_cast<int>(i % 3), with_hessian), expected));
        }
      }
    }
  }

  TEST_CASE("any storage: so many rows that every form needs sums of 64 bits, and several parts") {
    MixedShape shape;
    shape.n_rows = 90000;
    shape.n_groups = 6;
    const SparseProblem s = make_sparse_problem(shape, 122);
    for (const bool with_hessian : {true, false}) {
      GrowParams params;
      params.shape.num_leaves = 20;
      const Grown expected = grow(s.problems[0], params, 1, with_hessian);
      for (std::size_t i = 1; i < s.problems.size(); ++i) {
        for (const int n_threads : {1, 4}) {
          CAPTURE(s.names[i]);
          CAPTURE(with_hessian);
          CAPTURE(n_threads);
          CHECK(same(grow(s.problems[i], params, n_threads, with_hessian), expected));
        }
      }
    }
  }

  TEST_CASE("any storage: little memory for histograms") {
    MixedShape shape;
    shape.n_rows = 12000;
    const SparseProblem s = make_sparse_problem(shape, 123);
    for (const Setting& setting : settings()) {
      const Grown expected = grow(s.problems[0], setting.params, 1);
      for (std::size_t i = 1; i < s.problems.size(); ++i) {
        GrowParams little = setting.params;
        little.search.max_histogram_bytes = i % 2 == 0 ? 0 : 40000;
        CAPTURE(s.names[i]);
        CAPTURE(setting.name);
        CHECK(same(grow(s.problems[i], little, 1 + static_cast<int>(i % 3)), expected));
      }
    }
  }

  TEST_CASE("any storage: a grower forgets the tree before") {
    MixedShape shape;
    shape.n_rows = 10000;
    const SparseProblem s = make_sparse_problem(shape, 124);
    const std::vector<RowIdx> rows = bag(s.problems[0], 0.3);
    for (std::size_t i = 1; i < s.problems.size(); ++i) {
      Problem p = s.problems[i];
      const std::vector<float> calm = p.gradient;
      Team team(2);
      Grower grower(p.matrix);
      for (int round = 0; round < 6; ++round) {
        for (std::size_t r = 0; r < calm.size(); ++r) {
          p.gradient[r] = calm[r] * (round % 3 == 1 && r % 1000 == 0 ? 1e6f : 1.0f);
        }
        GrowParams params;
        params.shape.num_leaves = round % 2 == 0 ? 60 : 15;
        params.search.rules.min_data = round % 2 == 0 ? 20.0 : round;  // other sparse columns are worth it
        params.search.fractions.by_node = round == 4 ? 0.5 : 1.0;
        const bool bagged = round % 2 == 1;
        Problem plain = s.problems[0];
        plain.gradient = p.gradient;
        const Grown expected = grow(plain, params, 1, true, bagged ? &rows : nullptr);
        const Grown again = grow(grower, team, p, params, true, bagged ? &rows : nullptr);
        CAPTURE(s.names[i]);
        CAPTURE(round);
        CHECK(same(again, expected));
      }
    }
  }

  TEST_CASE("the storage that is chosen: the same tree as from plain lanes") {
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.n_rows = 15000;
      shape.n_sparse = 30;
      shape.group_size = 20;
      shape.kind = kind;
      Mixed m = make_mixed(shape, 125);
      const auto gradients = random_gradients(m, 125);
      const auto grow_with = [&](const StorageOptions& options, const SparseView& view, int n_threads) {
        Team team(2);
        StorageReport report;
        Problem p = problem_of(m, gradients, bin_training(team, view, m.features, options, report));
        if (options.bundle) CHECK(!p.matrix->storage().bundles.empty());
        if (options.sparse) CHECK(!p.matrix->storage().loose.empty());
        GrowParams params;
        params.search.rules.min_data = 5.0;
        return grow(p, params, n_threads);
      };
      const Grown expected = grow_with({false, false, false}, m.table.by_row(), 1);
      CHECK(expected.tree.n_leaves() == 31);
      for (const bool share : {false, true}) {
        for (const auto& [bundle, sparse] : {std::pair{true, false}, {false, true}, {true, true}}) {
          CAPTURE(static_cast<int>(kind));
          CAPTURE(share);
          CAPTURE(bundle);
          CAPTURE(sparse);
          CHECK(same(grow_with({share, bundle, sparse}, m.table.by_row(), 1), expected));
          CHECK(same(grow_with({share, bundle, sparse}, m.table.by_column(), 3), expected));
        }
      }
    }
  }

  TEST_CASE("equal columns, kept in different ways: the smaller one is split") {
    Random random(126);
    const std::int64_t n_rows = 3000;
    // Six copies of one column; others that exclude it, to fill bundles.
    for (const bool one_hot : {true, false}) {
      Table<float> table(n_rows, 9);
      Problem p;
      p.n_columns = 9;
      for (std::int64_t row = 0; row < n_rows; ++row) {
        const float x = random.chance(0.3) ? one_hot ? 1.0f : static_cast<float>(1 + random.below(3)) : 0.0f;
        for (std::int64_t c = 0; c < 6; ++c) table(row, c) = x;
        for (std::int64_t c = 6; c < 9; ++c) table(row, c) = x == 0.0f && random.chance(0.2) ? 1.0f : 0.0f;
        p.gradient.push_back(static_cast<float>(std::round(16.0 * (2.0 * static_cast<double>(x) + random.normal()))));
        p.hessian.push_back(1.0f + static_cast<float>(random.below(3)));
      }
      std::vector<Feature> features;
      for (std::int32_t c = 0; c < 9; ++c) {
        features.push_back(make_feature(
            c, one_hot || c >= 6 ? std::vector<double>{0.5, kInfinity} : std::vector<double>{0.5, 1.5, 2.5, kInfinity},
            MissingKind::nan));
        features.back().may_miss = false;
      }
      for (const Storage& storage :
           {Storage{false, {}, {}}, Storage{false, {{0, 6}, {3, 7}}, {1, 4}}, Storage{true, {{1, 6}, {3, 7}}, {0, 4}},
            Storage{true, {{2, 6}, {4, 7}}, {3, 5}}, Storage{false, {{5, 8}}, {0, 1, 2}},
            Storage{false, {{0, 8}}, {1, 2, 3, 4, 5, 6, 7}}, Storage{false, {{5, 6}}, {4, 3, 2, 1}}}) {
        p.matrix = std::make_shared<BinMatrix>(features, n_rows, storage);
        Team team(1);
        REQUIRE(p.matrix->fill(team, table.by_row(), Use::exact_training));
        for (const bool with_hessian : {true, false}) {
          for (const int n_threads : {1, 3}) {
            const Grown g = grow(p, {}, n_threads, with_hessian);
            REQUIRE(g.tree.n_leaves() > 1);
            CHECK(g.tree.feature[0] == 0);
            for (const std::int32_t f : g.tree.feature) CHECK((f == 0 || f >= 6));
          }
        }
      }
    }
  }

  TEST_CASE("several growers on one matrix of sparse columns at once") {
    MixedShape shape;
    shape.n_rows = 12000;
    const SparseProblem s = make_sparse_problem(shape, 127);
    std::vector<GrowParams> params(4);
    for (std::size_t i = 0; i < params.size(); ++i) params[i].search.rules.min_data = i % 2 == 0 ? 20.0 : 2.0;
    for (std::size_t k = 1; k < s.problems.size(); ++k) {
      std::vector<Grown> grown(4);
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < grown.size(); ++i) {
        threads.emplace_back([&, i] { grown[i] = grow(s.problems[k], params[i], 2); });
      }
      for (auto& t : threads) t.join();
      for (std::size_t i = 0; i < grown.size(); ++i) CHECK(same(grown[i], grow(s.problems[0], params[i], 1)));
    }
  }

  TEST_CASE("some rows of a matrix, in any storage: the same tree") {
    MixedShape shape;
    shape.n_rows = 12000;
    const SparseProblem s = make_sparse_problem(shape, 128);
    const std::vector<RowIdx> rows = bag(s.problems[0], 0.4);
    std::vector<Grown> grown;
    for (std::size_t i = 0; i < s.problems.size(); ++i) {
      const BinMatrix& from = *s.problems[i].matrix;
      Problem p;
      p.n_columns = s.problems[i].n_columns;
      p.matrix = std::make_shared<BinMatrix>(from.features(), static_cast<std::int64_t>(rows.size()), from.storage());
      Team team(2);
      p.matrix->fill_from(team, from, rows);
      for (const RowIdx row : rows) {
        p.gradient.push_back(s.problems[i].gradient[row]);
        p.hessian.push_back(s.problems[i].hessian[row]);
      }
      grown.push_back(grow(p, {}, 2));
      CAPTURE(s.names[i]);
      CHECK(same(grown[i], grown[0]));
    }
    // And the same as a bag of these rows.
    CHECK(same_tree(grown[0].tree, grow(s.problems[0], {}, 1, true, &rows).tree));
  }

  TEST_CASE("data in the bins of other data: the same tree as from plain lanes") {
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.kind = kind;
      shape.n_rows = 12000;
      shape.with_missing = false;
      const Mixed m = make_mixed(shape, 129);
      Mixed other = make_mixed(shape, 130);
      // Values meet where they never did, and are missing where none was.
      Random random(130);
      for (std::int64_t row = 0; row < other.n_rows(); ++row) {
        for (std::int64_t c = 0; c < other.table.n_columns(); ++c) {
          if (random.chance(0.02)) {
            other.table(row, c) = random.chance(0.5) ? NAN : static_cast<float>(random.below(6) - 2);
          }
        }
      }
      const auto gradients = random_gradients(other, 130);
      Team team(2);
      auto plain = std::make_shared<BinMatrix>(m.features, other.n_rows(), Storage{});
      plain->fill(team, other.table.dense(), Use::training);
      const Problem expected = problem_of(other, gradients, plain);
      for (const NamedStorage& s : storages_of(m)) {
        CAPTURE(static_cast<int>(kind));
        CAPTURE(s.name);
        const auto training = fill_training(m, s.storage, m.table.dense());
        CHECK(training->is_trainable());
        const auto like = make_like(*training, other.n_rows());
        like->fill(team, other.table.by_row(), Use::other);
        if (!s.storage.bundles.empty()) CHECK_FALSE(like->is_trainable());
        const auto matrix = like->is_trainable() ? like : make_trainable(*like);
        CHECK(matrix->is_trainable());
        check_bins(*matrix, other.table);
        const Problem p = problem_of(other, gradients, matrix);
        GrowParams params;
        for (const bool extra : {false, true}) {
          params.search.extra_trees = extra;
          for (const int n_threads : {1, 3}) {
            CAPTURE(extra);
            CAPTURE(n_threads);
            CHECK(same(grow(p, params, n_threads), grow(expected, params, 1)));
          }
        }
      }
    }
  }
}

}  // namespace gossamer::tests
