// Histograms of eight trees on the same rows. A cell has eight words, one packed cell of each tree: one store adds a
// row to all of them.

// What spreads the values of a row over the fields of eight cells.
struct EightSpreader {
  V8u hessian_mask, count_bits, gradient_shift;

  explicit EightSpreader(const EightBuildArgs& a) : hessian_mask(0), count_bits(0), gradient_shift(0) {
    for (int tree = 0; tree < a.n_trees; ++tree) {
      const Spreader own(*a.layouts[tree]);
      hessian_mask[tree] = own.hessian_mask;
      count_bits[tree] = static_cast<uint64_t>(own.count_bits);
      gradient_shift[tree] = static_cast<uint64_t>(own.gradient_shift);
    }
  }

  GOSSAMER_INLINE V8u operator()(const PackedRow* rows) const {
    const V8u fields = bits_as<V8u>(convert<V8i>(load<V8i32>(rows)));
    const V8u hessians = fields & hessian_mask;
    return ((fields - hessians) << gradient_shift) + (hessians << count_bits) + 1;
  }
};

// Brings the values of a row's trees together, two with one store. Trees that are not there get those of the first.
void zip_eight(const EightBuildArgs& a, int64_t begin, int64_t n, PackedRow* __restrict out) {
  for (int tree = 0; tree < 8; tree += 2) {
    const PackedRow* const first = a.row_values[tree < a.n_trees ? tree : 0] + begin;
    const PackedRow* const second = a.row_values[tree + 1 < a.n_trees ? tree + 1 : 0] + begin;
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t both = first[i] | uint64_t{second[i]} << 32;
      memcpy(out + i * 8 + tree, &both, 8);
    }
  }
}

// Many lanes at a time are faster although their cells leave the first-level cache: the adds of a lane whose rows often
// meet in one cell have to wait for each other.
template <int kLaneCells, int kLanes>
void add_eight(const EightSpreader& spread, const uint8_t* bins, int64_t stride, const PackedRow* values, int64_t n,
               uint64_t* __restrict cells) {
  for (int64_t i = 0; i < n; ++i, bins += stride) {
    uint64_t lanes;
    memcpy(&lanes, bins, 8);  // may read past the row: arrays end with slack
    const V8u value = spread(values + i * 8);
    for_parts<kLanes>([&](int lane) __attribute__((always_inline)) {
      uint64_t* const cell = cells + (lane * kLaneCells + ((lanes >> (8 * lane)) & 0xff)) * 8;
      store(cell, load<V8u>(cell) + value);
    });
  }
}

template <int kLaneCells, int kLanes = 8>
void add_eight_of(int n_lanes, const EightSpreader& spread, const uint8_t* bins, int64_t stride,
                  const PackedRow* values, int64_t n, uint64_t* cells) {
  if (n_lanes == kLanes) return add_eight<kLaneCells, kLanes>(spread, bins, stride, values, n, cells);
  if constexpr (kLanes > 1) add_eight_of<kLaneCells, kLanes - 1>(n_lanes, spread, bins, stride, values, n, cells);
}

template <int kLaneCells>
void build_eight_lanes(const EightBuildArgs& a) {
  alignas(64) PackedRow values[kChunkRows * 8];
  const EightSpreader spread(a);
  for (int64_t done = 0; done < a.n_rows; done += kChunkRows) {
    const int64_t begin = a.first_row + done;
    const int64_t n = a.n_rows - done < kChunkRows ? a.n_rows - done : kChunkRows;
    zip_eight(a, begin, n, values);
    const uint8_t* const bins = a.bins + begin * a.row_stride + a.first_lane;
    add_eight_of<kLaneCells>(a.n_lanes, spread, bins, a.row_stride, values, n, a.cells);
  }
}

void build_eight(const EightBuildArgs& a) {
  switch (a.lane_cells) {
    case 16: return build_eight_lanes<16>(a);
    case 64: return build_eight_lanes<64>(a);
    case 192: return build_eight_lanes<192>(a);
    default: return build_eight_lanes<256>(a);
  }
}

void empty_eight(const EightBuildArgs& a, int64_t* sums) {
  V8u count_bits(0), gradient_shift(0), count_mask(0), hessian_mask(0);
  for (int tree = 0; tree < a.n_trees; ++tree) {
    const Unpacker unpack(*a.layouts[tree]);
    count_bits[tree] = static_cast<uint64_t>(unpack.count_bits);
    gradient_shift[tree] = static_cast<uint64_t>(unpack.gradient_shift);
    count_mask[tree] = unpack.count_mask;
    hessian_mask[tree] = unpack.hessian_mask;
  }
  const V8i shift = bits_as<V8i>(gradient_shift);
  const int64_t n = static_cast<int64_t>(a.n_lanes) * a.lane_cells;
  for (int64_t i = 0; i < n; ++i, sums += 3 * 8) {
    uint64_t* const cell = a.cells + i * 8;
    const V8u packed = load<V8u>(cell);
    store(cell, V8u(0));
    store(sums, load<V8i>(sums) + (bits_as<V8i>(packed) >> shift));
    store(sums + 8, load<V8i>(sums + 8) + bits_as<V8i>((packed >> count_bits) & hessian_mask));
    store(sums + 16, load<V8i>(sums + 16) + bits_as<V8i>(packed & count_mask));
  }
}

void take_one_of_eight(const int64_t* sums, int64_t n, int tree, LargeCells out) {
  for (int64_t i = 0; i < n; ++i, sums += 3 * 8) {
    out.gradient[i] = sums[tree];
    out.hessian[i] = sums[8 + tree];
    out.count[i] = static_cast<uint32_t>(sums[16 + tree]);
  }
}
