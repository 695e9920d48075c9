// Monotone constraints: which leaves must not exceed which others, and the limits that follow for a leaf.
//
//   box         the bins of each feature that the path from the root allows, missing values apart
//   A below B   their boxes overlap in every feature but one, which is monotone, and there A lies on the
//               side of the smaller predictions: some row goes from A to B by a change of that feature
//
// Predictions are monotone if no leaf has a larger value than one that it is below. Any two such leaves were
// separated by a split on the monotone feature, so that they can be kept apart in two ways:
//
//   basic       a split on a monotone feature gives its children a common limit halfway between their
//               values, and all leaves below respect it. Nothing else need be known about a leaf.
//   the others  a leaf is limited by the values of the leaves that it is below or above now. A split
//               changes these, so that leaves are split one after another, and a leaf whose neighbour
//               was split is searched again before its turn. A leaf's own value always lies within its limits: its
//               children could both have it. `intermediate` searches with the limits of the leaf, `advanced` with those
//               that each child would have, threshold by threshold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/feature.h"
#include "kernels/kernels.h"

namespace gossamer {

enum class MonotoneMethod : std::int8_t { basic = 0, intermediate = 1, advanced = 2 };

struct MonotoneParams {
  std::vector<std::int8_t> direction;  // by feature: 1 rises, -1 falls, 0 either; empty: no constraints
  MonotoneMethod method = MonotoneMethod::basic;
  double penalty = 0.0;  // for splits on monotone features near the root
};

struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  double clamp(double value) const { return std::clamp(value, low, high); }
  bool operator==(const Limits&) const = default;
};

// The rows that can reach a leaf: a range of bins of each feature that the path splits on.
class Box {
 public:
  struct Range {
    std::int32_t feature = -1;
    std::int32_t first = 0, last = -1;  // value bins; none: first > last
    bool missing = false;               // missing values too

    bool has_values() const { return first <= last; }
    bool meets(const Range& other) const {
      return (std::max(first, other.first) <= std::min(last, other.last)) || (missing && other.missing);
    }
  };

  Range range_of(std::int32_t number, const Feature& feature) const;
  // For a split by a set of categories: bin 0 or 1, or both.
  Range parting_of(std::int32_t number) const;
  void set(const Range& range);
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;  // by feature; other features have every bin
};

// The constraints of one tree while it grows. Leaves have the grower's numbers.
class Monotone {
 public:
  struct Split {
    std::int32_t feature = -1;
    std::int32_t threshold = 0;
    bool missing_left = false;
  };

  struct Change {
    std::int32_t leaf;
    bool widened;  // the limits of the whole leaf
  };

  // A new tree with one leaf, number 0.
  void start(const MonotoneParams& params, const std::vector<Feature>& features, double root_value, int n_threads);
  bool is_on() const { return is_on_; }
  // Whether a split changes the limits of other leaves.
  bool changes_others() const { return is_on_ && params_->method != MonotoneMethod::basic; }
  int direction_of(std::int32_t feature) const {
    const auto f = static_cast<std::size_t>(feature);
    return is_on_ && f < params_->direction.size() ? params_->direction[f] : 0;
  }
  // Factor on the gain of a split on a monotone feature.
  double penalty_at(int depth) const;

  // Splits leaf `node` into the leaves `first_child` and the one after it. `values` are the
  // children's values without constraints; they are replaced by the constrained values.
  void split(std::int32_t node, std::int32_t first_child, const Split& split, double values[2]);
  // Leaves whose limits the last split has changed.
  std::span<const Change> changed() const { return changed_; }

  // To be called before a leaf is searched, from one thread.
  void prepare_search(std::int32_t leaf);
  // Limits of the children's values when `leaf` is split by `feature`, times `scale`. False: none.
  bool limit_search(std::int32_t leaf, std::int32_t feature, double scale, int thread, ValueLimits& out);

  // The values nearest to `values` (by weighted squares, nearly) that keep the constraints exactly.
  void reconcile(std::span<const std::int32_t> leaves, std::span<const double> weights, std::span<double> values) const;

 private:
  struct Neighbour {
    std::int32_t leaf;
    std::int32_t feature;  // by which one is below the other
    bool below;            // the neighbour is the lower one
  };
  // A neighbour that limits only a part of the leaf.
  struct Cut {
    std::int32_t feature;
    std::int32_t neighbour;  // its index in the list
    std::int32_t first, last;
    bool missing;
  };
  struct Region {
    Box box;
    Limits limits;
    double value = 0.0;
    std::vector<Neighbour> neighbours;  // leaves below or above; not kept by `basic`
    std::vector<Cut> cuts;              // by feature, then neighbour; for `advanced`
    std::int32_t children[2] = {-1, -1};
    std::int32_t feature = -1;  // the feature of the split
  };
  struct Edge {
    std::int32_t low, high;  // indices
  };

  Region& at(std::int32_t leaf) { return regions_[static_cast<std::size_t>(leaf)]; }
  const Region& at(std::int32_t leaf) const { return regions_[static_cast<std::size_t>(leaf)]; }
  Box::Range range_in(const Box& box, std::int32_t number) const;
  void take_over_neighbours(std::int32_t node, const Split& split);
  Limits limits_from_neighbours(const Region& region) const;
  void limit_by_threshold(const Region& region, const Box::Range& own, std::span<const Cut> cuts, double scale,
                          double* const by_threshold[4]) const;
  bool is_below(const Box& low, const Box& high) const;
  std::vector<std::int32_t> rising_order(std::span<const std::int32_t> leaves) const;

  const MonotoneParams* params_ = nullptr;
  const std::vector<Feature>* features_ = nullptr;
  bool is_on_ = false;
  std::vector<Region> regions_;
  std::vector<Change> changed_;
  std::int64_t scratch_step_ = 0;
  std::vector<std::vector<double>> scratch_;  // by thread
};

}  // namespace gossamer
