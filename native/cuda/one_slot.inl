// The types of kernels/vector_types.inl for a thread of a GPU: one number at a time. The losses and functions that are
// written with them run there with the same operations, so that their results have the same bits.

#define GOSSAMER_INLINE inline
#define GOSSAMER_EACH [&](int i)

template <int n, class Body>
inline void for_parts(const Body& body) {
  for (int i = 0; i < n; ++i) body(i);
}

template <class T, int N>
struct Slots {
  using Element = T;

  T value;

  Slots() = default;
  Slots(T x) : value(x) {}

  T operator[](int) const { return value; }
  T& operator[](int) { return value; }

#define GOSSAMER_BINARY(op)                                                                                      \
  friend Slots operator op(const Slots& a, const Slots& b) { return Slots(static_cast<T>(a.value op b.value)); } \
  Slots& operator op## = (const Slots& b) { return *this = *this op b; }
  GOSSAMER_BINARY(+)
  GOSSAMER_BINARY(-)
  GOSSAMER_BINARY(*)
  GOSSAMER_BINARY(/)
#undef GOSSAMER_BINARY
#define GOSSAMER_BITS(op) \
  friend Slots operator op(const Slots& a, const Slots& b) { return Slots(static_cast<T>(a.value op b.value)); }
  GOSSAMER_BITS(&)
  GOSSAMER_BITS(|)
  GOSSAMER_BITS(<<)
  GOSSAMER_BITS(>>)
#undef GOSSAMER_BITS
#define GOSSAMER_COMPARE(op) \
  friend bool operator op(const Slots& a, const Slots& b) { return a.value op b.value; }
  GOSSAMER_COMPARE(<)
  GOSSAMER_COMPARE(<=)
  GOSSAMER_COMPARE(>)
  GOSSAMER_COMPARE(>=)
  GOSSAMER_COMPARE(==)
  GOSSAMER_COMPARE(!=)
#undef GOSSAMER_COMPARE
  friend Slots operator-(const Slots& a) { return Slots(-a.value); }
  friend Slots pick(bool condition, const Slots& yes, const Slots& no) { return condition ? yes : no; }
  friend Slots smaller(const Slots& a, const Slots& b) { return a < b ? a : b; }
  friend Slots larger(const Slots& a, const Slots& b) { return a > b ? a : b; }
};

using V8d = Slots<double, 8>;
using V8i = Slots<int64_t, 8>;
using V8u = Slots<uint64_t, 8>;
using V8f = Slots<float, 8>;
using V8i32 = Slots<int32_t, 8>;
using V16f = Slots<float, 16>;
using V16i = Slots<int32_t, 16>;

template <class V, class T>
inline V load(const T* p) {
  return V(static_cast<typename V::Element>(*p));
}
template <class V, class T>
inline void store(T* p, const V& v) {
  *p = v.value;
}
template <class To, class From>
inline To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}
template <class To, class From>
inline To convert(const From& from) {
  return To(static_cast<typename To::Element>(from.value));
}

inline double root_of(double x) { return sqrt(x); }
