// Bagging: chooses the rows that a round trains on. Also the lists of rows that every kind of sampling makes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/types.h"
#include "kernels/sampling.h"

namespace gossamer {

// Row i is kept when its random number, keyed by (key, i), falls below the fraction of its class
// (label > 0 or not; without labels `fraction_negative` holds for all). At least one row is kept.
// `rows` has space for n_rows; the rows in the bag are written to it, in increasing order. Returns how many there are.
std::int64_t sample_rows(Team& team, std::int64_t n_rows, double fraction_negative, double fraction_positive,
                         const float* label, std::uint64_t key, RowIdx* rows);

// The rows outside a sample, which has increasing rows.
Buffer<RowIdx> rows_outside(Team& team, const RowIdx* rows, std::int64_t n_inside, std::int64_t n_rows);

// The positions in a list of rows where the rows of each block begin.
class BlockPlaces {
 public:
  // n_listed: rows in the list, by block.
  explicit BlockPlaces(const std::vector<std::int64_t>& n_listed);

  std::int64_t n_listed() const { return n_before_.back(); }
  std::int64_t begin(std::int64_t block) const { return n_before_[static_cast<std::size_t>(block)]; }

 private:
  std::vector<std::int64_t> n_before_;
};

// Words of 64 rows.
constexpr std::int64_t kBlockWords = kSampleBlock / 64;
inline std::int64_t count_words(std::int64_t n_rows) { return (n_rows + 63) / 64; }

// Writes the rows of one block to a list: bit i of `listed` is for the block's row i. Bits past the last row are zeros.
void write_rows(const std::uint64_t* listed, const BlockPlaces& places, std::int64_t block, std::int64_t n_rows,
                RowIdx* rows);

// If the sample is empty, one row gets into it; `n_inside`: by block.
void keep_one(std::int64_t n_rows, std::uint64_t key, std::vector<std::int64_t>& n_inside, std::uint64_t* inside);

}  // namespace gossamer
