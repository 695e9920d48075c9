#include "core/split_costs.h"

#include <algorithm>
#include <bit>

namespace gossamer {
namespace {

constexpr std::int64_t kRowBlock = 8192;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void SplitCosts::start(const TreeTask& task, const CellLayout& layout, Exchange* exchange) {
  task_ = task;
  exchange_ = exchange;
  const GrowParams& params = task.params[0];
  limits_ = params.search.limits.get();
  costs_ = limits_ != nullptr ? limits_->costs.get() : nullptr;
  const auto& direction = params.monotone.direction;
  const bool penalised = params.monotone.penalty > 0.0 &&
                         std::any_of(direction.begin(), direction.end(), [](std::int8_t d) { return d != 0; });
  adjusts_gains_ = penalised || (limits_ != nullptr && limits_->adjust_gains());
  refunds_ = costs_ != nullptr && costs_->has_coupled();
  gain_unit_ = layout.gradient_unit * layout.gradient_unit / layout.hessian_unit;
  if (refunds_) paid_ = costs_->used();
  n_rows_ = exchange != nullptr && costs_ != nullptr ? exchange->sum(task.n_rows) : task.n_rows;
  nodes_.clear();
}

SplitCosts::NodeCosts& SplitCosts::at(std::int32_t node) {
  if (nodes_.size() <= index(node)) nodes_.resize(index(node) + 1);
  return nodes_[index(node)];
}

void SplitCosts::split_on(std::int32_t node, std::int32_t feature) {
  if (costs_ != nullptr) at(node).split_feature = feature;
}

void SplitCosts::prepare(Team& team, std::span<const LeafJob> jobs, const std::vector<char>& counted) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (costs_->has_lazy() && counted[i]) {
      const bool next = i + 1 < jobs.size() && !counted[i + 1] && jobs[i + 1].parent == jobs[i].parent;
      const bool before = i > 0 && !counted[i - 1] && jobs[i - 1].parent == jobs[i].parent;
      const LeafJob* const sibling = jobs[i].parent < 0 ? nullptr
                                     : next             ? &jobs[i + 1]
                                     : before           ? &jobs[i - 1]
                                                        : nullptr;
      count_unpaid(team, jobs[i], sibling);
    }
    if (refunds_) at(jobs[i].node).offers = std::make_unique<Offer[]>(paid_.size());
  }
}

// The rows of `job` are counted; the sibling has the parent's rows minus these.
void SplitCosts::count_unpaid(Team& team, const LeafJob& job, const LeafJob* sibling) {
  const std::size_t n = costs_->n_payable();
  const std::size_t n_words = costs_->n_words();
  std::vector<std::int64_t> above(n, n_rows_);
  if (job.parent >= 0) {
    const NodeCosts& parent = at(job.parent);
    above = parent.unpaid;
    const std::int32_t number = costs_->payable_of(parent.split_feature);
    if (number >= 0) above[index(number)] = 0;
  }
  // Features that all rows have paid for can be skipped.
  std::vector<std::uint64_t> open(n_words, 0);
  for (std::size_t k = 0; k < n; ++k) open[k / 64] |= std::uint64_t{above[k] > 0} << k % 64;
  std::vector<std::vector<std::uint64_t>> counts(index(team.n_threads()), std::vector<std::uint64_t>(n, 0));
  const RowIdx* const rows = task_.leaf_rows->from(job.rows.begin);
  for_blocks(team, job.rows.end - job.rows.begin, kRowBlock,
             [&](std::int64_t begin, std::int64_t end, std::int64_t, int thread) {
               std::uint64_t* const count = counts[index(thread)].data();
               for (std::int64_t i = begin; i < end; ++i) {
                 const auto row = rows != nullptr ? rows[i] : static_cast<RowIdx>(job.rows.begin + i);
                 const std::uint64_t* const unpaid = costs_->unpaid(row);
                 for (std::size_t w = 0; w < n_words; ++w) {
                   for (std::uint64_t bits = unpaid[w] & open[w]; bits != 0; bits &= bits - 1) {
                     ++count[w * 64 + index(std::countr_zero(bits))];
                   }
                 }
               }
             });
  std::vector<std::uint64_t> total(n, 0);
  for (const auto& count : counts) {
    for (std::size_t k = 0; k < n; ++k) total[k] += count[k];
  }
  if (exchange_ != nullptr) {
    const std::span<std::uint64_t> part(total);
    exchange_->add(std::span(&part, 1));
  }
  at(job.node).unpaid.assign(total.begin(), total.end());
  if (sibling == nullptr) return;
  for (std::size_t k = 0; k < n; ++k) above[k] -= static_cast<std::int64_t>(total[k]);
  at(sibling->node).unpaid = std::move(above);
}

double SplitCosts::coupled_cost(std::int32_t feature) const {
  return refunds_ && !paid_[index(feature)] ? costs_->coupled(feature) : 0.0;
}

// The part of the gain above the leaf's own gain and `min_gain_to_split` is scaled and charged, as in LightGBM.
double SplitCosts::adjusted(const LeafJob& job, std::int64_t n_rows, double own, std::int32_t feature,
                            double gain) const {
  const Monotone& monotone = *task_.monotone;
  if (monotone.direction_of(feature) != 0) gain = own + (gain - own) * monotone.penalty_at(job.depth);
  if (limits_ == nullptr) return gain;
  const double least = own + task_.params[0].search.rules.min_gain_to_split / gain_unit_;
  const double factor = limits_->gain_factors.empty() ? 1.0 : limits_->gain_factors[index(feature)];
  double cost = 0.0;
  if (costs_ != nullptr) {
    cost = costs_->split() * static_cast<double>(n_rows) + coupled_cost(feature);
    const std::int32_t number = costs_->has_lazy() ? costs_->payable_of(feature) : -1;
    if (number >= 0) {
      cost += costs_->lazy(feature) * static_cast<double>(nodes_[index(job.node)].unpaid[index(number)]);
    }
  }
  return least + (gain - least) * factor - cost / gain_unit_;
}

// ---- offers ----

void SplitCosts::note(std::int32_t node, const BestSplit& split) {
  if (coupled_cost(split.feature) > 0.0) nodes_[index(node)].offers[index(split.feature)].split = split;
}

std::span<SplitCosts::Offer> SplitCosts::offers(std::int32_t node) {
  if (!refunds_ || !at(node).offers) return {};
  return {at(node).offers.get(), paid_.size()};
}

std::vector<std::pair<std::int32_t, SplitCosts::Offer>> SplitCosts::take_offers(std::int32_t feature) {
  std::vector<std::pair<std::int32_t, Offer>> taken;
  if (!refunds_) return taken;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].offers) continue;
    Offer& offer = nodes_[i].offers[index(feature)];
    if (offer.split.feature >= 0) taken.emplace_back(static_cast<std::int32_t>(i), std::exchange(offer, Offer{}));
  }
  return taken;
}

}  // namespace gossamer
