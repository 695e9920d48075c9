// Bin boundaries from samples of values.
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/bin_bounds.h"
#include "core/radix_sort.h"
#include "sparse_table.h"

namespace gossamer::tests {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

void check_shape(const std::vector<double>& upper, std::int64_t max_bin) {
  REQUIRE(!upper.empty());
  CHECK(upper.back() == kInf);
  CHECK(static_cast<std::int64_t>(upper.size()) <= std::max<std::int64_t>(max_bin, 1));
  for (std::size_t i = 1; i < upper.size(); ++i) CHECK(upper[i - 1] < upper[i]);
}

std::size_t bin_of(const std::vector<double>& upper, double value) {
  std::size_t b = 0;
  while (value > upper[b]) ++b;
  return b;
}

std::vector<std::int64_t> counts_by_bin(const std::vector<double>& upper, const DistinctValues& d) {
  std::vector<std::int64_t> counts(upper.size());
  for (std::size_t i = 0; i < d.values.size(); ++i) counts[bin_of(upper, d.values[i])] += d.counts[i];
  return counts;
}

DistinctValues integers(int n, std::int64_t count) {
  DistinctValues d;
  for (int i = 0; i < n; ++i) {
    d.values.push_back(i);
    d.counts.push_back(count);
  }
  return d;
}

BinOptions options(std::int64_t n_columns, std::int32_t max_bin) {
  BinOptions o;
  o.max_bin.assign(at(n_columns), max_bin);
  o.min_data_in_bin = 1;
  return o;
}

std::vector<ColumnBounds> bounds_of_column(const std::vector<double>& values, const BinOptions& o) {
  Team team(1);
  return find_bounds(team, {values.data(), DType::f64, static_cast<std::int64_t>(values.size()), 1, 1, 1}, {}, o);
}

// Columns from empty to full, with few and many values, on both sides of zero and at it.
template <class T>
Table<T> sparse_values(std::int64_t n_rows, std::int64_t n_columns, Random& random) {
  Table<T> table(n_rows, n_columns);
  for (std::int64_t c = 0; c < n_columns; ++c) {
    const double share = c == 0 ? 0.0 : c == 1 ? 1.0 : std::pow(0.5, static_cast<double>(c % 9));
    for (std::int64_t row = 0; row < n_rows; ++row) {
      if (random.chance(0.02)) table.keep_zero(row, c);
      if (!random.chance(share)) continue;
      const bool few = c % 3 == 0;
      if constexpr (std::is_floating_point_v<T>) {
        T x = static_cast<T>(few ? random.below(7) - 3 : random.normal());
        if (random.chance(0.03)) x = std::numeric_limits<T>::quiet_NaN();
        if (random.chance(0.03)) x = static_cast<T>(random.chance(0.5) ? -0.0 : 1e-37);
        if (c == 5) x = std::numeric_limits<T>::quiet_NaN();
        table(row, c) = x;
      } else {
        table(row, c) = static_cast<T>(random.below(few ? 7 : 100) - (std::is_signed_v<T> ? (few ? 3 : 50) : 0));
      }
    }
  }
  return table;
}

void check_same(const std::vector<ColumnBounds>& a, const std::vector<ColumnBounds>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t c = 0; c < a.size(); ++c) {
    CAPTURE(c);
    CHECK(first_difference(a[c].upper, b[c].upper) == -1);
    CHECK(a[c].missing_in_sample == b[c].missing_in_sample);
    CHECK(a[c].zero_share == b[c].zero_share);
  }
}

}  // namespace

