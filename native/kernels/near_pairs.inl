// Pairs of NDCG in single precision, sixteen at a time, where the scores of a query are near each other.
//
// Numbers that are subtracted come as two floats, their rounding and the rest: otherwise close scores, gains or
// discounts would lose most of their difference.

using V16d = Slots<double, 16>;

constexpr double kNearest = 32.0;     // sigmoid * distance: exp of it is far below the largest float
constexpr double kLowFloor = 1e-15;   // below p (1 - p) of all such distances
constexpr double kLongest = 1e15;     // distance
constexpr double kLargestGain = 1e6;  // over the best possible DCG

// Columns of a block of sixteen ranks, which are contiguous.
enum NearColumn : int64_t { kDistance, kGain = 2, kDiscount = 4, kGrown = 6, kShrunk, kNearColumns };

inline float* near_column(const LambdaArgs& a, int64_t rank, int64_t column) {
  return a.near + (rank / 16 * kNearColumns + column) * 16 + rank % 16;
}

inline void put_halves(const LambdaArgs& a, int64_t rank, int64_t column, const V8d& x) {
  const V8f high = convert<V8f>(x);
  store(near_column(a, rank, column), high);
  store(near_column(a, rank, column + 1), convert<V8f>(x - to_double(high)));
}

// False if single precision does not do.
inline bool fill_near(const LambdaArgs& a) {
  const double longest = a.score[0] - a.score[a.n - 1];
  if (!(a.gains_rise && a.sigmoid * longest < kNearest && longest < kLongest && a.hessian_floor < kLowFloor)) {
    return false;
  }
  const V8i slot = slot_numbers();
  V8d largest = fill8(0.0);
  for (int64_t i = 0; i < (a.n + 15) / 16 * 16; i += 8) {
    // Past the last row: the best gain and an exponential of 0 make gradients of 0.
    const V8i is_row = slot < a.n - i;
    const V8d distance = pick(is_row, a.score[0] - load<V8d>(a.score + i), fill8(longest));
    const V8d gain = pick(is_row, load<V8d>(a.gain + i) * a.scale, fill8(kLargestGain));
    const V8d grown = exp8(distance * a.sigmoid);
    largest = max8(largest, abs8(gain));
    put_halves(a, i, kDistance, distance);
    put_halves(a, i, kGain, gain);
    put_halves(a, i, kDiscount, load<V8d>(a.discount + i));
    store(near_column(a, i, kGrown), convert<V8f>(pick(is_row, grown, fill8(0.0))));
    store(near_column(a, i, kShrunk), convert<V8f>(1.0 / grown));
  }
  return max_slot(largest) <= kLargestGain;
}

struct NearPairs {
  V16f gradient, hessian;  // without the powers of `sigmoid`; the gradient is that of the second row
};

// Pairs of one rank with sixteen. `counts`: nullptr if all of them are pairs.
template <bool kDivide>
GOSSAMER_INLINE NearPairs near_pairs(const float* first, const float* second, const V16i* counts) {
  const auto difference = [&](int64_t column) __attribute__((always_inline)) {
    const V16f high = V16f(first[column * 16]) - load<V16f>(second + column * 16);
    return high + (V16f(first[column * 16 + 16]) - load<V16f>(second + column * 16 + 16));
  };
  V16f closeness = difference(kDistance);  // 0 or negative
  V16f gap = difference(kGain);            // its sign says which row is better
  if (counts != nullptr) {
    closeness = pick(*counts, closeness, V16f(0.0f));
    gap = pick(*counts, gap, V16f(0.0f));
  }
  const V16f delta = gap * difference(kDiscount);
  const V16f e = V16f(first[kShrunk * 16]) * load<V16f>(second + kGrown * 16);
  const V16f spread = kDivide ? V16f(0.01f) - closeness : V16f(1.0f);
  // p is 1 / (1 + e), or e times that if the second row should be first. It shares a division with the difference.
  const V16f inverse = V16f(1.0f) / (kDivide ? (V16f(1.0f) + e) * spread : V16f(1.0f) + e);
  const V16f other = e * inverse;
  const V16f least = kDivide ? spread * inverse : inverse;
  const V16f size = bits_as<V16f>(bits_as<V16i>(delta) & 0x7fffffff);
  return {delta * pick(gap > V16f(0.0f), inverse, other), size * (other * least)};
}

inline double sum16(const V16f& v) {
  const auto* const slots = reinterpret_cast<const float*>(&v);
  return sum8(to_double(load<V8f>(slots) + load<V8f>(slots + 8)));
}

template <bool kDivide>
double add_near_pairs(const LambdaArgs& a, int64_t n_top) {
  // Sums of so few pairs lose little in single precision.
  constexpr int64_t kFirsts = 32;
  constexpr int64_t kTile = 1024;
  const double per_hessian = a.sigmoid * a.sigmoid * a.hessian_factor;
  V16i slot;
  for (int k = 0; k < 16; ++k) slot[k] = k;
  V16d total(0.0);
  for (int64_t begin = 0; begin < n_top; begin += kFirsts) {
    const int64_t n_firsts = n_top - begin < kFirsts ? n_top - begin : kFirsts;
    for (int64_t tile = begin; tile < a.n; tile += kTile) {
      NearPairs sums[kFirsts];
      for (int64_t k = 0; k < n_firsts; ++k) sums[k] = {V16f(0.0f), V16f(0.0f)};
      for (int64_t j = tile; j < tile + kTile && j < a.n; j += 16) {
        const float* const second = near_column(a, j, 0);
        NearPairs own = {V16f(0.0f), V16f(0.0f)};
        V16f size(0.0f);
        const auto add = [&](int64_t k, const V16i* counts) __attribute__((always_inline)) {
          const NearPairs pairs = near_pairs<kDivide>(near_column(a, begin + k, 0), second, counts);
          own.gradient += pairs.gradient;
          own.hessian += pairs.hessian;
          sums[k].gradient += pairs.gradient;
          sums[k].hessian += pairs.hessian;
          size += bits_as<V16f>(bits_as<V16i>(pairs.gradient) & 0x7fffffff);
        };
        int64_t k = 0;
        for (; k < n_firsts && begin + k < j; ++k) add(k, nullptr);
        for (; k < n_firsts && begin + k < j + 15; ++k) {
          const V16i counts = slot > static_cast<int32_t>(begin + k - j);
          add(k, &counts);
        }
        store(a.gradient + j, load<V16d>(a.gradient + j) + convert<V16d>(own.gradient) * V16d(a.sigmoid));
        store(a.hessian + j, load<V16d>(a.hessian + j) + convert<V16d>(own.hessian) * V16d(per_hessian));
        total += convert<V16d>(size);
      }
      for (int64_t k = 0; k < n_firsts; ++k) {
        a.gradient[begin + k] -= sum16(sums[k].gradient) * a.sigmoid;
        a.hessian[begin + k] += sum16(sums[k].hessian) * per_hessian;
      }
    }
  }
  V8d half[2];
  memcpy(half, &total, sizeof(total));
  return 2.0 * a.sigmoid * sum8(half[0] + half[1]);
}
