// Bundles never cost a value; and whatever storage is chosen, the bins are the same as from a plain loop.
#include "core/bundling.h"

#include <algorithm>
#include <set>

#include "sparse_table.h"

namespace gossamer::tests {
namespace {

std::int64_t all_conflicts(const Bundles& bundles) {
  std::int64_t sum = 0;
  for (const std::int64_t n : bundles.n_conflicts) sum += n;
  return sum;
}

constexpr BundleOrder kOrders[] = {BundleOrder::degree, BundleOrder::count, BundleOrder::column};

// ---- finding bundles ----

SparseColumns make_columns(const std::vector<std::vector<RowIdx>>& rows) {
  SparseColumns columns;
  for (std::size_t c = 0; c < rows.size(); ++c) {
    columns.features.push_back(static_cast<std::int32_t>(c));
    columns.begin.push_back(columns.begin.back() + static_cast<std::int64_t>(rows[c].size()));
  }
  columns.rows.reset(columns.n_entries());
  for (std::size_t c = 0; c < rows.size(); ++c) {
    std::copy(rows[c].begin(), rows[c].end(), columns.rows.data() + columns.begin[c]);
  }
  return columns;
}

// Features that take `n_values[f]` values of a bundle.
std::vector<Feature> features_of(const std::vector<int>& n_values) {
  std::vector<Feature> features;
  for (std::size_t f = 0; f < n_values.size(); ++f) {
    std::vector<double> upper;
    for (int b = 0; b < n_values[f]; ++b) upper.push_back(b + 0.5);
    upper.push_back(kInfinity);
    features.push_back(make_feature(static_cast<std::int32_t>(f), upper, MissingKind::nan));
    features.back().may_miss = false;
  }
  return features;
}

// Values that would be lost: all but one of each row.
std::int64_t naive_conflicts(const std::vector<std::int32_t>& bundle, const std::vector<std::vector<RowIdx>>& rows) {
  std::set<RowIdx> taken;
  std::int64_t n = 0;
  for (const std::int32_t f : bundle) {
    for (const RowIdx row : rows[at(f)]) n += !taken.insert(row).second;
  }
  return n;
}

void check_bundles(const Bundles& bundles, const std::vector<std::vector<RowIdx>>& rows,
                   const std::vector<Feature>& features, std::int32_t max_values, std::int64_t max_conflicts) {
  std::vector<int> seen(features.size(), 0);
  std::int64_t n_conflicts = 0;
  for (const auto& bundle : bundles.features) {
    CHECK(bundle.size() >= 2);
    CHECK(std::is_sorted(bundle.begin(), bundle.end()));
    std::int32_t n_values = 1;
    for (const std::int32_t f : bundle) {
      REQUIRE(f >= 0);
      REQUIRE(at(f) < features.size());
      ++seen[at(f)];
      CHECK(!rows[at(f)].empty());
      n_values += features[at(f)].n_other_bins();
    }
    CHECK(n_values <= max_values);
    const std::int64_t conflicts = naive_conflicts(bundle, rows);
    CHECK(conflicts <= max_conflicts);
    n_conflicts += conflicts;
  }
  CHECK(n_conflicts == all_conflicts(bundles));
  for (const int n : seen) CHECK(n <= 1);
}

std::vector<std::vector<RowIdx>> random_rows(std::int64_t n_rows, std::int64_t n_columns, double share,
                                             Random& random) {
  std::vector<std::vector<RowIdx>> rows(at(n_columns));
  for (auto& column : rows) {
    const double own_share = share * random.unit();
    for (std::int64_t row = 0; row < n_rows; ++row) {
      if (random.chance(own_share)) column.push_back(static_cast<RowIdx>(row));
    }
  }
  return rows;
}

// ---- binning training data ----

struct Binned {
  std::shared_ptr<BinMatrix> matrix;
  StorageReport report;
};

template <class T>
std::vector<double> zero_shares(const Table<T>& table, const std::vector<Feature>& features) {
  std::vector<double> shares;
  for (const Feature& f : features) {
    std::int64_t zeros = 0;
    for (std::int64_t row = 0; row < table.n_rows(); ++row) zeros += table(row, f.column) == T(0);
    shares.push_back(static_cast<double>(zeros) / static_cast<double>(std::max<std::int64_t>(table.n_rows(), 1)));
  }
  return shares;
}

template <class T>
Binned bin(const Table<T>& table, const MatrixView& view, const std::vector<Feature>& features,
           const StorageOptions& options, int n_threads) {
  Team team(n_threads);
  Binned b;
  b.matrix = bin_training(team, view, features, zero_shares(table, features), options, b.report);
  return b;
}

template <class T>
Binned bin(const Table<T>&, const SparseView& view, const std::vector<Feature>& features, const StorageOptions& options,
           int n_threads) {
  Team team(n_threads);
  Binned b;
  b.matrix = bin_training(team, view, features, options, b.report);
  return b;
}

void check_storage(const Binned& b) {
  const Storage& storage = b.matrix->storage();
  std::vector<int> named(b.matrix->features().size(), 0);
  for (const auto& bundle : storage.bundles) {
    CHECK(bundle.size() >= 2);
    for (const std::int32_t f : bundle) ++named[at(f)];
  }
  for (const std::int32_t f : storage.loose) ++named[at(f)];
  for (const int n : named) CHECK(n <= 1);
  for (std::size_t f = 0; f < named.size(); ++f) {
    const Feature& feature = b.matrix->features()[f];
    CHECK((named[f] == 1) == (feature.bundled || feature.loose()));
    CHECK(feature.may_miss >= feature.has_missing);  // otherwise there is no cell for them
  }
}

// Rows of each bundle that hold more than one value; from the table itself.
template <class T>
std::int64_t lost_values(const BinMatrix& matrix, const Table<T>& table, const std::vector<std::int32_t>& bundle) {
  std::vector<int> n(at(table.n_rows()), 0);
  for (const std::int32_t f : bundle) {
    const Feature& feature = matrix.features()[at(f)];
    const auto bins = table.naive_bins(feature);
    for (std::size_t row = 0; row < n.size(); ++row) n[row] += bins[row] != feature.zero_bin;
  }
  std::int64_t lost = 0;
  for (const int k : n) lost += std::max(k - 1, 0);
  return lost;
}

std::vector<StorageOptions> all_options() {
  std::vector<StorageOptions> all;
  for (const bool share : {false, true}) {
    for (const bool bundle : {false, true}) {
      for (const bool sparse : {false, true}) {
        for (const BundleOrder order :
             {BundleOrder::automatic, BundleOrder::degree, BundleOrder::count, BundleOrder::column}) {
          if (!bundle && order != BundleOrder::automatic) continue;
          all.push_back({share, bundle, sparse, 0.0, order});
        }
      }
    }
  }
  return all;
}

// A table so large that bundles are looked for in a sample first: a million entries, in blocks of 512
// rows. The fifth block is not among them.
//
//   columns 0 ... 11    one of them is 1, sometimes 2 or 3
//   columns 12, 13      non-zero together with anything: they find no bundle
//   the others          fill the sample: sparse (29 %), or full
struct Large {
  static constexpr std::int64_t kRows = 45000;
  static constexpr std::int64_t kHidden = 4 * 512 + 200;  // a row outside the sample
  Table<float> table;
  std::vector<Feature> features;
};

Large make_large(bool full, std::uint64_t seed, MissingKind kind = MissingKind::nan) {
  Random random(seed);
  const std::int64_t n_columns = 14 + (full ? 64 : 100);
  Large l{Table<float>(Large::kRows, n_columns), {}};
  for (std::int32_t c = 0; c < n_columns; ++c) {
    l.features.push_back(make_feature(c, {0.5, 1.5, 2.5, kInfinity}, kind));
    l.features.back().may_miss = true;
  }
  for (std::int64_t row = 0; row < Large::kRows; ++row) {
    l.table(row, random.below(12)) = static_cast<float>(1 + random.below(3));
    for (std::int64_t c = 12; c < 14; ++c) {
      if (random.chance(0.29)) l.table(row, c) = static_cast<float>(1 + random.below(3));
    }
    for (std::int64_t c = 14; c < n_columns; ++c) {
      if (full || random.chance(0.29)) l.table(row, c) = static_cast<float>(1 + random.below(3));
    }
  }
  return l;
}

// Dense tables ignore full columns, sparse ones take them for what they are.
template <class Body>
void for_large(const Body& body, MissingKind kind = MissingKind::nan) {
  StorageOptions options;
  options.sparse = false;
  {
    Large l = make_large(false, 71, kind);
    CAPTURE("dense");
    body(l, [&] { return bin(l.table, l.table.dense(), l.features, options, 2); }, options);
  }
  Large l = make_large(true, 72, kind);
  {
    CAPTURE("compressed rows");
    body(l, [&] { return bin(l.table, l.table.by_row(), l.features, options, 2); }, options);
  }
  {
    CAPTURE("compressed columns");
    body(l, [&] { return bin(l.table, l.table.by_column(), l.features, options, 1); }, options);
  }
}

}  // namespace

TEST_SUITE("bundling") {
  TEST_CASE("no conflicts in any row, in any order") {
    Random random(61);
    for (const auto& [n_rows, n_columns, share] : {std::tuple<std::int64_t, std::int64_t, double>{1000, 60, 0.1},
                                                   {1000, 300, 0.01},
                                                   {100, 40, 0.5},
                                                   {64, 5, 1.0},
                                                   {70000, 30, 0.001}}) {
      const auto rows = random_rows(n_rows, n_columns, share, random);
      std::vector<int> n_values;
      for (std::int64_t c = 0; c < n_columns; ++c) n_values.push_back(static_cast<int>(1 + random.below(20)));
      const auto features = features_of(n_values);
      const SparseColumns columns = make_columns(rows);
      for (const BundleOrder order : kOrders) {
        for (const std::int32_t max_values : {2, 16, 256, 8192}) {
          CAPTURE(n_rows);
          CAPTURE(static_cast<int>(order));
          CAPTURE(max_values);
          const Bundles bundles = find_bundles(features, columns, n_rows, order, max_values, 0);
          check_bundles(bundles, rows, features, max_values, 0);
          CHECK(all_conflicts(bundles) == 0);
          const Bundles again = find_bundles(features, columns, n_rows, order, max_values, 0);
          CHECK(again.features == bundles.features);
        }
      }
    }
  }

  TEST_CASE("conflicts within the budget, which is used") {
    Random random(62);
    const auto rows = random_rows(1000, 50, 0.2, random);
    const auto features = features_of(std::vector<int>(50, 1));
    const SparseColumns columns = make_columns(rows);
    for (const BundleOrder order : kOrders) {
      std::size_t n_bundled_before = 0;
      for (const std::int64_t budget : {0, 1, 20, 200, 100000}) {
        CAPTURE(static_cast<int>(order));
        CAPTURE(budget);
        const Bundles bundles = find_bundles(features, columns, 1000, order, 256, budget);
        check_bundles(bundles, rows, features, 256, budget);
        std::size_t n_bundled = 0;
        for (const auto& bundle : bundles.features) n_bundled += bundle.size();
        CHECK(n_bundled >= n_bundled_before);
        n_bundled_before = n_bundled;
        if (budget >= 20) CHECK(all_conflicts(bundles) > 0);
        if (budget == 100000) CHECK(bundles.features.size() == 1);
      }
    }
  }

  TEST_CASE("a budget that is met exactly") {
    const auto features = features_of({1, 1});
    const std::vector<std::vector<RowIdx>> rows{{0, 1, 2, 3, 4}, {2, 3, 4, 5, 6}};
    const SparseColumns columns = make_columns(rows);
    CHECK(find_bundles(features, columns, 10, BundleOrder::column, 256, 2).features.empty());
    CHECK(find_bundles(features, columns, 10, BundleOrder::column, 256, 3).features.size() == 1);
    CHECK(all_conflicts(find_bundles(features, columns, 10, BundleOrder::column, 256, 3)) == 3);
    // The budget belongs to a bundle, not to each feature that joins.
    const std::vector<std::vector<RowIdx>> three{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}};
    const Bundles bundles = find_bundles(features_of({1, 1, 1}), make_columns(three), 10, BundleOrder::column, 256, 1);
    CHECK(bundles.features == std::vector<std::vector<std::int32_t>>{{0, 1}});
  }

