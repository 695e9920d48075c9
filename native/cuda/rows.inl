// The rows of a tree: gradients as integers, rows by node.

// Bits that compare like the float, for atomic maxima and minima.
inline uint32_t ordered_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

inline float from_ordered_bits(uint32_t ordered) {
  const uint32_t bits = ordered & 0x80000000u ? ordered & 0x7fffffffu : ~ordered;
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

inline int64_t thread_of_grid() {
  return static_cast<int64_t>(blockIdx.x) * static_cast<int64_t>(blockDim.x) + static_cast<int64_t>(threadIdx.x);
}

inline int64_t threads_in_grid() { return static_cast<int64_t>(gridDim.x) * static_cast<int64_t>(blockDim.x); }

inline uint32_t row_in_tree(const Args& a, int64_t i) {
  return a.task->is_sampled != 0 ? a.sample[i] : static_cast<uint32_t>(i);
}

inline const float* gradient_of(const Args& a) { return a.gradient + a.task->output * a.n_rows; }
inline const float* hessian_of(const Args& a) { return a.hessian + a.task->output * a.n_rows; }

inline uint32_t row_of_node(const Args& a, const Node& node, int64_t i) {
  const int64_t place = node.first_row + i;
  return node.buffer < 0 ? row_in_tree(a, place) : a.row_lists[node.buffer][place];
}

// ---- statistics of gradients ----

// Statistics of the rows of a block: counts of exponents and extremes. As on the host, all rows count for the extremes;
// eight rows in 64 count for the exponents, or every row of a sample.
class BlockStatistics {
 public:
  // Clears the counts, which are in shared memory.
  BlockStatistics() : counts_(reinterpret_cast<uint32_t*>(shared_memory())) {
    for (unsigned e = threadIdx.x; e < 512; e += blockDim.x) counts_[e] = 0;
    if (threadIdx.x < 3) counts_[512 + threadIdx.x] = threadIdx.x < 2 ? 0 : kAll;
    __syncthreads();
  }

  void add_gradient(float value, bool is_counted) { add(value, is_counted, counts_, low_g_, high_g_); }
  void add_hessian(float value, bool is_counted) { add(value, is_counted, counts_ + 256, low_h_, high_h_); }

  // Adds the statistics of the block to those of all blocks.
  void finish(Statistics& s) const {
    uint32_t* const extremes = counts_ + 512;
    const float below = -from_ordered_bits(low_g_);
    const float above = from_ordered_bits(high_g_);
    // One number of a block goes to the state: additions to the same word wait for one another.
    const uint32_t largest_g = largest_of_warp(ordered_bits(below > above ? below : above));
    const uint32_t largest_h = largest_of_warp(high_h_);
    const uint32_t smallest_h = ~largest_of_warp(~low_h_);
    if (lane_of_thread() == 0) {
      atomicMax(extremes, largest_g);
      atomicMax(extremes + 1, largest_h);
      atomicMin(extremes + 2, smallest_h);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicMax(&s.max_abs_gradient, extremes[0]);
      atomicMax(&s.max_hessian, extremes[1]);
      atomicMin(&s.min_hessian, extremes[2]);
    }
    for (unsigned e = threadIdx.x; e < 512; e += blockDim.x) {
      if (counts_[e] == 0) continue;
      auto* const total = e < 256 ? &s.gradient_exponents[e] : &s.hessian_exponents[e - 256];
      atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(counts_[e]));
    }
  }

 private:
  static void add(float value, bool is_counted, uint32_t* counts, uint32_t& lowest, uint32_t& highest) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if (is_counted) atomicAdd(&counts[bits >> 23 & 255], 1u);
    if (value != value) return;
    const uint32_t ordered = ordered_bits(value);
    lowest = ordered < lowest ? ordered : lowest;
    highest = ordered > highest ? ordered : highest;
  }

  uint32_t* counts_;
  uint32_t low_g_ = ordered_bits(0.0f);
  uint32_t high_g_ = ordered_bits(0.0f);
  uint32_t low_h_ = kAll;
  uint32_t high_h_ = ordered_bits(0.0f);
};

inline bool is_counted(int64_t row) { return (row & 63) < 8; }

