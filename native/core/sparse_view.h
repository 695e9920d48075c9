// The user's sparse matrix as it is: compressed rows or columns, any numeric type, never copied.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "core/matrix_view.h"

namespace gossamer {

// A slice is a row of a compressed-row matrix, a column of a compressed-column one. Slice s holds
// entries [begin[s], begin[s + 1]); an entry's index is its position in the slice. Absent means zero.
struct SparseView {
  const void* values = nullptr;
  DType dtype = DType::f64;
  const void* indices = nullptr;
  bool wide_indices = false;  // int64; else int32
  const std::int64_t* begin = nullptr;
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  bool by_row = true;

  std::int64_t n_slices() const { return by_row ? n_rows : n_columns; }
  std::int64_t n_entries() const { return begin[n_slices()]; }
};

template <class T, class Index>
struct TypedSparse {
  const T* values;
  const Index* indices;
  const std::int64_t* begin;
};

// Calls body(TypedSparse<T, Index>) with the matrix's own types.
template <class Body>
decltype(auto) visit(const SparseView& m, Body&& body) {
  // Uses the dense visitor for the value types; the strides are not used.
  const MatrixView values{m.values, m.dtype, 0, 0, 0, 0};
  return visit(values, [&]<class T>(TypedView<T> view) -> decltype(auto) {
    if (m.wide_indices) {
      return body(TypedSparse<T, std::int64_t>{view.data, static_cast<const std::int64_t*>(m.indices), m.begin});
    }
    return body(TypedSparse<T, std::int32_t>{view.data, static_cast<const std::int32_t*>(m.indices), m.begin});
  });
}

struct SparseCheck {
  bool in_range = true;
  bool canonical = true;  // indices of each slice strictly increase: sorted, no duplicates
};

// Throws if `begin` is not a list of slices of n_entries entries; checks every index.
SparseCheck check_sparse(const SparseView& view, std::int64_t n_values);

}  // namespace gossamer
