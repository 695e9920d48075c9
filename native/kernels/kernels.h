// The hot loops, compiled once per instruction set level and chosen when the module loads.
//
// Every kernel gives the same bits at every level: integer work, or IEEE operations in a fixed
// order without contraction (-ffp-contract=off). Kernel sources include no C++ library templates,
// so that code for a newer level can never be merged into the generic build by the linker.
#pragma once

#include "core/types.h"
#include "kernels/loss.h"
#include "kernels/packed_search.h"

namespace gossamer {

// Neighbouring lanes, at most eight, and bins that many rows have in all of them: see core/common_bins.h.
struct CommonBins {
  int first_lane = 0;
  int n_lanes = 0;
  std::uint64_t bins = 0;  // a byte each, the first lane lowest
};

// Adds rows into the cells of one group of lanes, or takes them out of it. `cells` is not cleared.
struct BuildArgs {
  const void* bins = nullptr;   // row-major, first row of the matrix; uint8 or uint16
  std::int64_t row_stride = 0;  // elements
  int first_lane = 0;           // lanes [first_lane, first_lane + n_lanes) are added
  int n_lanes = 0;
  int lane_cells = 0;                         // uint8: cells per lane, 16, 64, 192 or 256
  const std::int32_t* lane_offset = nullptr;  // uint16: first cell of each lane
  const RowIdx* rows = nullptr;               // nullptr: rows first_row ... first_row + n_rows - 1
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;
  std::int64_t n_after = 0;         // rows after them, which will be added next: they may be prefetched
  const void* next_bins = nullptr;  // uint8: where after the last ones next_rows[0, n_next) will be added from
  const RowIdx* next_rows = nullptr;
  std::int64_t n_next = 0;
  const void* row_values = nullptr;  // per row: PackedRow, or WideCell in a wide layout
  const CellLayout* layout = nullptr;
  void* cells = nullptr;  // PackedCell, or WideCell; the first one of lane 0
  bool take_out = false;
  bool as_columns = false;             // uint8: may turn bins into columns first, see histogram_columns.inl
  const CommonBins* common = nullptr;  // uint8 with 192 or 256 cells per lane: in the order of the lanes
  int n_common = 0;
};

// Adds rows into the cells of sparse columns: only entries are touched.
struct SparseBuildArgs {
  const std::int64_t* row_begin = nullptr;  // entries of row r: codes[row_begin[r], row_begin[r + 1])
  const void* codes = nullptr;              // cells, increasing within a row
  bool wide_codes = false;                  // uint32; else uint16
  const RowIdx* rows = nullptr;             // nullptr: rows first_row ... first_row + n_rows - 1
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;
  const void* row_values = nullptr;
  const CellLayout* layout = nullptr;
  std::int64_t n_cells = 0;   // heavy and light
  std::uint32_t n_heavy = 0;  // codes below it are cells of `heavy`, the others, less n_heavy, of `light`
  void* heavy = nullptr;
  void* light = nullptr;
};

// Adds rows into packed cells of up to eight trees; a cell has eight words, one for each tree.
struct EightBuildArgs {
  const std::uint8_t* bins = nullptr;  // row-major, first row of the matrix
  std::int64_t row_stride = 0;
  int first_lane = 0;
  int n_lanes = 0;     // at most 8
  int lane_cells = 0;  // 16, 64, 192 or 256
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;
  int n_trees = 0;
  const PackedRow* row_values[8] = {};  // by tree
  const CellLayout* layouts[8] = {};
  std::uint64_t* cells = nullptr;  // the first one of the first lane; not cleared
};

// Distributes rows to the two sides of a split, keeping their order.
struct PartitionArgs {
  const void* column = nullptr;             // bins of the split feature, or values of its lane, by row
  int row_shift = 0;                        // row r is at column[r << row_shift]
  const std::uint8_t* goes_left = nullptr;  // by value of the lane (256 if of one byte): 1 or 0; else the three below
  const RowIdx* rows = nullptr;             // nullptr: first_row, first_row + 1, ...
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;
  std::uint32_t threshold = 0;  // bin <= threshold goes left
  std::uint32_t missing_bin = 0;
  bool missing_left = false;
  RowIdx* left = nullptr;   // may be `rows` itself
  RowIdx* right = nullptr;  // both hold n_rows entries, whatever the outcome
};

// A leaf as bits: bit r % 64 of word r / 64 says whether row r is in it. Of `n_rows` rows from `first_row` on, which is
// a multiple of 64, `left` and `right` get those that go there; the bins are of one byte, and not strided.
struct SplitBitsArgs {
  PartitionArgs lane;  // without rows, left and right
  const std::uint64_t* leaf = nullptr;
  std::uint64_t* left = nullptr;
  std::uint64_t* right = nullptr;
};

// Limits on the values of a leaf's children (monotone constraints), in units of the layout.
struct ValueLimits {
  int direction = 0;  // 1: left <= right, -1: left >= right
  // Bins that the leaf can hold. A threshold that leaves one side without any of them has nothing to order.
  int first_bin = 0;
  int last_bin = 0;
  double low = 0.0;  // for both sides, unless given by threshold
  double high = 0.0;
  // Low and high of the left side, then of the right side; nullptr: the above. Padded by 8 entries.
  const double* by_threshold[4] = {nullptr, nullptr, nullptr, nullptr};

