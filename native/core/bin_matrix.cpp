#include "core/bin_matrix.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "core/common_bins.h"
#include "core/index.h"
#include "core/row_pages.h"
#include "core/sparse_rows.h"

namespace gossamer {
namespace {

constexpr int kLanesPerGroup = 32;
constexpr int kTwoByteLanesPerGroup = 16;
constexpr std::int64_t kTileRows = 256;  // a tile's input and output stay in the first cache levels

// Rounded up to a size with a compiled kernel.
// Lanes are sorted by it.
int lane_size(int cells) { return cells <= 16 ? 16 : cells <= 64 ? 64 : cells <= 256 ? 256 : cells; }

// Cells of every lane of a group, where `most` is the largest number of values of its lanes.
int cells_per_lane(int most) { return most > 64 && most <= 192 ? 192 : lane_size(most); }

// One digit per bundle and per feature that is neither bundled nor loose, by their first features.
std::vector<Digit> make_digits(const std::vector<Feature>& features, const Storage& storage) {
  std::vector<char> placed(features.size(), 0);
  std::vector<Digit> digits;
  const auto place = [&](std::int32_t f) {
    if (f < 0 || at(f) >= features.size() || placed[at(f)])
      throw std::invalid_argument("storage names a feature twice");
    placed[at(f)] = 1;
  };
  for (const std::int32_t f : storage.loose) place(f);
  for (const auto& bundle : storage.bundles) {
    Digit digit{1, 1, true, bundle};
    for (const std::int32_t f : bundle) {
      place(f);
      digit.radix += features[at(f)].n_other_bins();
    }
    if (bundle.empty() || digit.radix > 65536) throw std::invalid_argument("a bundle has too many bins, or none");
    digits.push_back(std::move(digit));
  }
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (!placed[f]) digits.push_back({1, features[f].n_bins(), false, {static_cast<std::int32_t>(f)}});
  }
  std::sort(digits.begin(), digits.end(),
            [](const Digit& a, const Digit& b) { return a.features.front() < b.features.front(); });
  return digits;
}

// Digits to lanes, first fit by decreasing size; a lane of one byte holds 256 values.
std::vector<Lane> plan_lanes(std::vector<Digit> digits, const Storage& storage) {
  const bool share = storage.share_lanes;
  std::stable_sort(digits.begin(), digits.end(), [&](const Digit& a, const Digit& b) { return a.radix > b.radix; });
  std::vector<Lane> lanes;
  std::size_t first_open = 0;  // lanes before it are full
  for (Digit& digit : digits) {
    std::size_t lane = lanes.size();
    if (share && digit.radix <= 128) {
      // A bounded look back keeps this linear with very many columns.
      constexpr std::size_t kMaxTried = 64;
      first_open = std::max(first_open, lanes.size() > kMaxTried ? lanes.size() - kMaxTried : 0);
      for (lane = first_open; lane < lanes.size(); ++lane) {
        if (lanes[lane].n_values <= 256 / digit.radix) break;
      }
    }
    if (lane == lanes.size()) lanes.emplace_back();
    digit.stride = lanes[lane].n_values;
    lanes[lane].n_values *= digit.radix;
    lanes[lane].digits.push_back(std::move(digit));
  }
  constexpr double kLeastShare = 0.25;  // of zeros: other lanes keep their order
  const auto zero_share = [&](const Lane& lane) {
    const Digit& digit = lane.digits.front();
    if (storage.zero_share.empty() || lane.digits.size() > 1 || digit.bundle) return 0.0;
    const double share_of_zeros = storage.zero_share[at(digit.features.front())];
    return share_of_zeros < kLeastShare ? 0.0 : share_of_zeros;
  };
  std::stable_sort(lanes.begin(), lanes.end(), [&](const Lane& a, const Lane& b) {
    const int size_a = lane_size(a.n_values), size_b = lane_size(b.n_values);
    return size_a != size_b ? size_a > size_b : zero_share(a) < zero_share(b);
  });
  return lanes;
}

}  // namespace

BinMatrix::BinMatrix(std::vector<Feature> features, std::int64_t n_rows, Storage storage)
    : BinMatrix(std::move(features), n_rows, std::move(storage), nullptr) {
  for (Group& group : groups_) {
    const std::int64_t n = n_rows_ * group.row_stride;
    if (group.two_bytes) {
      group.bins16.reset(n);
    } else {
      group.bins8.reset(n);
    }
  }
}

