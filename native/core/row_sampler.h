// Bagging: chooses the rows that a round trains on. Also the lists of rows that every kind of sampling makes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parallel.h"
#include "core/types.h"

namespace gossamer {

// Row i is kept when its random number, keyed by (key, i), falls below the fraction of its class
// (label > 0 or not; without labels `fraction_negative` holds for all). At least one row is kept.
// `rows` takes n_rows entries: first the rows in the bag, then the others, both increasing.
// Returns how many are in the bag.
std::int64_t sample_rows(Team& team, std::int64_t n_rows, double fraction_negative, double fraction_positive,
                         const float* label, std::uint64_t key, RowIdx* rows);

// Where a row goes.
constexpr std::uint8_t kSure = 0;
constexpr std::uint8_t kDrawn = 1;  // drawn at random: its gradient is weighted
constexpr std::uint8_t kOutside = 2;

// The positions in the list of rows where the rows of each block begin.
class BlockPlaces {
 public:
  // n_inside: rows inside the sample, by block.
  explicit BlockPlaces(const std::vector<std::int64_t>& n_inside);

  std::int64_t n_inside() const { return n_before_.back(); }
  std::int64_t inside(std::int64_t block) const { return n_before_[static_cast<std::size_t>(block)]; }
  std::int64_t outside(std::int64_t block) const;

 private:
  std::vector<std::int64_t> n_before_;  // rows inside the sample
};

// Writes the rows of one block to both parts of the list, a chunk at a time.
class RowWriter {
 public:
  RowWriter(const BlockPlaces& places, std::int64_t block, RowIdx* rows)
      : inside_(rows + places.inside(block)), outside_(rows + places.outside(block)) {}

  // Rows first ... first + n - 1, at most kSampleChunk, with their sides.
  void write(const std::uint8_t* sides, std::int64_t first, std::int64_t n);
  // The same; `drawn` takes the rows of kDrawn, as indices in the chunk, and must hold n entries. Returns how many
  // there are.
  std::int64_t write(const std::uint8_t* sides, std::int64_t first, std::int64_t n, RowIdx* drawn);

 private:
  RowIdx* inside_;
  RowIdx* outside_;
};

}  // namespace gossamer
