// Random choices that depend on their keys alone: rows in the bag, columns of a tree and a node.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "core/column_sampler.h"
#include "core/row_sampler.h"
#include "support.h"

namespace gossamer::tests {

namespace {

struct RowSample {
  std::vector<RowIdx> in;
  std::vector<RowIdx> out;
};

RowSample draw_rows(std::int64_t n, double fraction_negative, double fraction_positive, const float* label,
                    std::uint64_t key, int n_threads = 1) {
  Team team(n_threads);
  std::vector<RowIdx> rows(at(n));
  const auto n_in = sample_rows(team, n, fraction_negative, fraction_positive, label, key, rows.data());
  Buffer<RowIdx> out = rows_outside(team, rows.data(), n_in, n);
  return {{rows.begin(), rows.begin() + n_in}, {out.begin(), out.end()}};
}

}  // namespace

TEST_SUITE("sampling") {
  TEST_CASE("bits of samples, against plain loops") {
    Random random(3);
    for (const std::int64_t n : {1, 15, 16, 63, 64, 65, 200, 1024}) {
      CAPTURE(n);
      std::vector<std::uint32_t> numbers;
      for (std::int64_t i = 0; i < n; ++i) numbers.push_back(static_cast<std::uint32_t>(random.below(40)) << 19);
      const std::int64_t n_words = (n + 63) / 64;
      std::vector<std::uint64_t> words(at(n_words), ~std::uint64_t{0});
      kernels().find_above(numbers.data(), n, 20 << 19, words.data());
      for (std::int64_t i = 0; i < 64 * n_words; ++i) {
        CHECK((words[at(i / 64)] >> (i % 64) & 1) == (i < n && numbers[at(i)] > 20u << 19));
      }
      std::vector<std::uint32_t> kept(at(n)), expected;
      std::int64_t n_larger = 5;
      for (std::uint32_t& number : numbers) number += static_cast<std::uint32_t>(random.below(3)) * 0x3FFFF;
      for (const std::uint32_t number : numbers) {
        if (number >> 19 == 7) expected.push_back(number);
        n_larger += number >> 19 > 7;
      }
      at_every_level([&] {
        std::int64_t n_above = 5;
        const std::int64_t n_kept = kernels().keep_digit(numbers.data(), n, 19, 7, kept.data(), &n_above);
        CHECK(n_kept == std::ssize(expected));
        CHECK(std::equal(expected.begin(), expected.end(), kept.begin()));
        CHECK(n_above == n_larger);
      });
      std::vector<float> x;
      for (const std::uint32_t number : numbers) {
        x.push_back(std::bit_cast<float>(number | static_cast<std::uint32_t>(random_bits(8, number) << 31)));
      }
      x[0] = std::numeric_limits<float>::quiet_NaN();
      x[at(n / 2)] = -std::numeric_limits<float>::infinity();
      std::vector<std::uint32_t> bits(at(n));
      at_every_level([&] {
        kernels().size_bits(x.data(), n, bits.data());
        for (std::int64_t i = 0; i < n; ++i) {
          const float size = std::isnan(x[at(i)]) ? 0.0f : std::fabs(x[at(i)]);
          CHECK(bits[at(i)] == std::bit_cast<std::uint32_t>(size));
        }
      });
      std::vector<std::uint64_t> stream, out(at(n_words), 1);
      for (std::int64_t w = 0; w < n_words + 1; ++w) stream.push_back(random_bits(9, static_cast<std::uint64_t>(w)));
      kernels().deposit_bits(words.data(), n_words, stream.data(), out.data());
      std::int64_t next = 0;
      for (std::int64_t i = 0; i < 64 * n_words; ++i) {
        const bool is_free = words[at(i / 64)] >> (i % 64) & 1;
        const bool is_set = is_free && (stream[at(next / 64)] >> (next % 64) & 1);
        CHECK((out[at(i / 64)] >> (i % 64) & 1) == is_set);
        next += is_free;
      }
    }
  }

  TEST_CASE("random numbers are uniform and follow their key") {
    double sum = 0.0;
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 20000; ++i) {
      const double x = random_unit(7, i);
      CHECK(x >= 0.0);
      CHECK(x < 1.0);
      sum += x;
      seen.insert(random_bits(7, i));
    }
    CHECK(sum / 20000 == doctest::Approx(0.5).epsilon(0.02));
    CHECK(seen.size() == 20000);
    CHECK(random_bits(7, 1) != random_bits(8, 1));
    CHECK(random_bits(7, 1) == random_bits(7, 1));
  }

  TEST_CASE("a bag and what is left make up all rows") {
    const std::int64_t n = 10000;
    std::vector<float> label;
    for (std::int64_t i = 0; i < n; ++i) label.push_back(static_cast<float>(i % 2));
    const RowSample plain = draw_rows(n, 0.3, 0.9, nullptr, 5);
    const RowSample by_class = draw_rows(n, 0.3, 0.9, label.data(), 5);
    for (const RowSample& s : {plain, by_class}) {
      std::vector<RowIdx> all = s.in;
      all.insert(all.end(), s.out.begin(), s.out.end());
      CHECK(std::is_sorted(s.in.begin(), s.in.end()));
      CHECK(std::is_sorted(s.out.begin(), s.out.end()));
      std::sort(all.begin(), all.end());
      CHECK(all.size() == at(n));
      CHECK(std::unique(all.begin(), all.end()) == all.end());
    }
    CHECK(static_cast<double>(plain.in.size()) == doctest::Approx(3000).epsilon(0.05));
    std::int64_t positive = 0;
    for (const RowIdx row : by_class.in) positive += label[row] > 0.0f;
    CHECK(static_cast<double>(positive) == doctest::Approx(4500).epsilon(0.05));
    CHECK(static_cast<double>(by_class.in.size()) - static_cast<double>(positive) ==
          doctest::Approx(1500).epsilon(0.07));
  }

