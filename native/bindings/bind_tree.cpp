#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>

#include "bindings/arrays.h"
#include "bindings/casters.h"
#include "bindings/linear.h"
#include "bindings/python_exchange.h"
#include "bindings/targets.h"
#include "core/feature_limits.h"
#include "core/interrupt.h"
#include "core/round_grower.h"
#include "core/tree.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

// The number of columns that trees on this matrix may split on.
std::int64_t n_columns(const BinMatrix& matrix) {
  std::int32_t last = -1;
  for (const Feature& f : matrix.features()) last = std::max(last, f.column);
  return last + 1;
}

std::unique_ptr<ResidentRows> make_pages(const BinMatrix& matrix, std::int64_t page_rows) {
  if (page_rows == 0) return nullptr;
  const bool has_rows = matrix.pages() == nullptr && matrix.storage().loose.empty() && matrix.is_trainable();
  if (page_rows < 0 || !has_rows) throw std::invalid_argument("only lanes in memory are taken page by page");
  return std::make_unique<ResidentRows>(matrix, nullptr, page_rows);
}

// A grower with the matrix that is needed to check arguments.
struct PyGrower {
  std::shared_ptr<BinMatrix> matrix;
  std::unique_ptr<PythonExchange> exchange;  // nullptr: the matrix has all rows
  std::unique_ptr<ResidentRows> pages;       // nullptr: the pages of the matrix, if any
  RoundGrower grower;
  PyGrower(std::shared_ptr<BinMatrix> m, bool vector_leaves, const nb::object& sums, std::int64_t page_rows)
      : matrix(std::move(m)),
        exchange(sums.is_none() ? nullptr : std::make_unique<PythonExchange>(sums)),
        pages(make_pages(*matrix, page_rows)),
        grower(GrowData{matrix, pages.get(), exchange.get()}, vector_leaves) {}
  std::optional<Out<std::uint32_t>> row_values;  // memory that the grower uses
};

void check_size(std::size_t size, const BinMatrix& matrix, const char* name) {
  if (size != 0 && size != matrix.features().size()) {
    throw std::invalid_argument(std::string(name) + " has length " + std::to_string(size) + ", expected " +
                                std::to_string(matrix.features().size()));
  }
}

void check_limits(const FeatureLimits& limits, const BinMatrix& matrix) {
  check_size(limits.gain_factors.size(), matrix, "gain_factors");
  check_size(limits.sampling_weights.size(), matrix, "sampling_weights");
  check_size(limits.groups.n_features(), matrix, "groups");
  for (const ForcedSplit& forced : limits.forced) {
    const bool exists = static_cast<std::size_t>(forced.feature) < matrix.features().size();
    if (!exists || forced.threshold >= matrix.features()[static_cast<std::size_t>(forced.feature)].n_value_bins) {
      throw std::invalid_argument("a forced split does not exist");
    }
  }
  if (limits.costs == nullptr) return;
  check_size(limits.costs->all_coupled().size(), matrix, "coupled");
  check_size(limits.costs->all_lazy().size(), matrix, "lazy");
  if (limits.costs->n_rows() != matrix.n_rows()) throw std::invalid_argument("the costs belong to other rows");
}

// Whether a signal came whose Python handler raised an exception, for example Ctrl-C.
bool signal_came() {
  nb::gil_scoped_acquire acquire;
  return PyErr_CheckSignals() != 0;
}

void check_params(const GrowParams& p, const BinMatrix& matrix, bool has_labels) {
  if (p.values.refit && !has_labels) throw std::invalid_argument("refitting needs labels");
  if (p.search.limits) check_limits(*p.search.limits, matrix);
  const SortedTable* const sorted = p.by_value.sorted.get();
  const bool fits = sorted == nullptr ||
                    (sorted->place_of.size() == matrix.features().size() && sorted->raw.n_rows() == matrix.n_rows());
  if (!fits) throw std::invalid_argument("the sorted columns belong to another table");
  const std::vector<std::int8_t>& directions = p.monotone.direction;
  if (!directions.empty() && directions.size() != matrix.features().size()) {
    throw std::invalid_argument("monotone_directions and the features differ in length");
  }
}

