#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bindings/arrays.h"
#include "core/round_grower.h"
#include "core/tree.h"
#include "core/vector_grower.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

using Rows = std::optional<In<RowIdx>>;

const RowIdx* checked_rows(const Rows& rows, std::int64_t n_all) {
  if (!rows) return nullptr;
  if (rows->size() == 0) throw std::invalid_argument("no rows");
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (static_cast<std::int64_t>((*rows)(i)) >= n_all) throw std::invalid_argument("row out of range");
  }
  return rows->data();
}

// A grower with the matrix it needs for checking arguments.
template <class AnyGrower>
struct PyGrower {
  std::shared_ptr<BinMatrix> matrix;
  AnyGrower grower;
  explicit PyGrower(std::shared_ptr<BinMatrix> m) : matrix(m), grower(std::move(m)) {}
};

template <class AnyGrower>
auto grow(PyGrower<AnyGrower>& self, const In<float>& gradient, const std::optional<In<float>>& hessian,
          const Rows& rows, const std::vector<GrowParams>& params, const std::optional<In<float>>& label,
          const Out<double>& score, int n_threads) {
  if (params.empty()) throw std::invalid_argument("there are no outputs");
  const std::int64_t n = self.matrix->n_rows();
  const std::int64_t size = n * static_cast<std::int64_t>(params.size());
  check_length(gradient, size, "gradient");
  check_length(score, size, "score");
  const float* const h = data_or_null(hessian, size, "hessian");
  const bool one_label = label && length(*label) == n;
  const float* const y = data_or_null(label, one_label ? n : size, "label");
  for (const GrowParams& p : params) {
    if (p.refit && y == nullptr) throw std::invalid_argument("refitting needs labels");
    const std::vector<std::int8_t>& directions = p.monotone.direction;
    if (!directions.empty() && directions.size() != self.matrix->features().size()) {
      throw std::invalid_argument("monotone_directions and the features differ in length");
    }
  }
  const RowIdx* const row_data = checked_rows(rows, n);
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  return self.grower.grow(*team, gradient.data(), h, row_data, rows ? length(*rows) : n, params, score.data(), y,
                          one_label);
}

template <class AnyGrower>
nb::dict stats(const PyGrower<AnyGrower>& self) {
  const GrowStats s = self.grower.stats();
  nb::dict d;
  d["quantize"] = s.quantize;
  d["partition"] = s.partition;
  d["build"] = s.build;
  d["search"] = s.search;
  d["scores"] = s.scores;
  d["built_rows"] = s.built_rows;
  d["partitioned_rows"] = s.partitioned_rows;
  d["expanded"] = s.expanded;
  d["committed"] = s.committed;
  d["batches"] = s.batches;
  d["wide_rounds"] = s.wide_rounds;
  d["rounds"] = s.rounds;
  return d;
}

void add_scores(const BinMatrix& matrix, const Tree& tree, const Rows& rows, const Out<double>& score, int n_threads) {
  check_length(score, matrix.n_rows() * tree.n_values, "score");
  for (const std::int32_t f : tree.feature) {
    if (f < 0 || f >= static_cast<std::int32_t>(matrix.features().size())) {
      throw std::invalid_argument("the tree was grown on other features");
    }
  }
  if (rows && rows->size() == 0) return;
  const RowIdx* const row_data = checked_rows(rows, matrix.n_rows());
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  add_tree_to_scores(*team, matrix, tree, row_data, rows ? length(*rows) : matrix.n_rows(), score.data());
}

template <class T>
auto copy(std::vector<T> Tree::* member) {
  return [member](const Tree& tree) { return to_numpy(std::vector<T>(tree.*member)); };
}

// One array of many trees, one after another.
template <class T>
auto join(const nb::list& trees, std::vector<T> Tree::* member) {
  std::vector<T> joined;
  for (const nb::handle tree : trees) {
    const std::vector<T>& part = nb::cast<const Tree&>(tree).*member;
    joined.insert(joined.end(), part.begin(), part.end());
  }
  return to_numpy(std::move(joined));
}

