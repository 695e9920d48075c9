// Binning a matrix of any type and layout, against a linear search for each value.
#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "core/bin_bounds.h"
#include "core/bin_matrix.h"
#include "core/piece_binner.h"
#include "core/row_splitter.h"
#include "memory_faults.h"
#include "sparse_table.h"

namespace gossamer::tests {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> bounds(int n_bins, double first, double step) {
  std::vector<double> upper;
  for (int b = 0; b + 1 < n_bins; ++b) upper.push_back(first + b * step);
  upper.push_back(kInf);
  return upper;
}

std::vector<Feature> make_features(const std::vector<std::vector<double>>& upper, MissingKind kind) {
  std::vector<Feature> features;
  for (std::size_t f = 0; f < upper.size(); ++f) {
    Feature feature;
    feature.column = static_cast<std::int32_t>(f);
    feature.n_value_bins = static_cast<std::int32_t>(upper[f].size());
    feature.missing_kind = kind;
    feature.upper = upper[f];
    features.push_back(std::move(feature));
  }
  return features;
}

template <class T>
T random_value(Random& random) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (random.below(12)) {
      case 0: return std::numeric_limits<T>::quiet_NaN();
      case 1: return std::numeric_limits<T>::infinity();
      case 2: return -std::numeric_limits<T>::infinity();
      case 3: return T(0);
      case 4: return -T(0);
      case 5: return static_cast<T>(std::floor(random.between(-30.0, 30.0)));  // on a bound
      default: return static_cast<T>(random.between(-40.0, 40.0));
    }
  } else {
    if (random.chance(0.05)) return std::numeric_limits<T>::max();
    if (random.chance(0.05)) return std::numeric_limits<T>::min();
    return static_cast<T>(random.below(80) - (std::is_signed_v<T> ? 40 : 0));
  }
}

// The same values in C order, Fortran order, every second row and column, and backwards.
template <class T>
void check_type(MissingKind kind, int n_threads, bool share) {
  Random random(61);
  const std::int64_t n_rows = 700;
  const std::vector<std::vector<double>> upper{bounds(255, -30, 0.25),  bounds(2, 0.0, 1.0),   bounds(63, -30, 1.0),
                                               bounds(1000, -30, 0.06), bounds(15, -3.5, 0.5), bounds(1, 0, 0)};
  const auto n_columns = static_cast<std::int64_t>(upper.size());
  std::vector<T> values(at(n_rows * n_columns));
  for (T& x : values) x = random_value<T>(random);

  std::vector<T> fortran(values.size()), sparse(4 * values.size()), backwards(values.size());
  for (std::int64_t row = 0; row < n_rows; ++row) {
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const T x = values[at(row * n_columns + c)];
      fortran[at(c * n_rows + row)] = x;
      sparse[at(2 * row * 2 * n_columns + 2 * c)] = x;
      backwards[at((n_rows - 1 - row) * n_columns + (n_columns - 1 - c))] = x;
    }
  }
  const DType dtype = dtype_of<T>();
  const std::vector<MatrixView> views{
      {values.data(), dtype, n_rows, n_columns, n_columns, 1},
      {fortran.data(), dtype, n_rows, n_columns, 1, n_rows},
      {sparse.data(), dtype, n_rows, n_columns, 4 * n_columns, 2},
      {backwards.data() + n_rows * n_columns - 1, dtype, n_rows, n_columns, -n_columns, -1},
  };
  Team team(n_threads);
  for (std::size_t v = 0; v < views.size(); ++v) {
    BinMatrix matrix(make_features(upper, kind), n_rows, share);
    matrix.fill(team, views[v], Use::training);
    CAPTURE(static_cast<int>(dtype));
    CAPTURE(static_cast<int>(kind));
    CAPTURE(v);
    for (std::size_t f = 0; f < upper.size(); ++f) {
      const Feature& feature = matrix.features()[f];
      std::vector<std::uint16_t> expected;
      bool missing = false;
      for (std::int64_t row = 0; row < n_rows; ++row) {
        const T x = values[at(row * n_columns + feature.column)];
        expected.push_back(naive_bin(feature, static_cast<double>(x)));
        missing |= expected.back() == feature.n_value_bins;
      }
      CAPTURE(f);
      CHECK(first_difference(column_of(matrix, f), expected) == -1);
      CHECK(feature.has_missing == missing);
    }
  }
}

// Data to be binned like the training table: values meet where they never did, and are missing where
// none was.
void disturb(Table<float>& table, Random& random) {
  for (std::int64_t row = 0; row < table.n_rows(); ++row) {
    for (std::int64_t c = 0; c < table.n_columns(); ++c) {
      if (random.chance(0.05)) table(row, c) = random.chance(0.3) ? NAN : static_cast<float>(random.below(6) - 2);
    }
  }
}

struct Sides {
  std::vector<RowIdx> left, right;
};

Sides naive_sides(const Feature& f, const std::vector<std::uint16_t>& bins, std::int32_t threshold, bool missing_left,
                  const std::vector<RowIdx>& rows) {
  Sides sides;
  for (const RowIdx row : rows) {
    const bool goes_left = bins[row] == f.n_value_bins ? missing_left : bins[row] <= threshold;
    (goes_left ? sides.left : sides.right).push_back(row);
  }
  return sides;
}

