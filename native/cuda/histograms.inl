// Histograms of a batch of nodes.
//
// A tile is some rows of one node and one group of lanes. Its cells are in shared memory: packed ones in two planes of
// 32 bits, the low words and the high words, since two additions of 32 bits with a carry are three times as fast as one
// of 64. Where most rows may have the same bin, threads of a warp begin at different lanes, so that they do not wait
// for one another. A tile has few enough rows that no field of a cell overflows; it is then added to the sums of the
// node.

constexpr int kBuildThreads = 512;

// The sums of a slot. A node with few enough rows has the hessian and the count of a cell in one word, so that a tile
// adds two numbers to a cell instead of three; with constant hessians there are two in any case.
struct Slot {
  int64_t* gradient;
  int64_t* hessian;
  uint32_t* count;
  bool constant_hessian;
  bool is_joint;

  void add(int64_t cell, const Sums& sums) const {
    add_to(gradient + cell, sums.gradient);
    if (is_joint) {
      add_to(hessian + cell, sums.hessian << 32 | sums.count);
      return;
    }
    if (!constant_hessian) add_to(hessian + cell, sums.hessian);
    atomicAdd(count + cell, static_cast<uint32_t>(sums.count));
  }

  // Past the first cache, which does not know what other processors have written.
  Sums read(int64_t cell) const {
    const auto g = static_cast<int64_t>(__ldcg(reinterpret_cast<const long long*>(gradient + cell)));
    const auto h = static_cast<int64_t>(__ldcg(reinterpret_cast<const long long*>(hessian + cell)));
    if (is_joint) return {g, h >> 32, h & 0xffffffff};
    return {g, h, static_cast<int64_t>(__ldcg(count + cell))};
  }

  Sums read_cached(int64_t cell) const {
    if (is_joint) return {gradient[cell], hessian[cell] >> 32, hessian[cell] & 0xffffffff};
    return {gradient[cell], hessian[cell], static_cast<int64_t>(count[cell])};
  }

  void write(int64_t cell, const Sums& sums) const {
    gradient[cell] = sums.gradient;
    hessian[cell] = is_joint ? sums.hessian << 32 | sums.count : sums.hessian;
    if (!is_joint) count[cell] = static_cast<uint32_t>(sums.count);
  }
};

// The sums of a slot that holds the histogram of a node with so many rows.
inline Slot slot_at(const Args& a, int32_t slot, int64_t n_rows) {
  const CellLayout& layout = a.state->layout;
  int64_t* const words = a.histograms + slot * a.slot_words;
  const bool constant = layout.constant_hessian();
  // Sums of hessians must fit 31 bits.
  const bool is_joint = !constant && !layout.wide && n_rows << layout.row_hessian_bits < int64_t{1} << 31;
  return {words, words + a.n_cells, reinterpret_cast<uint32_t*>(words + 2 * a.n_cells), constant, is_joint};
}

// A row's value as the amount that is added to a cell.
inline uint64_t packed_of(uint32_t row_value, const CellLayout& layout) {
  const auto word = static_cast<int64_t>(static_cast<int32_t>(row_value));
  const int64_t g = word >> layout.row_hessian_bits;
  const int64_t h = word - (g << layout.row_hessian_bits);
  return (static_cast<uint64_t>(g) << (layout.count_bits + layout.hessian_bits)) +
         (static_cast<uint64_t>(h) << layout.count_bits) + 1u;
}

inline Sums unpacked(uint64_t cell, const CellLayout& layout) {
  const uint64_t hessian = cell >> layout.count_bits & ((uint64_t{1} << layout.hessian_bits) - 1);
  return {static_cast<int64_t>(cell) >> (layout.count_bits + layout.hessian_bits), static_cast<int64_t>(hessian),
          static_cast<int64_t>(cell & ((uint64_t{1} << layout.count_bits) - 1))};
}

// Rows of one node.
struct TileOfRows {
  const uint32_t* list;  // nullptr: the rows from `first_row` on
  uint32_t first_row;
  int n;

  uint32_t row(int i) const { return list != nullptr ? list[i] : first_row + static_cast<uint32_t>(i); }
};

// Adds a row to the cells of a lane; the high words of all cells follow the low ones.
inline void add_packed(uint32_t* at, int n_cells, uint32_t low, uint32_t high) {
  const uint32_t before = atomicAdd(at, low);
  atomicAdd(at + n_cells, high + (before + low < before ? 1u : 0u));
}

