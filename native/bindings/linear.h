// Linear leaves as Python sees them: a dict of arrays, and the raw table they are fitted to.
#pragma once

#include <algorithm>

#include "bindings/arrays.h"
#include "bindings/sparse.h"
#include "core/linear_leaves.h"

namespace gossamer::bindings {

// None: no table. The table must have the rows of the data it belongs to, and at least this many columns.
inline std::optional<RawTable> raw_table(const nb::object& raw, std::int64_t n_rows, std::int64_t n_columns) {
  if (raw.is_none()) return std::nullopt;
  RawTable table;
  if (nb::isinstance<PySparse>(raw)) {
    const auto& matrix = nb::cast<const PySparse&>(raw);
    check_canonical(matrix);
    table = RawTable::of(matrix.view);
  } else {
    Matrix matrix;
    if (!nb::try_cast(raw, matrix, false)) throw std::invalid_argument("raw must be a matrix or a SparseMatrix");
    table = RawTable::of(view_of(matrix));
  }
  if (table.n_rows() != n_rows || table.n_columns() < n_columns) {
    throw std::invalid_argument("raw must have the rows of the table, and the columns that are read");
  }
  return table;
}

inline nb::object to_dict(LinearLeaves linear) {
  if (linear.empty()) return nb::none();
  nb::dict d;
  d["linear_begin"] = to_numpy(std::move(linear.begin));
  d["linear_constant"] = to_numpy(std::move(linear.constant));
  d["linear_low"] = to_numpy(std::move(linear.low));
  d["linear_high"] = to_numpy(std::move(linear.high));
  d["linear_column"] = to_numpy(std::move(linear.column));
  d["linear_coefficient"] = to_numpy(std::move(linear.coefficient));
  d["linear_centre"] = to_numpy(std::move(linear.centre));
  return d;
}

// The inverse, for the leaves of one tree.
inline LinearLeaves linear_leaves(const nb::dict& d, std::int64_t n_leaves, std::int64_t n_columns) {
  const auto leaf_array = [&](const char* name) {
    const auto found = nb::cast<In<double>>(d[name], false);
    check_length(found, n_leaves, name);
    return to_vector(found);
  };
  LinearLeaves linear;
  linear.begin = to_vector(nb::cast<In<std::int64_t>>(d["linear_begin"], false));
  linear.constant = leaf_array("linear_constant");
  linear.low = leaf_array("linear_low");
  linear.high = leaf_array("linear_high");
  linear.column = to_vector(nb::cast<In<std::int32_t>>(d["linear_column"], false));
  linear.coefficient = to_vector(nb::cast<In<double>>(d["linear_coefficient"], false));
  linear.centre = to_vector(nb::cast<In<double>>(d["linear_centre"], false));
  const auto n_terms = static_cast<std::int64_t>(linear.column.size());
  const bool is_right =
      static_cast<std::int64_t>(linear.begin.size()) == n_leaves + 1 && linear.begin.front() == 0 &&
      linear.begin.back() == n_terms && std::is_sorted(linear.begin.begin(), linear.begin.end()) &&
      linear.coefficient.size() == linear.column.size() && linear.centre.size() == linear.column.size() &&
      std::all_of(linear.column.begin(), linear.column.end(), [&](std::int32_t c) { return c >= 0 && c < n_columns; });
  if (!is_right) throw std::invalid_argument("linear leaves do not fit the tree");
  return linear;
}

}  // namespace gossamer::bindings
