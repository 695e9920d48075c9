// Trees with vector leaves: every split is the best one by plain sums over the rows, and trees do not
// depend on threads, levels, storage or memory. The kernels are in test_vector_leaf.cpp.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "core/grower.h"
#include "core/predict.h"
#include "core/round_grower.h"
#include "sparse_table.h"

namespace gossamer::tests {
namespace {

struct Problem {
  std::shared_ptr<BinMatrix> matrix;
  std::vector<std::vector<std::uint16_t>> bins;  // by feature
  std::int64_t n_outputs = 1;
  std::vector<float> gradient;  // output-major
  std::vector<float> hessian;

  std::int64_t n_rows() const { return matrix->n_rows(); }
};

// Multiples of 1/16 from the bins: sums in integers lose nothing.
void add_gradients(Problem& p, std::int64_t n_outputs, std::uint64_t seed) {
  Random random(seed);
  p.n_outputs = n_outputs;
  p.gradient.clear();
  p.hessian.clear();
  for (std::int64_t k = 0; k < n_outputs; ++k) {
    for (std::int64_t row = 0; row < p.n_rows(); ++row) {
      double signal = 0.0;
      for (std::size_t f = 0; f < p.bins.size(); ++f) {
        const double x = p.bins[f][at(row)];
        signal += std::sin(x * 7.0 / p.matrix->features()[f].n_value_bins + static_cast<double>(f) * (k % 3 + 1));
      }
      p.gradient.push_back(static_cast<float>(std::round(16.0 * (signal + random.normal())) / 16.0));
      p.hessian.push_back(static_cast<float>(1 + random.below(31)) / 16.0f);
    }
  }
}

void set_matrix(Problem& p, std::shared_ptr<BinMatrix> matrix) {
  p.matrix = std::move(matrix);
  p.bins.clear();
  for (std::size_t f = 0; f < p.matrix->features().size(); ++f) p.bins.push_back(column_of(*p.matrix, f));
}

// Columns of 2 ... 400 values, some of them missing.
Problem make_problem(std::int64_t n_rows, std::int64_t n_columns, std::int64_t n_outputs, std::uint64_t seed) {
  Random random(seed);
  const int sizes[] = {255, 4, 60, 400, 16, 2, 9, 30};
  Table<float> table(n_rows, n_columns);
  std::vector<Feature> features;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    const int n = sizes[c % 8];
    std::vector<double> upper;
    for (int b = 0; b + 1 < n; ++b) upper.push_back(b + 0.5);
    upper.push_back(kInfinity);
    features.push_back(make_feature(static_cast<std::int32_t>(c), upper, MissingKind::nan));
    features.back().may_miss = c % 3 == 0;
    for (std::int64_t row = 0; row < n_rows; ++row) {
      table(row, c) = c % 3 == 0 && random.chance(0.15) ? NAN : static_cast<float>(random.below(n));
    }
  }
  auto matrix = std::make_shared<BinMatrix>(features, n_rows, true);
  Team team(1);
  matrix->fill(team, table.dense(), Use::training);
  Problem p;
  set_matrix(p, matrix);
  add_gradients(p, n_outputs, seed);
  return p;
}

struct Grown {
  Tree tree;
  std::vector<double> score;
};

Grown grow_with(Grower& grower, const Problem& p, const GrowParams& params, int n_threads, bool with_hessian,
                const std::vector<RowIdx>* rows) {
  Team team(n_threads);
  Grown g;
  g.score.assign(p.gradient.size(), 0.25);
  const std::vector<GrowParams> all(at(p.n_outputs), params);
  g.tree = grower.grow(team, p.gradient.data(), with_hessian ? p.hessian.data() : nullptr,
                       rows != nullptr ? rows->data() : nullptr,
                       rows != nullptr ? static_cast<std::int64_t>(rows->size()) : p.n_rows(), all, g.score.data());
  return g;
}

Grown grow(const Problem& p, const GrowParams& params, int n_threads, bool with_hessian = true,
           const std::vector<RowIdx>* rows = nullptr) {
  Grower grower(p.matrix, true);
  return grow_with(grower, p, params, n_threads, with_hessian, rows);
}

bool same(const Grown& a, const Grown& b) {
  const Tree &s = a.tree, &t = b.tree;
  return s.feature == t.feature && s.threshold_bin == t.threshold_bin && s.threshold == t.threshold &&
         s.default_left == t.default_left && s.left == t.left && s.right == t.right && s.n_values == t.n_values &&
         first_difference(s.gain, t.gain) == -1 && first_difference(s.node_value, t.node_value) == -1 &&
         first_difference(s.node_weight, t.node_weight) == -1 && s.node_count == t.node_count &&
         first_difference(s.leaf_value, t.leaf_value) == -1 && first_difference(s.leaf_weight, t.leaf_weight) == -1 &&
         s.leaf_count == t.leaf_count && first_difference(a.score, b.score) == -1;
}

std::vector<RowIdx> some_rows(const Problem& p, double share) {
  Random random(99);
  std::vector<RowIdx> rows;
  for (std::int64_t i = 0; i < p.n_rows(); ++i) {
    if (random.chance(share)) rows.push_back(static_cast<RowIdx>(i));
  }
  return rows;
}

// Plain sums of rows, in double.
struct Sums {
  std::vector<double> g, h;
  double n = 0.0;

