// Shapley values of one leaf for 64 rows, see core/shap.h: products over the features of its path, eight rows at a
// time.

inline V8i slots_of(uint64_t bits) {
  const V8i own = V8i(1) << slot_numbers();
  return (V8i(static_cast<int64_t>(bits & 0xff)) & own) != 0;
}

// kPoints 0: any number of points.
template <int kPoints>
void add_leaf(const ShapLeafArgs& a) {
  constexpr int kMost = kPoints > 0 ? kPoints : kMaxShapPoints;
  const int n_points = kPoints > 0 ? kPoints : a.n_points;
  for (int block = 0; block < a.n_blocks; ++block) {
    V8d product[kMost];
    for (int q = 0; q < n_points; ++q) product[q] = fill8(1.0);
    for (int j = 0; j < a.n_parts; ++j) {
      const V8i known = slots_of(a.known[j] >> (8 * block));
      const double* const table = a.tables + static_cast<int64_t>(j) * 4 * n_points;
      for (int q = 0; q < n_points; ++q) {
        product[q] = product[q] * pick(known, fill8(table[n_points + q]), fill8(table[q]));
      }
    }
    for (int j = 0; j < a.n_parts; ++j) {
      const V8i known = slots_of(a.known[j] >> (8 * block));
      const double* const table = a.tables + static_cast<int64_t>(j) * 4 * n_points + 2 * n_points;
      V8d sum = fill8(0.0);
      for (int q = 0; q < n_points; ++q) {
        sum = sum + product[q] * pick(known, fill8(table[n_points + q]), fill8(table[q]));
      }
      for (int k = 0; k < a.n_values; ++k) {
        double* const out = a.out[k] + static_cast<int64_t>(a.place[j]) * kShapRows + 8 * block;
        store(out, load<V8d>(out) + a.values[k] * sum);
      }
    }
  }
}

void add_shap_leaf(const ShapLeafArgs& a) {
  switch (a.n_points) {
    case 1: return add_leaf<1>(a);
    case 2: return add_leaf<2>(a);
    case 3: return add_leaf<3>(a);
    case 4: return add_leaf<4>(a);
    case 5: return add_leaf<5>(a);
    case 6: return add_leaf<6>(a);
    default: return add_leaf<0>(a);
  }
}

void add_shap_pairs(const ShapPairArgs& a) {
  const int n = a.n_points;
  const auto part = [&](int j) { return a.tables + static_cast<int64_t>(j) * 4 * n; };
  for (int block = 0; block < a.n_blocks; ++block) {
    V8d product[kMaxShapPoints];
    for (int q = 0; q < n; ++q) product[q] = fill8(1.0);
    for (int j = 0; j < a.n_parts; ++j) {
      const V8i known = slots_of(a.known[j] >> (8 * block));
      for (int q = 0; q < n; ++q) product[q] = product[q] * pick(known, fill8(part(j)[n + q]), fill8(part(j)[q]));
    }
    for (int i = 0; i < a.n_parts; ++i) {
      const V8i known_i = slots_of(a.known[i] >> (8 * block));
      V8d term[kMaxShapPoints];
      V8d own = fill8(0.0);
      for (int q = 0; q < n; ++q) {
        term[q] = product[q] * pick(known_i, fill8(part(i)[3 * n + q]), fill8(part(i)[2 * n + q]));
        own = own + term[q];
        term[q] = term[q] / a.weight[q];
      }
      store(a.out + (static_cast<int64_t>(i) * a.n_parts + i) * kShapRows + 8 * block, own);
      for (int j = i + 1; j < a.n_parts; ++j) {
        const V8i known_j = slots_of(a.known[j] >> (8 * block));
        V8d sum = fill8(0.0);
        for (int q = 0; q < n; ++q) {
          sum = sum + term[q] * pick(known_j, fill8(part(j)[3 * n + q]), fill8(part(j)[2 * n + q]));
        }
        store(a.out + (static_cast<int64_t>(i) * a.n_parts + j) * kShapRows + 8 * block, sum);
      }
    }
  }
}
