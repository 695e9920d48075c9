// The part of the histogram evaluator by which shards elect the features whose cells they add up.
//
// Every shard searches the histograms of its own rows, and proposes the top_k features of each leaf that gain most
// there. The 2 * top_k features with the most votes are elected: their cells alone are exchanged and searched. A
// feature that no shard finds among its best is missed, so that trees may differ from those without a vote.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/histogram_evaluator.h"
#include "core/index.h"

namespace gossamer {
namespace {

constexpr double kNoGain = -1.0e300;

struct Votes {
  std::int32_t feature = 0;
  int n = 0;
  double gain = 0.0;  // sum over the shards that voted

  bool comes_before(const Votes& other) const {
    if (n != other.n) return n > other.n;
    return gain != other.gain ? gain > other.gain : feature < other.feature;
  }
};

// The features of largest gain, and their gains.
void write_proposals(const std::vector<double>& gains, std::int32_t top_k, ByteWriter& out) {
  std::vector<Votes> found;
  for (std::size_t f = 0; f < gains.size(); ++f) {
    if (gains[f] > 0.0) found.push_back({static_cast<std::int32_t>(f), 1, gains[f]});
  }
  const std::size_t n = std::min(at(top_k), found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(n), found.end(),
                    [](const Votes& a, const Votes& b) { return a.comes_before(b); });
  out.put(static_cast<std::uint32_t>(n));
  for (std::size_t i = 0; i < n; ++i) {
    out.put(found[i].feature);
    out.put(found[i].gain);
  }
}

// Shards are read in their order, so that all of them get the same sums.
std::vector<char> count_votes(std::span<ByteReader> readers, std::size_t n_features, std::int32_t top_k) {
  std::vector<Votes> votes(n_features);
  for (std::size_t f = 0; f < n_features; ++f) votes[f].feature = static_cast<std::int32_t>(f);
  for (ByteReader& in : readers) {
    for (auto left = in.get<std::uint32_t>(); left > 0; --left) {
      const auto f = in.get<std::int32_t>();
      if (f < 0 || at(f) >= n_features) throw std::runtime_error("another shard votes for an unknown feature");
      votes[at(f)].n += 1;
      votes[at(f)].gain += in.get<double>();
    }
  }
  std::sort(votes.begin(), votes.end(), [](const Votes& a, const Votes& b) { return a.comes_before(b); });
  std::vector<char> elected(n_features, 0);
  for (std::size_t i = 0; i < std::min(2 * at(top_k), n_features) && votes[i].n > 0; ++i) {
    elected[at(votes[i].feature)] = 1;
  }
  return elected;
}

}  // namespace

std::vector<std::unique_ptr<Histogram>> HistogramEvaluator::search_elected(Team& team, std::span<const LeafJob> jobs,
                                                                           std::vector<Family>& families,
                                                                           std::span<SearchedLeaf> leaves,
                                                                           std::span<Found> best) {
  const std::vector<std::vector<char>> elected = elect(jobs, own_gains(team, jobs, families, leaves));
  const auto own = at(data_.exchange->shard());
  std::vector<std::unique_ptr<Histogram>> histograms;
  std::vector<BuiltHistogram> added;
  std::vector<CellShare> shares;  // by leaf and shard
  std::vector<Family> alone;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!leaves[i].is_searched()) continue;
    const std::vector<CellShare> cells = elected_cells(elected[i]);
    histograms.push_back(copy_cells(*leaves[i].histogram, cells));
    leaves[i].histogram = histograms.back().get();
    leaves[i].elected = elected[i].data();
    added.push_back({histograms.back().get(), jobs[i].rows, {}});
    Family family;
    family.jobs[0] = i;
    family.alive = cells[own].blocks;
    alone.push_back(std::move(family));
    shares.insert(shares.end(), cells.begin(), cells.end());
  }
  exchange_cells(team, shape_, shares, added, *data_.exchange);
  search(team, leaves, alone, &shares_[own], best);
  for (SearchedLeaf& leaf : leaves) leaf.elected = nullptr;
  return histograms;
}

// The gain of each leaf's features in this shard's rows, above the gain of the unsplit leaf. Histograms of larger
// children are complete afterwards.
std::vector<std::vector<double>> HistogramEvaluator::own_gains(Team& team, std::span<const LeafJob> jobs,
                                                               std::vector<Family>& families,
                                                               std::span<const SearchedLeaf> leaves) {
  std::vector<SearchedLeaf> own(leaves.begin(), leaves.end());
  std::vector<std::vector<double>> gains(jobs.size());
  for (const Family& family : families) {
    for (std::size_t side = 0; side < 2; ++side) {
      if (family.jobs[side] == kNone) continue;
      SearchedLeaf& leaf = own[family.jobs[side]];
      NodeState& node = state(leaf.job->node);
      if (side == 1 && family.subtracts) {
        node.own = state(family.parent).own - state(own[family.jobs[0]].job->node).own;
      } else {
        node.own = lane_sums(*leaf.histogram);
      }
      leaf.sums = node.own;
      leaf.own_gain = own_gain(*leaf.job, leaf.sums);
      gains[family.jobs[side]].assign(data_.matrix->features().size(), kNoGain);
      leaf.gains = gains[family.jobs[side]].data();
    }
  }
  // A shard has its share of a leaf's rows, and asks for no more than its share of the smallest leaf.
  const SplitRules whole = rules_;
  rules_.min_data = std::ceil(rules_.min_data / data_.exchange->n_shards());
  rules_.min_sum_hessian /= data_.exchange->n_shards();
  rules_.min_data_per_group /= data_.exchange->n_shards();
  std::vector<Found> none(jobs.size());
  search(team, own, families, nullptr, none);
  rules_ = whole;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (double& gain : gains[i]) gain -= own[i].own_gain;
  }
  return gains;
}