std::vector<Tree> grow(PyGrower& self, const In<float>& gradient, const std::optional<In<float>>& hessian,
                       const Rows& rows, std::vector<GrowParams> params, const std::optional<In<float>>& label,
                       const Out<double>& score, int n_threads, const nb::object& raw, bool adds_to_others) {
  if (params.empty()) throw std::invalid_argument("there are no outputs");
  const std::int64_t n = self.matrix->n_rows();
  const std::int64_t size = n * static_cast<std::int64_t>(params.size());
  check_length(gradient, size, "gradient");
  check_length(score, size, "score");
  const float* const h = data_or_null(hessian, size, "hessian");
  const bool one_label = label && length(*label) == n;
  const float* const y = data_or_null(label, one_label ? n : size, "label");
  Interrupt interrupt(&signal_came);
  for (GrowParams& p : params) {
    check_params(p, *self.matrix, y != nullptr);
    p.interrupt = &interrupt;
  }
  // Columns that are derived from others have no raw values, and get no slopes.
  const std::optional<RawTable> table = raw_table(raw, n, 0);
  const std::int64_t n_grown = rows ? length(*rows) : n;
  if (table && adds_to_others) throw std::invalid_argument("linear leaves are not added to rows outside the sample");
  try {
    nb::gil_scoped_release release;
    TeamLease team(n_threads);
    const bool may_be_empty = self.exchange != nullptr;
    const RowIdx* const row_data = adds_to_others ? checked_increasing_rows(rows, n, *team, may_be_empty)
                                                  : checked_rows(rows, n, *team, may_be_empty);
    return self.grower.grow(*team, gradient.data(), h, row_data, n_grown, params, score.data(), {y, one_label},
                            table ? &*table : nullptr, adds_to_others);
  } catch (const Interrupted&) {
    throw nb::python_error();  // what the signal's handler or the exchange raised
  }
}

std::vector<Tree> grow_rounds(PyGrower& self, std::int64_t n_rounds, const RowLoss& loss, const In<float>& label,
                              const Weight& weight, const Out<float>& gradient,
                              const std::optional<Out<float>>& hessian, std::vector<GrowParams> params,
                              const Out<double>& score, double largest, int n_threads) {
  const RowTargets t = targets(label, weight);
  check_length(label, self.matrix->n_rows(), "label");
  if (std::ssize(params) != loss.n_outputs) throw std::invalid_argument("there is not one setting for each output");
  const std::int64_t size = t.n_rows * loss.n_outputs;
  check_length(gradient, size, "gradient");
  check_length(score, size, "score");
  if (hessian) check_length(*hessian, size, "hessian");
  // Otherwise every hessian is 1, and the array is not filled in.
  const bool has_hessian = loss.kind != RowLoss::Kind::squared || t.weight != nullptr;
  if (has_hessian && !hessian) throw std::invalid_argument("the loss needs a hessian array");
  Interrupt interrupt(&signal_came);
  for (GrowParams& p : params) {
    check_params(p, *self.matrix, false);
    p.interrupt = &interrupt;
  }
  try {
    nb::gil_scoped_release release;
    TeamLease team(n_threads);
    return self.grower.grow_rounds(*team, n_rounds, loss, t, gradient.data(), has_hessian ? hessian->data() : nullptr,
                                   params, score.data(), largest);
  } catch (const Interrupted&) {
    throw nb::python_error();  // what the signal's handler raised
  }
}

nb::dict stats(const PyGrower& self) {
  const GrowStats s = self.grower.stats();
  nb::dict d;
  d["quantize"] = s.quantize;
  d["partition"] = s.partition;
  d["build"] = s.build;
  d["search"] = s.search;
  d["scores"] = s.scores;
  d["built_rows"] = s.built_rows;
  d["wasted_rows"] = s.wasted_rows;
  d["partitioned_rows"] = s.partitioned_rows;
  d["expanded"] = s.expanded;
  d["committed"] = s.committed;
  d["batches"] = s.batches;
  d["passes"] = s.passes;
  d["wide_rounds"] = s.wide_rounds;
  d["rounds"] = s.rounds;
  return d;
}

