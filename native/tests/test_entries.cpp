// Values that are not zero, from dense and sparse tables of every type, against plain loops.
#include "core/entries.h"

#include <stdexcept>
#include <tuple>

#include "sparse_table.h"

namespace gossamer::tests {
namespace {

using Item = std::tuple<std::int32_t, RowIdx, std::uint16_t, bool>;  // feature, row, bin, missing

template <class T>
std::vector<Item> naive_entries(const Table<T>& table, const std::vector<Feature>& features,
                                const std::vector<char>& wanted, std::int64_t begin, std::int64_t end) {
  std::vector<Item> items;
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (!wanted[f]) continue;
    const std::uint16_t zero = naive_bin(features[f], 0.0);
    for (std::int64_t row = begin; row < end; ++row) {
      const std::uint16_t bin = naive_bin(features[f], static_cast<double>(table(row, features[f].column)));
      if (bin == zero) continue;
      items.emplace_back(static_cast<std::int32_t>(f), static_cast<RowIdx>(row), bin, bin == features[f].n_value_bins);
    }
  }
  return items;
}

// Reads a stretch, and checks the order that readers promise. `own_lanes`: the features of a row are in any order.
std::vector<Item> read_all(const EntrySource& source, std::size_t n_features, std::int64_t begin, std::int64_t end,
                           bool own_lanes = false) {
  std::vector<Item> items;
  std::vector<std::int64_t> last_row(n_features, -1);
  std::vector<std::int32_t> last_feature(at(source.n_rows), -1);
  const auto reader = source.read(begin, end);
  std::span<const Entry> entries;
  std::int64_t n_disordered = 0;
  while (reader->next(entries)) {
    for (const Entry& e : entries) {
      const std::int64_t row = e.row;
      n_disordered += row < begin || row >= end;
      n_disordered += row <= last_row[at(e.feature)];
      n_disordered += !own_lanes && e.feature <= last_feature[e.row];
      last_row[at(e.feature)] = row;
      last_feature[e.row] = e.feature;
      items.emplace_back(e.feature, e.row, e.bin, e.missing);
    }
  }
  CHECK(n_disordered == 0);
  CHECK_FALSE(reader->next(entries));
  std::sort(items.begin(), items.end());
  return items;
}

// Zero in the lowest bin, in the middle, in the highest, on a bound, alone in its bin; values on bounds.
std::vector<Feature> all_kinds_of_features(MissingKind kind) {
  std::vector<double> many;
  for (int b = 0; b < 254; ++b) many.push_back(b * 0.25 - 30.0);
  std::vector<double> very_many;
  for (int b = 0; b < 700; ++b) very_many.push_back(b * 0.06 - 20.0);
  std::vector<std::vector<double>> upper{{0.0},     {0.5}, {-1.0},           {-1e-36, 1e-36}, many,
                                         very_many, {},    {3.0, 7.0, 20.0}, {-20.0, -7.0},   {-0.0, 5.0}};
  std::vector<Feature> features;
  for (std::size_t f = 0; f < upper.size(); ++f) {
    upper[f].push_back(kInfinity);
    // Every third column is not a feature.
    features.push_back(make_feature(static_cast<std::int32_t>(f + f / 2), upper[f], kind));
    features.back().zero_bin = find_zero_bin(features.back());
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
      case 3: return -T(0);
      case 4: return static_cast<T>(random.chance(0.5) ? 1e-40 : -1e-40);
      case 5: return static_cast<T>(std::floor(random.between(-30.0, 30.0)));  // on a bound
      default: return static_cast<T>(random.between(-40.0, 40.0));
    }
  } else {
    if (random.chance(0.05)) return std::numeric_limits<T>::max();
    if (random.chance(0.05)) return std::numeric_limits<T>::min();
    return static_cast<T>(random.below(80) - (std::is_signed_v<T> ? 40 : 0));
  }
}

template <class T>
Table<T> random_table(std::int64_t n_rows, std::int64_t n_columns, double share, Random& random) {
  Table<T> table(n_rows, n_columns);
  for (std::int64_t row = 0; row < n_rows; ++row) {
    for (std::int64_t c = 0; c < n_columns; ++c) {
      if (random.chance(share)) table(row, c) = random_value<T>(random);
      if (random.chance(0.05)) table.keep_zero(row, c);
    }
  }
  return table;
}

