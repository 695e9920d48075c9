#include "core/quantile_summary.h"

#include <algorithm>
#include <cmath>

namespace gossamer {
namespace {

// Twice the middle of an entry's bounds. It never decreases from entry to entry.
double twice_middle(const SummaryEntry& entry) { return entry.rank_low + entry.rank_high; }

// Whether the second of two neighbours is closer to the rank than the first.
bool is_nearer(const SummaryEntry& first, const SummaryEntry& second, double rank) {
  return 2.0 * rank >= first.low_after() + second.high_before();
}

// Walks over a summary in step with another one, and gives bounds for values that it does not hold.
class Walker {
 public:
  explicit Walker(const QuantileSummary& summary) : entries_(summary.entries), total_(summary.total_weight()) {}

  bool is_done() const { return next_ == entries_.size(); }
  double value() const { return entries_[next_].value; }
  const SummaryEntry& take() {
    const SummaryEntry& entry = entries_[next_++];
    low_ = is_done() ? total_ : entry.low_after();
    return entry;
  }
  // The summary's bounds for a value between the last entry taken and the next.
  SummaryEntry between(double value) const {
    return {value, low_, is_done() ? total_ : entries_[next_].high_before(), 0.0};
  }

 private:
  const std::vector<SummaryEntry>& entries_;
  double total_;
  double low_ = 0.0;
  std::size_t next_ = 0;
};

SummaryEntry sum(const SummaryEntry& a, const SummaryEntry& b) {
  return {a.value, a.rank_low + b.rank_low, a.rank_high + b.rank_high, a.weight + b.weight};
}

}  // namespace

double QuantileSummary::error() const {
  // The gap between an entry and the next has a larger error than the entry: rank_high of the one
  // is at most high_before() of the other. The last entry has none.
  double largest = 0.0;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    largest = std::max(largest, entries[i].high_before() - entries[i - 1].low_after());
  }
  return largest;
}

double QuantileSummary::query(double rank) const {
  // By rounding, the middle of an entry that weighs next to nothing may lie beyond the total.
  if (rank >= total_weight()) return entries.back().value;
  const auto above = std::upper_bound(entries.begin(), entries.end(), 2.0 * rank,
                                      [](double twice, const SummaryEntry& e) { return twice < twice_middle(e); });
  if (above == entries.begin()) return entries.front().value;
  if (above == entries.end()) return entries.back().value;
  const SummaryEntry& below = *(above - 1);
  return is_nearer(below, *above, rank) ? above->value : below.value;
}

RankBounds QuantileSummary::rank(double value) const {
  const auto next = std::lower_bound(entries.begin(), entries.end(), value,
                                     [](const SummaryEntry& e, double y) { return e.value < y; });
  if (next == entries.end()) return {total_weight(), total_weight()};
  if (next->value == value) return {next->rank_low, next->rank_high};
  if (next == entries.begin()) return {0.0, 0.0};
  return {(next - 1)->low_after(), next->high_before()};
}

Cuts QuantileSummary::propose(double eps) const {
  CutChooser chooser(eps * total_weight());
  for (const SummaryEntry& entry : entries) chooser.add(entry.value, entry.low_after(), entry.rank_high);
  return chooser.finish();
}

QuantileSummary exact_summary(std::span<const WeightedValue> sorted) {
  QuantileSummary summary;
  double rank = 0.0;
  for (std::size_t i = 0; i < sorted.size();) {
    const double value = sorted[i].value;
    double weight = 0.0;
    for (; i < sorted.size() && sorted[i].value == value; ++i) weight += sorted[i].weight;
    summary.entries.push_back({value, rank, rank + weight, weight});
    rank += weight;
  }
  return summary;
}

QuantileSummary merge(const QuantileSummary& a, const QuantileSummary& b) {
  QuantileSummary merged;
  merged.entries.reserve(a.entries.size() + b.entries.size());
  Walker left(a);
  Walker right(b);
  while (!left.is_done() || !right.is_done()) {
    if (right.is_done() || (!left.is_done() && left.value() < right.value())) {
      const SummaryEntry& entry = left.take();
      merged.entries.push_back(sum(entry, right.between(entry.value)));
    } else if (left.is_done() || right.value() < left.value()) {
      const SummaryEntry& entry = right.take();
      merged.entries.push_back(sum(entry, left.between(entry.value)));
    } else {
      const SummaryEntry& entry = left.take();
      merged.entries.push_back(sum(entry, right.take()));
    }
  }
  return merged;
}

QuantileSummary prune(QuantileSummary summary, std::int64_t n) {
  const std::vector<SummaryEntry>& entries = summary.entries;
  if (summary.n_entries() <= n + 1) return summary;
  const double total = summary.total_weight();
  const std::size_t last = entries.size() - 1;
  QuantileSummary pruned;
  pruned.entries.reserve(static_cast<std::size_t>(n) + 1);
  pruned.entries.push_back(entries.front());
  // For increasing ranks query() never goes back: one pass finds all results.
  std::size_t kept = 0;   // the last entry kept
  std::size_t below = 0;  // the last entry with its middle at or below the rank
  for (std::int64_t i = 1; i < n; ++i) {
    const double rank = total * (static_cast<double>(i) / static_cast<double>(n));
    while (below < last && twice_middle(entries[below + 1]) <= 2.0 * rank) ++below;
    if (below == last) break;
    const std::size_t answer = below + (is_nearer(entries[below], entries[below + 1], rank) ? 1 : 0);
    if (answer <= kept || answer == last) continue;
    pruned.entries.push_back(entries[answer]);
    kept = answer;
  }
  pruned.entries.push_back(entries[last]);
  return pruned;
}

bool is_consistent(const QuantileSummary& summary) {
  const std::vector<SummaryEntry>& entries = summary.entries;
  if (entries.empty()) return true;
  const double total = summary.total_weight();
  if (!(total > 0.0 && total <= kMaxTotalWeight)) return false;
  const double rounding = 1e-9 * total;
  // Written so that NaN fails.
  const auto is_at_most = [=](double a, double b) { return a <= b + rounding; };
  for (const SummaryEntry& e : entries) {
    const bool is_sound = !std::isnan(e.value) && e.weight > 0.0 && e.rank_low >= 0.0 && e.rank_high <= total &&
                          is_at_most(e.low_after(), e.rank_high);
    if (!is_sound) return false;
  }
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const SummaryEntry& before = entries[i - 1];
    const bool is_ordered = before.value < entries[i].value && is_at_most(before.low_after(), entries[i].rank_low) &&
                            is_at_most(before.rank_high, entries[i].high_before());
    if (!is_ordered) return false;
  }
  return is_at_most(entries.front().high_before(), 0.0) && is_at_most(total, entries.back().low_after());
}

}  // namespace gossamer
