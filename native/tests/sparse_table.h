// What the tests of sparse data share: a table three ways (dense, compressed rows, compressed
// columns), the bins of its values by a plain loop, and ways to keep them.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/bin_bounds.h"
#include "core/bin_matrix.h"
#include "core/sparse_view.h"
#include "core/storage.h"
#include "support.h"

namespace gossamer::tests {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr MissingKind kMissingKinds[] = {MissingKind::nan, MissingKind::zero, MissingKind::nan_is_zero};

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::i16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::u16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::u32;
  return DType::u64;
}

inline std::uint16_t naive_bin(const Feature& f, double x) {
  const bool nan = x != x;
  if (f.missing_kind == MissingKind::nan && nan) return static_cast<std::uint16_t>(f.n_value_bins);
  if (f.missing_kind == MissingKind::zero && (nan || std::abs(x) <= kZero)) {
    return static_cast<std::uint16_t>(f.n_value_bins);
  }
  if (nan) x = 0.0;
  std::uint16_t b = 0;
  while (x > f.upper[b]) ++b;
  return b;
}

inline Feature make_feature(std::int32_t column, std::vector<double> upper, MissingKind kind) {
  Feature feature;
  feature.column = column;
  feature.n_value_bins = static_cast<std::int32_t>(upper.size());
  feature.missing_kind = kind;
  feature.upper = std::move(upper);
  return feature;
}

inline std::vector<std::uint16_t> column_of(const BinMatrix& matrix, std::size_t feature) {
  std::vector<std::uint16_t> bins(at(matrix.n_rows()));
  matrix.copy_column(static_cast<std::int64_t>(feature), bins.data());
  return bins;
}

// Values that can be looked at as a dense or a sparse matrix. Zeros are left out of the sparse ones,
// unless they are to be kept: then they are stored like any other value.
template <class T>
class Table {
 public:
  Table(std::int64_t n_rows, std::int64_t n_columns)
      : n_rows_(n_rows), n_columns_(n_columns), values_(at(n_rows * n_columns)), kept_(values_.size()) {}

  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t n_columns() const { return n_columns_; }
  T operator()(std::int64_t row, std::int64_t column) const { return values_[at(row * n_columns_ + column)]; }
  T& operator()(std::int64_t row, std::int64_t column) { return values_[at(row * n_columns_ + column)]; }
  void keep_zero(std::int64_t row, std::int64_t column) { kept_[at(row * n_columns_ + column)] = 1; }

  MatrixView dense() const { return {values_.data(), dtype_of<T>(), n_rows_, n_columns_, n_columns_, 1}; }

  // Views of what the table holds at the time of asking; each kind is good until it is asked for again.
  MatrixView dense_by_column() {
    fortran_.resize(values_.size());
    for (std::int64_t row = 0; row < n_rows_; ++row) {
      for (std::int64_t c = 0; c < n_columns_; ++c) fortran_[at(c * n_rows_ + row)] = (*this)(row, c);
    }
    return {fortran_.data(), dtype_of<T>(), n_rows_, n_columns_, 1, n_rows_};
  }
  SparseView by_row(bool wide_indices = false) { return compress(rows_, true, wide_indices); }
  SparseView by_column(bool wide_indices = false) { return compress(columns_, false, wide_indices); }

  std::vector<std::uint16_t> naive_bins(const Feature& feature) const {
    std::vector<std::uint16_t> bins;
    for (std::int64_t row = 0; row < n_rows_; ++row) {
      bins.push_back(naive_bin(feature, static_cast<double>((*this)(row, feature.column))));
    }
    return bins;
  }

 private:
  struct Compressed {
    std::vector<T> values;
    std::vector<std::int32_t> narrow;
    std::vector<std::int64_t> wide;
    std::vector<std::int32_t> begin;
    std::vector<std::int64_t> wide_begin;
  };

