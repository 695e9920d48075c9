// Binning a matrix of any type and layout, against a linear search for each value.
#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>

#include "core/bin_bounds.h"
#include "core/bin_matrix.h"
#include "support.h"

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

std::uint16_t naive_bin(const Feature& f, double x) {
  const bool nan = x != x;
  if (f.missing_kind == MissingKind::nan && nan) return static_cast<std::uint16_t>(f.n_value_bins);
  if (f.missing_kind == MissingKind::zero && (nan || std::abs(x) <= kZero)) {
    return static_cast<std::uint16_t>(f.n_value_bins);
  }
  if (nan) x = 0.0;
  std::uint16_t b = 0;
  while (x > f.upper[b]) ++b;
  return b;
}

std::vector<std::uint16_t> column_of(const BinMatrix& matrix, std::size_t feature) {
  std::vector<std::uint16_t> bins(at(matrix.n_rows()));
  matrix.copy_column(static_cast<std::int64_t>(feature), bins.data());
  return bins;
}

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::i16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::u16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::u32;
  return DType::u64;
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
          const std::int64_t n_left = matrix.partition(static_cast<std::int32_t>(f), threshold, missing_left, nullptr,
                                                       0, n_rows, left.data(), right.data());
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
    CHECK_THROWS_AS(other.fill(team, {incomplete.data(), DType::f64, 4, 1, 1, 1}, Use::training), std::invalid_argument);
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
}

}  // namespace gossamer::tests
