// Columns of the user's table with their rows in the order of their values: what exact split finding reads.
//
// A feature whose bins hold one value each needs no order: its histogram tells all. Of the others, the rows are
// sorted once per training. Rows that are missing are left out, or in a sparse table those that are zero.
#pragma once

#include <cstdint>
#include <vector>

#include "core/feature.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/raw_table.h"
#include "core/types.h"

namespace gossamer {

// A row in a sorted column: its number, and whether its value differs from that of the entry before.
using SortedEntry = std::uint32_t;
inline constexpr SortedEntry kNewValue = SortedEntry{1} << 31;
inline constexpr std::int64_t kMaxSortedRows = kNewValue - 1;

struct SortedColumn {
  std::int32_t feature = -1;
  std::int32_t column = -1;
  MissingKind missing_kind = MissingKind::nan;
  bool rest_is_zero = false;  // rows without an entry are zero; else missing
  std::int64_t n_low = 0;     // entries below zero, where the rest is zero
  std::int64_t n_values = 0;  // entries with a value; behind them come missing ones, where the rest is zero
  Buffer<SortedEntry> entries;

  // Places of the values in order; the rest, if it is zero, has one of its own after the n_low first entries.
  std::int64_t n_places() const { return n_values + rest_is_zero; }
};

struct SortedTable {
  RawTable raw;
  std::vector<SortedColumn> columns;
  std::vector<std::int32_t> place_of;           // by feature: its column here; -1: its bins tell all
  std::vector<std::vector<double>> bin_values;  // by feature whose bins tell all: the value in each bin

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

// Halfway between two neighbouring values; what is at or below it is what is at or below `low`.
double halfway(double low, double high);

}  // namespace gossamer
