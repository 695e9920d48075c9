// Best splits from sorted columns: exact splits, or local proposals. Features whose bins hold one value each stay in
// histograms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/histogram_evaluator.h"
#include "core/sorted_lists.h"

namespace gossamer {

class SortedEvaluator : public HistogramEvaluator {
 public:
  explicit SortedEvaluator(GrowData data);

  RowSplitter splitter(std::int32_t node, RowRange rows, const BestSplit& split) override;
  void rows_were_split(Team& team, std::span<const SplitNode> nodes) override;
  void clear() override;
  const std::vector<Feature>& box_features() const override { return box_features_; }
  bool has_values() const override { return true; }
  bool takes_bits(const GrowParams&) const override { return false; }

 protected:
  void start_sources(Team& team) override;
  Searched where(std::int32_t feature) const override;
  bool wants_fine_gradients() const override { return true; }
  void search_sources(Team& team, std::span<const SearchedLeaf> leaves, std::span<Found> best) override;
  void finish_split(const SearchedLeaf& leaf, int thread, BestSplit& split, Sums& left) override;

 private:
  // Sums of the rows of a leaf without an entry in a sorted column, and of missing rows.
  struct Unlisted {
    Sums rest;
    Sums missing;
  };

  const SortedTable& table() const { return *task_.params[0].by_value.sorted; }
  bool is_listed(std::int32_t feature) const { return table().place_of[static_cast<std::size_t>(feature)] >= 0; }
  std::vector<SortedLists::EntryRange>& ranges(std::int32_t node);
  void keep_proposals(Team& team);
  SortedSearchArgs sorted_args(std::size_t place, const SortedLists::EntryRange& range, std::int64_t first,
                               std::int64_t n) const;
  Unlisted unlisted(std::int32_t node, const Sums& sums, std::size_t place);
  void search_column(const SearchedLeaf& leaf, std::int32_t place, int thread, Found& best);
  void finish_column(const SearchedLeaf& leaf, BestSplit& split, Sums& left);
  void set_value(const FeatureCells& cells, BestSplit& split) const;

  SortedLists lists_;
  std::vector<std::vector<SortedLists::EntryRange>> ranges_;  // by node: its entries in each sorted column
  std::vector<char> listed_split_;                            // by node: its split is on a sorted column
  Buffer<std::uint64_t> half_values_;  // by row, see SortedSearchArgs; empty: values are too wide
  std::vector<Feature> box_features_;  // features for monotone constraints: places instead of bins
  const SortedTable* boxes_of_ = nullptr;
};

}  // namespace gossamer
