/* Operands: the numbers that nodes compare. A row goes left if its operand is at most the threshold, wherever missing
 * values go: they become -inf, NAN or 0. For categories the operand is the code, or -1. */
static void MODEL_fill_operands(const double* values, double* operands) {
  const double inf = HUGE_VAL;
  int64_t i = 0;
  for (; i < MODEL_END_NAN_LEFT; ++i) {
    const double x = values[MODEL_operand_place[i]];
    operands[i] = x != x ? -inf : x;
  }
  for (; i < MODEL_END_NAN_RIGHT; ++i) operands[i] = values[MODEL_operand_place[i]];
  for (; i < MODEL_END_ZERO_LEFT; ++i) {
    const double x = values[MODEL_operand_place[i]];
    operands[i] = fabs(x) > 1e-35 ? x : -inf;
  }
  for (; i < MODEL_END_ZERO_RIGHT; ++i) {
    const double x = values[MODEL_operand_place[i]];
    operands[i] = fabs(x) > 1e-35 ? x : NAN;
  }
  for (; i < MODEL_END_NAN_IS_ZERO; ++i) {
    const double x = values[MODEL_operand_place[i]];
    operands[i] = x != x ? 0.0 : x;
  }
#if MODEL_N_SETS > 0
  for (; i < MODEL_N_OPERANDS; ++i) {
    double x = values[MODEL_operand_place[i]];
    if (i >= MODEL_END_SET_ZERO && x != x) x = 0.0;
    if (i >= MODEL_END_SET_NAN && i < MODEL_END_SET_ZERO && fabs(x) <= 1e-35) x = -1.0;
    operands[i] = x > -1.0 && x <= 2147483647.0 ? trunc(x) : -1.0;
  }
#endif
}

#if MODEL_N_SETS > 0
/* A set is a list of words of 32 categories each: the place of the word above, its bits below. */
static int MODEL_in_set(uint64_t set, double category) {
  uint32_t low = MODEL_set_begin[set], high = MODEL_set_begin[set + 1];
  uint32_t code, place;
  if (!(category >= 0.0)) return 0;
  code = (uint32_t)category;
  place = code >> 5;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if ((uint32_t)(MODEL_set_words[middle] >> 32) <= place) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return (uint32_t)(MODEL_set_words[low] >> 32) == place && ((MODEL_set_words[low] >> (code & 31)) & 1) != 0;
}
#endif

/* A node is two words: the bits of its threshold, or the number of its set; then its operand and two children,
 * the second one for rows that pass the test. A leaf leads to itself; its first word is its value, or its number. */
static inline uint32_t MODEL_step(const uint64_t* node, const double* operands) {
  const uint64_t word = node[1];
  const double x = operands[word >> 44];
  double threshold;
#if MODEL_N_SETS > 0
  if ((int64_t)(word >> 44) >= MODEL_END_NAN_IS_ZERO) {
    return (uint32_t)(word >> (22 * MODEL_in_set(node[0], x))) & 0x3fffff;
  }
#endif
  memcpy(&threshold, node, sizeof(threshold));
  /* No branch: there would be nothing to predict it by. */
  return (uint32_t)(word >> ((0u - (uint32_t)(x <= threshold)) & 22)) & 0x3fffff;
}

/* Adds what a leaf says to the scores of a row. */
static inline void MODEL_add_leaf(const uint64_t* leaf, int64_t output, const double* operands, double* score) {
#if MODEL_HAS_LINEAR
  const uint64_t l = leaf[0];
  double value = MODEL_linear[4 * l];
  uint32_t i;
  for (i = MODEL_term_begin[l]; i < MODEL_term_begin[l + 1]; ++i) {
    value += MODEL_terms[2 * i] * (operands[MODEL_term_operand[i]] - MODEL_terms[2 * i + 1]);
  }
  if (!(fabs(value) <= DBL_MAX)) {
    value = MODEL_linear[4 * l + 3];
  } else if (value < MODEL_linear[4 * l + 1]) {
    value = MODEL_linear[4 * l + 1];
  } else if (value > MODEL_linear[4 * l + 2]) {
    value = MODEL_linear[4 * l + 2];
  }
  score[output] += value;
#elif MODEL_HAS_VECTORS
  const double* const values = MODEL_vectors + leaf[0] * MODEL_N_OUTPUTS;
  int64_t k;
  (void)output;
  (void)operands;
  for (k = 0; k < MODEL_N_OUTPUTS; ++k) score[k] += values[k];
#else
  double value;
  (void)operands;
  memcpy(&value, leaf, sizeof(value));
  score[output] += value;
#endif
}

/* The trees that walk together, or the rows: their loads overlap. */
#define MODEL_TOGETHER 8