// Whole columns, stretches of rows, lists of rows; in place or not.
void check_partition(const BinMatrix& matrix, std::int32_t f, Random& random) {
  const Feature& feature = matrix.features()[at(f)];
  const auto bins = column_of(matrix, at(f));
  std::vector<RowIdx> all(at(matrix.n_rows())), stretch, some, none;
  std::iota(all.begin(), all.end(), RowIdx{0});
  for (const RowIdx row : all) {
    if (row >= 17 && row < 200) stretch.push_back(row);
    if (random.chance(0.4)) some.push_back(row);
  }
  for (int trial = 0; trial < 4; ++trial) {
    const auto threshold = static_cast<std::int32_t>(trial == 0 ? feature.zero_bin % feature.n_value_bins
                                                                : random.below(feature.n_value_bins));
    for (const bool missing_left : {false, true}) {
      const RowSplitter splitter(matrix, f, threshold, missing_left);
      for (const auto* const rows : {&all, &stretch, &some, &none}) {
        for (const bool listed : {false, true}) {
          if (!listed && rows == &some) continue;
          const Sides expected = naive_sides(feature, bins, threshold, missing_left, *rows);
          std::vector<RowIdx> left = *rows, right(rows->size());
          const std::int64_t first = rows->empty() ? 0 : static_cast<std::int64_t>(rows->front());
          const std::int64_t n_left =
              splitter.split(listed ? left.data() : nullptr, first, static_cast<std::int64_t>(rows->size()),
                             left.data(), right.data());
          CAPTURE(f);
          CAPTURE(threshold);
          CAPTURE(missing_left);
          CAPTURE(listed);
          CAPTURE(rows->size());
          REQUIRE(n_left == static_cast<std::int64_t>(expected.left.size()));
          left.resize(expected.left.size());
          right.resize(expected.right.size());
          CHECK(left == expected.left);
          CHECK(right == expected.right);
        }
      }
    }
  }
}

std::vector<std::vector<std::uint16_t>> all_columns(const BinMatrix& matrix) {
  std::vector<std::vector<std::uint16_t>> columns;
  for (std::size_t f = 0; f < matrix.features().size(); ++f) columns.push_back(column_of(matrix, f));
  return columns;
}

// A matrix kept like another one, with these columns put in by hand.
std::unique_ptr<BinMatrix> copy_by_hand(const BinMatrix& matrix) {
  auto copy = std::make_unique<BinMatrix>(matrix.features(), matrix.n_rows(), matrix.storage());
  for (Feature& f : copy->features()) {
    f.has_missing = false;
    f.entries = -1;
  }
  for (std::size_t f = 0; f < matrix.features().size(); ++f) {
    if (matrix.features()[f].bundled || matrix.features()[f].loose()) continue;
    copy->set_column(static_cast<std::int64_t>(f), column_of(matrix, f));
  }
  copy->set_sparse(matrix.copy_sparse());
  copy->find_missing();
  return copy;
}

// Features with so many bins that their bundle needs two bytes.
Mixed make_wide_bundle(std::int64_t n_rows) {
  Random random(81);
  Mixed m{Table<float>(n_rows, 7), {}, {{0, 1, 2, 3}}, {4}, {5, 6}};
  for (std::int32_t c = 0; c < 7; ++c) {
    m.features.push_back(make_feature(c, bounds(c < 4 ? 90 : 12, -3.5, 1.0), MissingKind::nan));
  }
  for (std::int64_t row = 0; row < n_rows; ++row) {
    m.table(row, random.below(4)) = random.chance(0.1) ? NAN : static_cast<float>(random.below(90) - 4);
    if (random.chance(0.1)) m.table(row, 4) = static_cast<float>(random.below(12) - 4);
    for (std::int64_t c = 5; c < 7; ++c) m.table(row, c) = static_cast<float>(random.below(12) - 4);
  }
  return m;
}

}  // namespace

