// Which nodes are expanded next, in one block.
//
// The host commits nodes one by one: the best first, or level by level. Leaf by leaf, the tree consists of the L - 1
// nodes with the largest reach (see core/frontier.h); level by level, of the first L - 1 nodes. Let u be the node that
// comes first among those whose children are not known. If L - 1 nodes come before it, the tree is complete. If not,
// u is expanded, and others with it that will probably get into the tree: leaf by leaf, those whose reach is among the
// L - 1 largest known so far and not below the smallest reach of the tree before; level by level, all of its level.
//
// Nodes may have the same reach: those below a node with a smaller gain than their own. Where such a group lies across
// the end of the tree, its nodes are committed as the host does it, to see whose turn it is.
//
// A node keeps its histogram until it is expanded, or until so many nodes come before it that it cannot get into the
// tree. When all slots have been taken once, those of such nodes are given to others.

constexpr int kChooseThreads = 1024;

// Room in shared memory. Arrays with an entry for every node follow, and one with an entry for every leaf.
struct ChooseMemory {
  uint32_t counts[256];
  int64_t sums[33];
  int32_t chosen[kChooseThreads];
  uint64_t prefix;
  int64_t n_above;   // nodes whose bits are above the prefix
  int64_t n_wanted;  // nodes that the tree has room for, as far as is known
  int32_t n_chosen;
  int32_t next;  // the node whose turn it is; -1: the tree is complete
  int32_t top;   // the uppermost node of the group
  int32_t n_tops;
  int32_t is_across;  // 1: the group lies across the end of the tree
  int32_t is_alone;   // 1: only one number has the prefix
  int64_t n_used;     // slots that hold a histogram; -1: some have never been taken
};

// What is known of the nodes, by number.
struct Known {
  uint64_t* reach;  // bits, or a number that falls with the depth; 0: the node cannot be split
  double* gain;
  Waiting* waiting;
  int32_t* left_child;
  int32_t* parent;
  uint32_t* used;  // by slot: a bit, 1 if it holds a histogram that may be needed
};

constexpr int32_t kIsWaiting = 1 << 30;  // added to the parent

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

// ---- whose turn it is ----

inline bool comes_before(const Waiting& x, const Waiting& y) {
  return x.gain != y.gain ? x.gain > y.gain : x.order < y.order;
}

// The place of the leaf whose turn it is, found by a warp. There is at least one.
inline int place_of_next(const Known& known, int n_waiting) {
  int best = lane_of_thread() < n_waiting ? lane_of_thread() : 0;
  for (int i = best + 32; i < n_waiting; i += 32) {
    if (comes_before(known.waiting[i], known.waiting[best])) best = i;
  }
  for (int step = 16; step > 0; step >>= 1) {
    const int other = __shfl_xor_sync(kAll, best, step);
    if (comes_before(known.waiting[other], known.waiting[best])) best = other;
  }
  return best;
}

