// Sorted columns, their lists in a growing tree, and the splits found in them, against plain loops.
#include <algorithm>
#include <functional>
#include <numeric>

#include "core/proposals.h"
#include "core/sorted_lists.h"
#include "core/sorted_table.h"
#include "sparse_table.h"
#include "support.h"

namespace gossamer::tests {
namespace {

// ---- columns ----

// What a number means to a feature: 0 missing, 1 a value (which may change).
bool is_value(double& x, MissingKind kind) {
  if (x != x) {
    if (kind != MissingKind::nan_is_zero) return false;
    x = 0.0;
  }
  if (kind == MissingKind::zero && std::abs(x) <= kZero) return false;
  x = x == 0.0 ? 0.0 : x;
  return true;
}

struct Expected {
  std::vector<std::pair<double, RowIdx>> values;  // by value, then by row
  std::vector<RowIdx> missing;
};

template <class T>
Expected expected_of(const Table<T>& table, std::int32_t column, MissingKind kind) {
  Expected found;
  for (std::int64_t row = 0; row < table.n_rows(); ++row) {
    auto x = static_cast<double>(table(row, column));
    if (is_value(x, kind)) {
      found.values.emplace_back(x, static_cast<RowIdx>(row));
    } else {
      found.missing.push_back(static_cast<RowIdx>(row));
    }
  }
  std::stable_sort(found.values.begin(), found.values.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return found;
}

template <class T>
void check_column(const SortedTable& sorted, const SortedColumn& column, const Table<T>& table) {
  const Expected all = expected_of(table, column.column, column.missing_kind);
  Expected expected;
  expected.missing = all.missing;
  for (const auto& entry : all.values) {
    if (!column.rest_is_zero || entry.first != 0.0) expected.values.push_back(entry);
  }
  REQUIRE(column.n_values == static_cast<std::int64_t>(expected.values.size()));
  std::int64_t n_low = 0;
  for (std::int64_t i = 0; i < column.n_values; ++i) {
    const auto [value, row] = expected.values[at(i)];
    const bool is_new = i == 0 || value != expected.values[at(i - 1)].first;
    REQUIRE(column.entries[i] == (row | (is_new ? kNewValue : 0)));
    REQUIRE(sorted.value(column, column.entries[i]) == value);
    n_low += value < 0.0;
  }
  CHECK(column.n_low == (column.rest_is_zero ? n_low : 0));
  const std::int64_t n_missing = column.rest_is_zero ? static_cast<std::int64_t>(expected.missing.size()) : 0;
  REQUIRE(column.entries.size() == column.n_values + n_missing);
  for (std::int64_t i = 0; i < n_missing; ++i) CHECK(column.entries[column.n_values + i] == expected.missing[at(i)]);
  // The places at or below some values, the rest among them.
  for (const double limit : {-kInfinity, -1.5, -0.0, 0.0, 0.25, 3.0, kInfinity}) {
    std::int64_t n = column.rest_is_zero && limit >= 0.0;
    for (const auto& entry : expected.values) n += entry.first <= limit;
    CHECK(sorted.places_up_to(column, limit) == n);
  }
}

template <class T>
T odd_value(Random& random) {
  if constexpr (std::is_floating_point_v<T>) {
    const T odd[] = {T(0),
                     T(-0.0),
                     T(NAN),
                     T(1e-38),
                     T(-1e-38),
                     std::numeric_limits<T>::denorm_min(),
                     T(INFINITY),
                     T(-INFINITY),
                     std::numeric_limits<T>::max(),
                     std::numeric_limits<T>::lowest()};
    if (random.chance(0.5)) return odd[random.below(10)];
    return static_cast<T>(random.chance(0.5) ? random.normal() : static_cast<double>(random.below(7) - 3));
  } else {
    if (random.chance(0.4)) return T(0);
    if (random.chance(0.3)) return static_cast<T>(random.below(7));
    return static_cast<T>(random.bits());
  }
}

template <class T>
void check_sorting(std::uint64_t seed) {
  Random random(seed);
  for (const std::int64_t n_rows : {1, 7, 300}) {
    Table<T> table(n_rows, 3);
    for (std::int64_t row = 0; row < n_rows; ++row) {
      for (int c = 0; c < 3; ++c) {
        table(row, c) = odd_value<T>(random);
        if (random.chance(0.1)) table.keep_zero(row, c);
      }
    }
    for (const MissingKind kind : kMissingKinds) {
      std::vector<Feature> features;
      for (const std::int32_t c : {0, 2}) features.push_back(make_feature(c, {-0.5, kInfinity}, kind));
      for_views(table, [&](const auto& view) {
        for (const int n_threads : {1, 3}) {
          Team team(n_threads);
          const SortedTable sorted = sort_columns(team, RawTable::of(view), features);
          REQUIRE(sorted.place_of.size() == 2);
          for (std::size_t f = 0; f < 2; ++f) {
            const std::int32_t place = sorted.place_of[f];
            CHECK((place < 0) == !sorted.bin_values[f].empty());
            if (place < 0) continue;
            CHECK(sorted.columns[at(place)].column == features[f].column);
            check_column(sorted, sorted.columns[at(place)], table);
          }
        }
      });
    }
  }
}

// ---- a leaf's entries, as a plain list ----

struct Entry {
  RowIdx row;
  bool is_new;
};

std::vector<Entry> decode(const SortedEntry* entries, std::int64_t n) {
  std::vector<Entry> found;
  for (std::int64_t i = 0; i < n; ++i) found.push_back({entries[i] & ~kNewValue, (entries[i] & kNewValue) != 0});
  return found;
}

// ---- the search ----

struct SearchCase {
  Rows rows;
  std::vector<std::uint32_t> entries;
  Buffer<std::uint64_t> halves;
  Sums leaf, missing, before;
  bool ends = false;
  double min_step = 0.0;

  SearchCase(Form form, std::int64_t n, double share_new, Random& random) : rows(n + 60, layout_of(form), random) {
    for (std::int64_t i = 0; i < n; ++i) {
      entries.push_back(static_cast<std::uint32_t>(i) | (i == 0 || random.chance(share_new) ? kNewValue : 0));
    }
    std::vector<std::uint32_t> order(entries.size());
    for (std::size_t i = order.size(); i > 1; --i) {  // rows in any order
      const std::size_t j = at(random.below(static_cast<std::int64_t>(i)));
      const std::uint32_t a = entries[i - 1] & ~kNewValue;
      const std::uint32_t b = entries[j] & ~kNewValue;
      entries[i - 1] = (entries[i - 1] & kNewValue) | b;
      entries[j] = (entries[j] & kNewValue) | a;
    }
    halves.reset(rows.size());
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      halves[i] =
          static_cast<std::uint64_t>(rows.gradient[at(i)]) << 32 | static_cast<std::uint64_t>(rows.hessian[at(i)]);
    }
    for (std::int64_t i = 0; i < n; ++i) leaf += row_sums(i);
    for (std::int64_t i = n; i < n + 60; ++i) (i < n + 25 ? missing : before) += row_sums(i);
    if (random.chance(0.5)) missing = {};
    if (random.chance(0.5)) before = {};
    leaf += missing;
    leaf += before;
    ends = missing.count > 0;
  }

  Sums row_sums(std::int64_t i) const { return {rows.gradient[at(i)], rows.hessian[at(i)], 1}; }
  double weight(const Sums& s) const {
    return static_cast<double>(rows.layout.constant_hessian() ? s.count : s.hessian);
  }
  bool wide() const { return rows.layout.gradient_limit > std::int64_t{1} << 30; }

  SortedSearchArgs args(std::vector<double>& scratch) const {
    SortedSearchArgs a;
    a.entries = entries.data();
    a.n = static_cast<std::int64_t>(entries.size());
    a.first_place = 5;
    if (wide()) {
      a.wide_values = rows.wide.data();
    } else {
      a.row_values = halves.data();
    }
    a.before = before;
    a.missing = missing;
    a.ends = ends;
    a.min_step = min_step;
    a.leaf.gradient = static_cast<double>(leaf.gradient);
    a.leaf.hessian = weight(leaf);
    a.leaf.count = static_cast<double>(leaf.count);
    scratch.assign(at(search_scratch_size(kSortedChunk)), NAN);
    a.leaf.scratch = scratch.data();
    return a;
  }

  double gain(const Sums& left, const SplitRules& r) const {
    const Sums right = leaf - left;
    double total = 0.0;
    for (const Sums& side : {left, right}) {
      if (static_cast<double>(side.count) < r.min_data || weight(side) < r.min_sum_hessian) return -1.0e300;
      const double s = std::max(std::abs(static_cast<double>(side.gradient)) - r.lambda_l1, 0.0);
      total += s * s / (weight(side) + r.lambda_l2);
    }
    return total;
  }

  // Thresholds: places with the sums left of them.
  std::vector<std::pair<int, Sums>> thresholds() const {
    std::vector<std::pair<int, Sums>> found;
    Sums sum = before;
    double since = before.count > 0 ? kInfinity : 0.0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const bool is_new = (entries[i] & kNewValue) != 0 || i == 0;
      if (is_new && sum.count > 0 && since >= min_step) {
        found.emplace_back(5 + static_cast<int>(i), sum);
        since = 0.0;
      }
      const Sums one = row_sums(entries[i] & ~kNewValue);
      sum += one;
      since += weight(one);
    }
    if (ends && sum.count > 0) found.emplace_back(5 + static_cast<int>(entries.size()), sum);
    return found;
  }

