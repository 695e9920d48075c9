// Compiled once per instruction set level with GOSSAMER_LEVEL naming the namespace.
#include "kernels/kernels.h"

#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512BW__)
#define GOSSAMER_AVX512 1
#endif
#if defined(__AVX2__)
#define GOSSAMER_AVX2 1
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define GOSSAMER_STRING_(x) #x
#define GOSSAMER_STRING(x) GOSSAMER_STRING_(x)

namespace gossamer::GOSSAMER_LEVEL {
namespace {

#include "kernels/vector_types.inl"

#include "kernels/vector_math.inl"

#include "kernels/split_math.inl"

#include "kernels/columns.inl"
#include "kernels/histogram.inl"
#include "kernels/histogram_columns.inl"
#include "kernels/histogram_eight.inl"

#include "kernels/partition.inl"

#include "kernels/leaf_bits.inl"

#include "kernels/sample_bits.inl"

#include "kernels/search.inl"
#include "kernels/search_packed.inl"
#include "kernels/shap.inl"
#include "kernels/sorted.inl"

#include "kernels/vector_leaf.inl"

#include "kernels/linear.inl"

#include "kernels/quantize.inl"

#include "kernels/gradients.inl"

#include "kernels/near_pairs.inl"
#include "kernels/ranking.inl"

#include "kernels/bin_values.inl"

#include "kernels/compact_trees.inl"

#include "kernels/losses.inl"

#include "kernels/class_losses.inl"

#include "kernels/pointwise_losses.inl"

#include "kernels/pointwise.inl"

#include "kernels/survival.inl"

#include "kernels/distribution.inl"

constexpr KernelTable kTable = {
    .level = GOSSAMER_STRING(GOSSAMER_LEVEL),
    .build_u8 = build_u8,
    .build_u16 = build_u16,
    .build_sparse = build_sparse,
    .build_eight = build_eight,
    .empty_eight = empty_eight,
    .take_one_of_eight = take_one_of_eight,
    .unpack_add = unpack_add,
    .unpack_subtract = unpack_subtract,
    .pack = pack,
    .add_words = add_words,
    .subtract_words = subtract_words,
    .add_large = add_large,
    .subtract_large = subtract_large,
    .copy_to_columns = copy_to_columns,
    .partition_u8 = partition_u8,
    .partition_u16 = partition_u16,
    .split_bits = split_bits,
    .list_bits = list_bits,
    .number_bits = number_bits,
    .find_above = find_above,
    .deposit_bits = deposit_bits,
    .size_bits = size_bits,
    .keep_digit = keep_digit,
    .search = search,
    .search_packed = search_packed,
    .search_right = search_right,
    .search_sorted = search_sorted,
    .sum_sorted = sum_sorted,
    .add_shap_leaf = add_shap_leaf,
    .add_shap_pairs = add_shap_pairs,
    .split_sorted = split_sorted,
    .value_range = value_range,
    .quantize_vector = quantize_vector,
    .build_vector = build_vector,
    .search_vector = search_vector,
    .add_ints = add_ints,
    .subtract_ints = subtract_ints,
    .linear_moments = linear_moments,
    .gradient_stats = gradient_stats,
    .quantize = quantize,
    .gradients_l2 = gradients_l2,
    .gradients_binary = gradients_binary,
    .gradients_softmax = gradients_softmax,
    .gradients_of = gradients_of,
    .rank_keys = rank_keys,
    .lambda_top = lambda_top,
    .lambda_listed = lambda_listed,
    .log2 = log2_of,
    .discounts = discounts,
    .exp_sum = exp_sum,
    .bin_values_f32 = bin_values<float>,
    .bin_values_f64 = bin_values<double>,
    .fill_operands_f32 = fill_operands<float>,
    .fill_operands_f64 = fill_operands<double>,
    .fill_set_operands = fill_set_operands,
    .most_tile_nodes = kMostTileNodes,
    .find_leaves = find_leaves,
    .add_leaf_values = add_leaf_values,
    .sum_squared_error = sum_squared_error,
    .sum_absolute_error = sum_absolute_error,
    .sum_logloss = sum_logloss,
    .sum_multi_logloss = sum_multi_logloss,
    .sum_multi_error = sum_multi_error,
    .sum_loss = sum_loss,
    .apply_link = apply_link,
    .sigmoid = sigmoid,
    .softmax = softmax,
    .gradients_aft = gradients_aft,
    .sum_aft = sum_aft,
    .gradients_normal = gradients_normal,
    .sum_normal_loss = sum_normal_loss,
    .sum_normal_crps = sum_normal_crps,
    .exp_shifted = exp_shifted,
    .log_values = log_values,
};

}  // namespace

const KernelTable& table();
const KernelTable& table() { return kTable; }

}  // namespace gossamer::GOSSAMER_LEVEL
