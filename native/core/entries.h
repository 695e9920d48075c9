// The values of a table that are not zero, as (row, feature, bin), in the order in which they come.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/feature.h"
#include "core/matrix_view.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/sparse_view.h"
#include "core/types.h"

namespace gossamer {

// A value that is not in zero's bin.
struct Entry {
  RowIdx row;
  std::int32_t feature;
  std::uint16_t bin;
  bool missing;  // it is the bin of missing values
};

// Entries column by column, rows increasing within each.
struct SparseColumns {
  std::vector<std::int32_t> features;  // of each column
  std::vector<std::int64_t> begin{0};  // column c: [begin[c], begin[c + 1])
  Buffer<RowIdx> rows;
  Buffer<std::uint16_t> bins;  // empty when only the rows were asked for

  std::int64_t n_columns() const { return static_cast<std::int64_t>(features.size()); }
  std::int64_t n_entries() const { return begin.back(); }
  std::span<const RowIdx> rows_of(std::int64_t column) const {
    const auto c = static_cast<std::size_t>(column);
    return {rows.data() + begin[c], static_cast<std::size_t>(begin[c + 1] - begin[c])};
  }
  std::span<const std::uint16_t> bins_of(std::int64_t column) const {
    const auto c = static_cast<std::size_t>(column);
    return {bins.data() + begin[c], static_cast<std::size_t>(begin[c + 1] - begin[c])};
  }
  std::int64_t n_bytes() const { return 4 * rows.size() + 2 * bins.size() + 12 * n_columns(); }
};

// Reads a stretch of rows, tile by tile. Within a tile, and from tile to tile, the rows of a feature
// increase, and so do the features of a row; of compressed rows, features that have a lane to themselves may come last.
class EntryReader {
 public:
  virtual ~EntryReader() = default;
  // The entries of the next tile, until the next call; false when there is none.
  virtual bool next(std::span<const Entry>& entries) = 0;
};

// Where a one-hot feature is in a lane of one byte, if all features of its digit are one-hot. Rows that have it get
// `value` more.
struct OneHotPlace {
  std::uint8_t* lane = nullptr;         // of row 0; nullptr: the feature is elsewhere
  const std::uint8_t* taken = nullptr;  // by lane value: 1 if the digit is taken
  std::uint8_t row_stride = 0;
  std::uint8_t value = 0;
};

// Something entries can be read from, several stretches at a time.
class EntrySource {
 public:
  virtual ~EntrySource() = default;
  // Readers that are made later may write entries to these places, one for each feature, instead of returning them.
  // They return entries whose digit is taken.
  virtual void write_to(std::span<const OneHotPlace>) {}
  virtual std::unique_ptr<EntryReader> read(std::int64_t begin, std::int64_t end) const = 0;
  virtual bool wants(std::size_t feature) const = 0;
  std::int64_t n_rows = 0;
};

// `wanted[f]`: entries of feature f are asked for. The matrix and features must outlive the source.
std::unique_ptr<EntrySource> make_source(const MatrixView& matrix, const std::vector<Feature>& features,
                                         std::vector<char> wanted);
std::unique_ptr<EntrySource> make_source(const SparseView& matrix, const std::vector<Feature>& features,
                                         std::vector<char> wanted);

// A table cut into stretches of rows, each read by one thread.
struct Stretches {
  std::int64_t n_rows = 0;
  std::int64_t n = 1;

  Stretches(std::int64_t rows, int n_threads) : n_rows(rows), n(n_threads == 1 ? 1 : 2 * n_threads) {}
  // Multiples of 64, so that no two stretches share a word of a bit set.
  std::int64_t begin(std::int64_t s) const { return s == n ? n_rows : n_rows * s / n / 64 * 64; }
};

// Entries and missing values per feature.
struct EntryCounts {
  std::int64_t n_features = 0;
  std::vector<std::uint32_t> by_stretch;  // [stretch * n_features + feature]
  std::vector<char> missing;              // by feature: some entry is in the missing bin

  std::int64_t total(std::int64_t feature) const {
    std::int64_t sum = 0;
    for (auto i = static_cast<std::size_t>(feature); i < by_stretch.size(); i += static_cast<std::size_t>(n_features))
      sum += by_stretch[i];
    return sum;
  }
};
EntryCounts count_entries(Team& team, const EntrySource& source, std::int64_t n_features, const Stretches& stretches);

// Puts the entries of one stretch into their columns. Throws TableChanged where other entries were counted.
class ColumnWriter {
 public:
  ColumnWriter(SparseColumns& columns, const std::vector<std::int32_t>& column_of, const EntryCounts& counts,
               std::int64_t stretch);
  // False: the feature has no column.
  bool write(const Entry& entry) {
    const std::int32_t column = column_of_[static_cast<std::size_t>(entry.feature)];
    if (column < 0) return false;
    const std::int64_t at = next_[static_cast<std::size_t>(column)]++;
    if (at == end_[static_cast<std::size_t>(column)]) throw TableChanged();
    columns_.rows[at] = entry.row;
    if (with_bins_) columns_.bins[at] = entry.bin;
    return true;
  }
  // To be called after the last entry: all that were counted must have come.
  void finish() const {
    if (next_ != end_) throw TableChanged();
  }

 private:
  SparseColumns& columns_;
  const std::vector<std::int32_t>& column_of_;
  std::vector<std::int64_t> next_;
  std::vector<std::int64_t> end_;  // of what was counted in the stretch
  bool with_bins_;
};

// Empty columns for the entries of `kept` features; column_of[feature] is a feature's column, -1: not kept.
SparseColumns make_columns_for(const std::vector<std::int32_t>& kept, const EntryCounts& counts, bool with_bins,
                               std::vector<std::int32_t>& column_of);
// The rows of the entries of `kept` features.
SparseColumns collect_rows(Team& team, const EntrySource& source, const std::vector<std::int32_t>& kept,
                           const EntryCounts& counts, const Stretches& stretches);

}  // namespace gossamer