  bool orders(int threshold) const { return direction != 0 && threshold >= first_bin && threshold < last_bin; }
};

// One feature of one leaf.
struct SearchArgs {
  const void* cells = nullptr;  // packed or wide cells, or nullptr when `large` is set
  LargeCells large;
  int n_value_bins = 0;
  bool has_missing = false;  // then cell n_value_bins holds the missing rows
  double gradient = 0.0;     // sum over the whole leaf, real units
  double hessian = 0.0;
  double count = 0.0;
  double parent_output = 0.0;  // for path smoothing
  int only_threshold = -1;     // extra_trees: evaluate only this threshold
  const ValueLimits* limits = nullptr;
  double* scratch = nullptr;  // at least search_scratch_size(n_value_bins) doubles
};

inline std::int64_t search_scratch_size(int n_value_bins) { return 5 * (static_cast<std::int64_t>(n_value_bins) + 16); }

struct Candidate {
  double gain = -1.0e300;  // sum over both children, parent not yet subtracted
  int threshold = -1;
  bool missing_left = false;
};

// One feature of one leaf, its rows in the order of their values.
struct SortedSearchArgs {
  const std::uint32_t* entries = nullptr;  // rows; highest bit set: the value differs from the entry before
  std::int64_t n = 0;
  std::int64_t first_place = 0;               // of the first entry: thresholds count from here
  const std::uint64_t* row_values = nullptr;  // by row: gradient in the high half, hessian in the low one
  const WideCell* wide_values = nullptr;      // used instead where 32 bits are too few
  Sums before;                                // sums of the rows that go left before any entry
  Sums missing;
  bool ends = false;      // whether there is a threshold after the last entry
  double min_step = 0.0;  // least hessian between two thresholds; 0: one for every value
  SearchArgs leaf;        // its sums, output, limits, and scratch for kSortedChunk bins
  // The best so far with missing rows on the left. It is kept apart until all entries have been searched: which of two
  // equal gains comes first must not depend on how the entries are cut into pieces.
  Candidate missing_left;

