// Trees grown on shards of the rows, or on pages of them, are the same as from one evaluator on all rows.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <memory>
#include <numeric>
#include <thread>

#include "core/grower.h"
#include "sparse_table.h"

namespace gossamer::tests {
namespace {

// ---- an exchange between threads of this process ----

class Hub {
 public:
  explicit Hub(int n, std::int32_t top_k = 0)
      : n_(n), top_k_(top_k), barrier_(n), words_(at(n)), ints_(at(n)), doubles_(at(n)), parts_(at(n)) {}

  // Every shard sees what all of them brought; none goes on while another one reads.
  template <class Parts, class Read>
  void meet(std::vector<Parts>& all, int shard, Parts own, const Read& read) {
    all[at(shard)] = own;
    barrier_.arrive_and_wait();
    read();
    barrier_.arrive_and_wait();
  }
  // A shard that has failed must not keep the others waiting.
  void leave() { barrier_.arrive_and_drop(); }

  class Port : public Exchange {
   public:
    Port(Hub& hub, int shard) : hub_(hub), shard_(shard) {}
    std::int32_t n_shards() const override { return hub_.n_; }
    std::int32_t shard() const override { return shard_; }
    std::int32_t top_k() const override { return hub_.top_k_; }
    Received swap(std::vector<Bytes> parts) override {
      const auto own = std::make_shared<std::vector<Bytes>>();
      hub_.meet(hub_.parts_, shard_, static_cast<const std::vector<Bytes>*>(&parts), [&] {
        for (const auto* all : hub_.parts_) own->push_back((*all)[at(shard_)]);
      });
      return {{own->begin(), own->end()}, own};
    }
    void add(std::span<const std::span<std::uint64_t>> parts) override { add_to(hub_.words_, parts); }
    void add(std::span<const std::span<std::int32_t>> parts) override { add_to(hub_.ints_, parts); }
    void keep_largest(std::span<double> values) override {
      std::vector<double> best(values.begin(), values.end());
      hub_.meet(hub_.doubles_, shard_, std::span<const double>(values), [&] {
        for (const auto& part : hub_.doubles_) {
          for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::max(best[i], part[i]);
        }
      });
      std::copy(best.begin(), best.end(), values.begin());
    }
    std::vector<double> gather(std::span<const double> own) override {
      std::vector<double> all;
      hub_.meet(hub_.doubles_, shard_, own, [&] {
        for (const auto& part : hub_.doubles_) all.insert(all.end(), part.begin(), part.end());
      });
      return all;
    }

   private:
    template <class T>
    void add_to(std::vector<std::span<const std::span<T>>>& all, std::span<const std::span<T>> parts) {
      std::vector<std::vector<T>> sums;
      hub_.meet(all, shard_, parts, [&] {
        for (std::size_t p = 0; p < parts.size(); ++p) {
          sums.emplace_back(parts[p].size(), T{});
          for (const auto& other : all) {
            if (other.size() != parts.size() || other[p].size() != parts[p].size())
              throw std::logic_error("shards differ");
            for (std::size_t i = 0; i < parts[p].size(); ++i) sums[p][i] += other[p][i];
          }
        }
      });
      for (std::size_t p = 0; p < parts.size(); ++p) std::copy(sums[p].begin(), sums[p].end(), parts[p].begin());
    }

    Hub& hub_;
    int shard_;
  };

 private:
  int n_;
  std::int32_t top_k_;
  std::barrier<> barrier_;
  std::vector<std::span<const std::span<std::uint64_t>>> words_;
  std::vector<std::span<const std::span<std::int32_t>>> ints_;
  std::vector<std::span<const double>> doubles_;
  std::vector<const std::vector<Bytes>*> parts_;
};

// ---- problems and settings ----

struct Problem {
  Mixed mixed;
  std::int64_t n_outputs = 1;
  std::vector<float> gradient;  // output-major
  std::vector<float> hessian;
  std::vector<float> label;

