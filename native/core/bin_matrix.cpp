#include "core/bin_matrix.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "kernels/kernels.h"

namespace gossamer {
namespace {

constexpr int kLanesPerGroup = 32;
constexpr int kTwoByteLanesPerGroup = 16;
constexpr std::int64_t kTileRows = 256;  // a tile's input and output stay in the first cache levels

int radix_of(const Feature& f) { return f.n_value_bins + (f.may_miss ? 1 : 0); }

// Rounded up to a size with a compiled kernel.
int lane_size(int cells) { return cells <= 16 ? 16 : cells <= 64 ? 64 : cells <= 256 ? 256 : cells; }

struct LanePlan {
  int cells = 1;
  std::vector<std::int32_t> features;
};

// Features to lanes, first fit by decreasing size; a lane of one byte has room for 256 values.
std::vector<LanePlan> plan_lanes(const std::vector<Feature>& features, bool share) {
  std::vector<std::int32_t> order(features.size());
  std::iota(order.begin(), order.end(), 0);
  const auto radix = [&](std::int32_t f) { return radix_of(features[static_cast<std::size_t>(f)]); };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return radix(a) > radix(b); });
  std::vector<LanePlan> lanes;
  std::size_t first_open = 0;  // lanes before it are full
  for (const std::int32_t f : order) {
    std::size_t lane = lanes.size();
    if (share && radix(f) <= 128) {
      // A bounded look back keeps this linear with very many columns.
      constexpr std::size_t kMaxTried = 64;
      first_open = std::max(first_open, lanes.size() > kMaxTried ? lanes.size() - kMaxTried : 0);
      for (lane = first_open; lane < lanes.size(); ++lane) {
        if (lanes[lane].cells <= 256 / radix(f)) break;
      }
    }
    if (lane == lanes.size()) lanes.emplace_back();
    lanes[lane].cells *= radix(f);
    lanes[lane].features.push_back(f);
  }
  std::stable_sort(lanes.begin(), lanes.end(),
                   [](const LanePlan& a, const LanePlan& b) { return lane_size(a.cells) > lane_size(b.cells); });
  return lanes;
}

// Bounds in the type of the values, padded to a power of two for the branchless search.
template <class T>
struct SearchBounds {
  std::vector<T> bounds;
  int n_steps = 0;

  explicit SearchBounds(const std::vector<double>& upper) {
    const auto n = std::bit_ceil(std::max<std::size_t>(upper.size(), 1));
    n_steps = std::countr_zero(n);
    bounds.assign(n, std::numeric_limits<T>::infinity());
    for (std::size_t b = 0; b < upper.size(); ++b) bounds[b] = round_down(upper[b]);
  }

  // The largest T at or below the bound: for a T x, `x <= bound` is then the same question.
  static T round_down(double bound) {
    auto t = static_cast<T>(bound);
    if (static_cast<double>(t) > bound) t = std::nextafter(t, -std::numeric_limits<T>::infinity());
    return t;
  }
};

}  // namespace

BinMatrix::BinMatrix(std::vector<Feature> features, std::int64_t n_rows, bool share_lanes)
    : features_(std::move(features)), n_rows_(n_rows) {
  plan_groups(share_lanes);
  for (Group& group : groups_) {
    const std::int64_t n = n_rows_ * group.row_stride;
    if (group.two_bytes) {
      group.bins16.reset(n);
    } else {
      group.bins8.reset(n);
    }
  }
}

