// What happens when something goes wrong in the middle of a tree: allocations that fail, evaluators that are wrong.
#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <numeric>

#include "core/grower.h"
#include "core/histogram_evaluator.h"
#include "core/round_grower.h"
#include "core/vector_evaluator.h"
#include "memory_faults.h"
#include "sparse_table.h"

namespace gossamer::tests {
namespace {

struct Problem {
  Mixed mixed;
  std::vector<float> gradient, hessian, label;
  std::int64_t n_rows() const { return mixed.n_rows(); }
};

Problem make_problem(std::int64_t n_rows, std::uint64_t seed, std::int64_t n_outputs, bool tail) {
  MixedShape shape;
  shape.n_rows = n_rows;
  Problem p{make_mixed(shape, seed), {}, {}, {}};
  Random random(seed);
  for (std::int64_t i = 0; i < n_rows * n_outputs; ++i) {
    const float x = p.mixed.table(i % n_rows, p.mixed.full[0]);
    p.gradient.push_back(static_cast<float>(std::sin(x) + random.normal()) * (tail && i % 1000 == 0 ? 1e6f : 1.0f));
    p.hessian.push_back(static_cast<float>(random.between(0.1, 1.0)));
    p.label.push_back(static_cast<float>(random.normal()));
  }
  return p;
}

bool same_trees(const std::vector<Tree>& a, const std::vector<Tree>& b) {
  bool same = a.size() == b.size();
  for (std::size_t t = 0; same && t < a.size(); ++t) {
    same = a[t].feature == b[t].feature && a[t].threshold == b[t].threshold && a[t].left == b[t].left &&
           a[t].category == b[t].category && first_difference(a[t].leaf_value, b[t].leaf_value) == -1;
  }
  return same;
}

// Counts one row too many on the left side of the root.
class LyingEvaluator : public HistogramEvaluator {
 public:
  using HistogramEvaluator::HistogramEvaluator;
  void evaluate(Team& team, std::span<const LeafJob> jobs, std::span<BestSplit> splits) override {
    HistogramEvaluator::evaluate(team, jobs, splits);
    if (jobs[0].node == 0) splits[0].left_count += 1;
  }
};

}  // namespace

TEST_SUITE("faults") {
  TEST_CASE("a partition that does not agree with the histogram is an error") {
    const Problem p = make_problem(30000, 81, 1, false);
    const auto matrix = fill_training(p.mixed, storages_of(p.mixed)[0].storage, p.mixed.table.dense());
    for (const int n_threads : {1, 3}) {
      Team team(n_threads);
      std::vector<double> score(p.gradient.size(), 0.25);
      const std::vector<double> before = score;
      Grower grower(GrowData{matrix}, std::make_unique<LyingEvaluator>(GrowData{matrix}));
      const auto grow = [&] {
        grower.grow(team, p.gradient.data(), p.hessian.data(), nullptr, p.n_rows(), GrowParams{}, score.data());
      };
      CHECK_THROWS_AS(grow(), std::logic_error);
      CHECK(score == before);
    }
  }

  TEST_CASE("more rows than 32-bit sums can hold are refused before anything is read") {
    const Problem p = make_problem(100, 84, 2, false);
    const auto matrix = fill_training(p.mixed, storages_of(p.mixed)[0].storage, p.mixed.table.dense());
    VectorEvaluator evaluator(GrowData{matrix});
    const std::vector<GrowParams> params(2);
    const RowIdx none = 0;
    TreeTask task;
    task.gradient = p.gradient.data();
    task.rows = &none;
    task.n_rows = (std::int64_t{1} << 30) + 1;
    task.params = params;
    GrowStats stats;
    task.stats = &stats;
    Team team(1);
    CHECK_THROWS_AS(evaluator.start(team, task), std::invalid_argument);
  }

  // Wherever an allocation fails, the caller gets bad_alloc, the scores are untouched, and the next round is right.
  TEST_CASE("a round in which an allocation fails leaves no trace") {
    for (const int kind : {0, 1, 2, 3, 4}) {
      CAPTURE(kind);
      const bool vector = kind == 4;
      const std::int64_t n_outputs = vector ? 2 : 1;
      Problem p = make_problem(9000, 82, n_outputs, false);
      const Problem wide = make_problem(9000, 82, n_outputs, true);
      if (kind == 1) {
        Feature& f = p.mixed.features[at(p.mixed.full[1])];
        for (std::size_t b = 0; b < f.upper.size(); ++b) f.category.push_back(static_cast<std::int32_t>(b));
      }
      const auto storages = storages_of(p.mixed);
      const auto matrix = fill_training(p.mixed, storages[kind == 2 ? 6 : 0].storage, p.mixed.table.dense());
      GrowParams params;
      params.shape.num_leaves = 15;
      params.values.refit = kind == 3;
      const std::vector<GrowParams> all(at(n_outputs), params);
      for (const int n_threads : {1, 3}) {
        Team team(n_threads);
        // Rounds alternate between packed and wide cells.
        const auto grow = [&](RoundGrower& grower, const Problem& own, std::vector<double>& score) {
          return grower.grow(team, own.gradient.data(), own.hessian.data(), nullptr, p.n_rows(), all, score.data(),
                             {own.label.data(), false});
        };
        RoundGrower fresh(matrix, vector);
        std::vector<double> expected_score(p.gradient.size(), 0.25);
        const auto expected = grow(fresh, p, expected_score);
        const auto expected_wide = grow(fresh, wide, expected_score);
        std::int64_t n_failed = 0;
        for (std::int64_t n = 0; n < 3000; n = n < 40 ? n + 1 : n + n / 7) {
          RoundGrower grower(matrix, vector);
          std::vector<double> score(p.gradient.size(), 0.25);
          if (n % 2 == 0) grow(grower, wide, score);
          std::fill(score.begin(), score.end(), 0.25);
          const std::vector<double> before = score;
          bool failed = false;
          try {
            const FailAllocation fail(n);
            grow(grower, p, score);
          } catch (const std::bad_alloc&) {
            failed = true;
          }
          n_failed += failed;
          if (failed) CHECK(first_difference(score, before) == -1);
          score = before;
          CHECK(same_trees(grow(grower, p, score), expected));
          CHECK(same_trees(grow(grower, wide, score), expected_wide));
          CHECK(first_difference(score, expected_score) == -1);
        }
        CHECK(n_failed > 20);
      }
    }
  }

  // With a list that is searched for every commit, 32,000 leaves would take ten times as long per leaf as 2,000.
  TEST_CASE("the time per leaf does not grow with the number of leaves") {
    const std::int64_t n = 1 << 17;
    std::vector<float> values, gradient;
    Random random(83);
    for (std::int64_t i = 0; i < n; ++i) {
      for (int c = 0; c < 3; ++c) values.push_back(static_cast<float>(random.below(64)));
      gradient.push_back(static_cast<float>(random.normal()));
    }
    std::vector<Feature> features;
    for (std::int32_t c = 0; c < 3; ++c) {
      std::vector<double> upper(63);
      std::iota(upper.begin(), upper.end(), 0.5);
      upper.push_back(kInfinity);
      features.push_back(make_feature(c, upper, MissingKind::nan));
    }
    auto matrix = std::make_shared<BinMatrix>(features, n, false);
    Team team(1);
    matrix->fill(team, MatrixView{values.data(), DType::f32, n, 3, 3, 1}, Use::training);
    const auto seconds_per_leaf = [&](std::int64_t num_leaves, std::int64_t histogram_bytes) {
      GrowParams params;
      params.shape.num_leaves = num_leaves;
      params.search.rules.min_data = 1.0;
      params.search.max_histogram_bytes = histogram_bytes;
      Grower grower(matrix);
      std::vector<double> score(at(n), 0.0);
      const auto start = std::chrono::steady_clock::now();
      const Tree tree = grower.grow(team, gradient.data(), nullptr, nullptr, n, params, score.data());
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      CHECK(tree.n_leaves() == num_leaves);
      return took.count() / static_cast<double>(num_leaves);
    };
    for (const std::int64_t bytes : {std::int64_t{1} << 30, std::int64_t{1} << 20}) {  // enough for all, and for few
      const double few = seconds_per_leaf(2000, bytes);
      const double many = std::min(seconds_per_leaf(32000, bytes), seconds_per_leaf(32000, bytes));
      CHECK(many < 4.0 * few);
    }
  }
}

}  // namespace gossamer::tests
