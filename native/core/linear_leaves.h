// Leaves with a linear model: constant + sum of coefficient * (value - centre) over columns on the path to the leaf.
//
// The fit of a leaf is the weighted least squares of Newton's step: gradients and hessians of its rows, a ridge on
// the coefficients of the standardised columns. Around the centre (the weighted mean) the constant and the
// coefficients do not mix, so that the constant is the value of a plain leaf.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/leaf_refit.h"
#include "core/parallel.h"
#include "core/raw_table.h"
#include "core/types.h"

namespace gossamer {

struct LinearLeaves {
  // Terms of leaf l: [begin[l], begin[l + 1]). Empty: there are no linear leaves at all.
  std::vector<std::int64_t> begin;
  // by leaf; for a leaf without terms all three are its plain value
  std::vector<double> constant;
  std::vector<double> low;  // the model's value is kept between these
  std::vector<double> high;
  // by term
  std::vector<std::int32_t> column;
  std::vector<double> coefficient;
  std::vector<double> centre;

  bool empty() const { return begin.empty(); }
  bool is_linear(std::size_t leaf) const { return begin[leaf] != begin[leaf + 1]; }

  // The value a leaf adds to a row; read(column) is the row's value. `plain` if one of these values is missing or
  // infinite.
  template <class Read>
  double value(std::size_t leaf, double plain, const Read& read) const {
    double v = constant[leaf];
    for (auto t = static_cast<std::size_t>(begin[leaf]); t < static_cast<std::size_t>(begin[leaf + 1]); ++t) {
      v += coefficient[t] * (read(column[t]) - centre[t]);
    }
    if (!std::isfinite(v)) return plain;
    return v < low[leaf] ? low[leaf] : v > high[leaf] ? high[leaf] : v;
  }
};

struct LinearFit {
  const RawTable* raw = nullptr;
  const float* gradient = nullptr;  // by row
  const float* hessian = nullptr;   // by row; nullptr: all 1
  LeafRefit refit;                  // with labels: constants are found from residuals
  SplitRules rules;                 // in real units; constants follow them as plain leaves do
  double damp_from = 0.0;           // see leaf_output
  double lambda = 0.0;              // ridge on the coefficients of standardised columns
  double extrapolation = 0.0;       // how far values may leave the range of the leaf's rows, in widths of that range
  double learning_rate = 1.0;
  bool check = false;  // whether a leaf is linear only where that helps rows left out of its fit
  // With `check`: where a model is right, squared gradients have at least this share of the hessians, summed over rows.
  // They are smaller where rows are fitted too closely.
  double least_noise = 0.0;
  double gain = 0.0;  // with `check`: by how much the splits of the tree lower the loss of its rows
};

// A leaf of a grown tree.
struct LinearLeaf {
  const RowIdx* rows;
  std::int64_t n_rows;
  std::vector<std::int32_t> columns;  // may have a coefficient
  double value;                       // value of the plain leaf, shrunk
  double parent;                      // its parent's value, not shrunk: path smoothing pulls towards it
};

// Fits every leaf and adds its values to score[row] of its rows. Leaves with too little information stay plain.
LinearLeaves fit_linear_leaves(Team& team, const LinearFit& fit, std::span<const LinearLeaf> leaves, double* score);

struct ValueSpan {
  double low, high;
};
// score[row] += the leaf's value; returns the range of these values, including the plain one.
ValueSpan add_linear_leaf(const LinearLeaves& leaves, std::size_t leaf, double plain, const RawTable& raw,
                          const RowIdx* rows, std::int64_t n_rows, double* score);

}  // namespace gossamer
