// Row sampling by gradients: GOSS and MVS.
//
//   score    how much a row matters, one float per row, from the gradients of all its outputs
//   choose   GOSS: the largest scores, and a random few of the others; MVS: each row with its own probability
//   weigh    gradient and hessian of a randomly chosen row are divided by its probability, in place
//   write    the rows inside the sample, then those outside it, both increasing
//
// Scores are counted and compared, never sorted. Nothing depends on the number of threads: counts
// are integers, sums go by blocks of a fixed size, random numbers by row.
//
// Memory takes most of the time: |gradient| is computed again in every pass rather than stored, and
// the decision about a row stays in the cache until it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/largest.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/types.h"

namespace gossamer {

// GOSS: how many rows each block draws, in proportion to its rows outside the top; `n_tops`: by block.
std::vector<std::int64_t> share_draws(std::int64_t n_rows, const std::vector<std::int64_t>& n_tops,
                                      std::int64_t n_other, std::uint64_t key);

// MVS: the sum of the scores that are below mu, and the number of the others, which are kept for sure.
struct MuSums {
  double below;
  std::int64_t n_sure;
};
// The mu with which probabilities add up to n_expected. `counts` come from `GradientSampler::histogram`.
double find_mu(double n_expected, const std::vector<std::uint32_t>& counts,
               const std::function<MuSums(double)>& sums_at);

// Gradients and hessians are class-major, n_outputs x n_rows. Scores serve one sample.
class GradientSampler {
 public:
  GradientSampler(std::int64_t n_rows, int n_outputs);

  // The size of the gradient: sqrt(sum over outputs of gradient^2 + reg x hessian^2). NaN counts as
  // 0.
  void score(Team& team, const float* gradient, const float* hessian, double reg);
  bool is_scored() const { return is_scored_; }
  // Number of rows by the leading bits of their score: exponent and 4 bits of mantissa.
  const std::vector<std::uint32_t>& histogram() { return largest_.counts(); }

  // Gradient-based one-side sampling: the n_top rows of largest score (of equal scores the first),
  // and n_other >= 0 of the rest, which are then weighted by how many rows they represent. Rows that
  // have no scores get them, with reg = 0; otherwise the gradients must be the scored ones. Blocks of
  // rows get their share of the n_other, rounded up or down at random; within a block all rows are
  // alike. `rows` takes n_rows entries: first the n_top + n_other inside the sample.
  void sample_goss(Team& team, std::int64_t n_top, std::int64_t n_other, std::uint64_t key, float* gradient,
                   float* hessian, RowIdx* rows);

  // Minimal variance sampling: a row is kept with probability min(1, score / mu), where mu makes
  // the probabilities add up to n_expected. Rows must have scores. Returns how many were kept: at least one.
  std::int64_t sample_mvs(Team& team, double n_expected, std::uint64_t key, float* gradient, float* hessian,
                          RowIdx* rows);

 private:
  template <class Fill>
  void store_scores(Team& team, const Fill& fill);
  template <class Weigh>
  void weigh_rows(const std::uint64_t* drawn, std::int64_t begin, std::int64_t n_words, const Weigh& weigh,
                  float* gradient, float* hessian) const;
  MuSums sums_at(Team& team, double mu);

  std::int64_t n_rows_;
  int n_outputs_;
  bool is_scored_ = false;
  bool is_stored_ = false;              // else scores are |gradient|
  Buffer<std::uint32_t> values_;        // bits of the scores; computed when first needed
  Buffer<std::uint64_t> inside_;        // MVS: a bit for each row
  Buffer<std::uint64_t> drawn_;         // MVS: rows that are weighted
  std::vector<std::int64_t> n_inside_;  // by block
  Largest largest_;
};

// Sum of |gradient| over sum of hessian: the size of a leaf value if all gradients have the same sign. 0 without
// hessians.
double mean_step(Team& team, const float* gradient, const float* hessian, std::int64_t n);

}  // namespace gossamer
