#include "core/cell_exchange.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "core/index.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

// Ranges of cells in Histogram::words, and in Histogram::light.
struct ShareCells {
  std::vector<CellRange> words;
  std::vector<CellRange> light;
};

ShareCells cells_of(const HistogramShape& shape, const CellShare& share) {
  ShareCells cells;
  const auto add = [](std::vector<CellRange>& ranges, CellRange range) {
    if (range.n == 0) return;
    if (!ranges.empty() && ranges.back().first + ranges.back().n == range.first) {
      ranges.back().n += range.n;
    } else {
      ranges.push_back(range);
    }
  };
  for (const CellShare::Lanes& lanes : share.lanes) {
    const Group& group = shape.matrix->groups()[at(lanes.group)];
    const std::int64_t first = group.lane_begin(lanes.first);
    add(cells.words, {group.first_cell + first, group.lane_begin(lanes.first + lanes.n) - first});
  }
  for (const std::int32_t b : share.blocks) {
    const SparseRows::Block& block = shape.sparse->blocks[at(b)];
    if (shape.is_heavy(block)) {
      add(cells.words, shape.sparse_range(block));
    } else {
      add(cells.light, {block.first_cell - shape.n_heavy, block.n_cells});
    }
  }
  return cells;
}

// ---- filled cells ----
//
// A bit for each cell; then, for every eight cells, the numbers of those that are not empty. All eight are often
// filled, and copied at once.

constexpr std::int64_t kTogether = 8;

// Appends each of eight values of kBytes bytes whose bit is set; returns the new end.
template <std::size_t kBytes>
std::uint8_t* put_filled(const void* values, unsigned filled, std::uint8_t* end) {
  const auto* const from = static_cast<const std::uint8_t*>(values);
  if (filled == 0xff) {
    std::memcpy(end, from, 8 * kBytes);
    return end + 8 * kBytes;
  }
  for (; filled != 0; filled &= filled - 1) {
    std::memcpy(end, from + static_cast<std::size_t>(std::countr_zero(filled)) * kBytes, kBytes);
    end += kBytes;
  }
  return end;
}

// Adds to each of eight values whose bit is set.
template <class T>
void add_filled(ByteReader& in, unsigned filled, T* values) {
  const std::uint8_t* next = in.get_all(static_cast<std::size_t>(std::popcount(filled)) * sizeof(T)).data();
  if (filled == 0xff) {
    T numbers[8];
    std::memcpy(numbers, next, sizeof(numbers));
    for (int k = 0; k < 8; ++k) values[k] += numbers[k];
    return;
  }
  for (; filled != 0; filled &= filled - 1) {
    T number;
    std::memcpy(&number, next, sizeof(T));
    values[std::countr_zero(filled)] += number;
    next += sizeof(T);
  }
}

// put(first, filled, end) appends the numbers of eight cells, at most `cell_bytes` each, and returns the new end.
template <class IsFilled, class Put>
void write_filled(std::int64_t n, std::int64_t cell_bytes, ByteWriter& out, const IsFilled& is_filled, const Put& put) {
  const std::int64_t n_bytes = (n + kTogether - 1) / kTogether;
  std::uint8_t* const bits = out.extend(at(n_bytes + n * cell_bytes));
  std::uint8_t* end = bits + n_bytes;
  for (std::int64_t byte = 0; byte < n_bytes; ++byte) {
    const std::int64_t first = byte * kTogether;
    const std::int64_t n_here = std::min(kTogether, n - first);
    unsigned filled = 0;
    for (std::int64_t k = 0; k < n_here; ++k) filled |= static_cast<unsigned>(is_filled(first + k)) << k;
    bits[byte] = static_cast<std::uint8_t>(filled);
    end = put(first, filled, end);
  }
  out.cut(end);
}

// add(first, filled) reads the numbers of eight cells.
template <class Add>
void read_filled(std::int64_t n, ByteReader& in, const Add& add) {
  const std::span<const std::uint8_t> bits = in.get_all(at((n + kTogether - 1) / kTogether));
  for (std::size_t byte = 0; byte < bits.size(); ++byte) {
    const std::int64_t first = static_cast<std::int64_t>(byte) * kTogether;
    const unsigned possible = n - first >= kTogether ? 0xffU : (1U << (n - first)) - 1;
    if (const unsigned filled = bits[byte] & possible; filled != 0) add(first, filled);
  }
}