// A warp commits nodes as long as their children are known, from `first` on: n_before nodes come before it. It goes on
// from where it stopped in the batch before. Sets the first node whose children are not known, or -1. `top` is the
// reach of the group.
GOSSAMER_RARE void commit_nodes(const Args& a, const Known& known, int first, int64_t n_before, uint64_t top,
                                ChooseMemory& m) {
  State& s = *a.state;
  const bool goes_on = s.first_committed == first && s.n_before == n_before;
  int n_waiting = goes_on ? s.n_waiting : 1;
  int64_t n_committed = goes_on ? s.n_committed : n_before;
  int next = -1;
  if (goes_on) {
    for (int i = lane_of_thread(); i < n_waiting; i += 32) known.waiting[i] = a.waiting[i];
  } else {
    if (lane_of_thread() == 0) known.waiting[0] = {known.gain[first], 0, first, 0};
    for (int i = lane_of_thread(); i < s.n_nodes; i += 32) a.nodes[i].is_committed = 0;
  }
  __syncwarp();
  while (n_waiting > 0 && n_committed + 1 < a.num_leaves) {
    const int place = place_of_next(known, n_waiting);
    const int32_t node = known.waiting[place].node;
    const int32_t child = known.left_child[node];
    if (child < 0) {
      next = node;
      break;
    }
    ++n_committed;
    --n_waiting;
    __syncwarp();
    if (lane_of_thread() == 0) {
      known.waiting[place] = known.waiting[n_waiting];
      a.nodes[node].is_committed = 1;
    }
    __syncwarp();
    for (int side = 0; side < 2; ++side) {
      // Nodes with a smaller reach come after those of the group.
      if (known.reach[child + side] < top) continue;
      if (lane_of_thread() == 0) {
        known.waiting[n_waiting] = {known.gain[child + side], 2 * n_committed + side, child + side, 0};
      }
      ++n_waiting;
    }
    __syncwarp();
  }
  for (int i = lane_of_thread(); i < n_waiting; i += 32) a.waiting[i] = known.waiting[i];
  if (lane_of_thread() != 0) return;
  s.first_committed = first;
  s.n_before = n_before;
  s.n_waiting = n_waiting;
  s.n_committed = n_committed;
  m.next = next;
  m.n_wanted = a.num_leaves - 1 - n_committed;
}

// The larger of all threads' numbers, which are not negative.
inline int64_t largest_of_block(int64_t value, int64_t* shared) {
  for (int step = 16; step > 0; step >>= 1) {
    const int64_t other = __shfl_xor_sync(kAll, value, step);
    value = other > value ? other : value;
  }
  __syncthreads();
  if (lane_of_thread() == 0) shared[warp_of_thread()] = value;
  __syncthreads();
  value = shared[lane_of_thread()];
  for (int step = 16; step > 0; step >>= 1) {
    const int64_t other = __shfl_xor_sync(kAll, value, step);
    value = other > value ? other : value;
  }
  return value;
}

// The nodes of the same reach, which is above 0.
struct Group {
  int64_t n_before;  // nodes with a larger reach
  int64_t n_with;    // and those of the group
};

// Sets the uppermost node of the group, how many there are, and one whose children are not known (-1: there is none).
inline Group find_group(const Known& known, int n, uint64_t reach, ChooseMemory& m) {
  if (threadIdx.x == 0) {
    m.n_tops = 0;
    m.next = m.top = -1;
  }
  __syncthreads();
  int64_t counts = 0;  // nodes with at least this reach, and above them those with a larger one
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) {
    if (known.reach[i] > reach) counts += int64_t{1} << 32;
    if (known.reach[i] >= reach) ++counts;
    if (known.reach[i] != reach) continue;
    if (known.left_child[i] < 0) atomicMax(&m.next, i);  // any of them
    const int32_t parent = known.parent[i];
    if (parent < 0 || known.reach[parent] > reach) {
      atomicMax(&m.top, i);
      atomicAdd(&m.n_tops, 1);
    }
  }
  int64_t all = 0;
  sum_before(counts, m.sums, all);
  return {all >> 32, all & 0xffffffff};
}

// The first warp commits nodes of a group that lies across the end of the tree. With several groups of the same reach,
// their order follows from all commits before.
inline void commit_group(const Args& a, const Known& known, const Group& group, uint64_t reach, ChooseMemory& m) {
  if (warp_of_thread() == 0) {
    const bool is_one = m.n_tops == 1;
    commit_nodes(a, known, is_one ? m.top : 0, is_one ? group.n_before : 0, reach, m);
  }
  __syncthreads();
}

