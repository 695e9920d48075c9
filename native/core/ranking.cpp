#include "core/ranking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/index.h"
#include "core/power_of_two.h"
#include "core/random.h"
#include "core/rank_order.h"

namespace gossamer {
namespace {

// Rows of a block of queries.
constexpr std::int64_t kBlockRows = 4096;
// Sums over all rows of a query do not overflow below 2^900.
constexpr int kLargestExponent = 900;
// Entries that kernels may read and write past the last row.
constexpr std::int64_t kPadding = 16;
constexpr double kEpsilon = 1e-15;
// As in XGBoost: smaller ratios of position bias are not divided by.
constexpr double kSmallestRatio = 1e-16;
// exp() of more overflows.
constexpr double kLargestDifference = 700.0;

double weight_of(const RankTargets& t, std::int64_t row) {
  return t.weight != nullptr ? static_cast<double>(t.weight[row]) : 1.0;
}

}  // namespace

int GainRule::shift(double largest_label) const {
  return kind == Kind::exponential && largest_label > kLargestExponent
             ? static_cast<int>(std::ceil(largest_label)) - kLargestExponent
             : 0;
}

double GainRule::gain(double label, int shift) const {
  switch (kind) {
    case Kind::linear: return label;
    case Kind::table: return table[static_cast<std::size_t>(label)];
    default: return power_of_two(label - shift) - power_of_two(-shift);
  }
}

bool GainRule::rises() const { return kind != Kind::table || std::is_sorted(table.begin(), table.end()); }

std::vector<std::int64_t> query_blocks(const QueryBegin& begin) {
  std::vector<std::int64_t> blocks = {0};
  for (std::size_t q = 1; q < begin.size(); ++q) {
    if (begin[q] - begin[at(blocks.back())] >= kBlockRows || q + 1 == begin.size()) {
      blocks.push_back(static_cast<std::int64_t>(q));
    }
  }
  return blocks;
}

// ---- pairs ----

struct LambdaRank::Scratch {
  explicit Scratch(std::int64_t longest) {
    for (auto* values :
         {&score, &label, &gain, &n_relevant, &harmonic, &grown, &gradient, &hessian, &pair_gradient, &pair_hessian}) {
      values->resize(at(longest + kPadding));
    }
    shared.resize(at(longest / 8 + 1));
    near.resize(at(8 * (longest + kPadding)));
  }

