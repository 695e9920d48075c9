#include "core/histogram.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/index.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

std::int64_t words_per_cell(const CellLayout& layout) { return layout.wide ? 2 : 1; }

template <class T>
void zero(T* p, std::int64_t n) {
  if (n > 0) std::memset(p, 0, static_cast<std::size_t>(n) * sizeof(T));
}

}  // namespace

void HistogramPool::configure(std::int64_t n_cells, std::int64_t n_light, bool wide, std::int64_t max_bytes) {
  max_bytes_ = max_bytes;
  if (n_cells == n_cells_ && n_light == n_light_ && wide == wide_) return;
  clear();
  n_cells_ = n_cells;
  n_light_ = n_light;
  wide_ = wide;
}

void HistogramPool::clear() {
  bytes_ = 0;
  free_small_.clear();
  free_large_.clear();
}

bool HistogramPool::exhausted(bool large) const {
  const auto& free = large ? free_large_ : free_small_;
  const std::int64_t idle = std::ssize(large ? free_small_ : free_large_) * bytes_of(!large);
  return free.empty() && bytes_ - idle + bytes_of(large) > max_bytes_;
}

std::unique_ptr<Histogram> HistogramPool::acquire(bool large, int thread) {
  constexpr std::int64_t kLookedAt = 16;
  auto& free = large ? free_large_ : free_small_;
  if (!free.empty()) {
    const auto last = free.rbegin() + std::min(kLookedAt, std::ssize(free));
    const auto own = std::find_if(free.rbegin(), last, [&](const Free& f) { return f.thread == thread; });
    if (own != last) std::swap(*own, free.back());
    auto histogram = std::move(free.back().histogram);
    free.pop_back();
    histogram->thread = thread;
    return histogram;
  }
  for (auto& idle = large ? free_small_ : free_large_;
       max_bytes_ > 0 && !idle.empty() && bytes_ + bytes_of(large) > max_bytes_; idle.pop_back()) {
    bytes_ -= bytes_of(!large);
  }
  auto histogram = std::make_unique<Histogram>();
  histogram->large = large;
  histogram->thread = thread;
  histogram->words.reset(words_for(large));
  histogram->light.reset(light_words());
  bytes_ += bytes_of(large);
  return histogram;
}

void HistogramPool::release(std::unique_ptr<Histogram> histogram) {
  if (!histogram) return;
  const int thread = histogram->thread;
  (histogram->large ? free_large_ : free_small_).push_back({std::move(histogram), thread});
}

void clear_range(Histogram& h, CellRange range, std::int64_t n_cells, const CellLayout& layout) {
  if (!h.large) {
    zero(static_cast<std::uint64_t*>(h.cells(range.first, layout)), range.n * words_per_cell(layout));
    return;
  }
  const LargeCells sums = h.sums(n_cells).offset(range.first);
  zero(sums.gradient, range.n);
  zero(sums.hessian, range.n);
  zero(sums.count, range.n);
}

void add_range(Histogram& x, CellRange range, std::int64_t n_cells, const CellLayout& layout, Histogram& out) {
  if (out.large && !x.large) {
    kernels().unpack_add(x.cells(range.first, layout), range.n, layout, out.sums(n_cells).offset(range.first));
    return;
  }
  if (out.large) {
    kernels().add_large(x.sums(n_cells).offset(range.first), range.n, out.sums(n_cells).offset(range.first));
    return;
  }
  kernels().add_words(static_cast<const std::uint64_t*>(x.cells(range.first, layout)), range.n * words_per_cell(layout),
                      static_cast<std::uint64_t*>(out.cells(range.first, layout)));
}

