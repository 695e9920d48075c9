#include "core/sorted_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/bin_bounds.h"
#include "core/index.h"
#include "core/radix_sort.h"

namespace gossamer {
namespace {

template <class Key>
struct Item {
  Key key;
  RowIdx row;
};

enum class Kind { value, missing, zero };

// The value of a feature for a number of the table; -0 becomes 0.
Kind kind_of(double& x, MissingKind missing) {
  if (std::isnan(x)) {
    if (missing != MissingKind::nan_is_zero) return Kind::missing;
    x = 0.0;
  }
  if (missing == MissingKind::zero && std::abs(x) <= kZero) return Kind::missing;
  x += 0.0;
  return x == 0.0 ? Kind::zero : Kind::value;
}

// Integers of up to 16 bits and floats fit a float.
template <class T>
using SortValue = std::conditional_t<(sizeof(T) <= 2 || std::is_same_v<T, float>), float, double>;

// The numbers of one column that are in the table, one after another.
template <class T>
struct ColumnOf {
  std::vector<T> values;
  std::vector<RowIdx> rows;
};

// Compressed rows, column by column: rows increase.
template <class T, class Index>
std::vector<ColumnOf<T>> gather_columns(const SparseView& view, TypedSparse<T, Index> matrix,
                                        const std::vector<Feature>& features) {
  std::vector<std::int32_t> feature_of(at(view.n_columns), -1);
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (!features[f].is_categorical()) feature_of[at(features[f].column)] = static_cast<std::int32_t>(f);
  }
  std::vector<std::int64_t> counts(features.size(), 0);
  for (std::int64_t s = 0; view.by_row && s < view.n_slices(); ++s) {
    std::int64_t column = -1;
    for (std::int64_t e = matrix.begin[s]; e < matrix.begin[s + 1]; ++e) {
      column = matrix.index(e, column);
      if (feature_of[at(column)] >= 0) ++counts[at(feature_of[at(column)])];
    }
  }
  std::vector<ColumnOf<T>> columns(features.size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    columns[f].values.reserve(at(counts[f]));
    columns[f].rows.reserve(at(counts[f]));
  }
  for (std::int64_t s = 0; s < view.n_slices(); ++s) {
    if (!view.by_row && feature_of[at(s)] < 0) continue;
    std::int64_t index = -1;
    for (std::int64_t e = matrix.begin[s]; e < matrix.begin[s + 1]; ++e) {
      index = matrix.index(e, index);
      const std::int32_t f = feature_of[at(view.by_row ? index : s)];
      if (f < 0) continue;
      columns[at(f)].values.push_back(matrix.values[e]);
      columns[at(f)].rows.push_back(static_cast<RowIdx>(view.by_row ? s : index));
    }
  }
  return columns;
}

// Sorts the values of a column that `visit(emit)` emits, and checks whether the feature's bins hold one value each.
template <class Value, class Visit>
void sort_one(const Feature& feature, SortedColumn& out, std::vector<double>& bin_values, const Visit& visit) {
  using Key = decltype(ordered_key(Value{}));
  std::vector<Item<Key>> items;
  std::vector<RowIdx> missing;
  visit([&](RowIdx row, double x) {
    const Kind kind = kind_of(x, feature.missing_kind);
    if (kind == Kind::missing) {
      missing.push_back(row);
    } else if (kind == Kind::value || !out.rest_is_zero) {
      items.push_back({ordered_key(static_cast<Value>(x)), row});
    }
  });
  radix_sort(items, [](const Item<Key>& item) { return item.key; });

  // One value per bin: the next value is always above the bound of the bin before.
  const auto value_of = [&](std::size_t i) { return static_cast<double>(key_value(items[i].key)); };
  std::vector<double> values(at(feature.n_value_bins), std::numeric_limits<double>::quiet_NaN());
  bool one_each = true;
  std::int64_t bin = -1;
  double seen = 0.0;
  const auto see = [&](double value) {
    if (!one_each || (bin >= 0 && value == seen)) return;
    const std::int64_t last = bin;
    bin = std::max<std::int64_t>(bin, 0);
    while (feature.upper[at(bin)] < value) ++bin;
    one_each = bin > last;
    values[at(bin)] = seen = value;
  };
  bool zero_seen = !out.rest_is_zero;
  for (std::size_t i = 0; i < items.size() && one_each; ++i) {
    if (!zero_seen && value_of(i) > 0.0) {
      zero_seen = true;
      see(0.0);
    }
    see(value_of(i));
  }
  if (!zero_seen) see(0.0);
  if (one_each) {
    bin_values = std::move(values);
    return;
  }
  out.n_values = static_cast<std::int64_t>(items.size());
  const std::int64_t n_missing = out.rest_is_zero ? static_cast<std::int64_t>(missing.size()) : 0;
  out.entries.reset(out.n_values + n_missing);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool is_new = i == 0 || items[i].key != items[i - 1].key;
    out.entries[static_cast<std::int64_t>(i)] = items[i].row | (is_new ? kNewValue : 0);
    out.n_low += out.rest_is_zero && value_of(i) < 0.0;
  }
  for (std::int64_t i = 0; i < n_missing; ++i) out.entries[out.n_values + i] = missing[at(i)];
}

}  // namespace

