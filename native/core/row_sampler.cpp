#include "core/row_sampler.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/index.h"
#include "core/largest.h"
#include "core/memory.h"
#include "core/random.h"
#include "kernels/kernels.h"

namespace gossamer {
// ---- the lists ----

BlockPlaces::BlockPlaces(const std::vector<std::int64_t>& n_inside) : n_before_(n_inside.size() + 1) {
  std::partial_sum(n_inside.begin(), n_inside.end(), n_before_.begin() + 1);
}

std::int64_t BlockPlaces::outside(std::int64_t block) const {
  return n_inside() + block * kSampleBlock - inside(block);
}

void write_rows(const std::uint64_t* inside, const BlockPlaces& places, std::int64_t block, std::int64_t n_rows,
                RowIdx* rows) {
  const std::int64_t first = block * kSampleBlock;
  const std::int64_t n = std::min(kSampleBlock, n_rows - first);
  const std::int64_t n_words = count_words(n);
  std::uint64_t outside[kBlockWords];
  for (std::int64_t w = 0; w < n_words; ++w) outside[w] = ~inside[w];
  if (n % 64 != 0) outside[n_words - 1] &= (std::uint64_t{1} << (n % 64)) - 1;
  const std::int64_t n_inside = places.inside(block + 1) - places.inside(block);
  RowIdx* const to_inside = rows + places.inside(block);
  RowIdx* const to_outside = rows + places.outside(block);
  kernels().list_bits(inside, n_words, static_cast<RowIdx>(first), to_inside, to_inside + n_inside);
  kernels().list_bits(outside, n_words, static_cast<RowIdx>(first), to_outside, to_outside + n - n_inside);
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
  return places.n_inside();
}

}  // namespace gossamer
