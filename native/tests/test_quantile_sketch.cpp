// Sketches of streams against sorted arrays: the error bound in any order and for any weights, merges,
// memory, and states that come from elsewhere.
#include "core/quantile_sketch.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "support.h"

namespace gossamer::tests {
namespace {

struct Stream {
  std::vector<double> values;
  std::vector<double> weights;

  double total() const { return std::accumulate(weights.begin(), weights.end(), 0.0); }
};

enum class Order { random, increasing, decreasing, zigzag, blocks };
constexpr Order kOrders[] = {Order::random, Order::increasing, Order::decreasing, Order::zigzag, Order::blocks};
enum class Weights { one, decades, giant, growing };
constexpr Weights kWeights[] = {Weights::one, Weights::decades, Weights::giant, Weights::growing};

double ordered_value(Order order, std::int64_t i, std::int64_t n, Random& random) {
  switch (order) {
    case Order::random: return random.normal();
    case Order::increasing: return static_cast<double>(i);
    case Order::decreasing: return static_cast<double>(-i);
    case Order::zigzag: return static_cast<double>(i % 2 == 0 ? i : 2 * n - i);
    case Order::blocks: return static_cast<double>(i / 700 % 3 * n + i % 50);
  }
  return 0.0;
}

Stream make_stream(Order order, Weights kind, std::int64_t n, Random& random) {
  Stream stream;
  for (std::int64_t i = 0; i < n; ++i) {
    stream.values.push_back(ordered_value(order, i, n, random));
    double weight = 1.0;
    if (kind == Weights::decades) weight = std::exp(random.between(-30.0, 30.0));
    if (kind == Weights::growing) weight = std::exp(0.001 * static_cast<double>(i));
    stream.weights.push_back(weight);
  }
  if (kind == Weights::giant) stream.weights[at(n / 3)] = 1e9;
  return stream;
}

// The largest violation of the rank bounds, and of the error that the sketch states, relative to the weight.
double worst_violation(const QuantileSketch& sketch, const Stream& stream) {
  std::vector<std::size_t> order(stream.values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return stream.values[a] < stream.values[b]; });
  const QuantileSummary summary = sketch.summary();
  const double total = stream.total();
  const double error = sketch.error_bound() * total;
  double worst = 0.0;
  double below = 0.0;
  for (std::size_t i = 0; i < order.size();) {
    const double y = stream.values[order[i]];
    double through = below;
    for (; i < order.size() && stream.values[order[i]] == y; ++i) through += stream.weights[order[i]];
    const RankBounds at_y = summary.rank(y);
    const double gap = at_y.high - at_y.low - (through - below);
    worst = std::max({worst, at_y.low - below, through - at_y.high, gap - error});
    below = through;
  }
  return worst / total;
}

void feed(QuantileSketch& sketch, const Stream& stream, std::size_t chunk) {
  for (std::size_t begin = 0; begin < stream.values.size(); begin += chunk) {
    const std::size_t n = std::min(chunk, stream.values.size() - begin);
    sketch.update(std::span(stream.values).subspan(begin, n), std::span(stream.weights).subspan(begin, n));
  }
}

std::vector<double> numbers_of(const QuantileSketch& sketch) {
  std::vector<double> numbers = {sketch.eps(), sketch.missing_weight(), sketch.total_weight()};
  for (const WeightedValue& v : sketch.state().buffer) numbers.insert(numbers.end(), {v.value, v.weight});
  for (const QuantileSummary& level : sketch.state().levels) {
    numbers.push_back(static_cast<double>(level.n_entries()));
    for (const SummaryEntry& e : level.entries) {
      numbers.insert(numbers.end(), {e.value, e.rank_low, e.rank_high, e.weight});
    }
  }
  return numbers;
}

}  // namespace

TEST_SUITE_BEGIN("quantile_sketch");