  TEST_CASE("one-hot encodings in the order of columns: a bundle each") {
    Random random(63);
    const std::int64_t n_rows = 2000;
    const std::vector<int> sizes{12, 3, 40, 7};
    std::vector<std::vector<RowIdx>> rows;
    std::vector<std::vector<std::int32_t>> groups;
    for (const int size : sizes) {
      groups.emplace_back();
      for (int k = 0; k < size; ++k) {
        groups.back().push_back(static_cast<std::int32_t>(rows.size()));
        rows.emplace_back();
      }
      for (std::int64_t row = 0; row < n_rows; ++row) {
        rows[at(groups.back()[at(random.below(size))])].push_back(static_cast<RowIdx>(row));
      }
    }
    const auto features = features_of(std::vector<int>(rows.size(), 1));
    Bundles bundles = find_bundles(features, make_columns(rows), n_rows, BundleOrder::column, 256, 0);
    std::sort(bundles.features.begin(), bundles.features.end());
    CHECK(bundles.features == groups);
  }

  TEST_CASE("each order is what it says") {
    // Two to a bundle. Columns 0 and 1 meet in one row; columns 2 and 3 are the fullest and meet no other column.
    const std::vector<std::vector<RowIdx>> rows{{0}, {0, 1}, {10, 11, 12, 13, 14}, {20, 21, 22, 23}};
    const auto features = features_of({1, 1, 1, 1});
    const auto found = [&](BundleOrder order) {
      auto bundles = find_bundles(features, make_columns(rows), 30, order, 3, 0).features;
      std::sort(bundles.begin(), bundles.end());
      return bundles;
    };
    using Expected = std::vector<std::vector<std::int32_t>>;
    CHECK(found(BundleOrder::column) == Expected{{0, 2}, {1, 3}});
    CHECK(found(BundleOrder::count) == Expected{{2, 3}});
    CHECK(found(BundleOrder::degree) == Expected{{0, 3}, {1, 2}});
  }