  // Where gains are equal, missing rows go right.
  bool settle(Candidate& best) const {
    const bool wins = missing_left.threshold >= 0 && missing_left.gain > best.gain;
    if (wins) best = missing_left;
    return wins;
  }
};
inline constexpr int kSortedChunk = 512;

// A leaf's Shapley values for the rows of a tile, see core/shap.h.
inline constexpr std::int64_t kShapRows = 64;
inline constexpr int kMaxShapPoints = 256;
struct ShapLeafArgs {
  int n_parts = 0;
  int n_points = 0;
  int n_blocks = 0;                      // blocks of eight rows
  const std::uint64_t* known = nullptr;  // by part: rows that pass its tests
  const double* tables = nullptr;        // by part, four times n_points numbers
  const std::int32_t* place = nullptr;   // by part
  int n_values = 1;
  const double* values = nullptr;
  double* const* out = nullptr;  // by value: kShapRows numbers for each place
};
// The same for pairs: out[(i * n_parts + j) * kShapRows + row] for i < j, with i == j the values themselves.
struct ShapPairArgs {
  int n_parts = 0;
  int n_points = 0;
  int n_blocks = 0;
  const std::uint64_t* known = nullptr;
  const double* tables = nullptr;
  const double* weight = nullptr;  // by point
  double* out = nullptr;
};

// Many splits at once: each has one cell, which sums the rows that go right. Features of two bins have
// one such cell; of several bins, the sums of the cells from each bin upwards.
struct SearchRightArgs {
  const void* cells = nullptr;  // packed or wide cells, or nullptr when `large` is set
  LargeCells large;
  int n = 0;
  const std::int32_t* features = nullptr;  // by cell
  const char* allowed = nullptr;           // by feature; nullptr: all
  Sums leaf;
  double parent_output = 0.0;
};

// The best so far, over several calls: equal gains go to the smaller feature, then to the first cell.
struct FeatureCandidate {
  double gain = -1.0e300;
  std::int32_t feature = -1;
  int cell = -1;            // set when this call found something better
  bool any_filled = false;  // some cell holds min_data rows or more
};

// Trees with a vector of values per leaf, see vector_leaf.inl: adds the values of rows to cells.
struct VectorBuildArgs {
  const void* bins = nullptr;  // row-major; uint8, or uint16
  bool two_bytes = false;      // bins or codes of two bytes; otherwise bins have one byte, codes four
  std::int64_t row_stride = 0;
  int n_lanes = 0;
  const std::int32_t* lane_first = nullptr;  // first cell of each lane
  // Or sparse columns: the cells of row r are codes[row_begin[r], row_begin[r + 1]).
  const void* codes = nullptr;
  const std::int64_t* row_begin = nullptr;
  const RowIdx* rows = nullptr;  // nullptr: rows first_row ... first_row + n_rows - 1
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;
  const std::int32_t* values = nullptr;  // by row, `width` each
  int width = 0;                         // a multiple of 8
  std::int32_t* cells = nullptr;         // `width` each; not cleared
};

struct ValueRange {
  double sum = 0.0;  // sum of magnitudes
  float lowest = 0.0f, highest = 0.0f;
};

// Values of rows as integers, to the nearest step; `inverse_unit` is a power of two.
struct VectorQuantizeArgs {
  const float* values = nullptr;  // output-major
  std::int64_t value_stride = 0;
  int n_outputs = 0;
  const float* inverse_unit = nullptr;
  const RowIdx* rows = nullptr;  // nullptr: rows first_row ... first_row + n_rows - 1
  std::int64_t first_row = 0;
  std::int64_t n_rows = 0;
  std::int32_t* out = nullptr;  // by row, `width` each
  int width = 0;
};

// One feature of one leaf. Sums have n_chunks x 8 gradients, the count among them at n_outputs, and as
// many hessians behind them unless hessian_unit is nullptr.
struct VectorSearchArgs {
  const std::int32_t* cells = nullptr;  // by bin
  int n_value_bins = 0;
  bool has_missing = false;  // then cell n_value_bins holds the missing rows
  int n_outputs = 0;
  int n_chunks = 0;
  const std::int32_t* total = nullptr;   // sums of the leaf
  const float* gradient_unit = nullptr;  // real value of one step, by output; 0 past the last
  const float* hessian_unit = nullptr;   // nullptr: every row has count_hessian
  float count_hessian = 1.0f;
  float lambda_l1 = 0.0f;
  float lambda_l2 = 0.0f;
  std::int32_t min_data = 1;
  float min_sum_hessian = 0.0f;  // mean over the outputs
  int only_threshold = -1;
  std::int32_t* scratch = nullptr;  // one cell
};

struct VectorCandidate {
  float gain = -1.0f;
  int threshold = -1;
  bool missing_left = false;
};

// Converts values of one column to bins: the first bin whose upper bound is >= the value.
template <class T>
struct BinValuesArgs {
  const T* values = nullptr;  // contiguous
  std::int64_t n = 0;
  const T* bounds = nullptr;  // padded with +inf to a power of two
  int n_steps = 0;            // log2 of the padded length
  std::uint16_t missing_bin = 0;
  bool zero_is_missing = false;
  bool nan_is_zero = false;
  std::uint16_t* bins = nullptr;
};

// Prediction with small trees, see compact_trees.inl: nodes compare operands, arrays of one byte per row of a tile.
inline constexpr std::int64_t kOperandRows = 256;

// How an operand encodes missing values; for other values it is the number of bounds below the value, minus 128.
enum class OperandKind : std::uint8_t { nan_left, nan_right, zero_left, zero_right, nan_is_zero };
inline constexpr int kOperandKinds = 5;

// Bytes are repeated four times. Rows at `leaf` whose operand is above the threshold move to `right_leaf`.
struct CompactNode {
  std::uint32_t operand = 0;    // with kCategoryOperand: the first of two operands of a category
  std::uint32_t threshold = 0;  // for categories: the index of the set
  std::uint32_t leaf = 0;
  std::uint32_t right_leaf = 0;
};

// Categories by number, 0 to 255: bit c % 8 of byte c / 8 says whether rows of c move. Two operands locate that bit:
// the byte's index (16 and above are stored as 128 and above), and the bit in it.
struct CategoryBits {
  std::uint8_t byte[32] = {};
};
inline constexpr std::uint32_t kCategoryOperand = 1u << 31;

// Converts values of one column to its operands.
template <class T>
struct FillOperandsArgs {
  const T* values = nullptr;                  // contiguous
  std::int64_t n_rows = 0;                    // at most kOperandRows
  const T* bounds = nullptr;                  // increasing, padded with +inf to 256
  const T* pivots = nullptr;                  // every 16th bound
  int n_bounds = 0;                           // at most 255
  std::int8_t* operands[kOperandKinds] = {};  // by OperandKind; nullptr: not wanted
};

// How the change from swapping the two rows of a pair is measured.
enum class PairDelta : std::uint8_t { ndcg, pairwise, map };

// The pairs of one query whose labels differ. Arrays are by rank (best score first) and padded by 16
// entries; `gradient` and `hessian` are added to.
struct LambdaArgs {
  std::int64_t n = 0;
  const double* score = nullptr;
  const double* label = nullptr;
  const double* gain = nullptr;        // ndcg
  bool gains_rise = false;             // ndcg: a row of a higher label never has a lower gain
  const double* discount = nullptr;    // ndcg
  double scale = 0.0;                  // ndcg: 1 / best possible DCG; map: 1 / relevant rows
  const double* n_relevant = nullptr;  // map: relevant rows up to a rank, itself included
  const double* harmonic = nullptr;    // map: the sum of 1 / (rank + 1) over these rows
  PairDelta delta = PairDelta::ndcg;
  double sigmoid = 1.0;
  double hessian_factor = 1.0;
  double hessian_floor = 0.0;         // lower limit of p (1 - p)
  bool divide_by_difference = false;  // by 0.01 + |difference of the scores|
  double* shared = nullptr;           // scratch: n / 8 + 1
  double* grown = nullptr;            // scratch: n + 8
  float* near = nullptr;              // scratch: 8 * (n + 16)
  double* gradient = nullptr;
  double* hessian = nullptr;
};

// Statistics from which the layout of a round is chosen. Counts and extremes do not depend on the order of the rows, so
// that threads, shards and pages can each add their own.
struct alignas(64) GradientStats {  // threads must not write to one cache line
  // Number of rows by the exponent of their float; zeros come first.
  std::int64_t gradient_exponents[256] = {};
  std::int64_t hessian_exponents[256] = {};
  double max_abs_gradient = 0.0;
  double max_hessian = 0.0;
  double min_hessian = 1.0e300;
};

// Rows of an accelerated failure time model.
struct AftArgs {
  const double* score = nullptr;
  const float* lower = nullptr;   // 0: no lower end
  const float* upper = nullptr;   // infinite: no upper end; nullptr: all times are known
  const float* weight = nullptr;  // nullptr: all 1
  std::int64_t n = 0;
  int distribution = 0;  // of log(time): 0 normal, 1 logistic, 2 smallest extreme values
  double sigma = 1.0;
};

// Rows, for each of which a normal distribution is predicted.
struct NormalArgs {
  const double* mean = nullptr;
  const double* log_sigma = nullptr;
  const float* label = nullptr;
  const float* weight = nullptr;  // nullptr: all 1
  std::int64_t n = 0;
  double floor = 0.0;  // smaller log_sigma count as this
};

struct NormalOut {
  float* mean_gradient = nullptr;
  float* mean_hessian = nullptr;
  float* sigma_gradient = nullptr;
  float* sigma_hessian = nullptr;
};

// A block of rows of a leaf, column by column; rows to ignore have hessian and gradient 0.
struct LinearMomentsArgs {
  const double* columns = nullptr;  // the first is all ones
  std::int64_t stride = 0;          // from column to column
  int n_columns = 0;
  const double* hessian = nullptr;
  const double* gradient = nullptr;
  std::int64_t n_rows = 0;  // a multiple of 8
};

struct KernelTable {
  const char* level;