BinMatrix::BinMatrix(std::vector<Feature> features, std::int64_t n_rows, Storage storage,
                     std::shared_ptr<RowPages> pages)
    : features_(std::move(features)), storage_(std::move(storage)), n_rows_(n_rows), pages_(std::move(pages)) {
  if (pages_ && !storage_.loose.empty()) throw std::invalid_argument("pages have no sparse columns");
  if (!storage_.zero_share.empty() && storage_.zero_share.size() != features_.size()) {
    throw std::invalid_argument("zero_share must have a value for each feature");
  }
  for (Feature& feature : features_) feature.zero_bin = find_zero_bin(feature);
  plan_groups();
  for (const Feature& feature : features_) {
    if (feature.is_categorical() && (feature.loose() || feature.bundled)) {
      throw std::invalid_argument("a categorical feature needs a digit of its own");
    }
  }
}

void BinMatrix::plan_groups() {
  const std::vector<Lane> lanes = plan_lanes(make_digits(features_, storage_), storage_);
  for (std::size_t i = 0; i < lanes.size();) {
    Group group;
    group.first_cell = n_cells_;
    group.two_bytes = lanes[i].n_values > 256;
    const std::size_t limit = group.two_bytes ? kTwoByteLanesPerGroup : kLanesPerGroup;
    int most = 0;
    for (std::size_t k = i; k < std::min(i + limit, lanes.size()); ++k) most = std::max(most, lanes[k].n_values);
    group.lane_cells = cells_per_lane(most);
    for (; i < lanes.size() && group.lanes.size() < limit; ++i) {
      const Lane& lane = lanes[i];
      if (group.two_bytes && lane.n_values <= 256) break;
      for (const Digit& digit : lane.digits) {
        std::int32_t first_value = 1;
        for (const std::int32_t f : digit.features) {
          Feature& feature = features_[at(f)];
          feature.group = static_cast<std::int32_t>(groups_.size());
          feature.lane = static_cast<std::int32_t>(group.lanes.size());
          feature.stride = digit.stride;
          feature.radix = digit.radix;
          feature.lane_values = lane.n_values;
          feature.shared = lane.digits.size() > 1;
          feature.bundled = digit.bundle;
          feature.first_cell = group.first_cell + group.n_cells;
          feature.first_value = digit.bundle ? first_value : 0;
          first_value += feature.n_other_bins();
        }
      }
      group.lane_offset.push_back(static_cast<std::int32_t>(group.n_cells));
      group.n_cells += group.two_bytes ? lane.n_values : group.lane_cells;
      group.lanes.push_back(lane);
    }
    group.n_lanes = static_cast<int>(group.lanes.size());
    group.row_stride = static_cast<std::int64_t>(std::bit_ceil(static_cast<unsigned>(group.n_lanes)));
    n_cells_ += group.n_cells;
    groups_.push_back(std::move(group));
  }
}

std::uint32_t BinMatrix::lane_value(const Group& group, std::int64_t row, std::int64_t lane) const {
  const std::int64_t i = row * group.row_stride + lane;
  return group.two_bytes ? group.bins16[i] : group.bins8[i];
}

void BinMatrix::set_lane_value(Group& group, std::int64_t row, std::int64_t lane, std::uint32_t value) {
  const std::int64_t i = row * group.row_stride + lane;
  if (group.two_bytes) {
    group.bins16[i] = static_cast<std::uint16_t>(value);
  } else {
    group.bins8[i] = static_cast<std::uint8_t>(value);
  }
}

// ---- one feature ----

