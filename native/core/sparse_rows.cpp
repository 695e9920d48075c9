#include "core/sparse_rows.h"

#include <algorithm>
#include <numeric>

#include "core/index.h"

namespace gossamer {
namespace {

constexpr std::int64_t kBlockCells = 512;
constexpr std::int64_t kTileRows = 1 << 15;  // the write positions of a tile's rows stay in the second-level cache

struct Candidate {
  std::int32_t feature;
  int size_class;
  bool rising;
  std::int64_t count;
};

std::vector<Candidate> choose_features(const BinMatrix& matrix, std::int64_t min_count) {
  std::vector<Candidate> all;
  for (const std::int32_t f : matrix.storage().loose) {
    const std::int64_t count = matrix.entry_count(f);
    if (count < std::max<std::int64_t>(min_count, 1)) continue;
    all.push_back({f, SparseRows::size_class_of(count), matrix.features()[at(f)].rises_from_zero(), count});
  }
  // The fullest features first: features that are worth searching in small leaves are contiguous.
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    if (a.size_class != b.size_class) return a.size_class < b.size_class;
    if (a.rising != b.rising) return a.rising;
    return a.count != b.count ? a.count > b.count : a.feature < b.feature;
  });
  return all;
}

// Calls body(place, entry) for the entries of rows [begin, end), tile by tile and, in a tile, by place;
// tile_begin(first, last) before each tile.
template <class Tile, class Body>
void for_entries(const SparseRows& rows, const BinMatrix& matrix, std::int64_t begin, std::int64_t end,
                 const Tile& start_tile, const Body& body) {
  const SparseColumns& columns = matrix.sparse();
  std::vector<std::int64_t> next(rows.features.size());
  std::vector<std::int64_t> last(rows.features.size());
  for (std::size_t p = 0; p < next.size(); ++p) {
    const std::int32_t c = matrix.features()[at(rows.features[p])].entries;
    if (c < 0) continue;  // its entries are in other shards
    const auto entries = columns.rows_of(c);
    const auto first = std::lower_bound(entries.begin(), entries.end(), static_cast<RowIdx>(begin));
    next[p] = columns.begin[at(c)] + (first - entries.begin());
    last[p] = columns.begin[at(c) + 1];
  }
  for (std::int64_t tile = begin; tile < end; tile += kTileRows) {
    const std::int64_t tile_end = std::min(tile + kTileRows, end);
    start_tile(tile, tile_end);
    for (std::size_t p = 0; p < next.size(); ++p) {
      std::int64_t e = next[p];
      for (; e < last[p] && static_cast<std::int64_t>(columns.rows[e]) < tile_end; ++e) {
        body(static_cast<std::int64_t>(p), e);
      }
      next[p] = e;
    }
  }
}

void number_cells(SparseRows& rows, const BinMatrix& matrix, const std::vector<Candidate>& chosen) {
  rows.place_of.assign(matrix.features().size(), -1);
  rows.first_cell.push_back(0);
  for (const Candidate& c : chosen) {
    const std::int64_t n_cells = matrix.features()[at(c.feature)].n_other_bins();
    const auto place = static_cast<std::int32_t>(rows.features.size());
    const bool starts_block = rows.blocks.empty() || rows.blocks.back().size_class != c.size_class ||
                              rows.blocks.back().rising != c.rising ||
                              rows.blocks.back().n_cells + n_cells > kBlockCells;
    if (starts_block) rows.blocks.push_back({place, 0, rows.first_cell.back(), 0, c.size_class, c.rising});
    rows.blocks.back().n += 1;
    rows.blocks.back().n_cells += n_cells;
    rows.max_block_cells = std::max(rows.max_block_cells, rows.blocks.back().n_cells);
    rows.place_of[at(c.feature)] = place;
    rows.features.push_back(c.feature);
    rows.feature_of.insert(rows.feature_of.end(), at(n_cells), c.feature);
    rows.first_cell.push_back(rows.first_cell.back() + n_cells);
    for (std::size_t i = at(c.size_class); i < rows.n_above.size(); ++i) rows.n_above[i] = rows.first_cell.back();
  }
  rows.n_cells = rows.first_cell.back();
}

}  // namespace

std::shared_ptr<const SparseRows> make_sparse_rows(Team& team, const BinMatrix& matrix, std::int64_t min_count) {
  auto rows = std::make_shared<SparseRows>();
  rows->min_count = min_count;
  number_cells(*rows, matrix, choose_features(matrix, min_count));
  const std::int64_t n = matrix.n_rows();
  const SparseColumns& columns = matrix.sparse();
  const Stretches stretches(n, team.n_threads());
  rows->row_begin.reset(n + 1);
  std::fill(rows->row_begin.begin(), rows->row_begin.end(), 0);
  const auto stretch = [&](std::int64_t s, const auto& start_tile, const auto& body) {
    for_entries(*rows, matrix, stretches.begin(s), stretches.begin(s + 1), start_tile, body);
  };
  team.for_each(stretches.n, [&](std::int64_t s, int) {
    stretch(
        s, [](std::int64_t, std::int64_t) {},
        [&](std::int64_t, std::int64_t e) { ++rows->row_begin[static_cast<std::int64_t>(columns.rows[e]) + 1]; });
  });
  std::partial_sum(rows->row_begin.begin(), rows->row_begin.end(), rows->row_begin.begin());
  if (rows->wide_codes()) {
    rows->codes32.reset(rows->n_entries());
  } else {
    rows->codes16.reset(rows->n_entries());
  }
  team.for_each(stretches.n, [&](std::int64_t s, int) {
    std::vector<std::int64_t> next;
    std::int64_t first_row = 0;
    stretch(
        s,
        [&](std::int64_t begin, std::int64_t end) {
          first_row = begin;
          next.assign(rows->row_begin.data() + begin, rows->row_begin.data() + end);
        },
        [&](std::int64_t place, std::int64_t e) {
          const Feature& feature = matrix.features()[at(rows->features[at(place)])];
          const std::int64_t code = rows->first_cell[at(place)] + feature.other_of(columns.bins[e]);
          const std::int64_t to = next[at(static_cast<std::int64_t>(columns.rows[e]) - first_row)]++;
          if (rows->wide_codes()) {
            rows->codes32[to] = static_cast<std::uint32_t>(code);
          } else {
            rows->codes16[to] = static_cast<std::uint16_t>(code);
          }
        });
  });
  return rows;
}

}  // namespace gossamer
