#include "core/gradient_sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/random.h"
#include "kernels/kernels.h"

namespace gossamer {
namespace {

// Scores of so many rows fit a small array on the stack.
constexpr std::int64_t kChunk = 1024;
// Marks a row chosen for its score; random numbers are smaller.
constexpr std::uint32_t kTop = 1u << 30;
// Where a row goes.
constexpr std::uint8_t kSure = 0;
constexpr std::uint8_t kDrawn = 1;  // inside by chance: its gradient is weighted
constexpr std::uint8_t kOutside = 2;

// The i-th number of the splitmix64 sequence that starts at `key`: half the work of random_bits,
// for keys that are random themselves.
std::uint64_t draw_bits(std::uint64_t key, std::uint64_t i) { return mix_bits(key + i * 0x9E3779B97F4A7C15ull); }

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t count_blocks(std::int64_t n) { return (n + kSampleBlock - 1) / kSampleBlock; }

float to_score(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// Calls body(begin, end, thread) for chunks of rows.
template <class Body>
void for_chunks(Team& team, std::int64_t n, const Body& body) {
  for_blocks(team, n, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
    for (; begin < end; begin += kChunk) body(begin, std::min(begin + kChunk, end), thread);
  });
}

// A sum in a fixed order, eight at a time.
template <class Term>
double add_up(std::int64_t begin, std::int64_t end, const Term& term) {
  double lanes[8] = {};
  std::int64_t i = begin;
  for (; i + 8 <= end; i += 8) {
    for (int j = 0; j < 8; ++j) lanes[j] += term(i + j);
  }
  for (int j = 0; i < end; ++i, ++j) lanes[j] += term(i);
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

std::int64_t count_inside(const std::uint8_t* sides, std::int64_t n) {
  std::int32_t n_inside = 0;  // a narrow sum is a fast one
  for (std::int64_t i = 0; i < n; ++i) n_inside += sides[i] < kOutside;
  return n_inside;
}

float scale(float x, double weight) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(x * weight, -kMost, kMost));
}

}  // namespace

GradientSampler::GradientSampler(std::int64_t n_rows, int n_outputs)
    : n_rows_(n_rows), n_outputs_(n_outputs), values_(n_rows), sides_(n_rows), n_inside_(at(count_blocks(n_rows))) {}

// ---- scores ----

// fill(begin, n, scores) writes the scores of a chunk; here they are counted and kept.
template <class Fill>
void GradientSampler::score_chunks(Team& team, const Fill& fill) {
  counts_.clear(team.n_threads());
  for_chunks(team, n_rows_, [&](std::int64_t begin, std::int64_t end, int thread) {
    const std::int64_t n = end - begin;
    float scores[kChunk];
    fill(begin, n, scores);
    for (std::int64_t i = 0; i < n; ++i) scores[i] = scores[i] > 0.0f ? scores[i] : 0.0f;  // no NaN, no -0
    std::uint32_t* const bits = values_.data() + begin;
    std::memcpy(bits, scores, at(n) * sizeof(float));
    std::uint32_t* const count = counts_.of_thread(thread);
    for (std::int64_t i = 0; i < n; ++i) ++count[bits[i] >> kLeadingShift];
  });
}

void GradientSampler::score(Team& team, const float* gradient, const float* hessian, double reg) {
  if (n_outputs_ == 1 && reg == 0.0) {
    score_chunks(team, [&](std::int64_t first, std::int64_t n, float* scores) {
      for (std::int64_t i = 0; i < n; ++i) scores[i] = std::fabs(gradient[first + i]);
    });
    return;
  }
  score_chunks(team, [&](std::int64_t first, std::int64_t n, float* scores) {
    double squares[kChunk];  // those of large and of tiny gradients do not fit float
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
}

double mean_step(Team& team, const float* gradient, const float* hessian, std::int64_t n) {
  std::vector<double> g(at(count_blocks(n)));
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
  mark_top(team, find_border(team, values_.data(), n_rows_, n_top, counts_), key);
  const Border border = find_border(team, values_.data(), n_rows_, n_top + n_other, counts_);
  for_blocks(team, n_rows_, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    const std::uint32_t* const values = values_.data();
    std::uint8_t* const sides = sides_.data();
    border.for_parts(begin, end, [=](std::int64_t first, std::int64_t last, std::int32_t bound) {
      for (std::int64_t i = first; i < last; ++i) {
        const bool is_inside = static_cast<std::int32_t>(values[i]) > bound;
        sides[i] = !is_inside ? kOutside : values[i] < kTop ? kDrawn : kSure;
      }
    });
    n_inside_[at(b)] = count_inside(sides + begin, end - begin);
  });
  const double weight = static_cast<double>(n_rows_ - n_top) / static_cast<double>(std::max<std::int64_t>(n_other, 1));
  write(team, [=](RowIdx) { return weight; }, gradient, hessian, rows);
}

// Scores are replaced by random numbers, with kTop added for the top rows. The largest of these are
// then the sample.
void GradientSampler::mark_top(Team& team, const Border& top, std::uint64_t key) {
  counts_.clear(team.n_threads());
  for_chunks(team, n_rows_, [&](std::int64_t begin, std::int64_t end, int thread) {
    std::uint32_t random[kChunk];
    for (std::uint64_t i = 0; i < kChunk / 2; ++i) {
      const std::uint64_t bits = draw_bits(key, static_cast<std::uint64_t>(begin) / 2 + i);  // for two rows
      std::memcpy(random + 2 * i, &bits, sizeof bits);
    }
    std::uint32_t* const values = values_.data();
    top.for_parts(begin, end, [&](std::int64_t first, std::int64_t last, std::int32_t bound) {
      for (std::int64_t i = first; i < last; ++i) {
        const std::uint32_t mark = static_cast<std::int32_t>(values[i]) > bound ? kTop : 0;
        values[i] = mark | random[i - begin] >> 2;
      }
    });
    std::uint32_t* const count = counts_.of_thread(thread);
    for (std::int64_t i = begin; i < end; ++i) ++count[values[i] >> kLeadingShift];
  });
}

// ---- MVS ----

std::int64_t GradientSampler::sample_mvs(Team& team, double n_expected, std::uint64_t key, float* gradient,
                                         float* hessian, RowIdx* rows) {
  const double mu = find_mu(team, n_expected);
  for_blocks(team, n_rows_, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    const std::uint32_t* const values = values_.data();
    std::uint8_t* const sides = sides_.data();
    for (std::int64_t i = begin; i < end; ++i) {
      // random < score / mu without a division; a score of 0 is never kept
      const double score = to_score(values[i]);
      const double random = static_cast<double>(draw_bits(key, static_cast<std::uint64_t>(i)) >> 11) * 0x1.0p-53;
      const bool is_kept = random * mu < score;
      // Arithmetic, since a branch on chance is guessed wrong.
      sides[i] = static_cast<std::uint8_t>(kOutside * !is_kept + kDrawn * (is_kept & (score < mu)));
    }
    n_inside_[at(b)] = count_inside(sides + begin, end - begin);
  });
  if (std::all_of(n_inside_.begin(), n_inside_.end(), [](std::int64_t n) { return n == 0; })) {
    const std::uint64_t row = random_bits(key, ~std::uint64_t{0}) % static_cast<std::uint64_t>(n_rows_);
    sides_[static_cast<std::int64_t>(row)] = kSure;
    n_inside_[row / kSampleBlock] = 1;
  }
  return write(team, [&](RowIdx row) { return mu / to_score(values_[row]); }, gradient, hessian, rows);
}

