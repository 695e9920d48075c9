#include "core/storage.h"

#include <algorithm>
#include <cmath>

#include "core/bundling.h"
#include "core/index.h"
#include "core/timer.h"

namespace gossamer {
namespace {

constexpr std::int32_t kOneByte = 256;       // values of a lane of one byte
constexpr std::int32_t kTwoBytes = 8192;     // values of a lane of two bytes: cells must stay in cache
constexpr std::int64_t kMaxForDegree = 512;  // most features whose pairs are compared by default

// ---- costs ----

// Unit: one update of a lane of one byte, per row.
constexpr double kTwoByteCost = 2.0;

struct Plan {
  Storage storage;
  double cost = 0.0;
  std::int64_t n_conflicts = 0;  // in the bundles that were kept
};

// Each bundle, and each candidate outside bundles, goes to a lane or to sparse columns.
Plan plan_storage(const std::vector<Feature>& features, const std::vector<std::int32_t>& candidates, Bundles bundles,
                  const EntryCounts& counts, std::int64_t n_rows, const StorageOptions& options) {
  struct Part {
    std::vector<std::int32_t> features;
    std::int64_t n_conflicts;
    double lane_cost;
    double sparse_cost;
  };
  std::vector<Part> parts;
  const auto add_part = [&](std::vector<std::int32_t> part, std::int64_t n_conflicts) {
    double share = 0.0;  // share of rows with an entry
    std::int32_t n_values = part.size() > 1 ? 1 : features[at(part.front())].n_bins();
    for (const std::int32_t f : part) {
      share += static_cast<double>(counts.total(f)) / static_cast<double>(std::max<std::int64_t>(n_rows, 1));
      if (part.size() > 1) n_values += features[at(f)].n_other_bins();
    }
    const bool shares = options.share_lanes && n_values <= kOneByte / 2;
    const double lane_cost = n_values > kOneByte ? kTwoByteCost : shares ? std::log2(n_values) / 8.0 : 1.0;
    parts.push_back({std::move(part), n_conflicts, lane_cost, options.entry_cost * share});
  };
  std::vector<char> is_bundled(features.size(), 0);
  for (std::size_t b = 0; b < bundles.features.size(); ++b) {
    for (const std::int32_t f : bundles.features[b]) is_bundled[at(f)] = 1;
    add_part(std::move(bundles.features[b]), bundles.n_conflicts[b]);
  }
  for (const std::int32_t f : candidates) {
    if (!is_bundled[at(f)]) add_part({f}, 0);
  }
  double saved = 0.0;
  for (const Part& part : parts) saved += std::max(0.0, part.lane_cost - part.sparse_cost);
  const bool use_sparse = options.sparse && saved > options.sparse_cost;
  Plan plan;
  plan.storage.share_lanes = options.share_lanes;
  plan.cost = use_sparse ? options.sparse_cost : 0.0;
  for (Part& part : parts) {
    const bool is_loose = use_sparse && part.sparse_cost < part.lane_cost;
    plan.cost += is_loose ? part.sparse_cost : part.lane_cost;
    if (is_loose) {
      plan.storage.loose.insert(plan.storage.loose.end(), part.features.begin(), part.features.end());
    } else if (part.features.size() > 1) {
      plan.n_conflicts += part.n_conflicts;
      plan.storage.bundles.push_back(std::move(part.features));
    }
  }
  std::sort(plan.storage.loose.begin(), plan.storage.loose.end());
  return plan;
}

// Entries of some rows, which are renumbered; or of all rows.
struct Sample {
  std::int64_t n_rows = 0;
  bool is_all = false;
  EntryCounts counts;
  std::vector<Entry> entries;
};

// Blocks of rows, evenly spaced, with about a million entries.
Sample read_sample(const EntrySource& source, std::size_t n_features) {
  constexpr std::int64_t kRows = 512;
  constexpr std::size_t kEntries = std::size_t{1} << 20;
  const std::int64_t n_blocks = (source.n_rows + kRows - 1) / kRows;
  std::span<const Entry> entries;
  Sample sample;
  sample.counts.n_features = static_cast<std::int64_t>(n_features);
  sample.counts.by_stretch.assign(n_features, 0);
  sample.counts.missing.assign(n_features, 0);
  const auto take = [&](std::int64_t block) {
    const std::int64_t first = block * kRows;
    const std::int64_t last = std::min(first + kRows, source.n_rows);
    const auto reader = source.read(first, last);
    while (reader->next(entries)) {
      for (Entry e : entries) {
        e.row = static_cast<RowIdx>(static_cast<std::int64_t>(e.row) - first + sample.n_rows);
        ++sample.counts.by_stretch[at(e.feature)];
        sample.counts.missing[at(e.feature)] |= e.missing;
        sample.entries.push_back(e);
      }
    }
    sample.n_rows += last - first;
  };
  // The first block shows how many entries a block has.
  take(0);
  const auto wanted = static_cast<std::int64_t>(kEntries / std::max<std::size_t>(sample.entries.size(), 1) + 1);
  if (wanted >= n_blocks) {
    for (std::int64_t b = 1; b < n_blocks; ++b) take(b);
  } else {
    for (std::int64_t i = 1; i < wanted; ++i) take(n_blocks * i / wanted);
  }
  sample.is_all = sample.n_rows == source.n_rows;
  return sample;
}

// The rows of the entries of `kept` features.
SparseColumns collect_rows(const Sample& sample, const std::vector<std::int32_t>& kept) {
  std::vector<std::int32_t> column_of;
  SparseColumns columns = make_columns_for(kept, sample.counts, false, column_of);
  ColumnWriter writer(columns, column_of, sample.counts, 0);
  for (const Entry& e : sample.entries) writer.write(e);
  writer.finish();
  return columns;
}

struct Attempt {
  BundleOrder order;
  std::int32_t max_values;
  Plan plan = {};
};

std::vector<Attempt> make_attempts(const StorageOptions& options, std::size_t n_candidates) {
  if (!options.bundle || n_candidates < 2) return {{BundleOrder::automatic, 0}};
  if (options.order != BundleOrder::automatic) return {{options.order, kOneByte}, {options.order, kTwoBytes}};
  const bool few = static_cast<std::int64_t>(n_candidates) <= kMaxForDegree;
  return {{BundleOrder::column, kOneByte},
          {BundleOrder::column, kTwoBytes},
          {few ? BundleOrder::degree : BundleOrder::count, kOneByte}};
}

std::int64_t conflicts_allowed(const StorageOptions& options, std::int64_t n_rows) {
  return static_cast<std::int64_t>(options.max_conflict_rate * static_cast<double>(n_rows));
}

void make_attempt(Attempt& attempt, const std::vector<Feature>& features, const std::vector<std::int32_t>& candidates,
                  const SparseColumns& columns, const EntryCounts& counts, std::int64_t n_rows,
                  const StorageOptions& options) {
  Bundles bundles;
  if (attempt.max_values > 0) {
    bundles =
        find_bundles(features, columns, n_rows, attempt.order, attempt.max_values, conflicts_allowed(options, n_rows));
  }
  attempt.plan = plan_storage(features, candidates, std::move(bundles), counts, n_rows, options);
}

constexpr double kSparseShare = 0.3;  // share of rows: features with more entries are not worth the search

// Features of the source that are zero in most rows; the counts tell whether they may be missing.
std::vector<std::int32_t> find_candidates(const EntrySource& source, const EntryCounts& counts, std::int64_t n_rows,
                                          bool is_all, const StorageOptions& options, std::vector<Feature>& features) {
  std::vector<std::int32_t> candidates;
  const double limit = kSparseShare * static_cast<double>(n_rows);
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (!source.wants(f)) continue;
    const bool is_sparse = static_cast<double>(counts.total(static_cast<std::int64_t>(f))) <= limit;
    const bool is_candidate = is_sparse && !features[f].is_categorical() && (options.bundle || options.sparse);
    // Zeros may be missing values. A sample cannot tell this for a digit of its own.
    const bool is_certain = is_all || is_candidate;
    features[f].may_miss = counts.missing[f] != 0 || features[f].missing_kind == MissingKind::zero || !is_certain;
    if (is_candidate) candidates.push_back(static_cast<std::int32_t>(f));
  }
  return candidates;
}

// The storage that is cheapest according to a sample.
struct Proposal {
  Attempt best;
  bool is_all = false;  // the sample was all of the table
};

// Also sets whether `features` may be missing; filling notices if the sample was wrong.
Proposal propose_storage(Team& team, const EntrySource& source, const StorageOptions& options,
                         std::vector<Feature>& features, StorageReport& report) {
  const Timer timer(report.seconds);
  const Sample sample = read_sample(source, features.size());
  const auto candidates = find_candidates(source, sample.counts, sample.n_rows, sample.is_all, options, features);
  const SparseColumns columns = collect_rows(sample, candidates);
  std::vector<Attempt> attempts = make_attempts(options, candidates.size());
  team.for_each(static_cast<std::int64_t>(attempts.size()), [&](std::int64_t i, int) {
    make_attempt(attempts[at(i)], features, candidates, columns, sample.counts, sample.n_rows, options);
  });
  Attempt& best = *std::min_element(attempts.begin(), attempts.end(),
                                    [](const Attempt& a, const Attempt& b) { return a.plan.cost < b.plan.cost; });
  report.n_candidates = static_cast<std::int64_t>(candidates.size());
  report.order = best.order;
  report.n_conflicts = best.plan.n_conflicts;
  if (!sample.is_all) {
    std::vector<char> is_bundled(features.size(), 0);
    for (const auto& bundle : best.plan.storage.bundles) {
      for (const std::int32_t f : bundle) is_bundled[at(f)] = 1;
    }
    // A digit of its own has no second chance.
    for (const std::int32_t f : candidates) features[at(f)].may_miss |= !is_bundled[at(f)];
  }
  return {std::move(best), sample.is_all};
}

// `wanted[f]`: the feature may be zero in most rows.
//
// A sample gives the best bundles. They are used if the sample was the whole table, or if they have
// no conflicts while the lanes are filled; otherwise bundles are found again, from all rows.
template <class View>
std::shared_ptr<BinMatrix> bin_any(Team& team, const View& view, std::vector<Feature> features,
                                   const std::vector<char>& wanted, const std::vector<double>& zero_share,
                                   const StorageOptions& options, StorageReport& report) {
  const auto source = make_source(view, features, wanted);
  const std::int64_t n_rows = view.n_rows;
  auto [best, is_all] = propose_storage(team, *source, options, features, report);
  best.plan.storage.zero_share = zero_share;
  // If zero is missing or some conflicts are allowed, all rows must be counted.
  const bool zero_is_missing = !features.empty() && features.front().missing_kind == MissingKind::zero;
  const bool may_guess = !zero_is_missing && conflicts_allowed(options, n_rows) == 0;
  if (is_all || (may_guess && best.plan.storage.loose.empty())) {
    auto result = std::make_shared<BinMatrix>(features, n_rows, best.plan.storage);
    if (result->fill(team, view, is_all ? Use::training : Use::exact_training)) return result;
  }
  const Stretches stretches(n_rows, team.n_threads());
  const EntryCounts counts = count_entries(team, *source, static_cast<std::int64_t>(features.size()), stretches);
  const auto candidates = find_candidates(*source, counts, n_rows, true, options, features);
  {
    const Timer timer(report.seconds);
    SparseColumns columns;
    if (best.plan.storage.bundles.empty()) best.max_values = 0;  // there are no bundles to find
    if (best.max_values > 0) columns = collect_rows(team, *source, candidates, counts, stretches);
    make_attempt(best, features, candidates, columns, counts, n_rows, options);
    best.plan.storage.zero_share = zero_share;
  }
  report.n_candidates = static_cast<std::int64_t>(candidates.size());
  report.n_conflicts = best.plan.n_conflicts;
  auto result = std::make_shared<BinMatrix>(std::move(features), n_rows, std::move(best.plan.storage));
  result->fill(team, view, Use::training, &counts);
  return result;
}

}  // namespace

