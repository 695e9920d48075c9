// The parts of the Shapley values of shap.h: paths to leaves, and the tests on them that rows pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/index.h"
#include "core/shap.h"
#include "core/walk.h"
#include "kernels/kernels.h"

namespace gossamer::shap {

// A step on the path to a leaf: the node, and whether the path goes left.
struct Step {
  std::int32_t node;
  bool left;
};

// One feature of the path to a leaf: its steps are steps[first_step, last_step).
struct Part {
  std::int32_t column;
  std::int32_t place;  // index in used_columns
  double share;        // share of the training rows that pass these tests
  std::int32_t first_step, last_step;
};

struct Path {
  std::vector<Part> parts;
  std::vector<Step> steps;
};

// Columns for which a linear leaf has terms, but no test on its path: all rows pass.
inline void add_linear_parts(const Forest& f, std::size_t leaf, Path& path) {
  if (f.linear.empty()) return;
  const auto n_steps = static_cast<std::int32_t>(path.steps.size());
  for (auto t = at(f.linear.begin[leaf]); t < at(f.linear.begin[leaf + 1]); ++t) {
    const std::int32_t column = f.linear.column[t];
    const auto same = [&](const Part& part) { return part.column == column; };
    if (std::none_of(path.parts.begin(), path.parts.end(), same)) {
      path.parts.push_back({column, f.place_of[at(column)], 1.0, n_steps, n_steps});
    }
  }
}

// Calls visit(leaf, path) for every leaf of a tree.
template <class Visit>
void for_paths(const Forest& f, const Covers* covers, std::int64_t tree, const Visit& visit) {
  const std::int64_t first_node = f.node_begin[at(tree)];
  const std::int64_t first_leaf = f.leaf_begin[at(tree)];
  struct Stop {
    std::int32_t node;  // or ~leaf
    std::size_t depth;
    Step step;
    double share;
  };
  const auto n_rows = [&](std::int32_t child) {
    return static_cast<double>(child >= 0 ? covers->node[at(first_node + child)]
                                          : covers->leaf[at(first_leaf + ~child)]);
  };
  std::vector<Stop> waiting{{root_of(f, tree), 0, {}, 1.0}};
  std::vector<Step> steps;     // from the root
  std::vector<double> shares;  // by step
  Path path;
  while (!waiting.empty()) {
    const Stop stop = waiting.back();
    waiting.pop_back();
    if (stop.depth > 0) {
      steps.resize(stop.depth - 1);
      shares.resize(stop.depth - 1);
      steps.push_back(stop.step);
      shares.push_back(stop.share);
    }
    if (stop.node >= 0) {
      const std::int64_t node = first_node + stop.node;
      double total = 1.0;
      if (covers != nullptr) {
        total = n_rows(stop.node);
        if (!(total > 0.0)) {
          throw std::invalid_argument("tree " + std::to_string(tree) + " does not say how many rows its nodes had");
        }
      }
      const auto share = [&](std::int32_t child) { return covers != nullptr ? n_rows(child) / total : 0.0; };
      const std::int32_t children[2] = {f.left[at(node)], f.right[at(node)]};
      for (int side = 1; side >= 0; --side) {
        waiting.push_back({children[side], stop.depth + 1, {stop.node, side == 0}, share(children[side])});
      }
      continue;
    }
    // Steps by column, in the order of their first occurrence.
    path.parts.clear();
    path.steps.clear();
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const std::int32_t column = f.column[at(first_node + steps[s].node)];
      const auto part =
          std::find_if(path.parts.begin(), path.parts.end(), [&](const Part& p) { return p.column == column; });
      if (part == path.parts.end()) path.parts.push_back({column, f.place_of[at(column)], 1.0, 0, 0});
    }
    for (Part& part : path.parts) {
      part.first_step = static_cast<std::int32_t>(path.steps.size());
      for (std::size_t s = 0; s < steps.size(); ++s) {
        if (f.column[at(first_node + steps[s].node)] != part.column) continue;
        part.share *= shares[s];
        path.steps.push_back(steps[s]);
      }
      part.last_step = static_cast<std::int32_t>(path.steps.size());
    }
    add_linear_parts(f, at(first_leaf + ~stop.node), path);
    visit(~stop.node, path);
  }
}

// The largest number of features on the path to a leaf, over all trees.
std::int64_t count_parts(const Forest& forest, std::int64_t first_tree, std::int64_t last_tree);

// Values of the used columns of up to 64 rows: value[place * kShapRows + row].
struct Tile {
  std::vector<double> value;
  std::int64_t n_rows = 0;
};
void read_tile(const Forest& forest, const MatrixView& matrix, std::int64_t begin, std::int64_t end, Tile& tile);
void read_tile(const Forest& forest, const SparseView& matrix, std::int64_t begin, std::int64_t end, Tile& tile);

// Bit r of left[node]: row r goes left there.
void answer(const Forest& forest, std::int64_t tree, const Tile& tile, std::vector<std::uint64_t>& left);

// Bit r: row r passes all tests of a part.
std::uint64_t known_rows(const std::vector<Step>& steps, const Part& part, const std::vector<std::uint64_t>& left);

}  // namespace gossamer::shap
