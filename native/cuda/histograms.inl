// Histograms of a batch of nodes.
//
// A tile is some rows of one node and one group of lanes. Its cells are in shared memory: packed ones in two planes of
// 32 bits, the low words and the high words, since two additions of 32 bits with a carry are three times as fast as one
// of 64. Threads of a warp begin at different lanes, so that they do not wait for one another where most rows have the
// same bin. A tile has few enough rows that no field of a cell overflows; it is then added to the sums of the node.

constexpr int kBuildThreads = 512;

// The sums of a slot.
struct Slot {
  int64_t* gradient;
  int64_t* hessian;
  uint32_t* count;
};

inline Slot slot_at(const Args& a, int32_t slot) {
  int64_t* const words = a.histograms + slot * a.slot_words;
  return {words, words + a.n_cells, reinterpret_cast<uint32_t*>(words + 2 * a.n_cells)};
}

inline void add_cell(const Slot& slot, int64_t cell, const Sums& sums, bool constant_hessian) {
  add_to(slot.gradient + cell, sums.gradient);
  if (!constant_hessian) add_to(slot.hessian + cell, sums.hessian);
  atomicAdd(slot.count + cell, static_cast<uint32_t>(sums.count));
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

struct TileOfRows {
  const Node& node;
  int64_t first;
  int64_t end;
};

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
  const uint32_t* const list = tile.node.buffer < 0 ? nullptr : a.row_lists[tile.node.buffer] + tile.node.first_row;
  for (int64_t i = tile.first + static_cast<int64_t>(threadIdx.x); i < tile.end; i += kBuildThreads) {
    const uint32_t row = list != nullptr ? list[i] : row_in_tree(a, i);
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
        atomicAdd(wide + 2 * (cell + staged[lane]), static_cast<unsigned long long>(value.gradient));
        atomicAdd(wide + 2 * (cell + staged[lane]) + 1, static_cast<unsigned long long>(value.hessian_count));
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
        const int at = cell + staged[lane];
        const uint32_t before = atomicAdd(low + at, value_low);
        atomicAdd(high + at, value_high + (before + value_low < before ? 1u : 0u));
        ++lane;
        cell += stride;
        if (lane == n_lanes) lane = cell = 0;
      }
    }
  }
  __syncthreads();
  // Warps take a lane each.
  const bool constant = layout.constant_hessian();
  for (int lane = warp_of_thread(); lane < n_lanes; lane += kBuildThreads / 32) {
    const DeviceFeature& feature = a.features[a.lane_features[group.first_lane + first + lane]];
    const int n_bins = feature.n_value_bins + feature.has_missing;
    for (int b = lane_of_thread(); b < n_bins; b += 32) {
      const int cell = lane * stride + b;
      if constexpr (kWide) {
        const uint64_t hc = wide[2 * cell + 1];
        if (hc == 0) continue;
        add_cell(out, feature.first_cell + b,
                 {static_cast<int64_t>(wide[2 * cell]), static_cast<int64_t>(hc >> layout.count_bits),
                  static_cast<int64_t>(hc & ((uint64_t{1} << layout.count_bits) - 1))},
                 constant);
      } else {
        const uint64_t cell_value = static_cast<uint64_t>(high[cell]) << 32 | low[cell];
        if (cell_value != 0) add_cell(out, feature.first_cell + b, unpacked(cell_value, layout), constant);
      }
    }
  }
  __syncthreads();
}

inline void build_tile(const Args& a, const Job& job, const LaneGroup& group, int64_t first_row) {
  const State& s = *a.state;
  const CellLayout layout = s.layout;
  const Node& node = a.nodes[job.built];
  const int64_t end = first_row + s.build_rows;
  const TileOfRows tile{node, first_row, end < node.sums.count ? end : node.sums.count};
  const Slot out = slot_at(a, node.slot);
  if (!layout.wide) {
    build_lanes<false>(a, tile, group, 0, group.n_lanes, layout, out);
    return;
  }
  // Wide cells take twice the room: half of the lanes at a time.
  const int half = (group.n_lanes + 1) / 2;
  build_lanes<true>(a, tile, group, 0, half, layout, out);
  if (half < group.n_lanes) build_lanes<true>(a, tile, group, half, group.n_lanes, layout, out);
}

inline void build_all(const Args& a) {
  const State& s = *a.state;
  for (int64_t tile = blockIdx.x; tile < s.n_build_tiles * a.n_groups; tile += gridDim.x) {
    const int64_t rows = tile / a.n_groups;
    const int j = last_at_most(s.n_jobs, rows, [&](int i) { return a.jobs[i].build_tile; });
    build_tile(a, a.jobs[j], a.groups[tile % a.n_groups], (rows - a.jobs[j].build_tile) * s.build_rows);
  }
}

// Lanes of two bytes have too many cells for shared memory: rows are added to the sums one by one.
inline void build_two_bytes(const Args& a) {
  const State& s = *a.state;
  const CellLayout layout = s.layout;
  const bool constant = layout.constant_hessian();
  for (int64_t tile = blockIdx.x; tile < s.n_build_tiles; tile += gridDim.x) {
    const Job& job = a.jobs[last_at_most(s.n_jobs, tile, [&](int i) { return a.jobs[i].build_tile; })];
    const Node& node = a.nodes[job.built];
    const Slot out = slot_at(a, node.slot);
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
        add_cell(out, feature.first_cell + bin, value, constant);
      }
    }
  }
}