std::shared_ptr<BinMatrix> bin_training(Team& team, const MatrixView& matrix, std::vector<Feature> features,
                                        const std::vector<double>& zero_share, const StorageOptions& options,
                                        StorageReport& report) {
  for (Feature& feature : features) feature.zero_bin = find_zero_bin(feature);
  std::vector<char> wanted(features.size(), 0);
  std::int64_t n_wanted = 0;
  for (std::size_t f = 0; f < features.size() && (options.bundle || options.sparse); ++f) {
    wanted[f] = zero_share[f] >= 1.0 - kSparseShare && !features[f].is_categorical();
    n_wanted += wanted[f];
  }
  if (n_wanted > 1) return bin_any(team, matrix, std::move(features), wanted, zero_share, options, report);
  auto result =
      std::make_shared<BinMatrix>(std::move(features), matrix.n_rows, Storage{options.share_lanes, {}, {}, zero_share});
  result->fill(team, matrix, Use::training);
  return result;
}

std::shared_ptr<BinMatrix> bin_training(Team& team, const SparseView& matrix, std::vector<Feature> features,
                                        const StorageOptions& options, StorageReport& report) {
  for (Feature& feature : features) feature.zero_bin = find_zero_bin(feature);
  const std::vector<char> wanted(features.size(), 1);
  return bin_any(team, matrix, std::move(features), wanted, {}, options, report);
}

