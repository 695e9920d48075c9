// Monotone constraints: limits of leaves against the definition, whole trees bin by bin.
#include <algorithm>
#include <memory>

#include "core/grower.h"
#include "core/monotone.h"
#include "support.h"

namespace gossamer::tests {
namespace {

constexpr int kBins = 6;

Feature feature_of(std::int32_t column, MissingKind kind = MissingKind::nan) {
  Feature f;
  f.column = column;
  f.n_value_bins = kBins;
  f.missing_kind = kind;
  for (int b = 0; b + 1 < kBins; ++b) f.upper.push_back(b + 0.5);
  f.upper.push_back(INFINITY);
  return f;
}

// A tree of random splits, as the grower would report them.
struct RandomTree {
  struct Node {
    Monotone::Split split;
    std::int32_t children[2] = {-1, -1};
    double value = 0.0;
  };
  MonotoneParams params;
  std::vector<Feature> features;
  Monotone monotone;
  std::vector<Node> nodes{{}};
  std::vector<std::int32_t> leaves{0};

  RandomTree(MonotoneMethod method, int n_features, int n_splits, Random& random) {
    for (int f = 0; f < n_features; ++f) {
      features.push_back(feature_of(f, f % 3 == 2 ? MissingKind::nan_is_zero : MissingKind::nan));
      params.direction.push_back(static_cast<std::int8_t>(f == 0 ? 1 : random.below(3) - 1));
    }
    params.method = method;
    monotone.start(params, features, 0.0, 1);
    for (int i = 0; i < n_splits; ++i) split(random);
  }

  // Calls body(row) for every row of bins; the last one is missing.
  template <class Body>
  void for_rows(const Body& body) const {
    const std::size_t n = features.size();
    std::vector<int> row(n, 0);
    std::size_t f = 0;
    const auto last = [&] { return features[f].missing_kind == MissingKind::nan_is_zero ? kBins - 1 : kBins; };
    while (f < n) {
      body(row);
      for (f = 0; f < n && row[f] == last(); ++f) row[f] = 0;
      if (f < n) ++row[f];
    }
  }

  // Whether both sides can hold rows, as in the grower.
  bool parts(std::int32_t leaf, const Monotone::Split& s) const {
    bool found[2] = {false, false};
    for_rows([&](const std::vector<int>& row) {
      if (leaf_of(row) == leaf) found[goes_left(s, row) ? 0 : 1] = true;
    });
    return found[0] && found[1];
  }

  static bool goes_left(const Monotone::Split& s, const std::vector<int>& row) {
    const int bin = row[at(s.feature)];
    return bin == kBins ? s.missing_left : bin <= s.threshold;
  }

  void split(Random& random) {
    const std::size_t place = at(random.below(static_cast<std::int64_t>(leaves.size())));
    const std::int32_t leaf = leaves[place];
    const Monotone::Split s{static_cast<std::int32_t>(random.below(static_cast<std::int64_t>(features.size()))),
                            static_cast<std::int32_t>(random.below(kBins)), random.chance(0.5)};
    if (!parts(leaf, s)) return;
    const auto first = static_cast<std::int32_t>(nodes.size());
    double values[2] = {random.normal(), random.normal()};
    monotone.split(leaf, first, s, values);
    nodes[at(leaf)].split = s;
    for (int side = 0; side < 2; ++side) {
      nodes[at(leaf)].children[side] = first + side;
      nodes.push_back({});
      nodes.back().value = values[side];
    }
    leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(place));
    leaves.push_back(first);
    leaves.push_back(first + 1);
  }

  // Bin kBins is missing.
  std::int32_t leaf_of(const std::vector<int>& row) const {
    std::int32_t i = 0;
    while (nodes[at(i)].children[0] >= 0) {
      i = nodes[at(i)].children[goes_left(nodes[at(i)].split, row) ? 0 : 1];
    }
    return i;
  }

  // Calls body(leaf of the lower side, leaf of the higher one) for all rows that differ in one bin.
  template <class Body>
  void for_steps(const Body& body) const {
    for_rows([&](const std::vector<int>& row) {
      for (std::size_t f = 0; f < features.size(); ++f) {
        if (params.direction[f] == 0 || row[f] + 1 >= kBins) continue;
        std::vector<int> next = row;
        ++next[f];
        const bool rises = params.direction[f] > 0;
        body(leaf_of(rises ? row : next), leaf_of(rises ? next : row));
      }
    });
  }