  std::vector<std::uint32_t> order;                                                 // rows within the query by rank
  std::vector<double> adjusted;                                                     // scores by row, biases added
  std::vector<double> score, label, gain, n_relevant, harmonic, gradient, hessian;  // by rank
  std::vector<double> grown;                                                        // by rank, see LambdaArgs
  std::vector<double> shared;                                                       // by block of ranks
  std::vector<float> near;                                                          // see LambdaArgs
  std::vector<std::int32_t> rank_of;                                                // by row
  std::vector<double> pair_gradient, pair_hessian;                                  // by rank, of pairs with one rank
  std::vector<std::int32_t> same_rank, later_ranks;
  double* costs = nullptr;  // by place, see `fill`
};

LambdaRank::LambdaRank(Team& team, QueryBegin begin, const float* label, LambdaRules rules)
    : begin_(std::move(begin)), blocks_(query_blocks(begin_)), rules_(std::move(rules)) {
  const std::int64_t n_queries = static_cast<std::int64_t>(begin_.size()) - 1;
  for (std::int64_t q = 0; q < n_queries; ++q) longest_ = std::max(longest_, begin_[at(q + 1)] - begin_[at(q)]);
  scale_.assign(at(n_queries), 0.0);
  if (rules_.n_drawn > 0) {
    by_label_.resize(at(n_rows()));
    team.for_each(n_queries, [&](std::int64_t q, int) {
      const std::int64_t first = begin_[at(q)];
      std::uint32_t* const rows = by_label_.data() + first;
      std::uint32_t* const end = by_label_.data() + begin_[at(q + 1)];
      std::iota(rows, end, 0u);
      std::stable_sort(rows, end,
                       [&](std::uint32_t a, std::uint32_t b) { return label[first + a] < label[first + b]; });
    });
  }
  if (rules_.delta == PairDelta::pairwise) return;
  if (rules_.delta == PairDelta::ndcg) {
    discount_.resize(at(longest_ + kPadding));
    kernels().discounts(longest_ + kPadding, discount_.data());
    gain_.resize(at(n_rows()));
  }
  const std::int64_t n_best = rules_.n_drawn > 0 ? longest_ : rules_.n_top;
  team.for_each(n_queries, [&](std::int64_t q, int) {
    const std::int64_t first = begin_[at(q)];
    const std::int64_t n = begin_[at(q + 1)] - first;
    if (rules_.delta == PairDelta::map) {
      const auto n_relevant =
          static_cast<double>(std::count_if(label + first, label + first + n, [](float y) { return y > 0.0f; }));
      scale_[at(q)] = n_relevant > 0.0 ? 1.0 / n_relevant : 0.0;
      return;
    }
    std::vector<double> labels(label + first, label + first + n);
    const int shift = rules_.gain.shift(*std::max_element(labels.begin(), labels.end()));
    for (std::int64_t i = 0; i < n; ++i) gain_[at(first + i)] = rules_.gain.gain(labels[at(i)], shift);
    std::vector<RankItem> best;
    rank_top(labels.data(), n, n_best, best);
    double dcg = 0.0;
    for (std::size_t r = 0; r < best.size(); ++r) dcg += gain_[at(first + best[r].row)] * discount_[r];
    scale_[at(q)] = dcg > 0.0 ? 1.0 / dcg : 0.0;
  });
}

void LambdaRank::fill(Team& team, const RankTargets& targets, const double* score, std::uint64_t key, float* gradient,
                      float* hessian, double* costs) const {
  std::vector<Scratch> scratch(at(team.n_threads()), Scratch(longest_));
  const std::int64_t n_costs = 2 * targets.place_bias.n_places;
  const std::int64_t n_blocks = static_cast<std::int64_t>(blocks_.size()) - 1;
  std::vector<double> block_costs(at(n_blocks * n_costs));
  team.for_each(n_blocks, [&](std::int64_t b, int thread) {
    scratch[at(thread)].costs = block_costs.data() + b * n_costs;
    for (std::int64_t q = blocks_[at(b)]; q < blocks_[at(b + 1)]; ++q) {
      fill_query(targets, score, q, key, scratch[at(thread)], gradient, hessian);
    }
  });
  if (n_costs == 0) return;
  // Block by block: the sums do not depend on the threads.
  std::fill_n(costs, n_costs, 0.0);
  for (std::int64_t i = 0; i < n_blocks * n_costs; ++i) costs[i % n_costs] += block_costs[at(i)];
}

LambdaArgs LambdaRank::pair_args(std::int64_t query, std::int64_t n, Scratch& s) const {
  LambdaArgs args;
  args.n = n;
  args.score = s.score.data();
  args.label = s.label.data();
  args.gain = s.gain.data();
  args.gains_rise = rules_.gain.rises();
  args.discount = discount_.data();
  args.scale = scale_[at(query)];
  args.n_relevant = s.n_relevant.data();
  args.harmonic = s.harmonic.data();
  args.delta = rules_.delta;
  args.sigmoid = rules_.sigmoid;
  args.hessian_factor = rules_.hessian_factor;
  args.hessian_floor = rules_.hessian_floor;
  // As in LightGBM: at the start all scores are equal, and differences mean nothing.
  args.divide_by_difference = rules_.divide_by_difference && s.score[0] != s.score[at(n - 1)];
  args.shared = s.shared.data();
  args.grown = s.grown.data();
  args.near = s.near.data();
  args.gradient = s.gradient.data();
  args.hessian = s.hessian.data();
  return args;
}

void LambdaRank::fill_query(const RankTargets& targets, const double* score, std::int64_t query, std::uint64_t key,
                            Scratch& s, float* gradient, float* hessian) const {
  const std::int64_t first = begin_[at(query)];
  const std::int64_t n = begin_[at(query + 1)] - first;
  const double* scores = score + first;
  if (targets.bias != nullptr) {
    s.adjusted.resize(at(n));
    for (std::int64_t i = 0; i < n; ++i) s.adjusted[at(i)] = scores[i] + targets.bias[targets.position[first + i]];
    scores = s.adjusted.data();
  }
  const float* const labels = targets.label + first;
  const bool is_flat = std::all_of(labels, labels + n, [&](float y) { return y == labels[0]; });
  if (is_flat || (rules_.delta != PairDelta::pairwise && scale_[at(query)] == 0.0)) {
    std::fill_n(gradient + first, n, 0.0f);
    std::fill_n(hessian + first, n, 0.0f);
    return;
  }
  rank_rows(scores, n, s.order);
  double n_relevant = 0.0;
  double harmonic = 0.0;
  for (std::int64_t r = 0; r < n; ++r) {
    const std::int64_t row = s.order[at(r)];
    s.score[at(r)] = scores[row];
    s.label[at(r)] = static_cast<double>(labels[row]);
    if (rules_.delta == PairDelta::ndcg) s.gain[at(r)] = gain_[at(first + row)];
    if (rules_.delta == PairDelta::map) {
      if (labels[row] > 0.0f) {
        n_relevant += 1.0;
        harmonic += 1.0 / static_cast<double>(r + 1);
      }
      s.n_relevant[at(r)] = n_relevant;
      s.harmonic[at(r)] = harmonic;
    }
  }
  std::fill_n(s.gradient.begin(), n + kPadding, 0.0);
  std::fill_n(s.hessian.begin(), n + kPadding, 0.0);

  const double sum = add_query_pairs(targets, pair_args(query, n, s), first, key, s);
  double factor = 1.0;
  if (rules_.norm == LambdaRules::Norm::gradients && sum > 0.0) factor = kernels().log2(1.0 + sum) / sum;
  if (rules_.norm == LambdaRules::Norm::pairs) factor = 1.0 / static_cast<double>(rules_.n_drawn);
  for (std::int64_t r = 0; r < n; ++r) {
    const std::int64_t row = first + s.order[at(r)];
    const double weight = weight_of(targets, row) * factor;
    gradient[row] = static_cast<float>(s.gradient[at(r)] * weight);
    hessian[row] = static_cast<float>(s.hessian[at(r)] * weight);
  }
}

// For every row, draws rows of another label with equal probability.
template <typename AddPairs>
void LambdaRank::for_each_drawn(const LambdaArgs& args, const Scratch& s, std::int64_t first_row, std::uint64_t key,
                                const AddPairs& add_pairs) const {
  constexpr std::int64_t kMost = 1024;
  std::int32_t first[kMost];
  std::int32_t second[kMost];
  const std::uint32_t* const rows = by_label_.data() + first_row;
  std::int64_t n_pairs = 0;
  for (std::int64_t begin = 0, end = 0; begin < args.n; begin = end) {
    const double label = args.label[s.rank_of[rows[begin]]];
    while (end < args.n && args.label[s.rank_of[rows[end]]] == label) ++end;
    const std::int64_t n_others = args.n - (end - begin);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t rank = s.rank_of[rows[i]];
      const std::uint64_t row_key = random_bits(key, static_cast<std::uint64_t>(first_row + rows[i]));
      for (std::int64_t k = 0; k < rules_.n_drawn; ++k) {
        const double unit = random_unit(row_key, static_cast<std::uint64_t>(k));
        const auto drawn = static_cast<std::int64_t>(unit * static_cast<double>(n_others));
        const std::int32_t other = s.rank_of[rows[drawn < begin ? drawn : drawn + (end - begin)]];
        first[n_pairs] = std::min(rank, other);
        second[n_pairs] = std::max(rank, other);
        if (++n_pairs < kMost) continue;
        add_pairs(first, second, n_pairs);
        n_pairs = 0;
      }
    }
  }
  add_pairs(first, second, n_pairs);
}

