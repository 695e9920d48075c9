// Histograms against plain loops over rows, lanes and integers of 64 bits.
#include <algorithm>
#include <memory>

#include "core/histogram.h"
#include "support.h"

namespace gossamer::tests {
namespace {

// Row-major bins of one group, with the row stride of BinMatrix.
template <class Bin>
struct Bins {
  int n_lanes = 0;
  int n_bins = 0;
  std::int64_t row_stride = 0;
  std::vector<std::int32_t> lane_offset;
  std::int64_t n_cells = 0;
  Buffer<Bin> bins;

  Bins(std::int64_t n_rows, int lanes, int bins_per_lane, Random& random) : n_lanes(lanes), n_bins(bins_per_lane) {
    row_stride = 1;
    while (row_stride < lanes) row_stride *= 2;
    for (int lane = 0; lane < lanes; ++lane) lane_offset.push_back(lane * bins_per_lane);
    n_cells = static_cast<std::int64_t>(lanes) * bins_per_lane;
    bins.reset(n_rows * row_stride);
    for (auto& b : bins) b = static_cast<Bin>(random.below(bins_per_lane));
  }
};

struct Selection {
  std::vector<RowIdx> rows;  // empty: contiguous
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;

  std::int64_t row(std::int64_t i) const {
    return rows.empty() ? first_row + i : static_cast<std::int64_t>(rows[at(i)]);
  }
};

Selection contiguous(std::int64_t first, std::int64_t n) { return {{}, first, n}; }

Selection gathered(std::int64_t n_all, double share, Random& random) {
  Selection s;
  for (std::int64_t i = 0; i < n_all; ++i) {
    if (random.chance(share)) s.rows.push_back(static_cast<RowIdx>(i));
  }
  if (s.rows.empty()) s.rows.push_back(0);
  s.n_rows = static_cast<std::int64_t>(s.rows.size());
  return s;
}

template <class Bin>
CellSums naive(const Bins<Bin>& b, const Rows& rows, const Selection& s) {
  CellSums sums(b.n_cells);
  for (std::int64_t i = 0; i < s.n_rows; ++i) {
    const std::int64_t row = s.row(i);
    for (int lane = 0; lane < b.n_lanes; ++lane) {
      const std::size_t cell = at(b.lane_offset[at(lane)] + b.bins[row * b.row_stride + lane]);
      sums.gradient[cell] += rows.gradient[at(row)];
      sums.hessian[cell] += rows.hessian[at(row)];
      sums.count[cell] += 1;
    }
  }
  return sums;
}

// Words of the cells after adding the selected rows to cleared ones.
template <class Bin>
std::vector<std::uint64_t> build(const Bins<Bin>& b, const Rows& rows, const Selection& s) {
  Buffer<std::uint64_t> cells(b.n_cells * (rows.layout.wide ? 2 : 1));
  std::fill(cells.begin(), cells.end(), std::uint64_t{0});
  BuildArgs args;
  args.bins = b.bins.data();
  args.row_stride = b.row_stride;
  args.n_lanes = b.n_lanes;
  args.lane_cells = b.n_bins;
  args.lane_offset = b.lane_offset.data();
  args.rows = s.rows.empty() ? nullptr : s.rows.data();
  args.first_row = s.first_row;
  args.n_rows = s.n_rows;
  args.row_values = rows.values();
  args.layout = &rows.layout;
  args.cells = cells.data();
  sizeof(Bin) == 1 ? kernels().build_u8(args) : kernels().build_u16(args);
  return {cells.begin(), cells.end()};
}

CellSums unpack(const std::vector<std::uint64_t>& cells, const CellLayout& layout) {
  CellSums sums(static_cast<std::int64_t>(cells.size()) / (layout.wide ? 2 : 1));
  kernels().unpack_add(cells.data(), sums.size(), layout, sums.view());
  return sums;
}

template <class Bin>
void check(const Bins<Bin>& b, const Rows& rows, const Selection& s) {
  const auto cells = same_at_every_level([&] { return build(b, rows, s); });
  const CellSums expected = naive(b, rows, s);
  at_every_level([&] {
    CHECK(unpack(cells, rows.layout) == expected);
    // And back.
    std::vector<std::uint64_t> packed(cells.size());
    CellSums sums = expected;
    kernels().pack(sums.view(), sums.size(), rows.layout, packed.data());
    CHECK(first_difference(packed, cells) == -1);
  });
}

struct Size {
  int n_value_bins;
  bool may_miss = true;
};

// A matrix whose features have these sizes, with random bins.
std::unique_ptr<BinMatrix> random_matrix(std::int64_t n_rows, const std::vector<Size>& sizes, bool share_lanes,
                                         Random& random) {
  std::vector<Feature> features;
  for (const Size& size : sizes) {
    Feature f;
    f.column = static_cast<std::int32_t>(features.size());
    f.n_value_bins = size.n_value_bins;
    f.may_miss = size.may_miss;
    f.upper.assign(at(size.n_value_bins), INFINITY);
    features.push_back(std::move(f));
  }
  auto matrix = std::make_unique<BinMatrix>(std::move(features), n_rows, share_lanes);
  std::vector<std::uint16_t> bins(at(n_rows));
  for (std::size_t f = 0; f < sizes.size(); ++f) {
    const int n_bins = sizes[f].n_value_bins + (sizes[f].may_miss ? 1 : 0);
    for (auto& b : bins) b = static_cast<std::uint16_t>(random.below(n_bins));
    matrix->set_column(static_cast<std::int64_t>(f), bins);
  }
  return matrix;
}

// Small features alone, small and large mixed, two bytes too.
const std::vector<std::vector<Size>> kMatrices{
    {{2, false}, {3, false}},
    {{3}, {4}, {5}, {2, false}, {16}},
    {{40}, {50, false}, {7}, {9}, {3}},
    {{255}, {3}, {40}, {700}, {15}, {255}, {63}, {300}, {1}, {16}, {2, false}, {100, false}},
};

// Sums by bin of every feature, one after another.
CellSums naive(const BinMatrix& matrix, const Rows& rows, const Selection& s) {
  std::int64_t n_all = 0;
  for (const Feature& f : matrix.features()) n_all += f.radix;
  CellSums sums(n_all);
  std::vector<std::uint16_t> bins(at(matrix.n_rows()));
  std::int64_t first = 0;
  for (std::size_t f = 0; f < matrix.features().size(); ++f) {
    matrix.copy_column(static_cast<std::int64_t>(f), bins.data());
    for (std::int64_t i = 0; i < s.n_rows; ++i) {
      const std::int64_t row = s.row(i);
      const std::size_t cell = at(first + bins[at(row)]);
      sums.gradient[cell] += rows.gradient[at(row)];
      sums.hessian[cell] += rows.hessian[at(row)];
      sums.count[cell] += 1;
    }
    first += matrix.features()[f].radix;
  }
  return sums;
}

Histogram make_histogram(std::int64_t n_cells, bool large, const CellLayout& layout) {
  HistogramPool pool;
  pool.configure(n_cells, 0, layout.wide, std::int64_t{1} << 40);
  return std::move(*pool.acquire(large));
}

void build_all(const BinMatrix& matrix, const Rows& rows, const Selection& s, Histogram& out) {
  Buffer<std::uint64_t> scratch(2 * matrix.n_cells());
  for (const Group& group : matrix.groups()) {
    build_group(group, s.rows.empty() ? nullptr : s.rows.data(), s.first_row, s.n_rows, rows.values(), matrix.n_cells(),
                rows.layout, scratch.data(), out);
  }
}

// The same from a histogram, as the search sees it.
CellSums read_features(const BinMatrix& matrix, Histogram& h, const CellLayout& layout) {
  std::int64_t n_all = 0;
  for (const Feature& f : matrix.features()) n_all += f.radix;
  CellSums sums(n_all);
  std::size_t cell = 0;
  Buffer<std::uint64_t> scratch(kFeatureScratchWords);
  for (const Feature& f : matrix.features()) {
    const FeatureCells own = feature_cells(h, f, matrix.n_cells(), layout, scratch.data());
    for (std::int64_t bin = 0; bin < f.radix; ++bin, ++cell) {
      const Sums s = sum_bins(own, bin, 1, layout);
      sums.gradient[cell] = s.gradient;
      sums.hessian[cell] = s.hessian;
      sums.count[cell] = static_cast<std::uint32_t>(s.count);
    }
  }
  return sums;
}

}  // namespace

TEST_SUITE("histogram") {
  TEST_CASE("one byte: every number of lanes and cells per lane") {
    Random random(11);
    for (const Form form : kForms) {
      const Rows rows(700, layout_of(form), random);
      for (const int lane_cells : {16, 64, 256}) {
        for (int lanes = 1; lanes <= 32; ++lanes) {
          CAPTURE(static_cast<int>(form));
          CAPTURE(lane_cells);
          CAPTURE(lanes);
          const Bins<std::uint8_t> bins(rows.size(), lanes, lane_cells, random);
          check(bins, rows, contiguous(0, rows.size()));
          check(bins, rows, contiguous(123, 400));
          check(bins, rows, gathered(rows.size(), 0.4, random));
          check(bins, rows, gathered(rows.size(), 0.01, random));
        }
      }
    }
  }

  TEST_CASE("two bytes: every number of lanes") {
    Random random(12);
    for (const Form form : kForms) {
      const Rows rows(700, layout_of(form), random);
      for (const int n_bins : {257, 1000}) {
        for (int lanes = 1; lanes <= 16; ++lanes) {
          CAPTURE(static_cast<int>(form));
          CAPTURE(n_bins);
          CAPTURE(lanes);
          const Bins<std::uint16_t> bins(rows.size(), lanes, n_bins, random);
          check(bins, rows, contiguous(0, rows.size()));
          check(bins, rows, contiguous(99, 200));
          check(bins, rows, gathered(rows.size(), 0.3, random));
        }
      }
    }
  }

  TEST_CASE("few rows, around the prefetch distance") {
    Random random(13);
    for (const Form form : kForms) {
      const Rows rows(80, layout_of(form), random);
      const Bins<std::uint8_t> narrow(rows.size(), 8, 16, random);
      const Bins<std::uint16_t> broad(rows.size(), 3, 300, random);
      for (std::int64_t n = 0; n <= 40; ++n) {
        Selection s = gathered(rows.size(), 1.0, random);
        s.rows.resize(at(std::max<std::int64_t>(n, 1)));
        s.n_rows = n;
        check(narrow, rows, s);
        check(broad, rows, s);
        check(narrow, rows, contiguous(5, n));
        check(broad, rows, contiguous(5, n));
      }
    }
  }

  TEST_CASE("a cell absorbs max_rows rows at the limits") {
    Random random(14);
    for (const Form form : kForms) {
      for (const int sign : {-1, 1}) {
        const CellLayout layout = layout_of(form);
        Rows rows(layout.max_rows, layout, random);
        std::fill(rows.gradient.begin(), rows.gradient.end(), sign * layout.gradient_limit);
        std::fill(rows.hessian.begin(), rows.hessian.end(), layout.hessian_limit);
        rows.encode();
        Bins<std::uint8_t> bins(rows.size(), 4, 16, random);
        std::fill(bins.bins.begin(), bins.bins.end(), std::uint8_t{3});
        check(bins, rows, contiguous(0, rows.size()));
      }
    }
  }

  TEST_CASE("subtracting and adding undo building, as words and as sums") {
    Random random(15);
    for (const Form form : kForms) {
      const Rows rows(1000, layout_of(form), random);
      const Bins<std::uint8_t> bins(rows.size(), 12, 64, random);
      const Selection some = gathered(rows.size(), 0.3, random);
      const auto all_cells = build(bins, rows, contiguous(0, rows.size()));
      const auto some_cells = build(bins, rows, some);
      Selection rest;
      for (std::int64_t i = 0; i < rows.size(); ++i) {
        if (!std::binary_search(some.rows.begin(), some.rows.end(), static_cast<RowIdx>(i))) {
          rest.rows.push_back(static_cast<RowIdx>(i));
        }
      }
      rest.n_rows = static_cast<std::int64_t>(rest.rows.size());
      const auto rest_cells = build(bins, rows, rest);
      const auto n_words = static_cast<std::int64_t>(all_cells.size());
      at_every_level([&] {
        auto words = all_cells;
        kernels().subtract_words(some_cells.data(), n_words, words.data());
        CHECK(first_difference(words, rest_cells) == -1);
        kernels().add_words(some_cells.data(), n_words, words.data());
        CHECK(first_difference(words, all_cells) == -1);

        CellSums all = unpack(all_cells, rows.layout);
        CellSums one = unpack(some_cells, rows.layout);
        const CellSums other = unpack(rest_cells, rows.layout);
        CellSums sums = all;
        kernels().subtract_large(one.view(), sums.size(), sums.view());
        CHECK(sums == other);
        kernels().add_large(one.view(), sums.size(), sums.view());
        CHECK(sums == all);
        kernels().unpack_subtract(some_cells.data(), sums.size(), rows.layout, sums.view());
        CHECK(sums == other);
      });
    }
  }

  TEST_CASE("chunks of gathered and contiguous rows") {
    Random random(19);
    for (const Form form : kForms) {
      const Rows rows(5000, layout_of(form), random);
      for (const int lanes : {3, 16, 17, 32}) {
        const Bins<std::uint8_t> bins(rows.size(), lanes, 64, random);
        check(bins, rows, contiguous(1, 4000));
        check(bins, rows, gathered(rows.size(), 0.7, random));
      }
    }
  }

  TEST_CASE("a leaf with more rows than a cell can absorb") {
    Random random(16);
    for (const Form form : kForms) {
      CellLayout layout = layout_of(form);
      layout.max_rows = form == Form::packed ? layout.max_rows : 3000;  // several flushes
      const Rows rows(20000, layout, random);
      for (const auto& sizes : kMatrices) {
        for (const bool share : {false, true}) {
          const auto matrix = random_matrix(rows.size(), sizes, share, random);
          CAPTURE(sizes.size());
          CAPTURE(share);
          for (const Selection& s : {contiguous(0, 20000), contiguous(7, 9001), gathered(20000, 0.5, random)}) {
            const CellSums expected = naive(*matrix, rows, s);
            at_every_level([&] {
              Histogram h = make_histogram(matrix->n_cells(), true, layout);
              build_all(*matrix, rows, s, h);
              CHECK(read_features(*matrix, h, layout) == expected);
            });
          }
        }
      }
    }
  }

  TEST_CASE("parent minus child, in every combination of forms") {
    Random random(17);
    for (const Form form : kForms) {
      const CellLayout layout = layout_of(form);
      const Rows rows(6000, layout, random);
      for (const auto& sizes : kMatrices) {
        for (const bool share : {false, true}) {
          const auto matrix = random_matrix(rows.size(), sizes, share, random);
          const std::int64_t n_cells = matrix->n_cells();
          const CellRange everything{0, n_cells};
          const CellSums expected = naive(*matrix, rows, contiguous(2500, 3500));
          struct Combination {
            bool parent_large, child_large, pack;
          };
          for (const Combination c : {Combination{false, false, false},
                                      {true, false, false},
                                      {true, true, false},
                                      {true, false, true},
                                      {true, true, true}}) {
            CAPTURE(static_cast<int>(form));
            CAPTURE(sizes.size());
            CAPTURE(share);
            CAPTURE(c.parent_large);
            CAPTURE(c.child_large);
            CAPTURE(c.pack);
            at_every_level([&] {
              Histogram parent = make_histogram(n_cells, c.parent_large, layout);
              Histogram child = make_histogram(n_cells, c.child_large, layout);
              Histogram packed = make_histogram(n_cells, false, layout);
              build_all(*matrix, rows, contiguous(0, 6000), parent);
              build_all(*matrix, rows, contiguous(0, 2500), child);
              subtract_range(child, everything, n_cells, layout, parent, c.pack ? &packed : nullptr);
              CHECK(read_features(*matrix, c.pack ? packed : parent, layout) == expected);
            });
          }
        }
      }
    }
  }

  TEST_CASE("partial histograms add up") {
    Random random(18);
    for (const Form form : kForms) {
      const CellLayout layout = layout_of(form);
      const Rows rows(5000, layout, random);
      const auto matrix = random_matrix(rows.size(), {{255}, {9}, {300}, {31}}, true, random);
      const std::int64_t n_cells = matrix->n_cells();
      const CellSums expected = naive(*matrix, rows, contiguous(0, 5000));
      for (const bool large : {false, true}) {
        Histogram a = make_histogram(n_cells, large, layout);
        Histogram b = make_histogram(n_cells, large, layout);
        build_all(*matrix, rows, contiguous(0, 1200), a);
        build_all(*matrix, rows, contiguous(1200, 3800), b);
        for (std::int64_t first = 0; first < n_cells; first += 100) {
          add_range(b, {first, std::min<std::int64_t>(100, n_cells - first)}, n_cells, layout, a);
        }
        CHECK(read_features(*matrix, a, layout) == expected);
      }
    }
  }

  TEST_CASE("the pool recycles and keeps its budget") {
    HistogramPool pool;
    pool.configure(1000, 0, false, 3 * 8000);
    auto first = pool.acquire(false);
    auto second = pool.acquire(false);
    CHECK_FALSE(pool.exhausted(false));
    auto third = pool.acquire(false);
    CHECK(pool.exhausted(false));
    CHECK(pool.exhausted(true));
    const auto* const words = second->words.data();
    pool.release(std::move(second));
    CHECK_FALSE(pool.exhausted(false));
    CHECK(pool.acquire(false)->words.data() == words);
    pool.release(nullptr);
    pool.configure(2000, 0, false, 1 << 20);
    CHECK(pool.acquire(false)->words.size() == 2000);
    CHECK(pool.acquire(true)->words.size() == 5000);
  }
}

}  // namespace gossamer::tests
