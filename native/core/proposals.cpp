#include "core/proposals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/index.h"

namespace gossamer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMaxBins = 65535;

std::int64_t n_distinct(const SortedColumn& column) {
  const SortedEntry* const entries = column.entries.data();
  return std::count_if(entries, entries + column.n_values, [](SortedEntry entry) { return (entry & kNewValue) != 0; });
}

template <class Leave>
SparseColumns without(const SparseColumns& columns, const Leave& leave_out) {
  SparseColumns kept;
  kept.rows.reset(columns.n_entries());
  kept.bins.reset(columns.n_entries());
  for (std::int64_t c = 0; c < columns.n_columns(); ++c) {
    if (leave_out(columns.features[at(c)])) continue;
    const auto rows = columns.rows_of(c);
    const auto bins = columns.bins_of(c);
    std::copy(rows.begin(), rows.end(), kept.rows.data() + kept.begin.back());
    std::copy(bins.begin(), bins.end(), kept.bins.data() + kept.begin.back());
    kept.features.push_back(columns.features[at(c)]);
    kept.begin.push_back(kept.begin.back() + static_cast<std::int64_t>(rows.size()));
  }
  return kept;
}

// Calls see(first entry, one after the last, weight) for every value of a column, in order.
template <class See>
void for_each_value(const SortedColumn& column, const std::vector<float>& weight, const See& see) {
  const SortedEntry* const entries = column.entries.data();
  for (std::int64_t first = 0, end = 0; first < column.n_values; first = end) {
    double one = 0.0;
    do {
      one += static_cast<double>(weight[entries[end] & ~kNewValue]);
      ++end;
    } while (end < column.n_values && !(entries[end] & kNewValue));
    see(first, end, one);
  }
}

// A value with a share eps of the weight: it gets its own bin.
struct HeavyValue {
  std::int64_t entry;  // its first entry
  double before;       // weight of the smaller values
  double weight;
};

struct Weights {
  double total = 0.0;
  std::vector<HeavyValue> heavy;  // at most 1 / eps
};

Weights weigh_values(const SortedColumn& column, const std::vector<float>& weight, double eps) {
  Weights found;
  for_each_value(column, weight, [&](std::int64_t first, std::int64_t, double one) {
    const double before = found.total;
    found.total += one;
    // A value that is light so far stays light: few are kept until the total is known.
    if (one > 0.0 && one >= eps * found.total) found.heavy.push_back({first, before, one});
  });
  std::erase_if(found.heavy, [&](const HeavyValue& value) { return value.weight < eps * found.total; });
  return found;
}

// The weight of a bin of light values: these share the weight and the bins that the heavy values leave.
class LightBins {
 public:
  LightBins(const Weights& weights, double eps) : rest_(weights.total) {
    for (const HeavyValue& value : weights.heavy) rest_ -= value.weight;
    n_bins_ = 1.0 / eps - static_cast<double>(weights.heavy.size());
    least_ = step();
  }

  // `run` is the weight of the light values up to the next heavy one. The rest of the run must be worth a bin, or joins
  // this one; at the end of the run half a step is enough.
  bool is_full(double weight, double run) const {
    const double full = std::max(least_, step());
    return run > 0.0 ? weight >= full && run >= 0.5 * full : weight >= 0.5 * full;
  }

  // Closes a bin with this weight of light values; `n` is 0 if it is the bin of a heavy value.
  void take(double weight, int n) {
    rest_ -= weight;
    n_bins_ -= n;
  }

 private:
  double step() const { return n_bins_ > 0.0 ? rest_ / n_bins_ : kInfinity; }

  double rest_;    // weight outside closed bins
  double n_bins_;  // bins that `rest_` may fill, as a share of 1 / eps
  double least_;   // other bins do not get lighter because some are too heavy
};

}  // namespace