struct TwoWords {
  std::uint64_t first, second;
  TwoWords& operator+=(const TwoWords& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

void write_words(const std::uint64_t* cells, std::int64_t n, std::int64_t width, ByteWriter& out) {
  if (width == 1) {
    write_filled(
        n, sizeof(std::uint64_t), out, [&](std::int64_t i) { return cells[i] != 0; },
        [&](std::int64_t first, unsigned filled, std::uint8_t* end) {
          return put_filled<sizeof(std::uint64_t)>(cells + first, filled, end);
        });
    return;
  }
  write_filled(
      n, sizeof(TwoWords), out, [&](std::int64_t i) { return (cells[2 * i] | cells[2 * i + 1]) != 0; },
      [&](std::int64_t first, unsigned filled, std::uint8_t* end) {
        return put_filled<sizeof(TwoWords)>(cells + 2 * first, filled, end);
      });
}

void add_words(std::int64_t n, std::int64_t width, ByteReader& in, std::uint64_t* cells) {
  if (width == 1) {
    read_filled(n, in, [&](std::int64_t first, unsigned filled) { add_filled(in, filled, cells + first); });
    return;
  }
  read_filled(n, in, [&](std::int64_t first, unsigned filled) {
    add_filled(in, filled, reinterpret_cast<TwoWords*>(cells + 2 * first));
  });
}

void write_sums(const LargeCells& sums, std::int64_t n, const CellLayout& layout, ByteWriter& out) {
  constexpr std::int64_t kCellBytes = 2 * sizeof(std::int64_t) + sizeof(std::uint32_t);
  write_filled(
      n, kCellBytes, out, [&](std::int64_t i) { return sums.count[i] != 0; },
      [&](std::int64_t first, unsigned filled, std::uint8_t* end) {
        end = put_filled<sizeof(std::int64_t)>(sums.gradient + first, filled, end);
        if (!layout.constant_hessian()) end = put_filled<sizeof(std::int64_t)>(sums.hessian + first, filled, end);
        return put_filled<sizeof(std::uint32_t)>(sums.count + first, filled, end);
      });
}

void add_sums(std::int64_t n, const CellLayout& layout, ByteReader& in, const LargeCells& sums) {
  read_filled(n, in, [&](std::int64_t first, unsigned filled) {
    add_filled(in, filled, sums.gradient + first);
    if (!layout.constant_hessian()) add_filled(in, filled, sums.hessian + first);
    add_filled(in, filled, sums.count + first);
  });
}

// Whether a shard's cells of a leaf fit into packed ones: no field overflows with so few rows.
bool fits_packed(const HistogramShape& shape, const BuiltHistogram& h) {
  return !h.own->large || h.rows.end - h.rows.begin <= shape.layout.max_rows;
}

Bytes write_cells(const HistogramShape& shape, const ShareCells& cells, const BuiltHistogram& h) {
  ByteWriter out;
  const std::int64_t width = shape.words_per_cell();
  const bool packed = fits_packed(shape, h);
  out.put(static_cast<std::uint8_t>(packed));
  Buffer<std::uint64_t> scratch;
  for (const CellRange& range : cells.words) {
    if (!h.own->large) {
      write_words(static_cast<const std::uint64_t*>(h.own->cells(range.first, shape.layout)), range.n, width, out);
      continue;
    }
    const LargeCells sums = h.own->sums(shape.n_cells).offset(range.first);
    if (!packed) {
      write_sums(sums, range.n, shape.layout, out);
      continue;
    }
    scratch.grow_to(range.n * width);
    kernels().pack(sums, range.n, shape.layout, scratch.data());
    write_words(scratch.data(), range.n, width, out);
  }
  for (const CellRange& range : cells.light)
    write_words(h.own->light.data() + range.first * width, range.n, width, out);
  return out.take();
}

void add_cells(const HistogramShape& shape, const ShareCells& cells, ByteReader in, BuiltHistogram& h) {
  const std::int64_t width = shape.words_per_cell();
  const bool packed = in.get<std::uint8_t>() != 0;
  Buffer<std::uint64_t> scratch;
  for (const CellRange& range : cells.words) {
    if (!h.own->large) {
      add_words(range.n, width, in, static_cast<std::uint64_t*>(h.own->cells(range.first, shape.layout)));
      continue;
    }
    const LargeCells sums = h.own->sums(shape.n_cells).offset(range.first);
    if (!packed) {
      add_sums(range.n, shape.layout, in, sums);
      continue;
    }
    scratch.grow_to(range.n * width);
    std::fill_n(scratch.data(), range.n * width, std::uint64_t{0});
    add_words(range.n, width, in, scratch.data());
    kernels().unpack_add(scratch.data(), range.n, shape.layout, sums);
  }
  for (const CellRange& range : cells.light) add_words(range.n, width, in, h.own->light.data() + range.first * width);
}

}  // namespace

bool CellShare::has_lane(std::int32_t group, std::int32_t lane) const {
  return std::any_of(lanes.begin(), lanes.end(), [&](const Lanes& own) {
    return own.group == group && own.first <= lane && lane < own.first + own.n;
  });
}

std::vector<CellShare> share_cells(const HistogramShape& shape, std::int32_t n_shards, bool whole_groups) {
  const auto& groups = shape.matrix->groups();
  std::int64_t total = shape.has_sparse() ? shape.sparse->n_cells : 0;
  for (std::size_t g = 0; g < groups.size(); ++g) total += shape.group_used[g] ? groups[g].n_cells : 0;
  const auto n_used = std::count(shape.group_used.begin(), shape.group_used.end(), char{1});
  std::vector<CellShare> shares(at(n_shards));
  std::int64_t before = 0;
  // The owner of the middle cell owns all.
  const auto next_owner = [&](std::int64_t n_cells) -> CellShare& {
    const std::int64_t owner = (2 * before + n_cells) * n_shards / std::max<std::int64_t>(2 * total, 1);
    before += n_cells;
    return shares[at(std::min<std::int64_t>(owner, n_shards - 1))];
  };
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!shape.group_used[g]) continue;
    const auto group = static_cast<std::int32_t>(g);
    if (whole_groups && n_used >= n_shards) {
      next_owner(groups[g].n_cells).lanes.push_back({group, 0, groups[g].n_lanes});
      continue;
    }
    for (std::int32_t lane = 0; lane < groups[g].n_lanes; ++lane) {
      auto& lanes = next_owner(groups[g].lane_begin(lane + 1) - groups[g].lane_begin(lane)).lanes;
      if (!lanes.empty() && lanes.back().group == group) {
        lanes.back().n += 1;
      } else {
        lanes.push_back({group, lane, 1});
      }
    }
  }
  const auto n_blocks = shape.has_sparse() ? static_cast<std::int32_t>(shape.sparse->blocks.size()) : 0;
  for (std::int32_t b = 0; b < n_blocks; ++b) {
    next_owner(shape.sparse->blocks[at(b)].n_cells).blocks.push_back(b);
  }
  return shares;
}

