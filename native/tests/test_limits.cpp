// What features may do in a tree, and at which price.
#include <algorithm>
#include <memory>
#include <set>

#include "core/feature_limits.h"
#include "core/grower.h"
#include "core/round_grower.h"
#include "sparse_table.h"

namespace gossamer::tests {
namespace {

using Groups = std::vector<std::vector<std::int32_t>>;

struct Problem {
  Mixed mixed;
  std::vector<float> gradient;
  std::vector<float> hessian;

  std::int64_t n_rows() const { return mixed.n_rows(); }
  std::int32_t n_features() const { return static_cast<std::int32_t>(mixed.features.size()); }
};

// Gradients are multiples of 1/16, and depend on every feature.
Problem make_problem(std::int64_t n_rows, std::uint64_t seed, std::int64_t n_outputs = 1) {
  MixedShape shape;
  shape.n_rows = n_rows;
  Problem p{make_mixed(shape, seed), {}, {}};
  Random random(seed);
  for (std::int64_t k = 0; k < n_outputs; ++k) {
    std::vector<double> signal(at(n_rows), 0.0);
    for (std::size_t f = 0; f < p.mixed.features.size(); ++f) {
      const auto bins = p.mixed.table.naive_bins(p.mixed.features[f]);
      for (std::size_t row = 0; row < bins.size(); ++row) {
        signal[row] += std::sin(static_cast<double>(bins[row]) * 5.0 / p.mixed.features[f].n_value_bins +
                                static_cast<double>(2 * f + at(k)));
      }
    }
    for (const double s : signal) {
      p.gradient.push_back(static_cast<float>(std::round(16.0 * (s + random.normal())) / 16.0));
      p.hessian.push_back(static_cast<float>(1 + random.below(31)) / 16.0f);
    }
  }
  return p;
}

bool same_tree(const Tree& a, const Tree& b) {
  return a.feature == b.feature && a.threshold_bin == b.threshold_bin && a.default_left == b.default_left &&
         a.left == b.left && a.right == b.right && first_difference(a.gain, b.gain) == -1 &&
         first_difference(a.leaf_value, b.leaf_value) == -1 && a.leaf_count == b.leaf_count;
}

std::shared_ptr<FeatureLimits> limits_of(const Groups& groups, std::int32_t n_features) {
  auto limits = std::make_shared<FeatureLimits>();
  limits->groups = InteractionGroups(groups, n_features);
  return limits;
}

// Calls visit(path of features, ~leaf) for every leaf.
template <class Visit>
void for_paths(const Tree& tree, std::int32_t node, std::set<std::int32_t> path, const Visit& visit) {
  if (node < 0) {
    visit(path, ~node);
    return;
  }
  path.insert(tree.feature[at(node)]);
  for_paths(tree, tree.left[at(node)], path, visit);
  for_paths(tree, tree.right[at(node)], path, visit);
}

void check_paths(const Tree& tree, const Groups& groups) {
  REQUIRE(tree.n_leaves() > 4);
  for_paths(tree, 0, {}, [&](const std::set<std::int32_t>& path, std::int32_t) {
    CHECK(std::any_of(groups.begin(), groups.end(), [&](const std::vector<std::int32_t>& group) {
      return std::includes(group.begin(), group.end(), path.begin(), path.end());
    }));
  });
}

struct Setting {
  const char* name;
  GrowParams params;
  double split = 0.0;
  std::vector<double> coupled, lazy;  // a cost needs a state of its own in every run
};

std::vector<Setting> settings(const Problem& p) {
  std::vector<double> falling, some;
  for (std::int32_t f = 0; f < p.n_features(); ++f) {
    falling.push_back(40.0 / (1 + f % 7));
    some.push_back(f % 3 == 0 ? 0.05 : 0.0);
  }
  std::vector<Setting> all;
  const auto add = [&](const char* name, const auto& change) {
    Setting s;
    s.name = name;
    s.params.shape.num_leaves = 24;
    auto limits = std::make_shared<FeatureLimits>();
    change(s, *limits);
    s.params.search.limits = limits;
    all.push_back(s);
  };
  add("groups", [&](Setting&, FeatureLimits& l) {
    l.groups = InteractionGroups({{0, 1, 2, 20, 26}, {3, 4, 19, 27}, {20, 25, 26, 27}}, p.n_features());
  });
  add("groups and samples", [&](Setting& s, FeatureLimits& l) {
    l.groups = InteractionGroups({{0, 1, 2, 20, 26}, {3, 4, 19, 27}, {20, 25, 26, 27}}, p.n_features());
    s.params.search.fractions = {0.9, 0.9, 0.6};
    s.params.search.column_key = 5;
  });
  add("factors", [&](Setting&, FeatureLimits& l) { l.gain_factors = falling; });
  add("weights", [&](Setting& s, FeatureLimits& l) {
    l.sampling_weights = falling;
    s.params.search.fractions = {0.6, 0.8, 0.6};
    s.params.search.column_key = 6;
  });
  add("forced", [&](Setting&, FeatureLimits& l) {
    l.forced = {{26, 20, {1, 2}}, {0, 0, {-1, 3}}, {20, 2, {-1, -1}}, {27, 30, {-1, -1}}};
  });
  add("forced, level by level, few columns", [&](Setting& s, FeatureLimits& l) {
    l.forced = {{21, 4, {1, 2}}, {18, 0, {-1, -1}}, {19, 2, {-1, -1}}};
    s.params.shape.depthwise = true;
    s.params.search.fractions.by_tree = 0.2;
  });
  add("cost of splits", [](Setting& s, FeatureLimits&) { s.split = 0.01; });
  add("coupled", [&](Setting& s, FeatureLimits&) { s.coupled = falling; });
  add("coupled, little memory", [&](Setting& s, FeatureLimits&) {
    s.coupled = falling;
    s.params.search.max_histogram_bytes = 0;
  });
  add("lazy", [&](Setting& s, FeatureLimits&) { s.lazy = some; });
  add("all costs, level by level", [&](Setting& s, FeatureLimits& l) {
    s.split = 0.01;
    s.coupled = falling;
    s.lazy = some;
    s.params.shape.depthwise = true;
    l.gain_factors = falling;
    l.forced = {{26, 20, {-1, -1}}};
  });
  return all;
}

// Three rounds, so that costs are remembered.
std::vector<Tree> grow(const Problem& p, const std::shared_ptr<BinMatrix>& matrix, const Setting& s, int n_threads,
                       const std::vector<RowIdx>* rows = nullptr) {
  auto limits = std::make_shared<FeatureLimits>(*s.params.search.limits);
  if (s.split > 0.0 || !s.coupled.empty() || !s.lazy.empty()) {
    limits->costs = std::make_shared<FeatureCosts>(p.n_rows(), s.split, s.coupled, s.lazy);
  }
  GrowParams params = s.params;
  params.search.limits = limits;
  const auto n_outputs = static_cast<std::int64_t>(p.gradient.size()) / p.n_rows();
  const std::vector<GrowParams> all(at(n_outputs), params);
  Team team(n_threads);
  RoundGrower grower(matrix);
  std::vector<double> score(p.gradient.size());
  std::vector<Tree> trees;
  for (int round = 0; round < 3; ++round) {
    const auto grown =
        grower.grow(team, p.gradient.data(), p.hessian.data(), rows != nullptr ? rows->data() : nullptr,
                    rows != nullptr ? static_cast<std::int64_t>(rows->size()) : p.n_rows(), all, score.data());
    trees.insert(trees.end(), grown.begin(), grown.end());
  }
  return trees;
}

}  // namespace

TEST_SUITE("limits") {
  TEST_CASE("any storage, any number of threads, any level: the same trees") {
    const Problem p = make_problem(9000, 51);
    Random random(52);
    std::vector<RowIdx> bag;
    for (std::int64_t i = 0; i < p.n_rows(); ++i) {
      if (random.chance(0.6)) bag.push_back(static_cast<RowIdx>(i));
    }
    const auto storages = storages_of(p.mixed);
    const auto plain = fill_training(p.mixed, storages[0].storage, p.mixed.table.dense());
    Setting none{"none", {}, 0.0, {}, {}};
    none.params.shape.num_leaves = 24;
    none.params.search.limits = std::make_shared<FeatureLimits>();
    const auto free = grow(p, plain, none, 1);
    for (const Setting& s : settings(p)) {
      CAPTURE(s.name);
      const auto expected = grow(p, plain, s, 1);
      const auto expected_in_bag = grow(p, plain, s, 1, &bag);
      CHECK(!same_tree(expected[0], free[0]));
      CHECK(expected[0].n_leaves() > 4);
      for (const NamedStorage& storage : storages) {
        CAPTURE(storage.name);
        const auto matrix = fill_training(p.mixed, storage.storage, p.mixed.table.dense());
        for (const int n_threads : {1, 2, 3, 8}) {
          CAPTURE(n_threads);
          const auto trees = grow(p, matrix, s, n_threads);
          for (std::size_t t = 0; t < trees.size(); ++t) CHECK(same_tree(trees[t], expected[t]));
          const auto in_bag = grow(p, matrix, s, n_threads, &bag);
          for (std::size_t t = 0; t < trees.size(); ++t) CHECK(same_tree(in_bag[t], expected_in_bag[t]));
        }
      }
      at_every_level([&] {
        const auto trees = grow(p, plain, s, 2);
        for (std::size_t t = 0; t < trees.size(); ++t) CHECK(same_tree(trees[t], expected[t]));
      });
    }
  }

  TEST_CASE("trees of one round pay one after another") {
    const Problem p = make_problem(3000, 53, 3);
    const auto matrix = fill_training(p.mixed, {}, p.mixed.table.dense());
    for (const Setting& s : settings(p)) {
      CAPTURE(s.name);
      const auto expected = grow(p, matrix, s, 1);
      CHECK(expected.size() == 9);
      for (const int n_threads : {2, 3, 8}) {
        const auto trees = grow(p, matrix, s, n_threads);
        for (std::size_t t = 0; t < trees.size(); ++t) CHECK(same_tree(trees[t], expected[t]));
      }
    }
  }

  TEST_CASE("every path lies in one group") {
    const Problem p = make_problem(6000, 54, 2);
    const auto matrix = fill_training(p.mixed, {}, p.mixed.table.dense());
    Random random(55);
    for (const int n_groups : {1, 2, 5, 70}) {
      Groups groups(at(n_groups));
      for (auto& group : groups) {
        for (std::int32_t f = 0; f < p.n_features(); ++f) {
          if (random.chance(n_groups > 5 ? 0.1 : 0.4)) group.push_back(f);
        }
      }
      groups[0].insert(groups[0].end(), {26, 27});
      std::sort(groups[0].begin(), groups[0].end());
      for (const double by_node : {1.0, 0.5}) {
        GrowParams params;
        params.search.limits = limits_of(groups, p.n_features());
        params.search.fractions.by_node = by_node;
        Team team(2);
        std::vector<double> score(p.gradient.size());
        Grower one(matrix);
        check_paths(one.grow(team, p.gradient.data(), nullptr, nullptr, p.n_rows(), params, score.data()), groups);
        const std::vector<GrowParams> both(2, params);
        Grower several(matrix, true);
        check_paths(several.grow(team, p.gradient.data(), nullptr, nullptr, p.n_rows(), both, score.data()), groups);
      }
    }
  }

  TEST_CASE("forced splits stand at the top, level by level; what is not admissible is passed over") {
    const Problem p = make_problem(6000, 56);
    const auto matrix = fill_training(p.mixed, {}, p.mixed.table.dense());
    auto limits = std::make_shared<FeatureLimits>();
    limits->forced = {{27, 30, {1, 2}}, {26, 12, {3, -1}}, {0, 0, {-1, 4}}, {25, 150, {-1, -1}}, {0, 0, {-1, -1}}};
    GrowParams params;
    params.search.limits = limits;
    Team team(1);
    Grower grower(matrix);
    std::vector<double> score(at(p.n_rows()));
    const auto grow_tree = [&] {
      return grower.grow(team, p.gradient.data(), nullptr, nullptr, p.n_rows(), params, score.data());
    };
    const Tree tree = grow_tree();
    const std::vector<std::int32_t> features(tree.feature.begin(), tree.feature.begin() + 4);
    CHECK(features == std::vector<std::int32_t>{27, 26, 0, 25});
    CHECK(tree.left[0] == 1);
    CHECK(tree.right[0] == 2);
    CHECK(tree.left[1] == 3);
    CHECK(tree.threshold_bin[0] == 30);
    CHECK(tree.threshold_bin[3] == 150);
    CHECK(tree.n_leaves() == params.shape.num_leaves);
    // Rows with feature 0 above its only bound cannot be split by it again: that leaf goes on as any other.
    if (tree.right[2] >= 0) CHECK(tree.feature[at(tree.right[2])] != 0);
    params.shape.num_leaves = 3;
    const Tree small = grow_tree();
    CHECK(small.feature == ArenaVector<std::int32_t>{27, 26});
    params.shape.num_leaves = 31;
    params.search.rules.min_data = 2500.0;  // the root's split leaves enough, those below do not
    for (const std::int32_t f : grow_tree().feature) CHECK(f != 26);
  }

  TEST_CASE("what has been paid follows from the trees") {
    const Problem p = make_problem(20000, 57);
    const std::vector<double> costs(at(p.n_features()), 0.5);
    for (const NamedStorage& storage : storages_of(p.mixed)) {
      const auto matrix = fill_training(p.mixed, storage.storage, p.mixed.table.dense());
      Team team(3);
      FeatureCosts state(p.n_rows(), 0.0, costs, costs);
      Grower grower(matrix);
      std::vector<double> score(at(p.n_rows()));
      GrowParams params;
      std::vector<std::set<std::int32_t>> paid(at(p.n_rows()));
      std::set<std::int32_t> used;
      for (int round = 0; round < 2; ++round) {
        params.search.fractions.by_tree = 0.4;
        params.search.column_key = static_cast<std::uint64_t>(round);
        const Tree tree = grower.grow(team, p.gradient.data(), nullptr, nullptr, p.n_rows(), params, score.data());
        state.add_tree(team, *matrix, tree);
        used.insert(tree.feature.begin(), tree.feature.end());
        std::vector<std::vector<std::uint16_t>> bins;
        for (const Feature& f : p.mixed.features) bins.push_back(p.mixed.table.naive_bins(f));
        for (std::size_t row = 0; row < paid.size(); ++row) {
          for (std::int32_t node = 0; node >= 0;) {
            const auto f = at(tree.feature[at(node)]);
            paid[row].insert(tree.feature[at(node)]);
            const std::int32_t bin = bins[f][row];
            const bool left = bin == p.mixed.features[f].n_value_bins ? tree.default_left[at(node)] != 0
                                                                      : bin <= tree.threshold_bin[at(node)];
            node = left ? tree.left[at(node)] : tree.right[at(node)];
          }
        }
      }
      for (std::int32_t f = 0; f < p.n_features(); ++f) {
        CHECK((state.used()[at(f)] != 0) == used.contains(f));
        std::int64_t n_wrong = 0;
        for (std::size_t row = 0; row < paid.size(); ++row) {
          const std::int32_t k = state.payable_of(f);
          const bool unpaid = state.unpaid(static_cast<RowIdx>(row))[k / 64] >> k % 64 & 1;
          n_wrong += unpaid == paid[row].contains(f);
        }
        CHECK(n_wrong == 0);
      }
      state.clear();
      CHECK(std::count(state.used().begin(), state.used().end(), 1) == 0);
    }
  }
}

}  // namespace gossamer::tests
