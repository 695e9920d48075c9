// Checks for every function that applies a forest to a table.
#pragma once

#include "bindings/arrays.h"
#include "bindings/sparse.h"
#include "core/predict.h"

namespace gossamer::bindings {

inline MatrixView checked_view(const Forest& forest, const Matrix& matrix) {
  const MatrixView view = view_of(matrix);
  if (view.n_columns != forest.n_columns) throw std::invalid_argument("the number of columns differs");
  return view;
}

inline const SparseView& checked_view(const Forest&, const PySparse& matrix) {
  if (!matrix.view.by_row) throw std::invalid_argument("compressed rows are needed");
  check_canonical(matrix);
  return matrix.view;
}

inline void check_trees(const Forest& forest, std::int64_t first, std::int64_t last) {
  if (first < 0 || first > last || last > forest.n_trees()) throw std::invalid_argument("tree range out of bounds");
}

}  // namespace gossamer::bindings
