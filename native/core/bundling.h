// Exclusive feature bundling: which features can share a digit because they are (almost) never
// non-zero in the same row.
#pragma once

#include <cstdint>
#include <vector>

#include "core/entries.h"
#include "core/feature.h"

namespace gossamer {

// The order in which features are assigned to bundles.
enum class BundleOrder : std::int8_t {
  automatic = 0,  // the order that gives the cheapest storage
  degree = 1,     // by conflicts with the other features, most first; with very many features, `count`
  count = 2,      // by non-zero rows, most first
  column = 3,     // in the order of the table: the columns of a one-hot encoding are neighbours
};

// Bundles of two features and more.
struct Bundles {
  std::vector<std::vector<std::int32_t>> features;  // each increasing
  std::vector<std::int64_t> n_conflicts;            // rows, by bundle
};

// Greedy: each feature goes to the first bundle that can hold it with no more than
// `max_conflicts` rows in conflict. `columns` holds all rows of the candidates: bundles without
// conflicts have none in any row, not only in a sample.
Bundles find_bundles(const std::vector<Feature>& features, const SparseColumns& columns, std::int64_t n_rows,
                     BundleOrder order, std::int32_t max_values, std::int64_t max_conflicts);

}  // namespace gossamer
