#include "core/round_grower.h"

#include <algorithm>
#include <limits>

#include "core/index.h"
#include "core/timer.h"

namespace gossamer {
namespace {

// With more rows a join costs little compared with the work between two joins.
constexpr std::int64_t kMaxRowsSideBySide = 500000;

// How many times as fast as alone three threads or more grow a tree together. Measured: 2.6 with 16 threads and 70,000
// rows, 0.2 with 8 threads and 15,000 rows, where joins take most of the time.
double speedup(std::int64_t n_rows, std::int64_t n_threads) {
  constexpr double kRowsPerThread = 16384.0;
  return 0.6 * std::min(static_cast<double>(n_threads), static_cast<double>(n_rows) / kRowsPerThread);
}

// Whether features that one tree has paid for are free for the next one.
bool remembers_costs(const GrowParams& params) {
  const FeatureLimits* const limits = params.search.limits.get();
  return limits != nullptr && limits->costs && limits->costs->remembers();
}

// Several rounds of a small table. Where cores share no cache, its threads may wait for each other longer than they
// work. Trees do not depend on threads: the first rounds are timed on all threads and on one, in turns, and the others
// run as is faster.
class FasterTeam {
 public:
  FasterTeam(Team& all, std::int64_t n_rounds)
      : all_(all), alone_(1), tries_(all.n_threads() > 1 && n_rounds >= kLeastRounds) {}

  // Calls round(team).
  template <class Round>
  void run(std::int64_t number, const Round& round) {
    const bool is_timed = tries_ && number < kTimedRounds;
    const bool on_all = is_timed ? number % 2 == 0 : seconds_[0] <= seconds_[1];
    double seconds = 0.0;
    {
      const Timer timer(seconds, is_timed);
      round(on_all ? all_ : alone_);
    }
    if (is_timed) seconds_[on_all ? 0 : 1] = std::min(seconds, seconds_[on_all ? 0 : 1]);
  }

 private:
  static constexpr std::int64_t kTimedRounds = 4;
  static constexpr std::int64_t kLeastRounds = 4 * kTimedRounds;

