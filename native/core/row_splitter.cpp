#include "core/row_splitter.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/bin_bounds.h"
#include "core/categories.h"
#include "core/index.h"

namespace gossamer {
namespace {

bool holds_category(std::span<const std::int32_t> set, double x) {
  return std::binary_search(set.begin(), set.end(), category_of(x));
}

}  // namespace

RowSplitter::RowSplitter(const BinMatrix& matrix, std::int32_t f, std::int32_t threshold, bool missing_left)
    : feature_(&matrix.features()[at(f)]), threshold_(threshold), missing_left_(missing_left) {
  const Feature& feature = *feature_;
  if (feature.entries >= 0) {
    sparse_.entry_rows = matrix.sparse().rows_of(feature.entries);
    sparse_.entry_bins = matrix.sparse().bins_of(feature.entries);
  }
  lane_.threshold = sparse_.threshold = static_cast<std::uint32_t>(threshold);
  lane_.missing_bin = sparse_.missing_bin = static_cast<std::uint32_t>(feature.n_value_bins);
  lane_.missing_left = sparse_.missing_left = missing_left;
  sparse_.zero_left = goes_left(feature.zero_bin);
  if (feature.loose()) return;
  find_lane(matrix);
  if (feature.shared || feature.bundled) fill_table([this](std::int32_t bin) { return goes_left(bin); });
}

RowSplitter::RowSplitter(const BinMatrix& matrix, std::int32_t f, std::span<const std::uint8_t> by_bin)
    : feature_(&matrix.features()[at(f)]) {
  find_lane(matrix);
  fill_table([&](std::int32_t bin) { return by_bin[at(bin)] != 0; });
}

RowSplitter::RowSplitter(const RawTable& raw, std::int32_t column, double threshold, MissingKind missing_kind,
                         bool missing_left, std::span<const std::int32_t> set)
    : missing_left_(missing_left),
      raw_(&raw),
      column_(column),
      value_(threshold),
      missing_kind_(missing_kind),
      set_(set) {}

RowSplitter::RowSplitter(const std::uint8_t* side) {
  lane_.column = side;
  lane_.missing_bin = 255;  // there is none
}

void RowSplitter::find_lane(const BinMatrix& matrix) {
  const Feature& feature = *feature_;
  const Group& group = matrix.groups()[at(feature.group)];
  two_bytes_ = group.two_bytes;
  row_stride_ = group.row_stride;
  lane_.column = matrix.lane_copy(feature);
  if (lane_.column == nullptr) {
    lane_.row_shift = std::countr_zero(static_cast<std::uint64_t>(group.row_stride));
    lane_.column = two_bytes_ ? static_cast<const void*>(group.bins16.data() + feature.lane)
                              : static_cast<const void*>(group.bins8.data() + feature.lane);
  }
}

// The side of each value of the lane; of a lane of one byte, of each value that a byte can have.
template <class GoesLeft>
void RowSplitter::fill_table(const GoesLeft& goes_left) {
  const std::size_t n_values = at(feature_->lane_values);
  table_.assign(two_bytes_ ? n_values : std::size_t{256}, 0);
  for (std::size_t v = 0; v < n_values; ++v) {
    table_[v] = goes_left(feature_->bin_of_lane(static_cast<std::uint32_t>(v)));
  }
}

PartitionArgs RowSplitter::lane_of(const RowPage& page) const {
  PartitionArgs args = lane_;
  const std::int64_t width = two_bytes_ ? 2 : 1;
  const void* const rows = page.row_zero(at(feature_->group), row_stride_ * width);
  args.column = reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(rows) +
                                              static_cast<std::uintptr_t>(feature_->lane * width));
  args.row_shift = std::countr_zero(static_cast<std::uint64_t>(row_stride_));
  return args;
}