  std::int64_t n_rows() const { return mixed.n_rows(); }
  std::int32_t n_features() const { return static_cast<std::int32_t>(mixed.features.size()); }
};

// `tail`: some gradients dwarf the others, so that cells are wide.
Problem make_problem(std::int64_t n_rows, std::uint64_t seed, std::int64_t n_outputs = 1, bool tail = false) {
  MixedShape shape;
  shape.n_rows = n_rows;
  Problem p{make_mixed(shape, seed), n_outputs, {}, {}, {}};
  Random random(seed + 1);
  for (std::int64_t k = 0; k < n_outputs; ++k) {
    std::vector<double> signal(at(n_rows), 0.0);
    for (std::size_t f = 0; f < p.mixed.features.size(); ++f) {
      const auto bins = p.mixed.table.naive_bins(p.mixed.features[f]);
      for (std::size_t row = 0; row < bins.size(); ++row) {
        signal[row] +=
            std::sin(bins[row] * 5.0 / p.mixed.features[f].n_value_bins + static_cast<double>(2 * f + at(k)));
      }
    }
    for (const double s : signal) {
      const double scale = tail && random.chance(0.001) ? 1e6 : 1.0;
      p.gradient.push_back(static_cast<float>(scale * (s + random.normal())));
      p.hessian.push_back(static_cast<float>(random.between(0.01, 2.0)));
      p.label.push_back(static_cast<float>(random.normal() - s));
    }
  }
  return p;
}

// Bins of the second full column become categories, if its storage takes them.
std::shared_ptr<BinMatrix> make_matrix(Problem& p, const Storage& storage, bool categories = true) {
  const std::int32_t column = p.mixed.full[1];
  Feature& f = p.mixed.features[at(column)];
  f.category.clear();
  const bool is_loose = std::find(storage.loose.begin(), storage.loose.end(), column) != storage.loose.end();
  for (std::size_t b = 0; categories && !is_loose && b < f.upper.size(); ++b) {
    f.category.push_back(static_cast<std::int32_t>(b));
  }
  return fill_training(p.mixed, storage, p.mixed.table.dense());
}

struct Setting {
  std::string name;
  GrowParams params;
  FeatureLimits limits;
  double split = 0.0;
  std::vector<double> coupled, lazy;
};

std::vector<Setting> settings(const Problem& p) {
  std::vector<double> falling, some;
  for (std::int32_t f = 0; f < p.n_features(); ++f) {
    falling.push_back(40.0 / (1 + f % 7));
    some.push_back(f % 3 == 0 ? 0.05 : 0.0);
  }
  std::vector<Setting> all;
  const auto add = [&](const std::string& name, const auto& change) {
    Setting s;
    s.name = name;
    s.params.shape.num_leaves = 24;
    change(s);
    all.push_back(s);
  };
  add("plain", [](Setting&) {});
  add("many leaves", [](Setting& s) { s.params.shape.num_leaves = 255; });
  add("level by level", [](Setting& s) { s.params.shape.depthwise = true; });
  add("extra trees", [](Setting& s) {
    s.params.search.extra_trees = true;
    s.params.search.extra_key = 12345;
  });
  add("columns", [](Setting& s) {
    s.params.search.fractions = {0.8, 0.8, 0.6};
    s.params.search.column_key = 777;
  });
  add("l1, l2, step and smoothing", [](Setting& s) {
    s.params.search.rules.lambda_l1 = 5.0;
    s.params.search.rules.lambda_l2 = 10.0;
    s.params.search.rules.max_delta_step = 0.3;
    s.params.search.rules.path_smooth = 20.0;
  });
  add("little memory", [](Setting& s) { s.params.search.max_histogram_bytes = 0; });
  for (const MonotoneMethod method : {MonotoneMethod::basic, MonotoneMethod::intermediate, MonotoneMethod::advanced}) {
    add("monotone " + std::to_string(static_cast<int>(method)), [&](Setting& s) {
      s.params.monotone = {std::vector<std::int8_t>(at(p.n_features()), 0), method, 0.5};
      s.params.monotone.direction[at(p.mixed.full[0])] = 1;
      s.params.monotone.direction[at(p.mixed.full[2])] = -1;
    });
  }
  add("groups", [&](Setting& s) {
    s.limits.groups = InteractionGroups({{0, 1, 2, 20, 26}, {3, 4, 19, 27}, {20, 25, 26, 27}}, p.n_features());
  });
  add("factors", [&](Setting& s) { s.limits.gain_factors = falling; });
  add("forced", [&](Setting& s) { s.limits.forced = {{25, 20, {1, 2}}, {0, 0, {-1, -1}}, {20, 2, {-1, -1}}}; });
  add("coupled costs", [&](Setting& s) { s.coupled = falling; });
  add("all costs", [&](Setting& s) {
    s.split = 0.01;
    s.coupled = falling;
    s.lazy = some;
  });
  add("refit", [](Setting& s) {
    s.params.values.refit = true;
    s.params.values.refit_alpha = 0.3;
  });
  add("refit of Huber's loss", [](Setting& s) {
    s.params.values.refit = true;
    s.params.values.refit_delta = 0.5;
  });
  add("pruned", [](Setting& s) { s.params.shape.prune_below = 200.0; });
  return all;
}

// ---- growing ----

struct Grown {
  std::vector<Tree> trees;
  std::vector<double> score;  // output-major
};

// Rows [begin, end) of a problem.
struct Shard {
  std::shared_ptr<BinMatrix> matrix;
  std::vector<float> gradient, hessian, label;
  std::vector<RowIdx> rows;
};

Shard shard_of(const Problem& p, const BinMatrix& all, std::int64_t begin, std::int64_t end,
               const std::vector<RowIdx>* rows) {
  Shard s;
  const std::int64_t n = end - begin;
  std::vector<Feature> features = with_may_miss(p.mixed);
  s.matrix = std::make_shared<BinMatrix>(std::move(features), n, all.storage());
  std::vector<RowIdx> taken(at(n));
  std::iota(taken.begin(), taken.end(), static_cast<RowIdx>(begin));
  Team team(1);
  s.matrix->fill_from(team, all, taken);
  std::vector<std::int64_t> counts;
  for (std::size_t f = 0; f < all.features().size(); ++f) {
    s.matrix->features()[f].has_missing = all.features()[f].has_missing;
    counts.push_back(all.entry_count(static_cast<std::int32_t>(f)));
  }
  s.matrix->set_entry_counts(counts);
  for (std::int64_t k = 0; k < p.n_outputs; ++k) {
    const auto copy = [&](const std::vector<float>& from, std::vector<float>& to) {
      to.insert(to.end(), from.begin() + k * p.n_rows() + begin, from.begin() + k * p.n_rows() + end);
    };
    copy(p.gradient, s.gradient);
    copy(p.hessian, s.hessian);
    copy(p.label, s.label);
  }
  // An empty shard has arrays, too: null pointers would mean all rows, or no hessians and labels.
  s.rows.reserve(1);
  s.hessian.reserve(1);
  s.label.reserve(1);
  if (rows == nullptr) return s;
  for (const RowIdx row : *rows) {
    if (row >= begin && row < end) s.rows.push_back(static_cast<RowIdx>(row - begin));
  }
  return s;
}

// Two trees, so that costs are remembered and the second one expands nodes by what the first has shown.
Grown grow(const Problem& p, const Setting& setting, GrowData data, const Shard& shard, bool bagged, bool vector,
           int n_threads) {
  const std::int64_t n = shard.matrix->n_rows();
  auto limits = std::make_shared<FeatureLimits>(setting.limits);
  if (setting.split > 0.0 || !setting.coupled.empty() || !setting.lazy.empty()) {
    limits->costs = std::make_shared<FeatureCosts>(n, setting.split, setting.coupled, setting.lazy);
  }
  GrowParams params = setting.params;
  params.search.limits = limits;
  const std::vector<GrowParams> all(at(p.n_outputs), params);
  Grower grower(std::move(data), vector);
  Team team(n_threads);
  Grown grown;
  grown.score.assign(shard.gradient.size(), 0.25);
  for (int round = 0; round < 2; ++round) {
    grown.trees.push_back(grower.grow(team, shard.gradient.data(), round == 0 ? shard.hessian.data() : nullptr,
                                      bagged ? shard.rows.data() : nullptr,
                                      bagged ? static_cast<std::int64_t>(shard.rows.size()) : n, all,
                                      grown.score.data(), TreeLabels{shard.label.data(), false}));
    if (limits->costs) limits->costs->add_tree(team, *shard.matrix, grown.trees.back());
  }
  return grown;
}

bool same(const Grown& a, const Grown& b) {
  bool equal = a.trees.size() == b.trees.size() && first_difference(a.score, b.score) == -1;
  for (std::size_t t = 0; equal && t < a.trees.size(); ++t) {
    const Tree &x = a.trees[t], &y = b.trees[t];
    equal = x.feature == y.feature && x.threshold_bin == y.threshold_bin && x.default_left == y.default_left &&
            x.category == y.category && x.left == y.left && x.right == y.right && x.node_count == y.node_count &&
            x.leaf_count == y.leaf_count && first_difference(x.gain, y.gain) == -1 &&
            first_difference(x.node_value, y.node_value) == -1 &&
            first_difference(x.node_weight, y.node_weight) == -1 &&
            first_difference(x.leaf_value, y.leaf_value) == -1 && first_difference(x.leaf_weight, y.leaf_weight) == -1;
  }
  return equal;
}

// The shards' trees must all be the same; their scores are put together.
Grown grow_on_shards(const Problem& p, const Setting& setting, const BinMatrix& all,
                     const std::vector<std::int64_t>& ends, const std::vector<RowIdx>* rows, bool vector,
                     std::int32_t top_k = 0) {
  const auto n_shards = static_cast<int>(ends.size());
  std::vector<Shard> shards;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    shards.push_back(shard_of(p, all, begin, end, rows));
    begin = end;
  }
  Hub hub(n_shards, top_k);
  std::vector<Grown> grown(at(n_shards));
  std::vector<std::string> errors(at(n_shards));
  std::vector<std::thread> threads;
  for (int i = 0; i < n_shards; ++i) {
    threads.emplace_back([&, i] {
      Hub::Port port(hub, i);
      try {
        const GrowData data{shards[at(i)].matrix, nullptr, &port};
        grown[at(i)] = grow(p, setting, data, shards[at(i)], rows != nullptr, vector, 1 + i % 3);
      } catch (const std::exception& e) {
        errors[at(i)] = e.what();
        hub.leave();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const std::string& error : errors) REQUIRE(error == "");
  Grown whole = grown[0];
  whole.score.clear();
  for (std::int64_t k = 0; k < p.n_outputs; ++k) {
    for (const Grown& g : grown) {
      const auto n = static_cast<std::int64_t>(g.score.size()) / p.n_outputs;
      whole.score.insert(whole.score.end(), g.score.begin() + k * n, g.score.begin() + (k + 1) * n);
    }
  }
  for (Grown g : grown) {
    g.score = whole.score;
    CHECK(same(g, whole));
  }
  return whole;
}

std::vector<RowIdx> bag(const Problem& p) {
  Random random(99);
  std::vector<RowIdx> rows;
  for (std::int64_t i = 0; i < p.n_rows(); ++i) {
    if (random.chance(0.5)) rows.push_back(static_cast<RowIdx>(i));
  }
  return rows;
}

// Uneven and empty ones; they begin at multiples of 8,192 rows.
const std::vector<std::vector<std::int64_t>> kShards = {
    {20000}, {8192, 20000}, {8192, 8192, 20000}, {0, 8192, 16384, 20000, 20000}};

// ---- pages ----

// Copies of the rows, page by page: a read outside the page is one outside its buffer.
class CopiedPages : public RowPages {
 public:
  CopiedPages(const BinMatrix& matrix, const SparseRows* sparse, std::int64_t page_rows, bool backwards) {
    for (std::int64_t begin = 0; begin < matrix.n_rows(); begin += page_rows) {
      pages_.push_back(copy(matrix, sparse, begin, std::min(begin + page_rows, matrix.n_rows())));
      pages_.back().page.number = ranges_.size();
      ranges_.push_back(pages_.back().page.rows);
    }
    if (backwards) std::reverse(pages_.begin(), pages_.end());
  }
  std::span<const RowRange> ranges() const override { return ranges_; }
  void for_each(const std::function<void(const RowPage&)>& body) override {
    for (const Copy& page : pages_) body(page.page);
  }

 private:
  static constexpr std::size_t kSlack = 64;  // kernels may read a few bytes past the last element, see Buffer
  struct Copy {
    RowPage page;
    std::vector<std::vector<std::uint8_t>> bins;
    std::vector<std::int64_t> row_begin;
    std::vector<std::uint8_t> codes;
  };

  static Copy copy(const BinMatrix& matrix, const SparseRows* sparse, std::int64_t begin, std::int64_t end) {
    Copy c;
    c.page.rows = {begin, end};
    for (const Group& group : matrix.groups()) {
      const std::int64_t row_bytes = group.row_stride * (group.two_bytes ? 2 : 1);
      const auto* const from = static_cast<const std::uint8_t*>(group.bins()) + begin * row_bytes;
      c.bins.emplace_back(from, from + (end - begin) * row_bytes);
      c.bins.back().resize(c.bins.back().size() + kSlack);
      c.page.bins.push_back(c.bins.back().data());
    }
    if (sparse == nullptr) return c;
    const std::int64_t first = sparse->row_begin[begin];
    for (std::int64_t row = begin; row <= end; ++row) c.row_begin.push_back(sparse->row_begin[row] - first);
    const std::int64_t width = sparse->wide_codes() ? 4 : 2;
    const auto* const from = static_cast<const std::uint8_t*>(sparse->codes());
    c.codes.assign(from + first * width, from + sparse->row_begin[end] * width);
    c.codes.resize(c.codes.size() + kSlack);
    c.page.row_begin = c.row_begin.data();
    c.page.codes = c.codes.data();
    return c;
  }

  std::vector<Copy> pages_;
  std::vector<RowRange> ranges_;
};

}  // namespace

TEST_SUITE("shards") {
  TEST_CASE("shards grow the trees of one evaluator on all rows") {
    for (const bool tail : {false, true}) {
      Problem p = make_problem(20000, 71, 1, tail);
      const auto rows = bag(p);
      const auto storages = storages_of(p.mixed);
      std::size_t turn = 0;
      for (const Setting& setting : settings(p)) {
        const NamedStorage& storage = storages[turn % storages.size()];
        const bool bagged = turn++ % 3 == 2;
        CAPTURE(setting.name);
        CAPTURE(std::string(storage.name));
        CAPTURE(bagged);
        CAPTURE(tail);
        const auto matrix = make_matrix(p, storage.storage);
        Shard whole = shard_of(p, *matrix, 0, p.n_rows(), bagged ? &rows : nullptr);
        const Grown expected = grow(p, setting, {whole.matrix}, whole, bagged, false, 2);
        CHECK(expected.trees[0].n_leaves() > 4);
        for (const auto& ends : kShards) {
          CAPTURE(ends.size());
          CHECK(same(grow_on_shards(p, setting, *matrix, ends, bagged ? &rows : nullptr, false), expected));
        }
      }
    }
  }

  TEST_CASE("shards of every storage") {
    Problem p = make_problem(20000, 72);
    Setting setting = settings(p)[1];
    for (const NamedStorage& storage : storages_of(p.mixed)) {
      CAPTURE(std::string(storage.name));
      const auto matrix = make_matrix(p, storage.storage);
      Shard whole = shard_of(p, *matrix, 0, p.n_rows(), nullptr);
      const Grown expected = grow(p, setting, {whole.matrix}, whole, false, false, 1);
      CHECK(same(grow_on_shards(p, setting, *matrix, kShards[2], nullptr, false), expected));
    }
  }

  // A feature that gains something has a vote: if nearly all features may be elected, none of them is missed.
  TEST_CASE("shards that elect nearly all features") {
    for (const bool tail : {false, true}) {
      Problem p = make_problem(20000, 75, 1, tail);
      const auto rows = bag(p);
      for (const NamedStorage& storage : storages_of(p.mixed)) {
        const auto matrix = make_matrix(p, storage.storage, false);
        std::size_t turn = 0;
        for (const Setting& setting : settings(p)) {
          if (setting.name != "plain" && setting.name != "many leaves" && setting.name != "little memory") continue;
          const bool bagged = turn++ % 2 == 1;
          CAPTURE(setting.name);
          CAPTURE(std::string(storage.name));
          CAPTURE(tail);
          Shard whole = shard_of(p, *matrix, 0, p.n_rows(), bagged ? &rows : nullptr);
          const Grown expected = grow(p, setting, {whole.matrix}, whole, bagged, false, 2);
          for (const auto& ends : {kShards[1], kShards[2]}) {
            const std::vector<RowIdx>* const sample = bagged ? &rows : nullptr;
            CHECK(same(grow_on_shards(p, setting, *matrix, ends, sample, false, p.n_features() - 1), expected));
          }
        }
      }
    }
  }

  TEST_CASE("shards that elect few features") {
    Problem p = make_problem(20000, 76);
    const auto storages = storages_of(p.mixed);
    std::size_t turn = 0;
    for (const Setting& setting : settings(p)) {
      const NamedStorage& storage = storages[turn++ % storages.size()];
      CAPTURE(setting.name);
      CAPTURE(std::string(storage.name));
      const auto matrix = make_matrix(p, storage.storage);
      const Grown first = grow_on_shards(p, setting, *matrix, kShards[2], nullptr, false, 2);
      CHECK(first.trees[0].n_leaves() > 4);
      CHECK(same(grow_on_shards(p, setting, *matrix, kShards[2], nullptr, false, 2), first));
      const std::int32_t all = p.n_features();
      CHECK(same(grow_on_shards(p, setting, *matrix, kShards[2], nullptr, false, all),
                 grow_on_shards(p, setting, *matrix, kShards[2], nullptr, false)));
    }
  }

  TEST_CASE("shards of trees with several values per leaf") {
    Problem p = make_problem(20000, 73, 3);
    const auto rows = bag(p);
    const auto storages = storages_of(p.mixed);
    std::size_t turn = 0;
    for (const Setting& setting : settings(p)) {
      if (!setting.params.monotone.direction.empty() || !setting.limits.forced.empty()) continue;
      if (!setting.coupled.empty() || !setting.limits.gain_factors.empty()) continue;
      const NamedStorage& storage = storages[turn % storages.size()];
      const bool bagged = turn++ % 2 == 1;
      CAPTURE(setting.name);
      CAPTURE(std::string(storage.name));
      CAPTURE(bagged);
      const auto matrix = make_matrix(p, storage.storage, false);
      Shard whole = shard_of(p, *matrix, 0, p.n_rows(), bagged ? &rows : nullptr);
      const Grown expected = grow(p, setting, {whole.matrix}, whole, bagged, true, 2);
      CHECK(expected.trees[0].n_leaves() > 4);
      for (const auto& ends : kShards) {
        CHECK(same(grow_on_shards(p, setting, *matrix, ends, bagged ? &rows : nullptr, true), expected));
      }
    }
  }

  TEST_CASE("pages of any size, in any order") {
    Problem p = make_problem(70000, 74);
    const auto rows = bag(p);
    std::size_t turn = 0;
    const std::vector<Setting> all = settings(p);
    for (const NamedStorage& storage : storages_of(p.mixed)) {
      const auto matrix = make_matrix(p, storage.storage);
      const Setting& setting = all[turn % all.size()];
      const bool bagged = turn++ % 2 == 1;
      CAPTURE(std::string(storage.name));
      CAPTURE(setting.name);
      CAPTURE(bagged);
      Shard whole = shard_of(p, *matrix, 0, p.n_rows(), bagged ? &rows : nullptr);
      const Grown expected = grow(p, setting, {whole.matrix}, whole, bagged, false, 1);
      Team team(1);
      std::shared_ptr<const SparseRows> sparse;
      if (!matrix->storage().loose.empty()) sparse = whole.matrix->sparse_rows(team, 20);
      for (const std::int64_t page_rows : {8192, 65536, 3 * 8192, 5 * 8192}) {
        for (const bool backwards : {false, true}) {
          CAPTURE(page_rows);
          CAPTURE(backwards);
          CopiedPages pages(*whole.matrix, sparse.get(), page_rows, backwards);
          CHECK(same(grow(p, setting, {whole.matrix, &pages}, whole, bagged, false, 2), expected));
        }
      }
    }
  }
}

}  // namespace gossamer::tests
