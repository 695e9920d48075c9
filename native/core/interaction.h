// Groups of features that may meet on one path from the root to a leaf.
#pragma once

#include <cstdint>
#include <vector>

namespace gossamer {

// A path may use the features of one group only. Features outside all groups are never used.
class InteractionGroups {
 public:
  using Open = std::vector<std::uint64_t>;  // a bit per group: 1 if it holds every feature of a path

  InteractionGroups() = default;
  explicit InteractionGroups(const std::vector<std::vector<std::int32_t>>& groups, std::int64_t n_features)
      : n_words_((groups.size() + 63) / 64), of_feature_(static_cast<std::size_t>(n_features) * n_words_) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const std::int32_t f : groups[g]) {
        of_feature_[static_cast<std::size_t>(f) * n_words_ + g / 64] |= std::uint64_t{1} << g % 64;
      }
    }
  }

  bool empty() const { return n_words_ == 0; }
  // The groups of each feature, n_words a feature.
  const std::vector<std::uint64_t>& of_features() const { return of_feature_; }
  std::size_t n_features() const { return empty() ? 0 : of_feature_.size() / n_words_; }
  Open all() const { return Open(n_words_, ~std::uint64_t{0}); }
  // The groups that stay open below a split on the feature.
  Open below(const Open& open, std::int32_t feature) const {
    Open left = open;
    for (std::size_t w = 0; w < n_words_; ++w) left[w] &= of_feature_[static_cast<std::size_t>(feature) * n_words_ + w];
    return left;
  }
  bool allows(const Open& open, std::int32_t feature) const {
    for (std::size_t w = 0; w < n_words_; ++w) {
      if (open[w] & of_feature_[static_cast<std::size_t>(feature) * n_words_ + w]) return true;
    }
    return false;
  }

 private:
  std::size_t n_words_ = 0;
  std::vector<std::uint64_t> of_feature_;  // n_words_ per feature: the groups it is in
};

}  // namespace gossamer
