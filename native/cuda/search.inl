// The best splits of the children of a batch: a warp for each pair of children and feature, then one for each child.
// Gains are computed as in kernels/search.inl, with the same operations.

constexpr double kNoGain = -1.0e300;
constexpr int kBinsOfLane = 8;  // neighbouring bins that a thread takes at a time

// The leaf whose splits are searched, in units of the layout.
struct Leaf {
  Sums sums;
  double gradient;
  double hessian;
  double count;
  double output;
  double lambda_l2;  // of the feature
  double min_data;
  double min_hessian;
  const SplitRules* rules;
  bool is_plain;
  bool constant_hessian;
  // Monotone constraints, in units of the layout.
  bool is_limited = false;
  int direction = 0;
  BinRange bins{0, 0};  // that the leaf can hold: a threshold that leaves one side without any has nothing to order
  double low = 0.0;
  double high = 0.0;

  bool orders(int threshold) const { return direction != 0 && threshold >= bins.first && threshold < bins.last; }
};

inline Leaf leaf_of_node(const State& s, const Node& node, double feature_l2) {
  Leaf leaf;
  leaf.sums = node.sums;
  leaf.constant_hessian = s.layout.constant_hessian();
  leaf.gradient = static_cast<double>(node.sums.gradient);
  leaf.count = static_cast<double>(node.sums.count);
  leaf.hessian = leaf.constant_hessian ? leaf.count : static_cast<double>(node.sums.hessian);
  leaf.output = node.value * (s.layout.hessian_unit / s.layout.gradient_unit);
  leaf.rules = &s.rules;
  leaf.is_plain = s.rules.plain();
  leaf.lambda_l2 = s.rules.lambda_l2 + feature_l2 / s.layout.hessian_unit;
  leaf.min_data = s.rules.min_data;
  SplitRules own = s.rules;
  own.lambda_l2 = leaf.lambda_l2;
  leaf.min_hessian = least_hessian(own);
  return leaf;
}

// Limits of the children's values where the leaf is split by feature `f`.
inline void limit_leaf(const Args& a, const Node& node, int f, Leaf& leaf) {
  if (a.directions == nullptr) return;
  const auto number = static_cast<int32_t>(&node - a.nodes);
  const double scale = a.state->layout.hessian_unit / a.state->layout.gradient_unit;
  leaf.direction = direction_of(a, f);
  leaf.low = a.node_limits[number].low * scale;
  leaf.high = a.node_limits[number].high * scale;
  leaf.is_limited = leaf.direction != 0 || leaf.low > -infinity() || leaf.high < infinity();
  if (leaf.direction != 0) leaf.bins = bins_of_node(a, number, f);
}

// A side of a split whose value is within the limits.
struct LimitedSide {
  double value;
  double gain;
};

GOSSAMER_RARE LimitedSide side_within_limits(const Leaf& leaf, double gradient, double hessian, double count) {
  SplitRules rules = *leaf.rules;
  rules.lambda_l2 = leaf.lambda_l2;
  const double s = shrink(gradient, rules.lambda_l1);
  const double denominator = hessian + rules.lambda_l2;
  const double w = value_of(s, denominator, count, rules, leaf.output);
  const double value = larger_of(smaller_of(w, leaf.high), leaf.low);
  return {value, gain_at(gradient, s, denominator, value, rules)};
}

GOSSAMER_RARE double gain_by_rules(const SplitRules* given, double lambda_l2, double output, double gradient,
                                   double hessian, double count) {
  SplitRules rules = *given;
  rules.lambda_l2 = lambda_l2;
  return leaf_gain(gradient, hessian, count, rules, output);
}

// The gain of one side of a split, or of the unsplit leaf.
inline double side_gain(const Leaf& leaf, double gradient, double hessian, double count) {
  return gain_by_rules(leaf.rules, leaf.lambda_l2, leaf.output, gradient, hessian, count);
}

