// Which features a leaf may be split on: a sample of the tree's features that the path to the leaf allows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/column_sampler.h"
#include "core/leaf_evaluator.h"

namespace gossamer {

// Where a feature's splits are searched.
enum class Searched : char { nowhere = 0, histogram = 1, sorted_column = 2 };

class AllowedFeatures {
 public:
  void start(const SplitSearch& search, const std::vector<Searched>& where);
  // Every leaf of the tree may be split on every feature that is searched somewhere.
  bool takes_all() const { return takes_all_; }
  const std::vector<std::int32_t>& tree_features() const { return columns_->tree_features(); }
  Searched where(std::int32_t feature) const { return where_[static_cast<std::size_t>(feature)]; }
  // Draws the features of leaves that are about to be searched; called from one thread.
  void draw(std::span<const LeafJob> jobs);
  bool in_histogram(std::int32_t node, std::int32_t feature) const {
    return of(node).histogram[static_cast<std::size_t>(feature)];
  }
  bool in_sorted_column(std::int32_t node, std::int32_t feature) const {
    return of(node).sorted_column[static_cast<std::size_t>(feature)];
  }
  // By feature, for histograms; nullptr: every feature.
  const char* flags(std::int32_t node) const { return all_ ? nullptr : of(node).histogram.data(); }
  const std::vector<char>& tree_sorted_columns() const { return tree_.sorted_column; }

 private:
  struct Flags {
    std::vector<char> histogram;  // by feature
    std::vector<char> sorted_column;
  };
  Flags flags_of(const std::vector<std::int32_t>& features) const;
  const Flags& of(std::int32_t node) const { return by_node_ ? nodes_[static_cast<std::size_t>(node)] : tree_; }

  std::unique_ptr<ColumnSampler> columns_;
  std::vector<Searched> where_;
  const InteractionGroups* groups_ = nullptr;  // nullptr: none
  bool takes_all_ = false;                     // no sample, and no limits
  bool by_node_ = false;                       // leaves have features of their own
  bool all_ = false;                           // every leaf is searched on every feature, in histograms
  Flags tree_;
  std::vector<Flags> nodes_;
};

}  // namespace gossamer
