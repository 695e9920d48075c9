// Which nodes are expanded next, in one block.
//
// The host commits nodes best first; it needs the children of every node that gets into the tree. Leaf by leaf, these
// are the L - 1 nodes with the largest reach (see core/frontier.h), so a node is expanded if its reach is among the
// L - 1 largest known so far. Nodes below the smallest reach of the tree before are put off: they probably will not get
// into the tree. Level by level, all nodes of the uppermost level are expanded.

constexpr int kChooseThreads = 1024;

// Room in shared memory, before the reaches of all nodes.
struct ChooseMemory {
  uint32_t counts[256];
  int64_t sums[33];
  int32_t chosen[kChooseThreads];
  uint64_t prefix;
  int64_t n_above;  // nodes whose bits are above the prefix
  int32_t n_chosen;
  int32_t unused;
};

inline bool can_be_split(const Node& node) { return node.feature >= 0; }

// Bits of a positive double compare like the double.
inline uint64_t reach_bits(double reach) {
  uint64_t bits;
  memcpy(&bits, &reach, sizeof(bits));
  return bits;
}

inline double reach_of_bits(uint64_t bits) {
  double reach;
  memcpy(&reach, &bits, sizeof(reach));
  return reach;
}

// Larger of all threads' numbers.
template <class T>
inline T largest_of_block(T value, T* shared) {
  for (int step = 16; step > 0; step >>= 1) {
    const T other = __shfl_xor_sync(kAll, value, step);
    value = other > value ? other : value;
  }
  __syncthreads();
  if (lane_of_thread() == 0) shared[warp_of_thread()] = value;
  __syncthreads();
  T best = shared[0];
  for (int w = 1; w < kChooseThreads / 32; ++w) best = shared[w] > best ? shared[w] : best;
  __syncthreads();
  return best;
}

// The k-th largest of `bits`, which has at least k numbers other than 0; byte by byte from the top.
inline uint64_t kth_largest(const uint64_t* bits, int n, int64_t k, ChooseMemory& m) {
  if (threadIdx.x == 0) {
    m.prefix = 0;
    m.n_above = 0;
  }
  for (int shift = 56; shift >= 0; shift -= 8) {
    if (threadIdx.x < 256) m.counts[threadIdx.x] = 0;
    __syncthreads();
    const uint64_t prefix = m.prefix;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) {
      const bool matches = shift == 56 || (bits[i] >> (shift + 8)) == (prefix >> (shift + 8));
      if (matches) atomicAdd(&m.counts[bits[i] >> shift & 255], 1u);
    }
    __syncthreads();
    if (warp_of_thread() == 0) {
      // A thread takes eight bytes, the first thread the largest.
      int64_t own = 0;
      for (int b = 0; b < 8; ++b) own += m.counts[255 - 8 * lane_of_thread() - b];
      const int64_t upto = running_sum(own);
      int64_t above = m.n_above + upto - own;
      const bool mine = above < k && above + own >= k;
      __syncwarp();
      if (mine) {
        int byte = 255 - 8 * lane_of_thread();
        while (above + m.counts[byte] < k) above += m.counts[byte--];
        m.prefix = prefix | static_cast<uint64_t>(byte) << shift;
        m.n_above = above;
      }
    }
    __syncthreads();
  }
  return m.prefix;
}

// Nodes that are expanded at once.
inline int64_t most_chosen(const Args& a) { return a.num_leaves < kChooseThreads ? a.num_leaves : kChooseThreads; }

struct Choice {
  uint64_t least;   // nodes with at least this reach are expanded
  int32_t depth;    // level by level: nodes of this depth
  int32_t only;     // the one node that is expanded; -1: all of the above
};

inline bool is_chosen(const Args& a, const Choice& choice, const uint64_t* reach, int i) {
  const Node& node = a.nodes[i];
  if (!can_be_split(node) || node.left_child >= 0) return false;
  if (choice.only >= 0) return i == choice.only;
  return a.depthwise != 0 ? node.depth == choice.depth : reach[i] >= choice.least;
}

// False: the tree is complete.
inline bool choose_level(const Args& a, int n, ChooseMemory& m, Choice& choice) {
  int64_t expanded = 0;
  int64_t highest = -1;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) {
    const Node& node = a.nodes[i];
    if (node.left_child >= 0) ++expanded;
    if (can_be_split(node) && node.left_child < 0) {
      const int64_t up = (int64_t{1} << 30) - node.depth;
      highest = up > highest ? up : highest;
    }
  }
  int64_t n_expanded = 0;
  sum_before(expanded, m.sums, n_expanded);
  highest = largest_of_block(highest, m.sums);
  choice.depth = static_cast<int32_t>((int64_t{1} << 30) - highest);
  return highest >= 0 && n_expanded + 1 < a.num_leaves;
}