// For each leaf: a flag for each feature.
std::vector<std::vector<char>> HistogramEvaluator::elect(std::span<const LeafJob> jobs,
                                                         const std::vector<std::vector<double>>& gains) {
  ByteWriter out;
  for (const std::vector<double>& own : gains) write_proposals(own, data_.exchange->top_k(), out);
  std::vector<Bytes> parts(shares_.size(), out.take());
  const Received received = data_.exchange->swap(std::move(parts));
  std::vector<ByteReader> readers(received.parts.begin(), received.parts.end());
  std::vector<std::vector<char>> elected;
  for (const LeafJob& job : jobs) {
    elected.push_back(count_votes(readers, data_.matrix->features().size(), data_.exchange->top_k()));
    if (job.forced >= 0) elected.back()[at(search_->limits->forced[at(job.forced)].feature)] = 1;
  }
  return elected;
}

// What each shard owns of the lanes and blocks that have an elected feature.
std::vector<CellShare> HistogramEvaluator::elected_cells(const std::vector<char>& elected) const {
  const auto& groups = data_.matrix->groups();
  const auto has_lane = [&](std::int32_t group, std::int32_t lane) {
    for (const Digit& digit : groups[at(group)].lanes[at(lane)].digits) {
      for (const std::int32_t f : digit.features) {
        if (elected[at(f)]) return true;
      }
    }
    return false;
  };
  const auto has_block = [&](const SparseRows::Block& block) {
    const auto first = sparse_->features.begin() + block.first;
    return std::any_of(first, first + block.n, [&](std::int32_t f) { return elected[at(f)]; });
  };
  std::vector<CellShare> cells;
  for (const CellShare& share : shares_) {
    CellShare own;
    for (const CellShare::Lanes& lanes : share.lanes) {
      for (std::int32_t lane = lanes.first; lane < lanes.first + lanes.n; ++lane) {
        if (has_lane(lanes.group, lane)) own.lanes.push_back({lanes.group, lane, 1});
      }
    }
    for (const std::int32_t b : share.blocks) {
      if (has_block(sparse_->blocks[at(b)])) own.blocks.push_back(b);
    }
    cells.push_back(std::move(own));
  }
  return cells;
}

// A histogram with these cells alone.
std::unique_ptr<Histogram> HistogramEvaluator::copy_cells(Histogram& from, std::span<const CellShare> shares) {
  std::unique_ptr<Histogram> to = acquire(from.large);
  const auto copy = [&](CellRange range) {
    clear_range(*to, range, shape_.n_cells, layout());
    add_range(from, range, shape_.n_cells, layout(), *to);
  };
  for (const CellShare& share : shares) {
    for (const CellShare::Lanes& lanes : share.lanes) {
      const Group& group = data_.matrix->groups()[at(lanes.group)];
      const std::int64_t first = group.lane_begin(lanes.first);
      copy({group.first_cell + first, group.lane_begin(lanes.first + lanes.n) - first});
    }
    for (const std::int32_t b : share.blocks) {
      const SparseRows::Block& block = sparse_->blocks[at(b)];
      if (shape_.is_heavy(block)) {
        copy(shape_.sparse_range(block));
      } else {
        const std::int64_t first = shape_.light_word(block);
        std::copy_n(from.light.data() + first, block.n_cells * shape_.words_per_cell(), to->light.data() + first);
      }
    }
  }
  return to;
}

// The sums of all rows of a histogram: every row is in one cell of each lane.
Sums HistogramEvaluator::lane_sums(Histogram& histogram) const {
  const auto used = std::find(shape_.group_used.begin(), shape_.group_used.end(), char{1});
  const Group& group = data_.matrix->groups()[at(used - shape_.group_used.begin())];
  const std::int64_t first = group.first_cell + group.lane_begin(0);
  FeatureCells cells;
  if (histogram.large) {
    cells.large = histogram.sums(shape_.n_cells).offset(first);
  } else {
    cells.cells = histogram.cells(first, layout());
  }
  return sum_bins(cells, 0, group.lane_begin(1) - group.lane_begin(0), layout());
}

}  // namespace gossamer
