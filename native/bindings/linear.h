// Linear leaves as Python sees them: a dict of arrays, and the raw table they are fitted to.
#pragma once

#include "bindings/arrays.h"
#include "bindings/sparse.h"
#include "core/linear_leaves.h"

namespace gossamer::bindings {

// None: no table. It must have the rows, and at least the columns, of what it belongs to.
inline std::optional<RawTable> raw_table(const nb::object& raw, std::int64_t n_rows, std::int64_t n_columns) {
  if (raw.is_none()) return std::nullopt;
  RawTable table;
  if (nb::isinstance<PySparse>(raw)) {
    const auto& matrix = nb::cast<const PySparse&>(raw);
    check_canonical(matrix);
    table = RawTable::of(matrix.view);
  } else {
    Matrix matrix;
    if (!nb::try_cast(raw, matrix, false)) throw std::invalid_argument("raw is no table");
    table = RawTable::of(view_of(matrix));
  }
  if (table.n_rows() != n_rows || table.n_columns() < n_columns) {
    throw std::invalid_argument("raw has another shape than the table");
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

}  // namespace gossamer::bindings
