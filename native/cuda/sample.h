// The record with which a GPU draws the rows of a tree; host and kernels share it.
//
// Rows are counted and listed block by block (see kernels/sampling.h). The host adds up what blocks have counted:
//   bagging   count_drawn, then list_drawn
//   MVS       count_digits, sum_blocks until mu is found, count_drawn, list_drawn
//   GOSS      count_digits three times until the border of the top is known, count_tops, list_goss
#pragma once

#include <cstdint>

namespace gossamer::cuda {

enum SampleKind : std::int32_t { kBagging = 0, kMvs = 1 };

enum SumKind : std::int32_t {
  kBelowMu = 0,  // scores below mu; counts the others
  kGradients = 1,
  kHessians = 2,
};

struct SampleArgs {
  std::int64_t n_rows;
  std::int64_t n_values;  // sums of gradients and hessians: rows x outputs
  float* gradient;        // output by output
  float* hessian;
  const float* label;     // bagging: nullptr if all classes are alike
  std::uint32_t* rows;    // the sample, increasing
  std::uint32_t* digits;  // how often each occurs
  std::int64_t* counts;   // by block: rows that were counted
  std::int64_t* ties;     // by block: rows at the border of the top. When rows are listed: those that are in the top
  std::int64_t* draws;    // by block: rows outside the top that GOSS draws
  std::int64_t* places;   // by block: its first place in the sample
  double* sums;           // by block
  std::uint64_t key;
  double reg;  // of squared hessians, in a row's score
  double mu;
  double weight;  // GOSS: of the rows that are drawn
  double fraction_negative;
  double fraction_positive;
  std::int32_t n_outputs;
  std::int32_t kind;      // see SampleKind, SumKind
  std::uint32_t border;   // GOSS: the smallest score in the top, as bits
  std::uint32_t prefix;   // count_digits: of the scores that are counted, the bits above the digit
  std::int32_t shift;     // bits below the digit
  std::int32_t n_digits;  // a power of two
};

}  // namespace gossamer::cuda