inline void find_statistics(const Args& a) {
  const bool is_sampled = a.task->is_sampled != 0;
  const int64_t n_rows = a.task->n_rows;
  BlockStatistics own;
  for (int64_t i = thread_of_grid(); i < n_rows; i += threads_in_grid()) {
    const uint32_t row = row_in_tree(a, i);
    const bool counts = is_sampled || is_counted(i);
    own.add_gradient(gradient_of(a)[row], counts);
    if (a.hessian != nullptr) own.add_hessian(hessian_of(a)[row], counts);
  }
  own.finish(a.state->statistics);
}

// Chooses the layout, and clears what the tree before has left. `terms` is room for 512 numbers.
inline void choose_layout(const Args& a, double* terms) {
  State& s = *a.state;
  const Statistics& found = s.statistics;
  for (int e = static_cast<int>(threadIdx.x); e < 256; e += static_cast<int>(blockDim.x)) {
    terms[e] = root_term(static_cast<int64_t>(found.gradient_exponents[e]), e);
    terms[256 + e] = root_term(static_cast<int64_t>(found.hessian_exponents[e]), e);
  }
  int64_t n_gradients = 0;
  int64_t n_hessians = 0;
  for (int e = lane_of_thread(); e < 256; e += 32) {
    n_gradients += static_cast<int64_t>(found.gradient_exponents[e]);
    n_hessians += static_cast<int64_t>(found.hessian_exponents[e]);
  }
  n_gradients = sum_of_warp(n_gradients);
  n_hessians = sum_of_warp(n_hessians);
  __syncthreads();
  if (threadIdx.x != 0) return;
  const bool has_hessian = found.min_hessian != kAll;
  GradientScale scale;
  scale.typical_gradient = typical_of_terms(terms, 256, n_gradients);
  scale.typical_hessian = typical_of_terms(terms + 256, 256, n_hessians);
  scale.max_abs_gradient = static_cast<double>(from_ordered_bits(found.max_abs_gradient));
  scale.max_hessian = static_cast<double>(from_ordered_bits(found.max_hessian));
  scale.min_hessian = has_hessian ? static_cast<double>(from_ordered_bits(found.min_hessian)) : 1.0e300;
  s.layout = layout_of(scale, a.task->n_rows, a.hessian != nullptr, false);
  s.error = s.layout.wide != (a.wide != 0) ? kOtherWidth : 0;
  s.rules = rules_in_units(a.given_rules, s.layout);
  s.total = Sums{0, 0, 0};
  s.n_nodes = 0;
  s.n_jobs = 0;
  s.n_slots = 0;
  s.is_complete = s.error != 0 ? 1 : 0;
  s.n_batches = 0;
  s.built_rows = 0;
  s.n_split_tiles = 0;
  s.n_build_tiles = 0;
  s.n_listed = 0;
}

inline void clear_statistics(Statistics& s) {
  for (unsigned e = threadIdx.x; e < 256; e += blockDim.x) s.gradient_exponents[e] = s.hessian_exponents[e] = 0;
  if (threadIdx.x != 0) return;
  s.max_abs_gradient = s.max_hessian = ordered_bits(0.0f);
  s.min_hessian = kAll;
}

inline void quantise_rows(const Args& a) {
  State& s = *a.state;
  if (s.is_complete != 0) return;
  const CellLayout layout = s.layout;
  const Quantizer quantizer(layout);
  const bool constant = layout.constant_hessian();
  const float* const gradient = gradient_of(a);
  const float* const hessian = constant ? nullptr : hessian_of(a);
  const int64_t n_rows = a.task->n_rows;
  int64_t sum_g = 0;
  int64_t sum_h = 0;
  for (int64_t i = thread_of_grid(); i < n_rows; i += threads_in_grid()) {
    const uint32_t row = row_in_tree(a, i);
    const int64_t g = quantizer.gradient(V8d(static_cast<double>(gradient[row]))).value;
    const int64_t h = constant ? 0 : quantizer.hessian(V8d(static_cast<double>(hessian[row]))).value;
    sum_g += g;
    sum_h += h;
    if (layout.wide) {
      reinterpret_cast<WideCell*>(a.row_values)[row] = {static_cast<uint64_t>(g),
                                                        (static_cast<uint64_t>(h) << layout.count_bits) + 1};
    } else {
      a.row_values[row] = static_cast<uint32_t>((g << layout.row_hessian_bits) + h);
    }
  }
  auto* const shared = reinterpret_cast<int64_t*>(shared_memory());
  int64_t all_g = 0;
  int64_t all_h = 0;
  sum_before(sum_g, shared, all_g);
  sum_before(sum_h, shared, all_h);
  if (threadIdx.x == 0) {
    add_to(&s.total.gradient, all_g);
    if (!constant) add_to(&s.total.hessian, all_h);
  }
  for (int64_t i = thread_of_grid(); i < a.slot_words; i += threads_in_grid()) a.histograms[i] = 0;
}