  void (*build_u8)(const BuildArgs&);
  void (*build_u16)(const BuildArgs&);
  void (*build_sparse)(const SparseBuildArgs&);
  void (*build_eight)(const EightBuildArgs&);
  // Adds the cells to sums, and clears them. A cell has 24 sums: gradients of the trees, hessians, and counts.
  void (*empty_eight)(const EightBuildArgs&, std::int64_t* sums);
  // The sums of one tree.
  void (*take_one_of_eight)(const std::int64_t* sums, std::int64_t n, int tree, LargeCells out);
  // cells -> wide sums, added
  void (*unpack_add)(const void* cells, std::int64_t n, const CellLayout&, LargeCells sums);
  // wide sums minus cells, in place
  void (*unpack_subtract)(const void* cells, std::int64_t n, const CellLayout&, LargeCells sums);
  // wide sums -> cells (the leaf has few enough rows)
  void (*pack)(LargeCells sums, std::int64_t n, const CellLayout&, void* cells);
  void (*add_words)(const std::uint64_t* x, std::int64_t n, std::uint64_t* out);
  void (*subtract_words)(const std::uint64_t* x, std::int64_t n, std::uint64_t* out);
  void (*add_large)(LargeCells x, std::int64_t n, LargeCells out);
  void (*subtract_large)(LargeCells x, std::int64_t n, LargeCells out);

