// Prediction without walking: all nodes of a small tree are evaluated on all rows of a tile, many rows at a time.
//
// Leaves are numbered from left to right. Nodes come parents first, and `leaf` holds each row's position: the leftmost
// leaf below the node that the row has reached. A row is at node n if and only if its position is n's leftmost leaf
// when n's turn comes; if the row goes right, it moves to the leftmost leaf of the right side:
//
//          n0               Left, then right: at 0; n0 leaves the row there, n1 moves it to 1, n2 only moves rows at 2.
//        /    \             No child is looked up, no branch depends on data, and a comparison serves as many rows
//      n1      n2           as a register has bytes.
//     /  \    /  \         A tree of 255 leaves takes 254 comparisons where a walk makes about ten, and is still
//    0    1  2    3         faster: see docs/prediction.md.

// How many of 16 bounds are below x.
#if defined(GOSSAMER_AVX512)
inline int count_below(const float* bounds, float x) {
  return __builtin_popcount(_mm512_cmp_ps_mask(_mm512_set1_ps(x), _mm512_loadu_ps(bounds), _CMP_GT_OQ));
}
inline int count_below(const double* bounds, double x) {
  const __m512d wide = _mm512_set1_pd(x);
  const unsigned low = _mm512_cmp_pd_mask(wide, _mm512_loadu_pd(bounds), _CMP_GT_OQ);
  const unsigned high = _mm512_cmp_pd_mask(wide, _mm512_loadu_pd(bounds + 8), _CMP_GT_OQ);
  return __builtin_popcount(low | high << 8);
}
#elif defined(GOSSAMER_AVX2)
inline int count_below(const float* bounds, float x) {
  const __m256 wide = _mm256_set1_ps(x);
  const int low = _mm256_movemask_ps(_mm256_cmp_ps(wide, _mm256_loadu_ps(bounds), _CMP_GT_OQ));
  const int high = _mm256_movemask_ps(_mm256_cmp_ps(wide, _mm256_loadu_ps(bounds + 8), _CMP_GT_OQ));
  return __builtin_popcount(static_cast<unsigned>(low | high << 8));
}
inline int count_below(const double* bounds, double x) {
  const __m256d wide = _mm256_set1_pd(x);
  int found = 0;
  for (int i = 0; i < 4; ++i) {
    found |= _mm256_movemask_pd(_mm256_cmp_pd(wide, _mm256_loadu_pd(bounds + 4 * i), _CMP_GT_OQ)) << (4 * i);
  }
  return __builtin_popcount(static_cast<unsigned>(found));
}
#else
template <class T>
inline int count_below(const T* bounds, T x) {
  int n = 0;
  for (int i = 0; i < 16; ++i) n += x > bounds[i] ? 1 : 0;
  return n;
}
#endif

template <class T>
void fill_operands(const FillOperandsArgs<T>& a) {
  constexpr int8_t kLeft = -128;  // not above any threshold
  constexpr int8_t kRight = 127;  // above all of them
  int8_t bins[kOperandRows];
  if (a.n_bounds <= 16) {
    for (int64_t i = 0; i < a.n_rows; ++i) bins[i] = static_cast<int8_t>(count_below(a.bounds, a.values[i]) - 128);
  } else {
    for (int64_t i = 0; i < a.n_rows; ++i) {
      const T x = a.values[i];
      const int part = 16 * count_below(a.pivots, x);
      bins[i] = static_cast<int8_t>(part + count_below(a.bounds + part, x) - 128);
    }
  }
  int32_t n_nan = 0;
  for (int64_t i = 0; i < a.n_rows; ++i) n_nan += a.values[i] != a.values[i] ? 1 : 0;
  const auto write = [&](int8_t* operand, bool zero_is_missing, int8_t missing) {
    if (operand == nullptr) return;
    memcpy(operand, bins, static_cast<size_t>(a.n_rows));
    if (zero_is_missing) {
      for (int64_t i = 0; i < a.n_rows; ++i) {
        const T x = a.values[i];
        operand[i] = x < -kZeroLimit<T> || x > kZeroLimit<T> ? operand[i] : missing;  // NaN compares false
      }
    } else if (n_nan > 0) {
      for (int64_t i = 0; i < a.n_rows; ++i) operand[i] = a.values[i] != a.values[i] ? missing : operand[i];
    }
  };
  write(a.operands[static_cast<int>(OperandKind::nan_left)], false, kLeft);
  write(a.operands[static_cast<int>(OperandKind::nan_right)], false, kRight);
  write(a.operands[static_cast<int>(OperandKind::zero_left)], true, kLeft);
  write(a.operands[static_cast<int>(OperandKind::zero_right)], true, kRight);
  int8_t* const nan_is_zero = a.operands[static_cast<int>(OperandKind::nan_is_zero)];
  if (nan_is_zero == nullptr) return;
  int zero_bin = 0;
  for (int b = 0; b < a.n_bounds && n_nan > 0; ++b) zero_bin += a.bounds[b] < 0 ? 1 : 0;
  write(nan_is_zero, false, static_cast<int8_t>(zero_bin - 128));
}