  TEST_CASE("full bundles: no more values than a lane has room for") {
    std::vector<std::vector<RowIdx>> rows;
    for (RowIdx row = 0; row < 300; ++row) rows.push_back({row});
    const auto features = features_of(std::vector<int>(300, 1));
    for (const BundleOrder order : kOrders) {
      auto bundles = find_bundles(features, make_columns(rows), 300, order, 256, 0).features;
      REQUIRE(bundles.size() == 2);
      std::vector<std::size_t> sizes{bundles[0].size(), bundles[1].size()};
      std::sort(sizes.begin(), sizes.end());
      CHECK(sizes == std::vector<std::size_t>{45, 255});
      bundles = find_bundles(features, make_columns(rows), 300, order, 8192, 0).features;
      REQUIRE(bundles.size() == 1);
      CHECK(bundles[0].size() == 300);
    }
    // One that fills a lane by itself stays alone; one value less, and a single one joins it.
    const std::vector<std::vector<RowIdx>> few{{0}, {1}, {2}};
    CHECK(find_bundles(features_of({255, 1, 254}), make_columns(few), 3, BundleOrder::column, 256, 0).features ==
          std::vector<std::vector<std::int32_t>>{{1, 2}});
    CHECK(find_bundles(features_of({256, 1, 255}), make_columns(few), 3, BundleOrder::column, 256, 0).features.empty());
  }

