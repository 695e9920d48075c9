// Trees with a vector of values per leaf: histograms whose cells are vectors, and their search.
//
// A row has `width` 32-bit integers: the gradients of all outputs, one for the count, then the
// hessians, unless all are equal. Sums of a whole table fit 32 bits by the choice of units.

// Adds rows to the cells of kLanes lanes from `lane` on, chunks [first, first + kChunks) of eight integers.
// kLanes is small and known to the compiler: the cells stay in the second-level cache, and a row's values stay in
// registers for all of them.
template <int kChunks, int kLanes, class Bin>
void build_vector_lanes(const VectorBuildArgs& a, int first, int lane) {
  const auto* const bins = static_cast<const Bin*>(a.bins) + lane;
  const int32_t* const values = a.values + first * 8;
  const int64_t width = a.width;
  const int64_t row_stride = a.row_stride;
  const RowIdx* const rows = a.rows;
  const int64_t first_row = a.first_row;
  const int64_t n_rows = a.n_rows;
  int32_t* cells[kLanes];
  for (int l = 0; l < kLanes; ++l) cells[l] = a.cells + a.lane_first[lane + l] * width + first * 8;
  constexpr int64_t kAhead = 12;  // rows: so that gathered rows arrive in time
  for (int64_t i = 0; i < n_rows; ++i) {
    const int64_t row = rows != nullptr ? static_cast<int64_t>(rows[i]) : first_row + i;
    if (rows != nullptr && i + kAhead < n_rows) {
      const auto next = static_cast<int64_t>(rows[i + kAhead]);
      for (int c = 0; c < kChunks; c += 2) __builtin_prefetch(values + next * width + c * 8);
      __builtin_prefetch(bins + next * row_stride);
    }
    V8i32 value[kChunks];
    for (int c = 0; c < kChunks; ++c) value[c] = load<V8i32>(values + row * width + c * 8);
    const Bin* const own = bins + row * row_stride;
    for (int l = 0; l < kLanes; ++l) {
      int32_t* const cell = cells[l] + static_cast<int64_t>(own[l]) * width;
      for (int c = 0; c < kChunks; ++c) store(cell + c * 8, load<V8i32>(cell + c * 8) + value[c]);
    }
  }
}

template <int kChunks, class Bin>
void build_vector_chunks(const VectorBuildArgs& a, int first) {
  int lane = 0;
  for (; lane + 8 <= a.n_lanes; lane += 8) build_vector_lanes<kChunks, 8, Bin>(a, first, lane);
  switch (a.n_lanes - lane) {
    case 1: return build_vector_lanes<kChunks, 1, Bin>(a, first, lane);
    case 2: return build_vector_lanes<kChunks, 2, Bin>(a, first, lane);
    case 3: return build_vector_lanes<kChunks, 3, Bin>(a, first, lane);
    case 4: return build_vector_lanes<kChunks, 4, Bin>(a, first, lane);
    case 5: return build_vector_lanes<kChunks, 5, Bin>(a, first, lane);
    case 6: return build_vector_lanes<kChunks, 6, Bin>(a, first, lane);
    case 7: return build_vector_lanes<kChunks, 7, Bin>(a, first, lane);
    default: return;
  }
}

template <int kChunks, class Code>
void build_vector_sparse_chunks(const VectorBuildArgs& a, int first) {
  const auto* const codes = static_cast<const Code*>(a.codes);
  for (int64_t i = 0; i < a.n_rows; ++i) {
    const int64_t row = a.rows != nullptr ? static_cast<int64_t>(a.rows[i]) : a.first_row + i;
    V8i32 value[kChunks];
    for (int c = 0; c < kChunks; ++c) value[c] = load<V8i32>(a.values + row * a.width + (first + c) * 8);
    for (int64_t e = a.row_begin[row]; e < a.row_begin[row + 1]; ++e) {
      int32_t* const cell = a.cells + static_cast<int64_t>(codes[e]) * a.width + first * 8;
      for (int c = 0; c < kChunks; ++c) store(cell + c * 8, load<V8i32>(cell + c * 8) + value[c]);
    }
  }
}