void subtract_range(Histogram& child, CellRange range, std::int64_t n_cells, const CellLayout& layout,
                    Histogram& parent, Histogram* packed) {
  if (!parent.large) {
    kernels().subtract_words(static_cast<const std::uint64_t*>(child.cells(range.first, layout)),
                             range.n * words_per_cell(layout),
                             static_cast<std::uint64_t*>(parent.cells(range.first, layout)));
    return;
  }
  const LargeCells sums = parent.sums(n_cells).offset(range.first);
  if (child.large) {
    kernels().subtract_large(child.sums(n_cells).offset(range.first), range.n, sums);
  } else {
    kernels().unpack_subtract(child.cells(range.first, layout), range.n, layout, sums);
  }
  if (packed != nullptr) kernels().pack(sums, range.n, layout, packed->cells(range.first, layout));
}

namespace {

// out[digit] = sum of values over all cells of the lane with that digit, kWidth words a cell. Digits above this one are
// summed up first: runs of cells, of which a compiler makes vectors.
template <int kWidth, class T>
void add_marginals(const T* values, const Feature& feature, T* out) {
  const std::int64_t run = feature.stride * kWidth;  // words of cells with the same digit
  const std::int64_t n_words = feature.radix * run;
  std::array<T, 256 * kWidth> sums;
  std::copy_n(values, n_words, sums.data());
  for (std::int64_t first = n_words; first < feature.lane_values * kWidth; first += n_words) {
    for (std::int64_t i = 0; i < n_words; ++i) sums[at(i)] += values[first + i];
  }
  for (std::int64_t digit = 0; digit < feature.radix; ++digit) {
    T sum[kWidth] = {};
    for (std::int64_t i = digit * run; i < (digit + 1) * run; i += kWidth) {
      for (int w = 0; w < kWidth; ++w) sum[w] += sums[at(i + w)];
    }
    for (int w = 0; w < kWidth; ++w) out[digit * kWidth + w] = sum[w];
  }
}

}  // namespace

FeatureCells feature_cells(Histogram& h, const Feature& feature, std::int64_t n_cells, const CellLayout& layout,
                           std::uint64_t* scratch) {
  FeatureCells result;
  if (!h.large) {
    const void* const cells = h.cells(feature.first_cell, layout);
    result.cells = cells;
    if (feature.shared) {
      const auto* const words = static_cast<const std::uint64_t*>(cells);
      layout.wide ? add_marginals<2>(words, feature, scratch) : add_marginals<1>(words, feature, scratch);
      result.cells = scratch;
    }
    return result;
  }
  result.large = h.sums(n_cells).offset(feature.first_cell);
  if (feature.shared) {
    auto* const words = reinterpret_cast<std::int64_t*>(scratch);
    const LargeCells marginals{words, words + 257, reinterpret_cast<std::uint32_t*>(words + 2 * 257)};
    add_marginals<1, std::int64_t>(result.large.gradient, feature, marginals.gradient);
    add_marginals<1, std::int64_t>(result.large.hessian, feature, marginals.hessian);
    add_marginals<1, std::uint32_t>(result.large.count, feature, marginals.count);
    result.large = marginals;
  }
  return result;
}

