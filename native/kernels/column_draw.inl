// Random choices of features, on the host and on a GPU.

constexpr uint64_t kLevelStream = 0x6c6576656cull;
constexpr uint64_t kNodeStream = 0x6e6f6465ull;

// -log(1 - u) for the uniform u given by 64 random bits, by + - * / alone: the same on every machine.
inline double exponential(uint64_t bits) {
  int exponent = 0;
  double m = frexp(static_cast<double>(~bits >> 11) * 0x1.0p-53 + 0x1.0p-54, &exponent);  // 1 - u
  if (m < 0.70710678118654752) {
    m *= 2.0;
    --exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  double sum = 0.0;
  for (int k = 19; k >= 1; k -= 2) sum = sum * s * s + 1.0 / k;  // log(m) = 2 artanh(s)
  const double time = -(2.0 * s * sum + exponent * 0.69314718055994531);
  return time > 0.0 ? time : 0.0;  // never -0
}

// The arrival time of a feature of this weight, as an integer of the same order. Features of weight 0 come after all
// others, in random order.
inline uint64_t arrival(uint64_t bits, double weight) {
  constexpr uint64_t kNever = 0x7ff0000000000000ull;  // infinity
  if (!(weight > 0.0)) return kNever + (bits >> 12);
  const double time = exponential(bits) / weight;
  uint64_t found;
  memcpy(&found, &time, sizeof(found));
  return found == kNever ? kNever + (bits >> 12) : found;
}