// ---- rows by node ----

inline bool in_set(const uint32_t* set, uint32_t bin) { return (set[bin >> 5] >> (bin & 31) & 1u) != 0; }

struct Test {
  const uint8_t* bytes;  // of the feature, row after row; nullptr: it has two bytes
  const uint16_t* words;
  int64_t stride;  // of words
  uint32_t threshold;
  uint32_t missing_bin;
  bool missing_left;
  const uint32_t* set;  // nullptr: numbers

  bool goes_left(uint32_t row) const {
    const uint32_t bin = bytes != nullptr ? bytes[row] : words[row * stride];
    if (set != nullptr) return in_set(set, bin);
    return bin == missing_bin ? missing_left : bin <= threshold;
  }
};

inline Test test_of(const Args& a, int32_t node) {
  const Node& n = a.nodes[node];
  const DeviceFeature& feature = a.features[n.feature];
  const bool is_set = feature.n_categories >= 0;
  const bool two = feature.two_bytes != 0;
  return {two ? nullptr : a.lanes8 + feature.lane * a.n_rows,
          two ? a.rows16 + feature.lane : nullptr,
          a.stride16,
          static_cast<uint32_t>(n.threshold),
          static_cast<uint32_t>(feature.n_value_bins),
          n.missing_left != 0,
          is_set ? a.category_sets + static_cast<int64_t>(node) * a.category_words : nullptr};
}

constexpr int kSplitThreads = 512;
constexpr int kRowsPerThread = static_cast<int>(kSplitRows / kSplitThreads);

// The rows of one tile go to both children. A warp has consecutive rows; places are reserved once per tile and side.
// `shared` has room for the numbers of each warp.
inline void split_tile(const Args& a, Job& job, int64_t first, uint32_t* shared) {
  constexpr int kWarps = kSplitThreads / 32;
  const Node& node = a.nodes[job.node];
  const Test test = test_of(a, job.node);
  const int64_t first_row = node.first_row;
  const int64_t n_rows = node.sums.count;
  const auto room_left = static_cast<uint32_t>(node.left.count);
  const auto room_right = static_cast<uint32_t>(n_rows - node.left.count);
  const uint32_t* const from = node.buffer < 0 ? nullptr : a.row_lists[node.buffer] + first_row;
  uint32_t* const left = a.row_lists[node.buffer < 0 ? 0 : 1 - node.buffer] + first_row;
  uint32_t* const right = left + room_left;
  const int64_t begin = first + static_cast<int64_t>(warp_of_thread()) * 32 * kRowsPerThread + lane_of_thread();
  uint32_t rows[kRowsPerThread];
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const int64_t place = begin + 32 * i;
    rows[i] = 0;
    if (place < n_rows) rows[i] = from != nullptr ? from[place] : row_in_tree(a, place);
  }
  uint32_t goes_left = 0;  // a bit for each of the rows
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    if (begin + 32 * i < n_rows && test.goes_left(rows[i])) goes_left |= 1u << i;
  }
  uint32_t is_row = 0;
  uint32_t n_left = 0;
  uint32_t n_right = 0;
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const bool exists = begin + 32 * i < n_rows;
    is_row |= exists ? 1u << i : 0u;
    n_left += static_cast<uint32_t>(__popc(__ballot_sync(kAll, (goes_left >> i & 1u) != 0)));
    n_right += static_cast<uint32_t>(__popc(__ballot_sync(kAll, exists && (goes_left >> i & 1u) == 0)));
  }
  __syncthreads();
  if (lane_of_thread() == 0) {
    shared[warp_of_thread()] = n_left;
    shared[kWarps + warp_of_thread()] = n_right;
  }
  __syncthreads();
  if (warp_of_thread() == 0) {
    // The first half of the warp adds up the left side, the second half the right side.
    const int lane = lane_of_thread();
    const uint32_t own = shared[lane];
    uint32_t through = own;
    for (int step = 1; step < kWarps; step <<= 1) {
      const uint32_t other = __shfl_up_sync(kAll, through, static_cast<unsigned>(step));
      if (lane % kWarps >= step) through += other;
    }
    uint32_t start = 0;
    if (lane % kWarps == kWarps - 1) start = atomicAdd(lane < kWarps ? &job.n_left : &job.n_right, through);
    start = __shfl_sync(kAll, start, lane < kWarps ? kWarps - 1 : 2 * kWarps - 1);
    shared[lane] = start + through - own;
  }
  __syncthreads();
  uint32_t to_left = shared[warp_of_thread()];
  uint32_t to_right = shared[kWarps + warp_of_thread()];
  const uint32_t below = (1u << lane_of_thread()) - 1;
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const bool is_left = (goes_left >> i & 1u) != 0;
    const bool is_right = !is_left && (is_row >> i & 1u) != 0;
    const uint32_t lefts = __ballot_sync(kAll, is_left);
    const uint32_t rights = __ballot_sync(kAll, is_right);
    const uint32_t place_left = to_left + static_cast<uint32_t>(__popc(lefts & below));
    const uint32_t place_right = to_right + static_cast<uint32_t>(__popc(rights & below));
    if (is_left && place_left < room_left) left[place_left] = rows[i];
    if (is_right && place_right < room_right) right[place_right] = rows[i];
    to_left += static_cast<uint32_t>(__popc(lefts));
    to_right += static_cast<uint32_t>(__popc(rights));
  }
}