std::shared_ptr<BinMatrix> make_like(const BinMatrix& training, std::int64_t n_rows) {
  std::vector<Feature> features;
  features.reserve(training.features().size());
  for (const Feature& from : training.features()) {
    Feature feature;
    feature.column = from.column;
    feature.n_value_bins = from.n_value_bins;
    feature.missing_kind = from.missing_kind;
    // A bundle has no code for values that were not in training; such values become sparse entries.
    feature.may_miss = from.may_miss || !(from.bundled || from.loose());
    feature.upper = from.upper;
    feature.category = from.category;
    features.push_back(std::move(feature));
  }
  Storage storage = training.storage();
  storage.share_lanes = false;  // worth it for histograms only
  return std::make_shared<BinMatrix>(std::move(features), n_rows, std::move(storage));
}

std::shared_ptr<BinMatrix> make_trainable(const BinMatrix& matrix) {
  std::vector<Feature> features = matrix.features();
  for (Feature& feature : features) feature.may_miss |= feature.has_missing;
  Storage storage = matrix.storage();
  for (auto& bundle : storage.bundles) {
    std::erase_if(bundle, [&](std::int32_t f) {
      const bool fits = features[at(f)].entries < 0;
      if (!fits) storage.loose.push_back(f);
      return !fits;
    });
  }
  std::erase_if(storage.bundles, [](const auto& bundle) { return bundle.empty(); });
  std::sort(storage.loose.begin(), storage.loose.end());
  for (Feature& feature : features) {
    feature.group = -1;
    feature.entries = -1;
    feature.bundled = feature.shared = false;
  }
  auto result = std::make_shared<BinMatrix>(std::move(features), matrix.n_rows(), std::move(storage));
  std::vector<std::uint16_t> bins(at(matrix.n_rows()));
  for (std::size_t f = 0; f < result->features().size(); ++f) {
    const Feature& feature = result->features()[f];
    if (feature.bundled || feature.loose()) continue;
    matrix.copy_column(static_cast<std::int64_t>(f), bins.data());
    result->set_column(static_cast<std::int64_t>(f), bins);
  }
  result->set_sparse(matrix.copy_sparse());
  return result;
}

}  // namespace gossamer