void check_features(const BinMatrix& matrix, const Tree& tree) {
  for (const std::int32_t f : tree.feature) {
    if (f < 0 || f >= static_cast<std::int32_t>(matrix.features().size())) {
      throw std::invalid_argument("the tree was grown on other features");
    }
  }
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    const Feature& f = matrix.features()[static_cast<std::size_t>(tree.feature[i])];
    const std::size_t size = f.is_categorical() ? static_cast<std::size_t>(f.n_value_bins) + 1 : 0;
    if (tree.left_bins(i).size() != size) throw std::invalid_argument("the tree was grown on other categories");
  }
}

// Columns that the raw table must have at least.
std::int64_t n_columns_read(const BinMatrix& matrix, const Tree& tree) {
  if (tree.by_value) return n_columns(matrix);
  std::int32_t last = -1;
  for (const std::int32_t column : tree.linear.column) last = std::max(last, column);
  return last + 1;
}

void add_scores(const BinMatrix& matrix, const Tree& tree, const Rows& rows, const Out<double>& score, int n_threads,
                const std::optional<In<double>>& values, const nb::object& raw) {
  const std::int64_t n_values = values ? length(*values) / tree.n_leaves() : tree.n_values;
  data_or_null(values, n_values * tree.n_leaves(), "values");
  check_length(score, matrix.n_rows() * n_values, "score");
  check_features(matrix, tree);
  if (rows && rows->size() == 0) return;
  const std::optional<RawTable> table = raw_table(raw, matrix.n_rows(), n_columns_read(matrix, tree));
  if (tree.by_value && !table) throw std::invalid_argument("the tree compares values: it needs the raw table");
  if (!tree.linear.empty() && (!table || values)) {
    throw std::invalid_argument("linear leaves need the raw table, and have values of their own");
  }
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  const RowIdx* const row_data = checked_rows(rows, matrix.n_rows(), *team);
  const std::int64_t n_added = rows ? length(*rows) : matrix.n_rows();
  if (values) {
    add_tree_to_scores(*team, matrix, tree, values->data(), n_values, row_data, n_added, score.data(),
                       table ? &*table : nullptr);
  } else {
    add_tree_to_scores(*team, matrix, tree, row_data, n_added, score.data(), table ? &*table : nullptr);
  }
}

template <class T>
auto copy(ArenaVector<T> Tree::* member) {
  return [member](const Tree& tree) { return to_numpy(std::vector<T>((tree.*member).begin(), (tree.*member).end())); };
}

// Joins one array of many trees, one after another.
template <class T>
auto join(std::span<const Tree* const> trees, ArenaVector<T> Tree::* member) {
  std::size_t size = 0;
  for (const Tree* const tree : trees) size += (tree->*member).size();
  std::vector<T> joined;
  joined.reserve(size);
  for (const Tree* const tree : trees) joined.insert(joined.end(), (tree->*member).begin(), (tree->*member).end());
  return to_numpy(std::move(joined));
}

// Where the categories of each node begin, and the categories; empty if no tree splits categories.
void join_categories(std::span<const Tree* const> trees, nb::dict& d) {
  if (std::ranges::all_of(trees, [](const Tree* tree) { return tree->category.empty(); })) return;
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> category;
  for (const Tree* const tree : trees) {
    for (std::size_t i = 0; i < tree->column.size(); ++i) {
      begin.push_back(static_cast<std::int64_t>(category.size()) + tree->category_begin[i + 1]);
    }
    category.insert(category.end(), tree->category.begin(), tree->category.end());
  }
  d["category_begin"] = to_numpy(std::move(begin));
  d["category"] = to_numpy(std::move(category));
}

