// Split finding in rows that are sorted by value, see core/sorted_lists.h. Sums are integers: they are exact, and
// the same whichever feature the rows are sorted by.

constexpr uint32_t kNewValueBit = uint32_t{1} << 31;

struct HalfWords {
  const uint64_t* values;

  void add(uint32_t row, int64_t& gradient, int64_t& hessian) const {
    const uint64_t value = values[row];
    gradient += static_cast<int64_t>(value) >> 32;
    hessian += static_cast<int64_t>(value & 0xffffffffu);
  }
};

struct WideWords {
  const WideCell* values;
  int count_bits;

  void add(uint32_t row, int64_t& gradient, int64_t& hessian) const {
    const WideCell& value = values[row];
    gradient += static_cast<int64_t>(value.gradient);
    hessian += static_cast<int64_t>(value.hessian_count >> count_bits);
  }
};

// Sums before each entry where another value begins. With kSteps only where `step` of hessian has been added since the
// last such entry.
template <bool kSteps, bool kConstant, class Words>
int note_thresholds(const SortedSearchArgs& a, const Words& words, int64_t begin, int64_t end, int64_t first_count,
                    Sums& sum, int64_t step, int64_t& next, Prefix& p) {
  auto* const gradients = reinterpret_cast<int64_t*>(p.gradient);
  auto* const hessians = reinterpret_cast<int64_t*>(p.hessian);
  auto* const counts = reinterpret_cast<int64_t*>(p.count);
  int64_t gradient = sum.gradient;
  int64_t hessian = sum.hessian;
  int n = 0;
  for (int64_t i = begin; i < end; ++i) {
    const uint32_t entry = a.entries[i];
    const int64_t count = first_count + i;
    const int64_t weight = kConstant ? count : hessian;
    gradients[n] = gradient;
    hessians[n] = weight;
    counts[n] = count;
    p.bin[n] = static_cast<int32_t>(a.first_place + i);
    // There is no threshold before the very first entry: the threshold at the end also sends only missing rows to one
    // side.
    int is_threshold = (static_cast<int>(entry >> 31) | (i == 0)) & (count > 0);
    if constexpr (kSteps) {
      is_threshold &= weight >= next;
      next = is_threshold ? weight + step : next;
    }
    n += is_threshold;
    words.add(entry & ~kNewValueBit, gradient, hessian);
  }
  sum.gradient = gradient;
  sum.hessian = hessian;
  return n;
}

template <class Words>
bool search_words(SortedSearchArgs& a, const Words& words, const CellLayout& layout, const SplitRules& rules,
                  Candidate& best) {
  constexpr int64_t kStride = kSortedChunk + 16;
  double* const scratch = a.leaf.scratch;
  Prefix p{0, scratch, scratch + kStride, scratch + 2 * kStride, reinterpret_cast<int32_t*>(scratch + 3 * kStride)};
  const bool constant = layout.constant_hessian();
  const bool steps = a.min_step > 0.0;
  const auto note = steps ? (constant ? note_thresholds<true, true, Words> : note_thresholds<true, false, Words>)
                          : (constant ? note_thresholds<false, true, Words> : note_thresholds<false, false, Words>);
  Fields missing{a.missing.gradient, constant ? a.missing.count : a.missing.hessian, a.missing.count};
  const int64_t first_count = a.before.count;
  auto step = static_cast<int64_t>(a.min_step);
  step += static_cast<double>(step) < a.min_step;  // weights are whole numbers
  int64_t next = (constant ? a.before.count : a.before.hessian) + (a.before.count > 0 ? 0 : step);
  bool improved = false;
  const auto look = [&] {
    convert_in_place(p.gradient, p.n);
    convert_in_place(p.hessian, p.n);
    convert_in_place(p.count, p.n);
    improved |= improve(a.leaf, rules, p, Fields{0, 0, 0}, best);
    if (missing.count == 0) return;
    if (a.missing_left.gain < best.gain) a.missing_left.gain = best.gain;  // the gain to beat
    improve(a.leaf, rules, p, missing, a.missing_left);
  };
  for (int64_t begin = 0; begin < a.n; begin += kSortedChunk) {
    const int64_t end = begin + kSortedChunk < a.n ? begin + kSortedChunk : a.n;
    p.n = note(a, words, begin, end, first_count, a.before, step, next, p);
    if (p.n > 0) look();
  }
  a.before.count += a.n;
  if (a.ends && a.before.count > 0) {
    reinterpret_cast<int64_t*>(p.gradient)[0] = a.before.gradient;
    reinterpret_cast<int64_t*>(p.hessian)[0] = constant ? a.before.count : a.before.hessian;
    reinterpret_cast<int64_t*>(p.count)[0] = a.before.count;
    p.bin[0] = static_cast<int32_t>(a.first_place + a.n);
    p.n = 1;
    look();
  }
  return improved;
}

bool search_sorted(SortedSearchArgs& a, const CellLayout& layout, const SplitRules& rules, Candidate& best) {
  if (a.row_values != nullptr) return search_words(a, HalfWords{a.row_values}, layout, rules, best);
  return search_words(a, WideWords{a.wide_values, layout.count_bits}, layout, rules, best);
}

template <class Words>
Sums sum_words(const SortedSearchArgs& a, const Words& words) {
  Sums sums;
  for (int64_t i = 0; i < a.n; ++i) words.add(a.entries[i] & ~kNewValueBit, sums.gradient, sums.hessian);
  sums.count = a.n;
  return sums;
}

Sums sum_sorted(const SortedSearchArgs& a, const CellLayout& layout) {
  if (a.row_values != nullptr) return sum_words(a, HalfWords{a.row_values});
  return sum_words(a, WideWords{a.wide_values, layout.count_bits});
}

int64_t split_sorted(uint32_t* entries, int64_t n, const uint8_t* side, uint32_t* right) {
  int64_t n_left = 0;
  int64_t n_right = 0;
  uint32_t new_left = 0;  // whether another value has begun since the last entry of that side
  uint32_t new_right = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t entry = entries[i];
    const uint32_t row = entry & ~kNewValueBit;
    const uint32_t is_right = side[row];
    const uint32_t is_new = entry & kNewValueBit;
    new_left |= is_new;
    new_right |= is_new;
    entries[n_left] = row | new_left;
    right[n_right] = row | new_right;
    n_left += 1 - is_right;
    n_right += is_right;
    new_left &= 0u - is_right;
    new_right &= is_right - 1u;
  }
  return n_left;
}