SortedTable sort_columns(Team& team, const RawTable& raw, const std::vector<Feature>& features) {
  const auto n = static_cast<std::int64_t>(features.size());
  std::vector<SortedColumn> columns(features.size());
  SortedTable table;
  table.raw = raw;
  table.bin_values.resize(features.size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    columns[f].feature = static_cast<std::int32_t>(f);
    columns[f].column = features[f].column;
    columns[f].missing_kind = features[f].missing_kind;
    columns[f].rest_is_zero = raw.is_sparse && features[f].missing_kind != MissingKind::zero;
  }
  if (raw.is_sparse) {
    visit(raw.sparse, [&]<class T, class Index>(TypedSparse<T, Index> matrix) {
      auto gathered = gather_columns(raw.sparse, matrix, features);
      team.for_each(n, [&](std::int64_t f, int) {
        if (features[at(f)].is_categorical()) return;
        ColumnOf<T> own = std::move(gathered[at(f)]);
        sort_one<SortValue<T>>(features[at(f)], columns[at(f)], table.bin_values[at(f)], [&](const auto& emit) {
          for (std::size_t i = 0; i < own.rows.size(); ++i) emit(own.rows[i], static_cast<double>(own.values[i]));
        });
      });
    });
  } else {
    visit_few(raw.dense, [&]<class T>(TypedView<T> view) {
      team.for_each(n, [&](std::int64_t f, int) {
        if (features[at(f)].is_categorical()) return;
        const std::int32_t column = features[at(f)].column;
        sort_one<SortValue<T>>(features[at(f)], columns[at(f)], table.bin_values[at(f)], [&](const auto& emit) {
          for (std::int64_t r = 0; r < raw.dense.n_rows; ++r) {
            emit(static_cast<RowIdx>(r), static_cast<double>(view(r, column)));
          }
        });
      });
    });
  }
  table.place_of.assign(features.size(), -1);
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (features[f].is_categorical() || !table.bin_values[f].empty()) continue;
    table.place_of[f] = static_cast<std::int32_t>(table.columns.size());
    table.columns.push_back(std::move(columns[f]));
  }
  return table;
}

double SortedTable::value(const SortedColumn& column, SortedEntry entry) const {
  const auto row = static_cast<std::int64_t>(entry & ~kNewValue);
  double x = visit(raw, [&](const auto& read) { return read(row, column.column); });
  kind_of(x, column.missing_kind);
  return x;
}

std::int64_t SortedTable::places_up_to(const SortedColumn& column, double limit) const {
  std::int64_t first = 0;
  std::int64_t last = column.n_values;
  while (first < last) {
    const std::int64_t middle = first + (last - first) / 2;
    if (value(column, column.entries[middle]) <= limit) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first + (column.rest_is_zero && limit >= 0.0);
}

std::int64_t SortedTable::n_bytes() const {
  std::int64_t total = 0;
  for (const SortedColumn& column : columns)
    total += column.entries.size() * static_cast<std::int64_t>(sizeof(SortedEntry));
  return total;
}

double halfway(double low, double high) {
  const double middle = low / 2.0 + high / 2.0;  // rounded once; halves are exact
  return middle >= low && middle < high ? middle : low;
}

}  // namespace gossamer