template <int kChunks>
void build_vector_of(const VectorBuildArgs& a, int first) {
  if (a.codes != nullptr) {
    a.two_bytes ? build_vector_sparse_chunks<kChunks, uint16_t>(a, first)
                : build_vector_sparse_chunks<kChunks, uint32_t>(a, first);
  } else {
    a.two_bytes ? build_vector_chunks<kChunks, uint16_t>(a, first) : build_vector_chunks<kChunks, uint8_t>(a, first);
  }
}

// As many chunks at a time as fit the registers; wider vectors need several passes over the rows.
void build_vector(const VectorBuildArgs& a) {
  const int n_chunks = a.width / 8;
  for (int first = 0; first < n_chunks;) {
    const int n = n_chunks - first;
    if (n >= 8) {
      build_vector_of<8>(a, first);
      first += 8;
    } else if (n >= 4) {
      build_vector_of<4>(a, first);
      first += 4;
    } else if (n == 3) {
      build_vector_of<3>(a, first);
      first += 3;
    } else if (n == 2) {
      build_vector_of<2>(a, first);
      first += 2;
    } else {
      build_vector_of<1>(a, first);
      first += 1;
    }
  }
}

typedef float V4f __attribute__((vector_size(16)));

inline V8f fill8f(float x) { return V8f(x); }

inline float sum_slots(const V8f& v) {
  V4f half[2];
  memcpy(half, &v, sizeof(v));
  const V4f s = half[0] + half[1];
  return (s[0] + s[2]) + (s[1] + s[3]);
}

// The gradients of eight outputs as real numbers, shrunk by the L1 penalty.
template <bool kL1>
inline V8f real_gradients(const V8i32& sums, const V8f& unit, float lambda_l1) {
  const V8f g = convert<V8f>(sums) * unit;
  if constexpr (!kL1) return g;
  return shrink(g, lambda_l1);
}

// Sums of the rows on the left of a threshold: in registers where their number is known (kChunks > 0).
template <int kChunks>
struct LeftSums {
  V8i32 value[kChunks];

  LeftSums(const VectorSearchArgs&, int) {}
  V8i32 get(int c) const { return value[c]; }
  void set(int c, const V8i32& v) { value[c] = v; }
};

template <>
struct LeftSums<0> {
  int32_t* value;

  LeftSums(const VectorSearchArgs& a, int first) : value(a.scratch + first * 8) {}
  V8i32 get(int c) const { return load<V8i32>(value + c * 8); }
  void set(int c, const V8i32& v) { store(value + c * 8, v); }
};

