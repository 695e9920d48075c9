// A tree's values added to the scores of binned rows, against walking row by row.
#include <algorithm>
#include <numeric>

#include "core/tile_tree.h"
#include "core/tree.h"
#include "sparse_table.h"

namespace gossamer::tests {
namespace {

// Leaves are split one after another, at random bins of random features.
Tree random_tree(const std::vector<Feature>& features, std::int64_t n_nodes, Random& random) {
  Tree tree;
  tree.leaf_value.push_back(random.normal());
  for (std::int64_t n = 0; n < n_nodes; ++n) {
    const auto f = random.below(static_cast<std::int64_t>(features.size()));
    const Feature& feature = features[at(f)];
    const auto leaf = static_cast<std::int32_t>(random.below(n + 1));
    for (auto* const children : {&tree.left, &tree.right}) {
      for (std::int32_t& child : *children) {
        if (child == ~leaf) child = static_cast<std::int32_t>(n);
      }
    }
    tree.feature.push_back(static_cast<std::int32_t>(f));
    tree.threshold_bin.push_back(
        static_cast<std::int32_t>(random.chance(0.5) ? std::min(find_zero_bin(feature), feature.n_value_bins - 1)
                                                     : random.below(feature.n_value_bins)));
    tree.default_left.push_back(static_cast<std::int8_t>(random.below(2)));
    tree.left.push_back(~leaf);
    tree.right.push_back(~static_cast<std::int32_t>(n + 1));
    tree.leaf_value.push_back(random.normal());
  }
  return tree;
}

double walk(const Tree& tree, const std::vector<Feature>& features, const Table<float>& table, std::int64_t row) {
  if (tree.feature.empty()) return tree.leaf_value[0];
  std::int32_t n = 0;
  while (n >= 0) {
    const Feature& f = features[at(tree.feature[at(n)])];
    const std::int32_t bin = naive_bin(f, static_cast<double>(table(row, f.column)));
    const bool left = bin == f.n_value_bins ? tree.default_left[at(n)] != 0 : bin <= tree.threshold_bin[at(n)];
    n = left ? tree.left[at(n)] : tree.right[at(n)];
  }
  return tree.leaf_value[at(~n)];
}

void check_scores(const BinMatrix& matrix, const Table<float>& table, const Tree& tree,
                  const std::vector<RowIdx>* rows) {
  std::vector<RowIdx> used(at(table.n_rows()));
  std::iota(used.begin(), used.end(), RowIdx{0});
  if (rows != nullptr) used = *rows;
  std::vector<double> expected(at(table.n_rows()), 0.5);
  for (const RowIdx row : used) expected[row] += walk(tree, matrix.features(), table, row);
  for (const int n_threads : {1, 3}) {
    Team team(n_threads);
    std::vector<double> score(at(table.n_rows()), 0.5);
    // A pointer even to no rows: a null pointer would mean all of them.
    std::vector<RowIdx> copy = used;
    copy.reserve(1);
    add_tree_to_scores(team, matrix, tree, rows != nullptr ? copy.data() : nullptr,
                       static_cast<std::int64_t>(used.size()), score.data());
    CAPTURE(n_threads);
    CAPTURE(used.size());
    CHECK(first_difference(score, expected) == -1);
  }
}

}  // namespace

TEST_SUITE("scores") {
  TEST_CASE("any storage, training data and other data; all rows, some, in any order") {
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.kind = kind;
      shape.n_rows = 9000;  // more than are split down the tree together
      shape.with_missing = false;
      Mixed m = make_mixed(shape, 131);
      // Conflicts and missing values that training did not have.
      Table<float> other = make_mixed(shape, 132).table;
      Random random(132);
      for (std::int64_t row = 0; row < other.n_rows(); ++row) {
        for (std::int64_t c = 0; c < other.n_columns(); ++c) {
          if (random.chance(0.03)) other(row, c) = random.chance(0.3) ? NAN : static_cast<float>(random.below(6) - 2);
        }
      }
      std::vector<RowIdx> some, shuffled, backwards;
      for (RowIdx row = 0; row < 9000; ++row) {
        if (random.chance(0.3)) some.push_back(row);
        if (random.chance(0.9)) shuffled.push_back(row);
        backwards.push_back(8999 - row);
      }
      for (std::size_t i = shuffled.size(); i > 1; --i) {
        std::swap(shuffled[i - 1], shuffled[at(random.below(static_cast<std::int64_t>(i)))]);
      }
      const std::vector<RowIdx>* const everything = nullptr;
      const std::vector<RowIdx> none, one{4321};
      for (const NamedStorage& s : storages_of(m)) {
        CAPTURE(static_cast<int>(kind));
        CAPTURE(s.name);
        const auto training = fill_training(m, s.storage, m.table.by_row());
        const auto like = make_like(*training, other.n_rows());
        Team team(2);
        like->fill(team, other.by_column(), Use::other);
        for (const std::int64_t n_nodes : {0, 1, 5, 60}) {
          CAPTURE(n_nodes);
          const Tree tree = random_tree(m.features, n_nodes, random);
          for (const auto* const rows :
               std::vector<const std::vector<RowIdx>*>{everything, &some, &shuffled, &backwards, &none, &one}) {
            check_scores(*training, m.table, tree, rows);
            check_scores(*like, other, tree, rows);
          }
        }
      }
    }
  }