  SparseView compress(Compressed& c, bool by_row, bool wide_indices) const {
    c = {};
    c.begin.push_back(0);
    c.wide_begin.push_back(0);
    const std::int64_t n_slices = by_row ? n_rows_ : n_columns_;
    for (std::int64_t s = 0; s < n_slices; ++s) {
      for (std::int64_t i = 0; i < (by_row ? n_columns_ : n_rows_); ++i) {
        const std::int64_t row = by_row ? s : i;
        const std::int64_t column = by_row ? i : s;
        const T x = (*this)(row, column);
        if (x == T(0) && !kept_[at(row * n_columns_ + column)]) continue;
        c.values.push_back(x);
        c.narrow.push_back(static_cast<std::int32_t>(i));
        c.wide.push_back(i);
      }
      c.begin.push_back(static_cast<std::int32_t>(c.values.size()));
      c.wide_begin.push_back(c.begin.back());
    }
    SparseView view;
    view.values = c.values.data();
    view.dtype = dtype_of<T>();
    view.indices = wide_indices ? static_cast<const void*>(c.wide.data()) : c.narrow.data();
    view.wide_indices = wide_indices;
    view.begin = wide_indices ? static_cast<const void*>(c.wide_begin.data()) : c.begin.data();
    view.n_rows = n_rows_;
    view.n_columns = n_columns_;
    view.by_row = by_row;
    return view;
  }

  std::int64_t n_rows_;
  std::int64_t n_columns_;
  std::vector<T> values_;
  std::vector<char> kept_;
  std::vector<T> fortran_;
  Compressed rows_;
  Compressed columns_;
};

// Calls body(view) for every way to look at the table.
template <class T, class Body>
void for_views(Table<T>& table, const Body& body) {
  std::string view = "dense";
  CAPTURE(view);
  body(table.dense());
  view = "dense, by column";
  body(table.dense_by_column());
  for (const bool wide : {false, true}) {
    CAPTURE(wide);
    view = "compressed rows";
    body(table.by_row(wide));
    view = "compressed columns";
    body(table.by_column(wide));
  }
}

// A table of what the storage is made for, and features with the bins of its columns:
//   group_size columns of a one-hot encoding, n_groups times;
//   columns of several values, zero in most rows: some negative, some missing, explicit zeros too
//   (the first has one value in nearly half of the rows: too many for a packed cell);
//   full columns: one of many values, one with missing values, one without zeros.
struct Mixed {
  Table<float> table;
  std::vector<Feature> features;
  std::vector<std::vector<std::int32_t>> groups;  // features that exclude each other
  std::vector<std::int32_t> sparse;               // the other features that are zero in most rows
  std::vector<std::int32_t> full;

  std::int64_t n_rows() const { return table.n_rows(); }
};

struct MixedShape {
  std::int64_t n_rows = 1000;
  int n_groups = 3;
  int group_size = 6;
  int n_sparse = 7;
  int n_full = 3;
  MissingKind kind = MissingKind::nan;
  bool with_missing = true;
  int most_bins = 300;  // of a full column
};

inline Mixed make_mixed(const MixedShape& shape, std::uint64_t seed) {
  Random random(seed);
  const std::int64_t n_columns = shape.n_groups * shape.group_size + shape.n_sparse + shape.n_full;
  Mixed m{Table<float>(shape.n_rows, n_columns), {}, {}, {}, {}};
  std::int32_t column = 0;
  const auto add = [&](std::vector<double> upper) {
    upper.push_back(kInfinity);
    m.features.push_back(make_feature(column, std::move(upper), shape.kind));
    return column++;
  };
  for (int g = 0; g < shape.n_groups; ++g) {
    m.groups.emplace_back();
    // The last group has columns of several values.
    const bool many = g + 1 == shape.n_groups;
    for (int k = 0; k < shape.group_size; ++k) {
      m.groups.back().push_back(add(many ? std::vector<double>{-0.5, 0.5, 1.5} : std::vector<double>{0.5}));
    }
    for (std::int64_t row = 0; row < shape.n_rows; ++row) {
      const std::int64_t k = random.below(shape.group_size + 1);
      if (k == shape.group_size) continue;  // none of them
      m.table(row, m.groups.back()[at(k)]) = many ? static_cast<float>(random.below(3) * 1.5 - 1.0) : 1.0f;
    }
  }
  for (int s = 0; s < shape.n_sparse; ++s) {
    std::vector<double> upper;
    for (int b = 0; b < 1 + 4 * s; ++b) upper.push_back(b - (s % 2 == 0 ? -0.5 : 2.0 * s));
    const std::int32_t c = add(upper);
    m.sparse.push_back(c);
    for (std::int64_t row = 0; row < shape.n_rows; ++row) {
      if (random.chance(0.01)) m.table.keep_zero(row, c);
      if (!random.chance(s == 0 ? 0.45 : 0.05)) continue;
      const auto x = s == 0 ? 1.0f : static_cast<float>(random.below(4 * s + 2) - (s % 2 == 0 ? 0 : 2 * s));
      m.table(row, c) = shape.with_missing && s % 3 == 1 && random.chance(0.1) ? NAN : x;
    }
  }
  for (int f = 0; f < shape.n_full; ++f) {
    std::vector<double> upper;
    const int n_bins = f == 0 ? shape.most_bins : 10 + 20 * f;
    for (int b = 0; b + 1 < n_bins; ++b) upper.push_back(b - 4.5);
    const std::int32_t c = add(upper);
    m.full.push_back(c);
    for (std::int64_t row = 0; row < shape.n_rows; ++row) {
      const auto x = static_cast<float>(random.below(n_bins) - (f == 2 ? -1 : 5));
      m.table(row, c) = shape.with_missing && f == 1 && random.chance(0.1) ? NAN : x;
    }
  }
  return m;
}

