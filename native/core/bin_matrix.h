// The binned table. Most of it is stored row by row in groups of lanes (histograms read whole rows); a
// copy by lane is made for splits, which read one feature of many rows. Features that are zero in
// nearly every row, and fit no bundle, are kept as sparse columns instead.
//
//   row      lane 0             lane 1         lane 2
//     0   [  price        |  colour, size  |  one of 200 towns  ]    + sparse columns: (row, bin)
//            one feature     two digits       a bundle
//
// A lane holds one number per row, up to 255 (one byte) or 65,535. Digits of few values share a lane.
// A digit is a feature's bin, or a bundle: features that are never non-zero in the same row, each
// with its own range of the digit's values; value 0 means that all of them are zero.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/entries.h"
#include "core/feature.h"
#include "core/matrix_view.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/row_range.h"
#include "core/sparse_view.h"
#include "core/types.h"
#include "kernels/kernels.h"

namespace gossamer {

class RowPages;
struct SparseRows;

struct Digit {
  std::int32_t stride = 1;  // it is (lane value / stride) % radix
  std::int32_t radix = 1;
  bool bundle = false;
  std::vector<std::int32_t> features;  // increasing; one unless it is a bundle
};

struct Lane {
  std::int32_t n_values = 1;
  std::vector<Digit> digits;
};

// Up to 32 lanes that stand side by side, row after row.
struct Group {
  bool two_bytes = false;
  int n_lanes = 0;
  int lane_cells = 0;           // one byte: cells per lane
  std::int64_t row_stride = 0;  // elements; a power of two, so that no row straddles a cache line
  std::int64_t first_cell = 0;
  std::int64_t n_cells = 0;
  std::vector<std::int32_t> lane_offset;  // two bytes: first cell of each lane, from first_cell
  std::vector<Lane> lanes;
  std::vector<CommonBins> common;  // set by BinMatrix::make_columns
  Buffer<std::uint8_t> bins8;
  Buffer<std::uint16_t> bins16;

  // First cell of a lane, from the group's first cell; of the one past the last: the group's end.
  std::int64_t lane_begin(std::int64_t lane) const {
    if (lane == n_lanes) return n_cells;
    return two_bytes ? lane_offset[static_cast<std::size_t>(lane)] : lane * lane_cells;
  }
  const void* bins() const {
    return two_bytes ? static_cast<const void*>(bins16.data()) : static_cast<const void*>(bins8.data());
  }
};

// How features are kept. A feature named in neither list is a digit of its own.
struct Storage {
  bool share_lanes = false;                        // digits of few values share lanes
  std::vector<std::vector<std::int32_t>> bundles;  // each increasing
  std::vector<std::int32_t> loose;                 // sparse columns, increasing
  // The share of zeros by feature, in a sample: lanes with many zeros are stored next to each other. Empty: not known.
  std::vector<double> zero_share = {};
};

// What becomes of a value that meets another one in its bundle, or is missing where the lane has no bin for that.
enum class Use {
  other,           // it is kept as a sparse entry: validation data
  training,        // it is dropped: bundles with conflicts
  exact_training,  // filling stops: the bundles were to have none
};

class BinMatrix {
 public:
  // `features` need column, n_value_bins, missing_kind, may_miss, upper; the rest is filled in here.
  BinMatrix(std::vector<Feature> features, std::int64_t n_rows, Storage storage);
  BinMatrix(std::vector<Feature> features, std::int64_t n_rows, bool share_lanes)
      : BinMatrix(std::move(features), n_rows, Storage{share_lanes, {}, {}}) {}
  // A table whose lanes are in pages outside of this object. It has no sparse columns.
  BinMatrix(std::vector<Feature> features, std::int64_t n_rows, Storage storage, std::shared_ptr<RowPages> pages);
  BinMatrix(const BinMatrix&) = delete;
  BinMatrix& operator=(const BinMatrix&) = delete;