std::optional<nb::tuple> join_trees(const nb::list& list) {
  std::vector<const Tree*> trees;
  std::vector<std::int64_t> leaf_begin{0};
  trees.reserve(list.size());
  leaf_begin.reserve(list.size() + 1);
  bool any_linear = false;
  for (const nb::handle tree : list) {
    const Tree* native = nullptr;
    if (!nb::try_cast(tree, native) || native == nullptr) return std::nullopt;
    trees.push_back(native);
    leaf_begin.push_back(leaf_begin.back() + native->n_leaves());
    any_linear = any_linear || !native->linear.empty();
  }
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
  join_categories(trees, d);
  return nb::make_tuple(to_numpy(std::move(leaf_begin)), d, any_linear);
}

template <class T>
ArenaVector<T> array_of(const nb::dict& arrays, const char* name, std::int64_t expected) {
  const auto array = nb::cast<In<T>>(arrays[name], false);
  check_length(array, expected, name);
  return {array.data(), array.data() + expected};
}

// The inverse of `join_trees`, for one tree.
Tree make_tree(const BinMatrix& matrix, const nb::dict& arrays, std::int64_t n_values, bool by_value) {
  const std::int64_t n_leaves = length(nb::cast<In<std::int64_t>>(arrays["leaf_count"], false));
  if (n_leaves < 1 || n_values < 1) throw std::invalid_argument("a tree has at least one leaf and one value");
  const std::int64_t n_nodes = n_leaves - 1;
  Tree tree;
  tree.n_values = n_values;
  tree.column = array_of<std::int32_t>(arrays, "column", n_nodes);
  tree.threshold = array_of<double>(arrays, "threshold", n_nodes);
  tree.missing_kind = array_of<std::int8_t>(arrays, "missing_kind", n_nodes);
  tree.default_left = array_of<std::int8_t>(arrays, "default_left", n_nodes);
  tree.left = array_of<std::int32_t>(arrays, "left", n_nodes);
  tree.right = array_of<std::int32_t>(arrays, "right", n_nodes);
  tree.gain = array_of<double>(arrays, "gain", n_nodes);
  tree.node_value = array_of<double>(arrays, "node_value", n_nodes * n_values);
  tree.node_weight = array_of<double>(arrays, "node_weight", n_nodes);
  tree.node_count = array_of<std::int64_t>(arrays, "node_count", n_nodes);
  tree.leaf_value = array_of<double>(arrays, "leaf_value", n_leaves * n_values);
  tree.leaf_weight = array_of<double>(arrays, "leaf_weight", n_leaves);
  tree.leaf_count = array_of<std::int64_t>(arrays, "leaf_count", n_leaves);
  for (std::int64_t i = 0; i < n_nodes; ++i) {
    for (const auto* children : {&tree.left, &tree.right}) {
      const std::int64_t child = (*children)[static_cast<std::size_t>(i)];
      if (child >= 0 ? child <= i || child >= n_nodes : ~child >= n_leaves) {
        throw std::invalid_argument("a child does not exist, or comes before its parent");
      }
    }
  }
  if (arrays.contains("category") && !arrays["category"].is_none()) {
    const auto category = nb::cast<In<std::int32_t>>(arrays["category"], false);
    tree.category.assign(category.data(), category.data() + length(category));
    tree.category_begin = array_of<std::int64_t>(arrays, "category_begin", n_nodes + 1);
    const auto n_categories = static_cast<std::int64_t>(tree.category.size());
    const bool is_right = tree.category_begin.front() == 0 && tree.category_begin.back() == n_categories &&
                          std::is_sorted(tree.category_begin.begin(), tree.category_begin.end());
    if (!is_right) throw std::invalid_argument("categories do not fit the nodes");
  }
  if (arrays.contains("linear") && !arrays["linear"].is_none()) {
    tree.linear = linear_leaves(nb::cast<nb::dict>(arrays["linear"]), n_leaves, n_columns(matrix));
  }
  if (by_value) {
    tree.by_value = true;
    tree.category_begin.resize(tree.column.size() + 1, static_cast<std::int64_t>(tree.category.size()));
    for (const std::int32_t c : tree.column) {
      if (c < 0 || c >= n_columns(matrix)) throw std::invalid_argument("a node tests a column that is not there");
    }
    return tree;
  }
  const std::int64_t misfit = tree.find_bins(matrix.features());
  if (misfit >= 0) throw nb::index_error(std::to_string(misfit).c_str());
  return tree;
}