// Adds the gradients of all pairs of a query, and returns the sum of their sizes.
double LambdaRank::add_query_pairs(const RankTargets& targets, const LambdaArgs& args, std::int64_t first_row,
                                   std::uint64_t key, Scratch& s) const {
  const std::int64_t n = args.n;
  const std::int64_t n_top = std::min(n, rules_.n_top);
  const bool is_unbiased = targets.place_bias.n_places > 0;
  if (rules_.n_drawn <= 0 && !is_unbiased) return kernels().lambda_top(args, n_top);
  double sum = 0.0;
  if (rules_.n_drawn > 0) {
    s.rank_of.resize(at(n));
    for (std::int64_t r = 0; r < n; ++r) s.rank_of[s.order[at(r)]] = static_cast<std::int32_t>(r);
    for_each_drawn(args, s, first_row, key,
                   [&](const std::int32_t* firsts, const std::int32_t* seconds, std::int64_t n_pairs) {
                     if (!is_unbiased) {
                       sum += kernels().lambda_listed(args, firsts, seconds, n_pairs);
                       return;
                     }
                     for (std::int64_t i = 0; i < n_pairs; ++i) {
                       sum += add_unbiased(args, targets.place_bias, s, firsts[i], seconds + i, 1);
                     }
                   });
    return sum;
  }
  s.later_ranks.resize(at(n));
  std::iota(s.later_ranks.begin(), s.later_ranks.end(), 0);
  for (std::int64_t r = 0; r < n_top; ++r) {
    sum += add_unbiased(args, targets.place_bias, s, static_cast<std::int32_t>(r), s.later_ranks.data() + r + 1,
                        n - r - 1);
  }
  return sum;
}

