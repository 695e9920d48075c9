// Row sampling by gradients: exact counts, the right rows, the right weights, whatever the threads.
#include "core/gradient_sampler.h"

#include <algorithm>
#include <cfloat>
#include <numeric>
#include <stdexcept>

#include "support.h"

namespace gossamer::tests {
namespace {

struct Sample {
  std::vector<RowIdx> rows;
  std::int64_t n_inside = 0;
  std::vector<float> gradient;
  std::vector<float> hessian;

  bool has(RowIdx row) const { return std::binary_search(rows.begin(), rows.begin() + n_inside, row); }
};

struct Data {
  int n_outputs = 1;
  std::vector<float> gradient;
  std::vector<float> hessian;

  std::int64_t n_rows() const { return static_cast<std::int64_t>(gradient.size()) / n_outputs; }
};

// Few distinct values, zeros and tiny ones among them.
Data random_data(std::int64_t n, int n_outputs, Random& random) {
  Data data;
  data.n_outputs = n_outputs;
  for (std::int64_t i = 0; i < n * n_outputs; ++i) {
    const double tie = static_cast<double>(random.below(9) - 4);
    data.gradient.push_back(static_cast<float>(random.chance(0.5)   ? tie
                                               : random.chance(0.1) ? 1e-42 * tie
                                                                    : random.normal()));
    data.hessian.push_back(static_cast<float>(random.chance(0.5) ? 1.0 : random.unit()));
  }
  return data;
}

Sample empty_sample(const Data& data) {
  return {std::vector<RowIdx>(at(data.n_rows())), 0, data.gradient, data.hessian};
}

Sample draw_goss(GradientSampler& sampler, Team& team, const Data& data, std::int64_t n_top, std::int64_t n_other,
                 std::uint64_t key) {
  Sample s = empty_sample(data);
  sampler.sample_goss(team, n_top, n_other, key, s.gradient.data(), s.hessian.data(), s.rows.data());
  s.n_inside = n_top + n_other;
  s.rows.resize(at(s.n_inside));
  return s;
}

Sample goss(const Data& data, std::int64_t n_top, std::int64_t n_other, std::uint64_t key, int n_threads = 1) {
  Team team(n_threads);
  GradientSampler sampler(data.n_rows(), data.n_outputs);
  sampler.score(team, data.gradient.data(), data.hessian.data(), 0.0);
  return draw_goss(sampler, team, data, n_top, n_other, key);
}

Sample mvs(const Data& data, double n_expected, double reg, std::uint64_t key, int n_threads = 1) {
  Team team(n_threads);
  GradientSampler sampler(data.n_rows(), data.n_outputs);
  sampler.score(team, data.gradient.data(), data.hessian.data(), reg);
  Sample s = empty_sample(data);
  s.n_inside = sampler.sample_mvs(team, n_expected, key, s.gradient.data(), s.hessian.data(), s.rows.data());
  s.rows.resize(at(s.n_inside));
  return s;
}

// Rows from the largest score to the smallest; of equal scores the first comes first.
std::vector<RowIdx> by_score(const Data& data) {
  const std::int64_t n = data.n_rows();
  std::vector<float> score(at(n));
  for (std::int64_t i = 0; i < n; ++i) {
    double square = 0.0;
    for (int k = 0; k < data.n_outputs; ++k) {
      const double g = data.gradient[at(k * n + i)];
      square += g * g;
    }
    score[at(i)] = static_cast<float>(std::sqrt(square));
  }
  std::vector<RowIdx> rows(at(n));
  std::iota(rows.begin(), rows.end(), 0u);
  std::stable_sort(rows.begin(), rows.end(), [&](RowIdx a, RowIdx b) { return score[a] > score[b]; });
  return rows;
}

void check_rows(const Sample& s) {
  REQUIRE(std::ssize(s.rows) == s.n_inside);
  for (std::size_t i = 1; i < s.rows.size(); ++i) REQUIRE(s.rows[i - 1] < s.rows[i]);
  CHECK(s.rows.back() < s.gradient.size());
}

void check_same(const Sample& a, const Sample& b) {
  CHECK(a.n_inside == b.n_inside);
  CHECK(first_difference(a.rows, b.rows) == -1);
  CHECK(first_difference(a.gradient, b.gradient) == -1);
  CHECK(first_difference(a.hessian, b.hessian) == -1);
}

}  // namespace

TEST_SUITE("gradient_sampler") {
  TEST_CASE("the border of the k largest") {
    Random random(1);
    Team team(2);
    for (const std::int64_t n : {1, 2, 33, 1000, 30000}) {
      for (const std::int64_t n_distinct : {std::int64_t{1}, std::int64_t{3}, n, std::int64_t{1} << 31}) {
        std::vector<std::uint32_t> values;
        for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<std::uint32_t>(random.below(n_distinct)));
        std::vector<std::int64_t> order(at(n));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int64_t a, std::int64_t b) { return values[at(a)] > values[at(b)]; });
        Largest largest(n);
        const Numbers numbers{values.data(), nullptr};
        const std::int64_t ks[] = {1, 1, (n + 1) / 2, (n + 1) / 2, n};
        // Numbers are counted before, or only if the border has another leading digit than the last time.
        for (std::size_t i = 0; i < 2 * std::size(ks); ++i) {
          const std::int64_t k = ks[i / 2];
          const bool is_counted = i % 2 == 1;
          if (is_counted) largest.count(team, [&](auto... of) { return numbers.chunk(of...); });
          const Border border = largest.find(team, numbers, k, is_counted);
          std::vector<std::int64_t> found;
          std::vector<std::uint64_t> words(at((n + 63) / 64), ~std::uint64_t{0});
          border.find_largest(values.data(), 0, n, words.data());
          for (std::int64_t row = 0; row < std::ssize(words) * 64; ++row) {
            if (words[at(row / 64)] >> (row % 64) & 1) found.push_back(row);
          }
          std::vector<std::int64_t> expected(order.begin(), order.begin() + k);
          std::sort(expected.begin(), expected.end());
          CHECK(found == expected);
          std::vector<std::int64_t> by_block(at(count_sample_blocks(n)));
          for (const std::int64_t row : expected) ++by_block[at(row / kSampleBlock)];
          CHECK(largest.n_by_block() == by_block);
        }
      }
    }
  }

  TEST_CASE("GOSS keeps the largest scores, and draws exactly as many others as asked for") {
    Random random(2);
    for (const int n_outputs : {1, 3}) {
      for (const std::int64_t n : {1, 2, 7, 1000, 20001}) {
        const Data data = random_data(n, n_outputs, random);
        const std::vector<RowIdx> order = by_score(data);
        for (const std::int64_t n_top : {std::int64_t{1}, n / 5 + 1, n}) {
          const std::int64_t n_other = std::min(n / 10, n - n_top);
          const Sample s = goss(data, n_top, n_other, 77);
          check_rows(s);
          const double weight = n_other > 0 ? static_cast<double>(n - n_top) / static_cast<double>(n_other) : 1.0;
          std::vector<double> expected(at(n), 1.0);
          for (std::int64_t i = n_top; i < n; ++i) {
            if (s.has(order[at(i)])) expected[order[at(i)]] = weight;
          }
          for (std::int64_t i = 0; i < n_top; ++i) CHECK(s.has(order[at(i)]));
          for (std::int64_t i = 0; i < n * n_outputs; ++i) {
            const double w = expected[at(i % n)];
            CHECK(s.gradient[at(i)] == static_cast<float>(data.gradient[at(i)] * w));
            CHECK(s.hessian[at(i)] == static_cast<float>(data.hessian[at(i)] * w));
          }
        }
      }
    }
  }

  TEST_CASE("every row outside the top is drawn equally often") {
    Random random(3);
    const std::int64_t n = 200;
    const Data data = random_data(n, 1, random);
    const std::vector<RowIdx> order = by_score(data);
    std::vector<int> drawn(at(n));
    const int n_keys = 4000;
    for (int key = 0; key < n_keys; ++key) {
      const Sample s = goss(data, 40, 32, mix_bits(static_cast<std::uint64_t>(key)));
      for (std::int64_t i = 0; i < s.n_inside; ++i) ++drawn[s.rows[at(i)]];
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const int times = drawn[order[at(i)]];
      // 0.2 of the keys, give or take five standard deviations
      if (i < 40) CHECK(times == n_keys);
      if (i >= 40) CHECK(std::abs(times - 0.2 * n_keys) < 5 * std::sqrt(0.16 * n_keys));
    }
  }

  TEST_CASE("every block draws its share, and every row has the same chance, wherever it is") {
    // The second block has a few rows only: its share is half a row.
    const std::int64_t n = kSampleBlock + 5;
    Data data;
    for (std::int64_t i = 0; i < n; ++i) data.gradient.push_back(i == 100 ? 2.0f : 1.0f);
    data.hessian.assign(at(n), 1.0f);
    const int n_keys = 4000;
    int n_second = 0;
    int n_first_rows = 0;
    for (int key = 0; key < n_keys; ++key) {
      const Sample s = goss(data, 1, (n - 1) / 10, mix_bits(static_cast<std::uint64_t>(key)));
      int n_here = 0;
      for (std::int64_t i = 0; i < 5; ++i) {
        n_here += s.has(static_cast<RowIdx>(kSampleBlock + i));
        n_first_rows += s.has(static_cast<RowIdx>(i));
      }
      CHECK(n_here <= 1);
      n_second += n_here;
    }
    CHECK(std::abs(n_second - 0.5 * n_keys) < 5 * std::sqrt(0.25 * n_keys));
    CHECK(std::abs(n_first_rows - 0.5 * n_keys) < 5 * std::sqrt(0.45 * n_keys));
  }

  TEST_CASE("GOSS from round to round: the same rows, scored before or not") {
    Random random(12);
    const std::int64_t n = 20001;
    Team team(2);
    for (const int n_outputs : {1, 2}) {
      GradientSampler sampler(n, n_outputs);
      Data data = random_data(n, n_outputs, random);
      for (int round = 0; round < 6; ++round) {
        if (round == 2) sampler.score(team, data.gradient.data(), data.hessian.data(), 0.0);
        if (round == 4) {  // scores of another kind do not serve the next sample
          sampler.score(team, data.gradient.data(), data.hessian.data(), 0.5);
          Sample other = empty_sample(data);
          sampler.sample_mvs(team, 100.0, 3, other.gradient.data(), other.hessian.data(), other.rows.data());
        }
        check_same(draw_goss(sampler, team, data, n / 5, n / 10, 9), goss(data, n / 5, n / 10, 9));
        for (float& g : data.gradient) g *= round % 2 == 0 ? 0.9f : 0.01f;  // sometimes to another leading digit
      }
    }
  }

  TEST_CASE("gradients that are not those that were scored are refused") {
    Random random(6);
    const std::int64_t n = 20001;
    const Data data = random_data(n, 1, random);
    Team team(2);
    GradientSampler sampler(n, 1);
    sampler.score(team, data.gradient.data(), data.hessian.data(), 0.0);
    Sample s = empty_sample(data);
    for (float& g : s.gradient) g = 0.5f;
    CHECK_THROWS_AS(sampler.sample_goss(team, n / 5, n / 10, 1, s.gradient.data(), s.hessian.data(), s.rows.data()),
                    std::invalid_argument);
  }

  TEST_CASE("MVS keeps rows by their probability and divides by it") {
    Random random(4);
    const std::int64_t n = 20001;
    Data data;
    for (std::int64_t i = 0; i < n; ++i) {
      data.gradient.push_back(static_cast<float>(std::exp(random.normal()) * (random.chance(0.5) ? 1 : -1)));
      data.hessian.push_back(static_cast<float>(random.unit()));
    }
    const double reg = 0.7;
    const Sample s = mvs(data, 0.3 * static_cast<double>(n), reg, 5);
    check_rows(s);
    CHECK(static_cast<double>(s.n_inside) == doctest::Approx(0.3 * static_cast<double>(n)).epsilon(0.05));
    // All rows that chance kept have the same weight x score, which is mu; the others are larger.
    double mu = 0.0;
    const auto score = [&](std::int64_t i) {
      const double g = data.gradient[at(i)];
      const double h = data.hessian[at(i)];
      return std::sqrt(g * g + reg * h * h);
    };
    for (std::int64_t i = 0; i < n; ++i) {
      if (s.gradient[at(i)] != data.gradient[at(i)]) mu = s.gradient[at(i)] / data.gradient[at(i)] * score(i);
    }
    double n_expected = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
      n_expected += std::min(1.0, score(i) / mu);
      const double weight = s.has(static_cast<RowIdx>(i)) ? std::max(1.0, mu / score(i)) : 1.0;
      CHECK(s.gradient[at(i)] == doctest::Approx(data.gradient[at(i)] * weight).epsilon(1e-5));
      CHECK(s.hessian[at(i)] == doctest::Approx(data.hessian[at(i)] * weight).epsilon(1e-5));
      if (score(i) > mu * 1.00001) CHECK(s.has(static_cast<RowIdx>(i)));
    }
    CHECK(n_expected == doctest::Approx(0.3 * static_cast<double>(n)).epsilon(1e-5));
  }

  TEST_CASE("MVS: all that have a gradient when there are few, and at least one row") {
    Data data;
    data.gradient.assign(100, 0.0f);
    data.hessian.assign(100, 1.0f);
    for (int i = 0; i < 5; ++i) data.gradient[at(i * 20)] = 1.0f;
    const Sample few = mvs(data, 10.0, 0.0, 1);
    CHECK(few.n_inside == 5);
    CHECK(first_difference(few.gradient, data.gradient) == -1);
    data.gradient.assign(100, 0.0f);
    for (std::uint64_t key = 0; key < 20; ++key) {
      CHECK(mvs(data, 10.0, 0.0, key).n_inside == 1);   // no score at all
      CHECK(mvs(data, 0.001, 1.0, key).n_inside == 1);  // hardly any chance
      check_rows(mvs(data, 0.001, 1.0, key));
    }
  }

  TEST_CASE("any number of threads, any level: the same bits") {
    Random random(5);
    const std::int64_t n = 60000;
    for (const int n_outputs : {1, 2}) {
      const Data data = random_data(n, n_outputs, random);
      const Sample first_goss = goss(data, n / 5, n / 10, 9);
      const Sample first_mvs = mvs(data, 0.3 * static_cast<double>(n), 0.5, 9);
      Team one(1);
      const double step = mean_step(one, data.gradient.data(), data.hessian.data(), n);
      at_every_level([&] {
        for (const int n_threads : {1, 2, 3, 8}) {
          check_same(goss(data, n / 5, n / 10, 9, n_threads), first_goss);
          check_same(mvs(data, 0.3 * static_cast<double>(n), 0.5, 9, n_threads), first_mvs);
          Team team(n_threads);
          CHECK(mean_step(team, data.gradient.data(), data.hessian.data(), n) == step);
        }
      });
    }
  }

  TEST_CASE("the histogram counts leading bits") {
    Data data;
    data.gradient = {0.0f, 1.0f, -1.0f, 1.01f, 2.0f, NAN, INFINITY};
    data.hessian.assign(7, 1.0f);
    Team team(2);
    GradientSampler sampler(7, 1);
    sampler.score(team, data.gradient.data(), data.hessian.data(), 0.0);
    const auto digit = [](float score) { return std::bit_cast<std::uint32_t>(score) >> kLeadingShift; };
    CHECK(sampler.histogram()[0] == 2);  // 0 and what is not a number
    CHECK(sampler.histogram()[digit(1.0f)] == 3);
    CHECK(sampler.histogram()[digit(2.0f)] == 1);
    CHECK(sampler.histogram()[digit(INFINITY)] == 1);
  }

  TEST_CASE("what is not finite, and what weights make too large, does no harm") {
    Data data;
    for (int i = 0; i < 3000; ++i) {
      data.gradient.push_back(i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : FLT_MAX);
      data.hessian.push_back(i % 2 == 0 ? NAN : FLT_MAX);
    }
    check_rows(goss(data, 300, 300, 1));
    check_rows(mvs(data, 300.0, 1.0, 1));
    data.gradient.assign(3000, -FLT_MAX);
    data.hessian.assign(3000, 1.0f);
    const Sample s = goss(data, 300, 300, 1);
    CHECK(*std::min_element(s.gradient.begin(), s.gradient.end()) == -FLT_MAX);
    CHECK(*std::max_element(s.hessian.begin(), s.hessian.end()) == 9.0f);
  }
}

}  // namespace gossamer::tests
