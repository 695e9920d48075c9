// Quantiles of a stream of weighted values, in little memory and within a known error; sketches of parts of
// the data can be merged.
//
// Incoming values wait in a buffer. A full buffer (a block of block_size() values) becomes an exact summary,
// which is pruned and put at level 0. Where there is one already, the two are merged, pruned and put
// at the next level, and so on: a binary counter, whose level l represents 2^l blocks.
//
// The bound. A prune at level l keeps n_l + 1 entries, n_l = ceil(H (l + 1) / eps), H = 1 + 1/2 + ... + 1/kLevels.
// Relative to the weight of a summary, a merge has the worse of the two errors and a prune
// adds 1/n_l, whatever the weights are. So the error at level l is at most
//     sum over j = 0 ... l of 1/n_j  <=  eps / H x (1 + 1/2 + ... + 1/(l + 1))  <=  eps,
// and the sum over all levels and the buffer (which is exact) is within eps of the total weight as well.
// kLevels = 62 levels are enough for 2^62 blocks; there is an exception beyond.
//
// The memory. n rows need log2(n / block_size()) levels; all of them together have O(log^2(eps n) / eps) entries.
//
// Merging two sketches adds the counters level by level. With different eps the result has the larger
// one: either kind of summary is within its bound.
//
// The result depends on the order of updates and merges alone; how the stream is cut into calls of update()
// has no influence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/quantile_summary.h"

namespace gossamer {

// The state of a sketch.
struct SketchState {
  double eps = 0.0;
  double missing_weight = 0.0;
  std::vector<WeightedValue> buffer;    // in the order of arrival
  std::vector<QuantileSummary> levels;  // may have gaps
};

class QuantileSketch {
 public:
  static constexpr int kLevels = 62;

  // 0 < eps < 1.
  explicit QuantileSketch(double eps);
  // Throws std::invalid_argument for a state that no sketch can reach.
  explicit QuantileSketch(SketchState state);

  // Weights are finite and >= 0; none: every value weighs 1. NaN is not a value: its weight is counted as
  // missing. Throws before anything is changed if a weight is invalid or the total is too large.
  void update(std::span<const double> values, std::span<const double> weights = {});
  void merge(const QuantileSketch& other);

  double eps() const { return state_.eps; }
  double total_weight() const;
  double missing_weight() const { return state_.missing_weight; }
  // Entries and buffered values held.
  std::int64_t n_entries() const;
  std::int64_t block_size() const { return block_size_; }

  // The summary of all values so far. Its error() is at most eps() x total_weight().
  QuantileSummary summary() const;
  // The guaranteed error now, relative to the total weight: at most eps(), 0 while everything is exact.
  double error_bound() const;
  const SketchState& state() const { return state_; }

 private:
  void check_weights(double more_weight, double more_missing) const;
  void add_value(double value, double weight);
  bool is_full() const;
  void flush();
  void check_free_level(std::size_t first) const;
  void put(QuantileSummary summary, std::size_t level);

  SketchState state_;
  std::int64_t block_size_ = 0;
  double buffer_weight_ = 0.0;
};

}  // namespace gossamer
