// The rows of a leaf as histograms take them: a list, rows one after another, or bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <span>

#include "core/types.h"
#include "kernels/kernels.h"

namespace gossamer {

// rows[0, n); or the rows whose bits are set, of which the first is the bit of first_row, a multiple of 64; or
// first_row, first_row + 1, ...
struct RowList {
  const RowIdx* rows = nullptr;
  std::int64_t first_row = 0;
  std::int64_t n = 0;
  const std::uint64_t* bits = nullptr;

  // Rows [begin, end) of these, which are not bits.
  RowList part(std::int64_t begin, std::int64_t end) const {
    return {rows != nullptr ? rows + begin : nullptr, first_row + begin, end - begin, nullptr};
  }
};

// Reads rows piece by piece. Bits become lists in `memory`, which should be small enough to stay in cache.
class RowReader {
 public:
  static constexpr std::int64_t kSlack = 64;  // rows: whole words of bits are listed

  // `memory`: at least two words of rows, if the rows are bits.
  RowReader(const RowList& rows, std::span<RowIdx> memory) : memory_(memory) {
    (rows.bits != nullptr ? unlisted_ : next_) = rows;
  }
  std::int64_t n_left() const { return next_.n + unlisted_.n; }
  // Rows that follow the last piece where it is.
  std::int64_t n_after() const { return next_.n; }
  // At least one row, if any are left, and at most `most`.
  RowList next(std::int64_t most) {
    if (next_.n == 0 && unlisted_.n > 0) list_bits();
    const RowList piece = next_.part(0, std::min(most, next_.n));
    next_ = next_.part(piece.n, next_.n);
    return piece;
  }

 private:
  void list_bits() {
    const std::int64_t most = std::ssize(memory_) - kSlack;
    std::int64_t n = 0;
    std::int64_t n_words = 0;
    for (; n < unlisted_.n; ++n_words) {
      const int more = std::popcount(unlisted_.bits[n_words]);
      if (n + more > most) break;
      n += more;
    }
    RowIdx* const list = memory_.data();
    kernels().list_bits(unlisted_.bits, n_words, static_cast<RowIdx>(unlisted_.first_row), list, list + n + kSlack);
    unlisted_ = {nullptr, unlisted_.first_row + 64 * n_words, unlisted_.n - n, unlisted_.bits + n_words};
    next_ = {list, 0, n, nullptr};
  }

  RowList unlisted_;  // bits
  RowList next_;      // the rows before these, of which some have been read
  std::span<RowIdx> memory_;
};

}  // namespace gossamer