template <class T>
void check_type(MissingKind kind) {
  Random random(31);
  auto features = all_kinds_of_features(kind);
  Table<T> table = random_table<T>(2345, 16, 0.3, random);
  std::vector<char> wanted(features.size(), 1);
  const std::vector<std::pair<std::int64_t, std::int64_t>> stretches{{0, 2345}, {0, 0},       {2345, 2345},
                                                                     {64, 200}, {1023, 2345}, {700, 701}};
  for (const auto& [some, own_lanes] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
    for (std::size_t f = 0; f < wanted.size(); ++f) wanted[f] = !some || f % 3 != 1;
    for (Feature& feature : features) feature.group = own_lanes ? 0 : -1;
    CAPTURE(some);
    CAPTURE(own_lanes);
    const bool in_any_order = own_lanes;
    for_views(table, [&](const auto& view) {
      const auto source = make_source(view, features, wanted);
      CHECK(source->n_rows == 2345);
      for (std::size_t f = 0; f < wanted.size(); ++f) CHECK(source->wants(f) == (wanted[f] != 0));
      for (const auto& [begin, end] : stretches) {
        CAPTURE(begin);
        CAPTURE(end);
        const auto expected = naive_entries(table, features, wanted, begin, end);
        if (end - begin > 1000) CHECK(expected.size() > 1000);
        CHECK(read_all(*source, features.size(), begin, end, in_any_order) == expected);
      }
    });
  }
}

template <class View>
void check_counts_and_columns(const View& view, const Table<float>& table, const std::vector<Feature>& features,
                              const std::vector<char>& wanted) {
  const auto n_features = static_cast<std::int64_t>(features.size());
  const auto source = make_source(view, features, wanted);
  for (const int n_threads : {1, 2, 5}) {
    CAPTURE(n_threads);
    Team team(n_threads);
    const Stretches stretches(table.n_rows(), n_threads);
    const EntryCounts counts = count_entries(team, *source, n_features, stretches);
    REQUIRE(counts.by_stretch.size() == at(n_features * stretches.n));
    std::int64_t wrong = 0;
    for (std::int64_t s = 0; s < stretches.n; ++s) {
      std::vector<std::uint32_t> expected(features.size(), 0);
      for (const auto& [f, row, bin, missing] :
           naive_entries(table, features, wanted, stretches.begin(s), stretches.begin(s + 1))) {
        ++expected[at(f)];
      }
      for (std::int64_t f = 0; f < n_features; ++f) {
        wrong += counts.by_stretch[at(s * n_features + f)] != expected[at(f)];
      }
    }
    CHECK(wrong == 0);
    const auto all = naive_entries(table, features, wanted, 0, table.n_rows());
    std::vector<char> missing(features.size(), 0);
    std::vector<std::int64_t> totals(features.size(), 0);
    for (const auto& [f, row, bin, is_missing] : all) {
      ++totals[at(f)];
      missing[at(f)] |= static_cast<char>(is_missing);
    }
    for (std::int64_t f = 0; f < n_features; ++f) CHECK(counts.total(f) == totals[at(f)]);
    CHECK(counts.missing == missing);

    // Rows of some of them, in an order of their own.
    const std::vector<std::int32_t> kept{5, 0, 3, 8};
    const SparseColumns columns = collect_rows(team, *source, kept, counts, stretches);
    CHECK(columns.features == kept);
    CHECK(columns.bins.size() == 0);
    for (std::size_t c = 0; c < kept.size(); ++c) {
      std::vector<RowIdx> expected;
      for (const auto& [f, row, bin, is_missing] : all) {
        if (f == kept[c]) expected.push_back(row);
      }
      const auto rows = columns.rows_of(static_cast<std::int64_t>(c));
      CHECK(std::vector<RowIdx>(rows.begin(), rows.end()) == expected);
    }
    CHECK(columns.n_entries() == columns.rows.size());
  }
}

}  // namespace

