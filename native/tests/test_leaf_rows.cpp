// Rows of leaves: after any splits the same as moving rows one by one.
#include "core/leaf_rows.h"

#include <mutex>
#include <string_view>

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
          for (int round = 0; round < 8; ++round) {
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
              splits.push_back({{leaf.begin, leaf.end}, RowSplitter(*matrix, f, threshold, missing_left)});
              n_left.push_back(middle - leaf.begin);
              splits.back().n_left = n_left.back();
              splits.back().may_be_late = random.chance(0.5);
              next.push_back({leaf.begin, middle});
              next.push_back({middle, leaf.end});
            }
            rows.split(team, splits, LeafRows::kLateRows);
            std::int64_t n_late = 0;
            for (const LeafSplit& split : splits) n_late += split.is_late;
            CHECK((n_late > 0 || round < 6));  // there are small lists by then
            team.for_each(std::ssize(splits), [&](std::int64_t i, int thread) {
              if (splits[at(i)].is_late) rows.split_late(splits[at(i)], thread);
            });
            for (std::size_t i = 0; i < splits.size(); ++i) CHECK(splits[i].n_left == n_left[i]);
            leaves = next;
            const std::vector<RowIdx> got(rows.from(0), rows.from(0) + n);
            REQUIRE(first_difference(got, expected) == -1);
          }
        }
      }
    }
  }

  // Leaves that stay lists, and leaves that become bits, are the same rows; so are leaves whose split is not used.
  TEST_CASE("large leaves as bits") {
    MixedShape shape;
    shape.n_rows = 150001;  // the last word of bits has one row
    Mixed m = make_mixed(shape, 420);
    for (const NamedStorage& s : storages_of(m)) {
      const auto matrix = fill_training(m, s.storage, m.table.dense());
      Team first_team(2);
      matrix->make_columns(first_team);
      for (const int n_threads : {1, 2, 5}) {
        CAPTURE(s.name);
        CAPTURE(n_threads);
        Team team(n_threads);
        Random random(421);
        LeafRows lists;
        LeafRows bits;
        bits.start(team, nullptr, 70000, LeafRows::Use::bits_too);  // forgotten by the next start
        std::vector<RowRange> of_lists{lists.start(team, nullptr, shape.n_rows)};
        std::vector<RowRange> of_bits{bits.start(team, nullptr, shape.n_rows, LeafRows::Use::bits_too)};
        REQUIRE(of_bits[0].bits >= 0);
        std::vector<RowRange> unused;  // leaves that were split in vain, and what they hold
        std::vector<std::vector<RowIdx>> rows_of_unused;
        const auto list_of = [](const LeafRows& rows, RowRange leaf) {
          return std::vector<RowIdx>(rows.from(leaf.begin), rows.from(leaf.begin) + (leaf.end - leaf.begin));
        };
        RowPage page;
        page.rows = {0, shape.n_rows};
        bool any_unlisted = false;
        for (int round = 0; round < 6; ++round) {
          std::vector<LeafSplit> split_lists, split_bits;
          std::vector<RowRange> next_lists, next_bits;
          std::vector<std::size_t> split_leaves;
          for (std::size_t i = 0; i < of_lists.size(); ++i) {
            if (round > 0 && random.chance(0.3)) {
              next_lists.push_back(of_lists[i]);
              next_bits.push_back(of_bits[i]);
              continue;
            }
            const auto f = static_cast<std::int32_t>(random.below(std::ssize(matrix->features())));
            const auto threshold = static_cast<std::int32_t>(random.below(matrix->features()[at(f)].n_value_bins));
            const RowSplitter splitter(*matrix, f, threshold, random.chance(0.5));
            split_lists.push_back({of_lists[i], splitter});
            split_bits.push_back({of_bits[i], splitter});
            split_leaves.push_back(i);
          }
          lists.split(team, split_lists);
          bits.split(team, split_bits);
          for (std::size_t k = 0; k < split_lists.size(); ++k) {
            REQUIRE(split_bits[k].n_left == split_lists[k].n_left);
            const RowRange parent = of_bits[split_leaves[k]];
            if (round % 2 == 0 && parent.bits >= 0) {  // its bits are kept
              unused.push_back(parent);
              const RowRange range = of_lists[split_leaves[k]];
              rows_of_unused.push_back(list_of(lists, range));
              std::sort(rows_of_unused.back().begin(), rows_of_unused.back().end());
            } else {
              bits.forget(parent);
            }
            for (const RowRange& child : {split_lists[k].left(), split_lists[k].right()}) next_lists.push_back(child);
            for (const RowRange& child : {split_bits[k].left(), split_bits[k].right()}) next_bits.push_back(child);
          }
          of_lists = next_lists;
          of_bits = next_bits;
          std::vector<std::vector<RowIdx>> visited(of_bits.size());
          std::mutex mutex;
          bits.for_pieces(team, of_bits, [&](std::size_t leaf, const RowIdx* rows, std::int64_t n) {
            const std::lock_guard lock(mutex);
            visited[leaf].insert(visited[leaf].end(), rows, rows + n);
          });
          std::vector<int> leaf_of(at(shape.n_rows), -1);
          bits.for_numbered(team, of_bits, [&](std::int64_t first, std::int64_t n, const std::uint16_t* numbers) {
            const std::lock_guard lock(mutex);
            std::copy_n(numbers, n, leaf_of.begin() + first);
          });
          for (std::size_t i = 0; i < of_bits.size(); ++i) {
            const std::vector<RowIdx> expected = list_of(lists, of_lists[i]);
            const auto is_here = [&](RowIdx row) { return leaf_of[row] == static_cast<int>(i); };
            CHECK(std::all_of(expected.begin(), expected.end(), is_here));
            std::sort(visited[i].begin(), visited[i].end());
            REQUIRE(first_difference(visited[i], expected) == -1);
            // Parts of a leaf, piece by piece, are its rows.
            std::vector<RowIdx> read;
            std::vector<RowIdx> memory(at(random.chance(0.5) ? 3000 : 20000));
            const std::int64_t n = std::ssize(expected);
            for (std::int64_t part = 0; part < 3; ++part) {
              RowReader reader(bits.part(of_bits[i], page, n * part / 3, n * (part + 1) / 3), memory);
              const RowIdx* next = nullptr;
              while (reader.n_left() > 0) {
                const RowList piece = reader.next(random.chance(0.5) ? random.below(5000) + 1 : n);
                REQUIRE(piece.n > 0);
                if (next != nullptr) CHECK(piece.rows == next);
                next = reader.n_after() > 0 ? piece.rows + piece.n : nullptr;
                read.insert(read.end(), piece.rows, piece.rows + piece.n);
              }
            }
            REQUIRE(first_difference(read, expected) == -1);
            any_unlisted |= !bits.is_listed(of_bits[i]);
            if (!bits.is_listed(of_bits[i]) && random.chance(0.3)) bits.make_list(team, of_bits[i]);
            if (!bits.is_listed(of_bits[i])) continue;
            REQUIRE(first_difference(list_of(bits, of_bits[i]), expected) == -1);
          }
        }
        if (std::string_view(s.name) == "lanes") CHECK(any_unlisted);
        REQUIRE(!unused.empty());
        // The lower leaves first: the list of a leaf takes the place of the lists below it.
        for (std::size_t i = unused.size(); i-- > 0;) {
          bits.sort(team, std::span(&unused[i], 1));
          CHECK(first_difference(list_of(bits, unused[i]), rows_of_unused[i]) == -1);
        }
      }
    }
  }
}

}  // namespace gossamer::tests
