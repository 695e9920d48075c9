#include "core/allowed_features.h"

#include <algorithm>
#include <functional>

namespace gossamer {

void AllowedFeatures::start(const SplitSearch& search, const std::vector<Searched>& where) {
  const FeatureLimits* const limits = search.limits.get();
  const ColumnFractions& fractions = search.fractions;
  const bool all = limits == nullptr && std::min({fractions.by_tree, fractions.by_level, fractions.by_node}) >= 1.0;
  if (all && takes_all_ && where == where_) return;  // a hundred thousand features need not be listed again
  takes_all_ = false;                                // until everything below has succeeded
  where_ = where;
  columns_ =
      std::make_unique<ColumnSampler>(static_cast<std::int64_t>(where_.size()), search.fractions, search.column_key,
                                      limits != nullptr ? limits->sampling_weights : std::vector<double>{});
  groups_ = limits != nullptr && !limits->groups.empty() ? &limits->groups : nullptr;
  by_node_ = search.fractions.by_level < 1.0 || search.fractions.by_node < 1.0 || groups_ != nullptr;
  tree_ = flags_of(columns_->tree_features());
  all_ = !by_node_ && std::all_of(tree_.histogram.begin(), tree_.histogram.end(), [](char flag) { return flag; });
  nodes_.clear();
  takes_all_ = all;
}

AllowedFeatures::Flags AllowedFeatures::flags_of(const std::vector<std::int32_t>& features) const {
  Flags flags{std::vector<char>(where_.size(), 0), {}};
  const bool has_sorted = std::find(where_.begin(), where_.end(), Searched::sorted_column) != where_.end();
  if (has_sorted) flags.sorted_column.assign(where_.size(), 0);
  for (const std::int32_t f : features) {
    const auto i = static_cast<std::size_t>(f);
    if (where_[i] == Searched::histogram) flags.histogram[i] = 1;
    if (where_[i] == Searched::sorted_column) flags.sorted_column[i] = 1;
  }
  return flags;
}

void AllowedFeatures::draw(std::span<const LeafJob> jobs) {
  if (!by_node_) return;
  for (const LeafJob& job : jobs) {
    const auto node = static_cast<std::size_t>(job.node);
    if (nodes_.size() <= node) nodes_.resize(node + 1);
    std::function<bool(std::int32_t)> may_meet;
    if (groups_ != nullptr) may_meet = [&](std::int32_t f) { return groups_->allows(job.open, f); };
    nodes_[node] = flags_of(columns_->node_features(job.depth, job.key, may_meet));
  }
}

}  // namespace gossamer