void BinMatrix::copy_column(std::int64_t f, std::uint16_t* out) const {
  const Feature& feature = features_[at(f)];
  if (pages_) {
    const Group& group = groups_[at(feature.group)];
    pages_->for_each([&](const RowPage& page) {
      const void* const bins = page.bins[at(feature.group)];
      for (std::int64_t row = page.rows.begin; row < page.rows.end; ++row) {
        const std::int64_t i = (row - page.rows.begin) * group.row_stride + feature.lane;
        const std::uint32_t value =
            group.two_bytes ? static_cast<const std::uint16_t*>(bins)[i] : static_cast<const std::uint8_t*>(bins)[i];
        out[row] = static_cast<std::uint16_t>(feature.bin_of_lane(value));
      }
    });
  } else if (feature.loose()) {
    std::fill_n(out, n_rows_, static_cast<std::uint16_t>(feature.zero_bin));
  } else {
    const Group& group = groups_[at(feature.group)];
    for (std::int64_t row = 0; row < n_rows_; ++row) {
      out[row] = static_cast<std::uint16_t>(feature.bin_of_lane(lane_value(group, row, feature.lane)));
    }
  }
  if (feature.entries < 0) return;
  const auto rows = sparse_.rows_of(feature.entries);
  const auto bins = sparse_.bins_of(feature.entries);
  for (std::size_t e = 0; e < rows.size(); ++e) out[rows[e]] = bins[e];
}

// Before the first column comes in.
void BinMatrix::zero_lanes() {
  if (cleared_) return;
  for (Group& group : groups_) {
    std::fill(group.bins8.begin(), group.bins8.end(), std::uint8_t{0});
    std::fill(group.bins16.begin(), group.bins16.end(), std::uint16_t{0});
  }
  cleared_ = true;
}

void BinMatrix::set_column(std::int64_t f, std::span<const std::uint16_t> bins) {
  const Feature& feature = features_[at(f)];
  if (feature.bundled || feature.loose()) throw std::invalid_argument("the feature has no digit of its own");
  zero_lanes();
  Group& group = groups_[at(feature.group)];
  const auto stride = static_cast<std::uint32_t>(feature.stride);
  const auto radix = static_cast<std::uint32_t>(feature.radix);
  for (std::int64_t row = 0; row < n_rows_; ++row) {
    const std::uint32_t old = lane_value(group, row, feature.lane);
    set_lane_value(group, row, feature.lane, old - old / stride % radix * stride + bins[at(row)] * stride);
  }
}

// ---- by lane ----

namespace {

// Where each lane begins, by group: lanes of one byte are in one array, the others in a second one.
struct ColumnPlaces {
  std::vector<std::vector<std::int64_t>> begin;
  std::int64_t size8 = 0;
  std::int64_t size16 = 0;

  ColumnPlaces(std::span<const Group> groups, std::int64_t n_rows) : begin(groups.size()) {
    const std::int64_t length = (n_rows + 63) / 64 * 64;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::int64_t& size = groups[g].two_bytes ? size16 : size8;
      for (int lane = 0; lane < groups[g].n_lanes; ++lane) {
        begin[g].push_back(size);
        size += length;
      }
    }
  }
};

}  // namespace

// Rows [begin, end); lane k goes to the place first[k].
void BinMatrix::copy_to_columns(const Group& group, std::int64_t begin, std::int64_t end,
                                std::span<const std::int64_t> first, std::uint8_t* columns8,
                                std::uint16_t* columns16) const {
  const std::int64_t stride = group.row_stride;
  if (group.two_bytes) {
    for (int lane = 0; lane < group.n_lanes; ++lane) {
      for (std::int64_t r = begin; r < end; ++r) columns16[first[at(lane)] + r] = group.bins16[r * stride + lane];
    }
    return;
  }
  static_assert(std::endian::native == std::endian::little);
  for (int lane = 0; lane < group.n_lanes; lane += 8) {
    const int n_lanes = std::min(group.n_lanes - lane, 8);
    std::uint8_t* columns[8];
    for (int k = 0; k < n_lanes; ++k) columns[k] = columns8 + first[at(lane + k)] + begin;
    // May read past a row: arrays end with slack.
    kernels().copy_to_columns(group.bins8.data() + begin * stride + lane, stride, end - begin, n_lanes, columns);
  }
}

void BinMatrix::make_columns(Team& team) {
  const std::lock_guard lock(columns_mutex_);
  if (has_columns_.load(std::memory_order_relaxed) || groups_.empty() || pages_) return;
  // All of it is made before any of it is kept: memory may run out in the middle.
  auto [column_begin, size8, size16] = ColumnPlaces(groups_, n_rows_);
  Buffer<std::uint8_t> columns8(size8);
  Buffer<std::uint16_t> columns16(size16);
  for_blocks(team, n_rows_, kTileRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      copy_to_columns(groups_[g], begin, end, column_begin[g], columns8.data(), columns16.data());
    }
  });
  std::vector<std::vector<CommonBins>> common;
  for (const Group& group : groups_) common.push_back(find_common_bins(group, n_rows_));
  column_begin_ = std::move(column_begin);
  columns8_ = std::move(columns8);
  columns16_ = std::move(columns16);
  for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].common = std::move(common[g]);
  has_columns_.store(true, std::memory_order_release);
}