TEST_SUITE("entries") {
  TEST_CASE_TEMPLATE("all types, layouts and kinds of missing", T, float, double, std::int8_t, std::int16_t,
                     std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t) {
    for (const MissingKind kind : kMissingKinds) {
      CAPTURE(static_cast<int>(kind));
      check_type<T>(kind);
    }
  }

  TEST_CASE("float values at bounds that no float can hold") {
    std::vector<Feature> features;
    const std::vector<double> upper{
        -std::numeric_limits<double>::max(), -1.0 - 1e-12, -1.0, -1e-60, 1e-60, 1.0 + 1e-12, 3.4028234e38, kInfinity};
    features.push_back(make_feature(0, upper, MissingKind::nan));
    features.push_back(make_feature(0, {1e-60, kInfinity}, MissingKind::nan));
    features.push_back(make_feature(0, {-1e-60, kInfinity}, MissingKind::nan));
    for (Feature& f : features) f.zero_bin = find_zero_bin(f);
    const std::vector<float> values{-INFINITY,
                                    -3.4028235e38f,
                                    std::nextafter(-1.0f, -2.0f),
                                    -1.0f,
                                    -1e-45f,
                                    0.0f,
                                    -0.0f,
                                    1e-45f,
                                    1.0f,
                                    std::nextafter(1.0f, 2.0f),
                                    3.4028234e38f,
                                    std::numeric_limits<float>::max(),
                                    INFINITY};
    Table<float> table(static_cast<std::int64_t>(values.size()), 1);
    for (std::size_t i = 0; i < values.size(); ++i) table(static_cast<std::int64_t>(i), 0) = values[i];
    // Three features of one column: compressed rows know one of them only.
    for (std::size_t f = 0; f < features.size(); ++f) {
      const std::vector<Feature> one{features[f]};
      for_views(table, [&](const auto& view) {
        const auto source = make_source(view, one, {1});
        CHECK(read_all(*source, 1, 0, table.n_rows()) == naive_entries(table, one, {1}, 0, table.n_rows()));
      });
    }
  }

  TEST_CASE("counts and columns, for any number of threads") {
    Random random(32);
    for (const MissingKind kind : kMissingKinds) {
      CAPTURE(static_cast<int>(kind));
      const auto features = all_kinds_of_features(kind);
      Table<float> table = random_table<float>(3001, 16, 0.2, random);
      std::vector<char> wanted(features.size(), 1);
      wanted[1] = wanted[7] = 0;
      for_views(table, [&](const auto& view) { check_counts_and_columns(view, table, features, wanted); });
    }
  }

  TEST_CASE("very many columns with a few entries each") {
    Random random(33);
    const std::int32_t n_columns = 5000;
    Table<float> table(3000, n_columns);
    std::vector<Feature> features;
    for (std::int32_t c = 0; c < n_columns; ++c) {
      features.push_back(make_feature(c, {0.5, 1.5, kInfinity}, MissingKind::nan));
      for (int i = 0; i < 3; ++i) table(random.below(3000), c) = static_cast<float>(random.below(3));
    }
    const std::vector<char> wanted(features.size(), 1);
    for (const auto& view : {table.by_row(), table.by_column()}) {
      const auto source = make_source(view, features, wanted);
      for (const auto& [begin, end] : {std::pair<std::int64_t, std::int64_t>{0, 3000}, {1472, 2944}}) {
        CHECK(read_all(*source, features.size(), begin, end) == naive_entries(table, features, wanted, begin, end));
      }
    }
  }

  TEST_CASE("entries of one-hot features are written to their places, unless these are taken") {
    constexpr std::int64_t kRows = 1000;
    constexpr std::int64_t kStride = 2;
    const std::vector<Feature> features(4, make_feature(0, {0.5, kInfinity}, MissingKind::nan));
    Random random(34);
    Table<float> table = random_table<float>(kRows, 4, 0.4, random);
    table(5, 0) = table(6, 1) = NAN;
    std::vector<Feature> own = features;
    for (std::int32_t c = 0; c < 4; ++c) own[at(c)].column = c;
    // Features 0 and 1 share a digit, 3 has the next one of the same lane; 2 has no place.
    std::array<std::uint8_t, 256> first_taken{}, second_taken{};
    for (std::size_t value = 0; value < 256; ++value) {
      first_taken[value] = value % 3 != 0;
      second_taken[value] = value / 3 % 2 != 0;
    }
    std::vector<std::uint8_t> lanes(kRows * kStride, 0);
    std::uint8_t* const lane = lanes.data() + 1;
    const std::vector<OneHotPlace> places{{lane, first_taken.data(), kStride, 1},
                                          {lane, first_taken.data(), kStride, 2},
                                          {},
                                          {lane, second_taken.data(), kStride, 3}};
    const auto source = make_source(table.by_row(), own, {1, 1, 1, 1});
    std::vector<Item> expected;
    std::vector<std::uint8_t> expected_lanes(lanes.size(), 0);
    const std::vector<Item> all = read_all(*source, 4, 0, kRows);
    for (const auto& [feature, row, bin, missing] : all) {
      const bool is_first = feature == 0 || (feature == 1 && !(table(row, 0) > 0.5f));
      if (missing || feature == 2 || (feature < 3 && !is_first)) {
        expected.emplace_back(feature, row, bin, missing);
      } else {
        expected_lanes[at(row * kStride + 1)] += places[at(feature)].value;
      }
    }
    source->write_to(places);
    CHECK(read_all(*source, 4, 0, kRows, true) == expected);
    CHECK(lanes == expected_lanes);
    CHECK(std::count(lanes.begin(), lanes.end(), 5) > 0);  // both digits
    CHECK(expected.size() > kRows / 4);
    source->write_to(std::vector<OneHotPlace>(4));
    CHECK(read_all(*source, 4, 0, kRows) == all);
    CHECK(lanes == expected_lanes);
  }

  TEST_CASE("nothing there") {
    Table<float> no_rows(0, 3);
    Table<float> no_columns(100, 0);
    Table<float> zeros(100, 3);
    std::vector<Feature> features;
    for (int c = 0; c < 3; ++c) features.push_back(make_feature(c, {0.5, kInfinity}, MissingKind::nan));
    for_views(no_rows, [&](const auto& view) {
      CHECK(read_all(*make_source(view, features, {1, 1, 1}), 3, 0, 0).empty());
      Team team(3);
      const EntryCounts counts = count_entries(team, *make_source(view, features, {1, 1, 1}), 3, Stretches(0, 3));
      CHECK(counts.total(2) == 0);
    });
    for_views(no_columns, [&](const auto& view) { CHECK(read_all(*make_source(view, {}, {}), 0, 0, 100).empty()); });
    for_views(zeros,
              [&](const auto& view) { CHECK(read_all(*make_source(view, features, {1, 1, 1}), 3, 0, 100).empty()); });
  }

  TEST_CASE("stretches cover all rows and begin at whole words of bits") {
    for (const std::int64_t n_rows : {0, 1, 63, 64, 65, 1000, 123457}) {
      for (const int n_threads : {1, 2, 3, 8}) {
        const Stretches stretches(n_rows, n_threads);
        CHECK(stretches.begin(0) == 0);
        CHECK(stretches.begin(stretches.n) == n_rows);
        for (std::int64_t s = 0; s < stretches.n; ++s) {
          CHECK(stretches.begin(s) <= stretches.begin(s + 1));
          CHECK(stretches.begin(s) % 64 == 0);
        }
      }
    }
  }

  TEST_CASE("a writer refuses entries that were not counted, and misses those that do not come") {
    EntryCounts counts;
    counts.n_features = 1;
    counts.by_stretch = {2, 1};
    std::vector<std::int32_t> column_of;
    SparseColumns columns = make_columns_for({0}, counts, true, column_of);
    ColumnWriter writer(columns, column_of, counts, 0);
    writer.write({3, 0, 1, false});
    CHECK_THROWS_AS(writer.finish(), TableChanged);
    writer.write({4, 0, 1, false});
    writer.finish();
    CHECK_THROWS_AS(writer.write({5, 0, 1, false}), TableChanged);
  }

  TEST_CASE("indices that are no longer what was checked are refused") {
    const std::vector<double> values(4, 1.0);
    const std::vector<std::int32_t> begin{0, 2, 4};
    Team team(1);
    for (const bool by_row : {true, false}) {
      for (const std::vector<std::int32_t>& wrong : std::vector<std::vector<std::int32_t>>{
               {0, 2, 0, 1}, {0, -1, 0, 1}, {1, 0, 0, 1}, {0, 0, 0, 1}, {0, 1, 0, 1 << 30}}) {
        if (!by_row && wrong[1] < 0) continue;  // passed over: the search for the first row ends behind it
        const SparseView view{values.data(), DType::f64, wrong.data(), false, begin.data(), 2, 2, by_row};
        std::vector<Feature> features(2);
        for (std::int32_t f = 0; f < 2; ++f) {
          features[at(f)].column = f;
          features[at(f)].n_value_bins = 2;
          features[at(f)].upper = {0.5, std::numeric_limits<double>::infinity()};
          features[at(f)].zero_bin = 0;
        }
        const auto source = make_source(view, features, {1, 1});
        CHECK_THROWS_AS(count_entries(team, *source, 2, Stretches(2, 1)), TableChanged);
      }
    }
  }

  TEST_CASE("a writer takes what has a column, with its bins") {
    EntryCounts counts;
    counts.n_features = 3;
    counts.by_stretch = {2, 1, 1, 1, 0, 2};  // two stretches
    std::vector<std::int32_t> column_of;
    SparseColumns columns = make_columns_for({2, 0}, counts, true, column_of);
    CHECK(column_of == std::vector<std::int32_t>{1, -1, 0});
    CHECK(columns.begin == std::vector<std::int64_t>{0, 3, 6});
    // The second stretch first: each knows its own places.
    ColumnWriter second(columns, column_of, counts, 1);
    ColumnWriter first(columns, column_of, counts, 0);
    CHECK(second.write({70, 0, 5, false}));
    CHECK_FALSE(second.write({70, 1, 9, false}));
    CHECK(second.write({80, 2, 6, false}));
    CHECK(second.write({90, 2, 7, false}));
    CHECK(first.write({1, 0, 1, false}));
    CHECK(first.write({2, 0, 2, false}));
    CHECK(first.write({3, 2, 3, true}));
    CHECK(std::vector<RowIdx>(columns.rows.begin(), columns.rows.end()) == std::vector<RowIdx>{3, 80, 90, 1, 2, 70});
    CHECK(std::vector<std::uint16_t>(columns.bins.begin(), columns.bins.end()) ==
          std::vector<std::uint16_t>{3, 6, 7, 1, 2, 5});
  }

  TEST_CASE("sparse matrices that are none") {
    const std::vector<double> values{1, 2, 3, 4};
    const auto check = [&](std::vector<std::int32_t> begin, std::vector<std::int32_t> indices, bool by_row) {
      SparseView view;
      view.values = values.data();
      view.n_rows = 3;
      view.n_columns = 5;
      view.by_row = by_row;
      const std::vector<std::int64_t> wide(indices.begin(), indices.end()), wide_begin(begin.begin(), begin.end());
      view.indices = wide.data();
      view.begin = wide_begin.data();
      view.wide_indices = true;
      const SparseCheck other = check_sparse(view, 4);
      view.indices = indices.data();
      view.begin = begin.data();
      view.wide_indices = false;
      const SparseCheck result = check_sparse(view, 4);
      CHECK(result.in_range == other.in_range);
      CHECK(result.canonical == other.canonical);
      return result;
    };
    const std::vector<std::int32_t> rows{0, 2, 2, 4};
    CHECK(check(rows, {0, 4, 1, 2}, true).in_range);
    CHECK(check(rows, {0, 4, 1, 2}, true).canonical);
    CHECK_FALSE(check(rows, {0, 5, 1, 2}, true).in_range);
    CHECK_FALSE(check(rows, {0, 4, -1, 2}, true).in_range);
    CHECK_FALSE(check(rows, {4, 0, 1, 2}, true).canonical);
    CHECK_FALSE(check(rows, {1, 1, 1, 2}, true).canonical);
    CHECK(check(rows, {3, 4, 3, 4}, true).canonical);  // from row to row they may fall
    const std::vector<std::int32_t> columns{0, 1, 1, 2, 3, 4};
    CHECK(check(columns, {0, 1, 2, 2}, false).in_range);
    CHECK_FALSE(check(columns, {0, 1, 3, 2}, false).in_range);
    for (const std::vector<std::int32_t>& begin :
         {std::vector<std::int32_t>{1, 2, 3, 4}, {0, 3, 2, 4}, {0, 2, 2, 5}, {0, 2, 7, 4}}) {
      CHECK_THROWS_AS(check(begin, {0, 4, 1, 2}, true), std::invalid_argument);
    }
    CHECK(check({0, 1, 1, 3}, {0, 4, 1, 9}, true).in_range);  // what follows the last one does not count
  }

  TEST_CASE("one wrong index among thousands of slices") {
    Random random(37);
    constexpr std::int64_t kSlices = 1500;
    std::vector<std::int32_t> begin{0};
    std::vector<std::int32_t> right;
    for (std::int64_t s = 0; s < kSlices; ++s) {
      std::int32_t index = static_cast<std::int32_t>(random.below(20));
      for (std::int64_t n = random.below(5); n > 0; --n, index += 1 + static_cast<std::int32_t>(random.below(20))) {
        right.push_back(index);
      }
      begin.push_back(static_cast<std::int32_t>(right.size()));
    }
    SparseView view;
    view.begin = begin.data();
    view.n_rows = kSlices;
    view.n_columns = 100;
    const auto check = [&](const std::vector<std::int32_t>& indices) {
      view.indices = indices.data();
      return check_sparse(view, static_cast<std::int64_t>(right.size()));
    };
    CHECK(check(right).in_range);
    CHECK(check(right).canonical);
    for (std::int64_t s = 0; s < kSlices; ++s) {
      CAPTURE(s);
      for (std::int64_t e = begin[at(s)]; e < begin[at(s) + 1]; ++e) {
        std::vector<std::int32_t> wrong = right;
        wrong[at(e)] = random.chance(0.5) ? -1 : 100;
        if (check(wrong).in_range) FAIL_CHECK("an index out of range was not seen");
        wrong[at(e)] = e > begin[at(s)] ? right[at(e) - 1] : right[at(e)];
        if (check(wrong).canonical != (e == begin[at(s)])) FAIL_CHECK("an index that occurs twice was not seen");
      }
    }
  }
}

}  // namespace gossamer::tests