  TEST_CASE("every feature on its own, at every level") {
    MixedShape shape;
    shape.with_missing = false;
    Mixed m = make_mixed(shape, 133);
    Table<float> other = make_mixed(shape, 134).table;
    Random random(134);
    for (std::int64_t row = 0; row < other.n_rows(); ++row) {
      for (std::int64_t c = 0; c < other.n_columns(); ++c) {
        if (random.chance(0.1)) other(row, c) = random.chance(0.3) ? NAN : static_cast<float>(random.below(6) - 2);
      }
    }
    for (const NamedStorage& s : storages_of(m)) {
      CAPTURE(s.name);
      const auto training = fill_training(m, s.storage, m.table.dense());
      const auto like = make_like(*training, other.n_rows());
      Team team(1);
      like->fill(team, other.dense(), Use::other);
      at_every_level([&] {
        for (std::size_t f = 0; f < m.features.size(); ++f) {
          const Tree tree = random_tree({m.features[f]}, 4, random);
          Tree own = tree;
          std::fill(own.feature.begin(), own.feature.end(), static_cast<std::int32_t>(f));
          CAPTURE(f);
          check_scores(*training, m.table, own, nullptr);
          check_scores(*like, other, own, nullptr);
        }
      });
    }
  }

  TEST_CASE("other values in the leaves, one or several of each") {
    Mixed m = make_mixed({}, 136);
    Random random(136);
    const auto training = fill_training(m, {false, m.groups, m.sparse}, m.table.dense());
    const Tree tree = random_tree(m.features, 20, random);
    const std::int64_t n_rows = m.table.n_rows();
    for (const std::int64_t n_values : {1, 2, 3}) {
      CAPTURE(n_values);
      std::vector<double> values(21 * at(n_values)), expected(at(n_rows * n_values));
      for (double& v : values) v = random.normal();
      for (std::int64_t k = 0; k < n_values; ++k) {
        Tree own = tree;
        for (std::size_t leaf = 0; leaf < 21; ++leaf) own.leaf_value[leaf] = values[leaf * at(n_values) + at(k)];
        for (std::int64_t row = 0; row < n_rows; ++row) {
          expected[at(k * n_rows + row)] = 0.5 + walk(own, training->features(), m.table, row);
        }
      }
      Team team(2);
      std::vector<double> score(expected.size(), 0.5);
      add_tree_to_scores(team, *training, tree, values.data(), n_values, nullptr, n_rows, score.data());
      CHECK(first_difference(score, expected) == -1);
    }
  }

  TEST_CASE("trees on lanes of one byte are evaluated on tiles, others are not") {
    MixedShape shape;
    shape.n_rows = 1000;
    Mixed m = make_mixed(shape, 137);
    Random random(137);
    at_every_level([&] {
      for (const NamedStorage& s : storages_of(m)) {
        CAPTURE(s.name);
        const auto training = fill_training(m, s.storage, m.table.dense());
        for (std::size_t f = 0; f < m.features.size(); ++f) {
          CAPTURE(f);
          const Feature& own = training->features()[f];
          const RowSplitter splitter(*training, static_cast<std::int32_t>(f), 0, false);
          const double values[2] = {1.0, 2.0};
          const std::vector<TreeStep> steps{{splitter, ~0, ~1}};
          const TileTree tiles(steps, values, 1);
          const bool one_byte = !own.loose() && own.entries < 0 && !training->groups()[at(own.group)].two_bytes;
          CHECK(tiles.is_usable() == one_byte);
          if (!one_byte) continue;
          // All rows, some of them, rows that are far apart, and rows in another order.
          std::vector<RowIdx> left(at(shape.n_rows)), right(left.size());
          const std::int64_t n_left = splitter.split(nullptr, 0, shape.n_rows, left.data(), right.data());
          std::vector<double> expected(left.size(), 2.0), score(left.size());
          for (std::int64_t i = 0; i < n_left; ++i) expected[left[at(i)]] = 1.0;
          CHECK(tiles.add(nullptr, 0, shape.n_rows, shape.n_rows, score.data()));
          CHECK(first_difference(score, expected) == -1);
          std::vector<RowIdx> every_third;
          for (RowIdx row = 0; row < 1000; row += 3) every_third.push_back(row);
          for (const RowIdx row : every_third) expected[row] *= 2.0;
          const auto n = static_cast<std::int64_t>(every_third.size());
          CHECK(tiles.add(every_third.data(), 0, n, shape.n_rows, score.data()));
          CHECK(first_difference(score, expected) == -1);
          const RowIdx far[2] = {3, 900};
          const RowIdx back[2] = {4, 3};
          CHECK(!tiles.add(far, 0, 2, shape.n_rows, score.data()));
          CHECK(!tiles.add(back, 0, 2, shape.n_rows, score.data()));
          CHECK(first_difference(score, expected) == -1);
        }
      }
    });
  }

  TEST_CASE("no rows, and rows without anything odd") {
    Mixed m = make_mixed({}, 135);
    Random random(135);
    const auto training = fill_training(m, {false, m.groups, m.sparse}, m.table.dense());
    Table<float> empty(0, m.table.n_columns());
    const auto like = make_like(*training, 0);
    Team team(2);
    like->fill(team, empty.by_row(), Use::other);
    add_tree_to_scores(team, *like, random_tree(m.features, 5, random), nullptr, 0, nullptr);
    // A table of zeros only.
    Table<float> zeros(500, m.table.n_columns());
    const auto nothing = make_like(*training, 500);
    nothing->fill(team, zeros.by_row(), Use::other);
    check_scores(*nothing, zeros, random_tree(m.features, 30, random), nullptr);
  }
}

}  // namespace gossamer::tests
