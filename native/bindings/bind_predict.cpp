#include <nanobind/stl/optional.h>

#include "bindings/forest.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

Forest make_forest(std::int64_t n_outputs, std::int64_t n_values, std::int64_t n_columns,
                   const In<std::int64_t>& node_begin, const In<std::int64_t>& leaf_begin,
                   const In<std::int32_t>& column, const In<double>& threshold, const In<std::int8_t>& missing_kind,
                   const In<std::int8_t>& default_left, const In<std::int32_t>& left, const In<std::int32_t>& right,
                   const In<double>& leaf_value, const std::optional<In<std::int64_t>>& category_begin,
                   const std::optional<In<std::int32_t>>& category) {
  Forest forest;
  forest.n_outputs = n_outputs;
  forest.n_values = n_values;
  forest.n_columns = n_columns;
  forest.node_begin = to_vector(node_begin);
  forest.leaf_begin = to_vector(leaf_begin);
  forest.column = to_vector(column);
  forest.threshold = to_vector(threshold);
  forest.missing_kind = to_vector(missing_kind);
  forest.default_left = to_vector(default_left);
  forest.left = to_vector(left);
  forest.right = to_vector(right);
  forest.leaf_value = to_vector(leaf_value);
  if (category_begin) forest.category_begin = to_vector(*category_begin);
  if (category) forest.category = to_vector(*category);
  prepare_forest(forest);
  return forest;
}

void set_linear(Forest& self, const In<std::int64_t>& begin, const In<double>& constant, const In<double>& low,
                const In<double>& high, const In<std::int32_t>& column, const In<double>& coefficient,
                const In<double>& centre) {
  set_linear_leaves(self, {to_vector(begin), to_vector(constant), to_vector(low), to_vector(high), to_vector(column),
                           to_vector(coefficient), to_vector(centre)});
}

template <class AnyMatrix>
void scores(const Forest& self, const AnyMatrix& matrix, std::int64_t first, std::int64_t last, const Out<double>& out,
            int n_threads) {
  const auto& view = checked_view(self, matrix);
  check_trees(self, first, last);
  check_length(out, view.n_rows * self.n_outputs, "out");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  predict_scores(*team, self, view, first, last, out.data());
}

void scores_until_clear(const Forest& self, const Matrix& matrix, std::int64_t first, std::int64_t last,
                        std::int64_t every, double margin, const Out<double>& out, int n_threads) {
  const MatrixView view = checked_view(self, matrix);
  check_trees(self, first, last);
  if (every < 1) throw std::invalid_argument("every must be at least 1");
  check_length(out, view.n_rows * self.n_outputs, "out");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  predict_scores_until_clear(*team, self, view, first, last, {every, margin}, out.data());
}

template <class AnyMatrix>
void leaves(const Forest& self, const AnyMatrix& matrix, std::int64_t first, std::int64_t last,
            const Out<std::int32_t>& out, int n_threads) {
  const auto& view = checked_view(self, matrix);
  check_trees(self, first, last);
  check_length(out, view.n_rows * (last - first), "out");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  predict_leaves(*team, self, view, first, last, out.data());
}

}  // namespace

void bind_predict(nb::module_& m) {
  nb::class_<Forest>(m, "Forest", "Trees ready for prediction; checked when made.")
      .def(nb::new_(&make_forest), "n_outputs"_a, "n_values"_a, "n_columns"_a, "node_begin"_a.noconvert(),
           "leaf_begin"_a.noconvert(), "column"_a.noconvert(), "threshold"_a.noconvert(), "missing_kind"_a.noconvert(),
           "default_left"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert(), "leaf_value"_a.noconvert(),
           "category_begin"_a.noconvert() = nb::none(), "category"_a.noconvert() = nb::none())
      .def_prop_ro("n_trees", &Forest::n_trees)
      .def("set_linear", &set_linear, "linear_begin"_a.noconvert(), "linear_constant"_a.noconvert(),
           "linear_low"_a.noconvert(), "linear_high"_a.noconvert(), "linear_column"_a.noconvert(),
           "linear_coefficient"_a.noconvert(), "linear_centre"_a.noconvert(),
           "Gives the leaves linear models; checked.")
      .def("predict", &scores<Matrix>, "matrix"_a.noconvert(), "first_tree"_a, "last_tree"_a, "out"_a.noconvert(),
           "n_threads"_a, "Adds raw scores to `out` (rows x outputs, flattened).")
      .def("predict", &scores<PySparse>, "matrix"_a, "first_tree"_a, "last_tree"_a, "out"_a.noconvert(), "n_threads"_a,
           "The same from compressed rows; absent columns are missing, additional ones are ignored.")
      .def("predict_until_clear", &scores_until_clear, "matrix"_a.noconvert(), "first_tree"_a, "last_tree"_a, "every"_a,
           "margin"_a, "out"_a.noconvert(), "n_threads"_a,
           "The same, but a row stops once its scores are clear; checked every `every` trees.")
      .def("predict_leaves", &leaves<Matrix>, "matrix"_a.noconvert(), "first_tree"_a, "last_tree"_a,
           "out"_a.noconvert(), "n_threads"_a)
      .def("predict_leaves", &leaves<PySparse>, "matrix"_a, "first_tree"_a, "last_tree"_a, "out"_a.noconvert(),
           "n_threads"_a);
}

}  // namespace gossamer::bindings
