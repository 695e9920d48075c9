#include "core/cell_exchange.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "kernels/kernels.h"

namespace gossamer {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

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
    if (block.heavy) {
      add(cells.words, shape.sparse_range(block));
    } else {
      add(cells.light, {block.first_cell - shape.sparse->n_heavy, block.n_cells});
    }
  }
  return cells;
}

// A bit for each cell, and the cells for which `is_filled`.
template <class IsFilled, class Put>
void write_filled(std::int64_t n, ByteWriter& out, const IsFilled& is_filled, const Put& put) {
  std::vector<std::uint8_t> bits(at((n + 7) / 8), 0);
  for (std::int64_t i = 0; i < n; ++i) bits[at(i / 8)] |= static_cast<std::uint8_t>(is_filled(i) << i % 8);
  out.put_all(bits);
  for (std::int64_t i = 0; i < n; ++i) {
    if (bits[at(i / 8)] >> i % 8 & 1) put(i);
  }
}

template <class Take>
void read_filled(std::int64_t n, ByteReader& in, const Take& take) {
  const std::span<const std::uint8_t> bits = in.get_all(at((n + 7) / 8));
  for (std::size_t byte = 0; byte < bits.size(); ++byte) {
    for (unsigned rest = bits[byte]; rest != 0; rest &= rest - 1) {
      const std::int64_t i = static_cast<std::int64_t>(8 * byte) + std::countr_zero(rest);
      if (i < n) take(i);
    }
  }
}

void write_words(const std::uint64_t* cells, std::int64_t n, std::int64_t width, ByteWriter& out) {
  write_filled(
      n, out, [&](std::int64_t i) { return width == 1 ? cells[i] != 0 : (cells[2 * i] | cells[2 * i + 1]) != 0; },
      [&](std::int64_t i) {
        for (std::int64_t w = 0; w < width; ++w) out.put(cells[i * width + w]);
      });
}

void add_words(std::int64_t n, std::int64_t width, ByteReader& in, std::uint64_t* cells) {
  read_filled(n, in, [&](std::int64_t i) {
    for (std::int64_t w = 0; w < width; ++w) cells[i * width + w] += in.get<std::uint64_t>();
  });
}

void write_sums(const LargeCells& sums, std::int64_t n, const CellLayout& layout, ByteWriter& out) {
  write_filled(
      n, out, [&](std::int64_t i) { return sums.count[i] != 0; },
      [&](std::int64_t i) {
        out.put(sums.gradient[i]);
        if (!layout.constant_hessian()) out.put(sums.hessian[i]);
        out.put(sums.count[i]);
      });
}

void add_sums(std::int64_t n, const CellLayout& layout, ByteReader& in, const LargeCells& sums) {
  read_filled(n, in, [&](std::int64_t i) {
    sums.gradient[i] += in.get<std::int64_t>();
    if (!layout.constant_hessian()) sums.hessian[i] += in.get<std::int64_t>();
    sums.count[i] += in.get<std::uint32_t>();
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
    for (std::size_t i = 0; i < n; ++i) out.put(static_cast<std::uint64_t>(contents[to * n + i].size()));
    for (std::size_t i = 0; i < n; ++i) out.put_all(contents[to * n + i]);
    parts[to] = out.take();
  }
  contents.clear();
  const std::vector<Bytes> received = exchange.swap(parts);
  std::vector<std::vector<std::span<const std::uint8_t>>> pieces(n);
  for (std::size_t from = 0; from < received.size(); ++from) {
    if (from == own) continue;
    ByteReader in(received[from]);
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