TEST_SUITE("bin_matrix") {
  TEST_CASE_TEMPLATE("all types, layouts and kinds of missing", T, float, double, std::int8_t, std::int16_t,
                     std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t) {
    at_every_level([] {
      for (const MissingKind kind : {MissingKind::nan, MissingKind::zero, MissingKind::nan_is_zero}) {
        for (const int n_threads : {1, 3}) {
          for (const bool share : {false, true}) check_type<T>(kind, n_threads, share);
        }
      }
    });
  }

  TEST_CASE("float values at bounds that no float can hold") {
    // Bounds between two neighbouring floats, at the ends of the range, and at float values.
    const std::vector<double> upper{-std::numeric_limits<double>::max(), -1.0 - 1e-12, -1.0, 1.0 + 1e-12, 3.4028234e38,
                                    std::numeric_limits<double>::max(),  kInf};
    std::vector<float> values{-INFINITY,
                              -3.4028235e38f,
                              std::nextafter(-1.0f, -2.0f),
                              -1.0f,
                              0.0f,
                              1.0f,
                              std::nextafter(1.0f, 2.0f),
                              3.4028234e38f,
                              std::numeric_limits<float>::max(),
                              INFINITY};
    const auto n = static_cast<std::int64_t>(values.size());
    at_every_level([&] {
      Team team(1);
      BinMatrix matrix(make_features({upper}, MissingKind::nan), n, false);
      matrix.fill(team, {values.data(), DType::f32, n, 1, 1, 1}, Use::training);
      const auto bins = column_of(matrix, 0);
      for (std::size_t i = 0; i < values.size(); ++i) {
        CAPTURE(values[i]);
        CHECK(bins[i] == naive_bin(matrix.features()[0], static_cast<double>(values[i])));
      }
    });
  }

  TEST_CASE("what counts as zero is the same for float and double") {
    const std::vector<float> narrow{1e-35f, -1e-35f, 1.1e-35f, 0.9e-35f, 1e-45f};
    std::vector<double> broad(narrow.begin(), narrow.end());
    Team team(1);
    BinMatrix a(make_features({{0.0, kInf}}, MissingKind::zero), 5, false);
    BinMatrix b(make_features({{0.0, kInf}}, MissingKind::zero), 5, false);
    a.fill(team, {narrow.data(), DType::f32, 5, 1, 1, 1}, Use::training);
    b.fill(team, {broad.data(), DType::f64, 5, 1, 1, 1}, Use::training);
    CHECK(column_of(a, 0) == column_of(b, 0));
  }

  TEST_CASE("every number of bins up to the widest of each width") {
    Random random(62);
    for (const int n_bins : {1, 2, 3, 15, 16, 17, 63, 64, 65, 254, 255, 256, 257, 4096, 65535}) {
      std::vector<double> values;
      for (int i = 0; i < n_bins; ++i) values.push_back(i);
      values.push_back(NAN);
      const auto n = static_cast<std::int64_t>(values.size());
      Team team(1);
      BinMatrix matrix(make_features({bounds(n_bins, 0.5, 1.0)}, MissingKind::nan), n, false);
      matrix.fill(team, {values.data(), DType::f64, n, 1, 1, 1}, Use::training);
      const auto bins = column_of(matrix, 0);
      std::int64_t wrong = 0;
      for (std::size_t i = 0; i < bins.size(); ++i) wrong += bins[i] != i;
      CAPTURE(n_bins);
      CHECK(wrong == 0);
      CHECK(matrix.groups()[0].two_bytes == (n_bins > 255));
    }
  }

  TEST_CASE("groups: every feature has its place, cells do not overlap, rows start aligned") {
    Random random(63);
    std::vector<std::vector<double>> upper;
    for (int f = 0; f < 150; ++f) {
      const int sizes[] = {1, 2, 10, 15, 40, 63, 200, 255, 300, 5000};
      upper.push_back(bounds(sizes[random.below(10)], 0.0, 0.01));
    }
    for (const bool share : {false, true}) {
      const BinMatrix matrix(make_features(upper, MissingKind::nan), 300, share);
      std::vector<int> seen(150);
      std::int64_t next_cell = 0;
      for (std::size_t g = 0; g < matrix.groups().size(); ++g) {
        const Group& group = matrix.groups()[g];
        CHECK(group.first_cell == next_cell);
        next_cell += group.n_cells;
        CHECK(group.n_lanes == static_cast<int>(group.lanes.size()));
        CHECK(group.n_lanes <= (group.two_bytes ? 16 : 32));
        CHECK(group.row_stride >= group.n_lanes);
        CHECK((group.row_stride & (group.row_stride - 1)) == 0);
        CHECK(reinterpret_cast<std::uintptr_t>(group.bins()) % 64 == 0);
        for (std::size_t lane = 0; lane < group.lanes.size(); ++lane) {
          std::int64_t n_values = 1;
          for (const Digit& digit : group.lanes[lane].digits) {
            CHECK(digit.features.size() == 1);
            const std::int32_t number = digit.features.front();
            const Feature& f = matrix.features()[at(number)];
            ++seen[at(number)];
            CHECK(f.group == static_cast<std::int32_t>(g));
            CHECK(f.lane == static_cast<std::int32_t>(lane));
            CHECK(f.first_cell == group.first_cell + group.lane_begin(f.lane));
            CHECK(f.stride == n_values);
            CHECK(f.radix == f.n_value_bins + 1);
            CHECK(f.shared == (group.lanes[lane].digits.size() > 1));
            n_values *= f.radix;
          }
          if (!share) CHECK(group.lanes[lane].digits.size() == 1);
          const auto l = static_cast<std::int64_t>(lane);
          CHECK(n_values <= group.lane_begin(l + 1) - group.lane_begin(l));
          if (!group.two_bytes) CHECK(n_values <= 256);
        }
      }
      CHECK(next_cell == matrix.n_cells());
      CHECK(seen == std::vector<int>(150, 1));
    }
  }

  TEST_CASE("lanes one by one are made whole, or not at all") {
    const std::vector<std::vector<double>> upper{bounds(255, 0.0, 0.01), bounds(700, 0.0, 0.004)};
    std::vector<float> values(2000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 290) * 0.01f;
    Team team(2);
    BinMatrix matrix(make_features(upper, MissingKind::nan), 1000, false);
    matrix.fill(team, {values.data(), DType::f32, 1000, 2, 2, 1}, Use::training);
    const std::int64_t before = matrix.n_bytes();
    std::int64_t n_failed = 0;
    while (matrix.lane_copy(matrix.features()[0]) == nullptr) {
      {
        const FailAllocation fail(n_failed);
        try {
          matrix.make_columns(team);
          continue;
        } catch (const std::bad_alloc&) {
        }
      }
      REQUIRE(++n_failed < 100);
      REQUIRE(matrix.lane_copy(matrix.features()[1]) == nullptr);
      REQUIRE(matrix.n_bytes() == before);
    }
    CHECK(n_failed >= 3);  // where lanes begin, and the two buffers
    const auto* const lane = static_cast<const std::uint8_t*>(matrix.lane_copy(matrix.features()[0]));
    std::vector<std::uint16_t> expected(1000);
    matrix.copy_column(0, expected.data());
    CHECK(std::equal(expected.begin(), expected.end(), lane));
  }

  TEST_CASE("lanes become columns, and nothing else is written") {
    Random random(21);
    constexpr std::uint8_t kUntouched = 0xa5;
    for (const std::int64_t stride : {1, 2, 4, 8, 16, 32}) {
      for (const std::int64_t n_rows : {0, 1, 7, 8, 63, 64, 65, 200}) {
        std::vector<std::uint8_t> rows(at(n_rows * stride + 8));
        for (std::uint8_t& byte : rows) byte = static_cast<std::uint8_t>(random.below(256));
        for (int n_lanes = 1; n_lanes <= std::min<std::int64_t>(stride, 8); ++n_lanes) {
          at_every_level([&] {
            std::vector<std::vector<std::uint8_t>> lanes(8, std::vector<std::uint8_t>(at(n_rows + 64), kUntouched));
            std::uint8_t* columns[8];
            for (std::size_t k = 0; k < 8; ++k) columns[k] = lanes[k].data();
            kernels().copy_to_columns(rows.data(), stride, n_rows, n_lanes, columns);
            for (int k = 0; k < 8; ++k) {
              std::vector<std::uint8_t> expected(lanes[at(k)].size(), kUntouched);
              for (std::int64_t i = 0; i < n_rows && k < n_lanes; ++i) expected[at(i)] = rows[at(i * stride + k)];
              CHECK(first_difference(lanes[at(k)], expected) == -1);
            }
          });
        }
      }
    }
  }

  TEST_CASE("splits read the bins of the rows") {
    Random random(64);
    const std::int64_t n_rows = 1000;
    const std::vector<std::vector<double>> upper{bounds(255, 0.0, 0.01), bounds(700, 0.0, 0.004), bounds(10, 0.0, 0.3),
                                                 bounds(3, 0.0, 1.0), bounds(5, 0.0, 0.5)};
    std::vector<float> values(at(n_rows * 5));
    for (float& x : values) x = random.chance(0.1) ? NAN : static_cast<float>(random.between(-0.1, 3.0));
    Team team(3);
    for (const bool share : {false, true}) {
      BinMatrix matrix(make_features(upper, MissingKind::nan), n_rows, share);
      matrix.fill(team, {values.data(), DType::f32, n_rows, 5, 5, 1}, Use::training);
      const std::int64_t before = matrix.n_bytes();
      matrix.make_columns(team);
      matrix.make_columns(team);
      CHECK(matrix.n_bytes() > before);
      for (std::size_t f = 0; f < 5; ++f) {
        std::vector<RowIdx> left(at(n_rows) + 16), right(at(n_rows) + 16);
        const Feature& feature = matrix.features()[f];
        for (int trial = 0; trial < 8; ++trial) {
          const auto threshold = static_cast<std::int32_t>(random.below(feature.n_value_bins));
          const bool missing_left = trial % 2 == 0;
          const RowSplitter splitter(matrix, static_cast<std::int32_t>(f), threshold, missing_left);
          const std::int64_t n_left = splitter.split(nullptr, 0, n_rows, left.data(), right.data());
          std::vector<RowIdx> expected[2];
          for (std::int64_t row = 0; row < n_rows; ++row) {
            const auto bin = naive_bin(feature, static_cast<double>(values[at(row * 5) + f]));
            const bool goes_left = bin == feature.n_value_bins ? missing_left : bin <= threshold;
            expected[goes_left ? 0 : 1].push_back(static_cast<RowIdx>(row));
          }
          CHECK(n_left == static_cast<std::int64_t>(expected[0].size()));
          left.resize(expected[0].size());
          right.resize(expected[1].size());
          CHECK(left == expected[0]);
          CHECK(right == expected[1]);
          left.resize(at(n_rows) + 16);
          right.resize(at(n_rows) + 16);
        }
      }
    }
  }

  TEST_CASE("set_column brings back what copy_column gave, in any order of features") {
    Random random(65);
    const std::int64_t n_rows = 200;
    // Widths mixed on purpose: lanes and groups are planned by width, not by number.
    const std::vector<int> sizes{10, 255, 3, 300, 40, 255, 63, 12, 500, 2, 2};
    std::vector<std::vector<double>> upper;
    for (const int n : sizes) upper.push_back(bounds(n, 0.0, 0.01));
    std::vector<std::vector<std::uint16_t>> columns;
    for (const int n : sizes) {
      std::vector<std::uint16_t> bins(at(n_rows));
      for (auto& b : bins) b = static_cast<std::uint16_t>(random.below(n + 1));
      columns.push_back(bins);
    }
    std::vector<std::size_t> order;
    for (std::size_t f = 0; f < sizes.size(); ++f) order.push_back(f);
    for (int round = 0; round < 4; ++round) {
      BinMatrix matrix(make_features(upper, MissingKind::nan), n_rows, round % 2 == 0);
      // Twice: a column may be replaced.
      for (const std::size_t f : order)
        matrix.set_column(static_cast<std::int64_t>(f), std::vector<std::uint16_t>(200, 1));
      for (const std::size_t f : order) matrix.set_column(static_cast<std::int64_t>(f), columns[f]);
      for (std::size_t f = 0; f < sizes.size(); ++f) {
        CAPTURE(round);
        CAPTURE(f);
        CHECK(column_of(matrix, f) == columns[f]);
      }
      std::rotate(order.begin(), order.begin() + 1 + round, order.end());
    }
  }

  TEST_CASE("a column said to have no missing values") {
    const std::vector<double> complete{0.0, 1.0, 2.0, 5.0};
    const std::vector<double> incomplete{0.0, NAN, 2.0, 5.0};
    Team team(1);
    auto features = make_features({bounds(256, 0.5, 1.0), bounds(4, 0.5, 1.0)}, MissingKind::nan);
    for (Feature& f : features) {
      f.column = 0;
      f.may_miss = false;
    }
    BinMatrix matrix(features, 4, true);
    matrix.fill(team, {complete.data(), DType::f64, 4, 1, 1, 1}, Use::training);
    CHECK_FALSE(matrix.groups()[0].two_bytes);  // 256 values fit a byte when none is missing
    CHECK(column_of(matrix, 0) == std::vector<std::uint16_t>{0, 1, 2, 5});
    CHECK(column_of(matrix, 1) == std::vector<std::uint16_t>{0, 1, 2, 3});
    BinMatrix other(features, 4, true);
    CHECK_THROWS_AS(other.fill(team, {incomplete.data(), DType::f64, 4, 1, 1, 1}, Use::training),
                    std::invalid_argument);
  }

  TEST_CASE("no rows, no features") {
    Team team(2);
    BinMatrix no_rows(make_features({bounds(10, 0, 1)}, MissingKind::nan), 0, true);
    double nothing = 0.0;
    no_rows.fill(team, {&nothing, DType::f64, 0, 1, 1, 1}, Use::training);
    no_rows.make_columns(team);
    CHECK_FALSE(no_rows.features()[0].has_missing);
    BinMatrix no_features({}, 10, true);
    no_features.fill(team, {&nothing, DType::f64, 10, 0, 0, 1}, Use::training);
    no_features.make_columns(team);
    CHECK(no_features.n_cells() == 0);
  }

  TEST_CASE("the bounds found for a matrix bin it again to the same counts") {
    Random random(66);
    const std::int64_t n_rows = 5000;
    std::vector<float> values(at(n_rows));
    for (float& x : values) x = static_cast<float>(std::exp(3.0 * random.normal()));
    Team team(2);
    const MatrixView view{values.data(), DType::f32, n_rows, 1, 1, 1};
    BinOptions options;
    options.max_bin = {100};
    const auto found = find_bounds(team, view, {}, options);
    BinMatrix matrix(make_features({found[0].upper}, MissingKind::nan), n_rows, false);
    matrix.fill(team, view, Use::training);
    std::vector<std::int64_t> counts(found[0].upper.size());
    for (const std::uint16_t b : column_of(matrix, 0)) ++counts[b];
    for (const std::int64_t count : counts) CHECK(count >= options.min_data_in_bin);
  }

  // ---- bundles and sparse columns ----

  TEST_CASE("any storage, any view, any kind of missing: the bins of a plain loop") {
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.n_rows = 1501;
      shape.kind = kind;
      Mixed m = make_mixed(shape, 82);
      for (const NamedStorage& s : storages_of(m)) {
        CAPTURE(static_cast<int>(kind));
        CAPTURE(s.name);
        for_views(m.table, [&](const auto& view) {
          for (const int n_threads : {1, 3}) {
            const auto matrix = fill_training(m, s.storage, view, n_threads);
            check_bins(*matrix, m.table);
            CHECK(matrix->n_dropped() == 0);
          }
        });
      }
    }
  }

  TEST_CASE("a bundle of two bytes") {
    Mixed m = make_wide_bundle(1200);
    for_views(m.table, [&](const auto& view) {
      const auto matrix = fill_training(m, {true, m.groups, m.sparse}, view, 2);
      CHECK(matrix->groups()[0].two_bytes);
      CHECK(matrix->features()[0].radix > 256);
      check_bins(*matrix, m.table);
      auto like = make_like(*matrix, m.n_rows());
      Team team(2);
      like->fill(team, view, Use::other);
      check_bins(*like, m.table, false);
    });
  }

  TEST_CASE("the plan of bundles: ranges of values that do not meet, cells that do not overlap") {
    const Mixed m = make_mixed({}, 83);
    for (const NamedStorage& s : storages_of(m)) {
      CAPTURE(s.name);
      const BinMatrix matrix(with_may_miss(m), 100, s.storage);
      std::vector<int> seen(m.features.size(), 0);
      for (const std::int32_t f : s.storage.loose) {
        ++seen[at(f)];
        CHECK(matrix.features()[at(f)].loose());
        CHECK_FALSE(matrix.features()[at(f)].bundled);
      }
      for (std::size_t g = 0; g < matrix.groups().size(); ++g) {
        const Group& group = matrix.groups()[g];
        for (std::size_t lane = 0; lane < group.lanes.size(); ++lane) {
          std::int32_t n_values = 1;
          for (const Digit& digit : group.lanes[lane].digits) {
            CHECK(digit.stride == n_values);
            n_values *= digit.radix;
            std::vector<int> taken(at(digit.radix), 0);
            for (const std::int32_t f : digit.features) {
              ++seen[at(f)];
              const Feature& feature = matrix.features()[at(f)];
              CHECK(feature.group == static_cast<std::int32_t>(g));
              CHECK(feature.lane == static_cast<std::int32_t>(lane));
              CHECK(feature.stride == digit.stride);
              CHECK(feature.radix == digit.radix);
              CHECK(feature.bundled == digit.bundle);
              CHECK(feature.shared == (group.lanes[lane].digits.size() > 1));
              CHECK(feature.lane_values == group.lanes[lane].n_values);
              if (!digit.bundle) continue;
              for (std::int32_t other = 0; other < feature.n_other_bins(); ++other) {
                const std::int32_t value = feature.first_value + other;
                REQUIRE(value > 0);
                REQUIRE(value < digit.radix);
                ++taken[at(value)];
                const std::int32_t bin = feature.bin_of_digit(value);
                CHECK(bin != feature.zero_bin);
                CHECK(feature.other_of(bin) == other);
              }
              CHECK(feature.bin_of_digit(0) == feature.zero_bin);
            }
            // Each value but zero's belongs to a feature.
            if (digit.bundle) CHECK(std::count(taken.begin(), taken.end(), 1) == digit.radix - 1);
          }
          CHECK(n_values == group.lanes[lane].n_values);
          CHECK(n_values <= group.lane_begin(static_cast<std::int64_t>(lane) + 1) -
                                group.lane_begin(static_cast<std::int64_t>(lane)));
        }
      }
      CHECK(seen == std::vector<int>(m.features.size(), 1));
    }
  }

  TEST_CASE("storages that are none") {
    const Mixed m = make_mixed({}, 84);
    const auto n = static_cast<std::int32_t>(m.features.size());
    for (const Storage& storage :
         {Storage{false, {{0, 1}, {1, 2}}, {}}, Storage{false, {{0, 1}}, {1}}, Storage{false, {}, {2, 2}},
          Storage{false, {{0, 0}}, {}}, Storage{false, {{0, n}}, {}}, Storage{false, {{-1, 0}}, {}},
          Storage{false, {}, {n}}, Storage{false, {}, {-1}}, Storage{false, {{}}, {}}}) {
      CHECK_THROWS_AS(BinMatrix(m.features, 10, storage), std::invalid_argument);
    }
    std::vector<Feature> many;
    for (int f = 0; f < 3; ++f) many.push_back(make_feature(f, bounds(30000, 0.5, 1.0), MissingKind::nan));
    CHECK_THROWS_AS(BinMatrix(many, 10, Storage{false, {{0, 1, 2}}, {}}), std::invalid_argument);
    CHECK_NOTHROW(BinMatrix(many, 10, Storage{false, {{0, 1}}, {}}));
  }

  TEST_CASE("training: conflicts are dropped, or filling stops") {
    Mixed m = make_mixed({}, 85);
    const auto& group = m.groups[0];
    std::int64_t lost = 0;
    std::vector<std::pair<std::int64_t, std::int32_t>> dropped;
    for (std::int64_t row = 40; row < 700; row += 31) {
      // The first two of the group: the second one is lost.
      for (const std::int32_t c : group) m.table(row, c) = 0.0f;
      m.table(row, group[0]) = m.table(row, group[1]) = 1.0f;
      dropped.emplace_back(row, group[1]);
      ++lost;
    }
    Team team(3);
    for_views(m.table, [&](const auto& view) {
      for (const NamedStorage& s : storages_of(m)) {
        CAPTURE(s.name);
        const bool has_bundles = !s.storage.bundles.empty();
        BinMatrix exact(with_may_miss(m), m.n_rows(), s.storage);
        CHECK(exact.fill(team, view, Use::exact_training) == !has_bundles);
        BinMatrix matrix(with_may_miss(m), m.n_rows(), s.storage);
        CHECK(matrix.fill(team, view, Use::training));
        CHECK(matrix.n_dropped() == (has_bundles ? lost : 0));
        Table<float> seen = m.table;
        if (has_bundles) {
          for (const auto& [row, c] : dropped) seen(row, c) = 0.0f;
        }
        check_bins(matrix, seen);
      }
    });
  }

  TEST_CASE("other data: what does not fit a bundle is kept beside it") {
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.kind = kind;
      shape.with_missing = false;
      Mixed m = make_mixed(shape, 86);
      Table<float> other = make_mixed(shape, 87).table;
      Random random(87);
      disturb(other, random);
      for (const NamedStorage& s : storages_of(m)) {
        CAPTURE(static_cast<int>(kind));
        CAPTURE(s.name);
        const auto training = fill_training(m, s.storage, m.table.dense());
        for_views(other, [&](const auto& view) {
          for (const int n_threads : {1, 3}) {
            Team team(n_threads);
            const auto like = make_like(*training, other.n_rows());
            CHECK(like->fill(team, view, Use::other));
            CHECK(like->n_dropped() == 0);
            check_bins(*like, other, false);
            for (const Feature& f : like->features()) {
              const auto bins = other.naive_bins(f);
              CHECK(f.has_missing == (std::find(bins.begin(), bins.end(), f.n_value_bins) != bins.end()));
            }
            bool any_odd = false;
            for (const Feature& f : like->features()) any_odd |= f.bundled && f.entries >= 0;
            CHECK(any_odd == !s.storage.bundles.empty());
            for (const Feature& f : like->features()) {
              if (f.entries < 0) continue;
              const auto rows = like->sparse().rows_of(f.entries);
              CHECK(std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end());
            }
          }
        });
      }
    }
  }

  TEST_CASE("some rows: in any order, more than once, none") {
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.kind = kind;
      Mixed m = make_mixed(shape, 88);
      Table<float> other = make_mixed(shape, 89).table;
      Random random(89);
      disturb(other, random);
      std::vector<RowIdx> increasing, repeated, backwards, shuffled;
      for (RowIdx row = 0; row < 1000; ++row) {
        if (random.chance(0.3)) increasing.push_back(row);
        if (random.chance(0.2)) repeated.insert(repeated.end(), 1 + at(random.below(3)), row);
        backwards.push_back(999 - row);
        shuffled.push_back(static_cast<RowIdx>(random.below(1000)));
      }
      for (const NamedStorage& s : storages_of(m)) {
        CAPTURE(s.name);
        Team team(3);
        const auto training = fill_training(m, s.storage, m.table.by_row());
        const auto like = make_like(*training, other.n_rows());
        like->fill(team, other.by_row(), Use::other);
        for (const BinMatrix* const from : {training.get(), like.get()}) {
          const bool is_training = from == training.get();
          for (const auto& rows : {increasing, repeated, backwards, shuffled, std::vector<RowIdx>{7},
                                   std::vector<RowIdx>{3, 3, 3}, std::vector<RowIdx>{}}) {
            CAPTURE(is_training);
            CAPTURE(rows.size());
            const auto n = static_cast<std::int64_t>(rows.size());
            BinMatrix taken(from->features(), n, from->storage());
            taken.fill_from(team, *from, rows);
            Table<float> expected(n, m.table.n_columns());
            for (std::int64_t i = 0; i < n; ++i) {
              for (std::int64_t c = 0; c < expected.n_columns(); ++c) {
                expected(i, c) = (is_training ? m.table : other)(rows[at(i)], c);
              }
            }
            check_bins(taken, expected, is_training);
            for (std::int64_t c = 0; c < taken.sparse().n_columns(); ++c) {
              const auto own = taken.sparse().rows_of(c);
              CHECK(std::adjacent_find(own.begin(), own.end(), std::greater_equal<>()) == own.end());
            }
            taken.make_columns(team);
            if (is_training && n > 200) check_partition(taken, 0, random);
          }
        }
      }
    }
  }

  TEST_CASE("a sample, and another one in its place") {
    MixedShape shape;
    shape.n_rows = 5000;
    Mixed m = make_mixed(shape, 431);
    Random random(431);
    int n_tried = 0;
    for (const NamedStorage& s : storages_of(m)) {
      const auto matrix = fill_training(m, s.storage, m.table.dense());
      if (!matrix->storage().loose.empty()) continue;
      CAPTURE(s.name);
      ++n_tried;
      BinMatrix sample(matrix->features(), 0, matrix->storage());
      for (const double share : {0.3, 0.0, 0.9, 0.001, 0.5}) {
        std::vector<RowIdx> rows;
        for (std::int64_t i = 0; i < matrix->n_rows(); ++i) {
          if (random.chance(share)) rows.push_back(static_cast<RowIdx>(i));
        }
        Team team(1 + static_cast<int>(random.below(3)));
        sample.take_sample(team, *matrix, rows);
        BinMatrix expected(matrix->features(), std::ssize(rows), matrix->storage());
        expected.fill_from(team, *matrix, rows);
        expected.make_columns(team);
        REQUIRE(sample.n_rows() == std::ssize(rows));
        std::vector<std::uint16_t> got(rows.size()), wanted(rows.size());
        for (std::size_t f = 0; f < matrix->features().size(); ++f) {
          sample.copy_column(static_cast<std::int64_t>(f), got.data());
          expected.copy_column(static_cast<std::int64_t>(f), wanted.data());
          CHECK(first_difference(got, wanted) == -1);
          const Feature& feature = sample.features()[f];
          const std::size_t n_bytes = rows.size() * (sample.groups()[at(feature.group)].two_bytes ? 2 : 1);
          const auto* const lane = static_cast<const std::uint8_t*>(sample.lane_copy(feature));
          const auto* const other = static_cast<const std::uint8_t*>(expected.lane_copy(expected.features()[f]));
          CHECK(std::equal(lane, lane + n_bytes, other));
        }
      }
    }
    CHECK(n_tried > 1);
  }

  TEST_CASE("entries out and in again") {
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.kind = kind;
      Mixed m = make_mixed(shape, 90);
      Table<float> other = make_mixed(shape, 91).table;
      Random random(91);
      disturb(other, random);
      for (const NamedStorage& s : storages_of(m)) {
        CAPTURE(s.name);
        Team team(2);
        const auto training = fill_training(m, s.storage, m.table.dense());
        const auto like = make_like(*training, other.n_rows());
        like->fill(team, other.dense(), Use::other);
        for (const BinMatrix* const from : {training.get(), like.get()}) {
          const SparseColumns columns = from->copy_sparse();
          // All features in bundles and sparse columns, by number; entries are never in the bin of zero.
          std::vector<std::int32_t> expected;
          for (std::size_t f = 0; f < from->features().size(); ++f) {
            const Feature& feature = from->features()[f];
            if (!feature.bundled && !feature.loose()) continue;
            const auto c = static_cast<std::int64_t>(expected.size());
            expected.push_back(static_cast<std::int32_t>(f));
            REQUIRE(c < columns.n_columns());
            const auto bins = column_of(*from, f);
            std::vector<RowIdx> rows;
            std::vector<std::uint16_t> own;
            for (std::size_t row = 0; row < bins.size(); ++row) {
              if (bins[row] == feature.zero_bin) continue;
              rows.push_back(static_cast<RowIdx>(row));
              own.push_back(bins[row]);
            }
            const auto got_rows = columns.rows_of(c);
            const auto got_bins = columns.bins_of(c);
            CHECK(std::vector<RowIdx>(got_rows.begin(), got_rows.end()) == rows);
            CHECK(std::vector<std::uint16_t>(got_bins.begin(), got_bins.end()) == own);
          }
          CHECK(columns.features == expected);
          const auto copy = copy_by_hand(*from);
          CHECK(all_columns(*copy) == all_columns(*from));
          for (std::size_t f = 0; f < m.features.size(); ++f) {
            CHECK(copy->features()[f].has_missing == from->features()[f].has_missing);
          }
        }
      }
    }
  }

  TEST_CASE("a table to be trained on: misfits leave their bundles, all else stays") {
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.kind = kind;
      shape.with_missing = false;
      Mixed m = make_mixed(shape, 94);
      Table<float> other = make_mixed(shape, 95).table;
      // Two features of the first bundle meet; one of another is missing, and so is a sparse one.
      for (const std::int32_t c : m.groups[0]) other(10, c) = other(11, c) = 0.0f;
      other(10, m.groups[0][1]) = other(10, m.groups[0][4]) = 1.0f;
      for (const std::int32_t c : m.groups[1]) other(20, c) = 0.0f;
      other(20, m.groups[1][2]) = NAN;
      other(30, m.sparse[2]) = NAN;
      Team team(2);
      for (const NamedStorage& s : storages_of(m)) {
        CAPTURE(static_cast<int>(kind));
        CAPTURE(s.name);
        const auto training = fill_training(m, s.storage, m.table.dense());
        CHECK(training->is_trainable());
        const auto like = make_like(*training, other.n_rows());
        like->fill(team, other.by_row(), Use::other);
        // Misfits can be split, only not trained on; from the rows, then from the lanes.
        Random random(96);
        for (const bool by_lane : {false, true}) {
          if (by_lane) like->make_columns(team);
          for (std::size_t f = 0; f < m.features.size(); ++f) {
            check_partition(*like, static_cast<std::int32_t>(f), random);
          }
        }
        const auto trainable = make_trainable(*like);
        CHECK(trainable->is_trainable());
        check_bins(*trainable, other);
        const bool was_bundled = like->features()[at(m.groups[0][1])].bundled;
        CHECK(trainable->features()[at(m.groups[0][1])].bundled == was_bundled);
        if (was_bundled) CHECK(trainable->features()[at(m.groups[0][4])].loose());
        if (was_bundled && kind == MissingKind::nan) CHECK(trainable->features()[at(m.groups[1][2])].loose());
        if (kind == MissingKind::nan) CHECK(trainable->features()[at(m.sparse[2])].may_miss);
        std::int64_t n_left = 0;  // features that are kept in another way than before
        for (std::size_t f = 0; f < m.features.size(); ++f) {
          n_left += trainable->features()[f].bundled != like->features()[f].bundled;
        }
        CHECK(n_left <= 2);
      }
    }
  }

  TEST_CASE("splits of features in bundles, shared lanes and sparse columns") {
    Random random(92);
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.kind = kind;
      Mixed m = make_mixed(shape, 92);
      for (const NamedStorage& s : storages_of(m)) {
        CAPTURE(s.name);
        CAPTURE(static_cast<int>(kind));
        const auto matrix = fill_training(m, s.storage, m.table.by_column());
        Team team(2);
        matrix->make_columns(team);
        at_every_level([&] {
          for (std::size_t f = 0; f < m.features.size(); ++f) {
            check_partition(*matrix, static_cast<std::int32_t>(f), random);
          }
        });
      }
    }
    Mixed m = make_wide_bundle(1000);
    const auto matrix = fill_training(m, {true, m.groups, m.sparse}, m.table.by_row());
    Team team(2);
    matrix->make_columns(team);
    at_every_level([&] {
      for (std::int32_t f = 0; f < 7; ++f) check_partition(*matrix, f, random);
    });
  }

  TEST_CASE("sparse tables, columns said to have no missing values") {
    Table<float> table(4, 2);
    table(1, 0) = 1.0f;
    table(2, 1) = NAN;
    std::vector<Feature> features;
    for (int c = 0; c < 2; ++c) features.push_back(make_feature(c, {0.5, kInf}, MissingKind::nan));
    features[0].may_miss = features[1].may_miss = false;
    Team team(2);
    for_views(table, [&](const auto& view) {
      BinMatrix matrix(features, 4, true);
      CHECK_THROWS_AS(matrix.fill(team, view, Use::training), std::invalid_argument);
    });
    // Where zero is missing, a sparse table always has missing values.
    for (Feature& f : features) f.missing_kind = MissingKind::zero;
    BinMatrix matrix(features, 4, true);
    CHECK_THROWS_AS(matrix.fill(team, table.by_row(), Use::training), std::invalid_argument);
  }

  TEST_CASE("rows that come in pieces, kept in every way") {
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.kind = kind;
      Mixed m = make_mixed(shape, 94);
      const MatrixView view = m.table.dense();
      for (const NamedStorage& s : storages_of(m)) {
        CAPTURE(s.name);
        CAPTURE(static_cast<int>(kind));
        const auto whole = fill_training(m, s.storage, view);
        for (const std::int64_t step : {std::int64_t{1}, std::int64_t{77}, view.n_rows}) {
          PieceBinner binner(*whole, view.n_rows);
          Team team(2);
          for (std::int64_t begin = 0; begin < view.n_rows; begin += step) {
            MatrixView piece = view;
            piece.n_rows = std::min(step, view.n_rows - begin);
            piece.data = static_cast<const float*>(view.data) + begin * view.row_stride;
            binner.add(team, piece);
          }
          const auto found = binner.finish();
          CHECK_THROWS_AS(binner.finish(), std::invalid_argument);
          for (std::size_t f = 0; f < m.features.size(); ++f) {
            CAPTURE(f);
            CHECK(first_difference(column_of(*found, f), column_of(*whole, f)) == -1);
            CHECK(found->features()[f].has_missing == whole->features()[f].has_missing);
          }
        }
      }
    }
  }

  TEST_CASE("features in bundles and sparse columns have no column to set") {
    const Mixed m = make_mixed({}, 93);
    BinMatrix matrix(m.features, 3, Storage{false, {{0, 1}}, {2}});
    const std::vector<std::uint16_t> bins{0, 1, 0};
    for (const std::int64_t f : {0, 1, 2}) CHECK_THROWS_AS(matrix.set_column(f, bins), std::invalid_argument);
    CHECK_NOTHROW(matrix.set_column(3, bins));
  }
}

}  // namespace gossamer::tests