nb::dict join_trees(const nb::list& trees) {
  nb::dict d;
  d["column"] = join(trees, &Tree::column);
  d["threshold"] = join(trees, &Tree::threshold);
  d["missing_kind"] = join(trees, &Tree::missing_kind);
  d["default_left"] = join(trees, &Tree::default_left);
  d["left"] = join(trees, &Tree::left);
  d["right"] = join(trees, &Tree::right);
  d["gain"] = join(trees, &Tree::gain);
  d["node_value"] = join(trees, &Tree::node_value);
  d["node_weight"] = join(trees, &Tree::node_weight);
  d["node_count"] = join(trees, &Tree::node_count);
  d["leaf_value"] = join(trees, &Tree::leaf_value);
  d["leaf_weight"] = join(trees, &Tree::leaf_weight);
  d["leaf_count"] = join(trees, &Tree::leaf_count);
  return d;
}

template <class AnyGrower>
void bind_grower(nb::module_& m, const char* name, const char* about, const char* about_grow) {
  nb::class_<PyGrower<AnyGrower>>(m, name, about)
      .def(nb::init<std::shared_ptr<BinMatrix>>(), "matrix"_a)
      .def("grow", &grow<AnyGrower>, "gradient"_a.noconvert(), "hessian"_a.noconvert().none(),
           "rows"_a.noconvert().none(), "params"_a, "label"_a.noconvert().none(), "score"_a.noconvert(), "n_threads"_a,
           about_grow)
      .def("stats", &stats<AnyGrower>, "Seconds per stage and amounts of work so far.");
}

}  // namespace

