#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>

#include "bindings/casters.h"
#include "bindings/sparse.h"
#include "core/bin_bounds.h"
#include "core/bin_matrix.h"
#include "core/categories.h"
#include "core/piece_binner.h"
#include "core/storage.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

// Bounds must be finite and increasing: bins are found by searching for them.
void check_forced(const std::vector<std::vector<double>>& forced, std::int64_t n_columns) {
  if (static_cast<std::int64_t>(forced.size()) != n_columns) throw std::invalid_argument("forced: one list per column");
  for (const auto& bounds : forced) {
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      if (!std::isfinite(bounds[i]) || (i > 0 && !(bounds[i - 1] < bounds[i]))) {
        throw std::invalid_argument("forced bounds must be finite and increasing");
      }
    }
  }
}

template <class View>
auto find_bounds_in(const View& view, const std::optional<In<std::int64_t>>& sample, const In<std::int32_t>& max_bin,
                    const std::vector<std::vector<double>>& forced, std::int64_t min_data_in_bin, bool use_missing,
                    bool zero_as_missing, int n_threads, const std::optional<In<float>>& weight) {
  check_length(max_bin, view.n_columns, "max_bin");
  const float* const weights = data_or_null(weight, view.n_rows, "weight");
  BinOptions options{to_vector(max_bin), min_data_in_bin, use_missing, zero_as_missing, forced};
  if (!forced.empty()) check_forced(forced, view.n_columns);
  std::vector<ColumnBounds> columns;
  {
    nb::gil_scoped_release release;
    TeamLease team(n_threads);
    std::span<const std::int64_t> rows;
    if (sample) rows = {sample->data(), sample->size()};
    for (const std::int64_t row : rows) {
      if (row < 0 || row >= view.n_rows) throw std::invalid_argument("sample row out of range");
    }
    if (weights != nullptr) options.weights = integer_weights({weights, static_cast<std::size_t>(view.n_rows)});
    columns = find_bounds(*team, view, rows, options);
  }
  std::vector<double> upper;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int8_t> missing;
  std::vector<double> zero_share;
  for (const ColumnBounds& column : columns) {
    upper.insert(upper.end(), column.upper.begin(), column.upper.end());
    offsets.push_back(static_cast<std::int64_t>(upper.size()));
    missing.push_back(column.missing_in_sample);
    zero_share.push_back(column.zero_share);
  }
  return nb::make_tuple(to_numpy(std::move(upper)), to_numpy(std::move(offsets)), to_numpy(std::move(missing)),
                        to_numpy(std::move(zero_share)));
}

auto find_bounds_dense(const Matrix& matrix, const std::optional<In<std::int64_t>>& sample,
                       const In<std::int32_t>& max_bin, const std::vector<std::vector<double>>& forced,
                       std::int64_t min_data_in_bin, bool use_missing, bool zero_as_missing, int n_threads,
                       const std::optional<In<float>>& weight) {
  return find_bounds_in(view_of(matrix), sample, max_bin, forced, min_data_in_bin, use_missing, zero_as_missing,
                        n_threads, weight);
}

auto find_bounds_sparse(const PySparse& matrix, const std::optional<In<std::int64_t>>& sample,
                        const In<std::int32_t>& max_bin, const std::vector<std::vector<double>>& forced,
                        std::int64_t min_data_in_bin, bool use_missing, bool zero_as_missing, int n_threads,
                        const std::optional<In<float>>& weight) {
  check_canonical(matrix);
  return find_bounds_in(matrix.view, sample, max_bin, forced, min_data_in_bin, use_missing, zero_as_missing, n_threads,
                        weight);
}

