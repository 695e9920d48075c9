// Kernels of vector leaves against plain loops, at every level.
#include <algorithm>

#include "support.h"

namespace gossamer::tests {
namespace {

int chunks_of(int n_outputs) { return (n_outputs + 1 + 7) / 8; }

std::vector<RowIdx> gathered(std::int64_t n, std::int64_t n_all, Random& random) {
  std::vector<RowIdx> rows;
  for (std::int64_t i = 0; i < n; ++i) rows.push_back(static_cast<RowIdx>(random.below(n_all)));
  return rows;
}

}  // namespace

TEST_SUITE("vector_leaf") {
  TEST_CASE("sum of magnitudes, lowest and highest") {
    Random random(300);
    for (std::int64_t n = 1; n <= 70; ++n) {
      for (const bool gather : {false, true}) {
        std::vector<float> values;
        // Lowest and highest at either end now and then; all of one sign, too.
        const double shift = n % 3 == 0 ? 100.0 : n % 3 == 1 ? -100.0 : 0.0;
        for (std::int64_t i = 0; i < 100; ++i) {
          values.push_back(static_cast<float>(std::round(16.0 * (random.normal() + shift)) / 16.0));
        }
        const std::vector<RowIdx> rows = gathered(n, 100, random);
        double sum = 0.0;
        float low = INFINITY, high = -INFINITY;
        for (std::int64_t i = 0; i < n; ++i) {
          const float x = values[gather ? at(rows[at(i)]) : at(i)];
          sum += std::abs(static_cast<double>(x));
          low = std::min(low, x);
          high = std::max(high, x);
        }
        at_every_level([&] {
          const ValueRange range = kernels().value_range(values.data(), gather ? rows.data() : nullptr, n);
          CHECK(range.sum == sum);
          CHECK(range.lowest == low);
          CHECK(range.highest == high);
        });
      }
    }
  }

  TEST_CASE("real values become integers") {
    Random random(301);
    for (int n_outputs = 1; n_outputs <= 40; ++n_outputs) {
      for (const std::int64_t n : {1, 7, 8, 37, 255, 256, 257, 519}) {
        for (const bool gather : {false, true}) {
          const std::int64_t n_all = 600;
          const int width = chunks_of(n_outputs) * 8;
          const std::int64_t first_row = gather ? 0 : n_all - n;
          std::vector<float> values, inverse;
          for (std::int64_t i = 0; i < n_all * n_outputs; ++i) {
            values.push_back(static_cast<float>(random.chance(0.1) ? random.below(9) * 0.5 - 2.0 : random.normal()));
          }
          for (int k = 0; k < n_outputs; ++k) inverse.push_back(std::ldexp(1.0f, static_cast<int>(random.below(22))));
          std::vector<RowIdx> rows;
          for (std::int64_t i = 0; i < n; ++i) rows.push_back(static_cast<RowIdx>(i * (n_all - 1) / n));
          std::vector<std::int32_t> expected(at(n_all * width), -7);
          std::vector<std::int32_t> expected_sums(at(width), 3);
          for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t row = gather ? rows[at(i)] : first_row + i;
            for (int k = 0; k < n_outputs; ++k) {
              const float steps = values[at(k * n_all + row)] * inverse[at(k)];
              const auto q = static_cast<std::int32_t>(steps + (steps < 0.0f ? -0.5f : 0.5f));
              expected[at(row * width + k)] = q;
              expected_sums[at(k)] += q;
              // Beyond 2^23 steps a float cannot hold a half as well.
              const double limit = std::abs(steps) < 0x1p23f ? 0.5000001 : 1.0;
              CHECK(std::abs(static_cast<double>(q) - static_cast<double>(steps)) <= limit);
            }
          }
          at_every_level([&] {
            std::vector<std::int32_t> out(at(n_all * width), -7), sums(at(width), 3);
            VectorQuantizeArgs args;
            args.values = values.data();
            args.value_stride = n_all;
            args.n_outputs = n_outputs;
            args.inverse_unit = inverse.data();
            args.rows = gather ? rows.data() : nullptr;
            args.first_row = first_row;
            args.n_rows = n;
            args.out = out.data();
            args.width = width;
            kernels().quantize_vector(args, sums.data());
            CHECK(first_difference(out, expected) == -1);
            CHECK(first_difference(sums, expected_sums) == -1);
          });
        }
      }
    }
  }