  TEST_CASE("features without rows are left out, and so is everything when nothing fits") {
    const auto features = features_of({1, 1, 1, 1});
    for (const BundleOrder order : kOrders) {
      CHECK(find_bundles(features, make_columns({{0}, {}, {1}, {}}), 2, order, 256, 0).features ==
            std::vector<std::vector<std::int32_t>>{{0, 2}});
      CHECK(find_bundles(features, make_columns({{0}, {0}, {0}, {0}}), 2, order, 256, 0).features.empty());
      CHECK(find_bundles(features, make_columns({{}, {}, {}, {}}), 2, order, 256, 0).features.empty());
      CHECK(find_bundles({}, make_columns({}), 0, order, 256, 0).features.empty());
    }
  }

  TEST_CASE("many bundles open at once") {
    Random random(64);
    // Pairs that exclude each other only: everything else is in conflict.
    std::vector<std::vector<RowIdx>> rows(1400);
    for (std::size_t c = 0; c < rows.size(); ++c) {
      for (RowIdx row = 0; row < 200; ++row) {
        if (row % 2 == c % 2) rows[c].push_back(row);
      }
    }
    const auto features = features_of(std::vector<int>(rows.size(), 1));
    const Bundles bundles = find_bundles(features, make_columns(rows), 200, BundleOrder::column, 256, 0);
    check_bundles(bundles, rows, features, 256, 0);
    CHECK(bundles.features.size() > 600);
    const auto noise = random_rows(200, 3000, 0.8, random);
    check_bundles(
        find_bundles(features_of(std::vector<int>(3000, 1)), make_columns(noise), 200, BundleOrder::count, 256, 0),
        noise, features_of(std::vector<int>(3000, 1)), 256, 0);
  }