void BinMatrix::plan_groups(bool share_lanes) {
  const std::vector<LanePlan> lanes = plan_lanes(features_, share_lanes);
  for (std::size_t i = 0; i < lanes.size();) {
    Group group;
    group.first_cell = n_cells_;
    group.lane_cells = lane_size(lanes[i].cells);
    group.two_bytes = group.lane_cells > 256;
    const std::size_t limit = group.two_bytes ? kTwoByteLanesPerGroup : kLanesPerGroup;
    for (; i < lanes.size() && group.lanes.size() < limit; ++i) {
      const LanePlan& lane = lanes[i];
      if (group.two_bytes && lane.cells <= 256) break;
      std::int32_t stride = 1;
      for (const std::int32_t f : lane.features) {
        Feature& feature = features_[static_cast<std::size_t>(f)];
        feature.group = static_cast<std::int32_t>(groups_.size());
        feature.lane = static_cast<std::int32_t>(group.lanes.size());
        feature.stride = stride;
        feature.radix = radix_of(feature);
        feature.lane_values = lane.cells;
        feature.shared = lane.features.size() > 1;
        feature.first_cell = group.first_cell + group.n_cells;
        stride *= feature.radix;
      }
      group.lane_offset.push_back(static_cast<std::int32_t>(group.n_cells));
      group.n_cells += group.two_bytes ? lane.cells : group.lane_cells;
      group.lanes.push_back(lane.features);
    }
    group.n_lanes = static_cast<int>(group.lanes.size());
    group.row_stride = static_cast<std::int64_t>(std::bit_ceil(static_cast<unsigned>(group.n_lanes)));
    n_cells_ += group.n_cells;
    groups_.push_back(std::move(group));
  }
}

void BinMatrix::fill(Team& team, const MatrixView& matrix, bool find_missing) {
  cleared_ = true;
  std::vector<std::atomic<bool>> missing_seen(features_.size());
  visit(matrix, [&]<class T>(TypedView<T> view) {
    using Float = std::conditional_t<std::is_same_v<T, float>, float, double>;
    std::vector<SearchBounds<Float>> bounds;
    bounds.reserve(features_.size());
    for (const Feature& feature : features_) bounds.emplace_back(feature.upper);
    for_blocks(team, n_rows_, kTileRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      Float values[kTileRows];
      std::uint16_t bins[kTileRows];
      std::uint16_t lane_values[kTileRows];
      const std::int64_t n = end - begin;
      for (Group& group : groups_) {
        for (std::size_t lane = 0; lane < group.lanes.size(); ++lane) {
          std::fill(lane_values, lane_values + n, std::uint16_t{0});
          for (const std::int32_t f : group.lanes[lane]) {
            const Feature& feature = features_[static_cast<std::size_t>(f)];
            for (std::int64_t r = 0; r < n; ++r) values[r] = static_cast<Float>(view(begin + r, feature.column));
            BinValuesArgs<Float> args;
            args.values = values;
            args.n = n;
            args.bounds = bounds[static_cast<std::size_t>(f)].bounds.data();
            args.n_steps = bounds[static_cast<std::size_t>(f)].n_steps;
            args.missing_bin = static_cast<std::uint16_t>(feature.n_value_bins);
            args.zero_is_missing = feature.missing_kind == MissingKind::zero;
            args.nan_is_zero = feature.missing_kind == MissingKind::nan_is_zero;
            args.bins = bins;
            if constexpr (std::is_same_v<Float, float>) {
              kernels().bin_values_f32(args);
            } else {
              kernels().bin_values_f64(args);
            }
            bool missing = false;
            for (std::int64_t r = 0; r < n; ++r) {
              missing |= bins[r] == args.missing_bin;
              lane_values[r] = static_cast<std::uint16_t>(lane_values[r] + bins[r] * feature.stride);
            }
            if (missing && !feature.may_miss)
              throw std::invalid_argument("missing value in a column said to have none");
            if (missing) missing_seen[static_cast<std::size_t>(f)].store(true, std::memory_order_relaxed);
          }
          const std::int64_t at = begin * group.row_stride + static_cast<std::int64_t>(lane);
          if (group.two_bytes) {
            std::uint16_t* const out = group.bins16.data() + at;
            for (std::int64_t r = 0; r < n; ++r) out[r * group.row_stride] = lane_values[r];
          } else {
            std::uint8_t* const out = group.bins8.data() + at;
            for (std::int64_t r = 0; r < n; ++r) out[r * group.row_stride] = static_cast<std::uint8_t>(lane_values[r]);
          }
        }
      }
    });
  });
  if (find_missing) {
    for (std::size_t f = 0; f < features_.size(); ++f) features_[f].has_missing = missing_seen[f].load();
  }
}

std::uint32_t BinMatrix::lane_value(const Group& group, std::int64_t row, std::int64_t lane) const {
  const std::int64_t at = row * group.row_stride + lane;
  return group.two_bytes ? group.bins16[at] : group.bins8[at];
}