FeatureCells with_zero_cell(const FeatureCells& others, const Feature& feature, const Sums& leaf, bool large,
                            const CellLayout& layout, std::uint64_t* scratch) {
  const std::int64_t n = feature.n_other_bins();
  const std::int64_t zero_bin = feature.zero_bin;
  const std::int64_t n_after = n - zero_bin;  // zero_bin counts even if no other bin follows
  FeatureCells result;
  if (!large) {
    const std::int64_t width = words_per_cell(layout);
    const auto* const from = static_cast<const std::uint64_t*>(others.cells);
    std::memcpy(scratch, from, static_cast<std::size_t>(zero_bin * width) * 8);
    std::memcpy(scratch + (zero_bin + 1) * width, from + zero_bin * width,
                static_cast<std::size_t>(n_after * width) * 8);
    std::int64_t gradient = leaf.gradient;
    std::int64_t hessian = leaf.hessian;
    auto count = static_cast<std::uint32_t>(leaf.count);
    std::uint64_t* const zero_cell = scratch + zero_bin * width;
    alignas(16) std::uint64_t cell[2];
    kernels().pack({&gradient, &hessian, &count}, 1, layout, cell);
    // Subtracting words subtracts their fields: only the gradient's difference can be negative.
    for (std::int64_t i = 0; i < n * width; i += width) {
      for (std::int64_t w = 0; w < width; ++w) cell[w] -= from[i + w];
    }
    std::memcpy(zero_cell, cell, static_cast<std::size_t>(width) * 8);
    result.cells = scratch;
    return result;
  }
  auto* const words = reinterpret_cast<std::int64_t*>(scratch);
  const std::int64_t step = n + 2;
  const LargeCells all{words, words + step, reinterpret_cast<std::uint32_t*>(words + 2 * step)};
  zero(all.gradient, n + 1);
  zero(all.hessian, n + 1);
  zero(all.count, n + 1);
  if (others.cells != nullptr) {
    kernels().unpack_add(others.cells, zero_bin, layout, all);
    kernels().unpack_add(others.from(zero_bin, layout).cells, n_after, layout, all.offset(zero_bin + 1));
  } else {
    kernels().add_large(others.large, zero_bin, all);
    kernels().add_large(others.large.offset(zero_bin), n_after, all.offset(zero_bin + 1));
  }
  Sums rest = leaf;
  for (std::int64_t i = 0; i <= n; ++i) {
    rest.gradient -= all.gradient[i];
    rest.hessian -= all.hessian[i];
    rest.count -= all.count[i];
  }
  all.gradient[zero_bin] = rest.gradient;
  all.hessian[zero_bin] = rest.hessian;
  all.count[zero_bin] = static_cast<std::uint32_t>(rest.count);
  result.large = all;
  return result;
}

namespace {

template <int kWidth, class T>
void add_from_above(const T* values, std::span<const std::int64_t> first_cell, T* out) {
  for (std::size_t k = 0; k + 1 < first_cell.size(); ++k) {
    const std::int64_t first = first_cell[k] - first_cell[0];
    T sum[kWidth] = {};
    for (std::int64_t c = first_cell[k + 1] - first_cell[0] - 1; c >= first; --c) {
      for (int w = 0; w < kWidth; ++w) out[c * kWidth + w] = sum[w] += values[c * kWidth + w];
    }
  }
}

}  // namespace

FeatureCells sums_from_above(const FeatureCells& cells, std::span<const std::int64_t> first_cell,
                             const CellLayout& layout, std::uint64_t* scratch) {
  FeatureCells result;
  if (cells.cells != nullptr) {
    const auto* const words = static_cast<const std::uint64_t*>(cells.cells);
    layout.wide ? add_from_above<2>(words, first_cell, scratch) : add_from_above<1>(words, first_cell, scratch);
    result.cells = scratch;
    return result;
  }
  const std::int64_t step = first_cell.back() - first_cell.front() + 1;
  auto* const sums = reinterpret_cast<std::int64_t*>(scratch);
  result.large = {sums, sums + step, reinterpret_cast<std::uint32_t*>(sums + 2 * step)};
  add_from_above<1, std::int64_t>(cells.large.gradient, first_cell, result.large.gradient);
  add_from_above<1, std::int64_t>(cells.large.hessian, first_cell, result.large.hessian);
  add_from_above<1, std::uint32_t>(cells.large.count, first_cell, result.large.count);
  return result;
}

Sums sum_bins(const FeatureCells& feature, std::int64_t first, std::int64_t n, const CellLayout& layout) {
  Sums total;
  if (feature.cells == nullptr) {
    for (std::int64_t i = first; i < first + n; ++i) {
      total += {feature.large.gradient[i], feature.large.hessian[i], feature.large.count[i]};
    }
    return total;
  }
  // There are so few rows that whole cells can be added before they are unpacked.
  const std::int64_t width = words_per_cell(layout);
  const auto* const words = static_cast<const std::uint64_t*>(feature.cells) + first * width;
  alignas(16) std::uint64_t cell[2] = {0, 0};
  if (width == 1) {
    cell[0] = std::accumulate(words, words + n, std::uint64_t{0});
  } else {
    for (std::int64_t i = 0; i < 2 * n; ++i) cell[i % 2] += words[i];
  }
  std::uint32_t count = 0;
  kernels().unpack_add(cell, 1, layout, {&total.gradient, &total.hessian, &count});
  total.count = count;
  return total;
}

