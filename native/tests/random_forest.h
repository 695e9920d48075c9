// Forests to predict with.
#pragma once

#include "core/predict.h"
#include "core/tree.h"
#include "support.h"

namespace gossamer::tests {

// A forest of one grown tree.
inline Forest as_forest(const Tree& tree, std::int64_t n_columns) {
  Forest f;
  f.n_columns = n_columns;
  f.node_begin = {0, static_cast<std::int64_t>(tree.column.size())};
  f.leaf_begin = {0, tree.n_leaves()};
  const auto copy = [](const auto& from, auto& to) { to.assign(from.begin(), from.end()); };
  copy(tree.column, f.column);
  copy(tree.threshold, f.threshold);
  copy(tree.missing_kind, f.missing_kind);
  copy(tree.default_left, f.default_left);
  copy(tree.left, f.left);
  copy(tree.right, f.right);
  copy(tree.leaf_value, f.leaf_value);
  if (!tree.category.empty()) copy(tree.category_begin, f.category_begin);
  copy(tree.category, f.category);
  prepare_forest(f);  // throws if it is not a tree
  return f;
}

// A random tree of `n_nodes` nodes: leaves are split one after another.
inline void add_random_tree(Forest& f, std::int64_t n_nodes, Random& random) {
  struct Open {
    std::int64_t parent;
    bool left;
  };
  std::vector<Open> open;
  const auto first = static_cast<std::int64_t>(f.column.size());
  for (std::int64_t n = 0; n < n_nodes; ++n) {
    if (n > 0) {
      const std::size_t pick = at(random.below(static_cast<std::int64_t>(open.size())));
      (open[pick].left ? f.left : f.right)[at(first + open[pick].parent)] = static_cast<std::int32_t>(n);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    f.column.push_back(static_cast<std::int32_t>(random.below(f.n_columns)));
    f.threshold.push_back(std::floor(random.between(-3.0, 3.0)));
    f.missing_kind.push_back(static_cast<std::int8_t>(random.below(3)));
    f.default_left.push_back(static_cast<std::int8_t>(random.below(2)));
    f.left.push_back(0);
    f.right.push_back(0);
    open.push_back({n, true});
    open.push_back({n, false});
  }
  std::int32_t leaf = 0;
  for (const Open& o : open) (o.left ? f.left : f.right)[at(first + o.parent)] = ~leaf++;
  for (std::int64_t l = 0; l <= n_nodes; ++l) f.leaf_value.push_back(random.normal());
  f.node_begin.push_back(static_cast<std::int64_t>(f.column.size()));
  f.leaf_begin.push_back(static_cast<std::int64_t>(f.leaf_value.size()));
}

inline Forest make_random_forest(std::int64_t n_trees, std::int64_t max_nodes, std::int64_t n_columns, Random& random) {
  Forest f;
  f.n_columns = n_columns;
  f.node_begin = f.leaf_begin = {0};
  for (std::int64_t t = 0; t < n_trees; ++t) add_random_tree(f, random.below(max_nodes + 1), random);
  prepare_forest(f);
  return f;
}

}  // namespace gossamer::tests