  TEST_CASE("a bag is what the random numbers of its rows say, whatever the threads") {
    for (const std::int64_t n : {1, 1000, 8192, 30001}) {
      std::vector<float> label;
      RowSample expected;
      for (std::int64_t i = 0; i < n; ++i) {
        label.push_back(static_cast<float>(i % 3) - 1.0f);
        const double fraction = label.back() > 0.0f ? 0.9 : 0.3;
        (random_unit(5, static_cast<std::uint64_t>(i)) < fraction ? expected.in : expected.out)
            .push_back(static_cast<RowIdx>(i));
      }
      if (expected.in.empty()) continue;
      at_every_level([&] {
        for (const int n_threads : {1, 3, 8}) {
          const RowSample s = draw_rows(n, 0.3, 0.9, label.data(), 5, n_threads);
          CHECK(first_difference(s.in, expected.in) == -1);
          CHECK(first_difference(s.out, expected.out) == -1);
        }
      });
    }
  }

  TEST_CASE("a bag is never empty; all rows may be in it") {
    for (std::uint64_t key = 0; key < 50; ++key) {
      const RowSample one = draw_rows(20, 0.0, 0.0, nullptr, key);
      CHECK(one.in.size() == 1);
      CHECK(one.out.size() == 19);
      CHECK(std::find(one.out.begin(), one.out.end(), one.in[0]) == one.out.end());
    }
    CHECK(draw_rows(20, 1.0, 1.0, nullptr, 1).out.empty());
    CHECK(draw_rows(0, 0.5, 0.5, nullptr, 1).in.empty());
  }

  TEST_CASE("columns: fractions multiply, sets are nested, the order of asking does not matter") {
    ColumnSampler sampler(1000, {0.5, 0.5, 0.2}, 42);
    CHECK(sampler.tree_features().size() == 500);
    const auto deep = sampler.node_features(5, 77);
    const auto shallow = sampler.node_features(1, 77);
    CHECK(deep.size() == 50);
    CHECK(std::is_sorted(deep.begin(), deep.end()));
    CHECK(std::includes(sampler.tree_features().begin(), sampler.tree_features().end(), deep.begin(), deep.end()));
    ColumnSampler again(1000, {0.5, 0.5, 0.2}, 42);
    CHECK(again.node_features(1, 77) == shallow);
    CHECK(again.node_features(5, 77) == deep);
    CHECK(again.node_features(5, 78) != deep);
    ColumnSampler other(1000, {0.5, 0.5, 0.2}, 43);
    CHECK(other.tree_features() != again.tree_features());
  }

  TEST_CASE("columns: at least one, and all where nothing is sampled") {
    ColumnSampler few(3, {0.01, 0.01, 0.01}, 1);
    CHECK(few.tree_features().size() == 1);
    CHECK(few.node_features(0, 1).size() == 1);
    ColumnSampler all(3, {}, 1);
    CHECK(all.node_features(4, 9) == std::vector<std::int32_t>{0, 1, 2});
    ColumnSampler none(0, {0.5, 0.5, 0.5}, 1);
    CHECK(none.node_features(0, 1).empty());
  }

  TEST_CASE("columns: weights") {
    // Equal ones change nothing, whatever they are.
    ColumnSampler plain(300, {0.5, 0.5, 0.3}, 7);
    ColumnSampler equal(300, {0.5, 0.5, 0.3}, 7, std::vector<double>(300, 0.1));
    CHECK(equal.tree_features() == plain.tree_features());
    CHECK(equal.node_features(2, 9) == plain.node_features(2, 9));
    // One of ten is drawn as often as its weight says.
    const std::vector<double> weights{0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 1e-300, 5.0, 5.0, 10.0};
    std::vector<double> drawn(10);
    constexpr int kTrials = 30000;
    for (int t = 0; t < kTrials; ++t) {
      const ColumnSampler one(10, {0.1, 1.0, 1.0}, mix_bits(static_cast<std::uint64_t>(t)), weights);
      drawn[at(one.tree_features()[0])] += 1.0;
    }
    for (std::size_t f = 0; f < weights.size(); ++f) {
      const double p = weights[f] / 30.0;
      CHECK(std::abs(drawn[f] / kTrials - p) <= 5.0 * std::sqrt(p * (1.0 - p) / kTrials));
    }
    // What weighs nothing comes last, but it comes.
    const ColumnSampler nine(10, {0.9, 1.0, 1.0}, 3, weights);
    const auto& features = nine.tree_features();
    for (const std::int32_t f : {1, 2, 3, 4, 6, 7, 8, 9}) {
      CHECK(std::binary_search(features.begin(), features.end(), f));
    }
  }

  TEST_CASE("columns: a node draws from what it is allowed") {
    ColumnSampler sampler(100, {1.0, 1.0, 0.5}, 4);
    const auto is_even = [](std::int32_t f) { return f % 2 == 0; };
    const auto drawn = sampler.node_features(1, 5, is_even);
    CHECK(drawn.size() == 25);
    CHECK(std::all_of(drawn.begin(), drawn.end(), is_even));
    CHECK(sampler.node_features(1, 5, [](std::int32_t) { return false; }).empty());
  }

  TEST_CASE("levels of one tree differ") {
    ColumnSampler sampler(200, {1.0, 0.5, 1.0}, 3);
    CHECK(sampler.node_features(0, 1) != sampler.node_features(1, 1));
    CHECK(sampler.node_features(1, 1) == sampler.node_features(1, 2));  // by level only
  }
}

}  // namespace gossamer::tests