  explicit Sums(std::int64_t k) : g(at(k)), h(at(k)) {}
  double weight() const {
    double total = 0.0;
    for (const double x : h) total += x;
    return total / static_cast<double>(h.size());
  }
  double gain(const SplitRules& r) const {
    double total = 0.0;
    for (std::size_t k = 0; k < g.size(); ++k) {
      const double shrunk = std::max(std::abs(g[k]) - r.lambda_l1, 0.0);
      if (h[k] + r.lambda_l2 > 0.0) total += shrunk * shrunk / (h[k] + r.lambda_l2);
    }
    return total;
  }
  Sums minus(const Sums& other) const {
    Sums result = *this;
    for (std::size_t k = 0; k < g.size(); ++k) {
      result.g[k] -= other.g[k];
      result.h[k] -= other.h[k];
    }
    result.n -= other.n;
    return result;
  }
};

class Naive {
 public:
  Naive(const Problem& p, const SplitRules& rules, bool with_hessian) : p_(p), r_(rules), with_hessian_(with_hessian) {}

  void add(Sums& s, RowIdx row) const {
    for (std::int64_t k = 0; k < p_.n_outputs; ++k) {
      s.g[at(k)] += static_cast<double>(p_.gradient[at(k * p_.n_rows() + row)]);
      s.h[at(k)] += with_hessian_ ? static_cast<double>(p_.hessian[at(k * p_.n_rows() + row)]) : 1.0;
    }
    s.n += 1.0;
  }
  Sums sums(const std::vector<RowIdx>& rows) const {
    Sums s(p_.n_outputs);
    for (const RowIdx row : rows) add(s, row);
    return s;
  }
  bool goes_left(RowIdx row, std::int32_t f, std::int32_t threshold, bool missing_left) const {
    const std::int32_t bin = p_.bins[at(f)][row];
    return bin == p_.matrix->features()[at(f)].n_value_bins ? missing_left : bin <= threshold;
  }
  bool is_admissible(const Sums& s) const {
    return s.n >= std::max(r_.min_data, 1.0) && s.weight() >= r_.min_sum_hessian;
  }
  // The best gain above the leaf's own of any split; -1 without one.
  double best(const std::vector<RowIdx>& rows) const {
    const Sums all = sums(rows);
    double best = -1.0;
    for (std::size_t f = 0; f < p_.bins.size(); ++f) {
      const std::int32_t n_bins = p_.matrix->features()[f].n_value_bins;
      std::vector<Sums> cells(at(n_bins + 1), Sums(p_.n_outputs));
      for (const RowIdx row : rows) add(cells[p_.bins[f][row]], row);
      for (const bool missing_left : {false, true}) {
        Sums left = missing_left ? cells.back() : Sums(p_.n_outputs);
        for (std::int32_t t = 0; t < n_bins; ++t) {
          for (std::size_t k = 0; k < left.g.size(); ++k) {
            left.g[k] += cells[at(t)].g[k];
            left.h[k] += cells[at(t)].h[k];
          }
          left.n += cells[at(t)].n;
          const Sums right = all.minus(left);
          if (!is_admissible(left) || !is_admissible(right)) continue;
          best = std::max(best, left.gain(r_) + right.gain(r_) - all.gain(r_));
        }
      }
    }
    return best;
  }

