// The trees of a round: those that a grower grows one by one, with any number of threads.
#include "core/round_grower.h"

#include "sparse_table.h"

namespace gossamer::tests {
namespace {

bool same_tree(const Tree& a, const Tree& b) {
  return a.feature == b.feature && a.threshold_bin == b.threshold_bin && a.default_left == b.default_left &&
         a.left == b.left && a.right == b.right && first_difference(a.gain, b.gain) == -1 &&
         first_difference(a.leaf_value, b.leaf_value) == -1 && first_difference(a.node_value, b.node_value) == -1 &&
         a.leaf_count == b.leaf_count && a.node_count == b.node_count;
}

}  // namespace

TEST_SUITE("round_grower") {
  TEST_CASE("side by side or one after another: the same trees") {
    MixedShape shape;
    shape.n_rows = 9000;
    Mixed m = make_mixed(shape, 420);
    Random random(420);
    const std::int64_t n = shape.n_rows;
    std::vector<RowIdx> bag;
    for (std::int64_t i = 0; i < n; ++i) {
      if (random.chance(0.5)) bag.push_back(static_cast<RowIdx>(i));
    }
    for (const std::int64_t n_outputs : {1, 2, 3, 7, 8, 17}) {
      const NamedStorage s = storages_of(m)[at(n_outputs % 8)];
      const auto matrix = fill_training(m, s.storage, m.table.dense());
      std::vector<float> gradient, hessian, label;
      for (std::int64_t i = 0; i < n * n_outputs; ++i) {
        gradient.push_back(static_cast<float>(random.normal() + m.table(i % n, 0) * static_cast<float>(1 + i / n)));
        hessian.push_back(static_cast<float>(random.between(0.1, 1.0)));
        label.push_back(static_cast<float>(random.normal()));
      }
      std::vector<GrowParams> params(at(n_outputs));
      for (std::size_t k = 0; k < params.size(); ++k) {
        params[k].search.rules.min_data = k % 2 == 0 ? 20.0 : 3.0;
        params[k].shape.num_leaves = 10 + static_cast<std::int64_t>(k);
        params[k].search.max_histogram_bytes = k % 3 == 0 ? 0 : 1 << 20;
        params[k].values.refit = k % 4 == 1;
      }
      for (const bool one_label : {false, true}) {
        for (const bool with_hessian : {false, true}) {
          const bool bagged = one_label != with_hessian;
          const RowIdx* const rows = bagged ? bag.data() : nullptr;
          const std::int64_t n_rows = bagged ? static_cast<std::int64_t>(bag.size()) : n;
          std::vector<Tree> expected;
          std::vector<double> expected_score(at(n * n_outputs), 0.5);
          for (std::int64_t k = 0; k < n_outputs; ++k) {
            Team team(1);
            Grower grower(matrix);
            expected.push_back(
                grower.grow(team, gradient.data() + k * n, with_hessian ? hessian.data() + k * n : nullptr, rows,
                            n_rows, params[at(k)], expected_score.data() + k * n,
                            params[at(k)].values.refit ? label.data() + (one_label ? 0 : k * n) : nullptr));
            CHECK(expected.back().n_leaves() == params[at(k)].shape.num_leaves);
          }
          for (const int n_threads : {1, 2, 3, 8}) {
            CAPTURE(n_outputs);
            CAPTURE(n_threads);
            CAPTURE(one_label);
            CAPTURE(with_hessian);
            Team team(n_threads);
            RoundGrower grower(matrix);
            for (int round = 0; round < 2; ++round) {  // and again with growers that have grown
              std::vector<double> score(at(n * n_outputs), 0.5);
              const auto trees = grower.grow(team, gradient.data(), with_hessian ? hessian.data() : nullptr, rows,
                                             n_rows, params, score.data(), {label.data(), one_label});
              REQUIRE(trees.size() == expected.size());
              for (std::size_t k = 0; k < trees.size(); ++k) CHECK(same_tree(trees[k], expected[k]));
              CHECK(first_difference(score, expected_score) == -1);
            }
            CHECK(grower.stats().rounds == 2 * n_outputs);
          }
        }
      }
    }
  }

  // Layouts differ by tree: some trees have no hessians or are wide, and in one a cell holds few rows.
  TEST_CASE("trees that share the work of their roots") {
    MixedShape shape;
    shape.most_bins = 200;  // one byte
    Random random(9);
    int n_shared = 0;
    for (const std::int64_t n : {SharedRoots::kLeastRows - 1, SharedRoots::kLeastRows, std::int64_t{20000}}) {
      shape.n_rows = n;
      const Mixed m = make_mixed(shape, static_cast<std::uint64_t>(n));
      for (const NamedStorage& s : storages_of(m)) {
        const auto matrix = fill_training(m, s.storage, m.table.dense());
        n_shared += SharedRoots::fits(*matrix);
        for (const std::int64_t n_outputs : {4, 7, 13, 18}) {
          std::vector<float> gradient, hessian;
          for (std::int64_t k = 0; k < n_outputs; ++k) {
            const float far = k % 5 == 1 ? 2e3f : k % 5 == 3 ? 1e9f : 1.0f;
            for (std::int64_t i = 0; i < n; ++i) {
              const auto g = static_cast<float>(random.normal() + m.table(i, 0) * static_cast<float>(k + 1));
              gradient.push_back(i == 17 ? far * g : g);
              hessian.push_back(k % 5 == 2 ? 0.5f : static_cast<float>(random.between(0.1, 1.0)));
            }
          }
          const std::vector<GrowParams> params(at(n_outputs));
          std::vector<Tree> expected;
          std::vector<double> expected_score(at(n * n_outputs), 0.5);
          for (std::int64_t k = 0; k < n_outputs; ++k) {
            Team team(1);
            Grower grower(matrix);
            expected.push_back(grower.grow(team, gradient.data() + k * n, hessian.data() + k * n, nullptr, n,
                                           params[at(k)], expected_score.data() + k * n));
          }
          for (const int n_threads : {1, 2, 9}) {
            CAPTURE(n);
            CAPTURE(s.name);
            CAPTURE(n_outputs);
            CAPTURE(n_threads);
            Team team(n_threads);
            RoundGrower grower(matrix);
            for (int round = 0; round < 2; ++round) {
              std::vector<double> score(at(n * n_outputs), 0.5);
              const auto trees = grower.grow(team, gradient.data(), hessian.data(), nullptr, n, params, score.data());
              REQUIRE(trees.size() == expected.size());
              for (std::size_t k = 0; k < trees.size(); ++k) CHECK(same_tree(trees[k], expected[k]));
              CHECK(first_difference(score, expected_score) == -1);
            }
            CHECK(grower.stats().wide_rounds > 0);
            CHECK(grower.stats().rounds == 2 * n_outputs);
          }
        }
      }
    }
    CHECK(n_shared >= 4);
  }

  // Growing adds to the rows outside a sample what adding the tree afterwards does: for every storage, and for samples
  // that leave few or most rows out.
  TEST_CASE("trees are added to the rows outside the sample") {
    MixedShape shape;
    shape.n_rows = 9000;
    const Mixed m = make_mixed(shape, 5);
    Random random(5);
    const std::int64_t n = shape.n_rows;
    std::vector<float> gradient;
    for (std::int64_t i = 0; i < 2 * n; ++i)
      gradient.push_back(static_cast<float>(random.normal() + m.table(i % n, 0)));
    for (const NamedStorage& s : storages_of(m)) {
      const auto matrix = fill_training(m, s.storage, m.table.dense());
      for (const std::int64_t per_ten : {2, 9}) {
        std::vector<RowIdx> inside, outside;
        for (std::int64_t i = 0; i < n; ++i)
          (random.below(10) < per_ten ? inside : outside).push_back(static_cast<RowIdx>(i));
        for (const bool vector_leaves : {false, true}) {
          for (const int n_threads : {1, 2}) {
            CAPTURE(s.name);
            CAPTURE(per_ten);
            CAPTURE(vector_leaves);
            Team team(n_threads);
            const std::vector<GrowParams> params(2);
            std::vector<double> expected(at(2 * n), -0.0), score = expected;
            RoundGrower grower(matrix, vector_leaves);
            const auto n_inside = std::ssize(inside);
            const auto trees =
                grower.grow(team, gradient.data(), nullptr, inside.data(), n_inside, params, expected.data());
            for (std::size_t k = 0; k < trees.size(); ++k) {
              REQUIRE(trees[k].n_leaves() > 1);
              add_tree_to_scores(team, *matrix, trees[k], outside.data(), std::ssize(outside),
                                 expected.data() + static_cast<std::int64_t>(k) * n);
            }
            grower.grow(team, gradient.data(), nullptr, inside.data(), n_inside, params, score.data(), {}, nullptr,
                        true);
            CHECK(first_difference(score, expected) == -1);
          }
        }
      }
    }
  }

  // Samples of other sizes follow one another, and the gradients of some are wide.
  TEST_CASE("small samples of a large table are copied") {
    MixedShape shape;
    shape.n_rows = 70000;
    const Mixed m = make_mixed(shape, 6);
    const std::int64_t n = shape.n_rows;
    for (const NamedStorage& s : storages_of(m)) {
      const auto matrix = fill_training(m, s.storage, m.table.dense());
      for (const std::int64_t n_outputs : {1, 5}) {
        Random random(6);
        std::vector<GrowParams> params(at(n_outputs));
        RoundGrower copies(matrix);
        RoundGrower lists(matrix);
        for (const double share : {0.25, 0.3, 0.24, 0.5}) {
          const int n_threads = 1 + static_cast<int>(random.below(3));
          CAPTURE(s.name);
          CAPTURE(n_outputs);
          CAPTURE(share);
          CAPTURE(n_threads);
          Team team(n_threads);
          std::vector<RowIdx> rows;
          for (std::int64_t i = 0; i < n; ++i) {
            if (random.chance(share)) rows.push_back(static_cast<RowIdx>(i));
          }
          std::vector<float> gradient, hessian;
          for (std::int64_t i = 0; i < n * n_outputs; ++i) {
            gradient.push_back(static_cast<float>(random.normal() + m.table(i % n, 0)) *
                               (share == 0.3 && i % 1000 == 0 ? 1e7f : 1.0f));
            hessian.push_back(static_cast<float>(random.between(0.1, 1.0)));
          }
          const float* const h = share == 0.24 ? nullptr : hessian.data();
          std::vector<double> expected(at(n * n_outputs), 0.25), score = expected;
          const auto grow = [&](RoundGrower& grower, bool may_copy, std::vector<double>& scores) {
            for (GrowParams& own : params) own.search.copies_samples = may_copy;
            return grower.grow(team, gradient.data(), h, rows.data(), std::ssize(rows), params, scores.data(), {},
                               nullptr, true);
          };
          const auto trees = grow(lists, false, expected);
          const auto on_copy = grow(copies, true, score);
          REQUIRE(trees.size() == on_copy.size());
          for (std::size_t k = 0; k < trees.size(); ++k) {
            REQUIRE(trees[k].n_leaves() > 1);
            CHECK(same_tree(trees[k], on_copy[k]));
          }
          CHECK(first_difference(score, expected) == -1);
        }
        CHECK(copies.stats().rounds == lists.stats().rounds);
      }
    }
  }

  // The same trees and scores as round by round, whatever the layouts: labels far away make a round wide, and the first
  // rounds halve the largest gradient.
  TEST_CASE("several rounds in one call") {
    MixedShape shape;
    shape.n_rows = 9000;
    const Mixed m = make_mixed(shape, 77);
    Random random(77);
    const std::int64_t n = shape.n_rows;
    for (const NamedStorage& s : storages_of(m)) {
      const auto matrix = fill_training(m, s.storage, m.table.dense());
      for (const RowLoss::Kind kind : {RowLoss::Kind::squared, RowLoss::Kind::logistic, RowLoss::Kind::softmax}) {
        for (const bool weighted : {false, true}) {
          CAPTURE(s.name);
          CAPTURE(static_cast<int>(kind));
          CAPTURE(weighted);
          RowLoss loss{kind, kind == RowLoss::Kind::softmax ? 3 : 1, 1.5, 1.0, 2.0};
          std::vector<float> label, weight;
          for (std::int64_t i = 0; i < n; ++i) {
            const double signal = random.normal() + m.table(i, 0);
            label.push_back(static_cast<float>(kind == RowLoss::Kind::squared    ? (i == 5 ? 1e7 : signal)
                                               : kind == RowLoss::Kind::logistic ? signal > 0.0
                                                                                 : (signal > 0.0) + (signal > 1.0)));
            weight.push_back(static_cast<float>(random.between(0.1, 2.0)));
          }
          const RowTargets targets{n, label.data(), weighted ? weight.data() : nullptr};
          const std::vector<GrowParams> params(at(loss.n_outputs));
          const auto size = at(n * loss.n_outputs);
          std::vector<float> gradient(size), hessian(size, 0.5f);
          hessian[0] = 0.25f;  // not all the same, where the loss has none
          float* const h = kind == RowLoss::Kind::squared && !weighted ? nullptr : hessian.data();
          constexpr std::int64_t kRounds = 4;
          std::vector<Tree> expected;
          std::vector<double> expected_score(size, 0.0);
          Team alone(1);
          RoundGrower plain(matrix);
          for (std::int64_t round = 0; round < kRounds; ++round) {
            loss.fill(alone, targets, expected_score.data(), gradient.data(), h);
            for (Tree& tree : plain.grow(alone, gradient.data(), h, nullptr, n, params, expected_score.data())) {
              expected.push_back(std::move(tree));
            }
          }
          for (const int n_threads : {1, 2, 3}) {
            Team team(n_threads);
            RoundGrower grower(matrix);
            std::vector<double> score(size, 0.0);
            const auto trees =
                grower.grow_rounds(team, kRounds, loss, targets, gradient.data(), h, params, score.data(), 1e30);
            REQUIRE(trees.size() == expected.size());
            for (std::size_t k = 0; k < trees.size(); ++k) CHECK(same_tree(trees[k], expected[k]));
            CHECK(first_difference(score, expected_score) == -1);
            CHECK(grower.stats().wide_rounds == plain.stats().wide_rounds);
            // So many rounds that some are tried on one thread.
            if (weighted && n_threads > 1) {
              constexpr std::int64_t kMany = 20;
              std::vector<double> one_score(size, 0.0), many_score(size, 0.0);
              RoundGrower one(matrix), many(matrix);
              const auto expected_many =
                  one.grow_rounds(alone, kMany, loss, targets, gradient.data(), h, params, one_score.data(), 1e30);
              const auto found =
                  many.grow_rounds(team, kMany, loss, targets, gradient.data(), h, params, many_score.data(), 1e30);
              REQUIRE(found.size() == expected_many.size());
              for (std::size_t k = 0; k < found.size(); ++k) CHECK(same_tree(found[k], expected_many[k]));
              CHECK(first_difference(many_score, one_score) == -1);
            }
            // After a tree with hessians, which has another layout.
            std::vector<double> again(size, 0.0), other(size, 0.0);
            grower.grow(team, gradient.data(), hessian.data(), nullptr, n, params, other.data());
            const auto same =
                grower.grow_rounds(team, 1, loss, targets, gradient.data(), h, params, again.data(), 1e30);
            for (std::size_t k = 0; k < same.size(); ++k) CHECK(same_tree(same[k], expected[k]));
            // A value that is too large ends the rounds; so does a tree without a split.
            CHECK(grower.grow_rounds(team, kRounds, loss, targets, gradient.data(), h, params, score.data(), 0.0)
                      .size() == params.size());
            std::vector<GrowParams> stumps = params;
            for (GrowParams& p : stumps) p.search.rules.min_data = static_cast<double>(n);
            CHECK(grower.grow_rounds(team, kRounds, loss, targets, gradient.data(), h, stumps, score.data(), 1e30)
                      .size() == params.size());
          }
        }
      }
    }
  }
}

}  // namespace gossamer::tests