void BinMatrix::take_sample(Team& team, const BinMatrix& other, std::span<const RowIdx> rows) {
  constexpr std::int64_t kBlockRows = 1024;  // both copies of a block stay in cache
  const std::lock_guard lock(columns_mutex_);
  const auto n = static_cast<std::int64_t>(rows.size());
  has_columns_.store(false, std::memory_order_relaxed);
  n_rows_ = n;
  for (std::size_t f = 0; f < features_.size(); ++f) {
    features_[f].has_missing = other.features_[f].has_missing;
    features_[f].hidden = other.features_[f].hidden;
    features_[f].l2 = other.features_[f].l2;
  }
  ColumnPlaces places(groups_, n);
  const auto with_slack = [](std::int64_t size) { return size + size / 16; };  // the next sample may be a little larger
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    group.common = other.groups_[g].common;
    if (group.two_bytes) {
      group.bins16.grow_to(with_slack(n * group.row_stride));
    } else {
      group.bins8.grow_to(with_slack(n * group.row_stride));
    }
  }
  columns8_.grow_to(with_slack(places.size8));
  columns16_.grow_to(with_slack(places.size16));
  for_blocks(team, n, kBlockRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      copy_rows(other.groups_[g], rows, begin, end, groups_[g]);
      copy_to_columns(groups_[g], begin, end, places.begin[g], columns8_.data(), columns16_.data());
    }
  });
  column_begin_ = std::move(places.begin);
  cleared_ = true;
  has_columns_.store(true, std::memory_order_release);
}

void BinMatrix::rows_from_columns(Team& team, std::span<const std::int32_t> features) {
  for_blocks(team, n_rows_, kTileRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    for (const std::int32_t f : features) {
      const Feature& feature = features_[at(f)];
      Group& group = groups_[at(feature.group)];
      const std::int64_t first = column_begin_[at(feature.group)][at(feature.lane)];
      if (group.two_bytes) {
        const std::uint16_t* const from = columns16_.data() + first;
        for (std::int64_t r = begin; r < end; ++r) group.bins16[r * group.row_stride + feature.lane] = from[r];
      } else {
        const std::uint8_t* const from = columns8_.data() + first;
        for (std::int64_t r = begin; r < end; ++r) group.bins8[r * group.row_stride + feature.lane] = from[r];
      }
    }
  });
}

const void* BinMatrix::column(const Feature& feature) const {
  const std::int64_t first = column_begin_[at(feature.group)][at(feature.lane)];
  return groups_[at(feature.group)].two_bytes ? static_cast<const void*>(columns16_.data() + first)
                                              : static_cast<const void*>(columns8_.data() + first);
}

std::shared_ptr<const SparseRows> BinMatrix::sparse_rows(Team& team, std::int64_t min_count) {
  const std::lock_guard lock(columns_mutex_);
  // Made for a smaller count they serve as well, but longer rows cost time.
  if (!sparse_rows_ || sparse_rows_->min_count != min_count) sparse_rows_ = make_sparse_rows(team, *this, min_count);
  return sparse_rows_;
}

std::int64_t BinMatrix::entry_count(std::int32_t feature) const {
  const auto f = static_cast<std::size_t>(feature);
  if (!entry_counts_.empty()) return entry_counts_[f];
  const std::int32_t column = features_[f].entries;
  return column < 0 ? 0 : static_cast<std::int64_t>(sparse_.rows_of(column).size());
}

std::int64_t BinMatrix::n_bytes() const {
  std::int64_t bytes = 0;
  for (const Group& group : groups_) bytes += group.bins8.size() + 2 * group.bins16.size();
  if (has_columns_.load(std::memory_order_acquire)) bytes += columns8_.size() + 2 * columns16_.size();
  return bytes + sparse_.n_bytes();
}

}  // namespace gossamer