void BinMatrix::copy_column(std::int64_t f, std::uint16_t* out) const {
  const Feature& feature = features_[static_cast<std::size_t>(f)];
  const Group& group = groups_[static_cast<std::size_t>(feature.group)];
  const auto stride = static_cast<std::uint32_t>(feature.stride);
  const auto radix = static_cast<std::uint32_t>(feature.radix);
  for (std::int64_t row = 0; row < n_rows_; ++row) {
    out[row] = static_cast<std::uint16_t>(lane_value(group, row, feature.lane) / stride % radix);
  }
}

void BinMatrix::set_column(std::int64_t f, std::span<const std::uint16_t> bins) {
  const Feature& feature = features_[static_cast<std::size_t>(f)];
  if (!cleared_) {
    for (Group& group : groups_) {
      std::fill(group.bins8.begin(), group.bins8.end(), std::uint8_t{0});
      std::fill(group.bins16.begin(), group.bins16.end(), std::uint16_t{0});
    }
    cleared_ = true;
  }
  Group& group = groups_[static_cast<std::size_t>(feature.group)];
  const auto stride = static_cast<std::uint32_t>(feature.stride);
  const auto radix = static_cast<std::uint32_t>(feature.radix);
  for (std::int64_t row = 0; row < n_rows_; ++row) {
    const std::uint32_t old = lane_value(group, row, feature.lane);
    const std::uint32_t value = old - old / stride % radix * stride + bins[static_cast<std::size_t>(row)] * stride;
    const std::int64_t at = row * group.row_stride + feature.lane;
    if (group.two_bytes) {
      group.bins16[at] = static_cast<std::uint16_t>(value);
    } else {
      group.bins8[at] = static_cast<std::uint8_t>(value);
    }
  }
}

void BinMatrix::make_columns(Team& team) {
  const std::lock_guard lock(columns_mutex_);
  if (!column_begin_.empty() || features_.empty()) return;
  const std::int64_t length = (n_rows_ + 63) / 64 * 64;
  std::int64_t size8 = 0;
  std::int64_t size16 = 0;
  for (const Feature& feature : features_) {
    const bool two_bytes = groups_[static_cast<std::size_t>(feature.group)].two_bytes;
    std::int64_t& size = two_bytes ? size16 : size8;
    column_begin_.push_back(size);
    size += length;
  }
  columns8_.reset(size8);
  columns16_.reset(size16);
  for_blocks(team, n_rows_, kTileRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    for (std::size_t f = 0; f < features_.size(); ++f) {
      const Feature& feature = features_[f];
      const Group& group = groups_[static_cast<std::size_t>(feature.group)];
      if (group.two_bytes) {
        std::uint16_t* const out = columns16_.data() + column_begin_[f];
        for (std::int64_t r = begin; r < end; ++r) out[r] = group.bins16[r * group.row_stride + feature.lane];
        continue;
      }
      std::uint8_t* const out = columns8_.data() + column_begin_[f];
      for (std::int64_t r = begin; r < end; ++r) out[r] = group.bins8[r * group.row_stride + feature.lane];
      if (!feature.shared) continue;
      std::uint8_t digit[256];
      for (int v = 0; v < 256; ++v) digit[v] = static_cast<std::uint8_t>(v / feature.stride % feature.radix);
      for (std::int64_t r = begin; r < end; ++r) out[r] = digit[out[r]];
    }
  });
}

const void* BinMatrix::column(std::int64_t f) const {
  const auto i = static_cast<std::size_t>(f);
  const bool two_bytes = groups_[static_cast<std::size_t>(features_[i].group)].two_bytes;
  return two_bytes ? static_cast<const void*>(columns16_.data() + column_begin_[i])
                   : static_cast<const void*>(columns8_.data() + column_begin_[i]);
}

std::int64_t BinMatrix::n_bytes() const {
  std::int64_t bytes = 0;
  for (const Group& group : groups_) bytes += group.bins8.size() + 2 * group.bins16.size();
  bytes += columns8_.size() + 2 * columns16_.size();
  return bytes;
}

}  // namespace gossamer
