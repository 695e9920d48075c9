// Linear leaves: sums, fits, values, and the gate that keeps broken ones out.
#include "core/linear_leaves.h"

#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/predict.h"
#include "core/tree.h"
#include "support.h"

namespace gossamer::tests {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Rows of a table in two leaves, by turns, with gradients and hessians.
struct Problem {
  std::int64_t n_rows, n_columns;
  std::vector<double> values;  // row-major
  std::vector<float> gradient, hessian;
  std::vector<RowIdx> rows[2];
  std::vector<std::int32_t> columns;

  Problem(std::int64_t n, std::int64_t c, std::uint64_t seed) : n_rows(n), n_columns(c) {
    Random random(seed);
    for (std::int64_t i = 0; i < n * c; ++i) values.push_back(random.normal());
    for (std::int64_t i = 0; i < n; ++i) {
      gradient.push_back(static_cast<float>(random.normal()));
      hessian.push_back(static_cast<float>(random.between(0.1, 2.0)));
      rows[i % 2].push_back(static_cast<RowIdx>(i));
    }
    columns.resize(at(c));
    std::iota(columns.begin(), columns.end(), 0);
  }
  double& value(std::int64_t row, std::int64_t column) { return values[at(row * n_columns + column)]; }
  RawTable raw() const { return RawTable::of(MatrixView{values.data(), DType::f64, n_rows, n_columns, n_columns, 1}); }
  std::vector<LinearLeaf> leaves() const {
    std::vector<LinearLeaf> found;
    for (const auto& r : rows) found.push_back({r.data(), static_cast<std::int64_t>(r.size()), columns, 0.25, 0.0});
    return found;
  }
  LinearLeaves fit(LinearFit settings, std::vector<double>& score, int n_threads = 1, bool has_hessian = true) const {
    Team team(n_threads);
    const RawTable table = raw();
    settings.raw = settings.raw != nullptr ? settings.raw : &table;
    settings.gradient = gradient.data();
    settings.hessian = has_hessian ? hessian.data() : nullptr;
    score.assign(at(n_rows), 0.0);
    return fit_linear_leaves(team, settings, leaves(), score.data());
  }
};

// All numbers of the leaves as one vector, to be compared bit by bit.
std::vector<double> all_numbers(const LinearLeaves& leaves) {
  std::vector<double> all(leaves.begin.begin(), leaves.begin.end());
  all.insert(all.end(), leaves.column.begin(), leaves.column.end());
  for (const auto* part : {&leaves.constant, &leaves.low, &leaves.high, &leaves.coefficient, &leaves.centre}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

// Gaussian elimination with pivots: the least squares of one leaf with a constant that has no ridge. Columns count in
// units of their weighted standard deviation. Returns coefficients of the raw columns, then the constant at zero.
std::vector<double> plain_fit(Problem& p, const std::vector<RowIdx>& rows, double lambda) {
  const auto n = at(p.n_columns + 1);
  std::vector<std::vector<long double>> m(n, std::vector<long double>(n + 1));
  std::vector<long double> mean(n), square(n);
  long double total = 0;
  for (const RowIdx r : rows) {
    const long double h = p.hessian[r];
    total += h;
    for (std::size_t i = 0; i < n; ++i) {
      const long double x = i + 1 < n ? p.value(r, static_cast<std::int64_t>(i)) : 1.0;
      mean[i] += h * x;
      square[i] += h * x * x;
      for (std::size_t j = 0; j < n; ++j)
        m[i][j] += h * x * (j + 1 < n ? p.value(r, static_cast<std::int64_t>(j)) : 1.0);
      m[i][n] -= p.gradient[r] * x;
    }
  }
  for (std::size_t i = 0; i + 1 < n; ++i) m[i][i] += lambda * (square[i] / total - mean[i] / total * mean[i] / total);
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) pivot = std::abs(m[i][k]) > std::abs(m[pivot][k]) ? i : pivot;
    std::swap(m[k], m[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const long double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j <= n; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  std::vector<double> found;
  for (std::size_t i = 0; i < n; ++i) found.push_back(static_cast<double>(m[i][n] / m[i][i]));
  return found;
}

// One node: x0 <= 0 leads to leaf 0, otherwise to leaf 1.
Forest stump() {
  Forest f;
  f.n_columns = 3;
  f.node_begin = {0, 1};
  f.leaf_begin = {0, 2};
  f.column = {0};
  f.threshold = {0.0};
  f.missing_kind = {0};
  f.default_left = {1};
  f.left = {~0};
  f.right = {~1};
  f.leaf_value = {-1.0, 1.0};
  prepare_forest(f);
  return f;
}

LinearLeaves stump_leaves() { return {{0, 0, 1}, {-1.0, 1.0}, {-1.0, 0.0}, {-1.0, 3.0}, {0}, {0.5}, {2.0}}; }

}  // namespace

TEST_SUITE("linear_leaves") {
  TEST_CASE("sums of products against plain loops, the same bits at every level") {
    Random random(1);
    for (const int n_columns : {1, 2, 4, 5, 9}) {
      const std::int64_t n = 40, stride = 48;
      std::vector<double> columns(at(stride) * at(n_columns)), hessian(at(n)), gradient(at(n)), scratch(at(n));
      for (double& x : columns) x = random.normal();
      for (double& x : hessian) x = random.unit();
      for (double& x : gradient) x = random.normal();
      const std::size_t size = at(n_columns) * (at(n_columns) + 1) / 2 + at(n_columns);
      const auto found = same_at_every_level([&] {
        std::vector<double> out(size, kNan);
        kernels().linear_moments({columns.data(), stride, n_columns, hessian.data(), gradient.data(), n},
                                 scratch.data(), out.data());
        return out;
      });
      std::size_t place = 0;
      for (int i = 0; i <= n_columns; ++i) {
        for (int j = 0; j < (i < n_columns ? i + 1 : n_columns); ++j, ++place) {
          double sum = 0.0;
          for (std::int64_t r = 0; r < n; ++r) {
            const double other = i < n_columns ? hessian[at(r)] * columns[at(i * stride + r)] : gradient[at(r)];
            sum += other * columns[at(j * stride + r)];
          }
          CHECK(found[place] == doctest::Approx(sum).epsilon(1e-12));
        }
      }
      CHECK(place == size);
    }
  }

  TEST_CASE("a fit is the ridge regression of Newton's step") {
    for (const double lambda : {0.0, 0.5, 30.0}) {
      for (const std::int64_t n : {60, 2500, 5000}) {
        Problem p(n, 4, 7);
        std::vector<double> score;
        LinearFit settings;
        settings.lambda = lambda;
        settings.learning_rate = 0.5;
        const LinearLeaves found = p.fit(settings, score);
        for (std::size_t leaf = 0; leaf < 2; ++leaf) {
          const std::vector<double> expected = plain_fit(p, p.rows[leaf], lambda);
          REQUIRE(found.begin[leaf + 1] - found.begin[leaf] == 4);
          double at_zero = found.constant[leaf];
          for (std::size_t c = 0; c < 4; ++c) {
            const std::size_t t = at(found.begin[leaf]) + c;
            CHECK(found.column[t] == static_cast<std::int32_t>(c));
            CHECK(found.coefficient[t] == doctest::Approx(0.5 * expected[c]).epsilon(1e-9));
            at_zero -= found.coefficient[t] * found.centre[t];
          }
          CHECK(at_zero == doctest::Approx(0.5 * expected[4]).epsilon(1e-9));
        }
      }
    }
  }

  TEST_CASE("scores, bounds and the values of rows agree") {
    Problem p(3000, 3, 3);
    std::vector<double> score;
    const LinearLeaves found = p.fit({}, score);
    std::vector<double> again(score.size());
    const RawTable raw = p.raw();
    for (std::size_t leaf = 0; leaf < 2; ++leaf) {
      const ValueSpan span = add_linear_leaf(found, leaf, 0.25, raw, p.rows[leaf].data(),
                                             static_cast<std::int64_t>(p.rows[leaf].size()), again.data());
      CHECK(span.low == found.low[leaf]);
      CHECK(span.high == found.high[leaf]);
    }
    CHECK(first_difference(score, again) == -1);
  }

  TEST_CASE("the same bits whatever the threads, the level and the kind of table") {
    Problem p(20000, 5, 11);
    for (double& x : p.values) x = std::floor(2.0 * x);  // with zeros
    std::vector<double> first_score;
    const std::vector<double> first = all_numbers(p.fit({}, first_score));
    // compressed rows and columns
    std::vector<double> entries[2];
    std::vector<std::int32_t> indices[2];
    std::vector<std::int32_t> begin[2] = {{0}, {0}};
    for (std::int64_t r = 0; r < p.n_rows; ++r) {
      for (std::int64_t c = 0; c < p.n_columns; ++c) {
        if (p.value(r, c) == 0.0) continue;
        entries[0].push_back(p.value(r, c));
        indices[0].push_back(static_cast<std::int32_t>(c));
      }
      begin[0].push_back(static_cast<std::int32_t>(entries[0].size()));
    }
    for (std::int64_t c = 0; c < p.n_columns; ++c) {
      for (std::int64_t r = 0; r < p.n_rows; ++r) {
        if (p.value(r, c) == 0.0) continue;
        entries[1].push_back(p.value(r, c));
        indices[1].push_back(static_cast<std::int32_t>(r));
      }
      begin[1].push_back(static_cast<std::int32_t>(entries[1].size()));
    }
    std::vector<RawTable> tables{p.raw()};
    for (int k = 0; k < 2; ++k) {
      tables.push_back(RawTable::of(SparseView{entries[k].data(), DType::f64, indices[k].data(), false, begin[k].data(),
                                               p.n_rows, p.n_columns, k == 0}));
    }
    at_every_level([&] {
      for (const int n_threads : {1, 2, 3, 8}) {
        for (const RawTable& table : tables) {
          std::vector<double> score;
          LinearFit settings;
          settings.raw = &table;
          CHECK(first_difference(all_numbers(p.fit(settings, score, n_threads)), first) == -1);
          CHECK(first_difference(score, first_score) == -1);
        }
      }
    });
  }

  TEST_CASE("columns that are constant, collinear, huge, tiny or far from zero") {
    Problem p(2000, 6, 5);
    for (std::int64_t r = 0; r < p.n_rows; ++r) {
      const double x = p.value(r, 0);
      p.value(r, 1) = 3.0;            // constant
      p.value(r, 2) = 2.0 * x - 1.0;  // collinear
      p.value(r, 3) = 1e12 + 1e-2 * p.value(r, 3);
      p.value(r, 4) *= 1e200;
      p.value(r, 5) *= 1e-200;
      p.gradient[at(r)] = static_cast<float>(-x - 0.5 * p.value(r, 4) / 1e200 - 0.25 * p.value(r, 5) / 1e-200);
    }
    std::vector<double> score;
    const LinearLeaves found = p.fit({}, score, 1, false);
    for (std::size_t leaf = 0; leaf < 2; ++leaf) {
      for (auto t = at(found.begin[leaf]); t < at(found.begin[leaf + 1]); ++t) {
        CHECK(found.column[t] != 1);
        CHECK(found.column[t] != 2);
        CHECK(std::isfinite(found.coefficient[t]));
      }
    }
    for (std::int64_t r = 0; r < p.n_rows; ++r) {
      CHECK(score[at(r)] == doctest::Approx(-static_cast<double>(p.gradient[at(r)])).epsilon(1e-4));
    }
  }

  TEST_CASE("rows with NaN or infinity get the plain value and do not take part") {
    Problem p(500, 2, 9), without(500, 2, 9);
    for (std::int64_t r = 0; r < 100; ++r) p.value(r, r % 2) = r % 3 == 0 ? kInf : r % 3 == 1 ? -kInf : kNan;
    for (auto& rows : without.rows) rows.erase(rows.begin(), rows.begin() + 50);
    std::vector<double> score, other_score;
    const LinearLeaves found = p.fit({}, score);
    const LinearLeaves other = without.fit({}, other_score);
    CHECK(found.begin == other.begin);
    for (std::size_t t = 0; t < found.column.size(); ++t) {
      CHECK(found.coefficient[t] == doctest::Approx(other.coefficient[t]).epsilon(1e-9));
    }
    for (std::int64_t r = 0; r < 500; ++r) {
      if (r < 100) {
        CHECK(score[at(r)] == 0.25);
      } else {
        CHECK(score[at(r)] == doctest::Approx(other_score[at(r)]).epsilon(1e-9));
      }
    }
  }

  TEST_CASE("leaves that do not tell enough stay plain") {
    const auto check_plain = [](const Problem& p) {
      std::vector<double> score;
      const LinearLeaves found = p.fit({}, score);
      CHECK(found.column.empty());
      CHECK(found.begin == std::vector<std::int64_t>{0, 0, 0});
      CHECK(found.constant == std::vector<double>{0.25, 0.25});
      for (const double s : score) CHECK(s == 0.25);
    };
    check_plain(Problem(6, 3, 1));  // three rows for three slopes
    Problem none(100, 2, 1);
    none.columns.clear();
    check_plain(none);
    Problem weightless(100, 2, 1);
    weightless.hessian.assign(100, 0.0f);
    check_plain(weightless);
    Problem missing(100, 2, 1);
    missing.values.assign(200, kNan);
    check_plain(missing);
    Problem flat(100, 2, 1);
    flat.values.assign(200, 1e9);
    check_plain(flat);
    Problem too_large(100, 1, 1);
    for (double& x : too_large.values) x *= 1e308;
    std::vector<double> score;
    too_large.fit({}, score);
    for (const double s : score) CHECK(std::isfinite(s));
  }

  TEST_CASE("values stay within the bounds, which can be widened and have limits") {
    Problem p(400, 1, 2);
    std::vector<double> score;
    const LinearLeaves tight = p.fit({}, score);
    LinearFit wide_settings;
    wide_settings.extrapolation = 0.5;
    const LinearLeaves wide = p.fit(wide_settings, score);
    const double width = tight.high[0] - tight.low[0];
    CHECK(wide.high[0] == doctest::Approx(tight.high[0] + 0.5 * width));
    CHECK(wide.low[0] == doctest::Approx(tight.low[0] - 0.5 * width));
    const double up = tight.coefficient[0] > 0.0 ? 1e6 : -1e6;
    CHECK(tight.value(0, 0.25, [&](std::int32_t) { return up; }) == tight.high[0]);
    CHECK(tight.value(0, 0.25, [&](std::int32_t) { return -up; }) == tight.low[0]);
    CHECK(tight.value(0, 0.25, [&](std::int32_t) { return kNan; }) == 0.25);
    CHECK(tight.value(0, 0.25, [&](std::int32_t) { return kInf; }) == 0.25);
    LinearFit limited;
    limited.rules.max_delta_step = 0.3;
    limited.extrapolation = 10.0;
    const LinearLeaves step = p.fit(limited, score);
    CHECK(step.high[0] <= 0.3);
    CHECK(step.low[0] >= -0.3);
    LinearFit damped;
    damped.damp_from = 0.01;
    const LinearLeaves damp = p.fit(damped, score);
    CHECK(damp.high[0] <= doctest::Approx(0.25));  // the plain value
    CHECK(damp.low[0] >= -0.02);
  }

  TEST_CASE("with damped losses, checked slopes must gain a share of what the splits do") {
    Problem p(1000, 1, 6);
    double most = 0.0;  // what the slopes gain, at most
    for (std::int64_t r = 0; r < 1000; ++r) {
      p.gradient[at(r)] = static_cast<float>(0.5 * p.gradient[at(r)] - p.value(r, 0));
      most += 0.5 * p.value(r, 0) * p.value(r, 0);
    }
    const auto n_terms = [&](double damp_from, double gain, double least_noise = 0.0) {
      std::vector<double> score;
      LinearFit settings;
      settings.check = true;
      settings.damp_from = damp_from;
      settings.gain = gain;
      settings.least_noise = least_noise;
      return p.fit(settings, score, 1, false).column.size();
    };
    CHECK(n_terms(100.0, 0.0) == 2);
    CHECK(n_terms(100.0, 0.8 * most / 0.015) == 2);
    CHECK(n_terms(100.0, 1.2 * most / 0.015) == 0);
    CHECK(n_terms(0.0, 1.2 * most / 0.015) == 2);
    CHECK(n_terms(100.0, 0.8 * most / 0.03, 1.0) == 2);
    CHECK(n_terms(100.0, 1.2 * most / 0.03, 1.0) == 0);
  }

  TEST_CASE("with labels the constant comes from the residuals") {
    Problem p(600, 1, 4);
    std::vector<float> label(600);
    for (std::int64_t r = 0; r < 600; ++r) {
      label[at(r)] = static_cast<float>(2.0 * p.value(r, 0) + 1.0 + (r % 50 == 0 ? 1000.0 : 0.0));
      p.gradient[at(r)] = static_cast<float>(-2.0 * p.value(r, 0));
    }
    std::vector<double> zero(600), score;
    LinearFit settings;
    settings.refit = {label.data(), nullptr, zero.data(), 0.5, 0.1};
    const LinearLeaves found = p.fit(settings, score, 1, false);
    for (std::size_t leaf = 0; leaf < 2; ++leaf) {
      REQUIRE(found.is_linear(leaf));
      const double at_zero =
          found.constant[leaf] - found.coefficient[at(found.begin[leaf])] * found.centre[at(found.begin[leaf])];
      CHECK(at_zero == doctest::Approx(1.0).epsilon(0.02));  // outliers move it by a step of 0.1 at most
      CHECK(found.coefficient[at(found.begin[leaf])] == doctest::Approx(2.0).epsilon(1e-6));
    }
  }

  TEST_CASE("columns on the way to a leaf") {
    Tree tree;  // c3 ? (c1 ? leaf0 : leaf2) : (c3 ? leaf1 : leaf3)
    tree.column = {3, 1, 3};
    tree.left = {1, ~0, ~1};
    tree.right = {2, ~2, ~3};
    tree.leaf_count.resize(4);
    const auto found = path_columns(tree);
    CHECK(found == std::vector<std::vector<std::int32_t>>{{1, 3}, {3}, {1, 3}, {3}});
    Tree leaf;
    leaf.leaf_count.resize(1);
    CHECK(path_columns(leaf) == std::vector<std::vector<std::int32_t>>{{}});
  }

  TEST_CASE("prediction") {
    Forest f = stump();
    set_linear_leaves(f, stump_leaves());
    const std::vector<double> x{-5, 0, 0, 2, 0, 0, 4, 0, 0, 1e9, 0, 0, 1e-3, 0, 0, kNan, 0, 0, kInf, 0, 0};
    const MatrixView view{x.data(), DType::f64, 7, 3, 3, 1};
    std::vector<double> out(7, 10.0);
    Team team(2);
    predict_scores(team, f, view, 0, 1, out.data());
    const std::vector<double> expected{9.0, 11.0, 12.0, 13.0, 10.0 + (1.0 + 0.5 * (1e-3 - 2.0)), 9.0, 11.0};
    CHECK(first_difference(out, expected) == -1);
  }

  TEST_CASE("broken linear leaves are kept out") {
    const auto check_rejected = [](const char* what, const auto& change) {
      CAPTURE(what);
      Forest f = stump();
      LinearLeaves leaves = stump_leaves();
      change(f, leaves);
      CHECK_THROWS_AS(set_linear_leaves(f, leaves), std::invalid_argument);
      CHECK(f.linear.empty());
    };
    check_rejected("short begin", [](Forest&, LinearLeaves& l) { l.begin = {0, 1}; });
    check_rejected("no begin", [](Forest&, LinearLeaves& l) { l.begin.clear(); });
    check_rejected("late begin", [](Forest&, LinearLeaves& l) { l.begin = {1, 1, 1}; });
    check_rejected("begin decreases", [](Forest&, LinearLeaves& l) { l.begin = {0, 2, 1}; });
    check_rejected("terms left over", [](Forest&, LinearLeaves& l) { l.begin = {0, 0, 0}; });
    check_rejected("terms missing", [](Forest&, LinearLeaves& l) { l.begin = {0, 0, 2}; });
    check_rejected("constants", [](Forest&, LinearLeaves& l) { l.constant.pop_back(); });
    check_rejected("low", [](Forest&, LinearLeaves& l) { l.low.pop_back(); });
    check_rejected("high", [](Forest&, LinearLeaves& l) { l.high.push_back(0.0); });
    check_rejected("coefficients", [](Forest&, LinearLeaves& l) { l.coefficient.clear(); });
    check_rejected("centres", [](Forest&, LinearLeaves& l) { l.centre.clear(); });
    check_rejected("negative column", [](Forest&, LinearLeaves& l) { l.column = {-1}; });
    check_rejected("large column", [](Forest&, LinearLeaves& l) { l.column = {1000000}; });
    check_rejected("column of no node", [](Forest&, LinearLeaves& l) { l.column = {1}; });
    check_rejected("bounds crossed", [](Forest&, LinearLeaves& l) { l.low[1] = 4.0; });
    check_rejected("plain value outside", [](Forest&, LinearLeaves& l) { l.high[1] = 0.5; });
    check_rejected("infinite bound", [](Forest&, LinearLeaves& l) { l.high[1] = kInf; });
    check_rejected("constant", [](Forest&, LinearLeaves& l) { l.constant[1] = kNan; });
    check_rejected("coefficient", [](Forest&, LinearLeaves& l) { l.coefficient[0] = kInf; });
    check_rejected("centre", [](Forest&, LinearLeaves& l) { l.centre[0] = kNan; });
    check_rejected("vector leaves", [](Forest& f, LinearLeaves&) { f.n_values = 2; });
  }
}

}  // namespace gossamer::tests