struct NamedStorage {
  const char* name;
  Storage storage;
};

// Every way to keep such a table; bundles have no conflicts.
inline std::vector<NamedStorage> storages_of(const Mixed& m) {
  const auto join = [](std::vector<std::int32_t> a, const std::vector<std::int32_t>& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    return a;
  };
  std::vector<std::int32_t> grouped;
  for (const auto& group : m.groups) grouped = join(grouped, group);
  const auto last = m.groups.empty() ? std::vector<std::int32_t>{} : m.groups.back();
  std::vector<std::vector<std::int32_t>> all_but_last = m.groups;
  if (!all_but_last.empty()) all_but_last.pop_back();
  return {
      {"lanes", {false, {}, {}}},
      {"shared lanes", {true, {}, {}}},
      {"bundles", {false, m.groups, {}}},
      {"bundles in shared lanes", {true, m.groups, {}}},
      {"sparse columns", {false, {}, join(grouped, m.sparse)}},
      {"everything in sparse columns", {false, {}, join(join(grouped, m.sparse), m.full)}},
      {"bundles and sparse columns", {false, m.groups, m.sparse}},
      {"a bit of all", {true, all_but_last, join(last, {m.sparse.begin(), m.sparse.begin() + 2})}},
  };
}

// Training features are told whether they may miss: exactly, as from all rows.
inline std::vector<Feature> with_may_miss(const Mixed& m) {
  std::vector<Feature> features = m.features;
  for (Feature& f : features) {
    const auto bins = m.table.naive_bins(f);
    f.may_miss =
        f.missing_kind == MissingKind::zero || std::find(bins.begin(), bins.end(), f.n_value_bins) != bins.end();
  }
  return features;
}

template <class View>
std::shared_ptr<BinMatrix> fill_training(const Mixed& m, const Storage& storage, const View& view, int n_threads = 1) {
  auto matrix = std::make_shared<BinMatrix>(with_may_miss(m), m.n_rows(), storage);
  Team team(n_threads);
  REQUIRE(matrix->fill(team, view, Use::exact_training));
  return matrix;
}

// Every bin, and whether some row is missing, against the plain loop.
template <class T>
void check_bins(const BinMatrix& matrix, const Table<T>& table, bool is_training = true) {
  REQUIRE(matrix.n_rows() == table.n_rows());
  for (std::size_t f = 0; f < matrix.features().size(); ++f) {
    CAPTURE(f);
    const Feature& feature = matrix.features()[f];
    const auto expected = table.naive_bins(feature);
    CHECK(first_difference(column_of(matrix, f), expected) == -1);
    if (!is_training) continue;
    const bool missing = std::find(expected.begin(), expected.end(), feature.n_value_bins) != expected.end();
    CHECK(feature.has_missing == missing);
    CHECK(feature.may_miss >= feature.has_missing);
  }
}

}  // namespace gossamer::tests