// Newton's method for sum of min(1, score x t) = n_expected, where t = 1 / mu. The sum is concave
// and made of straight lines in t: after one step every further one comes closer from the same
// side, and the last one is exact.
double GradientSampler::find_mu(Team& team, double n_expected) {
  constexpr int kMostSteps = 20;  // two are usual
  constexpr double kCloseEnough = 1e-6;
  double mu = estimate_mu(n_expected);
  std::vector<double> below(n_inside_.size());
  std::vector<std::int64_t> sure(n_inside_.size());
  for (int step = 0; step < kMostSteps; ++step) {
    const auto is_sure = [mu](double score) { return score > 0.0 && score >= mu; };
    for_blocks(team, n_rows_, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
      below[at(b)] = add_up(begin, end, [&](std::int64_t i) {
        const double score = to_score(values_[i]);
        return is_sure(score) ? 0.0 : score;
      });
      sure[at(b)] = std::count_if(values_.data() + begin, values_.data() + end,
                                  [&](std::uint32_t value) { return is_sure(to_score(value)); });
    });
    const double n_left = n_expected - static_cast<double>(std::accumulate(sure.begin(), sure.end(), std::int64_t{0}));
    // A step from the wrong side may lead beyond zero.
    const double next = n_left > 0.0 ? std::accumulate(below.begin(), below.end(), 0.0) / n_left : 2.0 * mu;
    const bool is_close = std::fabs(next - mu) <= kCloseEnough * mu;
    mu = next;
    if (is_close) break;
  }
  return mu;
}

// From the counts alone, every score standing in the middle of its bin.
double GradientSampler::estimate_mu(double n_expected) {
  const std::vector<std::uint32_t>& counts = counts_.sum();
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

// ---- the lists ----

// weigh(row): what a drawn row counts.
template <class Weigh>
std::int64_t GradientSampler::write(Team& team, const Weigh& weigh, float* gradient, float* hessian, RowIdx* rows) {
  std::vector<std::int64_t> n_before(n_inside_.size() + 1);
  std::partial_sum(n_inside_.begin(), n_inside_.end(), n_before.begin() + 1);
  const std::int64_t n_inside = n_before.back();
  for_blocks(team, n_rows_, kSampleBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t b, int) {
    RowIdx inside[kSampleBlock];
    RowIdx outside[kSampleBlock];
    PartitionArgs args;
    args.column = sides_.data();
    args.threshold = kDrawn;
    args.first_row = begin;
    args.n_rows = end - begin;
    args.left = inside;
    args.right = outside;
    const std::int64_t n_in = kernels().partition_u8(args);
    std::copy_n(inside, n_in, rows + n_before[at(b)]);
    std::copy_n(outside, args.n_rows - n_in, rows + n_inside + begin - n_before[at(b)]);

    args.threshold = kSure;
    args.rows = rows + n_before[at(b)];
    args.n_rows = n_in;
    RowIdx* const drawn = outside;
    args.right = drawn;
    const std::int64_t n_drawn = n_in - kernels().partition_u8(args);
    for (int k = 0; k < n_outputs_; ++k) {
      float* const g = gradient + k * n_rows_;
      float* const h = hessian + k * n_rows_;
      for (std::int64_t i = 0; i < n_drawn; ++i) {
        const RowIdx row = drawn[i];
        const double weight = weigh(row);
        g[row] = scale(g[row], weight);
        h[row] = scale(h[row], weight);
      }
    }
  });
  return n_inside;
}

}  // namespace gossamer
