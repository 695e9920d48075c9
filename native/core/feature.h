// A feature in training: its bins, and where they are stored.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.h"

namespace gossamer {

enum class MissingKind : std::int8_t {
  nan = 0,          // NaN is missing
  zero = 1,         // NaN and zero are missing
  nan_is_zero = 2,  // nothing is missing, NaN is read as zero
};

struct Feature {
  std::int32_t column = 0;        // the user's column
  std::int32_t n_value_bins = 0;  // bin n_value_bins is "missing"
  MissingKind missing_kind = MissingKind::nan;
  bool may_miss = true;      // false: no row can be missing, the missing bin takes no space
  bool has_missing = false;  // some row is missing here
  bool hidden = false;       // never to be split on
  double l2 = 0.0;           // added to lambda_l2 in splits on the feature
  bool shared = false;       // other digits share its lane
  bool bundled = false;      // other features share its digit
  // Where it is stored: digit (lane value / stride) % radix of one lane; group -1: a sparse column.
  std::int32_t group = -1;
  std::int32_t lane = 0;
  std::int32_t stride = 1;
  std::int32_t radix = 0;
  std::int32_t lane_values = 0;  // number of values of its lane
  // Bundles and sparse columns leave out the bin of zero. The digit's values first_value, ... are the
  // other bins in order.
  std::int32_t zero_bin = 0;
  std::int32_t first_value = 0;
  std::int32_t entries = -1;    // its sparse column, if it has any entries there
  std::int64_t first_cell = 0;  // first cell of the lane in the histogram of a leaf
  std::vector<double> upper;    // upper bound of each value bin
  // The category of each value bin, -1: all unknown ones. Empty for features that are not categorical.
  std::vector<std::int32_t> category;

  bool is_categorical() const { return !category.empty(); }
  bool loose() const { return group < 0; }
  // Zero is the lowest bin and nothing is missing: the right side of every split is a sum of other bins.
  bool rises_from_zero() const { return zero_bin == 0 && !may_miss; }
  bool one_hot() const { return n_value_bins == 2 && rises_from_zero(); }
  std::int32_t n_bins() const { return n_value_bins + (may_miss ? 1 : 0); }
  // Number of bins without the bin of zero: the values it takes in a bundle.
  std::int32_t n_other_bins() const { return n_bins() - (zero_bin < n_bins() ? 1 : 0); }
  std::int32_t other_of(std::int32_t bin) const { return bin - (bin > zero_bin); }
  std::int32_t bin_of_other(std::int32_t other) const { return other + (other >= zero_bin); }
  // The bin that a value of its digit encodes.
  std::int32_t bin_of_digit(std::int32_t digit) const {
    if (!bundled) return digit;
    const std::int32_t other = digit - first_value;
    return other < 0 || other >= n_other_bins() ? zero_bin : bin_of_other(other);
  }
  std::int32_t bin_of_lane(std::uint32_t lane_value) const {
    if (!shared && !bundled) return static_cast<std::int32_t>(lane_value);  // divisions are slow
    return bin_of_digit(static_cast<std::int32_t>(lane_value) / stride % radix);
  }
};

// The bin of the value zero.
inline std::int32_t find_zero_bin(const Feature& feature) {
  if (feature.missing_kind == MissingKind::zero) return feature.n_value_bins;
  std::int32_t bin = 0;
  while (feature.upper[static_cast<std::size_t>(bin)] < 0.0) ++bin;
  return bin;
}

}  // namespace gossamer
