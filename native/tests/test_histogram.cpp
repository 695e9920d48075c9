// Histograms against plain loops over rows, lanes and integers of 64 bits.
#include <algorithm>
#include <memory>

#include "core/common_bins.h"
#include "core/histogram.h"
#include "support.h"

namespace gossamer::tests {
namespace {

// Row-major bins of one group, with the row stride of BinMatrix.
template <class Bin>
struct Bins {
  int n_lanes = 0;
  int n_bins = 0;
  int first_lane = 0;  // the first one that is added
  std::int64_t row_stride = 0;
  std::vector<std::int32_t> lane_offset;
  std::int64_t n_cells = 0;
  Buffer<Bin> bins;
  std::vector<CommonBins> common;

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
    for (int lane = b.first_lane; lane < b.n_lanes; ++lane) {
      const std::size_t cell = at(b.lane_offset[at(lane)] + b.bins[row * b.row_stride + lane]);
      sums.gradient[cell] += rows.gradient[at(row)];
      sums.hessian[cell] += rows.hessian[at(row)];
      sums.count[cell] += 1;
    }
  }
  return sums;
}

// Words of the cells after adding the selected rows to cleared ones, or after taking them out of `filled`.
template <class Bin>
std::vector<std::uint64_t> build(const Bins<Bin>& b, const Rows& rows, const Selection& s,
                                 const std::vector<std::uint64_t>* filled = nullptr, bool as_columns = true) {
  Buffer<std::uint64_t> cells(b.n_cells * (rows.layout.wide ? 2 : 1));
  std::fill(cells.begin(), cells.end(), std::uint64_t{0});
  BuildArgs args;
  args.take_out = filled != nullptr;
  args.as_columns = as_columns;
  if (filled != nullptr) std::copy(filled->begin(), filled->end(), cells.begin());
  args.bins = b.bins.data();
  args.row_stride = b.row_stride;
  args.first_lane = b.first_lane;
  args.n_lanes = b.n_lanes - b.first_lane;
  args.lane_cells = b.n_bins;
  args.lane_offset = b.lane_offset.data();
  args.row_values = rows.values();
  args.layout = &rows.layout;
  args.cells = cells.data();
  args.common = b.common.data();
  args.n_common = static_cast<int>(b.common.size());
  // In two pieces, of which the first knows that rows follow it, and the second that all are added again.
  const std::int64_t n_first = as_columns ? s.n_rows / 3 : 2 * s.n_rows / 3;
  for (const auto& [begin, end] : {std::pair(std::int64_t{0}, n_first), std::pair(n_first, s.n_rows)}) {
    args.rows = s.rows.empty() ? nullptr : s.rows.data() + begin;
    args.first_row = s.first_row + begin;
    args.n_rows = end - begin;
    args.n_after = s.n_rows - end;
    if (end == s.n_rows && !s.rows.empty()) {
      args.next_bins = b.bins.data();
      args.next_rows = s.rows.data();
      args.n_next = s.n_rows;
    }
    sizeof(Bin) == 1 ? kernels().build_u8(args) : kernels().build_u16(args);
  }
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
  CHECK(first_difference(build(b, rows, s, nullptr, false), cells) == -1);
  const CellSums expected = naive(b, rows, s);
  const auto empty = same_at_every_level([&] { return build(b, rows, s, &cells); });
  CHECK(first_difference(empty, std::vector<std::uint64_t>(cells.size())) == -1);
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

void build_all(const BinMatrix& matrix, const Rows& rows, const Selection& s, Histogram& out,
               const std::uint32_t* most = nullptr) {
  BuildScratch scratch;
  const RowList list{s.rows.empty() ? nullptr : s.rows.data(), s.first_row, s.n_rows, nullptr};
  // The same rows as bits, from the first word that has some.
  std::vector<std::uint64_t> words(at(matrix.n_rows() / 64 + 1));
  for (const RowIdx row : s.rows) words[row / 64] |= std::uint64_t{1} << (row % 64);
  const std::int64_t first_word = s.rows.empty() ? 0 : s.rows.front() / 64;
  const RowList bits{nullptr, 64 * first_word, s.n_rows, words.data() + first_word};
  for (const Group& group : matrix.groups()) {
    clear_range(out, {group.first_cell, group.n_cells}, matrix.n_cells(), rows.layout);
    // Lanes can be built apart.
    const int middle = group.n_lanes / 3;
    for (const LaneRange lanes : {LaneRange{0, middle}, LaneRange{middle, group.n_lanes - middle}}) {
      if (lanes.n == 0) continue;
      add_lanes(group, lanes, group.bins(), s.rows.empty() || lanes.first == 0 ? list : bits, rows.values(),
                matrix.n_cells(), rows.layout, scratch, out, false, most);
    }
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

// Rows of different lengths: the cells each one adds to.
struct Codes {
  std::int64_t n_cells;
  std::int64_t n_heavy;
  bool wide;
  Buffer<std::int64_t> row_begin;
  std::vector<std::vector<std::uint32_t>> of_row;
  Buffer<std::uint16_t> codes16;
  Buffer<std::uint32_t> codes32;

  Codes(std::int64_t n_rows, std::int64_t cells, std::int64_t heavy, bool wide_codes, Random& random)
      : n_cells(cells), n_heavy(heavy), wide(wide_codes), row_begin(n_rows + 1), of_row(at(n_rows)) {
    row_begin[0] = 0;
    for (std::int64_t row = 0; row < n_rows; ++row) {
      const double share = row % 5 == 0 ? 0.0 : row % 7 == 0 ? 0.5 : 0.03;
      for (std::int64_t c = 0; c < cells; ++c) {
        if (random.chance(share)) of_row[at(row)].push_back(static_cast<std::uint32_t>(c));
      }
      row_begin[row + 1] = row_begin[row] + static_cast<std::int64_t>(of_row[at(row)].size());
    }
    codes16.reset(row_begin[n_rows]);
    codes32.reset(row_begin[n_rows]);
    std::int64_t e = 0;
    for (const auto& row : of_row) {
      for (const std::uint32_t code : row) {
        codes16[e] = static_cast<std::uint16_t>(code);
        codes32[e++] = code;
      }
    }
  }
};

// Words of the heavy cells, then of the light ones.
std::vector<std::uint64_t> build(const Codes& codes, const Rows& rows, const Selection& s, std::int64_t n_cells) {
  const std::int64_t width = rows.layout.wide ? 2 : 1;
  Buffer<std::uint64_t> heavy(codes.n_heavy * width), light((codes.n_cells - codes.n_heavy) * width);
  std::fill(heavy.begin(), heavy.end(), std::uint64_t{0});
  std::fill(light.begin(), light.end(), std::uint64_t{0});
  SparseBuildArgs args;
  args.row_begin = codes.row_begin.data();
  args.codes = codes.wide ? static_cast<const void*>(codes.codes32.data()) : codes.codes16.data();
  args.wide_codes = codes.wide;
  args.rows = s.rows.empty() ? nullptr : s.rows.data();
  args.first_row = s.first_row;
  args.n_rows = s.n_rows;
  args.row_values = rows.values();
  args.layout = &rows.layout;
  args.n_cells = n_cells;
  args.n_heavy = static_cast<std::uint32_t>(codes.n_heavy);
  args.heavy = heavy.data();
  args.light = light.data();
  kernels().build_sparse(args);
  std::vector<std::uint64_t> cells(heavy.begin(), heavy.end());
  cells.insert(cells.end(), light.begin(), light.end());
  return cells;
}

void check(const Codes& codes, const Rows& rows, const Selection& s) {
  CellSums expected(codes.n_cells);
  for (std::int64_t i = 0; i < s.n_rows; ++i) {
    const std::size_t row = at(s.row(i));
    for (const std::uint32_t code : codes.of_row[row]) {
      expected.gradient[code] += rows.gradient[row];
      expected.hessian[code] += rows.hessian[row];
      expected.count[code] += 1;
    }
  }
  // Cells are prefetched only if a histogram does not fit a cache.
  for (const std::int64_t n_cells : {codes.n_cells, std::int64_t{1} << 20}) {
    const auto cells = same_at_every_level([&] { return build(codes, rows, s, n_cells); });
    CHECK(unpack(cells, rows.layout) == expected);
  }
}

CellSums read_cells(const FeatureCells& cells, std::int64_t n, const CellLayout& layout) {
  CellSums sums(n);
  for (std::int64_t c = 0; c < n; ++c) {
    const Sums s = sum_bins(cells, c, 1, layout);
    sums.gradient[at(c)] = s.gradient;
    sums.hessian[at(c)] = s.hessian;
    sums.count[at(c)] = static_cast<std::uint32_t>(s.count);
  }
  return sums;
}

// A leaf with rows in every bin; all but the cell of zero are handed over.
void check_zero_cell(const Feature& f, const CellLayout& layout, std::int64_t n_rows, Random& random) {
  const std::int64_t n = f.n_bins();
  CellSums all(n);
  Sums leaf;
  for (std::int64_t i = 0; i < n_rows; ++i) {
    // Bins other than zero's hold so few rows that they fit packed cells whatever the leaf.
    const std::size_t b = i < 4000 ? at(random.below(n)) : at(f.zero_bin);
    const std::int64_t gradient = random.below(2 * layout.gradient_limit + 1) - layout.gradient_limit;
    const std::int64_t hessian = layout.constant_hessian() ? 0 : random.below(layout.hessian_limit + 1);
    all.gradient[b] += gradient;
    all.hessian[b] += hessian;
    all.count[b] += 1;
    leaf += {gradient, hessian, 1};
  }
  CellSums others(f.n_other_bins());
  std::size_t o = 0;
  for (std::int64_t b = 0; b < n; ++b) {
    if (b == f.zero_bin) continue;
    others.gradient[o] = all.gradient[at(b)];
    others.hessian[o] = all.hessian[at(b)];
    others.count[o++] = all.count[at(b)];
  }
  Buffer<std::uint64_t> packed(2 * others.size() + 2);
  kernels().pack(others.view(), others.size(), layout, packed.data());
  struct Case {
    bool large, packed;
  };
  for (const Case c : {Case{false, true}, {true, true}, {true, false}}) {
    if (!c.large && n_rows > layout.max_rows) continue;
    FeatureCells from;
    if (c.packed) {
      from.cells = packed.data();
    } else {
      from.large = others.view();
    }
    // Exactly as much room as the grower has, and nothing in it that helps.
    std::vector<std::uint64_t> scratch(at(zero_scratch_words(f.n_value_bins + 1)), ~std::uint64_t{0});
    CAPTURE(n_rows);
    CAPTURE(c.large);
    CAPTURE(c.packed);
    at_every_level([&] {
      const FeatureCells got = with_zero_cell(from, f, leaf, c.large, layout, scratch.data());
      CHECK((got.cells == nullptr) == c.large);
      CHECK(read_cells(got, n, layout) == all);
    });
  }
}

}  // namespace

TEST_SUITE("histogram") {
  TEST_CASE("one byte: every number of lanes and cells per lane") {
    Random random(11);
    for (const Form form : kForms) {
      const Rows rows(700, layout_of(form), random);
      for (const int lane_cells : {16, 64, 192, 256}) {
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

  // Lanes 0, 1, ... have their bins in common in many rows.
  TEST_CASE("bins that rows have in common") {
    Random random(22);
    for (const Form form : kForms) {
      const Rows rows(2500, layout_of(form), random);
      for (int lanes = 1; lanes <= 32; ++lanes) {
        CAPTURE(static_cast<int>(form));
        const int lane_cells = lanes % 2 == 0 ? 192 : 256;
        CAPTURE(lanes);
        Bins<std::uint8_t> bins(rows.size(), lanes, lane_cells, random);
        for (int first = 0; first < lanes;) {
          CommonBins common;
          common.first_lane = first;
          common.n_lanes = std::min(1 + static_cast<int>(random.below(8)), lanes - first);
          for (int k = 0; k < common.n_lanes; ++k) {
            common.bins |= std::uint64_t(random.below(lane_cells)) << (8 * k);
          }
          for (std::int64_t row = 0; row < rows.size(); ++row) {
            if (random.chance(0.3)) continue;
            for (int k = 0; k < common.n_lanes; ++k) {
              bins.bins[row * bins.row_stride + first + k] = static_cast<std::uint8_t>(common.bins >> (8 * k));
            }
          }
          if (random.chance(0.7)) bins.common.push_back(common);
          first += common.n_lanes;
        }
        check(bins, rows, contiguous(0, rows.size()));
        check(bins, rows, contiguous(77, 1500));
        check(bins, rows, gathered(rows.size(), 0.6, random));
        check(bins, rows, gathered(rows.size(), 0.01, random));
      }
    }
  }

  // In some lanes many rows have the same bin, in rows next to each other or anywhere.
  TEST_CASE("lanes whose adds wait for each other") {
    Random random(24);
    for (const Form form : kForms) {
      const Rows rows(1500, layout_of(form), random);
      for (int lanes = 17; lanes <= 32; ++lanes) {
        CAPTURE(static_cast<int>(form));
        CAPTURE(lanes);
        Bins<std::uint8_t> bins(rows.size(), lanes, 256, random);
        for (int lane = 0; lane < lanes; ++lane) {
          if (random.chance(0.7)) continue;
          const bool in_turns = random.chance(0.5);
          for (std::int64_t row = 0; row < rows.size(); ++row) {
            std::uint8_t& bin = bins.bins[row * bins.row_stride + lane];
            if (in_turns ? row % 100 != 0 : random.chance(0.6)) {
              bin = in_turns && row > 0 ? bins.bins[(row - 1) * bins.row_stride + lane] : std::uint8_t{255};
            }
          }
        }
        check(bins, rows, contiguous(0, rows.size()));
        check(bins, rows, contiguous(31, 1003));
        check(bins, rows, gathered(rows.size(), 0.9, random));
        bins.first_lane = static_cast<int>(random.below(lanes - 15));
        check(bins, rows, contiguous(0, rows.size()));
        check(bins, rows, gathered(rows.size(), 0.5, random));
      }
    }
  }

  TEST_CASE("common bins are found where lanes are zero in the same rows") {
    Random random(23);
    const std::int64_t n_rows = 20000;
    auto matrix = random_matrix(n_rows, std::vector<Size>(20, Size{200, false}), false, random);
    // Features 3 to 14 are 7 in four rows of five, 18 and 19 in other rows.
    for (int f = 3; f < 20; ++f) {
      if (f >= 15 && f < 18) continue;
      std::vector<std::uint16_t> bins(at(n_rows));
      for (std::size_t row = 0; row < bins.size(); ++row) {
        const bool is_common = f < 15 ? row % 5 != 0 : row % 3 != 0;
        bins[row] = is_common ? std::uint16_t{7} : static_cast<std::uint16_t>(random.below(200));
      }
      matrix->set_column(f, bins);
    }
    const Group& group = matrix->groups()[0];
    const std::vector<CommonBins> found = find_common_bins(group, n_rows);
    REQUIRE(found.size() == 2);
    CHECK(found[0].first_lane == 3);
    CHECK(found[0].first_lane + found[0].n_lanes == found[1].first_lane);
    CHECK(found[1].first_lane + found[1].n_lanes == 15);
    for (const CommonBins& common : found) {
      for (int k = 0; k < common.n_lanes; ++k) CHECK(((common.bins >> (8 * k)) & 255) == 7);
    }
    CHECK(find_common_bins(group, 10000).empty());  // too few rows
    Team team(2);
    matrix->make_columns(team);
    REQUIRE(group.common.size() == 2);
    // In a histogram of some lanes only.
    for (const Form form : kForms) {
      CAPTURE(static_cast<int>(form));
      const Rows rows(n_rows, layout_of(form), random);
      for (const Selection& s : {contiguous(0, n_rows), gathered(n_rows, 0.3, random), gathered(n_rows, 0.9, random)}) {
        Histogram h = make_histogram(matrix->n_cells(), true, rows.layout);
        build_all(*matrix, rows, s, h);
        CHECK(read_features(*matrix, h, rows.layout) == naive(*matrix, rows, s));
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

  // Every tree's sums are what its rows alone give, whatever the layouts of the others.
  TEST_CASE("eight trees at once") {
    Random random(21);
    constexpr Form kPackedForms[] = {Form::packed, Form::packed_fine, Form::constant_hessian};
    for (int n_trees = 1; n_trees <= 8; ++n_trees) {
      std::vector<Rows> trees;
      for (int k = 0; k < n_trees; ++k) trees.emplace_back(3000, layout_of(kPackedForms[random.below(3)]), random);
      for (const int lane_cells : {16, 64, 192, 256}) {
        const Bins<std::uint8_t> bins(3000, 13, lane_cells, random);
        for (int n_lanes = 1; n_lanes <= 8; ++n_lanes) {
          CAPTURE(n_trees);
          CAPTURE(lane_cells);
          CAPTURE(n_lanes);
          EightBuildArgs args;
          args.bins = bins.bins.data();
          args.row_stride = bins.row_stride;
          args.first_lane = 13 - n_lanes;
          args.n_lanes = n_lanes;
          args.lane_cells = lane_cells;
          args.n_trees = n_trees;
          for (std::size_t k = 0; k < trees.size(); ++k) {
            args.row_values[k] = trees[k].packed.data();
            args.layouts[k] = &trees[k].layout;
          }
          const std::int64_t n_cells = n_lanes * lane_cells;
          std::vector<std::uint64_t> cells(at(8 * n_cells), 0);
          std::vector<std::int64_t> sums(at(24 * n_cells), 0);
          args.cells = cells.data();
          for (const auto& [begin, end] : {std::pair{1, 2048}, std::pair{2048, 2991}}) {  // a cell's most rows: 2047
            args.first_row = begin;
            args.n_rows = end - begin;
            kernels().build_eight(args);
            kernels().empty_eight(args, sums.data());
          }
          CHECK(std::all_of(cells.begin(), cells.end(), [](std::uint64_t word) { return word == 0; }));
          for (std::size_t k = 0; k < trees.size(); ++k) {
            const CellSums all = naive(bins, trees[k], contiguous(1, 2990));
            CellSums found(n_cells), expected(n_cells);
            kernels().take_one_of_eight(sums.data(), n_cells, static_cast<int>(k), found.view());
            const std::int64_t first = args.first_lane * lane_cells;
            std::copy_n(all.gradient.begin() + first, n_cells, expected.gradient.begin());
            std::copy_n(all.hessian.begin() + first, n_cells, expected.hessian.begin());
            std::copy_n(all.count.begin() + first, n_cells, expected.count.begin());
            CHECK(found == expected);
          }
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
      if (form != Form::packed) layout.max_rows = std::min<std::int64_t>(layout.max_rows, 3000);  // several flushes
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
              // Lanes whose cells all have fewer rows need not be emptied in between.
              Histogram all = make_histogram(matrix->n_cells(), true, layout);
              build_all(*matrix, rows, contiguous(0, 20000), all);
              build_all(*matrix, rows, s, h, all.sums(matrix->n_cells()).count);
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

  TEST_CASE("the pool prefers histograms that a thread has had before") {
    HistogramPool pool;
    pool.configure(100, 0, false, 1 << 20);
    auto first = pool.acquire(false, 1);
    auto second = pool.acquire(false, 0);
    const auto* const words = first->words.data();
    pool.release(std::move(first));
    pool.release(std::move(second));
    const auto again = pool.acquire(false, 1);
    CHECK(again->words.data() == words);
    CHECK(again->thread == 1);
    CHECK(pool.acquire(false, 1)->thread == 1);  // whoever had it
  }

  // ---- sparse columns ----

  TEST_CASE("entries of rows: narrow and wide codes, heavy and light cells") {
    Random random(20);
    for (const Form form : kForms) {
      const Rows rows(900, layout_of(form), random);
      for (const bool wide_codes : {false, true}) {
        for (const std::int64_t n_heavy : {0, 7, 300}) {
          const Codes codes(rows.size(), 300, n_heavy, wide_codes, random);
          CAPTURE(static_cast<int>(form));
          CAPTURE(wide_codes);
          CAPTURE(n_heavy);
          check(codes, rows, contiguous(0, rows.size()));
          check(codes, rows, contiguous(123, 400));
          check(codes, rows, gathered(rows.size(), 0.4, random));
          check(codes, rows, gathered(rows.size(), 0.01, random));
          for (std::int64_t n = 0; n <= 30; ++n) check(codes, rows, contiguous(5, n));
        }
      }
    }
  }

  TEST_CASE("the cell of zero is what the others leave") {
    Random random(21);
    for (const Form form : kForms) {
      const CellLayout layout = layout_of(form);
      for (const MissingKind kind : {MissingKind::nan, MissingKind::zero}) {
        for (const bool may_miss : {false, true}) {
          for (const int zero_bin : {0, 3, 8}) {
            Feature f;
            f.n_value_bins = 9;
            f.missing_kind = kind;
            f.may_miss = may_miss || kind == MissingKind::zero;
            f.zero_bin = kind == MissingKind::zero ? 9 : zero_bin;
            CAPTURE(static_cast<int>(form));
            CAPTURE(static_cast<int>(kind));
            CAPTURE(f.may_miss);
            CAPTURE(f.zero_bin);
            for (const std::int64_t n_rows : {0, 1, 200, 5000, 200000}) check_zero_cell(f, layout, n_rows, random);
          }
        }
      }
      // Zero is the only bin; and there are two.
      Feature one;
      one.n_value_bins = 1;
      one.may_miss = false;
      check_zero_cell(one, layout, 50, random);
      one.may_miss = true;
      check_zero_cell(one, layout, 50, random);
      one.n_value_bins = 2;
      one.may_miss = false;
      check_zero_cell(one, layout, 50, random);
    }
  }

  TEST_CASE("sums from each cell upwards, feature by feature") {
    Random random(22);
    const std::vector<std::int64_t> first_cell{40, 41, 46, 46 + 70, 46 + 71, 46 + 74};
    const std::int64_t n = first_cell.back() - first_cell.front();
    for (const Form form : kForms) {
      const CellLayout layout = layout_of(form);
      CellSums cells(n);
      const std::int64_t most = std::min<std::int64_t>(100, layout.max_rows / 70);  // rows of a cell
      for (std::int64_t c = 0; c < n; ++c) {
        cells.gradient[at(c)] = random.below(2 * most * layout.gradient_limit) - most * layout.gradient_limit;
        cells.hessian[at(c)] = layout.constant_hessian() ? 0 : random.below(most * layout.hessian_limit);
        cells.count[at(c)] = static_cast<std::uint32_t>(random.below(most));
      }
      CellSums expected(n);
      for (std::size_t k = 0; k + 1 < first_cell.size(); ++k) {
        for (std::int64_t c = first_cell[k] - 40; c < first_cell[k + 1] - 40; ++c) {
          for (std::int64_t d = c; d < first_cell[k + 1] - 40; ++d) {
            expected.gradient[at(c)] += cells.gradient[at(d)];
            expected.hessian[at(c)] += cells.hessian[at(d)];
            expected.count[at(c)] += cells.count[at(d)];
          }
        }
      }
      Buffer<std::uint64_t> packed(2 * n);
      kernels().pack(cells.view(), n, layout, packed.data());
      for (const bool large : {false, true}) {
        FeatureCells from;
        if (large) {
          from.large = cells.view();
        } else {
          from.cells = packed.data();
        }
        // Exactly as much room as the grower has.
        std::vector<std::uint64_t> scratch(at(zero_scratch_words(n)), ~std::uint64_t{0});
        const FeatureCells got = sums_from_above(from, first_cell, layout, scratch.data());
        CAPTURE(static_cast<int>(form));
        CAPTURE(large);
        CHECK(read_cells(got, n, layout) == expected);
      }
    }
  }

  TEST_CASE("the pool has room for light cells") {
    HistogramPool pool;
    pool.configure(100, 30, true, 8 * 260);
    auto first = pool.acquire(false);
    CHECK(first->words.size() == 200);
    CHECK(first->light.size() == 60);
    CHECK(pool.exhausted(false));
    pool.release(std::move(first));
    CHECK_FALSE(pool.exhausted(false));
    pool.configure(100, 40, true, 1 << 20);
    CHECK(pool.acquire(false)->light.size() == 80);
    CHECK(pool.acquire(true)->light.size() == 80);
    pool.configure(100, 40, false, 1 << 20);
    CHECK(pool.acquire(true)->light.size() == 40);
  }
}

}  // namespace gossamer::tests