// The best candidate of a thread. Candidates with the same gain are taken in their order: missing rows to the right,
// bin by bin, then missing rows to the left.
struct Found {
  double gain = kNoGain;
  int64_t order = -1;
  Sums left;

  void take(double other, int64_t at, const Sums& sums) {
    if (!(other > gain) && !(other == gain && at < order)) return;
    gain = other;
    order = at;
    left = sums;
  }
};

inline Found best_of_warp(const Found& own) {
  Found best;
  best.gain = own.gain;
  best.order = own.order;
  for (int step = 16; step > 0; step >>= 1) {
    const double gain = __shfl_xor_sync(kAll, best.gain, step);
    const int64_t order = __shfl_xor_sync(kAll, best.order, step);
    const bool better = order >= 0 && (best.order < 0 || gain > best.gain || (gain == best.gain && order < best.order));
    if (!better) continue;
    best.gain = gain;
    best.order = order;
  }
  const unsigned owners = __ballot_sync(kAll, own.order == best.order);
  best.left = shuffled(own.left, __ffs(static_cast<int>(owners)) - 1);
  return best;
}

// Both sides of a split, `add` (missing rows, or none) on the left. kAny: the rules may be other than plain ones.
template <bool kAny>
inline bool gain_of(const Leaf& leaf, const Sums& below, const Sums& add, int threshold, double& gain) {
  const double cl = static_cast<double>(below.count) + static_cast<double>(add.count);
  const double cr = leaf.count - cl;
  const double gl = static_cast<double>(below.gradient) + static_cast<double>(add.gradient);
  const double hl = leaf.constant_hessian ? cl : static_cast<double>(below.hessian) + static_cast<double>(add.hessian);
  const double gr = leaf.gradient - gl;
  const double hr = leaf.hessian - hl;
  const bool is_admissible =
      cl >= leaf.min_data && cr >= leaf.min_data && hl >= leaf.min_hessian && hr >= leaf.min_hessian;
  if (kAny && leaf.is_limited) {
    if (!is_admissible) return false;
    const LimitedSide left = side_within_limits(leaf, gl, hl, cl);
    const LimitedSide right = side_within_limits(leaf, gr, hr, cr);
    gain = left.gain + right.gain;
    const double rise = leaf.direction > 0 ? right.value - left.value : left.value - right.value;
    return !(rise < 0.0 && leaf.orders(threshold));
  }
  // Without a branch, the gains of several bins are computed side by side.
  if (!kAny || leaf.is_plain) {
    const GainFraction<double> both = plain_gain(gl, hl, gr, hr, leaf.lambda_l2);
    gain = both.numerator / both.denominator;
  } else if (is_admissible) {
    gain = side_gain(leaf, gl, hl, cl) + side_gain(leaf, gr, hr, cr);
  }
  return is_admissible;
}

inline Sums plus(const Sums& a, const Sums& b) {
  return {a.gradient + b.gradient, a.hessian + b.hessian, a.count + b.count};
}

#include "cuda/categories.inl"

// The search of one feature of one leaf; a warp takes 32 times `kBinsOfLane` bins at a time.
template <bool kAny>
struct Search {
  Leaf leaf;
  Sums missing;
  Sums before;  // sums of the bins so far
  Found best;
  int n_value_bins;
  int only;  // extra_trees: the one threshold that is tried; -1: all
  // Bins without rows are passed over where the host does so: with limits, they may have another gain.
  bool passes_over = false;

  // `cells` are the bins of this thread, from `first` on.
  void add(const Sums (&cells)[kBinsOfLane], int first) {
    Sums own{0, 0, 0};
#pragma unroll
    for (int k = 0; k < kBinsOfLane; ++k) own = plus(own, cells[k]);
    const Sums through{running_sum(own.gradient), running_sum(own.hessian), running_sum(own.count)};
    Sums upto = plus(before, through - own);
#pragma unroll
    for (int k = 0; k < kBinsOfLane; ++k) {
      upto = plus(upto, cells[k]);
      if (!kAny || !passes_over || cells[k].count > 0) try_bin(upto, first + k);
    }
    before = plus(before, shuffled(through, 31));
  }