// Finds the best threshold for a fixed side of the missing rows.
template <int kChunks, bool kL1, bool kConstant>
bool search_vector_side(const VectorSearchArgs& a, bool missing_left, VectorCandidate& best) {
  const int n = kChunks > 0 ? kChunks : a.n_chunks;
  const int64_t width = static_cast<int64_t>(n) * (kConstant ? 8 : 16);
  const int count_at = a.n_outputs;
  const int32_t total_count = a.total[count_at];
  const int32_t min_data = a.min_data;
  const float count_hessian = a.count_hessian;
  const float lambda_l2 = a.lambda_l2;
  const float least_hessian = a.min_sum_hessian;
  const float per_output = 1.0f / static_cast<float>(a.n_outputs);
  const V8f none = fill8f(0.0f);
  LeftSums<kChunks> gradients(a, 0);
  LeftSums<kConstant ? 0 : kChunks> hessians(a, n);
  const int32_t* const missing = a.cells + a.n_value_bins * width;
  int32_t count = missing_left ? missing[count_at] : 0;
  for (int c = 0; c < n; ++c) {
    const V8i32 zero = {};
    gradients.set(c, missing_left ? load<V8i32>(missing + c * 8) : zero);
    if constexpr (!kConstant) hessians.set(c, missing_left ? load<V8i32>(missing + (n + c) * 8) : zero);
  }
  bool found = false;
  for (int b = 0; b < a.n_value_bins; ++b) {
    const int32_t* const cell = a.cells + b * width;
    const int32_t own = cell[count_at];
    if (own == 0 && a.only_threshold < 0) continue;  // no rows: the same split as the bin before
    count += own;
    for (int c = 0; c < n; ++c) gradients.set(c, gradients.get(c) + load<V8i32>(cell + c * 8));
    if constexpr (!kConstant) {
      for (int c = 0; c < n; ++c) hessians.set(c, hessians.get(c) + load<V8i32>(cell + (n + c) * 8));
    }
    if (count < min_data) continue;
    if (total_count - count < min_data) break;
    if (a.only_threshold >= 0 && b != a.only_threshold) continue;
    V8f sum_left = fill8f(0.0f);
    V8f sum_right = fill8f(0.0f);
    float hessian_left = static_cast<float>(count) * count_hessian;
    float hessian_right = static_cast<float>(total_count - count) * count_hessian;
    if constexpr (!kConstant) {
      V8f all_left = fill8f(0.0f);
      V8f all_right = fill8f(0.0f);
      for (int c = 0; c < n; ++c) {
        const V8f unit = load<V8f>(a.gradient_unit + c * 8);
        const V8f hessian_unit = load<V8f>(a.hessian_unit + c * 8);
        const V8i32 left = gradients.get(c);
        const V8i32 left_hessian = hessians.get(c);
        const V8f gl = real_gradients<kL1>(left, unit, a.lambda_l1);
        const V8f gr = real_gradients<kL1>(load<V8i32>(a.total + c * 8) - left, unit, a.lambda_l1);
        const V8f hl = convert<V8f>(left_hessian) * hessian_unit;
        const V8f hr = convert<V8f>(load<V8i32>(a.total + (n + c) * 8) - left_hessian) * hessian_unit;
        all_left += hl;
        all_right += hr;
        const V8f dl = hl + lambda_l2;
        const V8f dr = hr + lambda_l2;
        // The leaf value is 0 without a hessian, and past the last output.
        sum_left += pick(dl > 0.0f, gl * gl / dl, none);
        sum_right += pick(dr > 0.0f, gr * gr / dr, none);
      }
      hessian_left = sum_slots(all_left) * per_output;
      hessian_right = sum_slots(all_right) * per_output;
    } else {
      for (int c = 0; c < n; ++c) {
        const V8f unit = load<V8f>(a.gradient_unit + c * 8);
        const V8i32 left = gradients.get(c);
        const V8f gl = real_gradients<kL1>(left, unit, a.lambda_l1);
        const V8f gr = real_gradients<kL1>(load<V8i32>(a.total + c * 8) - left, unit, a.lambda_l1);
        sum_left += gl * gl;
        sum_right += gr * gr;
      }
      sum_left *= 1.0f / (hessian_left + lambda_l2);
      sum_right *= 1.0f / (hessian_right + lambda_l2);
    }
    if (hessian_left < least_hessian || hessian_right < least_hessian) continue;
    const float gain = sum_slots(sum_left + sum_right);
    if (gain > best.gain) {
      best.gain = gain;
      best.threshold = b;
      best.missing_left = missing_left;
      found = true;
    }
  }
  return found;
}

template <int kChunks, bool kL1, bool kConstant>
bool search_vector_of(const VectorSearchArgs& a, VectorCandidate& best) {
  bool found = search_vector_side<kChunks, kL1, kConstant>(a, false, best);
  const int64_t width = static_cast<int64_t>(a.n_chunks) * (kConstant ? 8 : 16);
  if (a.has_missing && a.cells[a.n_value_bins * width + a.n_outputs] > 0) {
    found |= search_vector_side<kChunks, kL1, kConstant>(a, true, best);
  }
  return found;
}

// The order of adding is the same for every kChunks.
template <bool kL1, bool kConstant>
bool search_vector_as(const VectorSearchArgs& a, VectorCandidate& best) {
  switch (a.n_chunks) {
    case 1: return search_vector_of<1, kL1, kConstant>(a, best);
    case 2: return search_vector_of<2, kL1, kConstant>(a, best);
    case 3: return search_vector_of<3, kL1, kConstant>(a, best);
    case 4: return search_vector_of<4, kL1, kConstant>(a, best);
    default: return search_vector_of<0, kL1, kConstant>(a, best);
  }
}

