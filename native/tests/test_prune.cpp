// Taking back splits of a grown tree.
#include <doctest/doctest.h>

#include "core/prune.h"

namespace gossamer::tests {
namespace {

struct Split {
  double gain = 0.0;
};
struct Leaf {
  Split split;
  std::int32_t children[2] = {-1, -1};
  std::int32_t leaf_number = 0;
};

// Splits are made one after another, of the leaf named: children come at the end.
struct Grown {
  std::vector<Leaf> leaves = std::vector<Leaf>(1);
  std::vector<std::int32_t> committed;

  void split(std::int32_t leaf, double gain) {
    const auto n = static_cast<std::int32_t>(leaves.size());
    leaves.resize(leaves.size() + 2);
    committed.push_back(leaf);
    Leaf& node = leaves[static_cast<std::size_t>(leaf)];
    node.split.gain = gain;
    node.children[0] = n;
    node.children[1] = n + 1;
    leaves[static_cast<std::size_t>(n)].leaf_number = node.leaf_number;
    leaves[static_cast<std::size_t>(n) + 1].leaf_number = static_cast<std::int32_t>(committed.size());
  }
};

}  // namespace

TEST_SUITE("prune") {
  TEST_CASE("from the leaves upwards, and no further than a split that is worth it") {
    //        0 (1)
    //     1 (9)     2 (1)
    //   3   4(1)   5   6(1)
    Grown tree;
    tree.split(0, 1.0);
    tree.split(1, 9.0);
    tree.split(2, 1.0);
    tree.split(4, 1.0);
    tree.split(6, 1.0);
    CHECK(prune_tree(tree.leaves, 2.0, tree.committed));
    CHECK(tree.committed == std::vector<std::int32_t>{0, 1});
    CHECK(tree.leaves[3].leaf_number == 0);
    CHECK(tree.leaves[2].leaf_number == 1);
    CHECK(tree.leaves[4].leaf_number == 2);
    CHECK(!prune_tree(tree.leaves, 2.0, tree.committed));
  }

  TEST_CASE("a gain that is just enough stays") {
    Grown tree;
    tree.split(0, 2.0);
    CHECK(!prune_tree(tree.leaves, 2.0, tree.committed));
    CHECK(prune_tree(tree.leaves, 2.5, tree.committed));
    CHECK(tree.committed.empty());
    CHECK(!prune_tree(tree.leaves, 2.5, tree.committed));
  }
}

}  // namespace gossamer::tests
