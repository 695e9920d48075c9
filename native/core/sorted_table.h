// Columns of the user's table with their rows in the order of their values, for exact split finding.
//
// A feature whose bins hold one value each needs no order: its histogram is exact. The rows of the other features are
// sorted once per training. Missing rows are left out; in a sparse table, zero rows are.
#pragma once

#include <cstdint>
#include <vector>

#include "core/feature.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/raw_table.h"
#include "core/types.h"

namespace gossamer {

// A row in a sorted column: its number, and whether its value differs from the entry before.
using SortedEntry = std::uint32_t;
inline constexpr SortedEntry kNewValue = SortedEntry{1} << 31;
inline constexpr std::int64_t kMaxSortedRows = kNewValue - 1;

struct SortedColumn {
  std::int32_t feature = -1;
  std::int32_t column = -1;
  MissingKind missing_kind = MissingKind::nan;
  bool rest_is_zero = false;  // rows without an entry are zero; otherwise missing
  std::int64_t n_low = 0;     // entries below zero, where the rest is zero
  std::int64_t n_values = 0;  // entries with a value; missing ones follow if the rest is zero
  Buffer<SortedEntry> entries;

  // Number of places of the values in order; the rest, if it is zero, has one place after the n_low first entries.
  std::int64_t n_places() const { return n_values + rest_is_zero; }
};

struct SortedTable {
  RawTable raw;
  std::vector<SortedColumn> columns;
  std::vector<std::int32_t> place_of;           // by feature: its column here; -1: its bins are exact
  std::vector<std::vector<double>> bin_values;  // by feature with exact bins: the value in each bin

  SortedTable() = default;
  SortedTable(SortedTable&&) = default;
  SortedTable& operator=(SortedTable&&) = default;

  // The value of an entry.
  double value(const SortedColumn& column, SortedEntry entry) const;
  // How many places of a column hold values at or below `value`.
  std::int64_t places_up_to(const SortedColumn& column, double value) const;
  std::int64_t n_bytes() const;
};

// Sorts the columns of a table that has been binned to `features`. It has at most kMaxSortedRows rows.
SortedTable sort_columns(Team& team, const RawTable& raw, const std::vector<Feature>& features);

// Halfway between two neighbouring values; the values at or below it are the values at or below `low`.
double halfway(double low, double high);

}  // namespace gossamer
