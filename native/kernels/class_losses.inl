// Losses of several classes over rows [begin, end), eight rows at a time. Scores are class-major:
// class c of row i at score[c * stride + i].

// Calls row_loss(read, own) for eight rows at a time, where read(c) gives their scores of class c
// and own the scores of their labels. Adds the returned losses, weighted.
template <class RowLoss>
inline double sum_class_rows(const double* score, int64_t stride, const float* label, const float* weight,
                             int64_t begin, int64_t end, const RowLoss& row_loss) {
  V8d total = fill8(0.0);
  for (int64_t i = begin; i < end; i += 8) {
    const int n_used = end - i < 8 ? static_cast<int>(end - i) : 8;
    const auto read = [&](int c) {
      const double* const p = score + c * stride + i;
      if (n_used == 8) return load<V8d>(p);
      V8d v = fill8(0.0);
      for (int k = 0; k < n_used; ++k) v[k] = p[k];
      return v;
    };
    V8d own = fill8(0.0);
    V8d w = fill8(0.0);
    for (int k = 0; k < n_used; ++k) {
      own[k] = score[static_cast<int64_t>(label[i + k]) * stride + i + k];
      w[k] = weight != nullptr ? static_cast<double>(weight[i + k]) : 1.0;
    }
    total += row_loss(read, own) * w;
  }
  return sum8(total);
}

double sum_multi_logloss(const double* score, int64_t stride, const float* label, const float* weight, int64_t begin,
                         int64_t end, int n_classes) {
  return sum_class_rows(score, stride, label, weight, begin, end, [n_classes](const auto& read, const V8d& own) {
    V8d top = read(0);
    for (int c = 1; c < n_classes; ++c) top = max8(read(c), top);
    V8d sum = fill8(0.0);
    for (int c = 0; c < n_classes; ++c) sum += exp8(read(c) - top);
    return log8(sum) + (top - own);
  });
}

// A row is wrong unless all but top_k classes score less than its own class, as in LightGBM.
double sum_multi_error(const double* score, int64_t stride, const float* label, const float* weight, int64_t begin,
                       int64_t end, int n_classes, int top_k) {
  return sum_class_rows(score, stride, label, weight, begin, end, [=](const auto& read, const V8d& own) {
    V8d n_at_least = fill8(0.0);
    for (int c = 0; c < n_classes; ++c) n_at_least += pick(read(c) >= own, fill8(1.0), fill8(0.0));
    return pick(n_at_least > static_cast<double>(top_k), fill8(1.0), fill8(0.0));
  });
}