  double value_of(std::int32_t leaf) const { return nodes[at(leaf)].value; }
};

struct Table {
  std::shared_ptr<BinMatrix> matrix;
  std::vector<float> gradient, hessian;
};

// Gradients against the constraints as often as with them; missing values in two of the features.
Table make_table(std::int64_t n_rows, int n_features, std::uint64_t seed) {
  Random random(seed);
  std::vector<Feature> features;
  for (int f = 0; f < n_features; ++f) {
    features.push_back(feature_of(f));
    features.back().may_miss = f < 2;
  }
  std::vector<float> values;
  Table t;
  for (std::int64_t i = 0; i < n_rows; ++i) {
    double signal = 0.0;
    for (int f = 0; f < n_features; ++f) {
      const bool missing = f < 2 && random.chance(0.2);
      const auto bin = static_cast<float>(random.below(kBins));
      values.push_back(missing ? NAN : bin);
      signal += missing ? 1.0 : std::sin(2.0 * static_cast<double>(bin) + f);
    }
    t.gradient.push_back(static_cast<float>(std::round(16.0 * (signal + random.normal())) / 16.0));
    t.hessian.push_back(static_cast<float>(1 + random.below(31)) / 16.0f);
  }
  t.matrix = std::make_shared<BinMatrix>(std::move(features), n_rows, true);
  Team team(1);
  t.matrix->fill(team, MatrixView{values.data(), DType::f32, n_rows, n_features, n_features, 1}, Use::training);
  return t;
}

double predict(const Tree& tree, const std::vector<int>& row) {
  if (tree.left.empty()) return tree.leaf_value[0];
  std::int32_t i = 0;
  while (i >= 0) {
    const int bin = row[at(tree.feature[at(i)])];
    const bool left = bin == kBins ? tree.default_left[at(i)] != 0 : bin <= tree.threshold_bin[at(i)];
    i = left ? tree.left[at(i)] : tree.right[at(i)];
  }
  return tree.leaf_value[at(~i)];
}

int count_violations(const Tree& tree, const std::vector<std::int8_t>& direction, Random& random) {
  int n = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<int> row;
    for (std::size_t f = 0; f < direction.size(); ++f) row.push_back(static_cast<int>(random.below(kBins + 1)));
    for (std::size_t f = 0; f < direction.size(); ++f) {
      if (direction[f] == 0) continue;
      std::vector<int> moved = row;
      double before = 0.0;
      for (int bin = 0; bin < kBins; ++bin) {
        moved[f] = bin;
        const double now = predict(tree, moved);
        n += bin > 0 && (direction[f] > 0 ? now < before : now > before);
        before = now;
      }
    }
  }
  return n;
}

constexpr MonotoneMethod kMethods[] = {MonotoneMethod::basic, MonotoneMethod::intermediate, MonotoneMethod::advanced};

}  // namespace