std::int64_t RowSplitter::split(const RowIdx* rows, std::int64_t first_row, std::int64_t n_rows, RowIdx* left,
                                RowIdx* right, const RowPage* page) const {
  if (raw_ != nullptr) return split_values(rows, first_row, n_rows, left, right);
  if (feature_ != nullptr && feature_->loose()) {
    SparsePartition p = sparse_;
    p.rows = rows;
    p.first_row = first_row;
    p.n_rows = n_rows;
    p.left = left;
    p.right = right;
    return partition_sparse(p);
  }
  PartitionArgs args = page != nullptr ? lane_of(*page) : lane_;
  if (!table_.empty()) args.goes_left = table_.data();
  args.rows = rows;
  args.first_row = first_row;
  args.n_rows = n_rows;
  args.left = left;
  args.right = right;
  if (!sparse_.entry_rows.empty()) return split_misfits(args);
  return two_bytes_ ? kernels().partition_u16(args) : kernels().partition_u8(args);
}

std::int64_t RowSplitter::split_bits(std::int64_t first_row, std::int64_t n_rows, const std::uint64_t* leaf,
                                     std::uint64_t* left, std::uint64_t* right) const {
  SplitBitsArgs args{lane_, leaf, left, right};
  if (!table_.empty()) args.lane.goes_left = table_.data();
  args.lane.first_row = first_row;
  args.lane.n_rows = n_rows;
  return kernels().split_bits(args);
}

LaneTest RowSplitter::lane_test() const {
  LaneTest test;
  if (raw_ != nullptr || two_bytes_ || !sparse_.entry_rows.empty()) return test;
  if (feature_ != nullptr && feature_->loose()) return test;
  test.column = static_cast<const std::uint8_t*>(lane_.column);
  test.row_shift = lane_.row_shift;
  test.by_value = table_.empty() ? nullptr : table_.data();
  test.n_values = static_cast<std::uint32_t>(table_.size());
  test.threshold = lane_.threshold;
  test.missing = lane_.missing_left ? lane_.missing_bin : lane_.threshold;
  return test;
}

std::int64_t RowSplitter::split_values(const RowIdx* rows, std::int64_t first_row, std::int64_t n_rows, RowIdx* left,
                                       RowIdx* right) const {
  std::int64_t n_left = 0;
  std::int64_t n_right = 0;
  visit(*raw_, [&](const auto& read) {
    for (std::int64_t i = 0; i < n_rows; ++i) {
      const RowIdx row = rows != nullptr ? rows[i] : static_cast<RowIdx>(first_row + i);
      double x = read(row, column_);
      if (std::isnan(x) && missing_kind_ == MissingKind::nan_is_zero) x = 0.0;
      const bool missing = std::isnan(x) || (missing_kind_ == MissingKind::zero && std::abs(x) <= kZero);
      bool is_left = missing ? missing_left_ : x <= value_;
      if (!set_.empty() && !missing) is_left = holds_category(set_, x) != missing_left_;
      left[n_left] = row;  // may be the memory of `rows`: only rows already read are overwritten
      right[n_right] = row;
      n_left += is_left;
      n_right += !is_left;
    }
  });
  return n_left;
}

// A lane in which the values of some rows did not fit.
std::int64_t RowSplitter::split_misfits(const PartitionArgs& lane) const {
  if (lane.n_rows == 0) return 0;
  const auto row_at = [&](std::int64_t i) {
    return lane.rows != nullptr ? lane.rows[i] : static_cast<RowIdx>(lane.first_row + i);
  };
  const auto& entry_rows = sparse_.entry_rows;
  auto e = at(std::lower_bound(entry_rows.begin(), entry_rows.end(), row_at(0)) - entry_rows.begin());
  std::int64_t n_left = 0;
  std::int64_t n_right = 0;
  for (std::int64_t i = 0; i < lane.n_rows; ++i) {
    const RowIdx row = row_at(i);
    while (e < entry_rows.size() && entry_rows[e] < row) ++e;
    const bool fits = e == entry_rows.size() || entry_rows[e] != row;
    bool is_left = false;
    if (fits) {
      const std::int64_t place = static_cast<std::int64_t>(row) << lane.row_shift;
      is_left = table_[two_bytes_ ? static_cast<const std::uint16_t*>(lane.column)[place]
                                  : static_cast<const std::uint8_t*>(lane.column)[place]] != 0;
    } else {
      is_left = goes_left(sparse_.entry_bins[e]);
    }
    if (is_left) {
      lane.left[n_left++] = row;
    } else {
      lane.right[n_right++] = row;
    }
  }
  return n_left;
}

}  // namespace gossamer
