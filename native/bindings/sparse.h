// The Python object that holds a sparse matrix for native calls.
#pragma once

#include "bindings/arrays.h"
#include "core/sparse_view.h"

namespace gossamer::bindings {

using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Keeps the arrays alive that the view points to.
struct PySparse {
  AnyVector values;
  AnyVector indices;
  AnyVector begin;
  SparseView view;
  bool canonical = false;
};

inline void check_canonical(const PySparse& matrix) {
  if (!matrix.canonical) throw std::invalid_argument("indices are not sorted, or there are duplicates");
}

}  // namespace gossamer::bindings