void bind_tree(nb::module_& m) {
  nb::class_<GrowParams>(m, "GrowParams", "Typed settings of one tree.")
      .def(nb::init<>())
      .def_rw("num_leaves", &GrowParams::num_leaves)
      .def_rw("max_depth", &GrowParams::max_depth)
      .def_rw("depthwise", &GrowParams::depthwise)
      .def_rw("extra_trees", &GrowParams::extra_trees)
      .def_rw("extra_key", &GrowParams::extra_key)
      .def_rw("column_key", &GrowParams::column_key)
      .def_rw("learning_rate", &GrowParams::learning_rate)
      .def_rw("refit", &GrowParams::refit)
      .def_rw("refit_alpha", &GrowParams::refit_alpha)
      .def_rw("refit_delta", &GrowParams::refit_delta)
      .def_rw("damp_from", &GrowParams::damp_from)
      .def_prop_rw(
          "monotone_directions", [](const GrowParams& p) { return p.monotone.direction; },
          [](GrowParams& p, std::vector<std::int8_t> v) { p.monotone.direction = std::move(v); })
      .def_prop_rw(
          "monotone_method", [](const GrowParams& p) { return static_cast<int>(p.monotone.method); },
          [](GrowParams& p, int v) {
            if (v < 0 || v > 2) throw std::invalid_argument("unknown method of monotone constraints");
            p.monotone.method = static_cast<MonotoneMethod>(v);
          })
      .def_prop_rw(
          "monotone_penalty", [](const GrowParams& p) { return p.monotone.penalty; },
          [](GrowParams& p, double v) { p.monotone.penalty = v; })
      .def_rw("max_histogram_bytes", &GrowParams::max_histogram_bytes)
      .def_prop_rw(
          "lambda_l1", [](const GrowParams& p) { return p.rules.lambda_l1; },
          [](GrowParams& p, double v) { p.rules.lambda_l1 = v; })
      .def_prop_rw(
          "lambda_l2", [](const GrowParams& p) { return p.rules.lambda_l2; },
          [](GrowParams& p, double v) { p.rules.lambda_l2 = v; })
      .def_prop_rw(
          "min_gain_to_split", [](const GrowParams& p) { return p.rules.min_gain_to_split; },
          [](GrowParams& p, double v) { p.rules.min_gain_to_split = v; })
      .def_prop_rw(
          "min_sum_hessian", [](const GrowParams& p) { return p.rules.min_sum_hessian; },
          [](GrowParams& p, double v) { p.rules.min_sum_hessian = v; })
      .def_prop_rw(
          "min_data", [](const GrowParams& p) { return p.rules.min_data; },
          [](GrowParams& p, double v) { p.rules.min_data = v; })
      .def_prop_rw(
          "max_delta_step", [](const GrowParams& p) { return p.rules.max_delta_step; },
          [](GrowParams& p, double v) { p.rules.max_delta_step = v; })
      .def_prop_rw(
          "path_smooth", [](const GrowParams& p) { return p.rules.path_smooth; },
          [](GrowParams& p, double v) { p.rules.path_smooth = v; })
      .def_prop_rw(
          "fraction_by_tree", [](const GrowParams& p) { return p.fractions.by_tree; },
          [](GrowParams& p, double v) { p.fractions.by_tree = v; })
      .def_prop_rw(
          "fraction_by_level", [](const GrowParams& p) { return p.fractions.by_level; },
          [](GrowParams& p, double v) { p.fractions.by_level = v; })
      .def_prop_rw(
          "fraction_by_node", [](const GrowParams& p) { return p.fractions.by_node; },
          [](GrowParams& p, double v) { p.fractions.by_node = v; });

  nb::class_<Tree>(m, "Tree", "A grown tree; arrays are copies.")
      .def_prop_ro("n_leaves", &Tree::n_leaves)
      .def_ro("n_values", &Tree::n_values)
      .def_prop_ro("largest_value", &Tree::largest_value)
      .def_prop_ro("column", copy(&Tree::column), nb::rv_policy::move)
      .def_prop_ro("threshold", copy(&Tree::threshold), nb::rv_policy::move)
      .def_prop_ro("threshold_bin", copy(&Tree::threshold_bin), nb::rv_policy::move)
      .def_prop_ro("missing_kind", copy(&Tree::missing_kind), nb::rv_policy::move)
      .def_prop_ro("default_left", copy(&Tree::default_left), nb::rv_policy::move)
      .def_prop_ro("left", copy(&Tree::left), nb::rv_policy::move)
      .def_prop_ro("right", copy(&Tree::right), nb::rv_policy::move)
      .def_prop_ro("gain", copy(&Tree::gain), nb::rv_policy::move)
      .def_prop_ro("node_value", copy(&Tree::node_value), nb::rv_policy::move)
      .def_prop_ro("node_weight", copy(&Tree::node_weight), nb::rv_policy::move)
      .def_prop_ro("node_count", copy(&Tree::node_count), nb::rv_policy::move)
      .def_prop_ro("leaf_value", copy(&Tree::leaf_value), nb::rv_policy::move)
      .def_prop_ro("leaf_weight", copy(&Tree::leaf_weight), nb::rv_policy::move)
      .def_prop_ro("leaf_count", copy(&Tree::leaf_count), nb::rv_policy::move);

  bind_grower<RoundGrower>(m, "Grower", "Grows trees on one binned table, one per output.",
                           "Grows one tree per output (arrays are output-major) and adds its values to the scores of\n"
                           "its rows; with labels, leaf values are refitted.");
  bind_grower<VectorGrower>(m, "VectorGrower", "Grows trees on one binned table, each for all outputs.",
                            "As Grower.grow, but one tree whose leaves have a value for each output.");

  m.def("join_trees", &join_trees, "trees"_a, "The arrays of several trees, one after another, by name.");
  m.def("add_tree_to_scores", &add_scores, "matrix"_a, "tree"_a, "rows"_a.noconvert().none(), "score"_a.noconvert(),
        "n_threads"_a);
}

}  // namespace gossamer::bindings
