#include "core/gradient_sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/index.h"
#include "core/random.h"
#include "core/row_sampler.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

float to_score(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// A sum in a fixed order, eight at a time.
template <class Term>
double add_up(std::int64_t begin, std::int64_t end, const Term& term) {
  double sums[8] = {};
  std::int64_t i = begin;
  for (; i + 8 <= end; i += 8) {
    for (int j = 0; j < 8; ++j) sums[j] += term(i + j);
  }
  for (int j = 0; i < end; ++i, ++j) sums[j] += term(i);
  double sum = 0.0;
  for (const double partial : sums) sum += partial;
  return sum;
}

void check_scored(bool fits) {
  if (!fits) throw std::invalid_argument("these are not the gradients that were scored");
}

// Draws exactly n_drawn of the n_others rows of a block that are not in the top: Floyd's algorithm, which takes one
// random number for each row that is drawn. Bit i of `is_drawn` is for the i-th of these rows. Random numbers are
// keyed by position in the block; two positions share 64 bits.
void draw_others(std::uint64_t key, std::int64_t block_begin, std::int64_t n_others, std::int64_t n_drawn,
                 std::uint64_t* is_drawn) {
  std::fill_n(is_drawn, kBlockWords + 1, std::uint64_t{0});
  const auto draw = [=](std::uint64_t random, std::int64_t last) {
    const std::uint64_t place = draw_place(random, last);
    // If that row is drawn already, `last` is drawn: arithmetic, because a random branch would be mispredicted.
    const std::uint64_t is_taken = is_drawn[place / 64] >> (place % 64) & 1;
    const std::uint64_t drawn = place + is_taken * (static_cast<std::uint64_t>(last) - place);
    is_drawn[drawn / 64] |= std::uint64_t{1} << (drawn % 64);
  };
  std::int64_t last = n_others - n_drawn;
  std::uint64_t counter = static_cast<std::uint64_t>(block_begin) / 2;
  for (; last + 2 <= n_others; last += 2) {
    const std::uint64_t bits = draw_bits(key, counter++);
    draw(static_cast<std::uint32_t>(bits), last);
    draw(bits >> 32, last + 1);
  }
  if (last < n_others) draw(static_cast<std::uint32_t>(draw_bits(key, counter)), last);
}

// Uses only the counts, as if every score were in the middle of its bin.
double estimate_mu(double n_expected, const std::vector<std::uint32_t>& counts) {
  const auto lowest = [](std::size_t digit) { return static_cast<std::uint32_t>(digit) << kLeadingShift; };
  const std::size_t n_finite = std::bit_cast<std::uint32_t>(INFINITY) >> kLeadingShift;
  std::vector<double> below(n_finite + 1);
  for (std::size_t d = 0; d < n_finite; ++d) {
    below[d + 1] = below[d] + counts[d] * static_cast<double>(to_score(lowest(d) | 1u << (kLeadingShift - 1)));
  }
  double n_left = n_expected - counts[n_finite];
  for (std::size_t d = n_finite; n_left > 0.0; --d) {
    const double mu = below[d] / n_left;
    if (d == 0 || mu >= to_score(lowest(d))) return mu;
    n_left -= counts[d - 1];
    if (n_left <= 0.0) return to_score(lowest(d - 1));
  }
  return std::numeric_limits<float>::max();
}

}  // namespace