  // All values go left, missing ones right: there is nothing to order. The threshold is the leaf's last bin, whether or
  // not it holds rows. It comes after all others.
  void part_missing() {
    const bool is_tried = leaf.direction != 0 && only < 0 && missing.count > 0 && leaf.bins.last >= leaf.bins.first;
    if (!is_tried || lane_of_thread() != 0) return;
    const Sums values = leaf.sums - missing;
    double gain;
    if (gain_of<kAny>(leaf, values, Sums{0, 0, 0}, leaf.bins.last, gain)) {
      best.take(gain, 2 * static_cast<int64_t>(n_value_bins) + leaf.bins.last, values);
    }
  }

  void try_bin(const Sums& through, int bin) {
    const bool is_tried = bin < n_value_bins && (only < 0 || bin == only);
    double gain;
    if (gain_of<kAny>(leaf, through, Sums{0, 0, 0}, bin, gain) && is_tried) best.take(gain, bin, through);
    if (missing.count > 0 && gain_of<kAny>(leaf, through, missing, bin, gain) && is_tried) {
      best.take(gain, static_cast<int64_t>(n_value_bins) + bin, plus(through, missing));
    }
  }
};

inline int only_threshold(const Args& a, const Node& node, int f, const DeviceFeature& feature) {
  if (a.extra_trees == 0 || feature.l2 != 0.0) return -1;  // statistics are searched whole
  const uint64_t random = random_bits(a.task->extra_key ^ node.key, static_cast<uint64_t>(f));
  const int n = feature.n_value_bins - (feature.has_missing != 0 ? 0 : 1);
  return static_cast<int>(random % static_cast<uint64_t>(n > 1 ? n : 1));
}

template <bool kAny>
inline Search<kAny> start_search(const Args& a, const Node& node, int f, const DeviceFeature& feature,
                                 const Sums& missing) {
  Search<kAny> search;
  search.leaf = leaf_of_node(*a.state, node, feature.l2);
  search.missing = missing;
  search.n_value_bins = feature.n_value_bins;
  search.only = only_threshold(a, node, f, feature);
  if constexpr (kAny) {
    limit_leaf(a, node, f, search.leaf);
    const CellLayout& layout = a.state->layout;
    const bool is_packed = !layout.wide && node.sums.count <= layout.max_rows;
    search.passes_over =
        search.leaf.is_limited && is_packed && search.only < 0 && node.sums.count < 2 * feature.n_value_bins;
  }
  return search;
}

template <bool kAny>
inline void write_best(const Search<kAny>& search, double l2, Best& out) {
  const Found found = best_of_warp(search.best);
  if (lane_of_thread() != 0) return;
  const int64_t n = search.n_value_bins;
  bool missing_left = found.order >= n && found.order < 2 * n;
  out.gain = found.gain;
  out.left = found.left;
  out.threshold = static_cast<int32_t>(found.order < 0 ? -1 : found.order % n);
  // No row is missing here, so missing values will follow the majority.
  if (search.missing.count == 0) missing_left = 2 * found.left.count >= search.leaf.sums.count;
  out.missing_left = missing_left ? 1 : 0;
  out.l2 = l2;
}

inline bool may_split(const Args& a, const Node& node) {
  if (a.max_depth > 0 && node.depth >= a.max_depth) return false;
  return static_cast<double>(node.sums.count) >= 2.0 * a.state->rules.min_data;
}

inline bool is_allowed(const Args& a, int f) {
  return a.features[f].searched != 0 && (a.allowed == nullptr || a.allowed[f] != 0);
}

// Nodes below may use features that this one may not: their cells are needed all the same.
inline bool node_allows(const Args& a, int32_t number, int f) {
  if (a.node_features == nullptr) return true;
  return in_set(a.node_features + static_cast<int64_t>(number) * ((a.n_features + 31) / 32), static_cast<uint32_t>(f));
}

