#include <limits>

#include "bindings/sparse.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

using Kept = nb::ndarray<nb::numpy, nb::ro, nb::ndim<1>>;

PySparse make_sparse(const AnyVector& values, const AnyVector& indices, const AnyVector& begin, std::int64_t n_rows,
                     std::int64_t n_columns, bool by_row) {
  PySparse sparse{values, indices, begin, {}, false};
  SparseView& view = sparse.view;
  if (n_rows < 0 || n_columns < 0) throw std::invalid_argument("a shape cannot be negative");
  if (n_rows >= std::numeric_limits<std::uint32_t>::max()) throw std::invalid_argument("too many rows");
  if (n_columns > std::numeric_limits<std::int32_t>::max()) throw std::invalid_argument("too many columns");
  view.values = values.data();
  view.dtype = dtype_of(values.dtype());
  view.indices = indices.data();
  view.wide_indices = indices.dtype() == nb::dtype<std::int64_t>();
  if (!view.wide_indices && indices.dtype() != nb::dtype<std::int32_t>()) {
    throw std::invalid_argument("indices must be int32 or int64");
  }
  if (begin.dtype() != indices.dtype()) throw std::invalid_argument("indptr and indices must have the same type");
  view.begin = begin.data();
  view.n_rows = n_rows;
  view.n_columns = n_columns;
  view.by_row = by_row;
  check_length(begin, view.n_slices() + 1, "indptr");
  check_length(indices, length(values), "indices");
  nb::gil_scoped_release release;
  const SparseCheck check = check_sparse(view, static_cast<std::int64_t>(values.shape(0)));
  if (!check.in_range) throw std::out_of_range("an index is negative or beyond the shape");
  sparse.canonical = check.canonical;
  return sparse;
}

}  // namespace

void bind_sparse(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const TableChanged& changed) {
      const std::string text = std::string(changed.what()) + ". Hand over a copy of it.";
      PyErr_SetString(nb::module_::import_("gossamer.errors").attr("DataError").ptr(), text.c_str());
    }
  });
  nb::class_<PySparse>(m, "SparseMatrix", "Compressed rows or columns; checked when made (ValueError, IndexError).")
      .def(nb::new_(&make_sparse), "values"_a.noconvert(), "indices"_a.noconvert(), "begin"_a.noconvert(), "n_rows"_a,
           "n_columns"_a, "by_row"_a)
      .def_prop_ro("n_rows", [](const PySparse& self) { return self.view.n_rows; })
      .def_prop_ro("n_columns", [](const PySparse& self) { return self.view.n_columns; })
      .def_prop_ro("by_row", [](const PySparse& self) { return self.view.by_row; })
      // The arrays it was made from.
      .def_prop_ro("values", [](const PySparse& self) { return Kept(self.values); })
      .def_prop_ro("indices", [](const PySparse& self) { return Kept(self.indices); })
      .def_prop_ro("begin", [](const PySparse& self) { return Kept(self.begin); })
      .def_prop_ro("n_entries", [](const PySparse& self) { return self.view.n_entries(); })
      .def_prop_ro(
          "is_canonical", [](const PySparse& self) { return self.canonical; },
          "Whether the indices of each row (column) strictly increase.");
}

}  // namespace gossamer::bindings