template <bool kStrided>
inline void fill_set_operands_of(const uint8_t* lane, int row_shift, int64_t n_rows, int8_t* __restrict byte,
                                 int8_t* __restrict bit) {
  for (int64_t i = 0; i < n_rows; ++i) {
    const uint32_t value = lane[kStrided ? i << row_shift : i];
    byte[i] = static_cast<int8_t>((value >> 3) + (value >> 7) * 112);
    bit[i] = static_cast<int8_t>(1u << (value & 7));
  }
}

void fill_set_operands(const uint8_t* lane, int row_shift, int64_t n_rows, int8_t* byte, int8_t* bit) {
  row_shift == 0 ? fill_set_operands_of<false>(lane, 0, n_rows, byte, bit)
                 : fill_set_operands_of<true>(lane, row_shift, n_rows, byte, bit);
}

#if defined(GOSSAMER_AVX2)
constexpr int64_t kMostTileNodes = 255;
#else
constexpr int64_t kMostTileNodes = 15;  // sets are looked up one by one
#endif

// The rows of one register, and how a node moves them from leaf to leaf.
#if defined(GOSSAMER_AVX512)

using LeafVector = __m512i;
inline LeafVector load_leaves(const void* p) { return _mm512_loadu_si512(p); }
inline void store_leaves(void* p, LeafVector v) { _mm512_storeu_si512(p, v); }
inline LeafVector repeat_bytes(uint32_t four) { return _mm512_set1_epi32(static_cast<int>(four)); }
inline LeafVector move_rows(LeafVector leaf, LeafVector bins, LeafVector threshold, LeafVector from, LeafVector to) {
  const __mmask64 right = _mm512_cmpgt_epi8_mask(bins, threshold);
  return _mm512_mask_mov_epi8(leaf, _mm512_mask_cmpeq_epi8_mask(right, leaf, from), to);
}
inline LeafVector repeat_half(const uint8_t* bytes) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
}
// A byte of an index that is 128 or more looks up 0.
inline LeafVector move_rows_in_set(LeafVector leaf, LeafVector byte, LeafVector bit, LeafVector low, LeafVector high,
                                   LeafVector from, LeafVector to) {
  const LeafVector other = _mm512_xor_si512(byte, _mm512_set1_epi8(-128));
  const LeafVector bits = _mm512_or_si512(_mm512_shuffle_epi8(low, byte), _mm512_shuffle_epi8(high, other));
  const __mmask64 moves = _mm512_test_epi8_mask(bits, bit);
  return _mm512_mask_mov_epi8(leaf, _mm512_mask_cmpeq_epi8_mask(moves, leaf, from), to);
}

#elif defined(GOSSAMER_AVX2)

using LeafVector = __m256i;
inline LeafVector load_leaves(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline void store_leaves(void* p, LeafVector v) { _mm256_storeu_si256(static_cast<__m256i*>(p), v); }
inline LeafVector repeat_bytes(uint32_t four) { return _mm256_set1_epi32(static_cast<int>(four)); }
inline LeafVector move_rows(LeafVector leaf, LeafVector bins, LeafVector threshold, LeafVector from, LeafVector to) {
  const __m256i moves = _mm256_and_si256(_mm256_cmpgt_epi8(bins, threshold), _mm256_cmpeq_epi8(leaf, from));
  return _mm256_blendv_epi8(leaf, to, moves);
}
inline LeafVector repeat_half(const uint8_t* bytes) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
}
// A byte of an index that is 128 or more looks up 0.
inline LeafVector move_rows_in_set(LeafVector leaf, LeafVector byte, LeafVector bit, LeafVector low, LeafVector high,
                                   LeafVector from, LeafVector to) {
  const LeafVector other = _mm256_xor_si256(byte, _mm256_set1_epi8(-128));
  const LeafVector bits = _mm256_or_si256(_mm256_shuffle_epi8(low, byte), _mm256_shuffle_epi8(high, other));
  const LeafVector is_set = _mm256_cmpeq_epi8(_mm256_and_si256(bits, bit), bit);
  return _mm256_blendv_epi8(leaf, to, _mm256_and_si256(is_set, _mm256_cmpeq_epi8(leaf, from)));
}

#else