// ---- the best feature ----

struct Winner {
  double gain = kNoGain;
  int feature = -1;
};

inline Winner winner_of_warp(Winner own) {
  for (int step = 16; step > 0; step >>= 1) {
    Winner other;
    other.gain = __shfl_xor_sync(kAll, own.gain, step);
    other.feature = __shfl_xor_sync(kAll, own.feature, step);
    if (other.feature >= 0 && (own.feature < 0 || beats(other.gain, other.feature, own.gain, own.feature))) own = other;
  }
  return own;
}

// The gain of the unsplit leaf.
inline double own_gain(const Args& a, const Node& node) {
  const State& s = *a.state;
  const Leaf leaf = leaf_of_node(s, node, 0.0);
  // Monotone constraints may keep the leaf from its own best value.
  if (a.directions != nullptr && node.value != a.node_limits[&node - a.nodes].free_value) {
    const double shrunk = shrink(leaf.gradient, s.rules.lambda_l1);
    return gain_at(leaf.gradient, shrunk, leaf.hessian + s.rules.lambda_l2, leaf.output, s.rules);
  }
  if (!(leaf.hessian + s.rules.lambda_l2 > 0.0)) return 0.0;
  return side_gain(leaf, leaf.gradient, leaf.hessian, leaf.count);
}

// A warp settles one child: its feature stays -1 if no split is good enough.
GOSSAMER_RARE void settle_node(const Args& a, int32_t number, const Best* bests) {
  const State& s = *a.state;
  Node& node = a.nodes[number];
  Winner best;
  for (int f = lane_of_thread(); f < a.n_features; f += 32) {
    if (!is_allowed(a, f) || __ldcg(&bests[f].threshold) < 0) continue;
    const double gain = __ldcg(&bests[f].gain);
    if (best.feature < 0 || beats(gain, f, best.gain, best.feature)) best = {gain, f};
  }
  best = winner_of_warp(best);
  if (best.feature < 0) return;
  // The rounding error of a zero gain must not count as a gain.
  const double gain = best.gain - own_gain(a, node);
  const bool is_noise = gain <= 1e-12 * magnitude_of(best.gain);
  const CellLayout& layout = s.layout;
  const double real_gain = gain * layout.gradient_unit * layout.gradient_unit / layout.hessian_unit;
  if (is_noise || real_gain <= a.min_gain_to_split) return;
  const Best& found = bests[best.feature];
  Sums left{static_cast<int64_t>(__ldcg(reinterpret_cast<const long long*>(&found.left.gradient))),
            static_cast<int64_t>(__ldcg(reinterpret_cast<const long long*>(&found.left.hessian))),
            static_cast<int64_t>(__ldcg(reinterpret_cast<const long long*>(&found.left.count)))};
  if (a.features[best.feature].n_categories >= 0) {
    Best again;
    uint32_t* const set = a.category_sets + static_cast<int64_t>(number) * a.category_words;
    search_categories(a, node, best.feature, slot_at(a, node.slot, node.sums.count), set, again);
    left = again.left;
  }
  if (lane_of_thread() != 0) return;
  node.gain = real_gain;
  node.feature = best.feature;
  node.threshold = __ldcg(&found.threshold);
  node.missing_left = __ldcg(&found.missing_left);
  node.left = left;
  node.l2 = __ldcg(&found.l2);
  const double above = node.parent >= 0 ? a.nodes[node.parent].reach : real_gain;
  node.reach = real_gain < above ? real_gain : above;
}