// A field of one of the structs of GrowParams as an attribute.
template <class Get, class Part, class T, class... Extra>
void def_field(nb::class_<GrowParams>& params, const char* name, Get get, T Part::* field, const Extra&... extra) {
  params.def_prop_rw(
      name, [get, field](GrowParams& p) -> T { return get(p).*field; },
      [get, field](GrowParams& p, T value) { get(p).*field = std::move(value); }, extra...);
}

void bind_grower(nb::module_& m) {
  nb::class_<PyGrower>(m, "Grower",
                       "Grows trees on one binned table: one per output, or one whose leaves have a value for each.")
      .def(nb::init<std::shared_ptr<BinMatrix>, bool, nb::object, std::int64_t>(), "matrix"_a,
           "vector_leaves"_a = false, "exchange"_a = nb::none(), "page_rows"_a = 0,
           "`exchange`: the matrix is a shard of the rows. Its methods add(array), keep_largest(array),\n"
           "gather(array) and exchange(parts) work over all shards; the first two change the array.\n"
           "`size` is the number of shards, `rank` says which one this is; `has_all_rows`: each of them\n"
           "has all rows, and shares the search only; `top_k`: how many features a shard proposes for\n"
           "a leaf where only elected ones are exchanged, or 0.\n"
           "`page_rows`: a matrix in memory is read in pages of so many rows, and takes no copy by\n"
           "column.")
      .def("grow", &grow, "gradient"_a.noconvert(), "hessian"_a.noconvert().none(), "rows"_a.noconvert().none(),
           "params"_a, "label"_a.noconvert().none(), "score"_a.noconvert(), "n_threads"_a, "raw"_a = nb::none(),
           "adds_to_others"_a = false,
           "Grows the trees of a round (arrays are output-major) and adds their values to the scores of\n"
           "their rows; with labels, leaf values are refitted. `adds_to_others`: trees are added\n"
           "to the scores of all rows outside `rows`, too.")
      .def("grow_rounds", &grow_rounds, "n_rounds"_a, "loss"_a, "label"_a.noconvert(), "weight"_a.noconvert().none(),
           "gradient"_a.noconvert(), "hessian"_a.noconvert().none(), "params"_a, "score"_a.noconvert(), "largest"_a,
           "n_threads"_a,
           "Grows the trees of several rounds on all rows and returns all of them.\n\n"
           "Ends after a round with a tree of one leaf, or a leaf value that is not within `largest`.\n"
           "`gradient` and `hessian` are memory that is overwritten.")
      .def(
          "round_in_place",
          [](PyGrower& self, const Out<std::uint32_t>& memory) {
            self.grower.round_in_place({memory.data(), memory.size()});
            self.row_values = memory;
          },
          "memory"_a.noconvert(),
          "From now on, gradients are rounded where they are: `grow` changes them. Where a row takes\n"
          "four numbers, they go to this memory.")
      .def("stats", &stats, "Seconds per stage and amounts of work so far.");
}

// Each split has four numbers: feature, threshold, left, right. Children come later in the list, so
// there are no cycles.
std::vector<ForcedSplit> forced_splits(const std::vector<std::array<std::int32_t, 4>>& rows) {
  std::vector<ForcedSplit> splits;
  for (const auto& [feature, threshold, left, right] : rows) {
    const auto place = static_cast<std::int32_t>(splits.size());
    for (const std::int32_t child : {left, right}) {
      if (child != -1 && (child <= place || child >= static_cast<std::int32_t>(rows.size()))) {
        throw std::invalid_argument("forced splits must form a tree");
      }
    }
    if (feature < 0 || threshold < 0) throw std::invalid_argument("a forced split does not exist");
    splits.push_back({feature, threshold, {left, right}});
  }
  return splits;
}

