// Eight or sixteen numbers that are computed together, in as many registers as the level needs.
//
// The compiler's vector types alone do not do: a type that is wider than a register has good code for + and *, but gcc
// takes its comparisons, choices and integer operations apart, number by number.

#if defined(GOSSAMER_AVX512)
constexpr int kRegisterBytes = 64;
#elif defined(GOSSAMER_AVX2)
constexpr int kRegisterBytes = 32;
#else
constexpr int kRegisterBytes = 16;
#endif

#define GOSSAMER_INLINE inline __attribute__((always_inline))

// Calls body(0), ..., body(n - 1). A loop would often be unrolled too late for its arrays to live in registers.
template <int n, class Body>
GOSSAMER_INLINE void for_parts(const Body& body) {
  if constexpr (n > 0) {
    for_parts<n - 1>(body);
    body(n - 1);
  }
}
#define GOSSAMER_EACH [&](int i) __attribute__((always_inline))

template <int kBytes>
struct IntOf {
  using type = int64_t;
};
template <>
struct IntOf<4> {
  using type = int32_t;
};

template <class T, int N>
struct Slots {
  static constexpr int kSize = static_cast<int>(sizeof(T));
  static constexpr int kPerPart = N * kSize <= kRegisterBytes ? N : kRegisterBytes / kSize;
  static constexpr int kParts = N / kPerPart;
  typedef T Part __attribute__((vector_size(kPerPart * kSize)));
  using Element = T;
  using Mask = Slots<typename IntOf<kSize>::type, N>;  // of a comparison: all bits of a slot, or none

  Part part[kParts];

  Slots() = default;
  GOSSAMER_INLINE Slots(T x) {
    for_parts<kParts>(GOSSAMER_EACH { part[i] = x - Part{}; });  // keeps the sign of -0.0
  }

  GOSSAMER_INLINE T operator[](int k) const { return part[k / kPerPart][k % kPerPart]; }
  GOSSAMER_INLINE T& operator[](int k) { return reinterpret_cast<T*>(part)[k]; }

  template <class Result = Slots, class F>
  static GOSSAMER_INLINE Result zip(const Slots& a, const Slots& b, F f) {
    Result r;
    for_parts<kParts>(GOSSAMER_EACH { r.part[i] = f(a.part[i], b.part[i]); });
    return r;
  }

#define GOSSAMER_BINARY(op)                                                        \
  friend GOSSAMER_INLINE Slots operator op(const Slots& a, const Slots& b) {       \
    return zip(a, b, [](const Part& x, const Part& y) -> Part { return x op y; }); \
  }                                                                                \
  GOSSAMER_INLINE Slots& operator op## = (const Slots& b) { return *this = *this op b; }
  GOSSAMER_BINARY(+)
  GOSSAMER_BINARY(-)
  GOSSAMER_BINARY(*)
  GOSSAMER_BINARY(/)
  GOSSAMER_BINARY(&)
  GOSSAMER_BINARY(|)
  GOSSAMER_BINARY(<<)
  GOSSAMER_BINARY(>>)
#undef GOSSAMER_BINARY

#define GOSSAMER_COMPARE(op)                                                                                      \
  friend GOSSAMER_INLINE Mask operator op(const Slots& a, const Slots& b) {                                       \
    return Slots::template zip<Mask>(                                                                             \
        a, b, [](const Part& x, const Part& y) -> typename Mask::Part { return (typename Mask::Part)(x op y); }); \
  }
  GOSSAMER_COMPARE(<)
  GOSSAMER_COMPARE(<=)
  GOSSAMER_COMPARE(>)
  GOSSAMER_COMPARE(>=)
  GOSSAMER_COMPARE(==)
  GOSSAMER_COMPARE(!=)
#undef GOSSAMER_COMPARE

  friend GOSSAMER_INLINE Slots operator-(const Slots& a) {
    Slots r;
    for_parts<kParts>(GOSSAMER_EACH { r.part[i] = -a.part[i]; });
    return r;
  }

  // `yes` in the slots that the mask has, `no` in the others.
  friend GOSSAMER_INLINE Slots pick(const Mask& mask, const Slots& yes, const Slots& no) {
    Slots r;
    for_parts<kParts>(GOSSAMER_EACH { r.part[i] = mask.part[i] ? yes.part[i] : no.part[i]; });
    return r;
  }
};

using V8d = Slots<double, 8>;
using V8i = Slots<int64_t, 8>;
using V8u = Slots<uint64_t, 8>;
using V8f = Slots<float, 8>;
using V8i32 = Slots<int32_t, 8>;
using V16f = Slots<float, 16>;
using V16i = Slots<int32_t, 16>;

// Part by part: copied at once, a wide value would go through the stack.
template <class V, class T>
GOSSAMER_INLINE V load(const T* p) {
  V v;
  for_parts<V::kParts>(GOSSAMER_EACH {
    memcpy(&v.part[i], reinterpret_cast<const char*>(p) + i * static_cast<int>(sizeof(v.part[i])), sizeof(v.part[i]));
  });
  return v;
}

template <class V, class T>
GOSSAMER_INLINE void store(T* p, const V& v) {
  for_parts<V::kParts>(GOSSAMER_EACH {
    memcpy(reinterpret_cast<char*>(p) + i * static_cast<int>(sizeof(v.part[i])), &v.part[i], sizeof(v.part[i]));
  });
}

// The same bits as numbers of another type.
template <class To, class From>
GOSSAMER_INLINE To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  for_parts<To::kParts>(GOSSAMER_EACH { to.part[i] = (typename To::Part)from.part[i]; });
  return to;
}