  double best(const SplitRules& rules) const {
    double found = -1.0e300;
    for (auto [place, left] : thresholds()) {
      found = std::max(found, gain(left, rules));
      left += missing;
      if (missing.count > 0) found = std::max(found, gain(left, rules));
    }
    return found;
  }
};

TEST_SUITE("sorted") {
  TEST_CASE("columns of all types, in all forms") {
    check_sorting<float>(1);
    check_sorting<double>(2);
    check_sorting<std::int8_t>(3);
    check_sorting<std::int16_t>(4);
    check_sorting<std::int32_t>(5);
    check_sorting<std::int64_t>(6);
    check_sorting<std::uint8_t>(7);
    check_sorting<std::uint16_t>(8);
    check_sorting<std::uint32_t>(9);
    check_sorting<std::uint64_t>(10);
  }

  TEST_CASE("doubles that differ beyond float are different values") {
    Table<double> table(4, 1);
    for (int i = 0; i < 4; ++i) table(i, 0) = 1.0 + (3 - i) * 0x1.0p-50;
    Team team(1);
    const SortedTable sorted = sort_columns(team, RawTable::of(table.dense()), {make_feature(0, {kInfinity}, {})});
    REQUIRE(sorted.columns.size() == 1);
    for (int i = 0; i < 4; ++i) CHECK(sorted.columns[0].entries[i] == (static_cast<SortedEntry>(3 - i) | kNewValue));
  }

  TEST_CASE("bins that hold one value each tell all") {
    Table<float> table(6, 1);
    const float values[] = {2, 0, -1, 2, 5, NAN};
    for (int i = 0; i < 6; ++i) table(i, 0) = values[i];
    Team team(1);
    const std::vector<double> one_each{-0.5, 1.0, 3.0, 4.0, kInfinity};
    for_views(table, [&](const auto& view) {
      const SortedTable all = sort_columns(team, RawTable::of(view), {make_feature(0, one_each, MissingKind::nan)});
      CHECK(all.columns.empty());
      CHECK(all.place_of[0] == -1);
      REQUIRE(all.bin_values[0].size() == 5);
      CHECK(all.bin_values[0][0] == -1.0);
      CHECK(all.bin_values[0][1] == 0.0);
      CHECK(all.bin_values[0][2] == 2.0);
      CHECK(all.bin_values[0][3] != all.bin_values[0][3]);  // no row
      CHECK(all.bin_values[0][4] == 5.0);
      const std::vector<double> shared{-0.5, 1.0, kInfinity};
      const SortedTable some = sort_columns(team, RawTable::of(view), {make_feature(0, shared, MissingKind::nan)});
      CHECK(some.columns.size() == 1);
      CHECK(some.n_bytes() > 0);
    });
  }

  TEST_CASE("halfway") {
    CHECK(halfway(1.0, 2.0) == 1.5);
    CHECK(halfway(-3.0, 1.0) == -1.0);
    CHECK(halfway(1.7e308, 1.75e308) == 1.725e308);
    CHECK(halfway(-1.7e308, 1.7e308) == 0.0);
    const double tiny = std::numeric_limits<double>::denorm_min();
    const double largest = std::numeric_limits<double>::max();
    const std::pair<double, double> neighbours[] = {{1.0, std::nextafter(1.0, 2.0)},
                                                    {0.0, tiny},
                                                    {-tiny, 0.0},
                                                    {-kInfinity, 3.0},
                                                    {3.0, kInfinity},
                                                    {-kInfinity, kInfinity},
                                                    {largest, kInfinity},
                                                    {-kInfinity, -largest}};
    for (const auto& [low, high] : neighbours) {
      CAPTURE(low);
      CHECK(low <= halfway(low, high));
      CHECK(halfway(low, high) < high);
    }
    Random random(3);
    for (int i = 0; i < 1000; ++i) {
      const double a = random.normal() * std::pow(10.0, random.between(-300, 300));
      const double b = a + std::abs(random.normal()) * std::pow(10.0, random.between(-300, 300));
      if (!(a < b)) continue;
      CHECK(a <= halfway(a, b));
      CHECK(halfway(a, b) < b);
    }
  }

  TEST_CASE("entries of a split leaf keep their order and know where values begin") {
    Random random(11);
    for (int repeat = 0; repeat < 60; ++repeat) {
      const std::int64_t n = repeat < 5 ? repeat : random.below(200);
      std::vector<std::uint8_t> side(at(n + 1));
      for (auto& s : side) s = random.chance(0.4);
      std::vector<SortedEntry> list;
      std::vector<int> value;
      std::vector<RowIdx> order(at(n));
      std::iota(order.begin(), order.end(), 0);
      for (std::int64_t i = n; i > 1; --i) std::swap(order[at(i - 1)], order[at(random.below(i))]);
      for (std::int64_t i = 0; i < n; ++i) {
        const bool is_new = i == 0 || random.chance(0.5);
        value.push_back((i == 0 ? 0 : value.back()) + is_new);
        list.push_back(order[at(i)] | (is_new ? kNewValue : 0));
      }
      same_at_every_level([&] {
        std::vector<SortedEntry> left = list;
        std::vector<SortedEntry> right(list.size());
        const std::int64_t n_left = kernels().split_sorted(left.data(), n, side.data(), right.data());
        std::int64_t places[2] = {0, 0};
        int last[2] = {-1, -1};
        for (std::int64_t i = 0; i < n; ++i) {
          const int s = side[order[at(i)]];
          const auto& own = s == 0 ? left : right;
          const std::int64_t place = places[s]++;
          // The first entry of a side may say that a value begins, or not: nothing is before it.
          const SortedEntry expected = order[at(i)] | (value[at(i)] != last[s] ? kNewValue : 0);
          CHECK(own[at(place)] == expected);
          last[s] = value[at(i)];
        }
        CHECK(n_left == places[0]);
        left.resize(at(n_left));
        return left;
      });
    }
  }

  TEST_CASE("the best threshold, against a plain loop") {
    Random random(21);
    for (const Form form : kForms) {
      for (int repeat = 0; repeat < 40; ++repeat) {
        const std::int64_t n = repeat < 4 ? repeat : repeat < 30 ? random.below(100) : 480 + random.below(1200);
        SearchCase c(form, n, random.chance(0.5) ? 1.0 : 0.2, random);
        if (random.chance(0.4)) c.min_step = random.between(0.01, 0.3) * c.weight(c.leaf - c.missing);
        SplitRules rules;
        rules.min_data = static_cast<double>(1 + random.below(6));
        rules.min_sum_hessian = random.chance(0.5) ? 0.5 : 0.1 * c.weight(c.leaf);
        rules.lambda_l2 = random.between(0.0, 3.0);
        rules.lambda_l1 = random.chance(0.3) ? 1000.0 : 0.0;
        const double expected = c.best(rules);
        same_at_every_level([&] {
          std::vector<double> scratch;
          SortedSearchArgs args = c.args(scratch);
          Candidate best;
          bool improved = kernels().search_sorted(args, c.rows.layout, rules, best);
          improved |= args.settle(best);
          CHECK(improved == (expected > -1.0e300));
          CHECK(args.before.count == c.before.count + n);
          if (improved) {
            CHECK(best.gain == doctest::Approx(expected).epsilon(1e-10));
            // The threshold is what the gain is of.
            double own = -1.0e300;
            for (auto [place, left] : c.thresholds()) {
              if (place != best.threshold) continue;
              if (best.missing_left) left += c.missing;
              own = c.gain(left, rules);
            }
            CHECK(own == doctest::Approx(expected).epsilon(1e-10));
            // A gain that is as good already is not beaten.
            Candidate again;
            again.gain = best.gain;
            SortedSearchArgs fresh = c.args(scratch);
            CHECK_FALSE(kernels().search_sorted(fresh, c.rows.layout, rules, again));
            CHECK_FALSE(fresh.settle(again));
          }
          return std::vector<double>{best.gain, static_cast<double>(best.threshold), best.missing_left ? 1.0 : 0.0};
        });
        std::vector<double> scratch;
        const Sums sums = kernels().sum_sorted(c.args(scratch), c.rows.layout);
        const Sums rest = c.leaf - c.missing - c.before;
        CHECK(sums.gradient == rest.gradient);
        CHECK(sums.count == rest.count);
        if (!c.rows.layout.constant_hessian()) CHECK(sums.hessian == rest.hessian);
      }
    }
  }

  TEST_CASE("lists of a growing tree, on all rows and on a sample") {
    Random random(31);
    for (const MissingKind kind : kMissingKinds) {
      Table<float> table(400, 3);
      for (std::int64_t row = 0; row < 400; ++row) {
        for (int c = 0; c < 3; ++c) {
          const double x = random.chance(0.5) ? 0.0 : std::round(random.normal() * 20) / 8;
          table(row, c) = random.chance(0.1) ? NAN : static_cast<float>(x);
        }
      }
      std::vector<Feature> features;
      for (std::int32_t c = 0; c < 3; ++c) features.push_back(make_feature(c, {kInfinity}, kind));
      for_views(table, [&](const auto& view) {
        for (const bool sampled : {false, true}) {
          Team team(sampled ? 3 : 1);
          const SortedTable sorted = sort_columns(team, RawTable::of(view), features);
          REQUIRE(sorted.columns.size() == 3);
          std::vector<RowIdx> rows;
          for (RowIdx row = 0; row < 400; ++row) {
            if (!sampled || random.chance(0.3)) rows.push_back(row);
          }
          SortedLists lists;
          using EntryRanges = std::vector<SortedLists::EntryRange>;
          std::vector<EntryRanges> leaves(31);  // children of i: 2 i + 1, 2 i + 2
          std::vector<std::vector<RowIdx>> members(31);
          leaves[0] = lists.start(team, sorted, {1, 0, 1}, sampled ? rows.data() : nullptr,
                                  static_cast<std::int64_t>(rows.size()));
          members[0] = rows;
          REQUIRE(lists.used().size() == 2);
          const auto check = [&](std::size_t leaf) {
            std::vector<char> is_in(400);
            for (const RowIdx row : members[leaf]) is_in[row] = 1;
            for (const std::int32_t place : lists.used()) {
              const SortedColumn& column = sorted.columns[at(place)];
              const SortedLists::EntryRange& own = leaves[leaf][at(place)];
              std::vector<Entry> expected;
              std::int64_t counts[3] = {0, 0, 0};
              for (std::int64_t i = 0; i < column.entries.size(); ++i) {
                const RowIdx row = column.entries[i] & ~kNewValue;
                if (!is_in[row]) continue;
                const int part = i < column.n_low ? 0 : i < column.n_values ? 1 : 2;
                ++counts[part];
                expected.push_back({row, false});
              }
              REQUIRE(own.n == static_cast<std::int64_t>(expected.size()));
              CHECK(own.n_low == counts[0]);
              CHECK(own.n_values == counts[0] + counts[1]);
              const auto found = decode(lists.entries(at(place), own), own.n);
              for (std::int64_t i = 0; i < own.n; ++i) {
                REQUIRE(found[at(i)].row == expected[at(i)].row);
                if (i == 0 || i == own.n_low || i >= own.n_values) continue;  // nothing is before it
                const bool differs =
                    sorted.value(column, found[at(i)].row) != sorted.value(column, found[at(i - 1)].row);
                CHECK(found[at(i)].is_new == differs);
              }
            }
          };
          check(0);
          for (std::size_t first = 0; first < 15; first = 2 * first + 1) {
            std::vector<SortedLists::Split> splits;
            for (std::size_t leaf = first; leaf < 2 * first + 1; ++leaf) {
              for (const RowIdx row : members[leaf]) {
                const bool right = random.chance(leaf == 2 ? 0.0 : 0.4);
                lists.side()[row] = right;
                members[2 * leaf + 1 + right].push_back(row);
              }
              splits.push_back({&leaves[leaf], {&leaves[2 * leaf + 1], &leaves[2 * leaf + 2]}});
            }
            lists.split(team, splits);
            for (std::size_t leaf = 2 * first + 1; leaf < 4 * first + 3; ++leaf) check(leaf);
          }
        }
      });
    }
  }

  TEST_CASE("proposals are quantiles of the weights") {
    Random random(41);
    for (const double eps : {0.001, 0.02, 0.1, 0.4, 0.95}) {
      CAPTURE(eps);
      const std::int64_t n = 700;
      Table<float> table(n, 3);
      for (std::int64_t row = 0; row < n; ++row) {
        table(row, 0) = static_cast<float>(random.normal());
        table(row, 1) = random.chance(0.2) ? NAN : static_cast<float>(std::round(random.normal() * 9));
        table(row, 2) = static_cast<float>(random.below(3));  // its bins tell all
      }
      std::vector<Feature> features{make_feature(0, {0.0, kInfinity}, MissingKind::nan),
                                    make_feature(1, {0.0, kInfinity}, MissingKind::nan),
                                    make_feature(2, {0.5, 1.5, kInfinity}, MissingKind::nan)};
      Team team(3);
      BinMatrix binned(features, n, Storage{});
      REQUIRE(binned.fill(team, table.dense(), Use::training));
      auto sorted = std::make_shared<SortedTable>(sort_columns(team, RawTable::of(table.dense()), binned.features()));
      REQUIRE(sorted->columns.size() == 2);
      Proposals proposals(binned, sorted, eps);
      const BinMatrix& matrix = *proposals.matrix();
      for (const bool sampled : {false, true, false}) {
        std::vector<float> hessian(at(n));
        for (float& h : hessian) h = static_cast<float>(1 + random.below(8)) / 4.0f;
        std::vector<RowIdx> rows;
        for (RowIdx row = 0; row < n; ++row) {
          if (!sampled || random.chance(0.5)) rows.push_back(row);
        }
        const bool constant = !sampled && random.chance(0.5);
        proposals.propose(team, constant ? nullptr : hessian.data(), sampled ? rows.data() : nullptr,
                          static_cast<std::int64_t>(rows.size()));
        for (std::size_t f = 0; f < 3; ++f) {
          const Feature& feature = matrix.features()[f];
          const auto bins = column_of(matrix, f);
          // Every row is where its value says.
          CHECK(first_difference(bins, table.naive_bins(feature)) == -1);
          if (f == 2) continue;
          CHECK(feature.n_value_bins <= 2 + static_cast<std::int32_t>(1.0 / eps));
          CHECK(std::is_sorted(feature.upper.begin(), feature.upper.end()));
          CHECK(feature.upper.back() == kInfinity);
          std::vector<double> weight(at(feature.n_value_bins));
          double total = 0.0;
          double most = 0.0;  // weight of one value
          std::vector<std::pair<float, double>> by_value;
          for (const RowIdx row : rows) {
            if (std::isnan(table(row, static_cast<std::int64_t>(f)))) continue;
            const double h = constant ? 1.0 : hessian[row];
            weight[bins[row]] += h;
            total += h;
            by_value.emplace_back(table(row, static_cast<std::int64_t>(f)), h);
          }
          std::sort(by_value.begin(), by_value.end());
          for (std::size_t i = 0; i < by_value.size();) {
            double one = 0.0;
            const float value = by_value[i].first;
            for (; i < by_value.size() && by_value[i].first == value; ++i) one += by_value[i].second;
            most = std::max(most, one);
          }
          for (std::size_t b = 0; b < weight.size(); ++b) {
            CHECK(weight[b] < eps * total + std::max(most, 1.5 * eps * total) + 1e-9);
            const bool is_cut = b + 1 < weight.size() && feature.upper[b] < kInfinity;
            // Without heavy values, bins hold what they should; otherwise some end before a heavy one.
            if (is_cut) CHECK(weight[b] >= (most < eps * total ? eps * total - 1e-9 : 1e-9));
          }
        }
      }
    }
  }

  TEST_CASE("values of much weight have bins of their own") {
    std::vector<double> values{10.5, 50.5, 51.5, 90.5};
    for (int value = 0; value < 100; ++value) values.push_back(value);
    const auto n = static_cast<std::int64_t>(values.size());
    Table<double> table(n, 1);
    std::vector<float> hessian(at(n), 1.0f);
    for (std::int64_t row = 0; row < n; ++row) table(row, 0) = values[at(row)];
    std::fill_n(hessian.begin(), 4, 50.0f);
    Team team(2);
    BinMatrix binned({make_feature(0, {5.5, kInfinity}, MissingKind::nan)}, n, Storage{});
    REQUIRE(binned.fill(team, table.dense(), Use::training));
    auto sorted = std::make_shared<SortedTable>(sort_columns(team, RawTable::of(table.dense()), binned.features()));
    Proposals proposals(binned, sorted, 0.1);
    proposals.propose(team, hessian.data(), nullptr, n);
    // 51 is too light for a bin and joins the value after it; the other light values share six bins.
    const std::vector<double> expected{10.25, 10.75, 28.5, 50.25, 50.75, 51.75, 68.5, 90.25, 90.75, kInfinity};
    CHECK(proposals.matrix()->features()[0].upper == expected);
    const auto bins = column_of(*proposals.matrix(), 0);
    CHECK(first_difference(bins, table.naive_bins(proposals.matrix()->features()[0])) == -1);
  }

  TEST_CASE("there are no more bins than values") {
    Table<double> table(40, 1);
    for (int row = 0; row < 40; ++row) table(row, 0) = row % 20;
    Team team(1);
    BinMatrix binned({make_feature(0, {5.5, kInfinity}, MissingKind::nan)}, 40, Storage{});
    REQUIRE(binned.fill(team, table.dense(), Use::training));
    auto sorted = std::make_shared<SortedTable>(sort_columns(team, RawTable::of(table.dense()), binned.features()));
    Proposals proposals(binned, sorted, 1e-9);
    CHECK(proposals.matrix()->features()[0].n_value_bins == 20);
    proposals.propose(team, nullptr, nullptr, 40);
    const auto bins = column_of(*proposals.matrix(), 0);
    for (int row = 0; row < 40; ++row) CHECK(bins[at(row)] == row % 20);
  }

  TEST_CASE("proposals of a sparse table are refused") {
    Table<double> table(10, 1);
    for (int row = 0; row < 10; ++row) table(row, 0) = row;
    Team team(1);
    BinMatrix binned({make_feature(0, {5.5, kInfinity}, MissingKind::nan)}, 10, Storage{});
    REQUIRE(binned.fill(team, table.by_row(), Use::training));
    auto sorted = std::make_shared<SortedTable>(sort_columns(team, RawTable::of(table.by_row()), binned.features()));
    CHECK_THROWS_AS(Proposals(binned, sorted, 0.1), std::invalid_argument);
  }
}

}  // namespace
}  // namespace gossamer::tests