static void MODEL_add_row(const double* operands, double* score) {
  int64_t t, k, output = 0;
  for (t = 0; t < MODEL_N_TREES; t += MODEL_TOGETHER) {
    const int64_t n = MODEL_N_TREES - t < MODEL_TOGETHER ? MODEL_N_TREES - t : MODEL_TOGETHER;
    const uint64_t* tree[MODEL_TOGETHER];
    uint32_t at[MODEL_TOGETHER], n_inner[MODEL_TOGETHER];
    int is_walking = 1;
    for (k = 0; k < MODEL_TOGETHER; ++k) {
      const int64_t which = t + (k < n ? k : n - 1);
      tree[k] = MODEL_nodes + 2 * (uint64_t)MODEL_tree_begin[which];
      n_inner[k] = MODEL_tree_inner[which];
      at[k] = 0;
    }
    while (is_walking) {
      is_walking = 0;
      for (k = 0; k < MODEL_TOGETHER; ++k) {
        at[k] = MODEL_step(tree[k] + 2 * at[k], operands);
        is_walking |= at[k] < n_inner[k];
      }
    }
    for (k = 0; k < n; ++k) {
      MODEL_add_leaf(tree[k] + 2 * at[k], output, operands, score);
      if (++output == MODEL_N_OUTPUTS) output = 0;
    }
  }
}

#if MODEL_BLOCK > 1
/* There are operands for a multiple of MODEL_TOGETHER rows. */
static void MODEL_add_rows(const double* operands, int64_t n_rows, double* score) {
  int64_t t, r, k, output = 0;
  for (t = 0; t < MODEL_N_TREES; ++t) {
    const uint64_t* const tree = MODEL_nodes + 2 * (uint64_t)MODEL_tree_begin[t];
    const uint32_t n_inner = MODEL_tree_inner[t];
    for (r = 0; r < n_rows; r += MODEL_TOGETHER) {
      const double* const first = operands + r * MODEL_N_OPERANDS;
      uint32_t at[MODEL_TOGETHER];
      int is_walking = 1;
      for (k = 0; k < MODEL_TOGETHER; ++k) at[k] = 0;
      while (is_walking) {
        is_walking = 0;
        for (k = 0; k < MODEL_TOGETHER; ++k) {
          at[k] = MODEL_step(tree + 2 * at[k], first + k * MODEL_N_OPERANDS);
          is_walking |= at[k] < n_inner;
        }
      }
      for (k = 0; k < MODEL_TOGETHER && r + k < n_rows; ++k) {
        MODEL_add_leaf(tree + 2 * at[k], output, first + k * MODEL_N_OPERANDS, score + (r + k) * MODEL_N_OUTPUTS);
      }
    }
    if (++output == MODEL_N_OUTPUTS) output = 0;
  }
}
#endif