// The rows of a tile, lane by lane: all threads of a warp are at the same lane.
inline void add_rows_evenly(const Args& a, const TileOfRows& tile, const LaneGroup& group, const CellLayout& layout,
                            uint32_t* low, int n_cells) {
  const int n_words = (group.n_lanes + 3) / 4;
  for (int i = static_cast<int>(threadIdx.x); i < tile.n; i += kBuildThreads) {
    const uint32_t row = tile.row(i);
    const auto* const bins =
        reinterpret_cast<const uint4*>(a.rows8 + static_cast<int64_t>(row) * a.stride8 + group.first_lane);
    const uint64_t value = packed_of(a.row_values[row], layout);
    uint32_t* cells = low;
    for (int k = 0; k < n_words; k += 4) {
      const uint4 loaded = bins[k / 4];
      const uint32_t words[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
#pragma unroll
      for (int lane = 0; lane < 16; ++lane) {
        if (4 * k + lane >= group.n_lanes) break;
        add_packed(cells + (words[lane / 4] >> (lane % 4 * 8) & 255u), n_cells, static_cast<uint32_t>(value),
                   static_cast<uint32_t>(value >> 32));
        cells += group.stride;
      }
    }
  }
}

// The lanes [first, end) of a group, whose cells all fit into shared memory.
template <bool kWide>
inline void build_lanes(const Args& a, const TileOfRows& tile, const LaneGroup& group, int first, int end,
                        const CellLayout& layout, const Slot& out) {
  const int stride = group.stride;
  const int n_lanes = end - first;
  const int n_cells = n_lanes * stride;
  const int stage_words = ((group.n_lanes + 3) / 4) | 1;
  auto* const low = reinterpret_cast<uint32_t*>(shared_memory());
  auto* const wide = reinterpret_cast<unsigned long long*>(shared_memory());
  uint32_t* const high = low + n_cells;
  const int n_words = kWide ? 4 * n_cells : 2 * n_cells;
  uint32_t* const stage = low + ((n_words + 3) & ~3) + static_cast<int>(threadIdx.x) * stage_words;
  const auto* const staged = reinterpret_cast<const uint8_t*>(stage) + first;
  for (int i = static_cast<int>(threadIdx.x); i < n_words; i += kBuildThreads) low[i] = 0;
  __syncthreads();
  const int n_loads = (group.n_lanes + 15) / 16;
  const int start = lane_of_thread() % n_lanes;
  const bool is_even = !kWide && group.is_even != 0;
  if (is_even) add_rows_evenly(a, tile, group, layout, low, n_cells);
  for (int i = static_cast<int>(threadIdx.x); i < tile.n && !is_even; i += kBuildThreads) {
    const uint32_t row = tile.row(i);
    const auto* const bins =
        reinterpret_cast<const uint4*>(a.rows8 + static_cast<int64_t>(row) * a.stride8 + group.first_lane);
    for (int k = 0; k < n_loads; ++k) {
      const uint4 four = bins[k];
      stage[4 * k] = four.x;
      if (4 * k + 1 < stage_words) stage[4 * k + 1] = four.y;
      if (4 * k + 2 < stage_words) stage[4 * k + 2] = four.z;
      if (4 * k + 3 < stage_words) stage[4 * k + 3] = four.w;
    }
    int lane = start;
    int cell = start * stride;
    if constexpr (kWide) {
      const WideCell value = reinterpret_cast<const WideCell*>(a.row_values)[row];
      for (int k = 0; k < n_lanes; ++k) {
        unsigned long long* const at = wide + 2 * (cell + staged[lane]);
        atomicAdd(at, static_cast<unsigned long long>(value.gradient));
        atomicAdd(at + 1, static_cast<unsigned long long>(value.hessian_count));
        ++lane;
        cell += stride;
        if (lane == n_lanes) lane = cell = 0;
      }
    } else {
      const uint64_t value = packed_of(a.row_values[row], layout);
      const auto value_low = static_cast<uint32_t>(value);
      const auto value_high = static_cast<uint32_t>(value >> 32);
#pragma unroll 4
      for (int k = 0; k < n_lanes; ++k) {
        add_packed(low + cell + staged[lane], n_cells, value_low, value_high);
        ++lane;
        cell += stride;
        if (lane == n_lanes) lane = cell = 0;
      }
    }
  }
  __syncthreads();
  // Warps take a lane each.
  for (int lane = warp_of_thread(); lane < n_lanes; lane += kBuildThreads / 32) {
    const DeviceFeature& feature = a.features[a.lane_features[group.first_lane + first + lane]];
    const int n_bins = feature.n_value_bins + feature.has_missing;
    const int64_t first_cell = feature.first_cell;
    for (int b = lane_of_thread(); b < n_bins; b += 32) {
      const int cell = lane * stride + b;
      if constexpr (kWide) {
        const uint64_t hc = wide[2 * cell + 1];
        if (hc == 0) continue;
        out.add(first_cell + b, {static_cast<int64_t>(wide[2 * cell]), static_cast<int64_t>(hc >> layout.count_bits),
                                 static_cast<int64_t>(hc & ((uint64_t{1} << layout.count_bits) - 1))});
      } else {
        const uint64_t cell_value = static_cast<uint64_t>(high[cell]) << 32 | low[cell];
        if (cell_value != 0) out.add(first_cell + b, unpacked(cell_value, layout));
      }
    }
  }
  __syncthreads();
}

template <bool kWide>
inline void build_tile(const Args& a, const Job& job, const LaneGroup& group, int64_t first) {
  const State& s = *a.state;
  const Node& node = a.nodes[job.built];
  const int64_t rest = node.sums.count - first;
  const int64_t place = node.first_row + first;
  const uint32_t* list = node.buffer >= 0 ? a.row_lists[node.buffer] : a.task->is_sampled != 0 ? a.sample : nullptr;
  if (list != nullptr) list += place;
  const TileOfRows tile{list, static_cast<uint32_t>(place),
                        static_cast<int>(rest < s.build_rows ? rest : s.build_rows)};
  const Slot out = slot_at(a, node.slot, node.sums.count);
  if constexpr (kWide) {
    // Wide cells take twice the room: half of the lanes at a time.
    const int half = (group.n_lanes + 1) / 2;
    for (int from = 0; from < group.n_lanes; from += half) {
      const int to = from + half < group.n_lanes ? from + half : group.n_lanes;
      build_lanes<true>(a, tile, group, from, to, s.layout, out);
    }
  } else {
    build_lanes<false>(a, tile, group, 0, group.n_lanes, s.layout, out);
  }
}

template <bool kWide>
inline void build_all(const Args& a) {
  const State& s = *a.state;
  if (s.layout.wide != kWide) return;
  for (int64_t tile = blockIdx.x; tile < s.n_build_tiles * a.n_groups; tile += gridDim.x) {
    const int64_t rows = tile / a.n_groups;
    const int j = last_at_most(s.n_jobs, rows, [&](int i) { return a.jobs[i].build_tile; });
    build_tile<kWide>(a, a.jobs[j], a.groups[tile % a.n_groups], (rows - a.jobs[j].build_tile) * s.build_rows);
  }
}

// Lanes of two bytes have too many cells for shared memory: rows are added to the sums one by one.
inline void build_two_bytes(const Args& a) {
  const State& s = *a.state;
  const CellLayout layout = s.layout;
  for (int64_t tile = blockIdx.x; tile < s.n_build_tiles; tile += gridDim.x) {
    const Job& job = a.jobs[last_at_most(s.n_jobs, tile, [&](int i) { return a.jobs[i].build_tile; })];
    const Node& node = a.nodes[job.built];
    const Slot out = slot_at(a, node.slot, node.sums.count);
    const int64_t first = (tile - job.build_tile) * s.build_rows;
    const int64_t end = first + s.build_rows < node.sums.count ? first + s.build_rows : node.sums.count;
    for (int64_t i = first + static_cast<int64_t>(threadIdx.x); i < end; i += blockDim.x) {
      const uint32_t row = row_of_node(a, node, i);
      Sums value;
      if (layout.wide) {
        const WideCell wide = reinterpret_cast<const WideCell*>(a.row_values)[row];
        value = {static_cast<int64_t>(wide.gradient), static_cast<int64_t>(wide.hessian_count >> layout.count_bits), 1};
      } else {
        value = unpacked(packed_of(a.row_values[row], layout), layout);
      }
      for (int lane = 0; lane < a.n_lanes16; ++lane) {
        const DeviceFeature& feature = a.features[a.lane_features[a.n_lanes8 + lane]];
        const int bin = a.rows16[static_cast<int64_t>(row) * a.stride16 + lane];
        out.add(feature.first_cell + bin, value);
      }
    }
  }
}
