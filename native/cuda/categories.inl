// Splits of categories, as in core/category_search.cpp: a warp for one feature of one leaf.

// A category that has rows in the leaf; bin -1: missing and unknown ones.
struct Category {
  Sums sums;
  double order;
  int32_t bin;
  int32_t place;  // in the order of the search; -1: too rare to be tried
};

// The categories [first, last] of the order go left.
struct CategoryRange {
  double gain = kNoGain;
  int first = -1;
  int last = -1;
  Sums left;
};

struct CategorySearcher {
  const Args& a;
  Leaf leaf;
  const DeviceFeature& feature;
  Category* categories;  // room for every bin and one more
  int32_t* order;        // likewise: categories by place
  int n = 0;             // categories
  int n_tried = 0;
  bool one_hot = false;
  double min_hessian = 0.0;
  uint64_t random = 0;

  double hessian_of(const Sums& sums) const {
    return static_cast<double>(leaf.constant_hessian ? sums.count : sums.hessian);
  }

  bool is_enough(const Sums& s) const {
    return static_cast<double>(s.count) >= leaf.min_data && hessian_of(s) >= min_hessian;
  }

  double gain(const Sums& s) const {
    if (leaf.is_limited) {
      return side_within_limits(leaf, static_cast<double>(s.gradient), hessian_of(s), static_cast<double>(s.count))
          .gain;
    }
    return side_gain(leaf, static_cast<double>(s.gradient), hessian_of(s), static_cast<double>(s.count));
  }

  bool is_known(int bin) const { return bin < feature.n_value_bins && a.known_bins[feature.known + bin] != 0; }

  // Categories that have rows in the leaf, in the order of their bins; the unknown ones come last.
  void read(const Slot& slot) {
    const int n_bins = feature.n_value_bins + feature.has_missing;
    Sums others{0, 0, 0};
    for (int base = 0; base < n_bins; base += 32) {
      const int bin = base + lane_of_thread();
      Sums own{0, 0, 0};
      if (bin < n_bins) {
        own = slot.read(feature.first_cell + bin);
        if (leaf.constant_hessian) own.hessian = 0;
      }
      const bool counts = own.count > 0 && is_known(bin);
      if (own.count > 0 && !counts) others = plus(others, own);
      const unsigned before = __ballot_sync(kAll, counts);
      const int place = n + __popc(before & ((1u << lane_of_thread()) - 1));
      if (counts) categories[place] = {own, 0.0, bin, -1};
      n += __popc(before);
    }
    others = {sum_of_warp(others.gradient), sum_of_warp(others.hessian), sum_of_warp(others.count)};
    if (others.count > 0) {
      if (lane_of_thread() == 0) categories[n] = {others, 0.0, -1, -1};
      ++n;
    }
    __syncwarp();
  }

  // Rare categories have too few rows to tell their side: they stay with the rest.
  bool is_tried(const Category& c) const {
    return one_hot || !(static_cast<double>(c.sums.count) < a.given_rules.cat_smooth);
  }

  // The place of each category is the number of those before it.
  void sort() {
    for (int i = lane_of_thread(); i < n; i += 32) {
      Category& c = categories[i];
      c.order = static_cast<double>(c.sums.gradient) / (hessian_of(c.sums) + leaf.rules->cat_smooth);
    }
    __syncwarp();
    int own = 0;
    for (int i = lane_of_thread(); i < n; i += 32) {
      Category& c = categories[i];
      if (!is_tried(c)) continue;
      ++own;
      int place = 0;
      for (int k = 0; k < n; ++k) {
        if (!is_tried(categories[k])) continue;
        const double other = categories[k].order;
        if (one_hot ? k < i : (other < c.order || (other == c.order && k < i))) ++place;
      }
      c.place = place;
      order[place] = i;
    }
    n_tried = sum_of_warp(own);
    __syncwarp();
  }

  const Category& at(int place) const { return categories[order[place]]; }

  // With extra_trees one of the admissible sets is tried.
  CategoryRange find() const {
    int only = -1;
    if (a.extra_trees != 0) {
      int n_sets = 0;
      for_each_set([&](const Sums&, const Sums&, int, int) { ++n_sets; });
      if (n_sets == 0) return CategoryRange{};
      only = static_cast<int>(random % static_cast<uint64_t>(n_sets));
    }
    CategoryRange best;
    int number = 0;
    for_each_set([&](const Sums& left, const Sums& right, int first, int last) {
      if (only >= 0 && number++ != only) return;
      const double both = gain(left) + gain(right);
      if (both > best.gain) {
        best.gain = both;
        best.first = first;
        best.last = last;
        best.left = left;
      }
    });
    return best;
  }