inline bool choose_by_reach(const Args& a, int n, const uint64_t* reach, ChooseMemory& m, Choice& choice) {
  State& s = *a.state;
  int64_t own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) own += reach[i] != 0;
  int64_t n_known = 0;
  sum_before(own, m.sums, n_known);
  const bool is_full = n_known + 1 >= a.num_leaves;
  const uint64_t least = is_full ? kth_largest(reach, n, a.num_leaves - 1, m) : 1;
  // The largest reach of a node that must be expanded.
  int64_t top = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) {
    if (reach[i] >= least && a.nodes[i].left_child < 0 && static_cast<int64_t>(reach[i]) > top) {
      top = static_cast<int64_t>(reach[i]);
    }
  }
  top = largest_of_block(top, m.sums);
  const double root_gain = a.nodes[0].gain;
  if (top == 0) {
    if (threadIdx.x == 0) {
      s.last_cut = is_full ? reach_of_bits(least) : 0.0;
      s.last_root_gain = root_gain;
    }
    return false;
  }
  double theta = reach_of_bits(least);
  if (s.last_cut > 0.0 && s.last_root_gain > 0.0) {
    const double before = s.last_cut * (root_gain / s.last_root_gain);
    const double largest = reach_of_bits(static_cast<uint64_t>(top));
    const double wanted = before <= largest ? before : 0.5 * largest;
    theta = wanted > theta ? wanted : theta;
  }
  choice.least = reach_bits(theta);
  // Where nodes run short, only those are expanded that are sure to get into the tree.
  const bool is_short = n + 2 * most_chosen(a) + 2 * a.num_leaves > a.max_nodes;
  if (is_short) {
    int64_t number = -1;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) {
      if (reach[i] == static_cast<uint64_t>(top) && a.nodes[i].left_child < 0) number = i;
    }
    choice.only = static_cast<int32_t>(largest_of_block(number, m.sums));
  }
  return true;
}

// The first nodes that are chosen, in the order of their numbers.
inline void list_chosen(const Args& a, const Choice& choice, const uint64_t* reach, int n, ChooseMemory& m) {
  const int64_t most = most_chosen(a);
  int64_t listed = 0;
  for (int base = 0; base < n && listed < most; base += kChooseThreads) {
    const int i = base + static_cast<int>(threadIdx.x);
    const bool takes = i < n && is_chosen(a, choice, reach, i);
    int64_t found = 0;
    const int64_t place = listed + sum_before<int64_t>(takes ? 1 : 0, m.sums, found);
    if (takes && place < most) m.chosen[place] = i;
    listed += found;
  }
  __syncthreads();
  if (threadIdx.x == 0) m.n_chosen = static_cast<int32_t>(listed < most ? listed : most);
  __syncthreads();
}

inline Node child_of(const Args& a, const Node& parent, int32_t number, int side) {
  const State& s = *a.state;
  Node child{};
  child.sums = side == 0 ? parent.left : parent.sums - parent.left;
  child.parent = number;
  child.left_child = -1;
  child.feature = -1;
  child.depth = parent.depth + 1;
  child.slot = -1;
  child.key = mix_bits(parent.key * 2 + static_cast<uint64_t>(side));
  child.first_row = parent.first_row + (side == 0 ? 0 : parent.left.count);
  child.buffer = parent.buffer < 0 ? 0 : 1 - parent.buffer;
  const double hessian = static_cast<double>(s.layout.constant_hessian() ? child.sums.count : child.sums.hessian);
  SplitRules rules = a.given_rules;
  rules.lambda_l2 += parent.l2;
  child.value = leaf_output(static_cast<double>(child.sums.gradient) * s.layout.gradient_unit,
                            hessian * s.layout.hessian_unit, static_cast<double>(child.sums.count), rules, a.damp_from,
                            &parent.value);
  return child;
}

inline int64_t tiles_of(int64_t n_rows, int64_t rows) { return (n_rows + rows - 1) / rows; }

// Rows of a tile: enough tiles for all processors, few enough rows for a packed cell.
inline int64_t build_rows_of(const CellLayout& layout, int64_t n_rows) {
  const int64_t most = layout.max_rows < 65536 ? layout.max_rows : 65536;
  int64_t rows = n_rows / 1536;
  rows = rows < 1024 ? 1024 : rows;
  return rows < most ? rows : most;
}

