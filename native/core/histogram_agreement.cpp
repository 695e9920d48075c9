// The part of the histogram evaluator by which shards agree on the best splits of all features.
#include "core/histogram_evaluator.h"
#include "core/index.h"

namespace gossamer {
namespace {

void write_split(const BestSplit& split, const Sums& left, ByteWriter& out) {
  out.put(split.feature);
  if (split.feature < 0) return;
  out.put(split.gain);
  out.put(split.threshold);
  out.put(static_cast<std::uint8_t>((split.missing_left ? 1 : 0) | (split.forced ? 2 : 0)));
  out.put(split.l2);
  out.put(left);
  out.put(static_cast<std::uint32_t>(split.goes_left.size()));
  out.put_all(split.goes_left);
}

SplitCosts::Offer read_split(ByteReader& in) {
  SplitCosts::Offer found;
  BestSplit& split = found.split;
  split.feature = in.get<std::int32_t>();
  if (split.feature < 0) return found;
  split.gain = in.get<double>();
  split.threshold = in.get<std::int32_t>();
  const auto flags = in.get<std::uint8_t>();
  split.missing_left = (flags & 1) != 0;
  split.forced = (flags & 2) != 0;
  split.l2 = in.get<double>();
  found.left = in.get<Sums>();
  split.left_count = found.left.count;
  const std::span<const std::uint8_t> goes_left = in.get_all(in.get<std::uint32_t>());
  split.goes_left.assign(goes_left.begin(), goes_left.end());
  return found;
}

}  // namespace

bool HistogramEvaluator::owns(std::int32_t f) const {
  if (data_.exchange == nullptr) return true;
  const CellShare& own = shares_[at(data_.exchange->shard())];
  if (!feature(f).loose()) return own.has_lane(feature(f).group, feature(f).lane);
  const std::int32_t place = sparse_->place_of[at(f)];
  for (const std::int32_t b : own_blocks_) {
    const SparseRows::Block& block = sparse_->blocks[at(b)];
    if (block.first <= place && place < block.first + block.n) return true;
  }
  return false;
}

// By job: the gain by which its candidate was chosen, which differs from the split's by rounding; the split; and
// offers.
Bytes HistogramEvaluator::write_splits(std::span<const LeafJob> jobs, std::span<const Found> best,
                                       std::span<const BestSplit> splits) {
  ByteWriter out;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    out.put(best[i].gain);
    out.put(best[i].split.feature);
    write_split(splits[i], state(jobs[i].node).left, out);
    for (const SplitCosts::Offer& offer : costs_.offers(jobs[i].node)) {
      if (offer.split.feature >= 0) write_split(offer.split, offer.left, out);
    }
    if (costs_.has_refunds()) write_split(BestSplit{}, Sums{}, out);
  }
  return out.take();
}

// Every shard takes the best split of all shards: a forced one, or the one that wins by the rule for ties.
void HistogramEvaluator::agree(std::span<const LeafJob> jobs, std::span<const Found> best,
                               std::span<BestSplit> splits) {
  std::vector<Bytes> parts(shares_.size(), write_splits(jobs, best, splits));
  const Received received = data_.exchange->swap(std::move(parts));
  std::vector<ByteReader> readers(received.parts.begin(), received.parts.end());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    NodeState& node = state(jobs[i].node);
    Found winner;
    splits[i] = BestSplit{};
    for (ByteReader& in : readers) {
      const auto gain = in.get<double>();
      const auto feature = in.get<std::int32_t>();
      SplitCosts::Offer found = read_split(in);
      if (found.split.forced || (!splits[i].forced && feature >= 0 && winner.loses_to(gain, feature))) {
        winner.gain = gain;
        winner.split.feature = feature;
        splits[i] = std::move(found.split);
        node.left = found.left;
      }
      if (!costs_.has_refunds()) continue;
      for (SplitCosts::Offer offer = read_split(in); offer.split.feature >= 0; offer = read_split(in)) {
        const std::size_t f = at(offer.split.feature);
        costs_.offers(jobs[i].node)[f] = std::move(offer);
      }
    }
    node.gain = splits[i].gain;
    node.feature = splits[i].feature;
  }
}

}  // namespace gossamer