#if MODEL_N_DERIVED > 0
/* The place of a number in an increasing list, or the list's length. */
static int64_t MODEL_place_of(const uint64_t* list, int64_t length, uint64_t wanted) {
  int64_t low = 0, high = length;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (list[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < length && list[low] == wanted ? low : length;
}

/* Target statistics of categories stand behind the columns of the row. */
static void MODEL_derive(double* values) {
  int64_t s, k;
  double* out = values + MODEL_N_USED;
  for (s = 0; s < MODEL_N_SOURCES; ++s) {
    const int64_t begin = MODEL_entry_begin[s];
    const int64_t n_entries = MODEL_entry_begin[s + 1] - begin;
    uint64_t key = 0;
    int64_t place;
    for (k = MODEL_source_begin[s + 1]; k-- > MODEL_source_begin[s];) {
      const int32_t c = MODEL_source_column[k];
      const int64_t first = MODEL_category_begin[c];
      const int64_t n_categories = MODEL_category_begin[c + 1] - first;
      const double x = trunc(values[MODEL_category_place[c]]);
      int64_t code = n_categories;
      if (x >= 0.0 && x <= 2147483647.0) {
        code = MODEL_place_of(MODEL_categories + first, n_categories, (uint64_t)x);
      }
      key = (uint64_t)code + (uint64_t)(n_categories + 1) * key;
    }
    place = MODEL_place_of(MODEL_entry_keys + begin, n_entries, key);
    for (k = 0; k < MODEL_N_STATISTICS; ++k) {
      *out++ = place < n_entries ? (double)MODEL_entry_values[(begin + place) * MODEL_N_STATISTICS + k]
                                 : (double)MODEL_prior[s * MODEL_N_STATISTICS + k];
    }
  }
}
#endif

/* The operands of a row. */
static void MODEL_read_row(const void* rows, int is_f32, int64_t begin, double* operands) {
  double values[MODEL_N_USED + MODEL_N_DERIVED];
  int64_t i;
  if (is_f32) {
    const float* const row = (const float*)rows + begin;
    for (i = 0; i < MODEL_N_USED; ++i) values[i] = (double)row[MODEL_used[i]];
  } else {
    const double* const row = (const double*)rows + begin;
    for (i = 0; i < MODEL_N_USED; ++i) values[i] = row[MODEL_used[i]];
  }
#if MODEL_N_DERIVED > 0
  MODEL_derive(values);
#endif
  MODEL_fill_operands(values, operands);
}

/* Raw scores of up to MODEL_BLOCK rows. */
static void MODEL_score_block(const void* rows, int is_f32, int64_t begin, int64_t n_rows, int64_t stride,
                              double* score) {
  double operands[MODEL_BLOCK * MODEL_N_OPERANDS];
  int64_t r, k;
  for (r = 0; r < n_rows; ++r) {
    for (k = 0; k < MODEL_N_OUTPUTS; ++k) score[r * MODEL_N_OUTPUTS + k] = MODEL_AVERAGED ? 0.0 : MODEL_start[k];
  }
#if MODEL_BLOCK > 1
  if (n_rows >= MODEL_TOGETHER / 2) {
    for (r = 0; r < n_rows; ++r) MODEL_read_row(rows, is_f32, begin + r * stride, operands + r * MODEL_N_OPERANDS);
    for (; r % MODEL_TOGETHER != 0; ++r) {
      memcpy(operands + r * MODEL_N_OPERANDS, operands, MODEL_N_OPERANDS * sizeof(double));
    }
    MODEL_add_rows(operands, n_rows, score);
    n_rows = 0;
  }
#endif
  for (r = 0; r < n_rows; ++r) {
    MODEL_read_row(rows, is_f32, begin + r * stride, operands);
    MODEL_add_row(operands, score + r * MODEL_N_OUTPUTS);
  }
}

static void MODEL_average(double* score, int64_t n_rows) {
  int64_t r, k;
  if (!MODEL_AVERAGED) return;
  for (r = 0; r < n_rows; ++r) {
    for (k = 0; k < MODEL_N_OUTPUTS; ++k) {
      score[r * MODEL_N_OUTPUTS + k] = score[r * MODEL_N_OUTPUTS + k] / MODEL_N_ROUNDS + MODEL_start[k];
    }
  }
}

static void MODEL_raw(const void* rows, int is_f32, int64_t n_rows, int64_t stride, double* out) {
  int64_t r;
  for (r = 0; r < n_rows; r += MODEL_BLOCK) {
    const int64_t n = n_rows - r < MODEL_BLOCK ? n_rows - r : MODEL_BLOCK;
    MODEL_score_block(rows, is_f32, r * stride, n, stride, out + r * MODEL_N_OUTPUTS);
    MODEL_average(out + r * MODEL_N_OUTPUTS, n);
  }
}

MODEL_API void MODEL_predict_raw(const double* row, double* out) { MODEL_raw(row, 0, 1, 0, out); }

MODEL_API void MODEL_predict_raw_rows(const double* rows, int64_t n_rows, int64_t stride, double* out) {
  MODEL_raw(rows, 0, n_rows, stride, out);
}

MODEL_API void MODEL_predict_raw_rows_f32(const float* rows, int64_t n_rows, int64_t stride, double* out) {
  MODEL_raw(rows, 1, n_rows, stride, out);
}

#if MODEL_HAS_LINK
static void MODEL_linked(const void* rows, int is_f32, int64_t n_rows, int64_t stride, double* out) {
  double score[MODEL_BLOCK * MODEL_N_OUTPUTS];
  int64_t r, i;
  for (r = 0; r < n_rows; r += MODEL_BLOCK) {
    const int64_t n = n_rows - r < MODEL_BLOCK ? n_rows - r : MODEL_BLOCK;
    MODEL_score_block(rows, is_f32, r * stride, n, stride, score);
    MODEL_average(score, n);
    for (i = 0; i < n; ++i) MODEL_link(score + i * MODEL_N_OUTPUTS, out + (r + i) * MODEL_N_PREDICTIONS);
  }
}

MODEL_API void MODEL_predict(const double* row, double* out) { MODEL_linked(row, 0, 1, 0, out); }

MODEL_API void MODEL_predict_rows(const double* rows, int64_t n_rows, int64_t stride, double* out) {
  MODEL_linked(rows, 0, n_rows, stride, out);
}

MODEL_API void MODEL_predict_rows_f32(const float* rows, int64_t n_rows, int64_t stride, double* out) {
  MODEL_linked(rows, 1, n_rows, stride, out);
}
#endif

MODEL_API const char* MODEL_column_name(int64_t column) {
  return column >= 0 && column < MODEL_n_columns ? MODEL_names[column] : (const char*)0;
}
