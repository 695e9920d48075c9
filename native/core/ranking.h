// Objectives of learning to rank. Rows of a query are contiguous; queries are independent of each
// other, and run in parallel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parallel.h"
#include "kernels/kernels.h"

namespace gossamer {

// How much a row of some label is worth at the top of a query.
struct GainRule {
  enum class Kind : std::uint8_t { exponential, linear, table };
  Kind kind = Kind::exponential;
  std::vector<double> table;  // by label

  // Exponential gains are 2^label - 1, times 2^-shift for all rows of a query: only their ratios
  // matter, and these do not overflow whatever the labels.
  double gain(double label, int shift) const;
  int shift(double largest_label) const;
  bool rises() const;  // never falls as labels rise
};

// The first row of each query, then the number of rows.
using QueryBegin = std::vector<std::int64_t>;

// Groups whole queries into tasks, so that small ones do not cost a task each.
std::vector<std::int64_t> query_blocks(const QueryBegin& begin);

// Ratios of position bias, as in Unbiased LambdaMART: how likely a row is taken for the better, or the worse, one of a
// pair at a place of its query, compared with the first place. A place is a row's number within its query.
struct PlaceBias {
  std::int64_t n_places = 0;  // pairs with a row at a later place count as they are
  const double* better = nullptr;
  const double* worse = nullptr;
};

struct RankTargets {
  const float* label = nullptr;
  const float* weight = nullptr;           // nullptr: all 1
  const std::int32_t* position = nullptr;  // with `bias`: where a row was shown
  const double* bias = nullptr;            // by position, added to the score
  PlaceBias place_bias;                    // without places: none
};

struct LambdaRules {
  enum class Norm : std::uint8_t { none, gradients, pairs };
  PairDelta delta = PairDelta::ndcg;
  double sigmoid = 1.0;
  double hessian_factor = 1.0;
  double hessian_floor = 0.0;
  bool divide_by_difference = true;
  Norm norm = Norm::gradients;
  std::int64_t n_top = 30;   // one row of a pair is among the first `n_top` ranks ...
  std::int64_t n_drawn = 0;  // ... unless above 0: this many pairs are drawn for every row
  GainRule gain;
};

// Gradients from pairs of rows: LambdaRank and XGBoost's variants of it.
class LambdaRank {
 public:
  // Labels must fit the rules: see `gain`, and for map they are 0 and 1.
  LambdaRank(Team& team, QueryBegin begin, const float* label, LambdaRules rules);

  std::int64_t n_rows() const { return begin_.back(); }
  // The random pairs of a round follow from `key`. `costs` gets what the ratios of the next round follow from: the
  // losses of pairs by the place of the better row, then by the place of the worse one.
  void fill(Team& team, const RankTargets& targets, const double* score, std::uint64_t key, float* gradient,
            float* hessian, double* costs = nullptr) const;

 private:
  struct Scratch;
  LambdaArgs pair_args(std::int64_t query, std::int64_t n, Scratch& s) const;
  void fill_query(const RankTargets& targets, const double* score, std::int64_t query, std::uint64_t key,
                  Scratch& scratch, float* gradient, float* hessian) const;
  template <typename AddPairs>
  void for_each_drawn(const LambdaArgs& args, const Scratch& scratch, std::int64_t first_row, std::uint64_t key,
                      const AddPairs& add_pairs) const;
  double add_query_pairs(const RankTargets& targets, const LambdaArgs& args, std::int64_t first_row, std::uint64_t key,
                         Scratch& scratch) const;
  double add_unbiased(const LambdaArgs& args, const PlaceBias& bias, Scratch& scratch, std::int32_t rank,
                      const std::int32_t* others, std::int64_t n_others) const;

  QueryBegin begin_;
  std::vector<std::int64_t> blocks_;
  std::int64_t longest_ = 0;
  LambdaRules rules_;
  std::vector<double> gain_;             // by row
  std::vector<double> scale_;            // by query, see LambdaArgs
  std::vector<double> discount_;         // by rank
  std::vector<std::uint32_t> by_label_;  // rows within their query, sorted by label; where pairs are drawn
};

// Cross entropy between softmax(score) and 2^label - a random number in [0, 1), which has NDCG as a bound.
// The random numbers of a round follow from `key`.
void gradients_xendcg(Team& team, const QueryBegin& begin, const RankTargets& targets, const double* score,
                      std::uint64_t key, float* gradient, float* hessian);

}  // namespace gossamer
