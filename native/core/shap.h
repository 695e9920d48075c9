// Exact Shapley values of predictions.
//
// A row reaches a leaf if it passes all tests on the leaf's path. Let o_j be 1 if the row passes the tests on feature
// j, and z_j the share of the training rows that do; z_j is used where feature j is not known. If every feature is
// known with the same probability t, the leaf is reached with probability prod_j (t o_j + (1 - t) z_j). Its Shapley
// value of feature i is the integral over t of the derivative by feature i:
//
//   value * (o_i - z_i) * integral_0^1  prod_{j != i} (t o_j + (1 - t) z_j)  dt
//
// This is a polynomial of degree d - 1, which Gauss-Legendre quadrature with d / 2 points integrates exactly. Since o_j
// is 0 or 1, all factors are known beforehand; a row costs d^2 multiplications per leaf, and no division. Interactions
// have two derivatives. With a row of background data instead of the training rows, z_j is 0 or 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/predict.h"

namespace gossamer {

// Numbers of training rows that reached the nodes and leaves of a forest, in the order of its arrays.
struct Covers {
  std::span<const std::int64_t> node;
  std::span<const std::int64_t> leaf;
};

// Where the values of a row go: out[row * n_outputs * width + output * width + place], width = n_columns + 1; the last
// place is the expected value over all rows. `places` are the columns themselves, or (compact) their indices in
// forest.used_columns, n_columns being their number.
struct ShapOutput {
  double* out = nullptr;
  bool compact = false;
};

// Adds the Shapley values of trees [first_tree, last_tree). Throws std::invalid_argument if a node has no rows.
void add_shap_values(Team& team, const Forest& forest, const Covers& covers, const MatrixView& matrix,
                     std::int64_t first_tree, std::int64_t last_tree, const ShapOutput& output);
void add_shap_values(Team& team, const Forest& forest, const Covers& covers, const SparseView& matrix,
                     std::int64_t first_tree, std::int64_t last_tree, const ShapOutput& output);

// The same with an interaction for every pair of columns: out[... * width * width + place * width + other place]. Rows
// sum up to the Shapley values.
void add_shap_interactions(Team& team, const Forest& forest, const Covers& covers, const MatrixView& matrix,
                           std::int64_t first_tree, std::int64_t last_tree, double* out);

// Shapley values where unknown features take the values of background rows: the mean over these.
void add_shap_values_of(Team& team, const Forest& forest, const MatrixView& background, const MatrixView& matrix,
                        std::int64_t first_tree, std::int64_t last_tree, const ShapOutput& output);

}  // namespace gossamer
