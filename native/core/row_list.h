// The rows of a leaf as histograms take them: a list, rows one after another, or bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/memory.h"
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

// Reads rows piece by piece. Bits become lists that are short enough to stay in cache.
class RowReader {
 public:
  static constexpr std::int64_t kListRows = 16384;

  // `list`: memory for rows that are bits.
  RowReader(const RowList& rows, Buffer<RowIdx>& list) : rows_(rows) {
    if (rows.bits != nullptr) list.grow_to(kListRows + 64);
    list_ = list.data();
  }
  std::int64_t n_left() const { return rows_.n; }
  // At least one row, if any are left, and at most `most`, which is at least 64.
  RowList next(std::int64_t most) {
    const bool are_bits = rows_.bits != nullptr;
    const RowList piece = are_bits ? next_bits(std::min(most, kListRows)) : rows_.part(0, std::min(most, rows_.n));
    if (are_bits) {
      rows_.n -= piece.n;
    } else {
      rows_ = rows_.part(piece.n, rows_.n);
    }
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
    kernels().list_bits(rows_.bits, n_words, static_cast<RowIdx>(rows_.first_row), list_, list_ + n + 64);
    rows_.bits += n_words;
    rows_.first_row += 64 * n_words;
    return {list_, 0, n, nullptr};
  }

  RowList rows_;  // that are left
  RowIdx* list_;
};

}  // namespace gossamer
