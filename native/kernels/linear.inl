// Sums over a block of rows, from which a leaf's linear model is fitted.

// Weighted sums of products of column i with columns [first, first + kColumns), added to out.
template <int kColumns>
inline void products(const double* weighted, const double* columns, int64_t stride, int64_t n, double* out) {
  V8d sums[kColumns];
  for (int c = 0; c < kColumns; ++c) sums[c] = fill8(0.0);
  for (int64_t r = 0; r < n; r += 8) {
    const V8d w = load<V8d>(weighted + r);
    for (int c = 0; c < kColumns; ++c) sums[c] += w * load<V8d>(columns + c * stride + r);
  }
  for (int c = 0; c < kColumns; ++c) out[c] = sum8(sums[c]);
}

inline void all_products(const double* weighted, const double* columns, int64_t stride, int n_columns, int64_t n,
                         double* out) {
  int c = 0;
  for (; c + 4 <= n_columns; c += 4) products<4>(weighted, columns + c * stride, stride, n, out + c);
  for (; c < n_columns; ++c) products<1>(weighted, columns + c * stride, stride, n, out + c);
}

// Column 0 is all ones: so sums are products with it.
void linear_moments(const LinearMomentsArgs& a, double* scratch, double* out) {
  for (int i = 0; i < a.n_columns; ++i) {
    const double* const column = a.columns + i * a.stride;
    for (int64_t r = 0; r < a.n_rows; r += 8) store(scratch + r, load<V8d>(a.hessian + r) * load<V8d>(column + r));
    all_products(scratch, a.columns, a.stride, i + 1, a.n_rows, out);
    out += i + 1;
  }
  all_products(a.gradient, a.columns, a.stride, a.n_columns, a.n_rows, out);
}