  // ---- binning training data ----

  TEST_CASE("the bins are those of a plain loop, however they are kept") {
    for (const MissingKind kind : kMissingKinds) {
      MixedShape shape;
      shape.n_rows = 3000;
      shape.n_groups = 4;
      shape.n_sparse = 20;
      shape.kind = kind;
      Mixed m = make_mixed(shape, 65);
      CAPTURE(static_cast<int>(kind));
      bool any_bundles = false, any_loose = false;
      for (const StorageOptions& options : all_options()) {
        CAPTURE(options.share_lanes);
        CAPTURE(options.bundle);
        CAPTURE(options.sparse);
        CAPTURE(static_cast<int>(options.order));
        for_views(m.table, [&](const auto& view) {
          for (const int n_threads : {1, 3}) {
            const Binned b = bin(m.table, view, m.features, options, n_threads);
            check_bins(*b.matrix, m.table);
            check_storage(b);
            CHECK(b.matrix->n_dropped() == 0);
            CHECK(b.report.n_conflicts == 0);
            if (!options.bundle) CHECK(b.matrix->storage().bundles.empty());
            if (!options.sparse) CHECK(b.matrix->storage().loose.empty());
            CHECK(b.matrix->storage().share_lanes == options.share_lanes);
            if (options.bundle && options.order != BundleOrder::automatic) CHECK(b.report.order == options.order);
            any_bundles |= !b.matrix->storage().bundles.empty();
            any_loose |= !b.matrix->storage().loose.empty();
          }
        });
      }
      CHECK(any_bundles);
      CHECK(any_loose);
    }
  }

  TEST_CASE("a one-hot encoding becomes a bundle, in dense and sparse tables") {
    MixedShape shape;
    shape.n_groups = 3;
    shape.n_sparse = 0;
    shape.group_size = 9;
    Mixed m = make_mixed(shape, 66);
    for_views(m.table, [&](const auto& view) {
      const Binned b = bin(m.table, view, m.features, {}, 1);
      auto bundles = b.matrix->storage().bundles;
      std::sort(bundles.begin(), bundles.end());
      CHECK(bundles == m.groups);
      CHECK(b.report.n_candidates == 27);
      CHECK(b.report.order == BundleOrder::column);
    });
  }