 private:
  const Problem& p_;
  const SplitRules& r_;
  bool with_hessian_;
};

// Replays the tree on its rows. Every split must do what the tree says of it; where all features and
// thresholds are open (`is_open`), it must be the best one, of the leaf whose turn it is.
void check_tree(const Problem& p, const GrowParams& params, const Grown& grown, bool with_hessian,
                const std::vector<RowIdx>* some, bool is_open) {
  const Tree& t = grown.tree;
  const SplitRules& r = params.search.rules;
  const Naive naive(p, r, with_hessian);
  std::vector<RowIdx> all;
  for (std::int64_t i = 0; i < p.n_rows(); ++i) all.push_back(static_cast<RowIdx>(i));
  if (some != nullptr) all = *some;
  REQUIRE(t.n_values == p.n_outputs);
  REQUIRE(t.n_leaves() == static_cast<std::int64_t>(t.left.size()) + 1);
  REQUIRE(static_cast<std::int64_t>(t.leaf_value.size()) == t.n_leaves() * p.n_outputs);
  CHECK(t.n_leaves() <= params.shape.num_leaves);
  constexpr double kClose = 2e-5;  // gains are compared in floats

  struct Open {
    std::vector<RowIdx> rows;
    int depth;
    double best;
  };
  const auto open = [&](std::vector<RowIdx> rows, int depth) {
    const bool may = params.shape.max_depth == 0 || depth < params.shape.max_depth;
    const double best = is_open && may ? naive.best(rows) : -1.0;
    return Open{std::move(rows), depth, best};
  };
  std::map<std::int32_t, Open> leaves;  // by node number, or ~leaf
  leaves.emplace(t.left.empty() ? -1 : 0, open(all, 0));
  double scale = naive.sums(all).gain(r);
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(t.left.size()); ++i) {
    CAPTURE(i);
    REQUIRE(leaves.count(i) == 1);
    const Open node = std::move(leaves.at(i));
    leaves.erase(i);
    std::vector<RowIdx> side[2];
    for (const RowIdx row : node.rows) {
      const bool left = naive.goes_left(row, t.feature[at(i)], t.threshold_bin[at(i)], t.default_left[at(i)] != 0);
      side[left ? 0 : 1].push_back(row);
    }
    const Sums parent = naive.sums(node.rows);
    const Sums left = naive.sums(side[0]);
    const Sums right = naive.sums(side[1]);
    CHECK(static_cast<double>(t.node_count[at(i)]) == parent.n);
    CHECK(t.node_weight[at(i)] == doctest::Approx(parent.weight()).epsilon(1e-9));
    CHECK(std::min(left.n, right.n) >= std::max(r.min_data, 1.0));
    CHECK(std::min(left.weight(), right.weight()) >= r.min_sum_hessian * (1.0 - 1e-6));
    const double gain = left.gain(r) + right.gain(r) - parent.gain(r);
    const double both = left.gain(r) + right.gain(r);
    scale = std::max(scale, both);
    CHECK(std::abs(t.gain[at(i)] - gain) <= 1e-9 * both);
    CHECK(t.gain[at(i)] > r.min_gain_to_split);
    if (is_open) {
      CHECK(gain >= node.best - kClose * both);
      for (const auto& [other, leaf] : leaves) {
        if (params.shape.depthwise) {
          if (leaf.best > r.min_gain_to_split + kClose * scale) CHECK(leaf.depth >= node.depth);
        } else {
          CHECK(gain >= leaf.best - kClose * scale);
        }
      }
    }
    leaves.emplace(t.left[at(i)], open(side[0], node.depth + 1));
    leaves.emplace(t.right[at(i)], open(side[1], node.depth + 1));
  }
  CHECK(static_cast<std::int64_t>(leaves.size()) == t.n_leaves());
  std::vector<double> score(p.gradient.size(), 0.25);
  for (const auto& [number, leaf] : leaves) {
    REQUIRE(number < 0);
    const std::size_t l = at(~number);
    const Sums sums = naive.sums(leaf.rows);
    CHECK(static_cast<double>(t.leaf_count[l]) == sums.n);
    CHECK(t.leaf_weight[l] == doctest::Approx(sums.weight()).epsilon(1e-9));
    if (params.shape.max_depth > 0) CHECK(leaf.depth <= params.shape.max_depth);
    if (is_open && t.n_leaves() < params.shape.num_leaves) CHECK(leaf.best <= r.min_gain_to_split + kClose * scale);
    for (std::size_t k = 0; k < at(p.n_outputs); ++k) {
      const double value = t.leaf_value[l * at(p.n_outputs) + k];
      if (r.max_delta_step <= 0.0 && r.path_smooth <= 0.0) {
        const double shrunk = std::max(std::abs(sums.g[k]) - r.lambda_l1, 0.0);
        const double denominator = sums.h[k] + r.lambda_l2;
        const double expected =
            denominator > 0.0 ? -std::copysign(shrunk, sums.g[k]) / denominator * params.values.learning_rate : 0.0;
        CHECK(std::abs(value - expected) <= 1e-9 * (std::abs(expected) + 1e-3));
      }
      if (t.n_leaves() == 1) continue;  // adds nothing
      for (const RowIdx row : leaf.rows) score[k * at(p.n_rows()) + row] += value;
    }
  }
  CHECK(first_difference(grown.score, score) == -1);
}