typedef int8_t LeafVector __attribute__((vector_size(16)));
inline LeafVector load_leaves(const void* p) {
  LeafVector v;
  memcpy(&v, p, sizeof(v));
  return v;
}
inline void store_leaves(void* p, LeafVector v) { memcpy(p, &v, sizeof(v)); }
inline LeafVector repeat_bytes(uint32_t four) {
  typedef uint32_t Words __attribute__((vector_size(16)));
  return reinterpret_cast<LeafVector>(Words{four, four, four, four});
}
inline LeafVector move_rows(LeafVector leaf, LeafVector bins, LeafVector threshold, LeafVector from, LeafVector to) {
  const LeafVector moves = (bins > threshold) & (leaf == from);
  return (leaf & ~moves) | (to & moves);
}
inline LeafVector repeat_half(const uint8_t* bytes) { return load_leaves(bytes); }
inline LeafVector move_rows_in_set(LeafVector leaf, LeafVector byte, LeafVector bit, LeafVector low, LeafVector high,
                                   LeafVector from, LeafVector to) {
  LeafVector bits;
  for (int i = 0; i < 16; ++i) bits[i] = byte[i] < 0 ? high[byte[i] & 15] : low[byte[i] & 15];
  const LeafVector moves = ((bits & bit) == bit) & (leaf == from);
  return (leaf & ~moves) | (to & moves);
}

#endif

// kVectors registers of rows go through the nodes together, so that a node is read once for all of them.
template <int kVectors, bool kSets>
inline void find_leaves_of(const CompactNode* nodes, int64_t n_nodes, const CategoryBits* sets, const int8_t* operands,
                           uint8_t* leaf) {
  constexpr int kBytes = static_cast<int>(sizeof(LeafVector));
  LeafVector at[kVectors];
  for (int v = 0; v < kVectors; ++v) at[v] = repeat_bytes(0);
  for (int64_t n = 0; n < n_nodes; ++n) {
    const CompactNode& node = nodes[n];
    const LeafVector from = repeat_bytes(node.leaf);
    const LeafVector to = repeat_bytes(node.right_leaf);
    if (kSets && (node.operand & kCategoryOperand) != 0) {
      const int8_t* const where = operands + static_cast<int64_t>(node.operand & ~kCategoryOperand) * kOperandRows;
      const LeafVector low = repeat_half(sets[node.threshold].byte);
      const LeafVector high = repeat_half(sets[node.threshold].byte + 16);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const LeafVector bit = load_leaves(where + kOperandRows + v * kBytes);
        at[v] = move_rows_in_set(at[v], load_leaves(where + v * kBytes), bit, low, high, from, to);
      }
      continue;
    }
    const int8_t* const bins = operands + static_cast<int64_t>(node.operand) * kOperandRows;
    const LeafVector threshold = repeat_bytes(node.threshold);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) at[v] = move_rows(at[v], load_leaves(bins + v * kBytes), threshold, from, to);
  }
  for (int v = 0; v < kVectors; ++v) store_leaves(leaf + v * kBytes, at[v]);
}

template <bool kSets>
inline void find_leaves_in(const CompactNode* nodes, int64_t n_nodes, const CategoryBits* sets, const int8_t* operands,
                           int64_t n_rows, uint8_t* leaf) {
  constexpr int kBytes = static_cast<int>(sizeof(LeafVector));
  constexpr int kVectors = 256 / kBytes < 8 ? 256 / kBytes : 8;
  int64_t row = 0;
  const auto run = [&]<int kAtOnce>() {
    find_leaves_of<kAtOnce, kSets>(nodes, n_nodes, sets, operands + row, leaf + row);
    row += kAtOnce * kBytes;
  };
  while (row + (kVectors - 1) * kBytes < n_rows) run.template operator()<kVectors>();
  while (row + kBytes < n_rows) run.template operator()<2>();
  while (row < n_rows) run.template operator()<1>();
}

void find_leaves(const CompactNode* nodes, int64_t n_nodes, const CategoryBits* sets, const int8_t* operands,
                 int64_t n_rows, uint8_t* leaf) {
  if (sets == nullptr) {
    find_leaves_in<false>(nodes, n_nodes, sets, operands, n_rows, leaf);
  } else {
    find_leaves_in<true>(nodes, n_nodes, sets, operands, n_rows, leaf);
  }
}

void add_leaf_values(const double* values, int64_t n_leaves, const uint8_t* leaf, int64_t n_rows, double* score) {
  int64_t i = 0;
#if defined(GOSSAMER_AVX512)
  if (n_leaves <= 32) {  // the values fit four registers
    const __m512d v0 = _mm512_loadu_pd(values);
    const __m512d v1 = _mm512_loadu_pd(values + 8);
    const __m512d v2 = _mm512_loadu_pd(values + 16);
    const __m512d v3 = _mm512_loadu_pd(values + 24);
    for (; i + 8 <= n_rows; i += 8) {
      const __m512i at = _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(leaf + i)));
      const __m512d low = _mm512_permutex2var_pd(v0, at, v1);
      const __m512d high = _mm512_permutex2var_pd(v2, at, v3);
      const __mmask8 is_high = _mm512_test_epi64_mask(at, _mm512_set1_epi64(16));
      const __m512d value = _mm512_mask_mov_pd(low, is_high, high);
      _mm512_storeu_pd(score + i, _mm512_add_pd(_mm512_loadu_pd(score + i), value));
    }
  }
#endif
  (void)n_leaves;
  for (; i < n_rows; ++i) score[i] += values[leaf[i]];
}
