#include "core/feature_costs.h"

#include <algorithm>
#include <span>

namespace gossamer {

FeatureCosts::FeatureCosts(std::int64_t n_rows, double split, std::vector<double> coupled, std::vector<double> lazy)
    : n_rows_(n_rows), split_(split), coupled_(std::move(coupled)), lazy_(std::move(lazy)), number_(lazy_.size(), -1) {
  if (std::all_of(coupled_.begin(), coupled_.end(), [](double cost) { return cost == 0.0; })) coupled_.clear();
  for (std::size_t f = 0; f < lazy_.size(); ++f) {
    if (lazy_[f] == 0.0) continue;
    number_[f] = static_cast<std::int32_t>(payable_.size());
    payable_.push_back(static_cast<std::int32_t>(f));
  }
  n_words_ = (payable_.size() + 63) / 64;
  unpaid_.grow_to(n_rows * static_cast<std::int64_t>(n_words_));
  clear();
}

void FeatureCosts::clear() {
  used_.assign(coupled_.size(), 0);
  std::fill_n(unpaid_.data(), n_rows_ * static_cast<std::int64_t>(n_words_), ~std::uint64_t{0});
}

void FeatureCosts::add_tree(Team& team, const BinMatrix& matrix, const Tree& tree) {
  if (has_coupled()) {
    for (const std::int32_t f : tree.feature) used_[static_cast<std::size_t>(f)] = 1;
  }
  if (!has_lazy()) return;
  visit_nodes(team, matrix, tree, [&](std::int32_t node, std::span<const RowIdx> rows) {
    const std::int32_t number = payable_of(tree.feature[static_cast<std::size_t>(node)]);
    if (number < 0) return;
    const std::uint64_t bit = std::uint64_t{1} << number % 64;
    std::uint64_t* const word = unpaid_.data() + number / 64;
    for (const RowIdx row : rows) word[static_cast<std::int64_t>(row * n_words_)] &= ~bit;
  });
}

}  // namespace gossamer
