// The value of a leaf, the gain of a split and the rule for ties: written once, for every evaluator.
//
// T is a number, or a vector of eight of them (V8d, V8f). Nothing here needs the standard library, so that NVRTC can
// compile it. The file has no namespace of its own: core/split_math.h includes it for the host, kernels/level.cpp once
// per instruction set, so that the linker cannot merge code for different processors.

template <class T>
inline T pick(bool condition, const T& yes, const T& no) {
  return condition ? yes : no;
}

template <class T>
inline T larger_of(const T& a, const T& b) {
  return pick(a > b, a, b);
}

template <class T>
inline T smaller_of(const T& a, const T& b) {
  return pick(a < b, a, b);
}

template <class T>
inline T magnitude_of(const T& a) {
  return pick(a < T{}, -a, a);
}

// A gradient sum, shrunk towards zero by the L1 penalty.
template <class T, class Penalty>
inline T shrink(const T& gradient, Penalty lambda_l1) {
  const T shrunk = larger_of<T>(magnitude_of(gradient) - lambda_l1, T{});
  return pick(gradient < T{}, -shrunk, shrunk);
}

// Newton's step within max_delta_step, pulled towards the parent's value by path smoothing.
template <class T>
inline T limit_step(T step, const T& count, const SplitRules& r, double parent_output) {
  if (r.max_delta_step > 0.0) {
    step = larger_of<T>(smaller_of<T>(step, T{} + r.max_delta_step), T{} - r.max_delta_step);
  }
  if (r.path_smooth > 0.0) {
    const T trust = count / r.path_smooth;
    step = step * trust / (trust + 1.0) + parent_output / (trust + 1.0);
  }
  return step;
}

// The value of a leaf whose shrunk gradient is `s`; `denominator` is its hessian plus lambda_l2.
template <class T>
inline T value_of(const T& s, const T& denominator, const T& count, const SplitRules& r, double parent_output) {
  return limit_step<T>(-s / denominator, count, r, parent_output);
}

// LightGBM's gain of a leaf at the value w: -(2 S(G) w + (H + l2) w^2), where `s` is S(G). XGBoost up to 3.2 has G in
// its place.
template <class T>
inline T gain_at(const T& gradient, const T& s, const T& denominator, const T& w, const SplitRules& r) {
  return -(2.0 * pick(r.l1_in_gain, s, gradient) * w + denominator * w * w);
}

// Gain of one side of a split. Rules without a limit on values need no value: it is S(G)^2 / (H + l2).
template <class T>
inline T leaf_gain(const T& gradient, const T& hessian, const T& count, const SplitRules& r, double parent_output) {
  const T s = shrink(gradient, r.lambda_l1);
  const T denominator = hessian + r.lambda_l2;
  if (r.plain()) return s * s / denominator;
  return gain_at<T>(gradient, s, denominator, value_of(s, denominator, count, r, parent_output), r);
}

// Both sides of a split under plain rules as one fraction: a comparison with the best gain needs no division.
template <class T>
struct GainFraction {
  T numerator;
  T denominator;
};

// `dl`, `dr`: hessians plus lambda_l2.
template <class T>
inline GainFraction<T> gain_fraction(const T& gl, const T& dl, const T& gr, const T& dr) {
  return {gl * gl * dr + gr * gr * dl, dl * dr};
}

template <class T>
inline GainFraction<T> plain_gain(const T& gl, const T& hl, const T& gr, const T& hr, double lambda_l2) {
  return gain_fraction<T>(gl, hl + lambda_l2, gr, hr + lambda_l2);
}

// Denominators must not vanish: half a step is less than any possible weight.
inline double least_hessian(const SplitRules& r) {
  return r.min_sum_hessian > 0.0 || r.lambda_l2 > 0.0 ? r.min_sum_hessian : 0.5;
}

// The tie rule: the larger gain, then the smaller feature. Within a feature the first candidate in the order of the
// search wins: missing rows to the right before missing rows to the left, then the lower bin.
template <class Gain>
inline bool beats(Gain gain, int feature, Gain best_gain, int best_feature) {
  return gain > best_gain || (gain == best_gain && feature < best_feature);
}

// The value of a leaf in real units. `parent_output` (nullptr: none) is what path smoothing pulls towards.
// Newton's step overshoots where rows are predicted with confidence and wrong: -G/H grows like 1/p, the
// best step like log(1/p). From `damp_from` on (0: never) the step bends towards twice that.
inline double leaf_output(double gradient, double hessian, double count, const SplitRules& rules, double damp_from,
                          const double* parent_output) {
  const double denominator = hessian + rules.lambda_l2;
  double step = denominator > 0.0 ? -shrink(gradient, rules.lambda_l1) / denominator : 0.0;
  if (damp_from > 0.0 && magnitude_of(step) > damp_from) {
    const double damped = damp_from * (2.0 - damp_from / magnitude_of(step));
    step = step < 0.0 ? -damped : damped;
  }
  if (parent_output != nullptr) return limit_step(step, count, rules, *parent_output);
  SplitRules without_parent = rules;
  without_parent.path_smooth = 0.0;
  return limit_step(step, count, without_parent, 0.0);
}
