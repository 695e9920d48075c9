// The rows of a tree: bagging, GOSS and MVS. They are the rows that core/row_sampler.cpp and core/gradient_sampler.cpp
// draw, with the same weights.

constexpr int kSampleThreads = 256;

// How much a row matters: bits of a float that is not negative.
inline uint32_t score_bits(const SampleArgs& s, int64_t row) {
  constexpr uint32_t kInfinity = 0x7F800000u;
  uint32_t bits;
  if (s.n_outputs == 1 && s.reg == 0.0) {
    memcpy(&bits, s.gradient + row, sizeof(bits));
    bits &= 0x7FFFFFFFu;
    return bits > kInfinity ? 0 : bits;
  }
  double squares = 0.0;
  for (int k = 0; k < s.n_outputs; ++k) {
    const double x = s.gradient[k * s.n_rows + row];
    const double y = s.hessian[k * s.n_rows + row];
    squares += x * x + s.reg * (y * y);
  }
  const auto score = static_cast<float>(sqrt(squares));
  memcpy(&bits, &score, sizeof(bits));
  return score > 0.0f ? bits : 0;
}

inline double score_of_bits(uint32_t bits) {
  float score;
  memcpy(&score, &bits, sizeof(score));
  return score;
}

inline int64_t rows_of_block(int64_t block, int64_t n) {
  const int64_t left = n - block * kSampleBlock;
  return left < kSampleBlock ? left : kSampleBlock;
}

inline int64_t n_sample_blocks(int64_t n) { return (n + kSampleBlock - 1) / kSampleBlock; }

// Counts one digit of the scores that have a prefix.
inline void count_digits(const SampleArgs& s) {
  auto* const own = reinterpret_cast<uint32_t*>(shared_memory());
  const auto n_digits = static_cast<uint32_t>(s.n_digits);
  for (uint32_t d = threadIdx.x; d < n_digits; d += blockDim.x) own[d] = 0;
  __syncthreads();
  const int64_t step = threads_in_grid();
  for (int64_t first = thread_of_grid() - threadIdx.x; first < s.n_rows; first += step) {
    const int64_t row = first + threadIdx.x;
    uint32_t digit = n_digits;  // none
    if (row < s.n_rows) {
      const uint32_t above = score_bits(s, row) >> s.shift;
      if (above / n_digits == s.prefix) digit = above % n_digits;
    }
    // Scores of a warp are often all the same: one thread counts them.
    const uint32_t of_first = __shfl_sync(kAll, digit, 0);
    if (__ballot_sync(kAll, digit == of_first) == kAll) {
      if (lane_of_thread() == 0 && digit < n_digits) atomicAdd(&own[digit], 32u);
    } else if (digit < n_digits) {
      atomicAdd(&own[digit], 1u);
    }
  }
  __syncthreads();
  for (uint32_t d = threadIdx.x; d < n_digits; d += blockDim.x) {
    if (own[d] != 0) atomicAdd(&s.digits[d], own[d]);
  }
}

// Counts the rows above the border, and those at it.
inline void count_tops(const SampleArgs& s) {
  auto* const shared = reinterpret_cast<int64_t*>(shared_memory());
  for (int64_t b = blockIdx.x; b < n_sample_blocks(s.n_rows); b += gridDim.x) {
    int64_t own = 0;  // rows at the border, and in the upper half those above it
    for (int64_t i = threadIdx.x; i < rows_of_block(b, s.n_rows); i += kSampleThreads) {
      const uint32_t bits = score_bits(s, b * kSampleBlock + i);
      own += bits > s.border ? int64_t{1} << 32 : bits == s.border ? 1 : 0;
    }
    int64_t all = 0;
    sum_before(own, shared, all);
    if (threadIdx.x != 0) continue;
    s.counts[b] = all >> 32;
    s.ties[b] = all & 0xffffffff;
  }
}

