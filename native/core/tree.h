// A grown tree as named arrays. Children >= 0 are nodes, < 0 are leaves (~leaf).
#pragma once

#include <cstdint>
#include <vector>

#include "core/bin_matrix.h"
#include "core/parallel.h"

namespace gossamer {

struct Tree {
  // by node
  std::vector<std::int32_t> feature;  // trainer's feature
  std::vector<std::int32_t> column;   // the user's column
  std::vector<std::int32_t> threshold_bin;
  std::vector<double> threshold;
  std::vector<std::int8_t> missing_kind;
  std::vector<std::int8_t> default_left;  // where missing values go
  std::vector<std::int32_t> left;
  std::vector<std::int32_t> right;
  std::vector<double> gain;
  std::vector<double> node_value;
  std::vector<double> node_weight;
  std::vector<std::int64_t> node_count;
  // by leaf
  std::vector<double> leaf_value;  // n_values per leaf; node_value likewise
  std::vector<double> leaf_weight;
  std::vector<std::int64_t> leaf_count;

  // Adds a node, all but what is known of its rows (value, weight, count).
  void add_split(const Feature& f, std::int32_t number, std::int32_t bin, bool missing_left, std::int32_t left_child,
                 std::int32_t right_child, double split_gain) {
    feature.push_back(number);
    column.push_back(f.column);
    threshold_bin.push_back(bin);
    threshold.push_back(f.upper[static_cast<std::size_t>(bin)]);
    missing_kind.push_back(static_cast<std::int8_t>(f.missing_kind));
    default_left.push_back(missing_left);
    left.push_back(left_child);
    right.push_back(right_child);
    gain.push_back(split_gain);
  }
  // Largest absolute leaf value.
  double largest_value() const {
    double largest = 0.0;
    for (const double v : leaf_value) largest = v > largest ? v : -v > largest ? -v : largest;
    return largest;
  }
  // Finds the feature and the bin of every node from its column and threshold. Returns the first node
  // that asks something else than the bins can answer, or -1.
  std::int64_t find_bins(const std::vector<Feature>& features);
  std::int64_t n_leaves() const { return static_cast<std::int64_t>(leaf_count.size()); }

  std::int64_t n_values = 1;  // outputs that a leaf has a value for
};

// score[row] += leaf value, for `rows` (or all rows when `rows` is null) of a binned matrix; with several
// values per leaf, score[k * matrix rows + row] += value k.
void add_tree_to_scores(Team& team, const BinMatrix& matrix, const Tree& tree, const RowIdx* rows, std::int64_t n_rows,
                        double* score);

}  // namespace gossamer