// Makes the children and jobs of the chosen nodes.
inline void make_jobs(const Args& a, ChooseMemory& m) {
  State& s = *a.state;
  const int n_jobs = m.n_chosen;
  const auto t = static_cast<int>(threadIdx.x);
  const int32_t first_child = s.n_nodes + 2 * t;
  Job job{};
  int64_t build_rows = 0;
  int64_t split_tiles = 0;
  int64_t searched = 0;
  int32_t number = 0;
  if (t < n_jobs) {
    number = m.chosen[t];
    Node& parent = a.nodes[number];
    for (int side = 0; side < 2; ++side) a.nodes[first_child + side] = child_of(a, parent, number, side);
    const Node& left = a.nodes[first_child];
    const Node& right = a.nodes[first_child + 1];
    job.node = number;
    job.left_child = first_child;
    job.built = left.sums.count <= right.sums.count ? first_child : first_child + 1;
    job.is_searched = may_split(a, left) || may_split(a, right) ? 1 : 0;
    parent.left_child = first_child;
    split_tiles = tiles_of(parent.sums.count, kSplitRows);
    searched = job.is_searched;
    if (job.is_searched != 0) build_rows = a.nodes[job.built].sums.count;
  }
  int64_t all_rows = 0;
  int64_t all_split = 0;
  int64_t all_build = 0;
  int64_t all_searched = 0;
  sum_before(build_rows, m.sums, all_rows);
  const int64_t rows = build_rows_of(s.layout, all_rows);
  job.split_tile = sum_before(split_tiles, m.sums, all_split);
  job.build_tile = sum_before(tiles_of(build_rows, rows), m.sums, all_build);
  const int64_t new_slot = s.n_slots + sum_before(searched, m.sums, all_searched);
  if (t < n_jobs) {
    if (job.is_searched != 0) {
      a.nodes[2 * first_child + 1 - job.built].slot = a.nodes[number].slot;
      a.nodes[job.built].slot = static_cast<int32_t>(new_slot);
    }
    a.jobs[t] = job;
  }
  __syncthreads();
  if (t != 0) return;
  s.n_jobs = n_jobs;
  s.n_nodes += 2 * n_jobs;
  s.n_slots += static_cast<int32_t>(all_searched);
  s.n_split_tiles = all_split;
  s.n_build_tiles = all_build;
  s.build_rows = rows;
  s.built_rows += all_rows;
  s.n_batches += 1;
}

inline void choose_nodes(const Args& a) {
  State& s = *a.state;
  auto& m = *reinterpret_cast<ChooseMemory*>(shared_memory());
  auto* const reach = reinterpret_cast<uint64_t*>(&m + 1);
  const int n = s.n_nodes;
  bool goes_on = s.is_complete == 0;
  Choice choice{0, 0, -1};
  if (goes_on && a.depthwise != 0) {
    goes_on = choose_level(a, n, m, choice);
  } else if (goes_on) {
    for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) {
      reach[i] = can_be_split(a.nodes[i]) ? reach_bits(a.nodes[i].reach) : 0;
    }
    __syncthreads();
    goes_on = choose_by_reach(a, n, reach, m, choice);
  }
  __syncthreads();
  if (!goes_on) {
    if (threadIdx.x != 0) return;
    s.is_complete = 1;
    s.n_jobs = 0;
    s.n_split_tiles = 0;
    s.n_build_tiles = 0;
    return;
  }
  list_chosen(a, choice, reach, n, m);
  make_jobs(a, m);
}

// One thread: the root, and the job of searching it.
inline void make_root(const Args& a) {
  State& s = *a.state;
  Node root{};
  s.total.count = a.task->n_rows;
  root.sums = s.total;
  root.parent = -1;
  root.left_child = -1;
  root.feature = -1;
  root.key = 1;
  root.buffer = -1;
  const double hessian = static_cast<double>(s.layout.constant_hessian() ? root.sums.count : root.sums.hessian);
  root.value = leaf_output(static_cast<double>(root.sums.gradient) * s.layout.gradient_unit,
                           hessian * s.layout.hessian_unit, static_cast<double>(root.sums.count), a.given_rules,
                           a.damp_from, nullptr);
  a.nodes[0] = root;
  s.n_nodes = 1;
  if (a.num_leaves < 2 || !may_split(a, root)) {
    s.is_complete = 1;
    return;
  }
  s.n_slots = 1;
  s.n_jobs = 1;
  s.build_rows = build_rows_of(s.layout, a.task->n_rows);
  s.n_build_tiles = tiles_of(a.task->n_rows, s.build_rows);
  s.built_rows = a.task->n_rows;
  Job job{};
  job.node = -1;
  job.is_searched = 1;
  a.jobs[0] = job;
}