void check_numbers(const std::vector<double>& numbers, const char* name) {
  for (const double x : numbers) {
    if (!(x >= 0.0 && x <= std::numeric_limits<double>::max())) {
      throw std::invalid_argument(std::string(name) + " must be finite numbers >= 0");
    }
  }
}

void bind_limits(nb::module_& m) {
  nb::class_<FeatureCosts>(m, "FeatureCosts", "Costs of splits and features, and what has been paid.")
      .def(
          "__init__",
          [](FeatureCosts* self, std::int64_t n_rows, double split, const std::vector<double>& coupled,
             const std::vector<double>& lazy) {
            if (n_rows < 0) throw std::invalid_argument("n_rows must be >= 0");
            check_numbers({split}, "split");
            check_numbers(coupled, "coupled");
            check_numbers(lazy, "lazy");
            new (self) FeatureCosts(n_rows, split, coupled, lazy);
          },
          "n_rows"_a, "split"_a, "coupled"_a, "lazy"_a,
          "`coupled` and `lazy` have a cost for every feature, or are empty.")
      .def_prop_ro("remembers", &FeatureCosts::remembers, "Whether one tree's splits change the costs of the next one.")
      .def("clear", &FeatureCosts::clear, "Nothing has been paid.")
      .def(
          "use",
          [](FeatureCosts& self, std::int32_t feature) {
            if (!self.has_coupled()) return;
            if (feature < 0 || static_cast<std::size_t>(feature) >= self.used().size()) {
              throw std::invalid_argument("there is no such feature");
            }
            self.use(feature);
          },
          "feature"_a, "A tree that is not known here uses the feature.")
      .def(
          "add_tree",
          [](FeatureCosts& self, const BinMatrix& matrix, const Tree& tree, int n_threads) {
            check_size(self.all_coupled().size(), matrix, "coupled");
            check_size(self.all_lazy().size(), matrix, "lazy");
            check_features(matrix, tree);
            if (self.n_rows() != matrix.n_rows()) throw std::invalid_argument("the costs belong to other rows");
            nb::gil_scoped_release release;
            TeamLease team(n_threads);
            self.add_tree(*team, matrix, tree);
          },
          "matrix"_a, "tree"_a, "n_threads"_a, "The rows have passed the splits of this tree.");
  nb::class_<FeatureLimits>(m, "FeatureLimits", "What features may do in a tree, by the trainer's features.")
      .def(
          "__init__",
          [](FeatureLimits* self, std::int64_t n_features, const std::vector<std::vector<std::int32_t>>& groups,
             const std::vector<double>& gain_factors, const std::vector<double>& sampling_weights,
             const std::vector<std::array<std::int32_t, 4>>& forced, std::shared_ptr<FeatureCosts> costs) {
            for (const auto& group : groups) {
              for (const std::int32_t f : group) {
                if (f < 0 || f >= n_features)
                  throw std::invalid_argument("a group names a feature that does not exist");
              }
            }
            check_numbers(gain_factors, "gain_factors");
            check_numbers(sampling_weights, "sampling_weights");
            new (self) FeatureLimits{InteractionGroups(groups, groups.empty() ? 0 : n_features), gain_factors,
                                     sampling_weights, forced_splits(forced), std::move(costs)};
          },
          "n_features"_a, "groups"_a, "gain_factors"_a, "sampling_weights"_a, "forced"_a, "costs"_a.none(),
          "Lists may be empty. A forced split is (feature, threshold bin, left, right); left and\n"
          "right are places in the list, or -1.");
}

}  // namespace