namespace {

// Ranges of cells whose counts exceed `limit` in some cell of their lane; neighbouring lanes make one range.
std::vector<CellRange> lanes_above(std::int64_t limit, const Group& group, LaneRange lanes,
                                   const std::uint32_t* counts) {
  std::vector<CellRange> found;
  for (int lane = lanes.first; lane < lanes.first + lanes.n; ++lane) {
    const CellRange cells = LaneRange{lane, 1}.cells(group);
    std::uint32_t largest = 0;
    for (std::int64_t i = 0; i < cells.n; ++i) largest = std::max(largest, counts[cells.first + i]);
    if (largest <= limit) continue;
    if (!found.empty() && found.back().first + found.back().n == cells.first) {
      found.back().n += cells.n;
    } else {
      found.push_back(cells);
    }
  }
  return found;
}

}  // namespace

void add_lanes(const Group& group, LaneRange lanes, const void* bins, const RowList& rows, const void* row_values,
               std::int64_t n_cells, const CellLayout& layout, BuildScratch& scratch, Histogram& out, bool take_out,
               const std::uint32_t* most) {
  const CellRange range = lanes.cells(group);
  BuildArgs args;
  args.bins = bins;
  args.row_stride = group.row_stride;
  args.first_lane = lanes.first;
  args.n_lanes = lanes.n;
  args.lane_cells = group.lane_cells;
  args.lane_offset = group.lane_offset.data();
  args.row_values = row_values;
  args.layout = &layout;
  args.take_out = take_out;
  args.as_columns = merges_stores();
  args.common = group.common.data();
  args.n_common = static_cast<int>(group.common.size());
  const auto build = group.two_bytes ? kernels().build_u16 : kernels().build_u8;
  if (scratch.next_rows.rows != nullptr) {
    args.next_bins = scratch.next_bins;
    args.next_rows = scratch.next_rows.rows;
    args.n_next = scratch.next_rows.n;
  }
  RowReader reader = scratch.reader_of(rows);
  const auto add_next = [&](std::int64_t most_rows) {
    const RowList piece = reader.next(most_rows);
    args.rows = piece.rows;
    args.first_row = piece.first_row;
    args.n_rows = piece.n;
    args.n_after = reader.n_after();
    build(args);
  };
  if (!out.large) {
    args.cells = out.cells(group.first_cell, layout);
    while (reader.n_left() > 0) add_next(rows.n);
    return;
  }
  scratch.cells.grow_to(group.n_cells * words_per_cell(layout));
  args.cells = scratch.cells.data();
  const auto words_of = [&](CellRange cells) {
    return scratch.cells.data() + (cells.first - group.first_cell) * words_per_cell(layout);
  };
  // Sums of the cells in the scratch are added to the histogram.
  const auto empty = [&](CellRange cells) {
    kernels().unpack_add(words_of(cells), cells.n, layout, out.sums(n_cells).offset(cells.first));
    zero(words_of(cells), cells.n * words_per_cell(layout));
  };
  zero(words_of(range), range.n * words_per_cell(layout));
  // Lanes that may overflow are emptied after every step, the others after the last one.
  std::vector<CellRange> may_overflow;
  if (rows.n > layout.max_rows) {
    may_overflow = most != nullptr ? lanes_above(layout.max_rows, group, lanes, most) : std::vector<CellRange>{range};
  }
  const std::int64_t step = may_overflow.empty() ? rows.n : layout.max_rows;
  while (reader.n_left() > 0) {
    add_next(step);
    if (reader.n_left() == 0) break;
    for (const CellRange& cells : may_overflow) empty(cells);
  }
  kernels().unpack_add(words_of(range), range.n, layout, out.sums(n_cells).offset(range.first));
}

}  // namespace gossamer
