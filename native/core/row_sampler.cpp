#include "core/row_sampler.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/index.h"
#include "core/largest.h"
#include "core/random.h"
#include "kernels/kernels.h"

namespace gossamer {
// ---- the lists ----

BlockPlaces::BlockPlaces(const std::vector<std::int64_t>& n_listed) : n_before_(n_listed.size() + 1) {
  std::partial_sum(n_listed.begin(), n_listed.end(), n_before_.begin() + 1);
}

void write_rows(const std::uint64_t* listed, const BlockPlaces& places, std::int64_t block, std::int64_t n_rows,
                RowIdx* rows) {
  const std::int64_t first = block * kSampleBlock;
  const std::int64_t n_words = count_words(std::min(kSampleBlock, n_rows - first));
  kernels().list_bits(listed, n_words, static_cast<RowIdx>(first), rows + places.begin(block),
                      rows + places.begin(block + 1));
}

Buffer<RowIdx> rows_outside(Team& team, const RowIdx* rows, std::int64_t n_inside, std::int64_t n_rows) {
  std::vector<std::int64_t> n_outside(at(count_sample_blocks(n_rows)));
  Buffer<std::uint64_t> outside(count_words(n_rows));
  for_blocks(team, n_rows, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    std::uint64_t* const words = outside.data() + begin / 64;
    const std::int64_t n_words = count_words(end - begin);
    std::fill_n(words, n_words, ~std::uint64_t{0});
    if (end % 64 != 0) words[n_words - 1] = (std::uint64_t{1} << (end % 64)) - 1;
    const RowIdx* row = std::lower_bound(rows, rows + n_inside, static_cast<RowIdx>(begin));
    for (; row != rows + n_inside && static_cast<std::int64_t>(*row) < end; ++row) {
      outside[*row / 64] &= ~(std::uint64_t{1} << (*row % 64));
    }
    for (std::int64_t w = 0; w < n_words; ++w) n_outside[at(b)] += std::popcount(words[w]);
  });
  const BlockPlaces places(n_outside);
  Buffer<RowIdx> listed(places.n_listed());
  for_blocks(team, n_rows, kSampleBlock, [&](std::int64_t begin, std::int64_t, std::int64_t b, int) {
    write_rows(outside.data() + begin / 64, places, b, n_rows, listed.data());
  });
  return listed;
}

void keep_one(std::int64_t n_rows, std::uint64_t key, std::vector<std::int64_t>& n_inside, std::uint64_t* inside) {
  if (std::any_of(n_inside.begin(), n_inside.end(), [](std::int64_t n) { return n > 0; })) return;
  const std::uint64_t row = random_bits(key, ~std::uint64_t{0}) % static_cast<std::uint64_t>(n_rows);
  inside[row / 64] |= std::uint64_t{1} << (row % 64);
  n_inside[row / kSampleBlock] = 1;
}

// ---- bagging ----

std::int64_t sample_rows(Team& team, std::int64_t n_rows, double fraction_negative, double fraction_positive,
                         const float* label, std::uint64_t key, RowIdx* rows) {
  if (n_rows == 0) return 0;
  Buffer<std::uint64_t> inside(count_words(n_rows));
  std::vector<std::int64_t> n_inside(at(count_sample_blocks(n_rows)));
  for_blocks(team, n_rows, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    const auto decide = [=, words = inside.data()](const auto& fraction) {
      std::int64_t n_in = 0;
      for (std::int64_t first = begin; first < end; first += 64) {
        std::uint64_t word = 0;
        const std::int64_t last = std::min(first + 64, end);
        for (std::int64_t i = first; i < last; ++i) {
          const bool is_in = random_unit(key, static_cast<std::uint64_t>(i)) < fraction(i);
          word |= static_cast<std::uint64_t>(is_in) << (i - first);
        }
        words[first / 64] = word;
        n_in += std::popcount(word);
      }
      return n_in;
    };
    if (label == nullptr) {
      n_inside[at(b)] = decide([=](std::int64_t) { return fraction_negative; });
    } else {
      n_inside[at(b)] = decide([=](std::int64_t i) { return label[i] > 0.0f ? fraction_positive : fraction_negative; });
    }
  });
  keep_one(n_rows, key, n_inside, inside.data());
  const BlockPlaces places(n_inside);
  for_blocks(team, n_rows, kSampleBlock, [&](std::int64_t begin, std::int64_t, std::int64_t b, int) {
    write_rows(inside.data() + begin / 64, places, b, n_rows, rows);
  });
  return places.n_listed();
}

}  // namespace gossamer
