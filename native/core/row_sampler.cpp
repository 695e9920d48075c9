#include "core/row_sampler.h"

#include <algorithm>
#include <numeric>

#include "core/index.h"
#include "core/largest.h"
#include "core/memory.h"
#include "core/random.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

// Divides rows 0 ... n - 1 of a chunk. Returns how many are inside.
std::int64_t divide(const std::uint8_t* sides, std::int64_t n, RowIdx* inside, RowIdx* outside) {
  PartitionArgs args;
  args.column = sides;
  args.threshold = kDrawn;
  args.n_rows = n;
  args.left = inside;
  args.right = outside;
  return kernels().partition_u8(args);
}

void copy_rows(const RowIdx* places, std::int64_t n, std::int64_t first, RowIdx*& rows) {
  for (std::int64_t i = 0; i < n; ++i) rows[i] = static_cast<RowIdx>(first) + places[i];
  rows += n;
}

}  // namespace

// ---- the lists ----

BlockPlaces::BlockPlaces(const std::vector<std::int64_t>& n_inside) : n_before_(n_inside.size() + 1) {
  std::partial_sum(n_inside.begin(), n_inside.end(), n_before_.begin() + 1);
}

std::int64_t BlockPlaces::outside(std::int64_t block) const {
  return n_inside() + block * kSampleBlock - inside(block);
}

void RowWriter::write(const std::uint8_t* sides, std::int64_t first, std::int64_t n) {
  RowIdx inside[kSampleChunk];
  RowIdx outside[kSampleChunk];
  const std::int64_t n_inside = divide(sides, n, inside, outside);
  copy_rows(inside, n_inside, first, inside_);
  copy_rows(outside, n - n_inside, first, outside_);
}

std::int64_t RowWriter::write(const std::uint8_t* sides, std::int64_t first, std::int64_t n, RowIdx* drawn) {
  RowIdx inside[kSampleChunk];
  const std::int64_t n_inside = divide(sides, n, inside, drawn);
  copy_rows(inside, n_inside, first, inside_);
  copy_rows(drawn, n - n_inside, first, outside_);
  PartitionArgs args;
  args.column = sides;
  args.threshold = kSure;
  args.rows = inside;
  args.n_rows = n_inside;
  args.left = inside;
  args.right = drawn;
  return n_inside - kernels().partition_u8(args);
}

// ---- bagging ----

std::int64_t sample_rows(Team& team, std::int64_t n_rows, double fraction_negative, double fraction_positive,
                         const float* label, std::uint64_t key, RowIdx* rows) {
  if (n_rows == 0) return 0;
  Buffer<std::uint8_t> sides(n_rows);
  std::vector<std::int64_t> n_inside(at(count_sample_blocks(n_rows)));
  for_blocks(team, n_rows, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    const auto decide = [=, out = sides.data()](const auto& fraction) {
      std::int64_t n_in = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const bool is_in = random_unit(key, static_cast<std::uint64_t>(i)) < fraction(i);
        out[i] = static_cast<std::uint8_t>(kOutside * !is_in);  // no branch: it would be mispredicted
        n_in += is_in;
      }
      return n_in;
    };
    if (label == nullptr) {
      n_inside[at(b)] = decide([=](std::int64_t) { return fraction_negative; });
    } else {
      n_inside[at(b)] = decide([=](std::int64_t i) { return label[i] > 0.0f ? fraction_positive : fraction_negative; });
    }
  });
  if (std::all_of(n_inside.begin(), n_inside.end(), [](std::int64_t n) { return n == 0; })) {
    const std::uint64_t row = random_bits(key, ~std::uint64_t{0}) % static_cast<std::uint64_t>(n_rows);
    sides[static_cast<std::int64_t>(row)] = kSure;
    n_inside[row / kSampleBlock] = 1;
  }
  const BlockPlaces places(n_inside);
  for_blocks(team, n_rows, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    RowWriter writer(places, b, rows);
    for (; begin < end; begin += kSampleChunk) {
      writer.write(sides.data() + begin, begin, std::min(kSampleChunk, end - begin));
    }
  });
  return places.n_inside();
}

}  // namespace gossamer
