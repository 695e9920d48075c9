// Monotone constraints of the method `basic`, as in core/monotone.cpp: a split on a monotone feature gives its children
// a common limit halfway between their values.

inline double infinity() {
  const uint64_t bits = 0x7ff0000000000000;
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

// The value bins of a feature that rows of a node can have; none: first > last.
struct BinRange {
  int first;
  int last;
};

inline BinRange bins_of_node(const Args& a, int32_t number, int f) {
  BinRange bins{0, a.features[f].n_value_bins - 1};
  for (int32_t child = number; a.nodes[child].parent >= 0; child = a.nodes[child].parent) {
    const Node& parent = a.nodes[a.nodes[child].parent];
    if (parent.feature != f) continue;
    if (child == parent.left_child) {
      bins.last = smaller_of(bins.last, parent.threshold);
    } else {
      bins.first = larger_of(bins.first, parent.threshold + 1);
    }
  }
  return bins;
}

// Sets of categories have no order.
inline int direction_of(const Args& a, int f) { return a.features[f].n_categories >= 0 ? 0 : a.directions[f]; }

inline double clamp_to(double value, double low, double high) {
  return value < low ? low : (high < value ? high : value);
}

// Limits of the children of a node, and their values within them. The children's parent is node `number`.
GOSSAMER_RARE void limit_children(const Args& a, int32_t number) {
  const Node& parent = a.nodes[number];
  const NodeLimits above = a.node_limits[number];
  Node* const children = a.nodes + parent.left_child;
  NodeLimits limits[2];
  double values[2];
  for (int side = 0; side < 2; ++side) {
    limits[side] = {above.low, above.high, children[side].value};
    values[side] = clamp_to(children[side].value, above.low, above.high);
  }
  const int direction = direction_of(a, parent.feature);
  const BinRange bins = bins_of_node(a, number, parent.feature);
  const bool is_ordered =
      bins.first <= smaller_of(bins.last, parent.threshold) && larger_of(bins.first, parent.threshold + 1) <= bins.last;
  if (direction != 0 && is_ordered) {
    const int lower = direction > 0 ? 0 : 1;
    double middle = 0.5 * (values[0] + values[1]);
    // The search respects this order, but damping may not.
    if (values[lower] > values[1 - lower]) {
      middle = clamp_to(middle, above.low, above.high);
      values[0] = values[1] = middle;
    }
    limits[lower].high = middle;
    limits[1 - lower].low = middle;
  }
  for (int side = 0; side < 2; ++side) {
    children[side].value = values[side];
    a.node_limits[parent.left_child + side] = limits[side];
  }
}