void bind_tree(nb::module_& m) {
  bind_limits(m);
  nb::class_<SortedTable>(m, "SortedTable", "Columns with their rows in the order of their values.")
      .def_prop_ro(
          "n_sorted", [](const SortedTable& t) { return static_cast<std::int64_t>(t.columns.size()); },
          "Features that are sorted; the bins of the others hold one value each.")
      .def_prop_ro("n_bytes", &SortedTable::n_bytes);
  m.def(
      "sort_columns",
      [](const BinMatrix& matrix, const nb::object& raw, int n_threads) {
        if (matrix.n_rows() > kMaxSortedRows) throw std::invalid_argument("too many rows to be sorted");
        const std::optional<RawTable> table = raw_table(raw, matrix.n_rows(), n_columns(matrix));
        if (!table) throw std::invalid_argument("there is no table to sort");
        nb::gil_scoped_release release;
        TeamLease team(n_threads);
        return std::make_shared<SortedTable>(sort_columns(*team, *table, matrix.features()));
      },
      "matrix"_a, "raw"_a, "n_threads"_a, nb::keep_alive<0, 2>(), "Sorts the columns of a table that has been binned.");
  nb::class_<Proposals>(m, "Proposals", "Candidates for the splits of each tree, and the table binned by them.")
      .def(
          "__init__",
          [](Proposals* self, const BinMatrix& binned, std::shared_ptr<SortedTable> sorted, double eps) {
            if (!(eps > 0.0 && eps < 1.0)) throw std::invalid_argument("eps must be between 0 and 1");
            if (sorted->place_of.size() != binned.features().size() || sorted->raw.n_rows() != binned.n_rows()) {
              throw std::invalid_argument("the sorted columns belong to another table");
            }
            new (self) Proposals(binned, std::move(sorted), eps);
          },
          "binned"_a, "sorted"_a, "eps"_a)
      .def_prop_ro("matrix", &Proposals::matrix, "The table to make a Grower of.");
  nb::class_<GrowParams> params(m, "GrowParams", "Typed settings of one tree.");
  params.def(nb::init<>());
  const auto shape = [](GrowParams& p) -> TreeShape& { return p.shape; };
  def_field(params, "num_leaves", shape, &TreeShape::num_leaves);
  def_field(params, "max_depth", shape, &TreeShape::max_depth);
  def_field(params, "depthwise", shape, &TreeShape::depthwise);
  def_field(params, "symmetric", shape, &TreeShape::symmetric);
  def_field(params, "prune_below", shape, &TreeShape::prune_below);
  const auto search = [](GrowParams& p) -> SplitSearch& { return p.search; };
  def_field(params, "extra_trees", search, &SplitSearch::extra_trees);
  def_field(params, "extra_key", search, &SplitSearch::extra_key);
  def_field(params, "column_key", search, &SplitSearch::column_key);
  def_field(params, "max_histogram_bytes", search, &SplitSearch::max_histogram_bytes);
  def_field(params, "copies_samples", search, &SplitSearch::copies_samples);
  def_field(params, "limits", search, &SplitSearch::limits, nb::arg().none());
  const auto rules = [](GrowParams& p) -> SplitRules& { return p.search.rules; };
  def_field(params, "lambda_l1", rules, &SplitRules::lambda_l1);
  def_field(params, "lambda_l2", rules, &SplitRules::lambda_l2);
  def_field(params, "min_gain_to_split", rules, &SplitRules::min_gain_to_split);
  def_field(params, "min_sum_hessian", rules, &SplitRules::min_sum_hessian);
  def_field(params, "min_data", rules, &SplitRules::min_data);
  def_field(params, "max_delta_step", rules, &SplitRules::max_delta_step);
  def_field(params, "path_smooth", rules, &SplitRules::path_smooth);
  def_field(params, "cat_l2", rules, &SplitRules::cat_l2);
  def_field(params, "cat_smooth", rules, &SplitRules::cat_smooth);
  def_field(params, "min_data_per_group", rules, &SplitRules::min_data_per_group);
  def_field(params, "max_cat_threshold", rules, &SplitRules::max_cat_threshold);
  def_field(params, "max_cat_to_onehot", rules, &SplitRules::max_cat_to_onehot);
  def_field(params, "l1_in_gain", rules, &SplitRules::l1_in_gain);
  const auto fractions = [](GrowParams& p) -> ColumnFractions& { return p.search.fractions; };
  def_field(params, "fraction_by_tree", fractions, &ColumnFractions::by_tree);
  def_field(params, "fraction_by_level", fractions, &ColumnFractions::by_level);
  def_field(params, "fraction_by_node", fractions, &ColumnFractions::by_node);
  const auto by_value = [](GrowParams& p) -> ValueSearch& { return p.by_value; };
  def_field(params, "sorted", by_value, &ValueSearch::sorted, nb::arg().none());
  def_field(params, "proposals", by_value, &ValueSearch::proposals, nb::arg().none());
  def_field(params, "local_eps", by_value, &ValueSearch::local_eps);
  def_field(params, "global_eps", by_value, &ValueSearch::global_eps);
  const auto values = [](GrowParams& p) -> LeafValues& { return p.values; };
  def_field(params, "learning_rate", values, &LeafValues::learning_rate);
  def_field(params, "value_unit", values, &LeafValues::value_unit);
  def_field(params, "damp_from", values, &LeafValues::damp_from);
  def_field(params, "refit", values, &LeafValues::refit);
  def_field(params, "refit_alpha", values, &LeafValues::refit_alpha);
  def_field(params, "refit_delta", values, &LeafValues::refit_delta);
  def_field(params, "linear_lambda", values, &LeafValues::linear_lambda);
  def_field(params, "linear_extrapolation", values, &LeafValues::linear_extrapolation);
  def_field(params, "linear_check", values, &LeafValues::linear_check);
  def_field(params, "linear_noise", values, &LeafValues::linear_noise);
  const auto monotone = [](GrowParams& p) -> MonotoneParams& { return p.monotone; };
  def_field(params, "monotone_directions", monotone, &MonotoneParams::direction);
  def_field(params, "monotone_penalty", monotone, &MonotoneParams::penalty);
  params.def_prop_rw(
      "monotone_method", [](const GrowParams& p) { return static_cast<int>(p.monotone.method); },
      [](GrowParams& p, int v) {
        if (v < 0 || v > 2) throw std::invalid_argument("unknown method of monotone constraints");
        p.monotone.method = static_cast<MonotoneMethod>(v);
      });

  nb::class_<Tree>(m, "Tree", "A grown tree; arrays are copies.")
      .def_prop_ro("n_leaves", &Tree::n_leaves)
      .def_ro("n_values", &Tree::n_values)
      .def_prop_ro("largest_value", &Tree::largest_value)
      .def_prop_ro(
          "linear", [](const Tree& tree) { return to_dict(tree.linear); }, "Arrays by name; None: none.")
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
      .def_prop_ro("category_begin", copy(&Tree::category_begin), nb::rv_policy::move)
      .def_prop_ro("category", copy(&Tree::category), nb::rv_policy::move)
      .def_prop_ro("leaf_value", copy(&Tree::leaf_value), nb::rv_policy::move)
      .def_prop_ro("leaf_weight", copy(&Tree::leaf_weight), nb::rv_policy::move)
      .def_prop_ro("leaf_count", copy(&Tree::leaf_count), nb::rv_policy::move);

  bind_grower(m);

  m.def("join_trees", &join_trees, "trees"_a,
        "The first leaf of each tree and the number of leaves, the arrays of all trees by name, and\n"
        "whether any tree is linear. None: one of them is not native.");
  m.def("make_tree", &make_tree, "matrix"_a, "arrays"_a, "n_values"_a, "by_value"_a = false,
        "A tree from its arrays by name. IndexError(node): the table's bins cannot express its\n"
        "test. With `by_value` nodes compare values instead.");
  m.def("add_tree_to_scores", &add_scores, "matrix"_a, "tree"_a, "rows"_a.noconvert().none(), "score"_a.noconvert(),
        "n_threads"_a, "values"_a.noconvert() = nb::none(), "raw"_a = nb::none(),
        "Adds the tree's values, or `values` (one or more per leaf), to the scores of rows.");
}

}  // namespace gossamer::bindings