// Finds the node that comes first among those whose children are not known, and sets it as the next one unless the tree
// is complete. `top` becomes its reach.
inline void find_next(const Args& a, const Known& known, int n, ChooseMemory& m, uint64_t& top) {
  int64_t largest = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) {
    const auto own = static_cast<int64_t>(known.reach[i]);
    if (known.left_child[i] < 0 && own > largest) largest = own;
  }
  top = static_cast<uint64_t>(largest_of_block(largest, m.sums));
  if (top == 0) {
    if (threadIdx.x == 0) m.next = -1;
    __syncthreads();
    return;
  }
  const Group group = find_group(known, n, top, m);
  const bool is_complete = group.n_before + 1 >= a.num_leaves;
  const bool is_across = !is_complete && group.n_with + 1 > a.num_leaves && a.depthwise == 0;
  if (threadIdx.x == 0) {
    // Which nodes of a level come first is known to the host only.
    m.n_wanted = a.depthwise != 0 ? a.num_leaves : a.num_leaves - 1 - group.n_before;
    m.is_across = is_across ? 1 : 0;
    if (is_complete) m.next = -1;
  }
  __syncthreads();
  if (is_across) commit_group(a, known, group, top, m);
}

// ---- nodes to be expanded ahead ----

// The k-th largest of `bits`, which has at least k numbers other than 0; byte by byte from the top, until one number is
// left.
inline uint64_t kth_largest(const uint64_t* bits, int n, int64_t k, ChooseMemory& m) {
  if (threadIdx.x == 0) {
    m.prefix = 0;
    m.n_above = 0;
    m.is_alone = 0;
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
        m.is_alone = m.counts[byte] == 1 ? 1 : 0;
      }
    }
    __syncthreads();
    if (m.is_alone == 0) continue;
    const uint64_t own = m.prefix >> shift;
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) {
      if (bits[i] >> shift == own) m.prefix = bits[i];
    }
    __syncthreads();
    break;
  }
  return m.prefix;
}

// The smallest reach with which a node may get into the tree: the `room`-th largest of those that are known.
inline uint64_t end_of_tree(const Known& known, int n, int64_t room, ChooseMemory& m) {
  int64_t own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) own += known.reach[i] != 0;
  int64_t n_known = 0;
  sum_before(own, m.sums, n_known);
  return n_known >= room ? kth_largest(known.reach, n, room, m) : 1;
}

// The smallest reach with which a node is expanded ahead; `top` is the largest reach of a node that is not expanded,
// `end` the smallest with which a node may get into the tree.
inline uint64_t least_reach(const Args& a, const Known& known, uint64_t top, uint64_t end) {
  const State& s = *a.state;
  uint64_t least = end;
  if (s.last_cut > 0.0 && s.last_root_gain > 0.0) {
    // The tree before may have ended at larger gains than this one will: then nodes come one by one, unless those with
    // about the same reach come together.
    const double largest = reach_of_bits(top);
    const double before = s.last_cut * (known.gain[0] / s.last_root_gain);
    const uint64_t wanted = reach_bits(before <= largest ? before : 0.5 * largest);
    least = wanted > least ? wanted : least;
  }
  return least < top ? least : top;
}

// Nodes that are expanded at once. Where nodes run short, only the one whose turn it is.
inline int64_t most_chosen(const Args& a, int n, int64_t n_wanted) {
  const int64_t most = n_wanted < kChooseThreads ? n_wanted : kChooseThreads;
  return n + 2 * most + 2 * a.num_leaves > a.max_nodes ? 1 : most;
}

inline int words_of_slots(const Args& a) { return static_cast<int>((a.max_slots + 31) / 32); }

// Takes the histograms from nodes that cannot get into the tree: those whose reach is below the end. Finds which slots
// are in use.
inline void free_slots(const Args& a, const Known& known, int n, uint64_t end, ChooseMemory& m) {
  for (int i = static_cast<int>(threadIdx.x); i < words_of_slots(a); i += kChooseThreads) known.used[i] = 0;
  __syncthreads();
  int64_t own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) {
    if (known.left_child[i] >= 0) continue;
    const int32_t slot = a.nodes[i].slot;
    if (slot < 0) continue;
    if (known.reach[i] < end) {
      a.nodes[i].slot = -1;
      continue;
    }
    atomicOr(&known.used[slot / 32], 1u << slot % 32);
    ++own;
  }
  int64_t n_used = 0;
  sum_before(own, m.sums, n_used);
  if (threadIdx.x == 0) m.n_used = n_used;
  __syncthreads();
}

