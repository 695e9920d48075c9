#include "core/common_bins.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/index.h"

namespace gossamer {
namespace {

constexpr std::int64_t kSampleRows = 2048;
constexpr std::int64_t kLeastRows = 16384;  // of a table: in smaller ones, the sample would take longer than it saves
constexpr std::size_t kMostLanes = 8;
// Looking at a row takes about as long as adding it to so many lanes.
constexpr double kCostOfLook = 2.0;

using SampleBits = std::array<std::uint64_t, kSampleRows / 64>;

// A lane's most frequent bin, and the rows of the sample that have it.
struct Usual {
  std::uint8_t bin = 0;
  SampleBits rows{};
};

Usual find_usual(const Group& group, std::int64_t n_rows, std::size_t lane) {
  std::array<std::uint8_t, kSampleRows> bins;
  std::array<int, 256> counts{};
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const std::int64_t row = n_rows * static_cast<std::int64_t>(i) / kSampleRows;
    bins[i] = group.bins8[row * group.row_stride + static_cast<std::int64_t>(lane)];
    ++counts[bins[i]];
  }
  Usual usual;
  usual.bin = static_cast<std::uint8_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  for (std::size_t i = 0; i < bins.size(); ++i) {
    usual.rows[i / 64] |= static_cast<std::uint64_t>(bins[i] == usual.bin) << (i % 64);
  }
  return usual;
}

double share_of(const SampleBits& rows) {
  int n = 0;
  for (const std::uint64_t word : rows) n += std::popcount(word);
  return static_cast<double>(n) / static_cast<double>(kSampleRows);
}

}  // namespace

std::vector<CommonBins> find_common_bins(const Group& group, std::int64_t n_rows) {
  if (group.two_bytes || group.lane_cells < 192 || n_rows < kLeastRows) return {};
  const auto n_lanes = at(group.n_lanes);
  std::vector<Usual> usual;
  for (std::size_t lane = 0; lane < n_lanes; ++lane) usual.push_back(find_usual(group, n_rows, lane));
  // By number of lanes from the first one: the most adds per row that can be saved, and how many of the last lanes are
  // then taken together.
  std::vector<double> saved(n_lanes + 1, 0.0);
  std::vector<std::size_t> together(n_lanes + 1, 0);
  for (std::size_t end = 1; end <= n_lanes; ++end) {
    saved[end] = saved[end - 1];
    SampleBits rows;
    rows.fill(~std::uint64_t{0});
    for (std::size_t n = 1; n <= std::min(end, kMostLanes); ++n) {
      for (std::size_t w = 0; w < rows.size(); ++w) rows[w] &= usual[end - n].rows[w];
      const double all = saved[end - n] + share_of(rows) * static_cast<double>(n) - kCostOfLook;
      if (all <= saved[end]) continue;
      saved[end] = all;
      together[end] = n;
    }
  }
  std::vector<CommonBins> found;
  for (std::size_t end = n_lanes; end > 0; end -= std::max<std::size_t>(together[end], 1)) {
    if (together[end] == 0) continue;
    const std::size_t first = end - together[end];
    CommonBins& common = found.emplace_back();
    common.first_lane = static_cast<int>(first);
    common.n_lanes = static_cast<int>(together[end]);
    for (std::size_t lane = first; lane < end; ++lane) {
      common.bins |= static_cast<std::uint64_t>(usual[lane].bin) << (8 * (lane - first));
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace gossamer
