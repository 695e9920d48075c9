// Scores: the values of a finished tree are added to them.

// One block lists the nodes of the finished tree. Their order is the order of their numbers, so the root comes first;
// leaves keep their numbers.
inline void list_tree(const Args& a) {
  const State& s = *a.state;
  if (s.n_listed == 0) return;
  auto* const sums = reinterpret_cast<int64_t*>(shared_memory());
  auto* const places = reinterpret_cast<int32_t*>(sums + 33);  // by node: among those of the tree; leaves: ~node
  const auto n_threads = static_cast<int>(blockDim.x);
  const auto t = static_cast<int>(threadIdx.x);
  int64_t n_before = 0;
  for (int base = 0; base < s.n_nodes; base += n_threads) {
    const int i = base + t;
    const bool is_in = i < s.n_nodes && a.nodes[i].feature >= 0 &&
                       (a.nodes[i].is_committed != 0 || reach_bits(a.nodes[i].reach) > s.reach_below);
    int64_t found = 0;
    const int64_t place = n_before + sum_before<int64_t>(is_in ? 1 : 0, sums, found);
    n_before += found;
    if (i >= s.n_nodes) continue;
    places[i] = is_in ? static_cast<int32_t>(place) : ~i;
    a.tree_values[i] = a.nodes[i].value * a.task->learning_rate;
  }
  __syncthreads();
  for (int i = t; i < s.n_nodes; i += n_threads) {
    if (places[i] < 0) continue;
    const Node& node = a.nodes[i];
    const DeviceFeature& feature = a.features[node.feature];
    a.tree_nodes[places[i]] = {feature.two_bytes != 0 ? ~feature.lane : feature.lane,
                               node.threshold,
                               feature.n_value_bins,
                               node.missing_left,
                               places[node.left_child],
                               places[node.left_child + 1],
                               feature.n_categories >= 0 ? i * a.category_words : -1};
  }
}

inline int leaf_of(const ScoreArgs& s, const TreeNode* nodes, int64_t row) {
  const uint8_t* const bytes = s.rows8 + row * s.stride8;
  const uint16_t* const words = s.rows16 + row * s.stride16;
  int at = 0;
  do {
    const TreeNode& node = nodes[at];
    const int bin = node.lane >= 0 ? bytes[node.lane] : words[~node.lane];
    const bool goes_left = node.set >= 0             ? in_set(s.sets + node.set, static_cast<uint32_t>(bin))
                           : bin == node.missing_bin ? node.missing_left != 0
                                                     : bin <= node.threshold;
    at = goes_left ? node.left : node.right;
  } while (at >= 0);
  return ~at;
}

inline void add_scores(const ScoreArgs& s) {
  auto* const copy = reinterpret_cast<uint32_t*>(shared_memory());
  const TreeNode* nodes = s.nodes;
  const int32_t n_nodes = s.state != nullptr ? s.state->n_listed : s.n_nodes;
  if (n_nodes == 0) return;
  if (s.is_shared != 0) {
    const auto* const from = reinterpret_cast<const uint32_t*>(s.nodes);
    const unsigned n_words = static_cast<unsigned>(n_nodes) * static_cast<unsigned>(sizeof(TreeNode) / 4);
    for (unsigned i = threadIdx.x; i < n_words; i += blockDim.x) copy[i] = from[i];
    __syncthreads();
    nodes = reinterpret_cast<const TreeNode*>(copy);
  }
  for (int64_t i = thread_of_grid(); i < s.n_rows; i += threads_in_grid()) {
    s.score[i] += s.values[leaf_of(s, nodes, i)];
  }
}