TEST_CASE("the error stays within eps, in any order and for any weights") {
  Random random(1);
  for (double eps : {0.5, 0.1, 0.02}) {
    for (Order order : kOrders) {
      for (Weights kind : kWeights) {
        CAPTURE(eps);
        CAPTURE(static_cast<int>(order));
        CAPTURE(static_cast<int>(kind));
        const Stream stream = make_stream(order, kind, 40000, random);
        QuantileSketch sketch(eps);
        feed(sketch, stream, 5000);
        CHECK(sketch.error_bound() <= eps);
        CHECK(worst_violation(sketch, stream) <= 1e-10);
        CHECK(sketch.total_weight() == doctest::Approx(stream.total()).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("how the stream is cut has no influence") {
  Random random(2);
  const Stream stream = make_stream(Order::random, Weights::decades, 20000, random);
  QuantileSketch one(0.05);
  QuantileSketch many(0.05);
  feed(one, stream, 20000);
  feed(many, stream, 13);
  CHECK(first_difference(numbers_of(one), numbers_of(many)) == -1);
}

TEST_CASE("merged sketches know all that their parts have seen") {
  Random random(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    CAPTURE(repeat);
    const Order order = kOrders[random.below(5)];
    const Weights kind = kWeights[random.below(4)];
    QuantileSketch all(0.02);
    Stream stream;
    double eps = 0.02;
    for (int part = 0; part < 12; ++part) {
      const Stream more = make_stream(order, kind, random.below(9000) + 1, random);
      const double part_eps = random.between(0.005, 0.08);
      eps = std::max(eps, part_eps);
      QuantileSketch sketch(part_eps);
      feed(sketch, more, 500);
      if (random.chance(0.5)) {
        all.merge(sketch);
      } else {
        sketch.merge(all);
        all = sketch;
      }
      stream.values.insert(stream.values.end(), more.values.begin(), more.values.end());
      stream.weights.insert(stream.weights.end(), more.weights.begin(), more.weights.end());
      CHECK(static_cast<std::int64_t>(all.state().buffer.size()) <= all.block_size());
    }
    CHECK(all.eps() == eps);
    CHECK(all.error_bound() <= eps);
    CHECK(worst_violation(all, stream) <= 1e-10);
  }
}

TEST_CASE("memory grows with the logarithm of the rows") {
  Random random(4);
  QuantileSketch sketch(0.1);
  std::vector<double> values(1 << 16);
  double levels = 0.0;
  for (int repeat = 0; repeat < 16; ++repeat) {
    for (double& value : values) value = random.unit();
    sketch.update(values);
    levels = std::log2(sketch.total_weight() / static_cast<double>(sketch.block_size())) + 1.0;
    // H x (1 + ... + levels) / eps entries, rounded up, and the buffer.
    const double most = 4.72 * levels * (levels + 1.0) / 2.0 / sketch.eps() + 2.0 * levels;
    CHECK(static_cast<double>(sketch.n_entries() - sketch.block_size()) <= most);
  }
  CHECK(sketch.error_bound() <= 0.1);
  CHECK(sketch.error_bound() > 0.0);
  CHECK(sketch.summary().query(0.5 * sketch.total_weight()) == doctest::Approx(0.5).epsilon(0.1));
}

TEST_CASE("few distinct values are exact for ever") {
  QuantileSketch sketch(0.1);
  std::vector<double> values;
  for (int i = 0; i < 50000; ++i) values.push_back(i % 40);
  sketch.update(values);
  CHECK(sketch.error_bound() == 0.0);
  CHECK(sketch.summary().n_entries() == 40);
  CHECK(sketch.summary().rank(7.0).high == 10000.0);
}

TEST_CASE("missing values and weights of zero") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  QuantileSketch sketch(0.1);
  sketch.update(std::vector<double>{nan, 1.0, -0.0, 5.0, 0.0}, std::vector<double>{2.0, 1.0, 1.0, 0.0, 3.0});
  CHECK(sketch.missing_weight() == 2.0);
  CHECK(sketch.total_weight() == 5.0);
  const QuantileSummary summary = sketch.summary();
  REQUIRE(summary.n_entries() == 2);
  CHECK(summary.entries[0].weight == 4.0);
  CHECK_FALSE(std::signbit(summary.entries[0].value));
}

TEST_CASE("bad weights change nothing") {
  QuantileSketch sketch(0.1);
  sketch.update(std::vector<double>{1.0});
  const std::vector<double> before = numbers_of(sketch);
  const double inf = std::numeric_limits<double>::infinity();
  for (double weight : {-1.0, inf, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(sketch.update(std::vector<double>{1.0, 2.0}, std::vector<double>{1.0, weight}),
                    std::invalid_argument);
  }
  const std::vector<double> heavy = {1e308, 1e308};
  CHECK_THROWS_AS(sketch.update(heavy, heavy), std::overflow_error);
  CHECK(first_difference(numbers_of(sketch), before) == -1);
  for (double eps : {0.0, 1.0, -0.5, inf, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(QuantileSketch{eps}, std::invalid_argument);
  }
}

TEST_CASE("a sketch merged with itself doubles until it is full") {
  QuantileSketch sketch(0.5);
  std::vector<double> values(3000);
  std::iota(values.begin(), values.end(), 0.0);
  sketch.update(values);
  double expected = 3000.0;
  int n_doublings = 0;
  const auto merge_all = [&] {
    for (; n_doublings < 100; ++n_doublings) {
      const double total = sketch.total_weight();
      CHECK(total == expected);
      CHECK(sketch.error_bound() <= 0.5);
      sketch.merge(sketch);
      expected *= 2.0;
    }
  };
  CHECK_THROWS_AS(merge_all(), std::length_error);
  CHECK(n_doublings >= 58);
  CHECK(sketch.total_weight() == expected);
  const RankBounds middle = sketch.summary().rank(1500.0);
  CHECK(middle.low <= expected / 2.0);
  CHECK(middle.high >= expected / 2.0);
  CHECK(middle.high - middle.low <= 0.51 * expected);
}

TEST_CASE("a state makes the same sketch again, a wrong one none") {
  Random random(5);
  const Stream stream = make_stream(Order::random, Weights::decades, 5000, random);
  QuantileSketch sketch(0.05);
  feed(sketch, stream, 5000);
  const SketchState state = sketch.state();
  QuantileSketch again(state);
  CHECK(first_difference(numbers_of(again), numbers_of(sketch)) == -1);
  sketch.update(stream.values);
  again.update(stream.values);
  CHECK(first_difference(numbers_of(again), numbers_of(sketch)) == -1);

  const auto check_refused = [&](const auto& change) {
    SketchState changed = state;
    change(changed);
    CHECK_THROWS_AS(QuantileSketch{changed}, std::invalid_argument);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(state.levels.back().n_entries() > 2);
  check_refused([](SketchState& s) { s.eps = 1.5; });
  check_refused([](SketchState& s) { s.eps = 1e-5; });  // the levels are too rough for that
  check_refused([=](SketchState& s) { s.missing_weight = nan; });
  check_refused([=](SketchState& s) { s.buffer.push_back({nan, 1.0}); });
  check_refused([](SketchState& s) { s.buffer.push_back({1.0, 0.0}); });
  check_refused([](SketchState& s) { s.buffer.push_back({1.0, 1e308}); });
  check_refused([](SketchState& s) { s.buffer.resize(7000, {1.0, 1.0}); });
  check_refused([](SketchState& s) { s.levels.resize(63); });
  check_refused([](SketchState& s) { std::swap(s.levels.back().entries[0], s.levels.back().entries[1]); });
}

TEST_SUITE_END();

}  // namespace gossamer::tests
