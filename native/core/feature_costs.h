// Costs of splits and of reading features (cost-effective gradient boosting), and what has been paid.
//
//   split    for every row of the leaf that is split
//   coupled  of a feature, until a split of the model has used it
//   lazy     of a feature, for every row of the leaf that has not passed a split on it before
//
// What has been paid follows from the trees of the model and the training rows alone. Rows outside a
// round's sample pass its trees as well.
#pragma once

#include <cstdint>
#include <vector>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/tree.h"

namespace gossamer {

class FeatureCosts {
 public:
  // `coupled` and `lazy` have a cost for every feature, or are empty.
  FeatureCosts(std::int64_t n_rows, double split, std::vector<double> coupled, std::vector<double> lazy);

  std::int64_t n_rows() const { return n_rows_; }
  double split() const { return split_; }
  bool has_coupled() const { return !coupled_.empty(); }
  double coupled(std::int32_t feature) const {
    return has_coupled() ? coupled_[static_cast<std::size_t>(feature)] : 0.0;
  }
  const std::vector<double>& all_coupled() const { return coupled_; }
  const std::vector<double>& all_lazy() const { return lazy_; }
  const std::vector<char>& used() const { return used_; }

  // The number of a feature with a lazy cost; -1: it has none.
  bool has_lazy() const { return !payable_.empty(); }
  std::size_t n_payable() const { return payable_.size(); }
  std::int32_t payable_of(std::int32_t feature) const { return number_[static_cast<std::size_t>(feature)]; }
  double lazy(std::int32_t feature) const { return lazy_[static_cast<std::size_t>(feature)]; }
  // Bits of the features that a row has not paid for.
  std::size_t n_words() const { return n_words_; }
  const std::uint64_t* unpaid(RowIdx row) const { return unpaid_.data() + static_cast<std::int64_t>(row * n_words_); }

  // Whether one tree's splits change the costs of the next tree.
  bool remembers() const { return has_coupled() || has_lazy(); }
  void clear();
  // The feature is used by a tree that is not known here: its coupled cost has been paid.
  void use(std::int32_t feature) {
    if (has_coupled()) used_[static_cast<std::size_t>(feature)] = 1;
  }
  void add_tree(Team& team, const BinMatrix& matrix, const Tree& tree);

 private:
  std::int64_t n_rows_;
  double split_;
  std::vector<double> coupled_;
  std::vector<double> lazy_;
  std::vector<std::int32_t> payable_;  // features with a lazy cost
  std::vector<std::int32_t> number_;   // by feature
  std::size_t n_words_ = 0;
  std::vector<char> used_;  // by feature: some tree splits on it
  Buffer<std::uint64_t> unpaid_;
};

}  // namespace gossamer
