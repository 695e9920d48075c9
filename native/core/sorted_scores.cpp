#include "core/sorted_scores.h"

namespace gossamer {
namespace {

constexpr std::int64_t kRowsPerBucket = 2048;  // 16 KiB of keys
constexpr std::int64_t kMostCells = 1024;      // rows are distributed to this many cells at a time
constexpr std::int64_t kSample = 1024;

}  // namespace

ScoreGrid make_score_grid(const double* score, std::int64_t n) {
  ScoreGrid grid;
  grid.n_cells = static_cast<int>(std::clamp(n / kRowsPerBucket, std::int64_t{1}, kMostCells));
  if (grid.n_cells == 1) return grid;
  std::vector<std::uint64_t> sample(static_cast<std::size_t>(std::min(n, kSample)));
  const auto n_sampled = static_cast<std::int64_t>(sample.size());
  const std::int64_t stride = n / n_sampled;
  for (std::int64_t i = 0; i < n_sampled; ++i) sample[static_cast<std::size_t>(i)] = ordered_key(score[i * stride]);
  std::sort(sample.begin(), sample.end());
  // A few outliers must not put all other scores into one cell.
  const std::size_t cut = sample.size() / 64;
  grid.low = key_value(sample[cut]);
  const double width = key_value(sample[sample.size() - 1 - cut]) - grid.low;
  grid.scale = width > 0.0 ? grid.n_cells / width : 0.0;
  return grid;
}

}  // namespace gossamer