  TEST_CASE("cells: sums of the rows of every bin") {
    Random random(302);
    const std::int64_t n_all = 301;
    for (int n_outputs = 1; n_outputs <= 40; ++n_outputs) {
      for (const bool constant : {false, true}) {
        const int width = chunks_of(n_outputs) * (constant ? 8 : 16);
        std::vector<std::int32_t> values;
        for (std::int64_t i = 0; i < n_all * width; ++i) {
          values.push_back(static_cast<std::int32_t>(random.below(2000001) - 1000000));
        }
        for (const bool two_bytes : {false, true}) {
          const auto n_lanes = static_cast<int>(1 + random.below(20));
          const std::int64_t stride = n_lanes + random.below(3);
          const std::int64_t n_bins = two_bytes ? 300 : 20;
          std::vector<std::uint8_t> bins8;
          std::vector<std::uint16_t> bins16;
          for (std::int64_t i = 0; i < n_all * stride; ++i) {
            const std::int64_t b = random.below(n_bins);
            bins8.push_back(static_cast<std::uint8_t>(b));
            bins16.push_back(static_cast<std::uint16_t>(b));
          }
          std::vector<std::int32_t> lane_first;
          for (int l = 0; l < n_lanes; ++l) lane_first.push_back(static_cast<std::int32_t>(5 + l * (n_bins + 1)));
          const std::int64_t n_cells = 5 + n_lanes * (n_bins + 1);
          // Sparse: some cells of every row.
          std::vector<std::uint16_t> codes16;
          std::vector<std::uint32_t> codes32;
          std::vector<std::int64_t> row_begin{0};
          for (std::int64_t row = 0; row < n_all; ++row) {
            for (std::int64_t e = random.below(5); e > 0; --e) {
              const std::int64_t cell = random.below(n_cells);
              codes16.push_back(static_cast<std::uint16_t>(cell));
              codes32.push_back(static_cast<std::uint32_t>(cell));
            }
            row_begin.push_back(static_cast<std::int64_t>(codes16.size()));
          }
          for (const bool gather : {false, true}) {
            for (const bool sparse : {false, true}) {
              const std::int64_t n = 1 + random.below(n_all);
              const std::vector<RowIdx> rows = gathered(n, n_all, random);
              VectorBuildArgs args;
              args.two_bytes = two_bytes;
              if (sparse) {
                args.codes = two_bytes ? static_cast<const void*>(codes16.data()) : codes32.data();
                args.row_begin = row_begin.data();
              } else {
                args.bins = two_bytes ? static_cast<const void*>(bins16.data()) : bins8.data();
                args.row_stride = stride;
                args.n_lanes = n_lanes;
                args.lane_first = lane_first.data();
              }
              args.rows = gather ? rows.data() : nullptr;
              args.first_row = gather ? 0 : n_all - n;
              args.n_rows = n;
              args.values = values.data();
              args.width = width;
              std::vector<std::int32_t> expected(at(n_cells * width), 11);  // not cleared
              for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t row = gather ? rows[at(i)] : args.first_row + i;
                std::vector<std::int64_t> cells;
                if (sparse) {
                  cells.assign(codes32.begin() + row_begin[at(row)], codes32.begin() + row_begin[at(row + 1)]);
                } else {
                  for (int l = 0; l < n_lanes; ++l) cells.push_back(lane_first[at(l)] + bins16[at(row * stride + l)]);
                }
                for (const std::int64_t cell : cells) {
                  for (int j = 0; j < width; ++j) expected[at(cell * width + j)] += values[at(row * width + j)];
                }
              }
              at_every_level([&] {
                std::vector<std::int32_t> cells(at(n_cells * width), 11);
                args.cells = cells.data();
                kernels().build_vector(args);
                CAPTURE(n_outputs);
                CAPTURE(sparse);
                CHECK(first_difference(cells, expected) == -1);
              });
            }
          }
        }
      }
    }
  }

  TEST_CASE("the best threshold, by plain loops") {
    Random random(303);
    int n_found = 0;
    for (int trial = 0; trial < 1500; ++trial) {
      const int n_outputs = 1 + trial % 40;
      const bool constant = random.chance(0.5);
      const int chunks = chunks_of(n_outputs);
      const int width = chunks * (constant ? 8 : 16);
      const auto n_bins = static_cast<int>(1 + random.below(30));
      std::vector<std::int32_t> cells(at((n_bins + 1) * width));
      std::vector<std::int32_t> total(at(width));
      const bool has_missing = random.chance(0.5);
      for (int b = 0; b <= n_bins; ++b) {
        if (random.chance(0.2) || (b == n_bins && !has_missing)) continue;  // empty
        std::int32_t* const cell = cells.data() + b * width;
        const auto count = static_cast<std::int32_t>(1 + random.below(40));
        for (int k = 0; k < n_outputs; ++k) {
          cell[k] = static_cast<std::int32_t>(random.normal() * 1e5 * count);
          if (!constant) cell[chunks * 8 + k] = static_cast<std::int32_t>(random.below(1000) * count);
        }
        cell[n_outputs] = count;
        for (int j = 0; j < width; ++j) total[at(j)] += cell[j];
      }
      std::vector<float> gradient_unit(at(chunks * 8)), hessian_unit(at(chunks * 8));
      for (int k = 0; k < n_outputs; ++k) {
        gradient_unit[at(k)] = std::ldexp(1.0f, -static_cast<int>(random.below(4)) - 15);
        hessian_unit[at(k)] = std::ldexp(1.0f, -static_cast<int>(random.below(4)) - 8);
      }
      std::vector<std::int32_t> scratch(at(width));
      VectorSearchArgs args;
      args.cells = cells.data();
      args.n_value_bins = n_bins;
      args.has_missing = has_missing;
      args.n_outputs = n_outputs;
      args.n_chunks = chunks;
      args.total = total.data();
      args.gradient_unit = gradient_unit.data();
      args.hessian_unit = constant ? nullptr : hessian_unit.data();
      args.count_hessian = 0.75f;
      args.lambda_l1 = random.chance(0.3) ? 20.0f : 0.0f;
      args.lambda_l2 = random.chance(0.5) ? 3.0f : 0.0f;
      args.min_data = static_cast<std::int32_t>(1 + random.below(60));
      args.min_sum_hessian = random.chance(0.5) ? static_cast<float>(random.between(1.0, 60.0)) : 1e-3f;
      args.only_threshold = random.chance(0.3) ? static_cast<int>(random.below(n_bins)) : -1;
      args.scratch = scratch.data();

      // Gain of one split, -1 if it is not admissible.
      const auto gain_of = [&](int threshold, bool missing_left) {
        double gain = 0.0;
        double hessian[2] = {0.0, 0.0};
        std::int64_t count[2] = {0, 0};
        const auto side_of = [&](int b) { return (b == n_bins ? missing_left : b <= threshold) ? 0 : 1; };
        for (int b = 0; b <= n_bins; ++b) count[side_of(b)] += cells[at(b * width + n_outputs)];
        for (int k = 0; k < n_outputs; ++k) {
          double g[2] = {0.0, 0.0}, h[2] = {0.0, 0.0};
          for (int b = 0; b <= n_bins; ++b) {
            g[side_of(b)] += cells[at(b * width + k)] * static_cast<double>(gradient_unit[at(k)]);
            h[side_of(b)] += constant
                                 ? cells[at(b * width + n_outputs)] * 0.75
                                 : cells[at(b * width + chunks * 8 + k)] * static_cast<double>(hessian_unit[at(k)]);
          }
          for (int s = 0; s < 2; ++s) {
            const double shrunk = std::max(std::abs(g[s]) - static_cast<double>(args.lambda_l1), 0.0);
            const double denominator = h[s] + static_cast<double>(args.lambda_l2);
            if (denominator > 0.0) gain += shrunk * shrunk / denominator;
            hessian[s] += h[s] / n_outputs;
          }
        }
        if (std::min(count[0], count[1]) < args.min_data) return -1.0;
        if (std::min(hessian[0], hessian[1]) < static_cast<double>(args.min_sum_hessian)) return -1.0;
        return gain;
      };
      double best = -1.0;
      for (int b = 0; b < n_bins; ++b) {
        if (args.only_threshold >= 0 && b != args.only_threshold) continue;
        for (const bool missing_left : {false, true}) best = std::max(best, gain_of(b, missing_left));
      }
      VectorCandidate first;
      bool have_first = false;
      at_every_level([&] {
        VectorCandidate candidate;
        const bool found = kernels().search_vector(args, candidate);
        CAPTURE(trial);
        REQUIRE(found == (best >= 0.0));
        if (!found) return;
        ++n_found;
        CHECK(static_cast<double>(candidate.gain) == doctest::Approx(best).epsilon(1e-5));
        CHECK(gain_of(candidate.threshold, candidate.missing_left) == doctest::Approx(best).epsilon(1e-5));
        if (have_first) {
          CHECK(std::memcmp(&first.gain, &candidate.gain, sizeof(float)) == 0);
          CHECK(first.threshold == candidate.threshold);
          CHECK(first.missing_left == candidate.missing_left);
        }
        first = candidate;
        have_first = true;
        // What was found before stays where it is better.
        VectorCandidate better{candidate.gain * 2.0f + 1.0f, -5, true};
        CHECK_FALSE(kernels().search_vector(args, better));
        CHECK(better.threshold == -5);
      });
    }
    CHECK(n_found > 500);
  }

  TEST_CASE("counts are exact beyond what a float can hold") {
    // Right of the threshold are 19 rows: one too few.
    const std::int32_t count = (1 << 26) + 1;
    std::vector<std::int32_t> cells(3 * 8), total(8), scratch(8);
    std::vector<float> unit(8);
    unit[0] = 1.0f;
    cells[0] = 1000;
    cells[1] = count;
    cells[8] = -1000;
    cells[8 + 1] = 19;
    total[1] = count + 19;
    VectorSearchArgs args;
    args.cells = cells.data();
    args.n_value_bins = 2;
    args.n_outputs = 1;
    args.n_chunks = 1;
    args.total = total.data();
    args.gradient_unit = unit.data();
    args.min_sum_hessian = 1e-3f;
    args.scratch = scratch.data();
    at_every_level([&] {
      VectorCandidate candidate;
      args.min_data = 20;
      CHECK_FALSE(kernels().search_vector(args, candidate));
      args.min_data = 19;
      CHECK(kernels().search_vector(args, candidate));
    });
  }
}

}  // namespace gossamer::tests