// The slot that comes after `n_before` others which are free.
inline int32_t free_slot(const Known& known, int64_t n_before) {
  int word = 0;
  int64_t left = n_before;
  for (int n_free = 32 - __popc(known.used[0]); left >= n_free; n_free = 32 - __popc(known.used[word])) {
    left -= n_free;
    ++word;
  }
  uint32_t is_free = ~known.used[word];
  for (; left > 0; --left) is_free &= is_free - 1;
  return 32 * word + __ffs(static_cast<int>(is_free)) - 1;
}

// Of a group that lies across the end of the tree, some nodes are committed. The others follow in the order of another
// reach: the smallest gain on the path from the leaf that is waiting. It replaces the reach of the group's nodes, and
// becomes 0 for all others. Returns the smallest of those to be expanded: gains below them are not known, so only half
// of the room that the tree has left is counted on. `end` becomes the smallest with which a node may get into the tree.
inline uint64_t least_in_group(const Args& a, const Known& known, int n, uint64_t top, ChooseMemory& m, uint64_t& end) {
  for (int i = static_cast<int>(threadIdx.x); i < a.state->n_waiting; i += kChooseThreads) {
    known.parent[known.waiting[i].node] += kIsWaiting;
  }
  __syncthreads();
  int64_t own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) {
    double smallest = known.gain[i];
    int at = known.reach[i] == top ? i : -1;
    while (at >= 0 && known.parent[at] < kIsWaiting - 1) {
      at = known.parent[at];
      if (at >= 0 && known.gain[at] < smallest) smallest = known.gain[at];
    }
    known.reach[i] = at >= 0 ? reach_bits(smallest) : 0;
    own += at >= 0;
  }
  int64_t n_left = 0;
  sum_before(own, m.sums, n_left);
  end = n_left > m.n_wanted ? kth_largest(known.reach, n, m.n_wanted, m) : 1;
  const int64_t least = a.num_leaves / 16 + 1;
  const int64_t wanted = m.n_wanted / 2 > least ? m.n_wanted / 2 : least;
  return n_left > wanted && wanted < m.n_wanted ? kth_largest(known.reach, n, wanted, m) : end;
}

// The node whose turn it is, then others in the order of their numbers. `top` is its reach. None if no slot is free.
inline void list_chosen(const Args& a, const Known& known, int n, uint64_t top, ChooseMemory& m) {
  const int next = m.next;
  uint64_t least = top;
  uint64_t end = 0;
  if (m.is_across != 0) {
    least = least_in_group(a, known, n, top, m, end);
  } else {
    end = end_of_tree(known, n, a.num_leaves - 1, m);
    if (a.depthwise == 0) least = least_reach(a, known, top, end);
  }
  int64_t most = most_chosen(a, n, m.n_wanted);
  if (a.state->n_slots + most > a.max_slots) {
    free_slots(a, known, n, end, m);
    const int64_t n_free = a.max_slots - m.n_used;
    most = most < n_free ? most : n_free;
  } else if (threadIdx.x == 0) {
    m.n_used = -1;
  }
  int64_t listed = 1;
  if (threadIdx.x == 0) m.chosen[0] = next;
  for (int base = 0; base < n && listed < most; base += kChooseThreads) {
    const int i = base + static_cast<int>(threadIdx.x);
    const bool takes = i < n && i != next && known.left_child[i] < 0 && known.reach[i] >= least && a.nodes[i].slot >= 0;
    int64_t found = 0;
    const int64_t place = listed + sum_before<int64_t>(takes ? 1 : 0, m.sums, found);
    if (takes && place < most) m.chosen[place] = i;
    listed += found;
  }
  __syncthreads();
  if (threadIdx.x == 0) m.n_chosen = static_cast<int32_t>(listed < most ? listed : most);
  __syncthreads();
}

