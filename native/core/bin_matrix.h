// The binned table, twice: row by row in groups of lanes (histograms read whole rows) and column by
// column (a split reads one feature of many rows). Both are one byte per value up to 255 bins.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/matrix_view.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/types.h"

namespace gossamer {

enum class MissingKind : std::int8_t {
  nan = 0,          // NaN is missing
  zero = 1,         // NaN and zero are missing
  nan_is_zero = 2,  // nothing is missing, NaN is read as zero
};

// What the trainer needs to know of one feature.
struct Feature {
  std::int32_t column = 0;        // the user's column
  std::int32_t n_value_bins = 0;  // bin n_value_bins is "missing"
  MissingKind missing_kind = MissingKind::nan;
  bool may_miss = true;      // false: no row can be missing, the missing bin needs no room
  bool has_missing = false;  // some training row is missing here
  // Its place: digit (lane value / stride) % radix of one lane.
  std::int32_t group = 0;
  std::int32_t lane = 0;
  std::int32_t stride = 1;
  std::int32_t radix = 0;
  std::int32_t lane_values = 0;  // how many values its lane can take
  bool shared = false;           // other features live in the same lane
  std::int64_t first_cell = 0;   // of the lane, in the histogram of a leaf
  std::vector<double> upper;     // upper bound of each value bin
};

// Up to 32 lanes whose bins stand side by side, row after row.
//
// Features of few bins share a lane as the digits of one number: a histogram update then serves
// several of them, and each one's histogram is a marginal sum over the lane's cells.
struct Group {
  bool two_bytes = false;
  int n_lanes = 0;
  int lane_cells = 0;           // one byte: cells per lane
  std::int64_t row_stride = 0;  // elements; a power of two, so that no row straddles a cache line
  std::int64_t first_cell = 0;
  std::int64_t n_cells = 0;
  std::vector<std::int32_t> lane_offset;         // two bytes: first cell of each lane, from first_cell
  std::vector<std::vector<std::int32_t>> lanes;  // features of each lane
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

class BinMatrix {
 public:
  // `features` need column, n_value_bins, missing_kind, may_miss, upper; the rest is filled in here.
  // With `share_lanes` small features share lanes (worth it for the many rows of training data).
  BinMatrix(std::vector<Feature> features, std::int64_t n_rows, bool share_lanes);
  BinMatrix(const BinMatrix&) = delete;
  BinMatrix& operator=(const BinMatrix&) = delete;

  // Bins the user's matrix. With `find_missing` (training data) has_missing is set from the data.
  void fill(Team& team, const MatrixView& matrix, bool find_missing);
  // Bins of feature f, one per row; and the way back in.
  void copy_column(std::int64_t feature, std::uint16_t* out) const;
  void set_column(std::int64_t feature, std::span<const std::uint16_t> bins);
  // Column-major bins, made from the rows when first needed.
  void make_columns(Team& team);

  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t n_cells() const { return n_cells_; }
  const std::vector<Feature>& features() const { return features_; }
  std::vector<Feature>& features() { return features_; }
  const std::vector<Group>& groups() const { return groups_; }
  const void* column(std::int64_t feature) const;
  std::int64_t n_bytes() const;

 private:
  void plan_groups(bool share_lanes);
  std::uint32_t lane_value(const Group& group, std::int64_t row, std::int64_t lane) const;

  std::vector<Feature> features_;
  std::vector<Group> groups_;
  std::int64_t n_rows_ = 0;
  std::int64_t n_cells_ = 0;
  bool cleared_ = false;  // bins hold something: data, or zeros
  // All columns in one piece, so that even a short table gets huge pages.
  Buffer<std::uint8_t> columns8_;
  Buffer<std::uint16_t> columns16_;
  std::vector<std::int64_t> column_begin_;  // by feature, in the buffer of its width
  std::mutex columns_mutex_;                // several growers may ask for the columns at once
};

}  // namespace gossamer