// weigh(row) is the weight of a drawn row of a block; bit i of `drawn` is for row begin + i.
template <class Weigh>
void GradientSampler::weigh_rows(const std::uint64_t* drawn, std::int64_t begin, std::int64_t n_words,
                                 const Weigh& weigh, float* gradient, float* hessian) const {
  std::int64_t n = 0;
  for (std::int64_t w = 0; w < n_words; ++w) n += std::popcount(drawn[w]);
  constexpr std::int64_t kAhead = 32;
  RowIdx rows[kSampleBlock];
  kernels().list_bits(drawn, n_words, static_cast<RowIdx>(begin), rows, rows + n);
  for (int k = 0; k < n_outputs_; ++k) {
    float* const g = gradient + k * n_rows_;
    float* const h = hessian + k * n_rows_;
    for (std::int64_t i = 0; i < n; ++i) {
      const RowIdx ahead = rows[std::min(i + kAhead, n - 1)];
      __builtin_prefetch(g + ahead, 1, 2);
      __builtin_prefetch(h + ahead, 1, 2);
      const double weight = weigh(rows[i]);
      g[rows[i]] = weighted(g[rows[i]], weight);
      h[rows[i]] = weighted(h[rows[i]], weight);
    }
  }
}

GradientSampler::GradientSampler(std::int64_t n_rows, int n_outputs)
    : n_rows_(n_rows), n_outputs_(n_outputs), n_inside_(at(count_sample_blocks(n_rows))), largest_(n_rows) {}

// ---- scores ----

// fill(begin, n, scores) writes the scores of a chunk; they are counted and stored here.
template <class Fill>
void GradientSampler::store_scores(Team& team, const Fill& fill) {
  if (values_.size() == 0) values_ = Buffer<std::uint32_t>(n_rows_);
  largest_.count(team, [&](std::int64_t begin, std::int64_t n, std::uint32_t*) {
    float scores[kSampleChunk];
    fill(begin, n, scores);
    for (std::int64_t i = 0; i < n; ++i) scores[i] = scores[i] > 0.0f ? scores[i] : 0.0f;  // no NaN, no -0
    std::uint32_t* const bits = values_.data() + begin;
    std::memcpy(bits, scores, at(n) * sizeof(float));
    return bits;
  });
}

void GradientSampler::score(Team& team, const float* gradient, const float* hessian, double reg) {
  is_scored_ = false;
  is_stored_ = n_outputs_ > 1 || reg != 0.0;
  if (!is_stored_) {
    const Numbers numbers{nullptr, gradient};
    largest_.count(team, [&](auto... of) { return numbers.chunk(of...); });
    is_scored_ = true;
    return;
  }
  store_scores(team, [&](std::int64_t first, std::int64_t n, float* scores) {
    double squares[kSampleChunk];  // squares of large and of tiny gradients do not fit float
    std::fill_n(squares, n, 0.0);
    for (int k = 0; k < n_outputs_; ++k) {
      const float* const g = gradient + k * n_rows_ + first;
      const float* const h = hessian + k * n_rows_ + first;
      for (std::int64_t i = 0; i < n; ++i) {
        const double x = g[i];
        const double y = h[i];
        squares[i] += x * x + reg * (y * y);
      }
    }
    for (std::int64_t i = 0; i < n; ++i) scores[i] = static_cast<float>(std::sqrt(squares[i]));
  });
  is_scored_ = true;
}

double mean_step(Team& team, const float* gradient, const float* hessian, std::int64_t n) {
  std::vector<double> g(at(count_sample_blocks(n)));
  std::vector<double> h(g.size());
  for_blocks(team, n, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    g[at(b)] = add_up(begin, end, [&](std::int64_t i) { return static_cast<double>(std::fabs(gradient[i])); });
    h[at(b)] = add_up(begin, end, [&](std::int64_t i) { return static_cast<double>(hessian[i]); });
  });
  const double sum_h = std::accumulate(h.begin(), h.end(), 0.0);
  return sum_h > 0.0 ? std::accumulate(g.begin(), g.end(), 0.0) / sum_h : 0.0;
}

// ---- GOSS ----