  Team& all_;
  Team alone_;
  bool tries_;
  // Of the fastest round on all threads, and on one.
  double seconds_[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
};

}  // namespace

RoundGrower::RoundGrower(GrowData data, bool vector_leaves) : data_(std::move(data)), vector_leaves_(vector_leaves) {
  grower(0);
}

Grower& RoundGrower::grower(std::size_t i) {
  while (growers_.size() <= i) growers_.push_back(std::make_unique<Grower>(data_, vector_leaves_));
  return *growers_[i];
}

std::vector<Tree> RoundGrower::grow(Team& team, const float* gradient, const float* hessian, const RowIdx* rows,
                                    std::int64_t n_rows, std::span<const GrowParams> params, double* score,
                                    const TreeLabels& labels, const RawTable* raw, bool adds_to_others) {
  if (adds_to_others && raw == nullptr && copies_sample(rows, n_rows, params)) {
    return grow_on_copy(team, gradient, hessian, rows, n_rows, params, score);
  }
  std::vector<Tree> trees(vector_leaves_ ? 1 : params.size());
  if (vector_leaves_) {
    trees[0] = growers_[0]->grow(team, gradient, hessian, rows, n_rows, params, score, labels, raw, adds_to_others);
    return trees;
  }
  const auto n_outputs = static_cast<std::int64_t>(params.size());
  const std::int64_t n_threads = team.n_threads();
  const std::int64_t n_all = data_.matrix->n_rows();
  const bool remembers = remembers_costs(params[0]);
  const auto hessian_of = [&](std::int64_t k) { return hessian != nullptr ? hessian + k * n_all : nullptr; };
  const auto grow_one = [&](Grower& grower, Team& own, std::int64_t k, const GrowParams& p, SharedRoot* root) {
    const std::int64_t first = k * n_all;
    const float* const h = hessian_of(k);
    if (p.by_value.proposals) p.by_value.proposals->propose(own, h, rows, n_rows);
    const float* const label = labels.label == nullptr || labels.one_label ? labels.label : labels.label + first;
    double* const scores = score != nullptr ? score + first : nullptr;
    Tree& tree = trees[at(k)];
    tree = grower.grow(own, gradient + first, h, rows, n_rows, p, scores, label, raw, adds_to_others, root);
    if (remembers) p.search.limits->costs->add_tree(own, *data_.matrix, tree);
  };
  // Shards exchange one tree after another, all in the same order; pages pass for one tree at a time.
  const bool are_few_rows = n_rows <= kMaxRowsSideBySide && !remembers && !params[0].by_value.proposals &&
                            data_.exchange == nullptr && data_.pages == nullptr && data_.matrix->pages() == nullptr;
  // As many trees at a time as keep all threads busy: what they share takes memory.
  const std::int64_t n_each = SharedRoots::kTrees * ((n_threads + SharedRoots::kTrees - 1) / SharedRoots::kTrees);
  const bool share = are_few_rows && rows == nullptr && raw == nullptr && may_share_roots(params, n_each);
  const auto grow_some = [&](std::int64_t begin, std::int64_t end) {
    const auto root_of = [&](std::int64_t k) { return share ? &roots_[k - begin] : nullptr; };
    const std::int64_t n_over = (end - begin) % n_threads;
    const bool over_too = 2 * n_over > n_threads ||  // most threads are busy then
                          (n_threads > 2 && static_cast<double>(n_over) > speedup(n_rows, n_threads));
    const bool side_by_side = are_few_rows && n_threads > 1;
    const std::int64_t n_beside = !side_by_side ? 0 : end - begin - (over_too ? 0 : n_over);
    if (n_beside > 0) {
      grower(at(n_threads) - 1);
      team.for_each(n_beside, [&](std::int64_t i, int thread) {
        Team alone(1);
        GrowParams own = params[at(begin + i)];
        own.search.max_histogram_bytes /= n_threads;
        grow_one(*growers_[at(thread)], alone, begin + i, own, root_of(begin + i));
      });
    }
    for (std::int64_t k = begin + n_beside; k < end; ++k) grow_one(*growers_[0], team, k, params[at(k)], root_of(k));
  };
  if (!share) grow_some(0, n_outputs);
  for (std::int64_t begin = 0; share && begin < n_outputs; begin += n_each) {
    const std::int64_t end = std::min(begin + n_each, n_outputs);
    roots_.start(team, data_, gradient + begin * n_all, hessian_of(begin), end - begin);
    grow_some(begin, end);
  }
  return trees;
}

bool RoundGrower::copies_sample(const RowIdx* rows, std::int64_t n_rows, std::span<const GrowParams> params) const {
  constexpr std::int64_t kLeastRows = 16384;
  constexpr std::int64_t kTableRowsPerRow = 3;  // copies of more rows cost as much as they save
  const BinMatrix& matrix = *data_.matrix;
  const bool is_small = n_rows >= kLeastRows && kTableRowsPerRow * n_rows <= matrix.n_rows();
  const bool has_lanes = data_.pages == nullptr && matrix.pages() == nullptr && matrix.storage().loose.empty();
  if (rows == nullptr || !is_small || !has_lanes || data_.exchange != nullptr || !matrix.is_trainable()) return false;
  return std::all_of(params.begin(), params.end(), [&](const GrowParams& own) {
    const FeatureLimits* const limits = own.search.limits.get();
    return own.search.copies_samples && growers_[0]->takes_source(own) && (limits == nullptr || !limits->costs);
  });
}

std::vector<Tree> RoundGrower::grow_on_copy(Team& team, const float* gradient, const float* hessian, const RowIdx* rows,
                                            std::int64_t n_rows, std::span<const GrowParams> params, double* score) {
  const std::int64_t n_all = data_.matrix->n_rows();
  const auto n_outputs = static_cast<std::int64_t>(params.size());
  if (!sample_.grower) {
    sample_.matrix = std::make_shared<BinMatrix>(data_.matrix->features(), 0, data_.matrix->storage());
    sample_.grower = std::make_unique<RoundGrower>(GrowData{sample_.matrix, nullptr, nullptr, true});
  }
  data_.matrix->make_columns(team);  // the trees are added to all rows
  sample_.matrix->take_sample(team, *data_.matrix, {rows, at(n_rows)});
  const std::int64_t size = n_outputs * (n_rows + n_rows / 16);  // the next sample may be a little larger
  sample_.gradient.grow_to(size);
  if (hessian != nullptr) sample_.hessian.grow_to(size);
  for_blocks(team, n_rows, 8192, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    const auto take = [&](const float* from, float* to) {
      for (std::int64_t i = begin; i < end; ++i) to[i] = from[rows[i]];
    };
    for (std::int64_t k = 0; k < n_outputs; ++k) {
      take(gradient + k * n_all, sample_.gradient.data() + k * n_rows);
      if (hessian != nullptr) take(hessian + k * n_all, sample_.hessian.data() + k * n_rows);
    }
  });
  const float* const h = hessian != nullptr ? sample_.hessian.data() : nullptr;
  auto trees = sample_.grower->grow(team, sample_.gradient.data(), h, nullptr, n_rows, params, nullptr);
  for (std::int64_t k = 0; k < n_outputs; ++k) {
    const Tree& tree = trees[at(k)];
    double* const scores = score + k * n_all;
    if (tree.n_leaves() < 2 || add_tiles(team, *data_.matrix, tree, scores)) continue;
    add_tree_to_scores(team, *data_.matrix, tree, nullptr, n_all, scores);
  }
  return trees;
}

bool RoundGrower::may_share_roots(std::span<const GrowParams> params, std::int64_t n_each) const {
  constexpr std::int64_t kShareOfBytes = 8;  // the other histograms need memory, too
  if (std::ssize(params) < SharedRoots::kLeastTrees || !SharedRoots::fits(*data_.matrix)) return false;
  const std::int64_t n_bytes = n_each * 8 * Histogram::words_of(data_.matrix->n_cells(), true, false);
  return std::all_of(params.begin(), params.end(), [&](const GrowParams& own) {
    return growers_[0]->takes_source(own) && own.search.fractions.by_tree >= 1.0 &&
           n_bytes <= own.search.max_histogram_bytes / kShareOfBytes;
  });
}

std::vector<Tree> RoundGrower::grow_rounds(Team& team, std::int64_t n_rounds, const RowLoss& loss,
                                           const RowTargets& targets, float* gradient, float* hessian,
                                           std::span<const GrowParams> params, double* score, double largest) {
  const GradientSource source{loss, targets, score, hessian != nullptr};
  const bool rounds_at_once =
      loss.n_outputs == 1 && !remembers_costs(params[0]) && growers_[0]->takes_source(params[0]);
  std::vector<Tree> trees;
  bool goes_on = true;
  const auto add = [&](Tree tree) {
    goes_on = goes_on && tree.n_leaves() > 1 && tree.largest_value() <= largest;
    trees.push_back(std::move(tree));
  };
  FasterTeam teams(team, n_rounds);
  for (std::int64_t i = 0; i < n_rounds && goes_on; ++i) {
    teams.run(i, [&](Team& own) {
      if (rounds_at_once) {
        add(growers_[0]->grow(own, source, params[0], score));
        return;
      }
      loss.fill(own, targets, score, gradient, hessian);
      for (Tree& tree : grow(own, gradient, hessian, nullptr, targets.n_rows, params, score)) add(std::move(tree));
    });
  }
  return trees;
}

GrowStats RoundGrower::stats() const {
  GrowStats total = roots_.stats();
  for (const auto& grower : growers_) total += grower->stats();
  if (sample_.grower) total += sample_.grower->stats();
  return total;
}

}  // namespace gossamer
