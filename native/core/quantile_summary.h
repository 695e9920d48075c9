// Weighted quantile summaries (Chen and Guestrin 2016, section 3.3 and its appendix): a few values of a
// weighted multiset with bounds of their ranks. They can be merged and pruned with a known error.
//
//   rank of y   the weight below y (r-), or at and below it (r+)
//   summary     values x_1 < ... < x_k, the smallest and the largest among them; for each a lower bound of
//               r-, an upper bound of r+, and a lower bound of its own weight
//   error       how far the bounds can be apart for any y, less the weight known to be at y itself:
//                 rank_high - rank_low - weight                                    at an entry,
//                 (rank_high - weight of the next) - (rank_low + weight of the last)  between two of them
//
// What the operations do to the error E (in units of weight; W is the total weight):
//
//   exact_summary   E = 0
//   merge(a, b)     E <= E_a + E_b: bounds of ranks add up. Relative to W that is no more than the worse of both.
//   prune(s, n)     E <= E_s + W / n: it queries the n + 1 ranks 0, W/n, ..., W. The result of query(d) has
//                   r+ - weight <= d + E_s/2 and r- + weight >= d - E_s/2, so that between neighbours of
//                   the answer lies at most W/n + E_s.
//
// All of this holds up to the rounding of sums of doubles, which is some 1e-16 of W per operation that a value goes
// through; a sum over n rows adds n x 1e-16 at worst.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace gossamer {

struct WeightedValue {
  double value;   // not NaN; may be infinite
  double weight;  // finite, > 0
};

// Sums of two ranks must not overflow.
inline constexpr double kMaxTotalWeight = std::numeric_limits<double>::max() / 4.0;

struct SummaryEntry {
  double value;
  double rank_low;   // <= r-
  double rank_high;  // >= r+
  double weight;     // <= r+ - r-

  // A lower bound of r+, and an upper bound of r-: the ranks between this entry and its neighbours.
  double low_after() const { return rank_low + weight; }
  double high_before() const { return rank_high - weight; }
};

struct RankBounds {
  double low = 0.0;   // the weight below is no less
  double high = 0.0;  // the weight at and below is no more
};

// Cuts in increasing order. Their buckets are (cuts[i - 1], cuts[i]], the first one has no lower end.
struct Cuts {
  std::vector<double> values;  // the last one is the largest value of all
  // The values that follow them, one fewer. If nothing was pruned, any number from values[i] to before
  // next_values[i] cuts alike.
  std::vector<double> next_values;
};

struct QuantileSummary {
  std::vector<SummaryEntry> entries;  // by value, strictly increasing

  bool empty() const { return entries.empty(); }
  std::int64_t n_entries() const { return static_cast<std::int64_t>(entries.size()); }
  double total_weight() const { return entries.empty() ? 0.0 : entries.back().rank_high; }
  double error() const;

  // A value x for which r-(x) - error()/2 <= rank <= r+(x) + error()/2. The summary must not be empty.
  double query(double rank) const;
  // rank_high - rank_low - (the weight at `value`) <= error().
  RankBounds rank(double value) const;
  // The fewest buckets of which none holds more than eps x W, as far as the summary can tell; but a value is never
  // divided. So a bucket holds at most eps x W, or else one value that alone weighs more than eps x W - error(), with
  // at most error() of others below it.
  Cuts propose(double eps) const;
};

// Values must not decrease; equal ones become one entry. In O(n).
QuantileSummary exact_summary(std::span<const WeightedValue> sorted);
QuantileSummary merge(const QuantileSummary& a, const QuantileSummary& b);
// At most n + 1 entries, n >= 1, among them the first and the last.
QuantileSummary prune(QuantileSummary summary, std::int64_t n);
// Whether the functions above could have produced the entries.
bool is_consistent(const QuantileSummary& summary);

// Closes a bucket before the value that would make it too heavy.
class CutChooser {
 public:
  explicit CutChooser(double most_weight) : most_weight_(most_weight) {}

  // Values in increasing order with bounds of the weight at and below them.
  void add(double value, double low, double high) {
    if (has_value_ && high - bucket_begin_ > most_weight_) {
      cuts_.values.push_back(value_);
      cuts_.next_values.push_back(value);
      bucket_begin_ = low_;
    }
    value_ = value;
    low_ = low;
    has_value_ = true;
  }

  Cuts finish() {
    if (has_value_) cuts_.values.push_back(value_);
    has_value_ = false;
    return std::move(cuts_);
  }

 private:
  double most_weight_;
  double bucket_begin_ = 0.0;  // rank
  double value_ = 0.0;         // the last value, which is in the bucket
  double low_ = 0.0;
  bool has_value_ = false;
  Cuts cuts_;
};

// The cuts of exact_summary(...).propose(eps), bit for bit, without making the summary: for values that
// come in increasing order, and whose total weight is known.
class SortedProposer {
 public:
  SortedProposer(double total_weight, double eps) : chooser_(eps * total_weight) {}

  // Values must not decrease (and not be NaN). A value of weight 0 is not a candidate: if the largest value may have
  // weight 0, the last cut is not a bound of all values.
  void push(double value, double weight) {
    if (!(weight > 0.0)) return;
    if (value != value_) {
      add_value();
      value_ = value;
    }
    weight_ += weight;
  }

  Cuts finish() {
    add_value();
    return chooser_.finish();
  }

 private:
  void add_value() {
    if (weight_ == 0.0) return;
    rank_ += weight_;
    chooser_.add(value_, rank_, rank_);
    weight_ = 0.0;
  }

  CutChooser chooser_;
  double value_ = 0.0;
  double weight_ = 0.0;  // weight of value_ so far
  double rank_ = 0.0;    // rank before value_
};

// The same for all values at once. Weights >= 0; empty: every value has weight 1.
template <class Value, class Weight>
Cuts propose_sorted(std::span<const Value> values, std::span<const Weight> weights, double total_weight, double eps) {
  SortedProposer proposer(total_weight, eps);
  for (std::size_t i = 0; i < values.size(); ++i) {
    proposer.push(static_cast<double>(values[i]), weights.empty() ? 1.0 : static_cast<double>(weights[i]));
  }
  return proposer.finish();
}

}  // namespace gossamer
