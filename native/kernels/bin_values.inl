// Converts values to bins by a branchless binary search: all slots take the same number of steps.

// The largest T at or below 1e-35, so that float and double data agree on what counts as zero.
template <class T>
constexpr T kZeroLimit = T(1e-35);
template <>
constexpr float kZeroLimit<float> = 0x1.a95a5ap-117f;

template <class T>
void bin_values(const BinValuesArgs<T>& a) {
  constexpr int kSlots = 16;
  const T* const bounds = a.bounds;
  for (int64_t i = 0; i < a.n; i += kSlots) {
    const int n_used = a.n - i < kSlots ? static_cast<int>(a.n - i) : kSlots;
    T x[kSlots] = {};
    for (int k = 0; k < n_used; ++k) x[k] = a.values[i + k];
    bool missing[kSlots];
    for (int k = 0; k < kSlots; ++k) {
      const bool nan = x[k] != x[k];
      missing[k] =
          (nan && !a.nan_is_zero) || (a.zero_is_missing && (nan || (x[k] <= kZeroLimit<T> && x[k] >= -kZeroLimit<T>)));
      x[k] = nan ? T(0) : x[k];
    }
    int32_t at[kSlots] = {};
    for (int step = 1 << a.n_steps >> 1; step > 0; step >>= 1) {
      for (int k = 0; k < kSlots; ++k) at[k] += x[k] > bounds[at[k] + step - 1] ? step : 0;
    }
    for (int k = 0; k < n_used; ++k) {
      a.bins[i + k] = missing[k] ? a.missing_bin : static_cast<uint16_t>(at[k]);
    }
  }
}