void exchange_cells(Team& team, const HistogramShape& shape, std::span<const CellShare> shares,
                    std::span<BuiltHistogram> built, Exchange& exchange) {
  if (built.empty()) return;
  const std::size_t n = built.size();
  const auto n_shards = at(exchange.n_shards());
  std::vector<ShareCells> all_cells;
  for (const CellShare& share : shares) all_cells.push_back(cells_of(shape, share));
  const auto cells = [&](std::size_t i, std::size_t shard) -> const ShareCells& {
    return all_cells[shares.size() == n_shards ? shard : i * n_shards + shard];
  };
  const auto own = at(exchange.shard());
  std::vector<Bytes> contents(n_shards * n);
  team.for_each(static_cast<std::int64_t>(contents.size()), [&](std::int64_t task, int) {
    const std::size_t to = at(task) / n;
    const std::size_t i = at(task) % n;
    if (to != own) contents[at(task)] = write_cells(shape, cells(i, to), built[i]);
  });
  // A message to a shard: the lengths of its histograms, then the histograms.
  std::vector<Bytes> parts(n_shards);
  for (std::size_t to = 0; to < n_shards; ++to) {
    if (to == own) continue;
    ByteWriter out;
    out.reserve(n * sizeof(std::uint64_t) +
                std::accumulate(contents.begin() + to * n, contents.begin() + (to + 1) * n, std::size_t{0},
                                [](std::size_t sum, const Bytes& content) { return sum + content.size(); }));
    for (std::size_t i = 0; i < n; ++i) out.put(static_cast<std::uint64_t>(contents[to * n + i].size()));
    for (std::size_t i = 0; i < n; ++i) out.put_all(contents[to * n + i]);
    parts[to] = out.take();
  }
  contents.clear();
  const Received received = exchange.swap(std::move(parts));
  std::vector<std::vector<std::span<const std::uint8_t>>> pieces(n);
  for (std::size_t from = 0; from < received.parts.size(); ++from) {
    if (from == own) continue;
    ByteReader in(received.parts[from]);
    std::vector<std::uint64_t> lengths;
    for (std::size_t i = 0; i < n; ++i) lengths.push_back(in.get<std::uint64_t>());
    for (std::size_t i = 0; i < n; ++i) pieces[i].push_back(in.get_all(lengths[i]));
  }
  team.for_each(static_cast<std::int64_t>(n), [&](std::int64_t i, int) {
    for (const auto& piece : pieces[at(i)]) add_cells(shape, cells(at(i), own), ByteReader(piece), built[at(i)]);
  });
}

std::span<const std::uint8_t> ByteReader::get_all(std::size_t n) {
  if (n > rest_.size()) throw std::runtime_error("a message of another shard is too short");
  const std::span<const std::uint8_t> found = rest_.first(n);
  rest_ = rest_.subspan(n);
  return found;
}

}  // namespace gossamer