  // columns[k][i] = rows[i * stride + k] for k < n_lanes <= 8. Eight bytes of each row are read. Little-endian.
  void (*copy_to_columns)(const std::uint8_t* rows, std::int64_t stride, std::int64_t n_rows, int n_lanes,
                          std::uint8_t* const* columns);
  std::int64_t (*partition_u8)(const PartitionArgs&);  // returns how many went left
  std::int64_t (*partition_u16)(const PartitionArgs&);
  std::int64_t (*split_bits)(const SplitBitsArgs&);  // likewise
  // The rows of bits, of which the first is row `first_row`, in [out, end): there must be as many.
  void (*list_bits)(const std::uint64_t* words, std::int64_t n_words, RowIdx first_row, RowIdx* out, RowIdx* end);
  // out[i] = number where bit i is set.
  void (*number_bits)(const std::uint64_t* words, std::int64_t n_words, std::uint16_t number, std::uint16_t* out);
  // Which numbers, all below 2^31, are above a bound; n bits, then zeros up to the end of the last word.
  void (*find_above)(const std::uint32_t* numbers, std::int64_t n, std::int32_t bound, std::uint64_t* words);
  // The first bits of `stream` become the bits of `out` where `mask` has bits; the others are zeros.
  void (*deposit_bits)(const std::uint64_t* mask, std::int64_t n_words, const std::uint64_t* stream,
                       std::uint64_t* out);
  // The bits of |x|, which order like it; 0 for NaN.
  void (*size_bits)(const float* x, std::int64_t n, std::uint32_t* out);
  // Of numbers below 2^31, those with number >> shift == digit, in order; returns how many. `out` takes n numbers.
  // Adds how many have a larger digit to `n_above`.
  std::int64_t (*keep_digit)(const std::uint32_t* numbers, std::int64_t n, int shift, std::uint32_t digit,
                             std::uint32_t* out, std::int64_t* n_above);