struct Setting {
  const char* name;
  GrowParams params;
  bool is_open = true;
};

std::vector<Setting> settings() {
  GrowParams base;
  base.shape.num_leaves = 15;
  std::vector<Setting> all{{"base", base}};
  const auto add = [&](const char* name, bool is_open, auto&& change) {
    GrowParams p = base;
    change(p);
    all.push_back({name, p, is_open});
  };
  add("many leaves", true, [](GrowParams& p) { p.shape.num_leaves = 90; });
  add("two leaves", true, [](GrowParams& p) { p.shape.num_leaves = 2; });
  add("one leaf", true, [](GrowParams& p) { p.shape.num_leaves = 1; });
  add("depth", true, [](GrowParams& p) { p.shape.max_depth = 3; });
  add("depthwise", true, [](GrowParams& p) {
    p.shape.depthwise = true;
    p.shape.num_leaves = 40;
  });
  add("extra trees", false, [](GrowParams& p) {
    p.search.extra_trees = true;
    p.search.extra_key = 12345;
  });
  add("columns", false, [](GrowParams& p) {
    p.search.fractions = {0.7, 0.7, 0.5};
    p.search.column_key = 777;
  });
  add("l1", true, [](GrowParams& p) { p.search.rules.lambda_l1 = 15.0; });
  add("l1 and l2", true, [](GrowParams& p) {
    p.search.rules.lambda_l1 = 5.0;
    p.search.rules.lambda_l2 = 10.0;
  });
  add("step and smoothing", true, [](GrowParams& p) {
    p.search.rules.max_delta_step = 0.3;
    p.search.rules.path_smooth = 20.0;
  });
  add("small leaves", true, [](GrowParams& p) {
    p.search.rules.min_data = 1.0;
    p.search.rules.min_sum_hessian = 0.0;
    p.shape.num_leaves = 200;
  });
  add("hessian", true, [](GrowParams& p) { p.search.rules.min_sum_hessian = 60.0; });
  add("gain", true, [](GrowParams& p) { p.search.rules.min_gain_to_split = 60.0; });
  return all;
}

// One table in every storage; the first one has plain lanes only.
std::vector<std::pair<const char*, Problem>> every_storage(const MixedShape& shape, std::int64_t n_outputs,
                                                           std::uint64_t seed) {
  Mixed m = make_mixed(shape, seed);
  const SparseView by_row = m.table.by_row();
  std::vector<std::pair<const char*, Problem>> result;
  for (const NamedStorage& storage : storages_of(m)) {
    Problem p;
    set_matrix(p, fill_training(m, storage.storage, by_row));
    add_gradients(p, n_outputs, seed);
    result.emplace_back(storage.name, std::move(p));
  }
  return result;
}

}  // namespace

