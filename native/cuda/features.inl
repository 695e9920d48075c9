// The features that a node may split on, where they differ from node to node: a warp for each child. The choices are
// those of core/column_sampler.cpp.

#include "kernels/column_draw.inl"

// A set of features, a bit each, and a number for each feature, in shared memory.
struct FeatureSet {
  uint32_t* bits;
  uint64_t* numbers;
  int n_features;
  const double* weights;  // nullptr: all the same

  bool has(int f) const { return f < n_features && in_set(bits, static_cast<uint32_t>(f)); }

  // Keeps the features for which keep(feature) holds; a warp asks for 32 at a time.
  template <class Keep>
  void filter(const Keep& keep) const {
    for (int base = 0; base < n_features; base += 32) {
      const int f = base + lane_of_thread();
      const bool stays = f < n_features && keep(f);
      const uint32_t word = __ballot_sync(kAll, stays);
      if (lane_of_thread() == 0) numbers[n_features + base / 32] = word;
    }
    __syncwarp();
    for (int w = lane_of_thread(); 32 * w < n_features; w += 32)
      bits[w] = static_cast<uint32_t>(numbers[n_features + w]);
    __syncwarp();
  }

  // Keeps a fraction of the features, at least one: those with the smallest random numbers, or that arrive first.
  void draw(double fraction, uint64_t key) const {
    if (fraction >= 1.0) return;
    int64_t n = 0;
    for (int f = lane_of_thread(); f < n_features; f += 32) {
      const uint64_t number = random_bits(key, static_cast<uint64_t>(f));
      numbers[f] = weights != nullptr ? arrival(number, weights[f]) : number;
      n += has(f) ? 1 : 0;
    }
    n = sum_of_warp(n);
    if (n == 0) return;
    int64_t wanted = llround(fraction * static_cast<double>(n));
    wanted = wanted < 1 ? 1 : wanted < n ? wanted : n;
    __syncwarp();
    filter([&](int f) {
      int64_t n_before = 0;
      for (int g = 0; g < n_features && has(f); ++g) {
        const bool comes_before = numbers[g] < numbers[f] || (numbers[g] == numbers[f] && g < f);
        n_before += has(g) && comes_before ? 1 : 0;
      }
      return has(f) && n_before < wanted;
    });
  }
};

// The groups of features that the path to a node allows.
inline void open_groups(const Args& a, int32_t number) {
  const Node& node = a.nodes[number];
  for (int w = lane_of_thread(); w < a.group_words; w += 32) {
    uint64_t open = ~uint64_t{0};
    if (node.parent >= 0) {
      open = a.open_groups[static_cast<int64_t>(node.parent) * a.group_words + w] &
             a.feature_groups[static_cast<int64_t>(a.nodes[node.parent].feature) * a.group_words + w];
    }
    a.open_groups[static_cast<int64_t>(number) * a.group_words + w] = open;
  }
  __syncwarp();
}

inline bool may_meet(const Args& a, int32_t number, int f) {
  for (int w = 0; w < a.group_words; ++w) {
    const uint64_t open = a.open_groups[static_cast<int64_t>(number) * a.group_words + w];
    if ((open & a.feature_groups[static_cast<int64_t>(f) * a.group_words + w]) != 0) return true;
  }
  return a.group_words == 0;
}

inline void draw_of_node(const Args& a, int32_t number, const FeatureSet& set) {
  const Node& node = a.nodes[number];
  const uint64_t key = a.task->column_key;
  open_groups(a, number);
  set.filter([&](int f) { return a.allowed == nullptr || a.allowed[f] != 0; });
  set.draw(a.fraction_by_level, mix_bits(key ^ kLevelStream) ^ static_cast<uint64_t>(node.depth));
  set.filter([&](int f) { return set.has(f) && may_meet(a, number, f); });
  set.draw(a.fraction_by_node, mix_bits(key ^ kNodeStream) ^ node.key);
  const int n_words = (a.n_features + 31) / 32;
  for (int w = lane_of_thread(); w < n_words; w += 32) {
    a.node_features[static_cast<int64_t>(number) * n_words + w] = set.bits[w];
  }
  __syncwarp();
}

inline void draw_all(const Args& a) {
  auto* const numbers = reinterpret_cast<uint64_t*>(shared_memory());
  const int n_words = (a.n_features + 31) / 32;
  const FeatureSet set{reinterpret_cast<uint32_t*>(numbers + a.n_features + n_words), numbers, a.n_features,
                       a.feature_weights};
  for (int task = static_cast<int>(blockIdx.x); task < 2 * a.state->n_jobs; task += static_cast<int>(gridDim.x)) {
    const Job& job = a.jobs[task / 2];
    if (job.node >= 0 || task % 2 == 0) draw_of_node(a, job.left_child + task % 2, set);
  }
}
