// Rows of leaves: after any splits the same as moving rows one by one.
#include "core/leaf_rows.h"

#include "sparse_table.h"

namespace gossamer::tests {
namespace {

struct Range {
  std::int64_t begin, end;
};

}  // namespace

TEST_SUITE("leaf_rows") {
  TEST_CASE("splits, several at once, with any number of threads") {
    MixedShape shape;
    shape.n_rows = 270001;  // leaves of several pieces, and such that two threads split from both ends
    Mixed m = make_mixed(shape, 410);
    for (const NamedStorage& s : storages_of(m)) {
      const auto matrix = fill_training(m, s.storage, m.table.dense());
      Team first_team(2);
      matrix->make_columns(first_team);
      std::vector<std::vector<std::uint16_t>> bins;
      for (std::size_t f = 0; f < matrix->features().size(); ++f) bins.push_back(column_of(*matrix, f));
      for (const bool bagged : {false, true}) {
        for (const int n_threads : {1, 2, 3, 8}) {
          CAPTURE(s.name);
          CAPTURE(bagged);
          CAPTURE(n_threads);
          Random random(411);
          Team team(n_threads);
          std::vector<RowIdx> expected;
          for (std::int64_t i = 0; i < shape.n_rows; ++i) {
            if (!bagged || random.chance(0.5)) expected.push_back(static_cast<RowIdx>(i));
          }
          const auto n = static_cast<std::int64_t>(expected.size());
          LeafRows rows;
          rows.start(team, nullptr, 5);  // forgotten by the next start
          rows.start(team, bagged ? expected.data() : nullptr, n);
          CHECK((rows.from(0) == nullptr) == !bagged);
          std::vector<Range> leaves{{0, n}};
          for (int round = 0; round < 5; ++round) {
            std::vector<LeafSplit> splits;
            std::vector<std::int64_t> n_left;
            std::vector<Range> next;
            for (const Range& leaf : leaves) {
              if (round > 0 && random.chance(0.3)) {  // this one stays as it is
                next.push_back(leaf);
                continue;
              }
              const auto f = static_cast<std::int32_t>(random.below(static_cast<std::int64_t>(bins.size())));
              const Feature& feature = matrix->features()[at(f)];
              const auto threshold = static_cast<std::int32_t>(random.below(feature.n_value_bins));
              const bool missing_left = random.chance(0.5);
              std::vector<RowIdx> side[2];
              for (std::int64_t i = leaf.begin; i < leaf.end; ++i) {
                const std::int32_t bin = bins[at(f)][expected[at(i)]];
                const bool left = bin == feature.n_value_bins ? missing_left : bin <= threshold;
                side[left ? 0 : 1].push_back(expected[at(i)]);
              }
              const std::int64_t middle = leaf.begin + static_cast<std::int64_t>(side[0].size());
              std::copy(side[0].begin(), side[0].end(), expected.begin() + leaf.begin);
              std::copy(side[1].begin(), side[1].end(), expected.begin() + middle);
              splits.push_back({leaf.begin, leaf.end, RowSplitter(*matrix, f, threshold, missing_left)});
              n_left.push_back(middle - leaf.begin);
              next.push_back({leaf.begin, middle});
              next.push_back({middle, leaf.end});
            }
            rows.split(team, splits);
            for (std::size_t i = 0; i < splits.size(); ++i) CHECK(splits[i].n_left == n_left[i]);
            leaves = next;
            const std::vector<RowIdx> got(rows.from(0), rows.from(0) + n);
            REQUIRE(first_difference(got, expected) == -1);
          }
        }
      }
    }
  }
}

}  // namespace gossamer::tests