// ---- jobs ----

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
  child.value =
      leaf_output(static_cast<double>(child.sums.gradient) * s.layout.gradient_unit, hessian * s.layout.hessian_unit,
                  static_cast<double>(child.sums.count), rules, a.damp_from, &parent.value);
  return child;
}

inline int64_t tiles_of(int64_t n_rows, int64_t rows) { return (n_rows + rows - 1) / rows; }

// Rows of a tile: few enough for a packed cell; and so many that all blocks have the same number of tiles, though the
// last tile of each job is not full.
inline int64_t build_rows_of(const Args& a, int64_t n_rows, int64_t n_jobs) {
  constexpr int64_t kLeastRows = 1024;  // a tile must be worth its cells, which are cleared and added up
  const int64_t max_rows = a.state->layout.max_rows;
  const int64_t most = max_rows < 65535 ? max_rows : 65535;
  const int64_t n_groups = a.n_groups > 0 ? a.n_groups : 1;
  const int64_t rounds = tiles_of((tiles_of(n_rows, most) + n_jobs) * n_groups, a.build_blocks);
  const int64_t n_tiles = a.build_blocks * rounds / n_groups - n_jobs;
  const int64_t rows = tiles_of(n_rows, n_tiles > 1 ? n_tiles : 1);
  return rows < kLeastRows ? kLeastRows : rows < most ? rows : most;
}

// Makes the children and jobs of the chosen nodes.
inline void make_jobs(const Args& a, const Known& known, ChooseMemory& m) {
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
    parent.left_child = first_child;
    if (a.directions != nullptr) limit_children(a, number);
    const Node& left = a.nodes[first_child];
    const Node& right = a.nodes[first_child + 1];
    job.node = number;
    job.left_child = first_child;
    job.built = left.sums.count <= right.sums.count ? first_child : first_child + 1;
    job.is_searched = may_split(a, left) || may_split(a, right) ? 1 : 0;
    split_tiles = tiles_of(parent.sums.count, kSplitRows);
    searched = job.is_searched;
    if (job.is_searched != 0) build_rows = a.nodes[job.built].sums.count;
  }
  int64_t all_rows = 0;
  int64_t all_split = 0;
  int64_t all_build = 0;
  int64_t all_searched = 0;
  sum_before(build_rows, m.sums, all_rows);
  const int64_t rows = build_rows_of(a, all_rows, n_jobs);
  job.split_tile = sum_before(split_tiles, m.sums, all_split);
  job.build_tile = sum_before(tiles_of(build_rows, rows), m.sums, all_build);
  const int64_t n_before = sum_before(searched, m.sums, all_searched);
  if (t < n_jobs) {
    if (job.is_searched != 0) {
      a.nodes[2 * first_child + 1 - job.built].slot = a.nodes[number].slot;
      a.nodes[job.built].slot = m.n_used < 0 ? s.n_slots + static_cast<int32_t>(n_before) : free_slot(known, n_before);
    }
    a.jobs[t] = job;
  }
  __syncthreads();
  if (t != 0) return;
  s.n_jobs = n_jobs;
  s.n_nodes += 2 * n_jobs;
  s.error = n_jobs == 0 ? kNoSlot : s.error;
  s.n_slots = m.n_used < 0 ? s.n_slots + static_cast<int32_t>(all_searched) : static_cast<int32_t>(a.max_slots);
  s.n_split_tiles = all_split;
  s.n_build_tiles = all_build;
  s.build_rows = rows;
  s.built_rows += all_rows;
  s.n_batches += n_jobs > 0 ? 1 : 0;
}