// One feature of one child. The larger child is the parent minus the smaller one; its cells replace the parent's.
template <bool kAny>
inline void search_child(const Args& a, const Job& job, int side, int f, Best& out) {
  const DeviceFeature feature = a.features[f];
  const int32_t number = job.left_child + side;
  const Node& node = a.nodes[number];
  const bool subtracts = job.node >= 0 && number != job.built;
  const Slot own = slot_at(a, node.slot, node.sums.count);
  const Slot before = slot_at(a, node.slot, subtracts ? a.nodes[job.node].sums.count : node.sums.count);
  const Slot less = slot_at(a, a.nodes[job.built].slot, a.nodes[job.built].sums.count);
  const int64_t first = feature.first_cell;
  const int n_bins = feature.n_value_bins + feature.has_missing;
  const bool is_category = kAny && feature.n_categories >= 0;
  const bool is_searched = may_split(a, node) && node_allows(a, number, f);
  // Other kernels have written these cells, so the first cache may keep them.
  const auto read = [&](int64_t cell) {
    const Sums sums = before.read_cached(cell);
    return subtracts ? sums - less.read_cached(cell) : sums;
  };
  Sums missing{0, 0, 0};
  if (feature.has_missing != 0) missing = read(first + feature.n_value_bins);
  Search<kAny> search = start_search<kAny>(a, node, f, feature, missing);
  __syncwarp();
  // All loads come first: the warp waits for memory once.
  Sums cells[kBinsOfLane];
  for (int base = 0; base < n_bins; base += 32 * kBinsOfLane) {
    const int bin = base + kBinsOfLane * lane_of_thread();
#pragma unroll
    for (int k = 0; k < kBinsOfLane; ++k) {
      cells[k] = Sums{0, 0, 0};
      if (bin + k < n_bins) cells[k] = read(first + bin + k);
    }
    if (subtracts) {
#pragma unroll
      for (int k = 0; k < kBinsOfLane; ++k) {
        if (bin + k < n_bins) own.write(first + bin + k, cells[k]);
      }
    }
    if (is_searched && !is_category) search.add(cells, bin);
  }
  __syncwarp();
  if (!is_searched) {
    if (lane_of_thread() == 0) out.threshold = -1;
    return;
  }
  if constexpr (kAny) {
    if (is_category) {
      search_categories(a, node, f, own, nullptr, out);
      return;
    }
    search.part_missing();
  }
  write_best(search, feature.l2, out);
}

// Whether this warp has searched the last feature of the child.
inline bool is_last(const Args& a, Job& job, int side) {
  __threadfence();
  __syncwarp();
  uint32_t before = 0;
  if (lane_of_thread() == 0) before = atomicAdd(&job.n_searched[side], 1u);
  before = __shfl_sync(kAll, before, 0);
  __threadfence();
  return before + 1 == static_cast<uint32_t>(a.task->n_allowed);
}

inline void check_rows(const Args& a, const Job& job) {
  const bool agrees = job.n_left == static_cast<uint32_t>(a.nodes[job.left_child].sums.count) &&
                      job.n_right == static_cast<uint32_t>(a.nodes[job.left_child + 1].sums.count);
  if (!agrees) a.state->error = kRowsDisagree;
}

// kAny: there may be categories, or rules other than plain ones.
template <bool kAny>
inline void search_all(const Args& a) {
  const State& s = *a.state;
  const int64_t n_warps = threads_in_grid() / 32;
  const int64_t n_tasks = 2 * static_cast<int64_t>(s.n_jobs) * a.n_features;
  for (int64_t task = thread_of_grid() / 32; task < n_tasks; task += n_warps) {
    const int64_t leaf = task / a.n_features;
    const auto f = static_cast<int>(task % a.n_features);
    const auto side = static_cast<int>(leaf % 2);
    Job& job = a.jobs[leaf / 2];
    if (job.node >= 0 && side == 0 && f == 0 && lane_of_thread() == 0) check_rows(a, job);
    if (job.is_searched == 0 || !is_allowed(a, f) || (job.node < 0 && side == 1)) continue;
    Best* const bests = a.bests + leaf * a.n_features;
    search_child<kAny>(a, job, side, f, bests[f]);
    if (is_last(a, job, side) && may_split(a, a.nodes[job.left_child + side])) {
      settle_node(a, job.left_child + side, bests);
    }
  }
}