  // Bins the user's matrix; false: a value met another one in its bundle, and the use says to stop
  // there. Sets has_missing. `counts`, if they are known, were made by count_entries with
  // the same team.
  bool fill(Team& team, const MatrixView& matrix, Use use, const EntryCounts* counts = nullptr);
  bool fill(Team& team, const SparseView& matrix, Use use, const EntryCounts* counts = nullptr);
  // Whether lanes and sparse columns tell all; false where values did not fit their bundle.
  bool is_trainable() const;
  // Some rows of another matrix, stored in the same way. This one has just been made. Rows of a table in pages are
  // copied in one pass.
  void fill_from(Team& team, const BinMatrix& other, std::span<const RowIdx> rows);
  // The same with the lanes one by one, of a matrix that has lanes only. May be called again: the rows become others,
  // and so does their number.
  void take_sample(Team& team, const BinMatrix& other, std::span<const RowIdx> rows);
  // PieceBinner and PageWriter fill a matrix piece by piece: the lanes of some rows of another matrix that is stored
  // in the same way, from `first` on; its sparse entries; and the entries of all pieces.
  void put_rows(const BinMatrix& part, std::int64_t first, RowRange rows);
  SparseColumns take_sparse() { return std::move(sparse_); }
  void set_entries(SparseColumns entries);
  // The features of two matrices of the same rows, `left` first; see put_beside. This matrix has just been
  // made, of their features and storage.
  void fill_beside(Team& team, const BinMatrix& left, const BinMatrix& right);
  // Bins of feature f, one per row; and the way back in (features in lanes only).
  void copy_column(std::int64_t feature, std::uint16_t* out) const;
  void set_column(std::int64_t feature, std::span<const std::uint16_t> bins);
  // Entries of all features in bundles or sparse columns, by feature; and the way back in.
  SparseColumns copy_sparse() const;
  void set_sparse(const SparseColumns& columns);
  // Sets has_missing, after columns and entries came in by hand.
  void find_missing();
  // The lanes one by one, made from the rows when first needed.
  void make_columns(Team& team);
  // For who fills lanes by hand: the copy of a lane, by row; and the way from there to the rows. Only lanes that one
  // feature has for itself.
  void* lane_data(const Feature& feature) { return const_cast<void*>(column(feature)); }
  void rows_from_columns(Team& team, std::span<const std::int32_t> features);

  // Where the lanes are if they are not in memory; nullptr: they are.
  RowPages* pages() const { return pages_.get(); }
  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t n_cells() const { return n_cells_; }
  const std::vector<Feature>& features() const { return features_; }
  std::vector<Feature>& features() { return features_; }
  const std::vector<Group>& groups() const { return groups_; }
  const Storage& storage() const { return storage_; }
  // Entries of features in sparse columns, and what did not fit a bundle: by feature.entries.
  const SparseColumns& sparse() const { return sparse_; }
  // Entries of a feature in a sparse column: of this matrix, or of all shards of a table if they were given.
  std::int64_t entry_count(std::int32_t feature) const;
  void set_entry_counts(std::vector<std::int64_t> by_feature) { entry_counts_ = std::move(by_feature); }
  // The sparse columns of features with at least `min_count` entries, row by row.
  std::shared_ptr<const SparseRows> sparse_rows(Team& team, std::int64_t min_count);
  // A lane by row: the copy if it has been made, else nullptr.
  const void* lane_copy(const Feature& feature) const {
    return has_columns_.load(std::memory_order_acquire) ? column(feature) : nullptr;
  }
  std::int64_t n_bytes() const;
  std::int64_t n_dropped() const { return n_dropped_; }

 private:
  class Taken;
  class Placer;
  void plan_groups();
  void take_from_pages(Team& team, RowPages& pages, std::span<const RowIdx> rows);
  void clear(Team& team);
  void zero_lanes();
  void fill_plain(Team& team, const MatrixView& matrix);
  bool fill_entries(Team& team, EntrySource& source, const EntryCounts* counts, Use use);
  std::uint32_t lane_value(const Group& group, std::int64_t row, std::int64_t lane) const;
  void set_lane_value(Group& group, std::int64_t row, std::int64_t lane, std::uint32_t value);
  void keep_odd_entries(std::vector<Entry> odd);
  bool is_missing_somewhere(const Feature& feature) const;
  const void* column(const Feature& feature) const;
  static void copy_rows(const Group& from, std::span<const RowIdx> rows, std::int64_t begin, std::int64_t end,
                        Group& to);
  void copy_to_columns(const Group& group, std::int64_t begin, std::int64_t end, std::span<const std::int64_t> first,
                       std::uint8_t* columns8, std::uint16_t* columns16) const;

  std::vector<Feature> features_;
  std::vector<Group> groups_;
  Storage storage_;
  std::int64_t n_rows_ = 0;
  std::int64_t n_cells_ = 0;
  std::int64_t n_dropped_ = 0;  // values lost to conflicts in bundles
  bool cleared_ = false;        // lanes hold something: data, or zeros
  SparseColumns sparse_;
  std::vector<std::int64_t> entry_counts_;  // empty: count sparse_
  // All lanes in one piece, so that even a short table gets huge pages.
  Buffer<std::uint8_t> columns8_;
  Buffer<std::uint16_t> columns16_;
  std::vector<std::vector<std::int64_t>> column_begin_;  // by group and lane, in the buffer of its width
  std::atomic<bool> has_columns_ = false;
  std::shared_ptr<const SparseRows> sparse_rows_;
  std::mutex columns_mutex_;  // several growers may ask for these at once
  std::shared_ptr<RowPages> pages_;
};

}  // namespace gossamer
