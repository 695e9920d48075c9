// The user's own table, dense or sparse, read value by value: linear leaves are fitted to it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/matrix_view.h"
#include "core/sparse_view.h"

namespace gossamer {

struct RawTable {
  bool is_sparse = false;
  MatrixView dense;
  SparseView sparse;  // indices of each slice increase

  static RawTable of(const MatrixView& view) { return {false, view, {}}; }
  static RawTable of(const SparseView& view) { return {true, {}, view}; }
  std::int64_t n_rows() const { return is_sparse ? sparse.n_rows : dense.n_rows; }
  std::int64_t n_columns() const { return is_sparse ? sparse.n_columns : dense.n_columns; }
};

// Calls body(read); read(row, column) is a value as a double.
template <class Body>
decltype(auto) visit(const RawTable& table, Body&& body) {
  if (!table.is_sparse) {
    return visit_few(table.dense, [&]<class T>(TypedView<T> view) -> decltype(auto) {
      return body(
          [view](std::int64_t row, std::int64_t column) -> double { return static_cast<double>(view(row, column)); });
    });
  }
  return visit(table.sparse, [&]<class T, class Index>(TypedSparse<T, Index> matrix) -> decltype(auto) {
    return body([matrix, by_row = table.sparse.by_row](std::int64_t row, std::int64_t column) -> double {
      const std::int64_t slice = by_row ? row : column;
      const auto wanted = static_cast<Index>(by_row ? column : row);
      const Index* const last = matrix.indices + matrix.begin[slice + 1];
      const Index* const found = std::lower_bound(matrix.indices + matrix.begin[slice], last, wanted);
      return found != last && *found == wanted ? static_cast<double>(matrix.values[found - matrix.indices]) : 0.0;
    });
  });
}

}  // namespace gossamer