void GradientSampler::sample_goss(Team& team, std::int64_t n_top, std::int64_t n_other, std::uint64_t key,
                                  float* gradient, float* hessian, RowIdx* rows) {
  if (!is_scored_ && n_outputs_ > 1) score(team, gradient, hessian, 0.0);
  const bool is_counted = std::exchange(is_scored_, false);
  if (!is_counted) is_stored_ = false;
  const Numbers numbers{is_stored_ ? values_.data() : nullptr, gradient};
  const Border top = largest_.find(team, numbers, n_top, is_counted);
  const std::vector<std::int64_t>& n_tops = largest_.n_by_block();
  check_scored(std::accumulate(n_tops.begin(), n_tops.end(), std::int64_t{0}) == n_top);
  const std::vector<std::int64_t> n_drawn = share_draws(n_rows_, n_tops, n_other, key);
  for (std::size_t b = 0; b < n_inside_.size(); ++b) n_inside_[b] = n_tops[b] + n_drawn[b];
  const BlockPlaces places(n_inside_);
  const double weight = static_cast<double>(n_rows_ - n_top) / static_cast<double>(std::max<std::int64_t>(n_other, 1));
  for_blocks(team, n_rows_, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    const std::int64_t n_words = count_words(end - begin);
    std::uint64_t inside[kBlockWords];
    std::uint64_t others[kBlockWords];
    std::uint64_t drawn[kBlockWords];
    std::uint64_t is_drawn[kBlockWords + 1];  // read once past the last of the others
    for (std::int64_t first = begin; first < end; first += kSampleChunk) {
      const std::int64_t n = std::min(kSampleChunk, end - first);
      std::uint32_t buffer[kSampleChunk];
      top.find_largest(numbers.chunk(first, n, buffer), first, n, inside + (first - begin) / 64);
    }
    std::int64_t n_inside = 0;
    for (std::int64_t w = 0; w < n_words; ++w) {
      n_inside += std::popcount(inside[w]);
      others[w] = ~inside[w];
    }
    check_scored(n_inside == n_tops[at(b)]);
    draw_others(key, begin, end - begin - n_tops[at(b)], n_drawn[at(b)], is_drawn);
    // Bits past the last row get none: they come after all others.
    kernels().deposit_bits(others, n_words, is_drawn, drawn);
    for (std::int64_t w = 0; w < n_words; ++w) inside[w] |= drawn[w];
    write_rows(inside, places, b, n_rows_, rows);
    weigh_rows(drawn, begin, n_words, [=](RowIdx) { return weight; }, gradient, hessian);
  });
}

// The remaining fractions of a row are distributed by one random number for all blocks, so that every row has the same
// probability.
std::vector<std::int64_t> share_draws(std::int64_t n_rows, const std::vector<std::int64_t>& n_tops,
                                      std::int64_t n_other, std::uint64_t key) {
  std::vector<std::int64_t> n_drawn(n_tops.size());
  const std::int64_t n_top = std::accumulate(n_tops.begin(), n_tops.end(), std::int64_t{0});
  const auto n_rest = static_cast<std::uint64_t>(n_rows - n_top);  // fits 32 bits, so products fit 64
  if (n_rest == 0) return n_drawn;
  const std::uint64_t offset = (draw_bits(key, ~std::uint64_t{0}) >> 32) * n_rest >> 32;
  std::uint64_t n_before = 0;
  std::uint64_t n_drawn_before = 0;
  for (std::size_t b = 0; b < n_drawn.size(); ++b) {
    const std::int64_t begin = static_cast<std::int64_t>(b) * kSampleBlock;
    n_before += static_cast<std::uint64_t>(std::min(kSampleBlock, n_rows - begin) - n_tops[b]);
    const std::uint64_t n_until = (static_cast<std::uint64_t>(n_other) * n_before + offset) / n_rest;
    n_drawn[b] = static_cast<std::int64_t>(n_until - n_drawn_before);
    n_drawn_before = n_until;
  }
  return n_drawn;
}

// ---- MVS ----

