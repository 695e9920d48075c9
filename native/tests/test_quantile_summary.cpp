// Summaries against ranks counted one by one: exact ones, merged ones, pruned ones, and cuts made of them.
#include "core/quantile_summary.h"

#include <algorithm>
#include <limits>

#include "support.h"

namespace gossamer::tests {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

using WeightedRows = std::vector<WeightedValue>;

WeightedRows sorted(WeightedRows rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const WeightedValue& a, const WeightedValue& b) { return a.value < b.value; });
  return rows;
}

QuantileSummary summarize(const WeightedRows& rows) { return exact_summary(sorted(rows)); }

// Few or many distinct values; weights alike, spread over decades, or one that outweighs all others.
WeightedRows random_rows(Random& random, std::int64_t n) {
  const std::int64_t n_distinct = random.chance(0.3) ? 5 : 1000;
  const int kind = static_cast<int>(random.below(3));
  WeightedRows rows;
  for (std::int64_t i = 0; i < n; ++i) {
    const double weight = kind == 1 ? std::exp(random.between(-20.0, 20.0)) : 1.0 + random.unit();
    rows.push_back({static_cast<double>(random.below(n_distinct)) - 2.0, weight});
  }
  if (kind == 2) rows[at(random.below(n))].weight = 1e6 * static_cast<double>(n);
  if (random.chance(0.3)) rows[0].value = kInf;
  if (random.chance(0.3)) rows.back().value = -kInf;
  return rows;
}

double weight_below(const WeightedRows& rows, double y, bool with_y) {
  double sum = 0.0;
  for (const WeightedValue& row : rows) sum += row.value < y || (with_y && row.value == y) ? row.weight : 0.0;
  return sum;
}

// Asks at every value, between and beyond them: bounds hold and are at most `error` apart.
void check_ranks(const QuantileSummary& summary, const WeightedRows& rows, double error) {
  const double total = weight_below(rows, kInf, true);
  const double rounding = 1e-10 * total;
  CHECK(is_consistent(summary));
  CHECK(std::abs(summary.total_weight() - total) <= rounding);
  CHECK(summary.error() <= error + rounding);
  int n_wrong = 0;
  for (double y = -4.0; y < 1001.0; y += 0.5) {
    const double below = weight_below(rows, y, false);
    const double through = weight_below(rows, y, true);
    const RankBounds bounds = summary.rank(y);
    n_wrong += bounds.low > below + rounding || bounds.high < through - rounding;
    n_wrong += bounds.high - bounds.low - (through - below) > summary.error() + rounding;
  }
  CHECK(n_wrong == 0);
  for (int i = 0; i <= 40; ++i) {
    const double rank = total * i / 40.0;
    const double x = summary.query(rank);
    const double slack = summary.error() / 2.0 + rounding;
    n_wrong += weight_below(rows, x, false) > rank + slack || weight_below(rows, x, true) < rank - slack;
  }
  CHECK(n_wrong == 0);
}

// Every bucket holds at most eps of the weight, or one value that is heavy by itself.
void check_cuts(const Cuts& cuts, const WeightedRows& rows, double eps, double error) {
  const double total = weight_below(rows, kInf, true);
  const double rounding = 1e-10 * total;
  REQUIRE(cuts.values.size() == cuts.next_values.size() + 1);
  double before = 0.0;
  double largest_below = -kInf;
  for (std::size_t i = 0; i < cuts.values.size(); ++i) {
    const double cut = cuts.values[i];
    if (i > 0) {
      CHECK(cut > cuts.values[i - 1]);
      CHECK(cut >= cuts.next_values[i - 1]);
      CHECK(cuts.next_values[i - 1] > cuts.values[i - 1]);
    }
    const double through = weight_below(rows, cut, true);
    const double own = through - weight_below(rows, cut, false);
    const bool is_light = through - before <= eps * total + rounding;
    const bool is_one_value = own >= eps * total - error - rounding && through - before <= own + error + rounding;
    CHECK((is_light || is_one_value));
    before = through;
    largest_below = cut;
  }
  CHECK(std::abs(before - total) <= rounding);
  CHECK(weight_below(rows, largest_below, true) == before);
}

}  // namespace

TEST_SUITE_BEGIN("quantile_summary");

TEST_CASE("an exact summary has the ranks of its rows") {
  const WeightedRows rows = {{3.0, 1.0}, {1.0, 2.0}, {3.0, 0.5}, {-kInf, 4.0}, {kInf, 8.0}};
  const QuantileSummary summary = summarize(rows);
  REQUIRE(summary.n_entries() == 4);
  CHECK(summary.error() == 0.0);
  CHECK(summary.entries[2].value == 3.0);
  CHECK(summary.entries[2].rank_low == 6.0);
  CHECK(summary.entries[2].rank_high == 7.5);
  CHECK(summary.entries[2].weight == 1.5);
  CHECK(summary.rank(2.0).low == 6.0);
  CHECK(summary.rank(2.0).high == 6.0);
  CHECK(summary.query(0.0) == -kInf);
  CHECK(summary.query(6.5) == 3.0);
  CHECK(summary.query(15.5) == kInf);
  CHECK(exact_summary({}).empty());
  CHECK(exact_summary({}).propose(0.1).values.empty());
}

TEST_CASE("the largest value is found even if it weighs next to nothing") {
  // Sums of ranks round differently: a long way of merges can leave such bounds.
  QuantileSummary summary;
  const double beyond = 1.0 + 0x1p-51;
  summary.entries = {{1.0, 0.0, 1.0, 1.0}, {2.0, beyond, 1.0, 1e-40}, {3.0, beyond, 1.0, 1e-40}};
  CHECK(is_consistent(summary));
  CHECK(summary.query(1.0) == 3.0);
  CHECK(summary.query(0.4) == 1.0);
}