  TEST_CASE("the same storage for any number of threads") {
    MixedShape shape;
    shape.n_rows = 5000;
    shape.n_sparse = 40;
    Mixed m = make_mixed(shape, 67);
    for (const StorageOptions& options : all_options()) {
      const Storage one = bin(m.table, m.table.dense(), m.features, options, 1).matrix->storage();
      for (const int n_threads : {2, 3, 8}) {
        for_views(m.table, [&](const auto& view) {
          const Storage other = bin(m.table, view, m.features, options, n_threads).matrix->storage();
          CHECK(other.bundles == one.bundles);
          CHECK(other.loose == one.loose);
        });
      }
    }
  }

  TEST_CASE("values lost to conflicts are counted, and the first of them is kept") {
    Random random(68);
    const std::int64_t n_rows = 4000;
    Table<float> table(n_rows, 10);
    std::vector<Feature> features;
    for (std::int32_t c = 0; c < 10; ++c) features.push_back(make_feature(c, {0.5, 1.5, kInfinity}, MissingKind::nan));
    for (std::int64_t row = 0; row < n_rows; ++row) {
      const std::int64_t c = random.below(10);
      table(row, c) = static_cast<float>(1 + random.below(2));
      if (random.chance(0.02)) table(row, random.below(10)) = 2.0f;
      if (random.chance(0.02)) table(row, random.below(10)) = 1.0f;
    }
    StorageOptions options;
    options.sparse = false;
    for_views(table, [&](const auto& view) {
      CHECK(bin(table, view, features, options, 2).matrix->n_dropped() == 0);
      for (const double rate : {0.01, 0.05, 0.5}) {
        StorageOptions loose = options;
        loose.max_conflict_rate = rate;
        for (const int n_threads : {1, 3}) {
          CAPTURE(rate);
          CAPTURE(n_threads);
          const Binned b = bin(table, view, features, loose, n_threads);
          check_storage(b);
          std::int64_t lost = 0;
          std::int64_t wrong = 0;
          for (const auto& bundle : b.matrix->storage().bundles) {
            const std::int64_t own = lost_values(*b.matrix, table, bundle);
            CHECK(static_cast<double>(own) <= rate * static_cast<double>(n_rows));
            lost += own;
            std::vector<char> taken(at(n_rows), 0);
            for (const std::int32_t f : bundle) {
              const auto expected = table.naive_bins(features[at(f)]);
              const auto bins = column_of(*b.matrix, at(f));
              for (std::size_t row = 0; row < taken.size(); ++row) {
                wrong += bins[row] != (taken[row] ? 0 : expected[row]);
                taken[row] |= expected[row] != 0;
              }
            }
          }
          CHECK(wrong == 0);
          CHECK(lost > 0);
          CHECK(b.matrix->n_dropped() == lost);
          CHECK(b.report.n_conflicts == lost);
        }
      }
    });
  }