// Adds up numbers in the order of `add_up` in core/gradient_sampler.cpp: every eighth one, then the eight sums.
inline void sum_blocks(const SampleArgs& s) {
  constexpr int kSums = 8;
  auto* const shared = reinterpret_cast<int64_t*>(shared_memory());
  auto* const partial = reinterpret_cast<double*>(shared + 33);
  auto* const values = reinterpret_cast<float*>(partial + kSums);
  for (int64_t b = blockIdx.x; b < n_sample_blocks(s.n_values); b += gridDim.x) {
    const int64_t n = rows_of_block(b, s.n_values);
    int64_t n_sure = 0;
    for (int64_t i = threadIdx.x; i < n; i += kSampleThreads) {
      const int64_t at = b * kSampleBlock + i;
      if (s.kind == kBelowMu) {
        const double score = score_of_bits(score_bits(s, at));
        const bool is_sure = score > 0.0 && score >= s.mu;
        n_sure += is_sure;
        values[i] = is_sure ? 0.0f : static_cast<float>(score);
      } else {
        values[i] = s.kind == kGradients ? fabsf(s.gradient[at]) : s.hessian[at];
      }
    }
    int64_t all_sure = 0;
    sum_before(n_sure, shared, all_sure);
    if (threadIdx.x < kSums) {
      double sum = 0.0;
      for (int64_t i = threadIdx.x; i < n; i += kSums) sum += static_cast<double>(values[i]);
      partial[threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      double sum = 0.0;
      for (int j = 0; j < kSums; ++j) sum += partial[j];
      s.sums[b] = sum;
      s.counts[b] = all_sure;
    }
    __syncthreads();
  }
}

// Whether a row is in the sample. `weight` becomes the weight of its gradient.
inline bool is_drawn(const SampleArgs& s, int64_t row, double& weight) {
  const auto counter = static_cast<uint64_t>(row);
  weight = 1.0;
  if (s.kind == kBagging) {
    const bool is_positive = s.label != nullptr && s.label[row] > 0.0f;
    return random_unit(s.key, counter) < (is_positive ? s.fraction_positive : s.fraction_negative);
  }
  const double score = score_of_bits(score_bits(s, row));
  if (!(draw_unit(s.key, counter) * s.mu < score)) return false;
  if (score < s.mu) weight = s.mu / score;
  return true;
}

inline void weigh_row(const SampleArgs& s, int64_t row, double weight) {
  for (int k = 0; k < s.n_outputs; ++k) {
    const int64_t at = k * s.n_rows + row;
    s.gradient[at] = weighted(s.gradient[at], weight);
    s.hessian[at] = weighted(s.hessian[at], weight);
  }
}

inline void count_drawn(const SampleArgs& s) {
  auto* const shared = reinterpret_cast<int64_t*>(shared_memory());
  for (int64_t b = blockIdx.x; b < n_sample_blocks(s.n_rows); b += gridDim.x) {
    int64_t own = 0;
    double weight = 0.0;
    for (int64_t i = threadIdx.x; i < rows_of_block(b, s.n_rows); i += kSampleThreads) {
      own += is_drawn(s, b * kSampleBlock + i, weight);
    }
    int64_t all = 0;
    sum_before(own, shared, all);
    if (threadIdx.x == 0) s.counts[b] = all;
  }
}

inline void list_drawn(const SampleArgs& s) {
  auto* const shared = reinterpret_cast<int64_t*>(shared_memory());
  for (int64_t b = blockIdx.x; b < n_sample_blocks(s.n_rows); b += gridDim.x) {
    const int64_t n = rows_of_block(b, s.n_rows);
    int64_t place = s.places[b];
    for (int64_t first = 0; first < n; first += kSampleThreads) {
      const int64_t row = b * kSampleBlock + first + threadIdx.x;
      double weight = 1.0;
      const bool is_in = first + threadIdx.x < n && is_drawn(s, row, weight);
      int64_t found = 0;
      const int64_t own = place + sum_before<int64_t>(is_in ? 1 : 0, shared, found);
      place += found;
      if (!is_in) continue;
      s.rows[own] = static_cast<uint32_t>(row);
      if (weight != 1.0) weigh_row(s, row, weight);
    }
  }
}

// Room in shared memory for drawing rows outside the top.
struct DrawMemory {
  int64_t sums[33];
  uint16_t places[kSampleBlock];
  uint8_t is_drawn[kSampleBlock];
};

// Draws rows of a block that are not in the top, as `draw_others` in core/gradient_sampler.cpp does.
inline void draw_others(const SampleArgs& s, int64_t block, int64_t n_others, DrawMemory& m) {
  const int64_t n_drawn = s.draws[block];
  const int64_t first = n_others - n_drawn;
  const auto counter = static_cast<uint64_t>(block * kSampleBlock) / 2;
  for (int64_t i = threadIdx.x; i < n_drawn; i += kSampleThreads) {
    const uint64_t bits = draw_bits(s.key, counter + static_cast<uint64_t>(i) / 2);
    const uint64_t random = i % 2 == 0 ? bits & 0xffffffffu : bits >> 32;  // two draws share 64 bits
    m.places[i] = static_cast<uint16_t>(draw_place(random, first + i));
  }
  for (int64_t i = threadIdx.x; i < n_others; i += kSampleThreads) m.is_drawn[i] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int64_t i = 0; i < n_drawn; ++i) {
      const int64_t place = m.places[i];
      m.is_drawn[m.is_drawn[place] != 0 ? first + i : place] = 1;
    }
  }
  __syncthreads();
}

inline void list_goss(const SampleArgs& s) {
  auto& m = *reinterpret_cast<DrawMemory*>(shared_memory());
  for (int64_t b = blockIdx.x; b < n_sample_blocks(s.n_rows); b += gridDim.x) {
    const int64_t n = rows_of_block(b, s.n_rows);
    const int64_t n_ties = s.ties[b];  // in the top
    draw_others(s, b, n - s.counts[b] - n_ties, m);
    int64_t place = s.places[b];
    int64_t n_ties_before = 0;
    int64_t n_others_before = 0;
    for (int64_t first = 0; first < n; first += kSampleThreads) {
      const int64_t row = b * kSampleBlock + first + threadIdx.x;
      const bool exists = first + threadIdx.x < n;
      const uint32_t bits = exists ? score_bits(s, row) : 0;
      const bool is_tie = exists && bits == s.border;
      int64_t found = 0;
      const int64_t tie = n_ties_before + sum_before<int64_t>(is_tie ? 1 : 0, m.sums, found);
      n_ties_before += found;
      const bool is_top = exists && (bits > s.border || (is_tie && tie < n_ties));
      const int64_t other = n_others_before + sum_before<int64_t>(exists && !is_top ? 1 : 0, m.sums, found);
      n_others_before += found;
      const bool is_weighted = exists && !is_top && m.is_drawn[other] != 0;
      const int64_t own = place + sum_before<int64_t>(is_top || is_weighted ? 1 : 0, m.sums, found);
      place += found;
      if (is_top || is_weighted) s.rows[own] = static_cast<uint32_t>(row);
      if (is_weighted) weigh_row(s, row, s.weight);
    }
    __syncthreads();
  }
}