// `category` has an entry per bound, see Feature; all are -1 for numeric features.
std::vector<Feature> make_features(const In<std::int32_t>& columns, const In<double>& upper,
                                   const In<std::int64_t>& offsets, int missing_kind,
                                   const std::optional<In<std::int8_t>>& may_miss,
                                   const std::optional<In<std::int32_t>>& category) {
  if (missing_kind < 0 || missing_kind > 2) throw std::invalid_argument("unknown missing kind");
  check_length(offsets, length(columns) + 1, "offsets");
  const std::int8_t* const may = data_or_null(may_miss, length(columns), "may_miss");
  const std::int32_t* const categories = data_or_null(category, length(upper), "category");
  std::vector<Feature> features;
  features.reserve(columns.size());
  for (std::int64_t f = 0; f < length(columns); ++f) {
    const std::int64_t begin = offsets(static_cast<std::size_t>(f));
    const std::int64_t end = offsets(static_cast<std::size_t>(f) + 1);
    if (begin < 0 || begin >= end || end > length(upper) || end - begin > 65535) {
      throw std::invalid_argument("offsets are not increasing within the bounds");
    }
    Feature feature;
    feature.column = columns(static_cast<std::size_t>(f));
    feature.n_value_bins = static_cast<std::int32_t>(end - begin);
    feature.missing_kind = static_cast<MissingKind>(missing_kind);
    feature.may_miss = may == nullptr || may[f] != 0;
    feature.upper.assign(upper.data() + begin, upper.data() + end);
    // Every search for a bin must end at the last bound.
    if (feature.upper.back() != std::numeric_limits<double>::infinity()) {
      throw std::invalid_argument("the last bound is not infinity");
    }
    if (categories != nullptr &&
        std::any_of(categories + begin, categories + end, [](std::int32_t c) { return c >= 0; })) {
      feature.category.assign(categories + begin, categories + end);
    }
    features.push_back(std::move(feature));
  }
  return features;
}

void check_rows(std::int64_t n_rows) {
  if (n_rows < 0 || n_rows >= std::numeric_limits<RowIdx>::max()) throw std::invalid_argument("too many rows");
}

void check_columns(const std::vector<Feature>& features, std::int64_t n_columns) {
  for (const Feature& f : features) {
    if (f.column < 0 || f.column >= n_columns) throw std::invalid_argument("column out of range");
  }
}

nb::dict to_dict(const StorageReport& report) {
  nb::dict d;
  d["candidates"] = report.n_candidates;
  d["conflicts"] = report.n_conflicts;
  d["order"] = static_cast<int>(report.order);
  d["seconds"] = report.seconds;
  return d;
}

StorageOptions make_options(bool share_lanes, bool bundle, bool sparse, double max_conflict_rate, int order,
                            std::pair<double, double> costs) {
  if (order < 0 || order > 3) throw std::invalid_argument("unknown order");
  return {share_lanes, bundle, sparse, max_conflict_rate, static_cast<BundleOrder>(order), costs.first, costs.second};
}

auto bin_dense(const Matrix& matrix, const In<std::int32_t>& columns, const In<double>& upper,
               const In<std::int64_t>& offsets, int missing_kind, const std::optional<In<std::int8_t>>& may_miss,
               const In<double>& zero_share, const std::optional<In<std::int32_t>>& category, bool share_lanes,
               bool bundle, bool sparse, double max_conflict_rate, int order, std::pair<double, double> costs,
               int n_threads) {
  const MatrixView view = view_of(matrix);
  auto features = make_features(columns, upper, offsets, missing_kind, may_miss, category);
  check_rows(view.n_rows);
  check_columns(features, view.n_columns);
  check_length(zero_share, length(columns), "zero_share");
  StorageReport report;
  std::shared_ptr<BinMatrix> result;
  {
    nb::gil_scoped_release release;
    TeamLease team(n_threads);
    result = bin_training(*team, view, std::move(features), to_vector(zero_share),
                          make_options(share_lanes, bundle, sparse, max_conflict_rate, order, costs), report);
  }
  return nb::make_tuple(result, to_dict(report));
}

