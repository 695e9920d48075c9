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
  RowReader(const RowList& rows, std::span<RowIdx> memory) : rows_(rows), memory_(memory) {}
  std::int64_t n_left() const { return rows_.n; }
  // At least one row, if any are left, and at most `most`, which is at least 64, or all rows that are left.
  RowList next(std::int64_t most) {
    if (rows_.bits != nullptr) return next_bits(std::min(most, std::ssize(memory_) - kSlack));
    const RowList piece = rows_.part(0, std::min(most, rows_.n));
    rows_ = rows_.part(piece.n, rows_.n);
    return piece;
  }

 private:
  RowList next_bits(std::int64_t most) {
    std::int64_t n = 0;
    std::int64_t n_words = 0;
    for (; n < rows_.n; ++n_words) {
      const int more = std::popcount(rows_.bits[n_words]);
      if (n + more > most) break;
      n += more;
    }
    RowIdx* const list = memory_.data();
    kernels().list_bits(rows_.bits, n_words, static_cast<RowIdx>(rows_.first_row), list, list + n + kSlack);
    rows_ = {nullptr, rows_.first_row + 64 * n_words, rows_.n - n, rows_.bits + n_words};
    return {list, 0, n, nullptr};
  }

  RowList rows_;  // that are left
  std::span<RowIdx> memory_;
};

}  // namespace gossamer