  // Improves `best` in place; returns whether it did. Gains must be strictly better.
  bool (*search)(const SearchArgs&, const CellLayout&, const SplitRules&, Candidate& best);
  bool (*search_packed)(const PackedSearchArgs&, const CellLayout&, const SplitRules&, PackedCandidate& best);
  bool (*search_right)(const SearchRightArgs&, const CellLayout&, const SplitRules&, FeatureCandidate& best);
  // Evaluates the thresholds between entries; threshold t: t entries go left. The entries are added to args.before.
  bool (*search_sorted)(SortedSearchArgs&, const CellLayout&, const SplitRules&, Candidate& best);  // then settle()
  Sums (*sum_sorted)(const SortedSearchArgs&, const CellLayout&);
  void (*add_shap_leaf)(const ShapLeafArgs&);
  void (*add_shap_pairs)(const ShapPairArgs&);
  // Entries whose row has side 0 stay in front, the others go to `right`; both keep their order and the mark where
  // another value begins. Returns how many stay.
  std::int64_t (*split_sorted)(std::uint32_t* entries, std::int64_t n, const std::uint8_t* side, std::uint32_t* right);

  ValueRange (*value_range)(const float* values, const RowIdx* rows, std::int64_t n);  // n > 0; rows may be nullptr
  void (*quantize_vector)(const VectorQuantizeArgs&, std::int32_t* sums);              // sums by output, added to
  void (*build_vector)(const VectorBuildArgs&);
  // Improves `best` in place; returns whether it did. Gains must be strictly better.
  bool (*search_vector)(const VectorSearchArgs&, VectorCandidate& best);
  // out += x, out -= x
  void (*add_ints)(const std::int32_t* x, std::int64_t n, std::int32_t* out);
  void (*subtract_ints)(const std::int32_t* x, std::int64_t n, std::int32_t* out);

  // Sums of hessian * column i * column j for j <= i, then of gradient * column i. `scratch` holds n_rows numbers.
  void (*linear_moments)(const LinearMomentsArgs&, double* scratch, double* out);

  // Adds rows to `n_parts` (a power of two) statistics, of which the first gets the extremes. These are taken over all
  // rows; exponents over eight rows, then none of the next 8 (step - 1).
  void (*gradient_stats)(const float* gradient, const float* hessian, std::int64_t n, int step, GradientStats* parts,
                         int n_parts);
  // Rounds to the layout's integers; `hessian` may be nullptr (constant). Returns the exact sums.
  Sums (*quantize)(const float* gradient, const float* hessian, std::int64_t n, const CellLayout&, void* row_values);

  void (*gradients_l2)(const double* score, const float* label, const float* weight, std::int64_t n, float* gradient,
                       float* hessian);
  void (*gradients_binary)(const double* score, const float* label, const float* weight, std::int64_t n, double sigmoid,
                           double weight_negative, double weight_positive, float* gradient, float* hessian);
  void (*gradients_softmax)(const double* score, std::int64_t score_stride, const float* label, const float* weight,
                            std::int64_t begin, std::int64_t end, int n_classes, float* gradient, float* hessian,
                            std::int64_t out_stride);

  // Any loss of one score and one label. `hessian` may be nullptr. Losses of predictions do nothing.
  void (*gradients_of)(const LossArgs&, const double* score, const float* label, const float* weight, std::int64_t n,
                       float* gradient, float* hessian);
  // How many keys are lower, or equal and before. Both arrays are padded to a multiple of 16 entries.
  void (*rank_keys)(const std::int32_t* key, std::int64_t n, std::int32_t* rank);
  // All pairs of one of the first `n_top` ranks and a rank after it. Returns the sum of |gradient| over pairs and rows.
  double (*lambda_top)(const LambdaArgs&, std::int64_t n_top);
  // Pairs of ranks (first[k], second[k]) with first < second.
  double (*lambda_listed)(const LambdaArgs&, const std::int32_t* first, const std::int32_t* second,
                          std::int64_t n_pairs);
  double (*log2)(double x);  // x > 0, normal
  // 1 / log2(2 + rank)
  void (*discounts)(std::int64_t n, double* out);
  // exp(x - shift); returns the sum.
  double (*exp_sum)(const double* x, double shift, std::int64_t n, double* out);