TEST_SUITE("vector_grower") {
  TEST_CASE("every split is the best one, every value that of its rows") {
    for (const std::int64_t n_outputs : {1, 2, 3, 7, 8, 16, 40}) {
      const Problem p = make_problem(1201, 9, n_outputs, 200 + static_cast<std::uint64_t>(n_outputs));
      const std::vector<RowIdx> rows = some_rows(p, 0.5);
      for (const Setting& s : settings()) {
        for (const bool with_hessian : {true, false}) {
          CAPTURE(n_outputs);
          CAPTURE(s.name);
          CAPTURE(with_hessian);
          if (n_outputs > 3 && s.params.shape.num_leaves > 20) continue;  // the plain loops are slow
          const Grown whole = grow(p, s.params, 2, with_hessian);
          if (s.params.shape.num_leaves > 1) CHECK(whole.tree.n_leaves() > 1);
          check_tree(p, s.params, whole, with_hessian, nullptr, s.is_open);
          check_tree(p, s.params, grow(p, s.params, 1, with_hessian, &rows), with_hessian, &rows, s.is_open);
        }
      }
    }
  }

  TEST_CASE("any number of threads, any level: the same tree") {
    for (const std::int64_t n_outputs : {2, 9}) {
      // Enough rows that leaves are partitioned and built in several pieces.
      const Problem p = make_problem(30000, 9, n_outputs, 210);
      const std::vector<RowIdx> rows = some_rows(p, 0.6);
      for (const Setting& s : settings()) {
        for (const bool with_hessian : {true, false}) {
          const std::vector<RowIdx>* const used = with_hessian ? &rows : nullptr;
          CAPTURE(n_outputs);
          CAPTURE(s.name);
          CAPTURE(with_hessian);
          const Grown one = grow(p, s.params, 1, with_hessian, used);
          for (const int n_threads : {2, 3, 8}) CHECK(same(grow(p, s.params, n_threads, with_hessian, used), one));
          at_every_level([&] { CHECK(same(grow(p, s.params, 2, with_hessian, used), one)); });
        }
      }
    }
  }

  TEST_CASE("little memory for histograms: the same tree") {
    const Problem p = make_problem(6000, 9, 5, 211);
    for (const Setting& s : settings()) {
      for (const int n_threads : {1, 3}) {
        const Grown plenty = grow(p, s.params, n_threads);
        for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{100000}, std::int64_t{1000000}}) {
          GrowParams little = s.params;
          little.search.max_histogram_bytes = bytes;
          CAPTURE(s.name);
          CAPTURE(bytes);
          CHECK(same(grow(p, little, n_threads), plenty));
        }
      }
    }
  }

  TEST_CASE("any storage: the same tree, and the best splits") {
    for (const MissingKind kind : kMissingKinds) {
      for (const std::int64_t n_rows : {900, 20000}) {
        MixedShape shape;
        shape.n_rows = n_rows;
        shape.kind = kind;
        const auto problems = every_storage(shape, 4, 220);
        const std::vector<RowIdx> rows = some_rows(problems[0].second, 0.5);
        int round = 0;
        for (const Setting& s : settings()) {
          const bool with_hessian = ++round % 2 == 0;
          const std::vector<RowIdx>* const used = round % 3 == 0 ? &rows : nullptr;
          CAPTURE(s.name);
          const Grown expected = grow(problems[0].second, s.params, 1, with_hessian, used);
          if (n_rows < 1000 && s.params.shape.num_leaves < 60) {
            check_tree(problems[0].second, s.params, expected, with_hessian, used, s.is_open);
          }
          for (std::size_t i = 1; i < problems.size(); ++i) {
            CAPTURE(static_cast<int>(kind));
            CAPTURE(problems[i].first);
            GrowParams params = s.params;
            if (i % 3 == 0) params.search.max_histogram_bytes = 50000;
            CHECK(same(grow(problems[i].second, params, 1 + static_cast<int>(i % 3), with_hessian, used), expected));
          }
        }
        const Grown expected = grow(problems[0].second, {}, 1);
        for (const auto& [name, p] : problems) {
          CAPTURE(name);
          at_every_level([&] { CHECK(same(grow(p, {}, 2), expected)); });
        }
      }
    }
  }

  TEST_CASE("a grower forgets the tree before") {
    MixedShape shape;
    shape.n_rows = 3000;
    const auto problems = every_storage(shape, 3, 230);
    for (const auto& [name, original] : problems) {
      Problem p = original;
      Grower grower(p.matrix, true);
      const std::vector<RowIdx> rows = some_rows(p, 0.3);
      for (int round = 0; round < 8; ++round) {
        add_gradients(p, 1 + round % 4 * 5, 231 + static_cast<std::uint64_t>(round));
        GrowParams params;
        params.shape.num_leaves = round % 2 == 0 ? 60 : 15;
        params.search.rules.min_data = round % 2 == 0 ? 20.0 : round;  // other sparse columns are worth it
        params.search.fractions.by_node = round == 4 ? 0.5 : 1.0;
        params.search.max_histogram_bytes = round == 5 ? 0 : 1 << 28;
        const bool with_hessian = round % 3 != 0;
        const std::vector<RowIdx>* const used = round % 2 == 1 ? &rows : nullptr;
        CAPTURE(name);
        CAPTURE(round);
        const Grown again = grow_with(grower, p, params, 1 + round % 3, with_hessian, used);
        CHECK(same(again, grow(p, params, 1, with_hessian, used)));
      }
    }
  }

  TEST_CASE("one output: nearly the tree of the scalar grower") {
    for (const bool with_hessian : {true, false}) {
      const Problem p = make_problem(5000, 9, 1, 240);
      for (const Setting& s : settings()) {
        if (s.params.search.rules.max_delta_step > 0.0) continue;  // there gains are limited, too
        CAPTURE(s.name);
        CAPTURE(with_hessian);
        const Grown vector = grow(p, s.params, 1, with_hessian);
        Team team(1);
        Grower grower(p.matrix);
        std::vector<double> score(p.gradient.size(), 0.25);
        const Tree scalar = grower.grow(team, p.gradient.data(), with_hessian ? p.hessian.data() : nullptr, nullptr,
                                        p.n_rows(), s.params, score.data());
        CHECK(vector.tree.n_leaves() == scalar.n_leaves());
        if (scalar.n_leaves() == 1) continue;
        CHECK(vector.tree.feature[0] == scalar.feature[0]);
        CHECK(vector.tree.threshold_bin[0] == scalar.threshold_bin[0]);
        double gains[2] = {0.0, 0.0};
        for (const double g : vector.tree.gain) gains[0] += g;
        for (const double g : scalar.gain) gains[1] += g;
        CHECK(gains[0] == doctest::Approx(gains[1]).epsilon(1e-4));
        std::size_t n_same = 0;
        for (std::size_t i = 0; i < score.size(); ++i) {
          n_same += std::abs(score[i] - vector.score[i]) <= 1e-9 ? 1u : 0u;
        }
        CHECK(static_cast<double>(n_same) >= 0.9 * static_cast<double>(score.size()));
      }
    }
  }

  TEST_CASE("gradients times a power of two: the same splits, however large or small") {
    const Problem p = make_problem(1500, 6, 3, 250);
    for (const bool with_hessian : {true, false}) {
      const Grown plain = grow(p, {}, 1, with_hessian);
      CHECK(plain.tree.n_leaves() > 10);
      for (const int exponent : {-115, -100, -60, 60, 100, 115}) {
        CAPTURE(exponent);
        CAPTURE(with_hessian);
        Problem scaled = p;
        for (float& g : scaled.gradient) g = std::ldexp(g, exponent);
        const Grown g = grow(scaled, {}, 1, with_hessian);
        CHECK(g.tree.feature == plain.tree.feature);
        CHECK(g.tree.threshold_bin == plain.tree.threshold_bin);
        CHECK(g.tree.leaf_count == plain.tree.leaf_count);
        for (std::size_t i = 0; i < g.tree.leaf_value.size(); ++i) {
          CHECK(g.tree.leaf_value[i] == doctest::Approx(std::ldexp(plain.tree.leaf_value[i], exponent)).epsilon(1e-6));
        }
      }
    }
    // Hessians too; min_sum_hessian with them.
    const Grown plain = grow(p, {}, 1);
    for (const int exponent : {-100, -60, 60, 100}) {
      CAPTURE(exponent);
      Problem scaled = p;
      for (float& h : scaled.hessian) h = std::ldexp(h, exponent);
      GrowParams params;
      params.search.rules.min_sum_hessian = std::ldexp(params.search.rules.min_sum_hessian, exponent);
      const Grown g = grow(scaled, params, 1);
      CHECK(g.tree.feature == plain.tree.feature);
      CHECK(g.tree.threshold_bin == plain.tree.threshold_bin);
    }
  }

  TEST_CASE("outputs of very different scale each keep their precision") {
    Problem p = make_problem(2000, 6, 4, 251);
    const float factor[] = {1.0f, 0x1p30f, 0x1p-30f, 0.0f};  // the last one has no gradients at all
    for (std::size_t i = 0; i < p.gradient.size(); ++i) p.gradient[i] *= factor[i / at(p.n_rows())];
    for (const bool with_hessian : {true, false}) {
      const Grown g = grow(p, {}, 2, with_hessian);
      CHECK(g.tree.n_leaves() > 10);
      check_tree(p, {}, g, with_hessian, nullptr, true);
      for (std::size_t l = 0; l < at(g.tree.n_leaves()); ++l) {
        CHECK(g.tree.leaf_value[4 * l + 3] == 0.0);
        CHECK(g.tree.leaf_value[4 * l + 2] != 0.0);
      }
    }
  }

  TEST_CASE("no gradients: no split") {
    Problem p = make_problem(500, 4, 3, 252);
    std::fill(p.gradient.begin(), p.gradient.end(), 0.0f);
    for (const bool with_hessian : {true, false}) {
      const Grown g = grow(p, {}, 2, with_hessian);
      CHECK(g.tree.n_leaves() == 1);
      check_tree(p, {}, g, with_hessian, nullptr, false);
    }
  }

  TEST_CASE("no features: no split") {
    Problem p;
    set_matrix(p, std::make_shared<BinMatrix>(std::vector<Feature>{}, 100, true));
    add_gradients(p, 2, 258);
    for (const int n_threads : {1, 2, 3}) {
      for (const bool with_hessian : {true, false}) {
        const Grown g = grow(p, {}, n_threads, with_hessian);
        CHECK(g.tree.n_leaves() == 1);
        CHECK(g.tree.leaf_count[0] == 100);
      }
    }
  }

  TEST_CASE("outliers: sums do not overflow, others still count") {
    for (const float factor : {1e3f, 1e6f}) {
      Problem p = make_problem(3000, 6, 2, 253);
      p.gradient[7] = 16.0f * factor;
      p.gradient[3000 + 11] = -16.0f * factor;
      const std::vector<float> before = p.gradient;
      GrowParams params;
      params.shape.num_leaves = 40;
      const Grown g = grow(p, params, 2, false);
      CHECK(g.tree.n_leaves() == 40);
      // Steps are total / 2^31: small compared with the other gradients.
      const Naive naive(p, params.search.rules, false);
      double root = 0.0;
      for (const double gain : g.tree.gain) root = std::max(root, gain);
      CHECK(std::isfinite(root));
      std::vector<RowIdx> all;
      for (RowIdx i = 0; i < 3000; ++i) all.push_back(i);
      CHECK(g.tree.gain[0] >= naive.best(all) * (1.0 - 1e-4));
    }
  }

  TEST_CASE("rows without a hessian") {
    Problem p = make_problem(2000, 6, 3, 254);
    Random random(254);
    for (std::size_t i = 0; i < p.hessian.size(); ++i) {
      // The second output has none where the first feature is small: a leaf of its own would have no value.
      const bool none = i / 2000 == 1 ? p.bins[0][i % 2000] < 60 : random.chance(0.3);
      if (none) p.hessian[i] = 0.0f;
    }
    for (const double least : {0.0, 1e-3}) {
      GrowParams params;
      params.search.rules.min_sum_hessian = least;
      params.search.rules.min_data = 5.0;
      const Grown g = grow(p, params, 2);
      CHECK(g.tree.n_leaves() > 10);
      check_tree(p, params, g, true, nullptr, true);
      for (const double v : g.tree.leaf_value) CHECK(std::isfinite(v));
    }
    // Nowhere: nothing to divide by, no split.
    std::fill(p.hessian.begin(), p.hessian.end(), 0.0f);
    for (const double least : {0.0, 1e-3}) {
      GrowParams params;
      params.search.rules.min_sum_hessian = least;
      CHECK(grow(p, params, 1).tree.n_leaves() == 1);
      params.search.rules.lambda_l2 = 1.0;
      CHECK((grow(p, params, 1).tree.n_leaves() > 1) == (least == 0.0));
    }
  }

  TEST_CASE("one row, no rows, a bag of one") {
    const Problem p = make_problem(64, 3, 2, 255);
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
      std::vector<RowIdx> rows;
      for (std::size_t i = 0; i < n; ++i) rows.push_back(static_cast<RowIdx>(17 * i));
      GrowParams params;
      params.search.rules.min_data = 1.0;
      params.search.rules.min_sum_hessian = 0.0;
      const RowIdx none = 0;
      for (const bool with_hessian : {true, false}) {
        Team team(2);
        Grower grower(p.matrix, true);
        std::vector<double> score(p.gradient.size(), 0.25);
        const std::vector<GrowParams> all(2, params);
        const Tree tree =
            grower.grow(team, p.gradient.data(), with_hessian ? p.hessian.data() : nullptr,
                        rows.empty() ? &none : rows.data(), static_cast<std::int64_t>(n), all, score.data());
        CHECK(tree.n_leaves() == (n == 2 ? 2 : 1));
        for (const double v : tree.leaf_value) CHECK(std::isfinite(v));
      }
    }
  }

  TEST_CASE("leaf values are refitted, each output with its own quantile") {
    const Problem p = make_problem(2000, 6, 3, 256);
    Random random(256);
    std::vector<float> label;
    for (std::size_t i = 0; i < p.gradient.size(); ++i) label.push_back(static_cast<float>(random.normal()));
    for (const bool one_label : {false, true}) {
      for (const bool with_hessian : {false, true}) {
        std::vector<GrowParams> params(3);
        params[0].values.refit = params[2].values.refit = true;
        params[0].values.refit_alpha = 0.2;
        params[2].values.refit_alpha = 0.9;
        params[2].values.refit_delta = 0.5;
        const std::vector<RowIdx> rows = some_rows(p, 0.7);
        std::vector<double> expected;
        Tree first;
        for (const int n_threads : {1, 3}) {
          Team team(n_threads);
          Grower grower(p.matrix, true);
          std::vector<double> score(p.gradient.size(), 0.25);
          const Tree t = grower.grow(team, p.gradient.data(), with_hessian ? p.hessian.data() : nullptr, rows.data(),
                                     static_cast<std::int64_t>(rows.size()), params, score.data(),
                                     TreeLabels{label.data(), one_label});
          if (n_threads == 1) {
            expected = score;
            first = t;
          }
          CHECK(first_difference(score, expected) == -1);
          CHECK(first_difference(t.leaf_value, first.leaf_value) == -1);
        }
        REQUIRE(first.n_leaves() > 5);
        Grown plain;
        {
          Team team(1);
          Grower grower(p.matrix, true);
          plain.score.assign(p.gradient.size(), 0.25);
          plain.tree =
              grower.grow(team, p.gradient.data(), with_hessian ? p.hessian.data() : nullptr, rows.data(),
                          static_cast<std::int64_t>(rows.size()), std::vector<GrowParams>(3), plain.score.data());
        }
        CHECK(plain.tree.feature == first.feature);
        // Rows of a leaf are those that have its values.
        std::vector<std::vector<RowIdx>> rows_of(at(first.n_leaves()));
        for (const RowIdx row : rows) {
          for (std::size_t l = 0; l < rows_of.size(); ++l) {
            if (plain.score[row] == 0.25 + plain.tree.leaf_value[3 * l]) rows_of[l].push_back(row);
          }
        }
        const std::vector<double> before(p.gradient.size(), 0.25);
        for (std::size_t l = 0; l < rows_of.size(); ++l) {
          REQUIRE(static_cast<std::int64_t>(rows_of[l].size()) == first.leaf_count[l]);
          for (std::size_t k = 0; k < 3; ++k) {
            double value = plain.tree.leaf_value[3 * l + k];
            if (params[k].values.refit) {
              const LeafRefit refit{label.data() + (one_label ? 0 : k * 2000),
                                    with_hessian ? p.hessian.data() + k * 2000 : nullptr, before.data() + k * 2000,
                                    params[k].values.refit_alpha, params[k].values.refit_delta};
              std::vector<Residual> scratch;
              value =
                  refit_leaf(refit, rows_of[l].data(), first.leaf_count[l], scratch) * params[k].values.learning_rate;
            }
            CHECK(first.leaf_value[3 * l + k] == doctest::Approx(value).epsilon(1e-12));
          }
        }
      }
    }
  }

  TEST_CASE("leaf values are multiples of the unit") {
    MixedShape shape;
    shape.n_rows = 3000;
    const Problem p = every_storage(shape, 3, 259).front().second;
    GrowParams params;
    const Grown plain = grow(p, params, 2);
    params.values.value_unit = 0x1.0p-12;
    const Grown g = grow(p, params, 2);
    CHECK(g.tree.threshold == plain.tree.threshold);
    for (std::size_t i = 0; i < g.tree.leaf_value.size(); ++i) {
      CHECK(g.tree.leaf_value[i] == std::nearbyint(plain.tree.leaf_value[i] * 0x1.0p12) * 0x1.0p-12);
    }
    std::vector<double> score(p.gradient.size(), 0.25);
    Team team(1);
    add_tree_to_scores(team, *p.matrix, g.tree, nullptr, p.n_rows(), score.data());
    CHECK(first_difference(score, g.score) == -1);
  }

  TEST_CASE("scores of other rows: those of the trained ones, for all outputs") {
    MixedShape shape;
    shape.n_rows = 5000;
    for (const auto& [name, p] : every_storage(shape, 5, 257)) {
      CAPTURE(name);
      const Grown g = grow(p, {}, 2);
      for (const int n_threads : {1, 3}) {
        Team team(n_threads);
        std::vector<double> score(p.gradient.size(), 0.25);
        add_tree_to_scores(team, *p.matrix, g.tree, nullptr, p.n_rows(), score.data());
        CHECK(first_difference(score, g.score) == -1);
      }
    }
  }
}

}  // namespace gossamer::tests
