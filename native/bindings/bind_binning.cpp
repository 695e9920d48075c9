#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <limits>
#include <memory>

#include "bindings/arrays.h"
#include "core/bin_bounds.h"
#include "core/bin_matrix.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

auto find_bounds_py(const Matrix& matrix, const std::optional<In<std::int64_t>>& sample,
                    const In<std::int32_t>& max_bin, std::int64_t min_data_in_bin, bool use_missing,
                    bool zero_as_missing, int n_threads) {
  const MatrixView view = view_of(matrix);
  check_length(max_bin, view.n_columns, "max_bin");
  BinOptions options{to_vector(max_bin), min_data_in_bin, use_missing, zero_as_missing};
  std::vector<ColumnBounds> columns;
  {
    nb::gil_scoped_release release;
    TeamLease team(n_threads);
    std::span<const std::int64_t> rows;
    if (sample) rows = {sample->data(), sample->size()};
    for (const std::int64_t row : rows) {
      if (row < 0 || row >= view.n_rows) throw std::invalid_argument("sample row out of range");
    }
    columns = find_bounds(*team, view, rows, options);
  }
  std::vector<double> upper;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int8_t> missing;
  for (const ColumnBounds& column : columns) {
    upper.insert(upper.end(), column.upper.begin(), column.upper.end());
    offsets.push_back(static_cast<std::int64_t>(upper.size()));
    missing.push_back(column.missing_in_sample);
  }
  return nb::make_tuple(to_numpy(std::move(upper)), to_numpy(std::move(offsets)), to_numpy(std::move(missing)));
}

std::shared_ptr<BinMatrix> make_bin_matrix(const In<std::int32_t>& columns, const In<double>& upper,
                                           const In<std::int64_t>& offsets, int missing_kind, std::int64_t n_rows,
                                           const std::optional<In<std::int8_t>>& may_miss, bool share_lanes) {
  if (n_rows < 0 || n_rows >= std::numeric_limits<RowIdx>::max()) throw std::invalid_argument("too many rows");
  if (missing_kind < 0 || missing_kind > 2) throw std::invalid_argument("unknown missing kind");
  check_length(offsets, length(columns) + 1, "offsets");
  const std::int8_t* const may = data_or_null(may_miss, length(columns), "may_miss");
  std::vector<Feature> features;
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
    features.push_back(std::move(feature));
  }
  return std::make_shared<BinMatrix>(std::move(features), n_rows, share_lanes);
}

void fill(BinMatrix& self, const Matrix& matrix, bool find_missing, int n_threads) {
  const MatrixView view = view_of(matrix);
  if (view.n_rows != self.n_rows()) throw std::invalid_argument("the number of rows differs");
  for (const Feature& f : self.features()) {
    if (f.column < 0 || f.column >= view.n_columns) throw std::invalid_argument("column out of range");
  }
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  self.fill(*team, view, find_missing);
}

std::size_t checked_feature(const BinMatrix& self, std::int64_t feature) {
  if (feature < 0 || feature >= static_cast<std::int64_t>(self.features().size())) {
    throw nb::index_error("feature out of range");
  }
  return static_cast<std::size_t>(feature);
}

void set_column(BinMatrix& self, std::int64_t feature, const In<std::uint16_t>& bins) {
  const Feature& f = self.features()[checked_feature(self, feature)];
  check_length(bins, self.n_rows(), "bins");
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins(i) >= f.radix) throw std::invalid_argument("bin out of range");
  }
  nb::gil_scoped_release release;
  self.set_column(feature, {bins.data(), bins.size()});
}

}  // namespace

void bind_binning(nb::module_& m) {
  m.def("find_bounds", &find_bounds_py, "matrix"_a.noconvert(), "sample"_a.noconvert().none(), "max_bin"_a.noconvert(),
        "min_data_in_bin"_a, "use_missing"_a, "zero_as_missing"_a, "n_threads"_a,
        "Upper bin bounds of every column: (bounds, offsets, missing seen).");
  nb::class_<BinMatrix>(m, "BinMatrix", "A binned table.")
      .def(nb::new_(&make_bin_matrix), "columns"_a.noconvert(), "upper"_a.noconvert(), "offsets"_a.noconvert(),
           "missing_kind"_a, "n_rows"_a, "may_miss"_a.noconvert().none() = nb::none(), "share_lanes"_a = false)
      .def("fill", &fill, "matrix"_a.noconvert(), "find_missing"_a, "n_threads"_a)
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
          "set_has_missing",
          [](BinMatrix& self, const In<std::int8_t>& flags) {
            check_length(flags, static_cast<std::int64_t>(self.features().size()), "flags");
            for (std::size_t f = 0; f < flags.size(); ++f) self.features()[f].has_missing = flags(f) != 0;
          },
          "flags"_a.noconvert())
      .def_prop_ro("n_rows", &BinMatrix::n_rows)
      .def_prop_ro("n_features", [](const BinMatrix& self) { return self.features().size(); })
      .def_prop_ro("n_bytes", &BinMatrix::n_bytes);
}

}  // namespace gossamer::bindings
