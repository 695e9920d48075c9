#include "bindings/forest.h"
#include "core/shap.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

std::int64_t width_of(const Forest& forest, bool compact) {
  return (compact ? static_cast<std::int64_t>(forest.used_columns.size()) : forest.n_columns) + 1;
}

Covers covers_of(const In<std::int64_t>& node_count, const In<std::int64_t>& leaf_count) {
  return {{node_count.data(), node_count.size()}, {leaf_count.data(), leaf_count.size()}};
}

template <class AnyMatrix>
void values(const Forest& forest, const AnyMatrix& matrix, const In<std::int64_t>& node_count,
            const In<std::int64_t>& leaf_count, std::int64_t first, std::int64_t last, const Out<double>& out,
            bool compact, int n_threads) {
  const auto& view = checked_view(forest, matrix);
  check_trees(forest, first, last);
  check_length(out, view.n_rows * forest.n_outputs * width_of(forest, compact), "out");
  const Covers covers = covers_of(node_count, leaf_count);
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  add_shap_values(*team, forest, covers, view, first, last, {out.data(), compact});
}

void interactions(const Forest& forest, const Matrix& matrix, const In<std::int64_t>& node_count,
                  const In<std::int64_t>& leaf_count, std::int64_t first, std::int64_t last, const Out<double>& out,
                  int n_threads) {
  const MatrixView view = checked_view(forest, matrix);
  check_trees(forest, first, last);
  const std::int64_t width = width_of(forest, false);
  check_length(out, view.n_rows * forest.n_outputs * width * width, "out");
  const Covers covers = covers_of(node_count, leaf_count);
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  add_shap_interactions(*team, forest, covers, view, first, last, out.data());
}

void values_of(const Forest& forest, const Matrix& matrix, const Matrix& background, std::int64_t first,
               std::int64_t last, const Out<double>& out, int n_threads) {
  const MatrixView view = checked_view(forest, matrix);
  const MatrixView others = checked_view(forest, background);
  check_trees(forest, first, last);
  check_length(out, view.n_rows * forest.n_outputs * width_of(forest, false), "out");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  add_shap_values_of(*team, forest, others, view, first, last, {out.data(), false});
}

}  // namespace

void bind_shap(nb::module_& m) {
  m.def(
      "used_columns", [](const Forest& forest) { return to_numpy(std::vector<std::int32_t>(forest.used_columns)); },
      "forest"_a, "Columns that some node tests, increasing.");
  m.def("add_shap_values", &values<Matrix>, "forest"_a, "matrix"_a.noconvert(), "node_count"_a.noconvert(),
        "leaf_count"_a.noconvert(), "first_tree"_a, "last_tree"_a, "out"_a.noconvert(), "compact"_a, "n_threads"_a,
        "Adds Shapley values to `out` (rows x outputs x (columns + 1), flattened; compact: used\n"
        "columns).");
  m.def("add_shap_values", &values<PySparse>, "forest"_a, "matrix"_a, "node_count"_a.noconvert(),
        "leaf_count"_a.noconvert(), "first_tree"_a, "last_tree"_a, "out"_a.noconvert(), "compact"_a, "n_threads"_a);
  m.def("add_shap_interactions", &interactions, "forest"_a, "matrix"_a.noconvert(), "node_count"_a.noconvert(),
        "leaf_count"_a.noconvert(), "first_tree"_a, "last_tree"_a, "out"_a.noconvert(), "n_threads"_a,
        "The same by pairs of columns: rows x outputs x (columns + 1) x (columns + 1).");
  m.def("add_shap_values_of", &values_of, "forest"_a, "matrix"_a.noconvert(), "background"_a.noconvert(),
        "first_tree"_a, "last_tree"_a, "out"_a.noconvert(), "n_threads"_a,
        "Adds Shapley values against background rows to `out` (rows x outputs x (columns + 1)).");
}

}  // namespace gossamer::bindings
