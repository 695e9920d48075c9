// A grown tree as named arrays. Children >= 0 are nodes, < 0 are leaves (~leaf).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/arena.h"
#include "core/bin_matrix.h"
#include "core/linear_leaves.h"
#include "core/parallel.h"

namespace gossamer {

struct Tree {
  OwnedArena memory;  // of the arrays of a tree that was grown
  // by node
  ArenaVector<std::int32_t> feature;  // trainer's feature
  ArenaVector<std::int32_t> column;   // the user's column
  ArenaVector<std::int32_t> threshold_bin;
  ArenaVector<double> threshold;
  ArenaVector<std::int8_t> missing_kind;
  ArenaVector<std::int8_t> default_left;  // where missing values go
  ArenaVector<std::int32_t> left;
  ArenaVector<std::int32_t> right;
  ArenaVector<double> gain;
  ArenaVector<double> node_value;
  ArenaVector<double> node_weight;
  ArenaVector<std::int64_t> node_count;
  // For nodes that split categories: the categories that go to the other side than missing and unknown ones,
  // increasing; node i has [category_begin[i], category_begin[i + 1]), which is empty for all other nodes.
  ArenaVector<std::int64_t> category_begin{0};
  ArenaVector<std::int32_t> category;
  // The same by bin; empty for all other nodes. Nodes after the last one that splits categories may be left out.
  std::vector<std::vector<std::uint8_t>> goes_left;
  // by leaf
  ArenaVector<double> leaf_value;  // n_values per leaf; node_value likewise
  ArenaVector<double> leaf_weight;
  ArenaVector<std::int64_t> leaf_count;
  LinearLeaves linear;    // empty: leaves have their plain values
  bool by_value = false;  // thresholds are not bounds of bins: nodes compare raw values

  // Takes memory for the arrays of a new tree.
  void reserve(std::size_t n_nodes) {
    const auto width = static_cast<std::size_t>(n_values);
    const auto for_arrays = [&](const auto& visit) {
      visit(n_nodes, feature, column, threshold_bin, left, right, threshold, gain, node_weight, node_count,
            missing_kind, default_left);
      visit(n_nodes * width, node_value);
      visit(n_nodes + 1, category_begin, leaf_weight, leaf_count);
      visit((n_nodes + 1) * width, leaf_value);
    };
    std::size_t n_bytes = 0;
    for_arrays([&](std::size_t n, auto&... arrays) { n_bytes += (Arena::bytes_of(arrays, n) + ...); });
    memory.reset(new Arena(n_bytes));
    for_arrays([&](std::size_t n, auto&... arrays) { (memory->give(arrays, n), ...); });
    category_begin.push_back(0);
  }
  // Adds a node without the statistics of its rows (value, weight, count). `value` is the threshold; categories
  // have 0.
  void add_split(const Feature& f, std::int32_t number, std::int32_t bin, double value, bool missing_left,
                 std::int32_t left_child, std::int32_t right_child, double split_gain) {
    feature.push_back(number);
    column.push_back(f.column);
    threshold_bin.push_back(bin);
    threshold.push_back(value);
    category_begin.push_back(static_cast<std::int64_t>(category.size()));
    missing_kind.push_back(static_cast<std::int8_t>(f.missing_kind));
    default_left.push_back(missing_left);
    left.push_back(left_child);
    right.push_back(right_child);
    gain.push_back(split_gain);
  }
  // By bin whether a node sends categories left; empty: it has a threshold.
  std::span<const std::uint8_t> left_bins(std::size_t node) const {
    return node < goes_left.size() ? std::span<const std::uint8_t>(goes_left[node]) : std::span<const std::uint8_t>();
  }
  // Sets which categories the node just added sends left, by bin.
  void set_categories(const Feature& f, std::vector<std::uint8_t> left_bins) {
    const bool default_side = left_bins.back() != 0;
    for (std::size_t b = 0; b < f.category.size(); ++b) {
      if (f.category[b] >= 0 && (left_bins[b] != 0) != default_side) category.push_back(f.category[b]);
    }
    category_begin.back() = static_cast<std::int64_t>(category.size());
    goes_left.resize(column.size());
    goes_left.back() = std::move(left_bins);
  }
  // Largest absolute value that a leaf can add.
  double largest_value() const {
    double largest = 0.0;
    const auto see = [&](const auto& values) {
      for (const double v : values) largest = v > largest ? v : -v > largest ? -v : largest;
    };
    see(leaf_value);
    see(linear.low);
    see(linear.high);
    return largest;
  }
  // Finds the feature and the bin of every node from its column and threshold. Returns the first
  // node whose test the bins cannot express, or -1.
  std::int64_t find_bins(const std::vector<Feature>& features);
  // The same for the categories of node i; false: some are unknown.
  bool find_categories(const Feature& f, std::size_t i);
  std::int64_t n_leaves() const { return static_cast<std::int64_t>(leaf_count.size()); }

  std::int64_t n_values = 1;  // outputs that a leaf has a value for
};

// score[row] += leaf value, for `rows` (or all rows when `rows` is null) of a binned matrix; with several
// values per leaf, score[k * matrix rows + row] += value k. A tree with linear leaves, or one that compares values,
// needs the raw table.
void add_tree_to_scores(Team& team, const BinMatrix& matrix, const Tree& tree, const RowIdx* rows, std::int64_t n_rows,
                        double* score, const RawTable* raw = nullptr);
// The same with other values in the tree's leaves: `n_values` per leaf, leaf after leaf.
void add_tree_to_scores(Team& team, const BinMatrix& matrix, const Tree& tree, const double* values,
                        std::int64_t n_values, const RowIdx* rows, std::int64_t n_rows, double* score,
                        const RawTable* raw = nullptr);

// Adds a tree without linear leaves to the scores of all rows. False: nothing was done, because tiles of rows cannot be
// evaluated as a whole (see tile_tree.h).
bool add_tiles(Team& team, const BinMatrix& matrix, const Tree& tree, double* score);

// Calls visit(node, rows) for blocks of rows that together are all rows of the matrix that reach the node. All
// calls for a row come from one thread.
void visit_nodes(Team& team, const BinMatrix& matrix, const Tree& tree,
                 const std::function<void(std::int32_t, std::span<const RowIdx>)>& visit);

// By leaf: the columns tested on the path to it, increasing, each once.
std::vector<std::vector<std::int32_t>> path_columns(const Tree& tree);

}  // namespace gossamer