auto bin_sparse(const PySparse& matrix, const In<std::int32_t>& columns, const In<double>& upper,
                const In<std::int64_t>& offsets, int missing_kind, const std::optional<In<std::int32_t>>& category,
                bool share_lanes, bool bundle, bool sparse, double max_conflict_rate, int order,
                std::pair<double, double> costs, int n_threads) {
  check_canonical(matrix);
  auto features = make_features(columns, upper, offsets, missing_kind, {}, category);
  check_columns(features, matrix.view.n_columns);
  StorageReport report;
  std::shared_ptr<BinMatrix> result;
  {
    nb::gil_scoped_release release;
    TeamLease team(n_threads);
    result = bin_training(*team, matrix.view, std::move(features),
                          make_options(share_lanes, bundle, sparse, max_conflict_rate, order, costs), report);
  }
  return nb::make_tuple(result, to_dict(report));
}

template <class View>
std::shared_ptr<BinMatrix> bin_like(const BinMatrix& training, const View& view, int n_threads) {
  check_rows(view.n_rows);
  check_columns(training.features(), view.n_columns);
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  auto result = make_like(training, view.n_rows);
  result->fill(*team, view, Use::other);
  return result;
}

// Bundles as one list of features and where each bundle ends.
std::shared_ptr<BinMatrix> make_bin_matrix(const In<std::int32_t>& columns, const In<double>& upper,
                                           const In<std::int64_t>& offsets, int missing_kind, std::int64_t n_rows,
                                           const std::optional<In<std::int8_t>>& may_miss,
                                           const std::optional<In<std::int32_t>>& category, bool share_lanes,
                                           const std::optional<In<std::int32_t>>& bundled,
                                           const std::optional<In<std::int64_t>>& bundle_ends,
                                           const std::optional<In<std::int32_t>>& loose,
                                           const std::optional<In<double>>& zero_share) {
  check_rows(n_rows);
  Storage storage{share_lanes, {}, {}};
  if (bundled && bundle_ends) {
    std::int64_t begin = 0;
    for (std::size_t b = 0; b < bundle_ends->size(); ++b) {
      const std::int64_t end = (*bundle_ends)(b);
      if (end <= begin || end > length(*bundled)) throw std::invalid_argument("bundles are not increasing");
      storage.bundles.emplace_back(bundled->data() + begin, bundled->data() + end);
      begin = end;
    }
  }
  if (loose) storage.loose = to_vector(*loose);
  if (zero_share) storage.zero_share = to_vector(*zero_share);
  auto features = make_features(columns, upper, offsets, missing_kind, may_miss, category);
  for (Feature& feature : features) feature.zero_bin = find_zero_bin(feature);
  return std::make_shared<BinMatrix>(std::move(features), n_rows, std::move(storage));
}

nb::dict storage(const BinMatrix& self) {
  std::vector<std::int32_t> bundled;
  std::vector<std::int64_t> bundle_ends;
  for (const auto& bundle : self.storage().bundles) {
    bundled.insert(bundled.end(), bundle.begin(), bundle.end());
    bundle_ends.push_back(static_cast<std::int64_t>(bundled.size()));
  }
  std::vector<std::int8_t> may_miss;
  for (const Feature& f : self.features()) may_miss.push_back(f.may_miss);
  nb::dict d;
  d["bundled"] = to_numpy(std::move(bundled));
  d["bundle_ends"] = to_numpy(std::move(bundle_ends));
  d["loose"] = to_numpy(std::vector<std::int32_t>(self.storage().loose));
  d["may_miss"] = to_numpy(std::move(may_miss));
  d["zero_share"] = to_numpy(std::vector<double>(self.storage().zero_share));
  return d;
}

// Not every function can work page by page.
template <class M>
M& in_memory(M& matrix) {
  if (matrix.pages() != nullptr) throw std::invalid_argument("the bins of this table are on disk, not in memory");
  return matrix;
}