  TEST_CASE("a sample: a conflict in one row that it does not see") {
    for_large([](Large& l, const auto& run, const StorageOptions&) {
      const Binned before = run();
      check_storage(before);
      REQUIRE(before.matrix->storage().bundles.size() == 1);
      CHECK(before.matrix->storage().bundles[0] == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
      check_bins(*before.matrix, l.table);

      for (std::int64_t c = 0; c < 12; ++c) l.table(Large::kHidden, c) = c == 3 || c == 8 ? 2.0f : 0.0f;
      const Binned after = run();
      check_storage(after);
      CHECK(after.matrix->n_dropped() == 0);
      CHECK(after.report.n_conflicts == 0);
      check_bins(*after.matrix, l.table);
      for (const auto& bundle : after.matrix->storage().bundles)
        CHECK(lost_values(*after.matrix, l.table, bundle) == 0);
      CHECK(!after.matrix->storage().bundles.empty());
      l.table(Large::kHidden, 8) = 0.0f;
    });
  }

  TEST_CASE("a sample: a missing value that it does not see, in a bundle") {
    for_large([](Large& l, const auto& run, const StorageOptions&) {
      for (std::int64_t c = 0; c < 12; ++c) l.table(Large::kHidden, c) = c == 3 ? NAN : 0.0f;
      const Binned b = run();
      check_storage(b);
      CHECK(b.matrix->n_dropped() == 0);
      check_bins(*b.matrix, l.table);
    });
  }

  TEST_CASE("a sample: a missing value that it does not see, in a feature that found no bundle") {
    for_large([](Large& l, const auto& run, const StorageOptions&) {
      l.table(Large::kHidden, 12) = NAN;
      Binned b;
      REQUIRE_NOTHROW(b = run());
      CHECK_FALSE(b.matrix->features()[12].bundled);
      check_storage(b);
      check_bins(*b.matrix, l.table);
    });
  }

  TEST_CASE("a sample: a column that is full where it does not look") {
    for_large([](Large& l, const auto& run, const StorageOptions&) {
      for (std::int64_t row = 4 * 512; row < 5 * 512; ++row) l.table(row, 5) = 1.0f;
      const Binned b = run();
      check_storage(b);
      check_bins(*b.matrix, l.table);
    });
  }

  TEST_CASE("a sample: zero is missing, nothing else is") {
    for_large(
        [](Large& l, const auto& run, const StorageOptions&) {
          const Binned b = run();
          check_storage(b);
          check_bins(*b.matrix, l.table);
        },
        MissingKind::zero);
  }

  TEST_CASE("a sample: sparse columns") {
    Large l = make_large(false, 73);
    for_views(l.table, [&](const auto& view) {
      const Binned b = bin(l.table, view, l.features, {}, 2);
      CHECK(!b.matrix->storage().loose.empty());
      check_storage(b);
      check_bins(*b.matrix, l.table);
    });
  }

  TEST_CASE("a sample, conflicts allowed: a missing value that it does not see") {
    for (const bool full : {false, true}) {
      Large l = make_large(full, 74);
      for (std::int64_t c = 0; c < 12; ++c) l.table(Large::kHidden, c) = c == 3 ? NAN : 0.0f;
      StorageOptions options;
      options.sparse = false;
      options.max_conflict_rate = 0.001;
      // Such a value may be dropped, but then nothing may look for it.
      check_storage(full ? bin(l.table, l.table.by_row(), l.features, options, 2)
                         : bin(l.table, l.table.dense(), l.features, options, 2));
    }
  }

  TEST_CASE("a sample, conflicts allowed: the rate holds for all rows") {
    for (const bool full : {false, true}) {
      Large l = make_large(full, 75);
      // Two columns of a bundle meet in half of a block that is not sampled.
      for (std::int64_t row = 4 * 512; row < 4 * 512 + 256; ++row) {
        for (std::int64_t c = 0; c < 12; ++c) l.table(row, c) = c == 3 || c == 8 ? 1.0f : 0.0f;
      }
      StorageOptions options;
      options.sparse = false;
      options.max_conflict_rate = 0.001;
      const Binned b = full ? bin(l.table, l.table.by_row(), l.features, options, 2)
                            : bin(l.table, l.table.dense(), l.features, options, 2);
      for (const auto& bundle : b.matrix->storage().bundles) {
        CHECK(lost_values(*b.matrix, l.table, bundle) <= 45);
      }
      CHECK(b.matrix->n_dropped() == b.report.n_conflicts);
    }
  }

  TEST_CASE("no rows, no features, one feature, nothing but zeros") {
    for (const MissingKind kind : kMissingKinds) {
      std::vector<Feature> features;
      for (int c = 0; c < 3; ++c) features.push_back(make_feature(c, {0.5, kInfinity}, kind));
      for (const auto& [n_rows, n_columns] :
           {std::pair<std::int64_t, std::int64_t>{0, 3}, {100, 0}, {100, 1}, {100, 3}}) {
        Table<float> table(n_rows, n_columns);
        const std::vector<Feature> some(features.begin(), features.begin() + n_columns);
        for (const StorageOptions& options : all_options()) {
          for_views(table, [&](const auto& view) {
            const Binned b = bin(table, view, some, options, 2);
            check_storage(b);
            check_bins(*b.matrix, table);
          });
        }
      }
    }
  }
}

}  // namespace gossamer::tests
