// Vectors that share one piece of memory.
#include <numeric>

#include "core/arena.h"
#include "core/tree.h"
#include "support.h"

namespace gossamer::tests {
namespace {

void fill(ArenaVector<std::int32_t>& numbers, int n) {
  for (int i = 0; i < n; ++i) numbers.push_back(i);
}

bool is_filled(const ArenaVector<std::int32_t>& numbers, int n) {
  std::vector<std::int32_t> expected(at(n));
  std::iota(expected.begin(), expected.end(), 0);
  return std::equal(numbers.begin(), numbers.end(), expected.begin(), expected.end());
}

TEST_CASE("vectors of an arena lie in one piece, and may outgrow it") {
  ArenaVector<std::int32_t> first;
  ArenaVector<std::int8_t> second;
  Arena arena(Arena::bytes_of(first, 5) + Arena::bytes_of(second, 3));
  arena.give(first, 5);
  arena.give(second, 3);
  const auto distance = reinterpret_cast<const char*>(second.data()) - reinterpret_cast<const char*>(first.data());
  CHECK(distance == 32);  // 20 bytes, aligned
  fill(first, 5);
  second.assign(3, 7);
  for (int n = 5; n < 3000; ++n) first.push_back(n);
  CHECK(is_filled(first, 3000));
  CHECK(second == ArenaVector<std::int8_t>{7, 7, 7});
}

TEST_CASE("copies of a vector live on the heap, and moving keeps its memory") {
  ArenaVector<std::int32_t> copy;
  ArenaVector<std::int32_t> moved;
  {
    auto arena = std::make_unique<Arena>(64);
    ArenaVector<std::int32_t> numbers;
    arena->give(numbers, 16);
    fill(numbers, 16);
    copy = ArenaVector<std::int32_t>(numbers);
    const std::int32_t* const memory = numbers.data();
    moved = std::move(numbers);
    CHECK(moved.data() == memory);
    CHECK(is_filled(moved, 16));
    moved = {};  // what it held may go now
  }
  CHECK(is_filled(copy, 16));
}

TEST_CASE("a tree takes its memory along") {
  Tree trees[2];
  for (Tree& tree : trees) {
    Tree grown;
    grown.n_values = 3;
    grown.reserve(20);
    CHECK(grown.category_begin == ArenaVector<std::int64_t>{0});
    fill(grown.left, 20);
    grown.leaf_value.resize(63, 1.5);
    grown.leaf_count.resize(21, 2);
    tree = std::move(grown);
  }
  trees[0] = std::move(trees[1]);
  CHECK(is_filled(trees[0].left, 20));
  CHECK(trees[0].leaf_value == ArenaVector<double>(63, 1.5));
  CHECK(trees[0].n_leaves() == 21);
  const Tree copy = trees[0];
  trees[0] = Tree();
  CHECK(is_filled(copy.left, 20));
  trees[1] = copy;
  CHECK(is_filled(trees[1].left, 20));
}

}  // namespace
}  // namespace gossamer::tests
