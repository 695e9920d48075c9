// Predictions of a matrix in the memory of a device; see predict.h.

// ---- values ----

inline float from_half(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = bits >> 10 & 31u;
  const uint32_t mantissa = bits & 1023u;
  if (exponent == 31) return bits_as<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return bits_as<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float small = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -small : small;
}

template <class Value>
inline Value value_at(const DeviceMatrix& m, int64_t row, int32_t column) {
  if (column >= m.n_columns) return static_cast<Value>(bits_as<float>(0x7fc00000u));
  const int64_t at = row * m.row_stride + column * m.column_stride;
  switch (m.kind) {
    case kFloat32: return static_cast<Value>(static_cast<const float*>(m.values)[at]);
    case kFloat64: return static_cast<Value>(static_cast<const double*>(m.values)[at]);
    case kInt8: return static_cast<Value>(static_cast<const int8_t*>(m.values)[at]);
    case kInt16: return static_cast<Value>(static_cast<const int16_t*>(m.values)[at]);
    case kInt32: return static_cast<Value>(static_cast<const int32_t*>(m.values)[at]);
    case kInt64: return static_cast<Value>(static_cast<const int64_t*>(m.values)[at]);
    case kUint8: return static_cast<Value>(static_cast<const uint8_t*>(m.values)[at]);
    case kUint16: return static_cast<Value>(static_cast<const uint16_t*>(m.values)[at]);
    case kUint32: return static_cast<Value>(static_cast<const uint32_t*>(m.values)[at]);
    case kUint64: return static_cast<Value>(static_cast<const uint64_t*>(m.values)[at]);
    default: return static_cast<Value>(from_half(static_cast<const uint16_t*>(m.values)[at]));
  }
}

// ---- nodes of the model ----

constexpr int32_t kZeroIsMissing = 1;  // of MissingKind
constexpr int32_t kNanIsZero = 2;

// See category_of in core/predict.h and core/categories.h.
inline int32_t category_of(double x, int32_t missing_kind) {
  if (x != x && missing_kind == kNanIsZero) x = 0.0;
  if (missing_kind == kZeroIsMissing && x <= kZeroLimit<double> && x >= -kZeroLimit<double>) return -1;
  return x > -1.0 && x <= 2147483647.0 ? static_cast<int32_t>(x) : -1;
}

