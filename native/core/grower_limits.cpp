// The part of the grower that knows what features may do in a tree, and at which price.
#include <algorithm>
#include <bit>

#include "core/grower.h"

namespace gossamer {
namespace {

constexpr std::int64_t kRowBlock = 8192;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void Grower::start_limits() {
  limits_ = params_->limits.get();
  costs_ = limits_ != nullptr ? limits_->costs.get() : nullptr;
  adjusts_gains_ = limits_ != nullptr && limits_->adjust_gains();
  refunds_ = costs_ != nullptr && costs_->has_coupled();
  if (refunds_) paid_ = costs_->used();
  if (limits_ == nullptr) return;
  // Its cells are needed even where the tree's sample of features leaves it out.
  for (const ForcedSplit& forced : limits_->forced) {
    const Feature& feature = matrix_->features()[at(forced.feature)];
    if (!feature.loose()) group_used_[at(feature.group)] = 1;
  }
}

// What the path to a child leaves to it.
void Grower::inherit_limits(const Leaf& parent, int side, Leaf& child) const {
  if (!limits_->groups.empty()) child.limits.open = limits_->groups.below(parent.limits.open, parent.split.feature);
  const std::int32_t forced = parent.limits.forced;
  if (forced >= 0) child.limits.forced = limits_->forced[at(forced)].children[side];
}

void Grower::start_root_limits(Leaf& root) const {
  root.limits.open = limits_->groups.all();
  if (!limits_->forced.empty()) root.limits.forced = 0;
}

// ---- costs ----

// Rows of each leaf that would pay for a feature: those of one child are counted, the other has the rest.
void Grower::count_unpaid(Team& team, const std::vector<Family>& families) {
  const std::size_t n = costs_->n_payable();
  const std::size_t n_words = costs_->n_words();
  for (const Family& family : families) {
    std::vector<std::int64_t> above(n, n_rows_);
    if (family.parent >= 0) {
      const Leaf& parent = leaves_[at(family.parent)];
      above = parent.limits.unpaid;
      const std::int32_t number = costs_->payable_of(parent.split.feature);
      if (number >= 0) above[at(number)] = 0;
    }
    // What all rows have paid need not be looked at.
    std::vector<std::uint64_t> open(n_words, 0);
    for (std::size_t k = 0; k < n; ++k) open[k / 64] |= std::uint64_t{above[k] > 0} << k % 64;
    Leaf& leaf = leaves_[at(family.built[0])];
    std::vector<std::vector<std::int64_t>> counts(at(team.n_threads()), std::vector<std::int64_t>(n, 0));
    for_blocks(team, leaf.n_rows(), kRowBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
      const RowIdx* const rows = rows_.from(leaf.begin);
      std::int64_t* const count = counts[at(thread)].data();
      for (std::int64_t i = begin; i < end; ++i) {
        const std::uint64_t* const unpaid =
            costs_->unpaid(rows != nullptr ? rows[i] : static_cast<RowIdx>(leaf.begin + i));
        for (std::size_t w = 0; w < n_words; ++w) {
          for (std::uint64_t bits = unpaid[w] & open[w]; bits != 0; bits &= bits - 1) {
            ++count[w * 64 + at(std::countr_zero(bits))];
          }
        }
      }
    });
    leaf.limits.unpaid.assign(n, 0);
    for (const auto& count : counts) {
      for (std::size_t k = 0; k < n; ++k) leaf.limits.unpaid[k] += count[k];
    }
    const std::int32_t other = family.searched(1);
    if (other < 0) continue;
    for (std::size_t k = 0; k < n; ++k) above[k] -= leaf.limits.unpaid[k];
    leaves_[at(other)].limits.unpaid = std::move(above);
  }
}

double Grower::coupled_cost(std::int32_t feature) const {
  return refunds_ && !paid_[at(feature)] ? costs_->coupled(feature) : 0.0;
}

// The gain of the children together, once costs and preferences of the feature are counted in: what is above
// the leaf's own gain and `min_gain_to_split` is scaled and charged, as in LightGBM.
double Grower::adjusted_gain(const Leaf& leaf, std::int32_t feature, double gain) const {
  const double unit = layout_.gradient_unit * layout_.gradient_unit / layout_.hessian_unit;
  const double own = own_gain(leaf);
  if (monotone_.direction_of(feature) != 0) gain = own + (gain - own) * monotone_.penalty_at(leaf.depth);
  if (limits_ == nullptr) return gain;
  const double least = own + params_->rules.min_gain_to_split / unit;
  const double factor = limits_->gain_factors.empty() ? 1.0 : limits_->gain_factors[at(feature)];
  double cost = 0.0;
  if (costs_ != nullptr) {
    cost = costs_->split() * static_cast<double>(leaf.sums.count) + coupled_cost(feature);
    const std::int32_t number = costs_->has_lazy() ? costs_->payable_of(feature) : -1;
    if (number >= 0) cost += costs_->lazy(feature) * static_cast<double>(leaf.limits.unpaid[at(number)]);
  }
  return least + (gain - least) * factor - cost / unit;
}

// ---- costs that another leaf may pay first ----

// Room for the best split on each feature whose cost is still open; the search fills it in.
void Grower::make_room_for_offers(const std::vector<Family>& families) {
  for (const Family& family : families) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t i = family.searched(side);
      if (i >= 0) leaves_[at(i)].limits.offers = std::make_unique<Split[]>(paid_.size());
    }
  }
}