inline void split_all(const Args& a) {
  const State& s = *a.state;
  auto* const shared = reinterpret_cast<uint32_t*>(shared_memory());
  for (int64_t tile = blockIdx.x; tile < s.n_split_tiles; tile += gridDim.x) {
    const int j = last_at_most(s.n_jobs, tile, [&](int i) { return a.jobs[i].split_tile; });
    split_tile(a, a.jobs[j], (tile - a.jobs[j].split_tile) * kSplitRows, shared);
  }
  // The histograms that are built next start from zero.
  const int64_t n_words = s.n_split_tiles > 0 ? s.n_jobs * a.slot_words : 0;
  for (int64_t i = thread_of_grid(); i < n_words; i += threads_in_grid()) {
    const Job& job = a.jobs[i / a.slot_words];
    if (job.is_searched != 0) a.histograms[a.nodes[job.built].slot * a.slot_words + i % a.slot_words] = 0;
  }
}

// Copies the lanes of one byte: from row by row to lane by lane.
inline void copy_lanes(const Args& a) {
  constexpr int kRows = 256;
  constexpr int kLanes = 32;
  constexpr int kStride = kLanes + 4;  // other banks of shared memory for the next row
  auto* const tile = reinterpret_cast<uint8_t*>(shared_memory());
  const auto thread = static_cast<int>(threadIdx.x);
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * kRows; first < a.n_rows; first += gridDim.x * kRows) {
    const int n_rows = a.n_rows - first < kRows ? static_cast<int>(a.n_rows - first) : kRows;
    for (int lane = 0; lane < a.n_lanes8; lane += kLanes) {
      const int n_lanes = a.n_lanes8 - lane < kLanes ? a.n_lanes8 - lane : kLanes;
      for (int i = thread; i < n_rows * n_lanes; i += kRows) {
        tile[i / n_lanes * kStride + i % n_lanes] = a.rows8[(first + i / n_lanes) * a.stride8 + lane + i % n_lanes];
      }
      __syncthreads();
      for (int i = thread; i < n_rows * n_lanes; i += kRows) {
        a.lanes8[(lane + i / n_rows) * a.n_rows + first + i % n_rows] = tile[i % n_rows * kStride + i / n_rows];
      }
      __syncthreads();
    }
  }
}