  void (*bin_values_f32)(const BinValuesArgs<float>&);
  void (*bin_values_f64)(const BinValuesArgs<double>&);

  void (*fill_operands_f32)(const FillOperandsArgs<float>&);
  void (*fill_operands_f64)(const FillOperandsArgs<double>&);
  // Both operands of categories, which here are the values of a lane of one byte.
  void (*fill_set_operands)(const std::uint8_t* lane, int row_shift, std::int64_t n_rows, std::int8_t* byte,
                            std::int8_t* bit);
  // Larger trees of sets are faster split down node by node than evaluated on tiles.
  std::int64_t most_tile_nodes;
  // Operands are kOperandRows apart. Operands and `leaf` hold kOperandRows rows, whatever n_rows. `sets` is nullptr
  // where no node splits categories.
  void (*find_leaves)(const CompactNode* nodes, std::int64_t n_nodes, const CategoryBits* sets,
                      const std::int8_t* operands, std::int64_t n_rows, std::uint8_t* leaf);
  // score[row] += values[leaf[row]]; there are at least 32 values, padded if need be.
  void (*add_leaf_values)(const double* values, std::int64_t n_leaves, const std::uint8_t* leaf, std::int64_t n_rows,
                          double* score);

  // Means over a block of rows, in a fixed order: sum of w * loss.
  double (*sum_squared_error)(const double* score, const float* label, const float* weight, std::int64_t n);
  double (*sum_absolute_error)(const double* score, const float* label, const float* weight, std::int64_t n);
  double (*sum_logloss)(const double* score, const float* label, const float* weight, std::int64_t n, double sigmoid);
  // Class-major scores of all rows; the sum is over rows [begin, end).
  double (*sum_multi_logloss)(const double* score, std::int64_t stride, const float* label, const float* weight,
                              std::int64_t begin, std::int64_t end, int n_classes);
  double (*sum_multi_error)(const double* score, std::int64_t stride, const float* label, const float* weight,
                            std::int64_t begin, std::int64_t end, int n_classes, int top_k);
  double (*sum_loss)(const LossArgs&, const double* score, const float* label, const float* weight, std::int64_t n);
  void (*apply_link)(Link, const double* score, std::int64_t n, double* out);
  void (*sigmoid)(const double* score, std::int64_t n, double steepness, double* out);
  void (*softmax)(const double* score, std::int64_t score_stride, std::int64_t begin, std::int64_t end, int n_classes,
                  double* out);

  void (*gradients_aft)(const AftArgs&, float* gradient, float* hessian);
  // Weighted sums of the loss (of each row at most `most`) and of its first two derivatives.
  void (*sum_aft)(const AftArgs&, double most, double* sums);
  // Derivatives by the mean are multiplied by scale^2.
  void (*gradients_normal)(const NormalArgs&, double scale, const NormalOut& out);
  double (*sum_normal_loss)(const NormalArgs&);
  double (*sum_normal_crps)(const NormalArgs&);
  void (*exp_shifted)(const double* x, std::int64_t n, double shift, double low, double* out);
  void (*log_values)(const double* x, std::int64_t n, double* out);
};

// The table in use. Chosen once from the processor, or by GOSSAMER_KERNELS=v2|v3|v4.
const KernelTable& kernels();

// Whether the processor merges stores to lines that it has just written, as AMD's do from Zen 5 on.
bool merges_stores();

// Levels that this machine can run, best last. set_kernel_level returns false if there is no such level.
int n_kernel_levels();
const char* kernel_level_name(int idx);
bool set_kernel_level(const char* name);

}  // namespace gossamer