bool search_vector(const VectorSearchArgs& a, VectorCandidate& best) {
  if (a.lambda_l1 > 0.0f) {
    return a.hessian_unit == nullptr ? search_vector_as<true, true>(a, best) : search_vector_as<true, false>(a, best);
  }
  return a.hessian_unit == nullptr ? search_vector_as<false, true>(a, best) : search_vector_as<false, false>(a, best);
}

// Eight rows at a time: real values of one output after another become integers, row by row.
template <bool kGather>
inline void quantize_vector_rows(const VectorQuantizeArgs& a, int32_t* sums) {
  const int64_t n = a.n_rows / 8 * 8;
  const auto row_of = [&](int64_t i) { return kGather ? static_cast<int64_t>(a.rows[i]) : a.first_row + i; };
  const auto steps_of = [&](const V8f& x, int k) {
    const V8f steps = x * a.inverse_unit[k];
    return convert<V8i32>(steps + pick(steps < 0.0f, fill8f(-0.5f), fill8f(0.5f)));
  };
  constexpr int64_t kTile = 256;  // rows whose integers stay in the first-level cache
  for (int64_t tile = 0; tile < a.n_rows; tile += kTile) {
    const int64_t end = tile + kTile < n ? tile + kTile : n;
    for (int k = 0; k < a.n_outputs; ++k) {
      const float* const own = a.values + k * a.value_stride;
      V8i32 sum = {};
      int64_t i = tile;
      for (; i < end; i += 8) {
        V8f x;
        if constexpr (kGather) {
          for (int r = 0; r < 8; ++r) x[r] = own[row_of(i + r)];
        } else {
          x = load<V8f>(own + row_of(i));
        }
        const V8i32 q = steps_of(x, k);
        sum += q;
        for (int r = 0; r < 8; ++r) a.out[row_of(i + r) * a.width + k] = q[r];
      }
      for (int r = 0; r < 8; ++r) sums[k] += sum[r];
      for (; i < a.n_rows && i < tile + kTile; ++i) {
        const int32_t q = steps_of(fill8f(own[row_of(i)]), k)[0];
        a.out[row_of(i) * a.width + k] = q;
        sums[k] += q;
      }
    }
  }
}

void quantize_vector(const VectorQuantizeArgs& a, int32_t* sums) {
  a.rows != nullptr ? quantize_vector_rows<true>(a, sums) : quantize_vector_rows<false>(a, sums);
}

// Sum of magnitudes, lowest and highest of some rows.
ValueRange value_range(const float* values, const RowIdx* rows, int64_t n) {
  V8d sum = fill8(0.0);
  V8f low = fill8f(rows != nullptr ? values[rows[0]] : values[0]);
  V8f high = low;
  for (int64_t i = 0; i < n; i += 8) {
    V8f x = fill8f(0.0f);
    V8f known = low;  // slots past the end repeat a known value
    if (i + 8 <= n && rows == nullptr) {
      x = load<V8f>(values + i);
      known = x;
    } else {
      for (int r = 0; r < 8 && i + r < n; ++r) {
        x[r] = rows != nullptr ? values[rows[i + r]] : values[i + r];
        known[r] = x[r];
      }
    }
    sum += abs8(to_double(x));
    low = pick(known < low, known, low);
    high = pick(known > high, known, high);
  }
  ValueRange range{sum8(sum), low[0], high[0]};
  for (int r = 1; r < 8; ++r) {
    range.lowest = low[r] < range.lowest ? low[r] : range.lowest;
    range.highest = high[r] > range.highest ? high[r] : range.highest;
  }
  return range;
}

void add_ints(const int32_t* x, int64_t n, int32_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] += x[i];
}

void subtract_ints(const int32_t* x, int64_t n, int32_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] -= x[i];
}