nb::dict describe(const BinMatrix& self) {
  std::int64_t n_lanes8 = 0, n_lanes16 = 0, lane_bytes = 0;
  for (const Group& group : self.groups()) {
    (group.two_bytes ? n_lanes16 : n_lanes8) += group.n_lanes;
    lane_bytes += self.n_rows() * group.row_stride * (group.two_bytes ? 2 : 1);
  }
  nb::dict d;
  d["lanes_of_one_byte"] = n_lanes8;
  d["lanes_of_two_bytes"] = n_lanes16;
  d["cells"] = self.n_cells();
  d["bytes_in_lanes"] = lane_bytes;
  d["bytes_in_sparse_columns"] = self.sparse().n_bytes();
  d["sparse_entries"] = self.sparse().n_entries();
  d["values_dropped"] = self.n_dropped();
  return d;
}

auto copy_sparse(const BinMatrix& self) {
  SparseColumns columns;
  {
    nb::gil_scoped_release release;
    columns = in_memory(self).copy_sparse();
  }
  std::vector<RowIdx> rows(columns.rows.data(), columns.rows.data() + columns.rows.size());
  std::vector<std::uint16_t> bins(columns.bins.data(), columns.bins.data() + columns.bins.size());
  return nb::make_tuple(to_numpy(std::move(columns.features)), to_numpy(std::move(columns.begin)),
                        to_numpy(std::move(rows)), to_numpy(std::move(bins)));
}

void set_sparse(BinMatrix& self, const In<std::int32_t>& features, const In<std::int64_t>& begin,
                const In<RowIdx>& rows, const In<std::uint16_t>& bins) {
  check_length(begin, length(features) + 1, "begin");
  check_length(bins, length(rows), "bins");
  SparseColumns columns;
  columns.features = to_vector(features);
  columns.begin = to_vector(begin);
  if (columns.begin.front() != 0 || columns.begin.back() != length(rows)) {
    throw std::invalid_argument("begin does not cover the entries");
  }
  if (!std::is_sorted(columns.begin.begin(), columns.begin.end())) throw std::invalid_argument("begin decreases");
  std::int32_t last_feature = -1;
  for (std::size_t c = 0; c < columns.features.size(); ++c) {
    const std::int32_t f = columns.features[c];
    if (f <= last_feature || f >= static_cast<std::int32_t>(self.features().size())) {
      throw std::invalid_argument("features are not increasing, or out of range");
    }
    last_feature = f;
    const Feature& feature = self.features()[static_cast<std::size_t>(f)];
    if (!feature.bundled && !feature.loose()) throw std::invalid_argument("the feature is not kept as entries");
    std::int64_t last_row = -1;
    for (std::int64_t e = columns.begin[c]; e < columns.begin[c + 1]; ++e) {
      const auto i = static_cast<std::size_t>(e);
      const bool is_bin = bins(i) <= feature.n_value_bins && bins(i) != feature.zero_bin;
      if (rows(i) <= last_row || rows(i) >= self.n_rows() || !is_bin) {
        throw std::invalid_argument("an entry is out of range or out of order");
      }
      last_row = rows(i);
    }
  }
  columns.rows.reset(length(rows));
  columns.bins.reset(length(bins));
  std::copy_n(rows.data(), rows.size(), columns.rows.data());
  std::copy_n(bins.data(), bins.size(), columns.bins.data());
  nb::gil_scoped_release release;
  in_memory(self).set_sparse(columns);
}

std::shared_ptr<BinMatrix> take_rows(const BinMatrix& self, const In<RowIdx>& rows, int n_threads, bool as_sample) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::int64_t>(rows(i)) >= self.n_rows()) throw std::invalid_argument("row out of range");
  }
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  auto result = std::make_shared<BinMatrix>(self.features(), length(rows), self.storage());
  result->fill_from(*team, self, {rows.data(), rows.size()});
  for (std::size_t f = 0; as_sample && f < self.features().size(); ++f) {
    result->features()[f].has_missing = self.features()[f].has_missing;
  }
  return result;
}