// How many of the increasing numbers are below x.
template <class T>
inline int count_below(const T* numbers, int n, T x) {
  int first = 0;
  while (n > 0) {
    const int half = n / 2;
    if (x > numbers[first + half]) {
      first += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return first;
}

inline bool goes_left(const PlainNode& node, const int32_t* categories, double x) {
  if (node.n_categories > 0) {
    const int32_t category = category_of(x, node.missing_kind);
    const int32_t* const own = categories + node.first_category;
    const int at = count_below(own, node.n_categories, category);
    const bool is_in = at < node.n_categories && own[at] == category;
    return is_in != (node.default_left != 0);
  }
  if (node.missing_kind == kNanIsZero && x != x) x = 0.0;
  const bool is_zero = x <= kZeroLimit<double> && x >= -kZeroLimit<double>;
  if (x != x || (node.missing_kind == kZeroIsMissing && is_zero)) return node.default_left != 0;
  return x <= node.threshold;
}

// Trees of any size, one after another; a thread has one row.
inline void predict_plain(const PredictArgs& p) {
  for (int64_t row = thread_of_grid(); row < p.matrix.n_rows; row += threads_in_grid()) {
    for (int t = 0; t < p.n_plain_trees; ++t) {
      const PlainTree& tree = p.trees[t];
      int32_t at = tree.has_nodes != 0 ? 0 : ~0;
      while (at >= 0) {
        const PlainNode& node = p.nodes[tree.first_node + at];
        at = goes_left(node, p.categories, value_at<double>(p.matrix, row, node.column)) ? node.left : node.right;
      }
      if (p.leaves != nullptr) {
        p.leaves[row * p.n_trees + tree.number] = ~at;
        continue;
      }
      const double* const values = p.leaf_values + (tree.first_leaf + ~at) * p.n_values;
      double* const score = p.score + row * p.n_outputs + tree.output;
      for (int k = 0; k < p.n_values; ++k) score[k] += values[k];
    }
  }
}

// ---- small trees ----

// The byte of a row in an operand of a tile of rows.
inline uint8_t* operand_at(uint8_t* operands, int operand, int row) {
  return operands + static_cast<unsigned>(operand) * (kRowsOfThread * blockDim.x) + static_cast<unsigned>(row);
}

template <class Value>
inline void write_operands(const PackedColumn& column, const Value* bounds, Value x, uint8_t* operands, int row) {
  constexpr uint8_t kLeft = 0;     // not above any threshold
  constexpr uint8_t kRight = 255;  // above all of them
  const bool is_nan = x != x;
  const bool is_zero = !(x < -kZeroLimit<Value> || x > kZeroLimit<Value>);  // NaN too
  const auto below = static_cast<uint8_t>(count_below(bounds, column.n_bounds, x));
  const auto write = [&](OperandKind kind, bool is_missing, uint8_t missing) {
    const int operand = column.operand[static_cast<int>(kind)];
    if (operand >= 0) *operand_at(operands, operand, row) = is_missing ? missing : below;
  };
  write(OperandKind::nan_left, is_nan, kLeft);
  write(OperandKind::nan_right, is_nan, kRight);
  write(OperandKind::zero_left, is_zero, kLeft);
  write(OperandKind::zero_right, is_zero, kRight);
  if (column.operand[static_cast<int>(OperandKind::nan_is_zero)] < 0) return;
  const int zero = is_nan ? count_below(bounds, column.n_bounds, Value(0)) : 0;
  write(OperandKind::nan_is_zero, is_nan, static_cast<uint8_t>(zero));
}

// Neighbouring threads read neighbouring numbers, row by row or column by column as the matrix is stored.
template <class Body>
inline void for_values(const DeviceMatrix& m, int n_rows, int n_columns, const Body& body) {
  const bool by_row = m.column_stride < m.row_stride;
  const auto inner = static_cast<unsigned>(by_row ? n_columns : n_rows);
  const unsigned n = static_cast<unsigned>(n_rows) * static_cast<unsigned>(n_columns);
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    const auto high = static_cast<int>(i / inner);
    const auto low = static_cast<int>(i % inner);
    body(by_row ? high : low, by_row ? low : high);
  }
}

// Fills the operands of rows [first_row, first_row + n_rows). Bounds are copied to `room` part by part.
template <class Value>
inline void fill_operands(const PredictArgs& p, int64_t first_row, int n_rows, uint8_t* operands, uint8_t* room) {
  auto* const bounds = reinterpret_cast<Value*>(room);
  for (int part = 0; part < p.n_column_parts; ++part) {
    const PackedColumn* const columns = p.columns + p.columns_begin[part];
    const int n_columns = p.columns_begin[part + 1] - p.columns_begin[part];
    const int first_bound = columns[0].first_bound;
    const int n_bounds = columns[n_columns].first_bound - first_bound;
    const Value* const from = static_cast<const Value*>(p.bounds) + first_bound;
    for (int i = static_cast<int>(threadIdx.x); i < n_bounds; i += static_cast<int>(blockDim.x)) bounds[i] = from[i];
    __syncthreads();
    for_values(p.matrix, n_rows, n_columns, [&](int row, int c) {
      const PackedColumn& column = columns[c];
      const Value x = value_at<Value>(p.matrix, first_row + row, column.column);
      write_operands(column, bounds + (column.first_bound - first_bound), x, operands, row);
    });
    __syncthreads();
  }
  for_values(p.matrix, n_rows, p.n_sets, [&](int row, int s) {
    const PlainNode& node = p.sets[s];
    const double x = value_at<double>(p.matrix, first_row + row, node.column);
    *operand_at(operands, p.first_set_operand + s, row) = goes_left(node, p.categories, x) ? 0 : 1;
  });
}

// One step of four rows down a tree; returns whether all of them are at leaves.
inline bool step_down(const uint32_t* entries, const uint8_t* own, unsigned stride, uint32_t (&at)[kRowsOfThread]) {
  uint32_t all = 0;
#pragma unroll
  for (int r = 0; r < kRowsOfThread; ++r) {
    const uint32_t entry = entries[at[r]];
    all |= entry;
    at[r] = (entry + own[(entry >> 24) * stride + static_cast<unsigned>(r)]) >> 8 & 0xffffu;
  }
  return (all & 0xffu) == 0;
}

// Four rows of a thread go down a tree together, so that they wait for memory at the same time. Few rows come to the
// deepest leaves: a warp stops where none of its rows does.
inline void walk_tree(const uint32_t* entries, int depth, const uint8_t* own, uint32_t (&at)[kRowsOfThread]) {
  constexpr int kFirstLevels = 4;  // without a look at whether all rows are at leaves
  const unsigned stride = kRowsOfThread * blockDim.x;
#pragma unroll
  for (int r = 0; r < kRowsOfThread; ++r) at[r] = 0;
  const int n_first = depth < kFirstLevels ? depth : kFirstLevels;
  for (int level = 0; level < n_first; ++level) step_down(entries, own, stride, at);
  for (int level = n_first; level < depth; level += 2) {
    const bool is_done = step_down(entries, own, stride, at);
    if (__ballot_sync(kAll, is_done) == kAll) return;
    step_down(entries, own, stride, at);
  }
}

// The scores of the rows of a thread, for one output at a time.
struct RowScores {
  const PredictArgs& p;
  int64_t row;  // the first of them
  int output;
  double sum[kRowsOfThread];

  void load(int new_output) {
    output = new_output;
#pragma unroll
    for (int r = 0; r < kRowsOfThread; ++r) {
      sum[r] = row + r < p.matrix.n_rows ? p.score[(row + r) * p.n_outputs + output] : 0.0;
    }
  }
  void store() const {
#pragma unroll
    for (int r = 0; r < kRowsOfThread; ++r) {
      if (row + r < p.matrix.n_rows) p.score[(row + r) * p.n_outputs + output] = sum[r];
    }
  }
};

// Takes the rows of a tile through all trees, which come to `room` part by part.
inline void walk_tile(const PredictArgs& p, int64_t first_row, const uint8_t* operands, uint8_t* room) {
  const uint8_t* const own = operands + kRowsOfThread * threadIdx.x;
  RowScores scores{p, first_row + kRowsOfThread * static_cast<int64_t>(threadIdx.x), 0, {}};
  if (p.score != nullptr) scores.load(p.packed_trees[0].output);
  for (int stage = 0; stage < p.n_stages; ++stage) {
    const int first_tree = p.stage_begin[stage];
    const int last_tree = p.stage_begin[stage + 1];
    const int first_entry = p.packed_trees[first_tree].first_entry;
    const int n_entries = p.packed_trees[last_tree].first_entry - first_entry;
    auto* const values = reinterpret_cast<double*>(room);
    auto* const entries = reinterpret_cast<uint32_t*>(values + n_entries);
    for (int i = static_cast<int>(threadIdx.x); i < n_entries; i += static_cast<int>(blockDim.x)) {
      values[i] = p.entry_values[first_entry + i];
      entries[i] = p.entries[first_entry + i];
    }
    __syncthreads();
    for (int t = first_tree; t < last_tree; ++t) {
      const PackedTree tree = p.packed_trees[t];
      const int first = tree.first_entry - first_entry;
      uint32_t at[kRowsOfThread];
      walk_tree(entries + first, tree.depth, own, at);
      if (p.score == nullptr) {
        for (int r = 0; r < kRowsOfThread; ++r) {
          if (scores.row + r >= p.matrix.n_rows) break;
          p.leaves[(scores.row + r) * p.n_trees + tree.number] = p.entry_leaves[tree.first_entry + at[r]];
        }
        continue;
      }
      if (tree.output != scores.output) {
        scores.store();
        scores.load(tree.output);
      }
#pragma unroll
      for (int r = 0; r < kRowsOfThread; ++r) scores.sum[r] += values[first + at[r]];
    }
    __syncthreads();
  }
  if (p.score != nullptr) scores.store();
}

inline void predict_packed(const PredictArgs& p) {
  uint8_t* const operands = shared_memory();
  const auto tile_rows = static_cast<int64_t>(kRowsOfThread * blockDim.x);
  uint8_t* const room = operands + p.n_operands * tile_rows;
  const int64_t n_tiles = (p.matrix.n_rows + tile_rows - 1) / tile_rows;
  for (int64_t tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
    const int64_t first_row = tile * tile_rows;
    const int64_t rest = p.matrix.n_rows - first_row;
    const auto n_rows = static_cast<int>(rest < tile_rows ? rest : tile_rows);
    if (p.is_double != 0) {
      fill_operands<double>(p, first_row, n_rows, operands, room);
    } else {
      fill_operands<float>(p, first_row, n_rows, operands, room);
    }
    __syncthreads();
    walk_tile(p, first_row, operands, room);
  }
}

// ---- predictions ----

inline void finish_scores(const FinishArgs& f) {
  const int k = f.n_outputs;
  for (int64_t row = thread_of_grid(); row < f.n_rows; row += threads_in_grid()) {
    double* const score = f.score + row * k;
    for (int c = 0; c < k; ++c) {
      if (f.is_first != 0) score[c] = f.start[c];
      if (f.divisor > 0) score[c] = score[c] / f.divisor + f.start[c];
      if (f.link == kSigmoid) sigmoid(score + c, 1, f.steepness, score + c);
      if (f.link == kExp) apply_link(Link::exp, score + c, 1, score + c);
    }
    if (f.link == kSoftmaxLink) softmax_block(score, 1, 8, k, [&](int c, const V8d& p) { score[c] = p.value; });
  }
}