// The other features keep their bins, which hold one value each.
Proposals::Proposals(const BinMatrix& binned, std::shared_ptr<SortedTable> sorted, double eps)
    : sorted_(std::move(sorted)), eps_(eps) {
  if (sorted_->raw.is_sparse) throw std::invalid_argument("proposals are for dense tables");
  const double parts = std::clamp(std::ceil(1.0 / eps), 2.0, static_cast<double>(kMaxBins - 1));
  const auto most = static_cast<std::int64_t>(parts);
  std::vector<Feature> features = binned.features();
  Storage storage = binned.storage();
  storage.share_lanes = false;
  const auto is_sorted = [&](std::int32_t f) { return sorted_->place_of[at(f)] >= 0; };
  std::erase_if(storage.loose, is_sorted);
  for (auto& bundle : storage.bundles) std::erase_if(bundle, is_sorted);
  std::erase_if(storage.bundles, [](const auto& bundle) { return bundle.empty(); });
  for (std::size_t f = 0; f < features.size(); ++f) {
    Feature& feature = features[f];
    feature.group = feature.entries = -1;
    feature.bundled = feature.shared = false;
    if (!is_sorted(static_cast<std::int32_t>(f))) continue;
    const SortedColumn& column = sorted_->columns[at(sorted_->place_of[f])];
    feature.n_value_bins = static_cast<std::int32_t>(std::min(most, n_distinct(column)));
    feature.upper.assign(at(feature.n_value_bins), kInfinity);
    feature.may_miss = feature.has_missing = column.n_values < binned.n_rows();
  }
  matrix_ = std::make_shared<BinMatrix>(std::move(features), binned.n_rows(), std::move(storage));
  std::vector<std::uint16_t> bins(at(binned.n_rows()));
  for (std::size_t f = 0; f < matrix_->features().size(); ++f) {
    const Feature& feature = matrix_->features()[f];
    if (feature.bundled || feature.loose() || is_sorted(static_cast<std::int32_t>(f))) continue;
    binned.copy_column(static_cast<std::int64_t>(f), bins.data());
    matrix_->set_column(static_cast<std::int64_t>(f), bins);
  }
  matrix_->set_sparse(without(binned.copy_sparse(), is_sorted));
  for (std::size_t f = 0; f < matrix_->features().size(); ++f) {
    if (!is_sorted(static_cast<std::int32_t>(f))) matrix_->features()[f].has_missing = binned.features()[f].has_missing;
  }
}

void Proposals::propose(Team& team, const float* hessian, const RowIdx* rows, std::int64_t n_rows) {
  const std::int64_t n_all = matrix_->n_rows();
  if (rows == nullptr) {
    weight_.assign(at(n_all), 1.0f);
    if (hessian != nullptr) std::copy_n(hessian, n_all, weight_.data());
  } else {
    weight_.assign(at(n_all), 0.0f);
    for (std::int64_t i = 0; i < n_rows; ++i) weight_[rows[i]] = hessian != nullptr ? hessian[rows[i]] : 1.0f;
  }
  matrix_->make_columns(team);
  const auto n = static_cast<std::int64_t>(sorted_->columns.size());
  std::vector<std::int32_t> features;
  for (const SortedColumn& column : sorted_->columns) features.push_back(column.feature);
  team.for_each(n, [&](std::int64_t c, int) {
    const SortedColumn& column = sorted_->columns[at(c)];
    const Feature& feature = matrix_->features()[at(column.feature)];
    if (matrix_->groups()[at(feature.group)].two_bytes) {
      bin_column(column, static_cast<std::uint16_t*>(matrix_->lane_data(feature)));
    } else {
      bin_column(column, static_cast<std::uint8_t*>(matrix_->lane_data(feature)));
    }
  });
  matrix_->rows_from_columns(team, features);
}

template <class Bin>
void Proposals::bin_column(const SortedColumn& column, Bin* out) const {
  Feature& feature = matrix_->features()[at(column.feature)];
  const SortedEntry* const entries = column.entries.data();
  if (feature.may_miss) std::fill_n(out, matrix_->n_rows(), static_cast<Bin>(feature.n_value_bins));
  const Weights weights = weigh_values(column, weight_, eps_);
  LightBins light_bins(weights, eps_);
  auto heavy = weights.heavy.begin();
  const std::int64_t last = feature.n_value_bins - 1;
  std::int64_t bin = 0;
  double seen = 0.0;
  double light = 0.0;  // weight of the light values in the open bin
  bool holds_heavy = false;
  for_each_value(column, weight_, [&](std::int64_t first, std::int64_t end, double one) {
    const bool is_heavy = heavy != weights.heavy.end() && heavy->entry == first;
    // Every later heavy value keeps a bin.
    const std::int64_t spare = last - bin - (weights.heavy.end() - heavy);
    const double run = is_heavy ? 0.0 : heavy != weights.heavy.end() ? heavy->before - seen : kInfinity;
    const bool is_full = holds_heavy || (light > 0.0 && light_bins.is_full(light, run));
    if (is_full && spare >= (is_heavy ? 0 : 1)) {
      const double low = sorted_->value(column, entries[first - 1]);
      feature.upper[at(bin++)] = halfway(low, sorted_->value(column, entries[first]));
      light_bins.take(light, holds_heavy ? 0 : 1);
      light = 0.0;
      holds_heavy = false;
    }
    seen += one;
    if (is_heavy) {
      holds_heavy = true;
      ++heavy;
    } else {
      light += one;
    }
    for (std::int64_t i = first; i < end; ++i) out[entries[i] & ~kNewValue] = static_cast<Bin>(bin);
  });
  std::fill(feature.upper.begin() + bin, feature.upper.end(), kInfinity);
}

}  // namespace gossamer