struct PyPieceBinner {
  std::shared_ptr<BinMatrix> like;
  PieceBinner binner;
  std::mutex mutex;

  PyPieceBinner(std::shared_ptr<BinMatrix> rows, std::int64_t n_rows)
      : like((check_rows(n_rows), std::move(rows))), binner(*like, n_rows) {}

  template <class View>
  void add(const View& view, int n_threads) {
    check_columns(like->features(), view.n_columns);
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex);
    TeamLease team(n_threads);
    binner.add(*team, view);
  }

  std::shared_ptr<BinMatrix> finish() {
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex);
    return binner.finish();
  }
};

std::shared_ptr<BinMatrix> beside(const BinMatrix& self, const BinMatrix& right, std::int32_t first_column,
                                  int n_threads) {
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  return put_beside(*team, in_memory(self), in_memory(right), first_column);
}

std::size_t checked_feature(const BinMatrix& self, std::int64_t feature) {
  if (feature < 0 || feature >= static_cast<std::int64_t>(self.features().size())) {
    throw nb::index_error("feature out of range");
  }
  return static_cast<std::size_t>(feature);
}

void set_totals(BinMatrix& self, const In<std::int8_t>& has_missing, const In<std::int64_t>& entry_counts) {
  const auto n = static_cast<std::int64_t>(self.features().size());
  check_length(has_missing, n, "has_missing");
  check_length(entry_counts, n, "entry_counts");
  for (std::size_t f = 0; f < self.features().size(); ++f) {
    Feature& feature = self.features()[f];
    if (feature.has_missing && has_missing(f) == 0) throw std::invalid_argument("has_missing contradicts the rows");
    feature.has_missing = has_missing(f) != 0;
  }
  self.set_entry_counts(to_vector(entry_counts));
}

void set_column(BinMatrix& self, std::int64_t feature, const In<std::uint16_t>& bins) {
  const Feature& f = self.features()[checked_feature(self, feature)];
  check_length(bins, self.n_rows(), "bins");
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins(i) >= f.n_bins()) throw std::invalid_argument("bin out of range");
  }
  nb::gil_scoped_release release;
  in_memory(self).set_column(feature, {bins.data(), bins.size()});
}

template <class View>
nb::list count_categories_in(const View& view, const In<std::int32_t>& columns, int n_threads) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns(i) < 0 || columns(i) >= view.n_columns) throw std::invalid_argument("column out of range");
  }
  std::vector<CategoryCounts> counts;
  {
    nb::gil_scoped_release release;
    TeamLease team(n_threads);
    counts = count_categories(*team, view, {columns.data(), columns.size()});
  }
  nb::list found;
  for (CategoryCounts& c : counts) {
    found.append(nb::make_tuple(to_numpy(std::move(c.categories)), to_numpy(std::move(c.counts)), c.n_missing,
                                c.has_odd ? nb::cast(c.odd) : nb::none()));
  }
  return found;
}

}  // namespace