  // Calls body(left, right, first, last) for each admissible set. One after another: there are few.
  template <class Body>
  void for_each_set(const Body& body) const {
    const SplitRules& r = *leaf.rules;
    const int half = (n_tried + 1) / 2;
    const int most = one_hot ? n_tried : (r.max_cat_threshold < half ? r.max_cat_threshold : half);
    for (int direction = 0; direction < (one_hot ? 1 : 2); ++direction) {
      Sums left{0, 0, 0};
      double n_since = 0.0;  // rows since the last set
      for (int i = 0; i < most; ++i) {
        const int place = direction == 0 ? i : n_tried - 1 - i;
        if (one_hot) left = Sums{0, 0, 0};
        left = plus(left, at(place).sums);
        n_since += static_cast<double>(at(place).sums.count);
        const Sums right = leaf.sums - left;
        if (!is_enough(left)) continue;
        if (!is_enough(right) || (!one_hot && static_cast<double>(right.count) < r.min_data_per_group)) {
          if (one_hot) continue;
          break;
        }
        if (!one_hot && n_since < r.min_data_per_group) continue;
        n_since = 0.0;
        body(left, right, one_hot || direction == 1 ? place : 0, one_hot || direction == 0 ? place : n_tried - 1);
      }
    }
  }

  // Categories without rows here go with the rest; so do unknown ones, unless they were chosen.
  void write_set(const CategoryRange& best, uint32_t* set) const {
    bool others = false;
    for (int p = best.first; p <= best.last; ++p) others |= at(p).bin < 0;
    if (lane_of_thread() == 0) {
      for (int w = 0; w < a.category_words; ++w) set[w] = others ? kAll : 0u;
      for (int i = 0; i < n; ++i) {
        const Category& c = categories[i];
        if (c.bin < 0) continue;
        const bool goes_left = c.place >= best.first && c.place <= best.last;
        const uint32_t bit = 1u << (c.bin & 31);
        set[c.bin >> 5] = goes_left ? set[c.bin >> 5] | bit : set[c.bin >> 5] & ~bit;
      }
    }
    __syncwarp();
  }
};

// `set` nullptr: only the gain is wanted.
GOSSAMER_RARE void search_categories(const Args& a, const Node& node, int f, const Slot& slot, uint32_t* set,
                                     Best& out) {
  const State& s = *a.state;
  const DeviceFeature feature = a.features[f];
  const int64_t warp = thread_of_grid() / 32;
  auto* const scratch = a.category_scratch + warp * a.category_scratch_bytes;
  const int room = a.category_words * 32;
  CategorySearcher search{a, leaf_of_node(s, node, 0.0), feature, reinterpret_cast<Category*>(scratch),
                          reinterpret_cast<int32_t*>(scratch + room * static_cast<int64_t>(sizeof(Category)))};
  limit_leaf(a, node, f, search.leaf);
  search.min_hessian = search.leaf.min_hessian;
  search.one_hot = feature.n_categories + feature.has_missing <= s.rules.max_cat_to_onehot;
  if (!search.one_hot) search.leaf.lambda_l2 += s.rules.cat_l2;
  search.random = a.extra_trees != 0 ? random_bits(a.task->extra_key ^ node.key, static_cast<uint64_t>(f)) : 0;
  search.read(slot);
  CategoryRange best;
  if (search.n >= 2) {
    search.sort();
    best = search.find();
  }
  if (set != nullptr && best.first >= 0) search.write_set(best, set);
  __syncwarp();
  bool others = false;
  for (int p = best.first; best.first >= 0 && p <= best.last; ++p) others |= search.at(p).bin < 0;
  if (set == nullptr && lane_of_thread() != 0) return;
  out.gain = best.gain;
  out.left = best.left;
  out.threshold = best.first < 0 ? -1 : 0;
  out.missing_left = others ? 1 : 0;
  out.l2 = search.one_hot ? 0.0 : a.given_rules.cat_l2;
}