TEST_CASE("merging exact summaries is exact, and merging others adds their errors") {
  Random random(1);
  for (int repeat = 0; repeat < 60; ++repeat) {
    CAPTURE(repeat);
    WeightedRows a = random_rows(random, 1 + random.below(300));
    const WeightedRows b = random_rows(random, 1 + random.below(300));
    const QuantileSummary exact_a = summarize(a);
    const QuantileSummary exact_b = summarize(b);
    const QuantileSummary rough_a = prune(exact_a, 1 + random.below(30));
    const QuantileSummary rough_b = prune(exact_b, 1 + random.below(30));
    a.insert(a.end(), b.begin(), b.end());
    check_ranks(merge(exact_a, exact_b), a, 0.0);
    check_ranks(merge(rough_a, exact_b), a, rough_a.error());
    check_ranks(merge(rough_a, rough_b), a, rough_a.error() + rough_b.error());
    CHECK(merge(exact_a, QuantileSummary{}).entries.size() == exact_a.entries.size());
    CHECK(merge(QuantileSummary{}, exact_a).error() == exact_a.error());
  }
}

TEST_CASE("pruning to n + 1 entries adds at most 1/n of the weight to the error") {
  Random random(2);
  for (int repeat = 0; repeat < 60; ++repeat) {
    CAPTURE(repeat);
    const WeightedRows rows = random_rows(random, 1 + random.below(500));
    QuantileSummary summary = summarize(rows);
    for (std::int64_t n : {200, 60, 17, 3, 1}) {
      const double before = summary.error();
      const double least = summary.entries.front().value;
      const double largest = summary.entries.back().value;
      summary = prune(summary, n);
      CHECK(summary.n_entries() <= n + 1);
      CHECK(summary.entries.front().value == least);
      CHECK(summary.entries.back().value == largest);
      check_ranks(summary, rows, before + summary.total_weight() / static_cast<double>(n));
    }
  }
}

TEST_CASE("pruning leaves small summaries alone") {
  const QuantileSummary summary = summarize({{1.0, 1.0}, {2.0, 1.0}, {3.0, 1.0}});
  CHECK(prune(summary, 2).n_entries() == 3);
  CHECK(prune(summary, 1).n_entries() == 2);
  CHECK(prune(QuantileSummary{}, 1).empty());
}

TEST_CASE("cuts bound the weight between them") {
  Random random(3);
  for (int repeat = 0; repeat < 60; ++repeat) {
    CAPTURE(repeat);
    const WeightedRows rows = random_rows(random, 1 + random.below(500));
    const QuantileSummary exact = summarize(rows);
    for (double eps : {0.001, 0.03, 0.1, 0.4, 0.9}) {
      CAPTURE(eps);
      const Cuts cuts = exact.propose(eps);
      check_cuts(cuts, rows, eps, 0.0);
      // Two neighbours together are too heavy for one bucket.
      CHECK(static_cast<double>(cuts.values.size()) <= 2.0 / eps + 1.0);
      // Only merging makes bounds that differ: what is pruned alone still knows its ranks.
      const auto n = static_cast<std::int64_t>(std::ceil(2.0 / eps));
      const auto middle = rows.begin() + random.below(std::ssize(rows) + 1);
      const QuantileSummary rough =
          merge(prune(summarize({rows.begin(), middle}), n), prune(summarize({middle, rows.end()}), n));
      check_cuts(rough.propose(eps), rows, eps, rough.error());
    }
  }
}

TEST_CASE("sorted values give the cuts of their exact summary") {
  Random random(4);
  for (int repeat = 0; repeat < 60; ++repeat) {
    CAPTURE(repeat);
    const WeightedRows rows = sorted(random_rows(random, 1 + random.below(500)));
    const QuantileSummary exact = exact_summary(rows);
    std::vector<double> values;
    std::vector<double> weights;
    for (const WeightedValue& row : rows) {
      values.insert(values.end(), {row.value, row.value});
      weights.insert(weights.end(), {0.0, row.weight});
    }
    const double eps = random.between(0.001, 0.5);
    const Cuts expected = exact.propose(eps);
    const Cuts cuts = propose_sorted<double, double>(values, weights, exact.total_weight(), eps);
    CHECK(first_difference(cuts.values, expected.values) == -1);
    CHECK(first_difference(cuts.next_values, expected.next_values) == -1);
  }
  const std::vector<float> values = {0.0f, 0.0f, 1.0f, 2.0f, 3.0f, 3.0f};
  const Cuts cuts = propose_sorted<float, float>(values, {}, 6.0, 0.4);
  CHECK(cuts.values == std::vector<double>{0.0, 2.0, 3.0});
  CHECK(cuts.next_values == std::vector<double>{1.0, 3.0});
  CHECK(SortedProposer(0.0, 0.1).finish().values.empty());
}

TEST_CASE("entries that no summary can have are told") {
  const QuantileSummary good = prune(summarize({{1.0, 1.0}, {2.0, 3.0}, {3.0, 1.0}, {4.0, 2.0}}), 2);
  CHECK(is_consistent(good));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < good.entries.size(); ++i) {
    for (double SummaryEntry::* field :
         {&SummaryEntry::value, &SummaryEntry::rank_low, &SummaryEntry::rank_high, &SummaryEntry::weight}) {
      QuantileSummary bad = good;
      bad.entries[i].*field = nan;
      CHECK_FALSE(is_consistent(bad));
      bad.entries[i].*field = -1e3;
      // The least value may be any.
      if (i > 0 || field != &SummaryEntry::value) CHECK_FALSE(is_consistent(bad));
    }
  }
}

TEST_SUITE_END();

}  // namespace gossamer::tests