// Newton's method for sum of min(1, score x t) = n_expected, where t = 1 / mu. The sum is concave
// and piecewise linear in t: after one step every further one comes closer from the same side, and
// the last one is exact.
double find_mu(double n_expected, const std::vector<std::uint32_t>& counts,
               const std::function<MuSums(double)>& sums_at) {
  constexpr int kMostSteps = 20;  // two are usual
  constexpr double kCloseEnough = 1e-6;
  double mu = estimate_mu(n_expected, counts);
  for (int step = 0; step < kMostSteps; ++step) {
    const MuSums sums = sums_at(mu);
    const double n_left = n_expected - static_cast<double>(sums.n_sure);
    // A step from the wrong side may lead beyond zero.
    const double next = n_left > 0.0 ? sums.below / n_left : 2.0 * mu;
    const bool is_close = std::fabs(next - mu) <= kCloseEnough * mu;
    mu = next;
    if (is_close) break;
  }
  return mu;
}

std::int64_t GradientSampler::sample_mvs(Team& team, double n_expected, std::uint64_t key, float* gradient,
                                         float* hessian, RowIdx* rows) {
  is_scored_ = false;
  if (!is_stored_) {
    store_scores(team, [&](std::int64_t first, std::int64_t n, float* scores) {
      for (std::int64_t i = 0; i < n; ++i) scores[i] = std::fabs(gradient[first + i]);
    });
    is_stored_ = true;
  }
  const std::int64_t n_words = count_words(n_rows_);
  if (inside_.size() == 0) inside_ = Buffer<std::uint64_t>(n_words);
  if (drawn_.size() == 0) drawn_ = Buffer<std::uint64_t>(n_words);
  const double mu = find_mu(n_expected, histogram(), [&](double at_mu) { return sums_at(team, at_mu); });
  for_blocks(team, n_rows_, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    const std::uint32_t* const values = values_.data();
    std::int64_t n_inside = 0;
    for (std::int64_t first = begin; first < end; first += 64) {
      std::uint64_t inside = 0;
      std::uint64_t drawn = 0;
      const std::int64_t last = std::min(first + 64, end);
      for (std::int64_t i = first; i < last; ++i) {
        // random < score / mu without a division; a score of 0 is never kept
        const double score = to_score(values[i]);
        const bool is_kept = draw_unit(key, static_cast<std::uint64_t>(i)) * mu < score;
        inside |= static_cast<std::uint64_t>(is_kept) << (i - first);
        drawn |= static_cast<std::uint64_t>(is_kept & (score < mu)) << (i - first);
      }
      inside_[first / 64] = inside;
      drawn_[first / 64] = drawn;
      n_inside += std::popcount(inside);
    }
    n_inside_[at(b)] = n_inside;
  });
  keep_one(n_rows_, key, n_inside_, inside_.data());
  const BlockPlaces places(n_inside_);
  for_blocks(team, n_rows_, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    const std::uint32_t* const values = values_.data();
    write_rows(inside_.data() + begin / 64, places, b, n_rows_, rows);
    weigh_rows(
        drawn_.data() + begin / 64, begin, count_words(end - begin),
        [=](RowIdx row) { return mu / to_score(values[row]); }, gradient, hessian);
  });
  return places.n_listed();
}

MuSums GradientSampler::sums_at(Team& team, double mu) {
  std::vector<double> below(n_inside_.size());
  std::vector<std::int64_t> sure(n_inside_.size());
  const auto is_sure = [mu](double score) { return score > 0.0 && score >= mu; };
  for_blocks(team, n_rows_, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    below[at(b)] = add_up(begin, end, [&](std::int64_t i) {
      const double score = to_score(values_[i]);
      return is_sure(score) ? 0.0 : score;
    });
    sure[at(b)] = std::count_if(values_.data() + begin, values_.data() + end,
                                [&](std::uint32_t value) { return is_sure(to_score(value)); });
  });
  return {std::accumulate(below.begin(), below.end(), 0.0), std::accumulate(sure.begin(), sure.end(), std::int64_t{0})};
}

}  // namespace gossamer