TEST_SUITE("monotone") {
  TEST_CASE("random splits with random values: no step breaks the order") {
    Random random(41);
    for (const MonotoneMethod method : kMethods) {
      for (int i = 0; i < 40; ++i) {
        const RandomTree tree(method, 3, 1 + i / 2, random);
        int n = 0;
        tree.for_steps([&](std::int32_t low, std::int32_t high) { n += tree.value_of(low) > tree.value_of(high); });
        CHECK(n == 0);
      }
    }
  }

  TEST_CASE("limits of a leaf are the values of the leaves a step away, or reached through missing values") {
    Random random(42);
    for (int i = 0; i < 30; ++i) {
      RandomTree tree(MonotoneMethod::intermediate, 3, 24, random);
      std::vector<Limits> expected(tree.nodes.size());
      // Two leaves that a row goes between by a change of one feature, of whatever size.
      const auto visit = [&](std::vector<int>& row, std::size_t f) {
        std::vector<std::int32_t> met;
        for (int bin = 0; bin < kBins; ++bin) {
          row[f] = bin;
          met.push_back(tree.leaf_of(row));
        }
        if (tree.params.direction[f] < 0) std::reverse(met.begin(), met.end());
        for (std::size_t a = 0; a < met.size(); ++a) {
          for (std::size_t b = a + 1; b < met.size(); ++b) {
            if (met[a] == met[b]) continue;
            Limits& low = expected[at(met[a])];
            Limits& high = expected[at(met[b])];
            low.high = std::min(low.high, tree.value_of(met[b]));
            high.low = std::max(high.low, tree.value_of(met[a]));
          }
        }
      };
      for (int a = 0; a <= kBins; ++a) {
        for (int b = 0; b <= kBins; ++b) {
          for (std::size_t f = 0; f < 3; ++f) {
            if (tree.params.direction[f] == 0) continue;
            std::vector<int> row(3, 0);
            row[(f + 1) % 3] = a;
            row[(f + 2) % 3] = b;
            if (row[2] == kBins) continue;  // nothing is missing there
            visit(row, f);
          }
        }
      }
      for (const std::int32_t leaf : tree.leaves) {
        ValueLimits limits;
        for (std::int32_t f = 0; f < 3; ++f) {
          const bool any = tree.monotone.limit_search(leaf, f, 2.0, 0, limits);
          CHECK(limits.low == 2.0 * expected[at(leaf)].low);
          CHECK(limits.high == 2.0 * expected[at(leaf)].high);
          CHECK(limits.direction == tree.params.direction[at(f)]);
          if (!any) CHECK(limits.low == -INFINITY);
        }
      }
    }
  }

  TEST_CASE("limits by threshold hold for the children, and are no looser than theirs") {
    Random random(43);
    int n_varying = 0;
    for (int i = 0; i < 600; ++i) {
      RandomTree tree(MonotoneMethod::advanced, 3, 20, random);
      const std::int32_t leaf = tree.leaves[at(random.below(static_cast<std::int64_t>(tree.leaves.size())))];
      const auto f = static_cast<std::int32_t>(random.below(3));
      const auto t = static_cast<std::int32_t>(random.below(kBins));
      ValueLimits limits;
      tree.monotone.prepare_search(leaf);
      if (!tree.monotone.limit_search(leaf, f, 1.0, 0, limits) || limits.by_threshold[0] == nullptr) continue;
      if (t < limits.first_bin || t >= limits.last_bin) continue;
      ++n_varying;
      for (const bool missing_left : {false, true}) {
        for (const double far : {-1e6, 1e6}) {
          Monotone copy = tree.monotone;
          double values[2] = {far, far};  // they are stopped by their limits
          copy.split(leaf, static_cast<std::int32_t>(tree.nodes.size()), {f, t, missing_left}, values);
          for (int side = 0; side < 2; ++side) {
            const double low = limits.by_threshold[2 * side][t];
            const double high = limits.by_threshold[2 * side + 1][t];
            // What the search counted on can be had.
            if (far > 0.0) CHECK(values[side] >= std::min(high, far));
            if (far < 0.0) CHECK(values[side] <= std::max(low, far));
            // Without missing values between them, it is all that can be had.
            if (f == 2 && far > 0.0) CHECK(values[side] == std::min(high, far));
            if (f == 2 && far < 0.0) CHECK(values[side] == std::max(low, far));
          }
        }
      }
    }
    CHECK(n_varying > 50);
  }

  TEST_CASE("leaves whose limits change are reported") {
    Random random(44);
    int n_changed = 0;
    for (int i = 0; i < 200; ++i) {
      RandomTree tree(MonotoneMethod::intermediate, 3, 16, random);
      const auto limits_of = [&](std::int32_t leaf) {
        ValueLimits limits;
        tree.monotone.limit_search(leaf, 0, 1.0, 0, limits);
        return Limits{limits.low, limits.high};
      };
      const std::vector<std::int32_t> leaves = tree.leaves;
      std::vector<Limits> before;
      for (const std::int32_t leaf : leaves) before.push_back(limits_of(leaf));
      const std::size_t n_nodes = tree.nodes.size();
      while (tree.nodes.size() == n_nodes) tree.split(random);
      const auto changed = tree.monotone.changed();
      for (std::size_t k = 0; k < leaves.size(); ++k) {
        if (tree.nodes[at(leaves[k])].children[0] >= 0) continue;
        const auto said = std::find_if(changed.begin(), changed.end(),
                                       [&](const Monotone::Change& c) { return c.leaf == leaves[k]; });
        const Limits now = limits_of(leaves[k]);
        CHECK((said != changed.end()) == !(now == before[k]));
        if (said == changed.end()) continue;
        CHECK(said->widened == (now.low < before[k].low || now.high > before[k].high));
        ++n_changed;
      }
    }
    CHECK(n_changed > 50);
  }

  TEST_CASE("reconciled values keep the order, and stay where nothing is in the way") {
    Random random(45);
    for (int i = 0; i < 60; ++i) {
      RandomTree tree(kMethods[i % 3], 3, 1 + i / 3, random);
      std::vector<double> weights, values;
      for (std::size_t k = 0; k < tree.leaves.size(); ++k) {
        weights.push_back(random.chance(0.1) ? 0.0 : random.between(0.1, 10.0));
        values.push_back(random.normal());
      }
      const auto put = [&] {
        for (std::size_t k = 0; k < values.size(); ++k) tree.nodes[at(tree.leaves[k])].value = values[k];
      };
      const auto violations = [&] {
        int n = 0;
        tree.for_steps([&](std::int32_t low, std::int32_t high) { n += tree.value_of(low) > tree.value_of(high); });
        return n;
      };
      tree.monotone.reconcile(tree.leaves, weights, values);
      put();
      CHECK(violations() == 0);
      const std::vector<double> once = values;
      tree.monotone.reconcile(tree.leaves, weights, values);
      CHECK(first_difference(values, once) == -1);
    }
  }

  TEST_CASE("two leaves out of order meet at their weighted mean") {
    Random random(46);
    RandomTree tree(MonotoneMethod::basic, 1, 0, random);
    double values[2] = {0.0, 1.0};
    tree.monotone.split(0, 1, {0, 2, false}, values);
    const std::vector<std::int32_t> leaves{2, 1};
    const std::vector<double> weights{1.0, 3.0};
    std::vector<double> fitted{-2.0, 2.0};  // the upper leaf first
    tree.monotone.reconcile(leaves, weights, fitted);
    CHECK(fitted[0] == doctest::Approx(1.0));
    CHECK(fitted[1] == doctest::Approx(1.0));
    CHECK(fitted[1] <= fitted[0]);
  }

  TEST_CASE("the penalty forbids the first levels and fades") {
    Random random(47);
    RandomTree tree(MonotoneMethod::basic, 1, 0, random);
    tree.params.penalty = 2.0;
    CHECK(tree.monotone.penalty_at(0) == 0.0);
    CHECK(tree.monotone.penalty_at(1) == 0.0);
    CHECK(tree.monotone.penalty_at(2) == 0.5);
    CHECK(tree.monotone.penalty_at(3) == 0.75);
    tree.params.penalty = 0.5;
    CHECK(tree.monotone.penalty_at(0) == 0.5);
    CHECK(tree.monotone.penalty_at(1) == 0.75);
    tree.params.penalty = 0.0;
    CHECK(tree.monotone.penalty_at(0) == 1.0);
  }

  TEST_CASE("whole trees: monotone bin by bin, whatever the rules, the same for any threads") {
    const int n_features = 5;
    const Table t = make_table(20000, n_features, 48);
    std::vector<std::vector<double>> losses(3);
    for (std::size_t m = 0; m < 3; ++m) {
      for (int rules = 0; rules < 8; ++rules) {
        GrowParams params;
        params.shape.num_leaves = rules == 1 ? 120 : 31;
        params.monotone.direction = {1, 0, -1, 1, 0};
        params.monotone.method = kMethods[m];
        if (rules == 2) params.search.rules.path_smooth = 50.0;
        if (rules == 3) params.search.rules.max_delta_step = 0.2;
        if (rules == 4) params.search.rules.lambda_l1 = 100.0;
        if (rules == 5) params.search.extra_trees = true;
        if (rules == 6) params.values.damp_from = 0.1;
        if (rules == 7) params.shape.depthwise = true;
        CAPTURE(m);
        CAPTURE(rules);
        const auto grow = [&](int n_threads) {
          Team team(n_threads);
          Grower grower(t.matrix);
          std::vector<double> score(t.gradient.size(), 0.0);
          Tree tree =
              grower.grow(team, t.gradient.data(), t.hessian.data(), nullptr, t.matrix->n_rows(), params, score.data());
          double loss = 0.0;
          for (std::size_t i = 0; i < score.size(); ++i) {
            const double w = score[i] / params.values.learning_rate;
            loss += static_cast<double>(t.gradient[i]) * w + 0.5 * static_cast<double>(t.hessian[i]) * w * w;
          }
          return std::pair{std::move(tree), loss};
        };
        const auto [tree, loss] = grow(1);
        losses[m].push_back(loss);
        CHECK(tree.n_leaves() > 5);
        Random random(49);
        CHECK(count_violations(tree, params.monotone.direction, random) == 0);
        for (const int n_threads : {2, 3, 8}) {
          const Tree other = grow(n_threads).first;
          CHECK(other.feature == tree.feature);
          CHECK(other.threshold_bin == tree.threshold_bin);
          CHECK(first_difference(other.leaf_value, tree.leaf_value) == -1);
        }
      }
    }
    // What constrains less fits better.
    CHECK(losses[1][0] < losses[0][0]);
    CHECK(losses[2][0] < losses[0][0]);
  }

  TEST_CASE("refitted leaves keep the order too") {
    const Table t = make_table(6000, 5, 50);
    for (const MonotoneMethod method : kMethods) {
      GrowParams params;
      params.monotone.direction = {1, 0, -1, 1, 0};
      params.monotone.method = method;
      params.values.refit = true;
      params.values.refit_alpha = 0.7;
      Team team(2);
      Grower grower(t.matrix);
      std::vector<double> score(t.gradient.size(), 0.0);
      std::vector<float> label;
      for (const float g : t.gradient) label.push_back(-1000.0f * g);
      params.values.refit = true;
      const Tree tree = grower.grow(team, t.gradient.data(), nullptr, nullptr, t.matrix->n_rows(), params, score.data(),
                                    label.data());
      Random random(51);
      CHECK(count_violations(tree, params.monotone.direction, random) == 0);
      CHECK(tree.largest_value() > 10.0);
    }
  }
}

}  // namespace gossamer::tests