TEST_SUITE("bin_bounds") {
  TEST_CASE("a bin per value while they fit") {
    const DistinctValues d = integers(10, 5);
    const auto upper = choose_bounds(d, 255, 1);
    check_shape(upper, 255);
    CHECK(upper.size() == 10);
    for (std::size_t i = 0; i + 1 < upper.size(); ++i) CHECK(upper[i] == static_cast<double>(i) + 0.5);
    CHECK(choose_bounds(d, 10, 1).size() == 10);
  }

  TEST_CASE("min_data_in_bin merges rare values") {
    DistinctValues d{{1, 2, 3, 4, 5}, {1, 1, 10, 2, 1}};
    const auto upper = choose_bounds(d, 255, 3);
    check_shape(upper, 255);
    const auto counts = counts_by_bin(upper, d);
    for (std::size_t b = 0; b + 1 < counts.size(); ++b) CHECK(counts[b] >= 3);
    CHECK(upper.size() < 5);
  }

  TEST_CASE("equal counts when there are more values than bins") {
    for (const std::int64_t max_bin : {1, 2, 3, 16, 63, 255}) {
      const DistinctValues d = integers(5000, 4);
      const auto upper = choose_bounds(d, max_bin, 3);
      CAPTURE(max_bin);
      check_shape(upper, max_bin);
      CHECK(static_cast<std::int64_t>(upper.size()) == max_bin);
      const auto counts = counts_by_bin(upper, d);
      const auto mean = 20000.0 / static_cast<double>(max_bin);
      for (const std::int64_t count : counts) {
        CHECK(static_cast<double>(count) >= 0.5 * mean);
        CHECK(static_cast<double>(count) <= 1.5 * mean + 4.0);
      }
    }
  }

  TEST_CASE("a frequent value gets a bin of its own") {
    DistinctValues d = integers(1000, 1);
    d.counts[500] = 10000;
    const auto upper = choose_bounds(d, 64, 1);
    check_shape(upper, 64);
    const auto counts = counts_by_bin(upper, d);
    // It may take in the few rows before it that do not fill half a bin.
    CHECK(counts[bin_of(upper, 500)] >= 10000);
    CHECK(counts[bin_of(upper, 500)] <= 10010);
    CHECK(bin_of(upper, 501) > bin_of(upper, 500));
    CHECK(upper.size() > 32);  // the others still share many bins
  }

  TEST_CASE("random counts keep the shape") {
    Random random(51);
    for (int round = 0; round < 200; ++round) {
      DistinctValues d;
      double value = -100.0;
      const std::int64_t n = 1 + random.below(600);
      for (std::int64_t i = 0; i < n; ++i) {
        value += random.chance(0.1) ? 1e-12 : random.unit();
        d.values.push_back(value);
        d.counts.push_back(random.chance(0.02) ? 1 + random.below(5000) : 1 + random.below(5));
      }
      const std::int64_t max_bin = 2 + random.below(300);
      const auto upper = choose_bounds(d, max_bin, random.below(20));
      CAPTURE(round);
      check_shape(upper, max_bin);
    }
  }

  TEST_CASE("nothing, one value") {
    CHECK(choose_bounds({}, 255, 3) == std::vector<double>{kInf});
    CHECK(choose_bounds({{4.0}, {100}}, 255, 3) == std::vector<double>{kInf});
    CHECK(choose_bounds({{4.0, 5.0}, {100, 100}}, 1, 3) == std::vector<double>{kInf});
  }

  TEST_CASE("neighbouring numbers, infinities and the largest numbers are told apart") {
    constexpr double kMax = std::numeric_limits<double>::max();
    const double tiny = std::numeric_limits<double>::denorm_min();
    const std::vector<double> values{
        -kInf, -kMax, -1.0, std::nextafter(-1.0, 0.0), -tiny, 0.0, tiny, 1.0, std::nextafter(1.0, 2.0), kMax, kInf};
    DistinctValues d{values, std::vector<std::int64_t>(values.size(), 10)};
    const auto upper = choose_bounds(d, 255, 1);
    check_shape(upper, 255);
    REQUIRE(upper.size() == values.size());
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(bin_of(upper, values[i]) == i);
  }

  TEST_CASE("missing values, by each option") {
    const std::vector<double> values{1.0, NAN, 0.0, 2.0, -0.0, NAN, 3.0, 1e-40};
    BinOptions o = options(1, 255);
    auto found = bounds_of_column(values, o)[0];
    CHECK(found.missing_in_sample);
    CHECK(found.upper.size() == 5);  // 0, 1e-40, 1, 2, 3; -0 is 0

    o.zero_as_missing = true;
    found = bounds_of_column(values, o)[0];
    CHECK(found.missing_in_sample);
    CHECK(found.upper.size() == 3);

    o.zero_as_missing = false;
    o.use_missing = false;
    found = bounds_of_column(values, o)[0];
    CHECK_FALSE(found.missing_in_sample);
    CHECK(found.upper.size() == 5);

    CHECK(bounds_of_column({NAN, NAN}, options(1, 255))[0].upper == std::vector<double>{kInf});
    CHECK(bounds_of_column({NAN, NAN}, options(1, 255))[0].missing_in_sample);
  }

  TEST_CASE("max_bin counts the missing bin") {
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i) values.push_back(i);
    CHECK(bounds_of_column(values, options(1, 16))[0].upper.size() == 16);
    values.push_back(NAN);
    CHECK(bounds_of_column(values, options(1, 16))[0].upper.size() == 15);
  }

  TEST_CASE("a matrix: each column like alone, for any number of threads, any layout") {
    Random random(52);
    const std::int64_t n_rows = 3000;
    const std::int64_t n_columns = 19;
    std::vector<float> by_row(at(n_rows * n_columns)), by_column(at(n_rows * n_columns));
    std::vector<std::vector<double>> columns(at(n_columns));
    for (std::int64_t c = 0; c < n_columns; ++c) {
      for (std::int64_t row = 0; row < n_rows; ++row) {
        const auto x = static_cast<float>(c % 2 == 0 ? random.normal() : std::floor(random.between(0, 5)));
        const float value = random.chance(0.05) ? NAN : x;
        by_row[at(row * n_columns + c)] = by_column[at(c * n_rows + row)] = value;
        columns[at(c)].push_back(static_cast<double>(value));
      }
    }
    BinOptions o = options(n_columns, 63);
    for (std::int64_t c = 0; c < n_columns; ++c) o.max_bin[at(c)] = static_cast<std::int32_t>(20 + c);
    for (const int n_threads : {1, 2, 5}) {
      Team team(n_threads);
      const auto c_order = find_bounds(team, {by_row.data(), DType::f32, n_rows, n_columns, n_columns, 1}, {}, o);
      const auto f_order = find_bounds(team, {by_column.data(), DType::f32, n_rows, n_columns, 1, n_rows}, {}, o);
      for (std::int64_t c = 0; c < n_columns; ++c) {
        BinOptions one = o;
        one.max_bin = {o.max_bin[at(c)]};
        const auto alone = bounds_of_column(columns[at(c)], one)[0];
        CHECK(c_order[at(c)].upper == alone.upper);
        CHECK(f_order[at(c)].upper == alone.upper);
        CHECK(c_order[at(c)].missing_in_sample == alone.missing_in_sample);
      }
    }
  }

  TEST_CASE("only the sampled rows count") {
    std::vector<double> values;
    std::vector<std::int64_t> sample;
    std::vector<double> sampled;
    for (int i = 0; i < 1000; ++i) {
      values.push_back(i % 2 == 0 ? i : NAN);
      if (i % 6 == 0) {
        sample.push_back(i);
        sampled.push_back(i);
      }
    }
    Team team(2);
    const MatrixView view{values.data(), DType::f64, 1000, 1, 1, 1};
    const auto found = find_bounds(team, view, sample, options(1, 32))[0];
    CHECK(found.upper == bounds_of_column(sampled, options(1, 32))[0].upper);
    CHECK_FALSE(found.missing_in_sample);
  }

  TEST_CASE("radix sort keeps the order of keys and of equals") {
    Random random(53);
    std::vector<std::pair<double, int>> items;
    for (int i = 0; i < 5000; ++i) items.emplace_back(std::floor(random.normal() * 20.0) * 0.25, i);
    items.emplace_back(-kInf, 5000);
    items.emplace_back(kInf, 5001);
    auto expected = items;
    std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    radix_sort(items, [](const auto& item) { return ordered_key(item.first + 0.0); });
    CHECK(items == expected);
    for (const float x : {-1.5f, 0.0f, 3e38f, -1e-45f}) CHECK(key_value(ordered_key(x)) == x);
    for (const double x : {-1.5, 0.0, 1e308, -5e-324}) CHECK(key_value(ordered_key(x)) == x);
  }

  TEST_CASE_TEMPLATE("sparse tables: the bounds of the dense table with the same values", T, float, double,
                     std::int16_t, std::uint8_t, std::int64_t) {
    Random random(54);
    Table<T> table = sparse_values<T>(3001, 14, random);
    std::vector<std::int64_t> everything, some, few;  // none stands for all
    for (std::int64_t row = 0; row < table.n_rows(); ++row) {
      if (random.chance(0.4)) some.push_back(row);
      if (row % 500 == 17) few.push_back(row);
    }
    for (const bool use_missing : {true, false}) {
      for (const bool zero_as_missing : {false, true}) {
        for (const std::int32_t max_bin : {2, 5, 63, 255}) {
          for (const std::int64_t min_data : {1, 3, 40}) {
            BinOptions o = options(14, max_bin);
            o.max_bin[3] = 2;
            o.use_missing = use_missing;
            o.zero_as_missing = zero_as_missing;
            o.min_data_in_bin = min_data;
            for (const auto* const sample : {&everything, &some, &few}) {
              Team team(1);
              const auto expected = find_bounds(team, table.dense(), *sample, o);
              CAPTURE(use_missing);
              CAPTURE(zero_as_missing);
              CAPTURE(max_bin);
              CAPTURE(min_data);
              CAPTURE(sample->size());
              for (const int n_threads : {1, 3}) {
                Team other(n_threads);
                for (const bool wide : {false, true}) {
                  check_same(find_bounds(other, table.by_row(wide), *sample, o), expected);
                  check_same(find_bounds(other, table.by_column(wide), *sample, o), expected);
                }
              }
            }
          }
        }
      }
    }
  }

  TEST_CASE("the share of zeros, in dense and sparse tables") {
    Table<double> table(10, 4);
    for (std::int64_t row = 0; row < 10; ++row) {
      table(row, 0) = row < 3 ? 1.0 : row == 5 ? 1e-40 : row == 6 ? -0.0 : 0.0;
      table(row, 1) = row < 4 ? NAN : 0.0;
      table(row, 2) = 7.0;
    }
    table.keep_zero(9, 3);
    Team team(2);
    const std::vector<std::int64_t> sample{0, 2, 4, 6, 8};
    for_views(table, [&](const auto& view) {
      const auto shares = [&](bool use_missing, std::span<const std::int64_t> rows) {
        BinOptions o = options(4, 255);
        o.use_missing = use_missing;
        std::vector<double> all;
        for (const ColumnBounds& c : find_bounds(team, view, rows, o)) all.push_back(c.zero_share);
        return all;
      };
      // NaN is a zero where it is read as one.
      CHECK(shares(true, {}) == std::vector<double>{0.7, 0.6, 0.0, 1.0});
      CHECK(shares(false, {}) == std::vector<double>{0.7, 1.0, 0.0, 1.0});
      CHECK(shares(true, sample) == std::vector<double>{0.6, 0.6, 0.0, 1.0});
    });
  }

  TEST_CASE("sparse tables without rows, columns or values") {
    for (const auto& [n_rows, n_columns] : {std::pair<std::int64_t, std::int64_t>{0, 3}, {5, 0}, {5, 3}}) {
      Table<float> table(n_rows, n_columns);
      for (const bool zero_as_missing : {false, true}) {
        BinOptions o = options(n_columns, 255);
        o.zero_as_missing = zero_as_missing;
        Team team(3);
        const auto expected = find_bounds(team, table.dense(), {}, o);
        check_same(find_bounds(team, table.by_row(), {}, o), expected);
        check_same(find_bounds(team, table.by_column(), {}, o), expected);
        for (const ColumnBounds& c : expected) CHECK(c.upper == std::vector<double>{kInf});
      }
    }
  }

  TEST_CASE("weights are integers whose sums are exact") {
    CHECK(integer_weights(std::vector<float>{}).empty());
    for (const float unit : {1.0f, 1e-38f, 3e37f}) {
      const std::vector<float> weights{0.0f, unit, 2.0f * unit, 0.5f * unit, 1e-7f * unit};
      const std::vector<std::int64_t> found = integer_weights(weights);
      CHECK(found[0] == 0);
      CHECK(found[2] == 2 * found[1]);
      CHECK(found[1] == 2 * found[3]);
      CHECK(found[4] >= 1);
      CHECK(std::accumulate(found.begin(), found.end(), std::int64_t{0}) < std::int64_t{1} << 53);
    }
    CHECK(integer_weights(std::vector<float>{0.0f, 0.0f}) == std::vector<std::int64_t>{0, 0});
    CHECK(integer_weights(std::vector<float>{3e38f, 1e-45f})[1] == 1);
  }

  TEST_CASE_TEMPLATE("weights: the bounds of rows that are repeated as often, dense and sparse", T, float, double) {
    Random random(31);
    for (int round = 0; round < 6; ++round) {
      Table<T> table = sparse_values<T>(300, 12, random);
      std::vector<float> weights;
      std::vector<std::int64_t> repeated;
      for (std::int64_t row = 0; row < table.n_rows(); ++row) {
        weights.push_back(static_cast<float>(random.below(4)));
        for (int i = 0; i < static_cast<int>(weights.back()); ++i) repeated.push_back(row);
      }
      for (const std::int32_t max_bin : {2, 7, 30, 255}) {
        for (const bool zero_as_missing : {false, true}) {
          for (const bool forced : {false, true}) {
            BinOptions plain = options(table.n_columns(), max_bin);
            plain.zero_as_missing = zero_as_missing;
            if (forced) plain.forced.assign(at(table.n_columns()), {-0.5, 1.0});
            BinOptions weighted = plain;
            weighted.weights = integer_weights(weights);
            Team team(1);
            const auto expected = find_bounds(team, table.dense(), repeated, plain);
            const auto found = find_bounds(team, table.dense(), {}, weighted);
            for (std::size_t c = 0; c < found.size(); ++c) {
              // Rows of weight 0 have no bins, but missing values among them take one.
              if (found[c].missing_in_sample == expected[c].missing_in_sample)
                CHECK(found[c].upper == expected[c].upper);
            }
            for (const int n_threads : {1, 3}) {
              Team other(n_threads);
              check_same(find_bounds(other, table.by_row(), {}, weighted), found);
              check_same(find_bounds(other, table.by_column(), {}, weighted), found);
            }
          }
        }
      }
    }
  }

  TEST_CASE("weights: of the sample only, and none where all of it weighs nothing") {
    std::vector<double> values(100);
    std::iota(values.begin(), values.end(), 0.0);
    BinOptions o = options(1, 4);
    std::vector<float> weights(100, 0.0f);
    for (std::size_t i = 0; i < 10; ++i) weights[i] = 1.0f;
    o.weights = integer_weights(weights);
    Team team(1);
    const MatrixView view{values.data(), DType::f64, 100, 1, 1, 1};
    CHECK(find_bounds(team, view, {}, o)[0].upper[2] < 9.0);
    std::vector<std::int64_t> sample(50);
    std::iota(sample.begin(), sample.end(), 50);
    CHECK(find_bounds(team, view, sample, o)[0].upper == find_bounds(team, view, sample, options(1, 4))[0].upper);
  }

  TEST_CASE("forced bounds are kept, the other bins lie between them") {
    Random random(8);
    for (int trial = 0; trial < 300; ++trial) {
      DistinctValues d;
      const std::int64_t n = random.below(60);
      double x = -20.0;
      for (std::int64_t i = 0; i < n; ++i) {
        x += 0.25 * static_cast<double>(1 + random.below(8));
        d.values.push_back(x);
        d.counts.push_back(1 + random.below(random.chance(0.1) ? 300 : 5));
      }
      std::vector<double> forced;
      double bound = -25.0;
      for (std::int64_t i = 0; i < 1 + random.below(6); ++i) {
        bound += 0.5 * static_cast<double>(1 + random.below(20));
        forced.push_back(bound);
      }
      const auto n_forced = static_cast<std::int64_t>(forced.size());
      for (const std::int64_t max_bin : {n_forced + 1, n_forced + 4, n_forced + 30, std::int64_t{1000}}) {
        const auto upper = choose_bounds_between(d, max_bin, 1, forced);
        check_shape(upper, max_bin);
        CHECK(std::includes(upper.begin(), upper.end(), forced.begin(), forced.end()));
        if (max_bin < 1000) continue;
        // Every value gets a bin of its own.
        const auto counts = counts_by_bin(upper, d);
        for (std::size_t i = 0; i < d.values.size(); ++i) CHECK(counts[bin_of(upper, d.values[i])] == d.counts[i]);
      }
    }
    // Most bins go where most rows are; an empty part takes none.
    DistinctValues d = integers(100, 1);
    for (std::size_t i = 0; i < 50; ++i) d.counts[i] = 9;
    const double forced[] = {-5.0, -1.0, 49.5};
    const auto upper = choose_bounds_between(d, 44, 1, forced);
    CHECK(upper.size() == 44);
    CHECK(bin_of(upper, 49.5) >= 34);
    CHECK(upper[0] == -5.0);
    CHECK(upper[1] == -1.0);
  }

  TEST_CASE("columns have forced bounds of their own") {
    const std::vector<double> values{0, 10, 1, 11, 2, 12, 3, 13};
    BinOptions o = options(2, 255);
    o.max_bin = {2, 255};
    o.forced = {{}, {10.7}};
    Team team(1);
    const auto found = find_bounds(team, {values.data(), DType::f64, 4, 2, 2, 1}, {}, o);
    CHECK(found[0].upper.size() == 2);
    CHECK(found[1].upper == std::vector<double>{10.7, 11.5, 12.5, kInf});
  }
}

}  // namespace gossamer::tests