// Pairs of one rank with later ones that differ from each other: what the kernel adds to each of these is the gradient
// of one pair, which is then divided by the ratios of the two places.
double LambdaRank::add_unbiased(const LambdaArgs& args, const PlaceBias& bias, Scratch& s, std::int32_t rank,
                                const std::int32_t* others, std::int64_t n_others) const {
  LambdaArgs pairs = args;
  pairs.gradient = s.pair_gradient.data();
  pairs.hessian = s.pair_hessian.data();
  for (std::int64_t k = 0; k < n_others; ++k) s.pair_gradient[at(others[k])] = s.pair_hessian[at(others[k])] = 0.0;
  s.same_rank.assign(at(n_others), rank);
  kernels().lambda_listed(pairs, s.same_rank.data(), others, n_others);
  double sum = 0.0;
  for (std::int64_t k = 0; k < n_others; ++k) {
    const std::int32_t other = others[k];
    if (args.label[rank] == args.label[other]) continue;
    const bool is_better = args.label[rank] > args.label[other];
    const std::int32_t better = is_better ? rank : other;
    const std::int32_t worse = is_better ? other : rank;
    const std::int64_t better_place = s.order[at(better)];
    const std::int64_t worse_place = s.order[at(worse)];
    double gradient = -s.pair_gradient[at(other)];
    double hessian = s.pair_hessian[at(other)];
    if (std::max(better_place, worse_place) < bias.n_places) {
      const double better_ratio = bias.better[better_place];
      const double worse_ratio = bias.worse[worse_place];
      const double difference = std::min(args.sigmoid * (args.score[better] - args.score[worse]), kLargestDifference);
      double e = 0.0;
      kernels().exp_sum(&difference, 0.0, 1, &e);
      // The weight of the pair times log(1 + e): the gradient is the weight / (1 + e). Only ratios of costs matter, so
      // that any base of the logarithm does.
      const double cost = std::abs(gradient) * (1.0 + e) * kernels().log2(1.0 + e);
      const bool has_better = better_ratio >= kSmallestRatio;
      const bool has_worse = worse_ratio >= kSmallestRatio;
      if (has_worse) s.costs[better_place] += cost / worse_ratio;
      if (has_better) s.costs[bias.n_places + worse_place] += cost / better_ratio;
      if (has_better && has_worse) {
        gradient /= better_ratio * worse_ratio;
        hessian /= better_ratio * worse_ratio;
      }
    }
    args.gradient[rank] += gradient;
    args.gradient[other] -= gradient;
    args.hessian[rank] += hessian;
    args.hessian[other] += hessian;
    sum += 2.0 * std::abs(gradient);
  }
  return sum;
}

// ---- cross entropy ----

void gradients_xendcg(Team& team, const QueryBegin& begin, const RankTargets& targets, const double* score,
                      std::uint64_t key, float* gradient, float* hessian) {
  const std::vector<std::int64_t> blocks = query_blocks(begin);
  struct Scratch {
    std::vector<double> rho, terms, total;
  };
  std::vector<Scratch> all(at(team.n_threads()));
  const auto fill_query = [&](std::int64_t first, std::int64_t n, Scratch& s) {
    if (n == 1) {
      gradient[first] = hessian[first] = 0.0f;
      return;
    }
    for (auto* values : {&s.rho, &s.terms, &s.total}) values->resize(at(n));
    const double sum =
        kernels().exp_sum(score + first, *std::max_element(score + first, score + first + n), n, s.rho.data());
    const double largest = static_cast<double>(*std::max_element(targets.label + first, targets.label + first + n));
    const int shift = GainRule{}.shift(largest);
    const double unit = power_of_two(-shift);
    double sum_gain = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
      s.rho[at(i)] /= sum;
      const double random = random_unit(key, static_cast<std::uint64_t>(first + i));
      s.terms[at(i)] = power_of_two(static_cast<double>(targets.label[first + i]) - shift) - random * unit;
      sum_gain += s.terms[at(i)];
    }
    const double per_gain = 1.0 / std::max(kEpsilon, sum_gain);
    // A series of three terms approximates the gradient times the inverse of the hessian.
    const auto rest = [&](std::int64_t i) { return std::max(1.0 - s.rho[at(i)], kEpsilon); };
    double sum_terms = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
      s.total[at(i)] = s.rho[at(i)] - s.terms[at(i)] * per_gain;
      s.terms[at(i)] = s.total[at(i)] / rest(i);
      sum_terms += s.terms[at(i)];
    }
    double sum_second = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double term = s.rho[at(i)] * (sum_terms - s.terms[at(i)]);
      s.total[at(i)] += term;
      s.terms[at(i)] = term / rest(i);
      sum_second += s.terms[at(i)];
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const double weight = weight_of(targets, first + i);
      const double value = s.total[at(i)] + s.rho[at(i)] * (sum_second - s.terms[at(i)]);
      gradient[first + i] = static_cast<float>(value * weight);
      hessian[first + i] = static_cast<float>(s.rho[at(i)] * (1.0 - s.rho[at(i)]) * weight);
    }
  };
  team.for_each(static_cast<std::int64_t>(blocks.size()) - 1, [&](std::int64_t b, int thread) {
    for (std::int64_t q = blocks[at(b)]; q < blocks[at(b + 1)]; ++q) {
      fill_query(begin[at(q)], begin[at(q + 1)] - begin[at(q)], all[at(thread)]);
    }
  });
}

}  // namespace gossamer