void bind_binning(nb::module_& m) {
  constexpr const char* kFindBounds = "Upper bin bounds of every column: (bounds, offsets, missing seen, zero share).";
  m.def("find_bounds", &find_bounds_sparse, "matrix"_a, "sample"_a.noconvert().none(), "max_bin"_a.noconvert(),
        "forced"_a, "min_data_in_bin"_a, "use_missing"_a, "zero_as_missing"_a, "n_threads"_a,
        "weight"_a.noconvert() = nb::none(), kFindBounds);
  m.def("find_bounds", &find_bounds_dense, "matrix"_a.noconvert(), "sample"_a.noconvert().none(),
        "max_bin"_a.noconvert(), "forced"_a, "min_data_in_bin"_a, "use_missing"_a, "zero_as_missing"_a, "n_threads"_a,
        "weight"_a.noconvert() = nb::none(), kFindBounds);
  constexpr const char* kCountCategories =
      "For each column: (categories, how often each, missing values, a value that is not a category).";
  m.def(
      "count_categories",
      [](const PySparse& matrix, const In<std::int32_t>& columns, int n_threads) {
        check_canonical(matrix);
        return count_categories_in(matrix.view, columns, n_threads);
      },
      "matrix"_a, "columns"_a.noconvert(), "n_threads"_a, kCountCategories);
  m.def(
      "count_categories",
      [](const Matrix& matrix, const In<std::int32_t>& columns, int n_threads) {
        return count_categories_in(view_of(matrix), columns, n_threads);
      },
      "matrix"_a.noconvert(), "columns"_a.noconvert(), "n_threads"_a, kCountCategories);
  m.def("bin_dense", &bin_dense, "matrix"_a.noconvert(), "columns"_a.noconvert(), "upper"_a.noconvert(),
        "offsets"_a.noconvert(), "missing_kind"_a, "may_miss"_a.noconvert().none(), "zero_share"_a.noconvert(),
        "category"_a.noconvert().none(), "share_lanes"_a, "bundle"_a, "sparse"_a, "max_conflict_rate"_a, "order"_a,
        "costs"_a, "n_threads"_a, "Training data: (binned table, how its storage was chosen).");
  m.def("bin_sparse", &bin_sparse, "matrix"_a, "columns"_a.noconvert(), "upper"_a.noconvert(), "offsets"_a.noconvert(),
        "missing_kind"_a, "category"_a.noconvert().none(), "share_lanes"_a, "bundle"_a, "sparse"_a,
        "max_conflict_rate"_a, "order"_a, "costs"_a, "n_threads"_a,
        "Training data: (binned table, how its storage was chosen).");
  m.def(
      "bin_like",
      [](const BinMatrix& training, const PySparse& matrix, int n_threads) {
        check_canonical(matrix);
        return bin_like(training, matrix.view, n_threads);
      },
      "training"_a, "matrix"_a, "n_threads"_a, "Other data in the bins of training data.");
  m.def(
      "bin_like",
      [](const BinMatrix& training, const Matrix& matrix, int n_threads) {
        return bin_like(training, view_of(matrix), n_threads);
      },
      "training"_a, "matrix"_a.noconvert(), "n_threads"_a, "Other data in the bins of training data.");
  nb::class_<BinMatrix>(m, "BinMatrix", nb::is_weak_referenceable(), "A binned table.")
      .def(nb::new_(&make_bin_matrix), "columns"_a.noconvert(), "upper"_a.noconvert(), "offsets"_a.noconvert(),
           "missing_kind"_a, "n_rows"_a, "may_miss"_a.noconvert().none() = nb::none(),
           "category"_a.noconvert().none() = nb::none(), "share_lanes"_a = false,
           "bundled"_a.noconvert().none() = nb::none(), "bundle_ends"_a.noconvert().none() = nb::none(),
           "loose"_a.noconvert().none() = nb::none(), "zero_share"_a.noconvert().none() = nb::none())
      .def("storage", &storage, "How features are kept: bundled, bundle_ends, loose, may_miss, zero_share.")
      .def("describe", &describe, "Figures about the storage.")
      .def("copy_sparse", &copy_sparse,
           "Entries of features in bundles and sparse columns: features, begin, rows, bins.")
      .def("set_sparse", &set_sparse, "features"_a.noconvert(), "begin"_a.noconvert(), "rows"_a.noconvert(),
           "bins"_a.noconvert())
      .def(
          "hide",
          [](BinMatrix& self, std::int64_t feature) { self.features()[checked_feature(self, feature)].hidden = true; },
          "feature"_a, "No tree will split on the feature.")
      .def(
          "set_l2",
          [](BinMatrix& self, std::int64_t feature, double l2) {
            if (!(l2 >= 0.0 && l2 <= std::numeric_limits<double>::max()))
              throw std::invalid_argument("l2 must be >= 0");
            self.features()[checked_feature(self, feature)].l2 = l2;
          },
          "feature"_a, "l2"_a, "Adds to lambda_l2 in splits on the feature.")
      .def_prop_ro("is_trainable", &BinMatrix::is_trainable)
      .def(
          "make_trainable",
          [](const BinMatrix& self) {
            nb::gil_scoped_release release;
            return make_trainable(in_memory(self));
          },
          "The same table, stored so that it can be trained on.")
      .def("take_rows", &take_rows, "rows"_a.noconvert(), "n_threads"_a, "as_sample"_a = false,
           "Some rows, in memory. `as_sample`: features are missing where they are in the whole table.")
      .def("beside", &beside, "right"_a, "first_column"_a, "n_threads"_a,
           "One table with the features of both; column c of the other becomes first_column + c.")
      .def(
          "copy_column",
          [](const BinMatrix& self, std::int64_t feature) {
            checked_feature(self, feature);
            std::vector<std::uint16_t> bins(static_cast<std::size_t>(self.n_rows()));
            self.copy_column(feature, bins.data());
            return to_numpy(std::move(bins));
          },
          "feature"_a)
      .def("set_column", &set_column, "feature"_a, "bins"_a.noconvert())
      .def("has_missing",
           [](const BinMatrix& self) {
             std::vector<std::int8_t> flags;
             for (const Feature& f : self.features()) flags.push_back(f.has_missing);
             return to_numpy(std::move(flags));
           })
      .def(
          "entry_counts",
          [](const BinMatrix& self) {
            std::vector<std::int64_t> counts;
            for (std::size_t f = 0; f < self.features().size(); ++f) {
              counts.push_back(self.entry_count(static_cast<std::int32_t>(f)));
            }
            return to_numpy(std::move(counts));
          },
          "Entries of each feature in sparse columns.")
      .def("set_totals", &set_totals, "has_missing"_a.noconvert(), "entry_counts"_a.noconvert(),
           "The table is a shard of the rows: what features have in all shards.")
      .def(
          "find_missing", [](BinMatrix& self) { in_memory(self).find_missing(); },
          nb::call_guard<nb::gil_scoped_release>(), "To be called after set_column and set_sparse.")
      .def("is_sharing",
           [](const BinMatrix& self) {
             std::vector<std::int8_t> flags;
             for (const Feature& f : self.features()) flags.push_back(f.shared && !f.bundled);
             return to_numpy(std::move(flags));
           })
      .def_prop_ro("shares_lanes", [](const BinMatrix& self) { return self.storage().share_lanes; })
      .def_prop_ro("n_rows", &BinMatrix::n_rows)
      .def_prop_ro("n_features", [](const BinMatrix& self) { return self.features().size(); })
      .def_prop_ro("n_bytes", &BinMatrix::n_bytes)
      .def_prop_ro(
          "row_bytes",
          [](const BinMatrix& self) {
            std::int64_t bytes = 0;
            for (const Group& group : self.groups()) bytes += group.row_stride * (group.two_bytes ? 2 : 1);
            return bytes;
          },
          "Bytes of a row in lanes.")
      .def_prop_ro("n_cells", [](const BinMatrix& self) { return self.n_cells(); }, "Cells of a histogram.");
  nb::class_<PyPieceBinner>(m, "PieceBinner", "Bins a table that arrives in pieces of rows.")
      .def(nb::init<std::shared_ptr<BinMatrix>, std::int64_t>(), "like"_a, "n_rows"_a)
      .def(
          "add",
          [](PyPieceBinner& self, const PySparse& rows, int n_threads) {
            check_canonical(rows);
            self.add(rows.view, n_threads);
          },
          "rows"_a, "n_threads"_a, "The next rows.")
      .def(
          "add", [](PyPieceBinner& self, const Matrix& rows, int n_threads) { self.add(view_of(rows), n_threads); },
          "rows"_a.noconvert(), "n_threads"_a)
      .def("finish", &PyPieceBinner::finish, "The whole table.");
}

}  // namespace gossamer::bindings