// a < b ? a : b and a > b ? a : b in each slot: b, where one of them is NaN. That is the rule of x86's instructions,
// but gcc does not use them.
#define GOSSAMER_EXTREME(name, op, instruction)                                                        \
  template <class V>                                                                                   \
  GOSSAMER_INLINE V name(const V& a, const V& b) {                                                     \
    return V::zip(a, b, [](const typename V::Part& x, const typename V::Part& y) -> typename V::Part { \
      GOSSAMER_EXTREME_OF_REGISTERS(instruction)                                                       \
      return x op y ? x : y;                                                                           \
    });                                                                                                \
  }
#if defined(GOSSAMER_AVX512)
#define GOSSAMER_EXTREME_OF_REGISTERS(instruction)                                                          \
  if constexpr (sizeof(x) == 64 && V::kSize == 8) return _mm512_##instruction##_pd((__m512d)x, (__m512d)y); \
  if constexpr (sizeof(x) == 64 && V::kSize == 4) return _mm512_##instruction##_ps((__m512)x, (__m512)y);
#else
#define GOSSAMER_EXTREME_OF_REGISTERS(instruction)
#endif
GOSSAMER_EXTREME(smaller, <, min)
GOSSAMER_EXTREME(larger, >, max)
#undef GOSSAMER_EXTREME
#undef GOSSAMER_EXTREME_OF_REGISTERS

// One register from two halves. Written to memory, they could not be read together without a stall.
template <class Whole, class Half>
GOSSAMER_INLINE Whole join(const Half& low, const Half& high) {
#if defined(GOSSAMER_AVX512)
  if constexpr (sizeof(Half) == 32)
    return (Whole)_mm512_inserti64x4(_mm512_castsi256_si512((__m256i)low), (__m256i)high, 1);
#endif
#if defined(GOSSAMER_AVX2)
  if constexpr (sizeof(Half) == 16)
    return (Whole)_mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)low), (__m128i)high, 1);
#endif
  Whole whole;
  memcpy(&whole, &low, sizeof(low));
  memcpy(reinterpret_cast<char*>(&whole) + sizeof(low), &high, sizeof(high));
  return whole;
}

// Numbers of another type with the same values; half as many fit a register, or twice as many.
template <class To, class From>
GOSSAMER_INLINE To convert(const From& from) {
  To to;
  if constexpr (To::kParts == From::kParts) {
    for_parts<To::kParts>(GOSSAMER_EACH { to.part[i] = __builtin_convertvector(from.part[i], typename To::Part); });
  } else if constexpr (To::kParts > From::kParts) {
    typedef typename From::Element Half __attribute__((vector_size(sizeof(typename From::Part) / 2)));
    for_parts<To::kParts>(GOSSAMER_EACH {
      Half half;
      memcpy(&half, reinterpret_cast<const char*>(&from) + static_cast<size_t>(i) * sizeof(half), sizeof(half));
      to.part[i] = __builtin_convertvector(half, typename To::Part);
    });
  } else {
    typedef typename To::Element Half __attribute__((vector_size(sizeof(typename To::Part) / 2)));
    for_parts<To::kParts>(GOSSAMER_EACH {
      to.part[i] = join<typename To::Part>(__builtin_convertvector(from.part[2 * i], Half),
                                           __builtin_convertvector(from.part[2 * i + 1], Half));
    });
  }
  return to;
}

// Comparisons of eight slots. On AVX-512 the results live in mask registers, which gcc's vector types would
// move to vector registers and back.
#if defined(GOSSAMER_AVX512)
using Mask8 = __mmask8;
inline __m512d raw(const V8d& v) {
  __m512d r;
  memcpy(&r, &v, sizeof(r));
  return r;
}
inline Mask8 at_least(const V8d& a, const V8d& b) { return _mm512_cmp_pd_mask(raw(a), raw(b), _CMP_GE_OQ); }
inline Mask8 above(const V8d& a, const V8d& b) { return _mm512_cmp_pd_mask(raw(a), raw(b), _CMP_GT_OQ); }
inline bool any(Mask8 mask) { return mask != 0; }
inline bool is_set(Mask8 mask, int k) { return (mask >> k) & 1; }
#else
using Mask8 = V8i;
inline Mask8 at_least(const V8d& a, const V8d& b) { return a >= b; }
inline Mask8 above(const V8d& a, const V8d& b) { return a > b; }
inline bool any(const Mask8& m) {
  V8i::Part all = m.part[0];
  for (int i = 1; i < V8i::kParts; ++i) all |= m.part[i];
#if defined(GOSSAMER_AVX2)
  return _mm256_testz_si256((__m256i)all, (__m256i)all) == 0;
#else
  return (all[0] | all[1]) != 0;
#endif
}
inline bool is_set(const Mask8& mask, int k) { return mask[k] != 0; }
#endif

// IEEE: the same everywhere.
inline double root_of(double x) { return __builtin_sqrt(x); }

#if defined(GOSSAMER_AVX2) && !defined(GOSSAMER_AVX512)

// For each set of eight slots, the slots in it and then the others: one byte each.
struct SlotOrder {
  uint64_t first[256] = {};

  constexpr SlotOrder() {
    for (int set = 0; set < 256; ++set) {
      int at = 0;
      for (int side = 1; side >= 0; --side) {
        for (uint64_t k = 0; k < 8; ++k) {
          if ((set >> k & 1) == side) first[set] |= k << (8 * at++);
        }
      }
    }
  }
};
constexpr SlotOrder kSlotOrder;

// Eight 32-bit slots, those of the set first; AVX-512 has an instruction for it.
GOSSAMER_INLINE __m256i put_first(__m256i slots, uint32_t set) {
  const __m128i order = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kSlotOrder.first + set));
  return _mm256_permutevar8x32_epi32(slots, _mm256_cvtepu8_epi32(order));
}

#endif