// Called by many threads, each with features of its own.
void Grower::note_offer(const Leaf& leaf, const Split& split) const {
  if (coupled_cost(split.feature) > 0.0) leaf.limits.offers[at(split.feature)] = split;
}

// Offers become splits as they will be once their feature is paid for. The histogram may be gone by then.
void Grower::settle_offers(Leaf& leaf) {
  const double unit = layout_.gradient_unit * layout_.gradient_unit / layout_.hessian_unit;
  for (std::size_t f = 0; f < paid_.size(); ++f) {
    Split& offer = leaf.limits.offers[f];
    if (offer.feature < 0) continue;
    offer.gain += coupled_cost(offer.feature) / unit;
    finish_split(leaf, offer);
  }
}

// Somebody has paid for the feature: other leaves may now split on it for less.
void Grower::refund(std::int32_t feature) {
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    Leaf& leaf = leaves_[i];
    if (leaf.expanded || leaf.limits.forced >= 0 || !leaf.limits.offers) continue;
    Split& offer = leaf.limits.offers[at(feature)];
    if (offer.feature < 0) continue;
    const bool could_split = leaf.split.feature >= 0;
    if (!could_split || offer.gain > leaf.split.gain ||
        (offer.gain == leaf.split.gain && feature < leaf.split.feature)) {
      leaf.split = offer;
    }
    if (!could_split) frontier_.push_back(static_cast<std::int32_t>(i));
    offer = Split{};
  }
}

// ---- forced splits ----

bool Grower::has_cells(const Leaf& leaf, std::int32_t f) const {
  if (!matrix_->features()[at(f)].loose()) return true;
  const std::int32_t place = sparse_->place_of[at(f)];
  return std::any_of(leaf.alive.begin(), leaf.alive.end(), [&](std::int32_t b) {
    const SparseRows::Block& block = sparse_->blocks[at(b)];
    return block.first <= place && place < block.first + block.n;
  });
}

// The split that a leaf must start with takes the place of the best one. Where it is not admissible, the leaf
// is like any other.
void Grower::force(Leaf& leaf) {
  const ForcedSplit& forced = limits_->forced[at(leaf.limits.forced)];
  const Feature& feature = matrix_->features()[at(forced.feature)];
  Split split;
  if (may_split(leaf) && has_cells(leaf, forced.feature)) {
    const FeatureCells cells = cells_of(leaf, *leaf.histogram, feature, forced.feature, 0);
    SearchArgs args = search_args(leaf, cells, feature, 0);
    args.only_threshold = forced.threshold;
    Candidate candidate;
    if (kernels().search(args, layout_, rules_, candidate)) {
      split.gain = candidate.gain;
      split.feature = forced.feature;
      split.threshold = candidate.threshold;
      split.missing_left = candidate.missing_left;
      finish_split(leaf, split);
    }
  }
  if (split.feature >= 0) {
    leaf.split = split;
  } else {
    leaf.limits.forced = -1;
  }
}

}  // namespace gossamer
