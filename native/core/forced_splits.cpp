// The part of the histogram evaluator that makes a leaf start with a forced split.
#include <algorithm>

#include "core/histogram_evaluator.h"
#include "core/index.h"

namespace gossamer {

bool HistogramEvaluator::has_cells(const SearchedLeaf& leaf, std::int32_t f) const {
  if (!owns(f)) return false;
  if (!feature(f).loose()) return true;
  const std::int32_t place = sparse_->place_of[at(f)];
  const auto& alive = state(leaf.job->node).alive;
  return std::any_of(alive.begin(), alive.end(), [&](std::int32_t b) {
    const SparseRows::Block& block = sparse_->blocks[at(b)];
    return block.first <= place && place < block.first + block.n;
  });
}

// The split that a leaf must start with replaces the best one, if it is admissible.
void HistogramEvaluator::force(const SearchedLeaf& leaf, int thread, BestSplit& split) {
  const ForcedSplit& forced = search_->limits->forced[at(leaf.job->forced)];
  if (!leaf.is_searched() || !has_cells(leaf, forced.feature)) return;
  const Feature& f = feature(forced.feature);
  SearchArgs args = search_args(leaf, cells_of(leaf, forced.feature, thread), f, thread);
  args.only_threshold = forced.threshold;
  Candidate candidate;
  if (!kernels().search(args, layout(), rules_of(f), candidate)) return;
  BestSplit own;
  own.gain = candidate.gain;
  own.feature = forced.feature;
  own.threshold = candidate.threshold;
  own.missing_left = candidate.missing_left;
  own.l2 = f.l2;
  own.forced = true;
  Sums left;
  if (!complete(leaf, thread, own, left)) return;
  split = std::move(own);
  state(leaf.job->node).left = left;
}

}  // namespace gossamer