// Levels from the top, as numbers that fall; all of them are above 0.
inline uint64_t reach_of_depth(int32_t depth) { return (uint64_t{1} << 40) - static_cast<uint64_t>(depth); }

// The tree is complete: notes which nodes it has, and where it ends.
inline void end_tree(const Args& a, const Known& known, int n, ChooseMemory& m) {
  State& s = *a.state;
  int64_t n_known = 0;
  int64_t own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) own += known.reach[i] != 0;
  sum_before(own, m.sums, n_known);
  const bool is_full = n_known + 1 >= a.num_leaves && a.depthwise == 0;
  uint64_t cut = 0;
  bool is_across = false;
  if (is_full) {
    cut = kth_largest(known.reach, n, a.num_leaves - 1, m);
    const Group group = find_group(known, n, cut, m);
    is_across = group.n_with + 1 > a.num_leaves;
    if (is_across) commit_group(a, known, group, cut, m);
  }
  if (threadIdx.x != 0) return;
  s.last_cut = reach_of_bits(cut);
  s.last_root_gain = known.gain[0];
  s.is_complete = 1;
  s.n_jobs = 0;
  s.n_split_tiles = 0;
  s.n_build_tiles = 0;
  s.reach_below = is_full && !is_across ? cut - 1 : cut;
  const int64_t n_listed = is_full ? a.num_leaves - 1 : n_known;
  const bool is_known = n_listed + 1 <= a.num_leaves && (!is_across || s.n_committed + 1 == a.num_leaves);
  s.n_listed = is_known ? static_cast<int32_t>(n_listed) : 0;
}

inline void choose_nodes(const Args& a) {
  State& s = *a.state;
  if (s.is_complete != 0 || s.error == kNoSlot) return;
  const int n = s.n_nodes;
  auto& m = *reinterpret_cast<ChooseMemory*>(shared_memory());
  Known known;
  known.reach = reinterpret_cast<uint64_t*>(&m + 1);
  known.gain = reinterpret_cast<double*>(known.reach + a.max_nodes);
  known.waiting = reinterpret_cast<Waiting*>(known.gain + a.max_nodes);
  known.left_child = reinterpret_cast<int32_t*>(known.waiting + a.num_leaves + 1);
  known.parent = known.left_child + a.max_nodes;
  known.used = reinterpret_cast<uint32_t*>(known.parent + a.max_nodes);
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kChooseThreads) {
    const Node& node = a.nodes[i];
    const uint64_t reach = a.depthwise != 0 ? reach_of_depth(node.depth) : reach_bits(node.reach);
    known.reach[i] = node.feature >= 0 ? reach : 0;
    known.gain[i] = node.gain;
    known.left_child[i] = node.left_child;
    known.parent[i] = node.parent;
  }
  __syncthreads();
  uint64_t top = 0;
  find_next(a, known, n, m, top);
  if (m.next < 0) {
    end_tree(a, known, n, m);
    return;
  }
  list_chosen(a, known, n, top, m);
  make_jobs(a, known, m);
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
  root.value =
      leaf_output(static_cast<double>(root.sums.gradient) * s.layout.gradient_unit, hessian * s.layout.hessian_unit,
                  static_cast<double>(root.sums.count), a.given_rules, a.damp_from, nullptr);
  if (s.error != 0) return;
  a.nodes[0] = root;
  if (a.directions != nullptr) a.node_limits[0] = {-infinity(), infinity(), root.value};
  s.n_nodes = 1;
  s.n_slots = 1;
  s.first_committed = -1;
  if (a.num_leaves < 2 || !may_split(a, root)) {
    s.is_complete = 1;
    return;
  }
  s.n_jobs = 1;
  s.build_rows = build_rows_of(a, a.task->n_rows, 1);
  s.n_build_tiles = tiles_of(a.task->n_rows, s.build_rows);
  s.built_rows = a.task->n_rows;
  Job job{};
  job.node = -1;
  job.is_searched = 1;
  a.jobs[0] = job;
}
