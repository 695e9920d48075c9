// Tables in page files: the same trees, rows and scores as in memory, and errors for files that are not as written.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "core/round_grower.h"
#include "files/page_file.h"
#include "files/row_file.h"
#include "sparse_table.h"

namespace gossamer::tests {
namespace {

// A file that is deleted with this object.
struct TempFile {
  std::FILE* file = std::tmpfile();
  ~TempFile() { std::fclose(file); }
  int number() const { return fileno(file); }
};

struct Paged {
  std::shared_ptr<BinMatrix> matrix;
  std::shared_ptr<FilePages> pages;
};

Paged write(const Mixed& m, const BinMatrix& like, std::int64_t page_rows, int file) {
  Team team(2);
  const MatrixView view = m.table.dense();
  std::vector<std::int32_t> misfits;
  for (;;) {
    const auto layout = make_page_layout(like, misfits);
    REQUIRE(ftruncate(file, 0) == 0);
    REQUIRE(lseek(file, 0, SEEK_SET) == 0);
    PageWriter writer(*layout, view.n_rows, page_rows, file);
    bool fits = true;
    for (std::int64_t begin = 0; fits && begin < view.n_rows; begin += 3001) {
      MatrixView part = view;
      part.n_rows = std::min<std::int64_t>(3001, view.n_rows - begin);
      part.data =
          static_cast<const char*>(view.data) + begin * view.row_stride * static_cast<std::int64_t>(sizeof(float));
      fits = writer.add(team, part);
    }
    if (!fits) {
      REQUIRE(writer.misfits() != misfits);
      misfits.insert(misfits.end(), writer.misfits().begin(), writer.misfits().end());
      continue;
    }
    const std::vector<std::uint64_t> checksums = writer.finish();
    auto pages =
        std::make_shared<FilePages>(PageShape(*layout, view.n_rows, page_rows),
                                    LaneValues(*layout, writer.has_missing()), checksums, file, "the test's file");
    return {make_paged(*layout, writer.has_missing(), pages, view.n_rows), pages};
  }
}

}  // namespace

TEST_SUITE("pages") {
  TEST_CASE("trees, scores, rows and columns of page files are those of memory") {
    MixedShape shape;
    shape.n_rows = 40000;
    Mixed m = make_mixed(shape, 810);
    const std::int64_t n = shape.n_rows;
    Random random(811);
    std::vector<float> gradient, hessian, label;
    std::vector<RowIdx> inside, outside;
    for (std::int64_t i = 0; i < n; ++i) {
      gradient.push_back(static_cast<float>(random.normal() + m.table(i, 0)));
      hessian.push_back(static_cast<float>(random.between(0.1, 1.0)));
      label.push_back(static_cast<float>(random.normal()));
      (random.chance(0.4) ? inside : outside).push_back(static_cast<RowIdx>(i));
    }
    GrowParams params;
    params.shape.num_leaves = 60;
    for (const NamedStorage& s : storages_of(m)) {
      const auto memory = fill_training(m, s.storage, m.table.dense());
      for (const std::int64_t page_rows : {8192, 24576, 65536}) {
        CAPTURE(s.name);
        CAPTURE(page_rows);
        TempFile file;
        const Paged paged = write(m, *memory, page_rows, file.number());
        for (std::size_t f = 0; f < memory->features().size(); ++f) {
          CHECK(column_of(*paged.matrix, f) == column_of(*memory, f));
          CHECK(paged.matrix->features()[f].has_missing == memory->features()[f].has_missing);
        }
        for (const bool bagged : {false, true}) {
          for (const int n_threads : {1, 3}) {
            Team team(n_threads);
            params.shape.depthwise = bagged;
            params.values.refit = bagged;
            params.search.max_histogram_bytes = n_threads == 1 ? 1 << 18 : 1 << 30;
            std::vector<double> scores[2];
            Tree trees[2];
            for (int on_disk = 0; on_disk < 2; ++on_disk) {
              const auto& matrix = on_disk ? paged.matrix : memory;
              scores[on_disk].assign(at(n), 0.25);
              Grower grower(matrix);
              trees[on_disk] = grower.grow(team, gradient.data(), hessian.data(), bagged ? inside.data() : nullptr,
                                           bagged ? static_cast<std::int64_t>(inside.size()) : n, params,
                                           scores[on_disk].data(), bagged ? label.data() : nullptr);
              add_tree_to_scores(team, *matrix, trees[on_disk], outside.data(),
                                 static_cast<std::int64_t>(outside.size()), scores[on_disk].data());
              add_tree_to_scores(team, *matrix, trees[on_disk], nullptr, n, scores[on_disk].data());
              CHECK((grower.stats().passes > 0) == (on_disk == 1));
              CHECK(grower.stats().passes <= grower.stats().batches + 1);
            }
            CHECK(trees[0].n_leaves() == 60);
            CHECK(trees[0].feature == trees[1].feature);
            CHECK(trees[0].threshold_bin == trees[1].threshold_bin);
            CHECK(trees[0].default_left == trees[1].default_left);
            CHECK(first_difference(trees[0].gain, trees[1].gain) == -1);
            CHECK(first_difference(trees[0].leaf_value, trees[1].leaf_value) == -1);
            CHECK(first_difference(scores[0], scores[1]) == -1);
          }
        }
        Team team(2);
        std::vector<RowIdx> mixed = outside;
        std::reverse(mixed.begin(), mixed.end());
        mixed.insert(mixed.end(), {5, 5, 39999, 0});
        BinMatrix some(paged.matrix->features(), std::ssize(mixed), paged.matrix->storage());
        some.fill_from(team, *paged.matrix, mixed);
        for (std::size_t f = 0; f < memory->features().size(); ++f) {
          const auto all = column_of(*memory, f);
          const auto taken = column_of(some, f);
          bool same = true;
          for (std::size_t i = 0; i < mixed.size(); ++i) same &= taken[i] == all[mixed[i]];
          CHECK(same);
        }
      }
    }
  }

  TEST_CASE("a page that is cut off or changed is an error, and the next tree is right again") {
    MixedShape shape;
    shape.n_rows = 20000;
    Mixed m = make_mixed(shape, 812);
    const auto memory = fill_training(m, storages_of(m)[0].storage, m.table.dense());
    TempFile file;
    const Paged paged = write(m, *memory, 8192, file.number());
    std::vector<float> gradient;
    Random random(813);
    for (std::int64_t i = 0; i < shape.n_rows; ++i) gradient.push_back(static_cast<float>(random.normal()));
    Team team(2);
    GrowParams params;
    Grower grower(paged.matrix);
    std::vector<double> score(gradient.size(), 0.0);
    const auto grow = [&] {
      return grower.grow(team, gradient.data(), nullptr, nullptr, shape.n_rows, params, score.data());
    };
    const Tree expected = grow();
    const std::vector<double> before = score;
    unsigned char byte = 0;
    REQUIRE(pread(file.number(), &byte, 1, 9000) == 1);
    const unsigned char other = static_cast<unsigned char>(byte ^ 1);
    REQUIRE(pwrite(file.number(), &other, 1, 9000) == 1);
    CHECK_THROWS_WITH_AS(grow(), "page 0 of the test's file has changed since it was written", PageError);
    CHECK(first_difference(score, before) == -1);
    REQUIRE(pwrite(file.number(), &byte, 1, 9000) == 1);
    const Tree again = grow();
    CHECK(again.feature == expected.feature);
    CHECK(again.threshold_bin == expected.threshold_bin);
    REQUIRE(ftruncate(file.number(), paged.pages->n_bytes() - 1) == 0);
    CHECK_THROWS_WITH_AS(grow(), "page 2 of the test's file is cut off: the file is shorter than it was", PageError);
  }

  TEST_CASE("values that no feature has are an error, though their checksum is right") {
    MixedShape shape;
    shape.n_rows = 3000;
    Mixed m = make_mixed(shape, 814);
    const auto memory = fill_training(m, storages_of(m)[0].storage, m.table.dense());
    TempFile file;
    const Paged paged = write(m, *memory, 1024, file.number());
    const PageShape pages(*paged.matrix, shape.n_rows, 1024);
    std::vector<char> has_missing;
    for (const Feature& feature : paged.matrix->features()) has_missing.push_back(feature.has_missing);
    std::vector<std::uint8_t> bytes(at(paged.pages->n_bytes()));
    REQUIRE(pread(file.number(), bytes.data(), bytes.size(), 0) == std::ssize(bytes));
    // A file with these bytes and the right checksums.
    const auto read = [&](const std::vector<std::uint8_t>& content, const std::vector<char>& missing) {
      REQUIRE(pwrite(file.number(), content.data(), content.size(), 0) == std::ssize(content));
      std::vector<std::uint64_t> checksums;
      for (std::int64_t page = 0; page < pages.n_pages(); ++page) {
        const RowRange rows = pages.rows_of(page);
        const std::size_t n = at((rows.end - rows.begin) * pages.bytes_per_row());
        checksums.push_back(page_checksum({content.data() + rows.begin * pages.bytes_per_row(), n}, at(page)));
      }
      FilePages(pages, LaneValues(*paged.matrix, missing), checksums, file.number(), "the file")
          .for_each([](const RowPage&) {});
    };
    CHECK_NOTHROW(read(bytes, has_missing));
    // The last row of the second page, in every element of every group.
    std::int64_t offset = pages.bytes_per_row() * 1024;
    for (const Group& group : paged.matrix->groups()) {
      const std::int64_t width = group.two_bytes ? 2 : 1;
      offset += group.row_stride * width * 1023;
      for (std::int64_t i = 0; i < group.row_stride; ++i, offset += width) {
        CAPTURE(i);
        const int n_values = i < group.n_lanes ? group.lanes[at(i)].n_values : 1;
        if (n_values == (group.two_bytes ? 65536 : 256)) continue;
        std::vector<std::uint8_t> changed = bytes;
        const std::uint16_t value = static_cast<std::uint16_t>(n_values);
        std::memcpy(changed.data() + offset, &value, at(width));
        CHECK_THROWS_WITH_AS(read(changed, has_missing), "page 1 of the file has bins that no feature has", PageError);
      }
    }
    int n_tried = 0;
    for (std::size_t f = 0; f < has_missing.size(); ++f) {
      std::vector<char> other = has_missing;
      if (std::exchange(other[f], char{0}) == 0) continue;
      CAPTURE(f);
      CHECK_THROWS_AS(read(bytes, other), PageError);
      n_tried += 1;
    }
    CHECK(n_tried > 0);
  }

  TEST_CASE("passes may be counted, and begun by others, during a pass") {
    MixedShape shape;
    shape.n_rows = 3000;
    Mixed m = make_mixed(shape, 816);
    const auto memory = fill_training(m, storages_of(m)[0].storage, m.table.dense());
    TempFile file;
    const Paged paged = write(m, *memory, 512, file.number());
    std::atomic<int> n_read = 0;
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back([&] { paged.pages->for_each([&](const RowPage&) { n_read += 1; }); });
    }
    while (paged.pages->n_passes() < 3) std::this_thread::yield();
    for (std::thread& reader : readers) reader.join();
    CHECK(n_read == 3 * 6);
  }

  TEST_CASE("pages that are written again with more features") {
    MixedShape shape;
    shape.n_rows = 20000;
    const Mixed a = make_mixed(shape, 816), b = make_mixed(shape, 817);
    const auto right = fill_training(b, Storage{true, {}, {}}, b.table.dense());
    for (const NamedStorage& s : storages_of(a)) {
      CAPTURE(s.name);
      const auto left = fill_training(a, s.storage, a.table.dense());
      TempFile first, second;
      const Paged paged = write(a, *left, 8192, first.number());
      const auto n_left = static_cast<std::int32_t>(a.table.n_columns());
      BesideWriter writer(paged.matrix, right, n_left, second.number());
      Team team(2);
      writer.write(team, b.table.dense());
      CHECK(writer.page_rows() == 8192);
      const BinMatrix& layout = *writer.layout();
      const std::vector<std::uint64_t> checksums = writer.finish();
      auto pages = std::make_shared<FilePages>(PageShape(layout, shape.n_rows, writer.page_rows()),
                                               LaneValues(layout, writer.has_missing()), checksums, second.number(),
                                               "the test's file");
      const auto both = make_paged(layout, writer.has_missing(), pages, shape.n_rows);
      const std::size_t n_features = left->features().size();
      REQUIRE(both->features().size() == n_features + right->features().size());
      for (std::size_t f = 0; f < both->features().size(); ++f) {
        CAPTURE(f);
        const bool is_left = f < n_features;
        const BinMatrix& from = is_left ? *left : *right;
        const std::size_t own = is_left ? f : f - n_features;
        CHECK(column_of(*both, f) == column_of(from, own));
        CHECK(both->features()[f].has_missing == from.features()[own].has_missing);
        CHECK(both->features()[f].column == from.features()[own].column + (is_left ? 0 : n_left));
      }
    }
    const auto memory = fill_training(a, storages_of(a)[0].storage, a.table.dense());
    CHECK_THROWS_AS(BesideWriter(memory, right, 1000, 0), std::invalid_argument);
  }

#if defined(__linux__)
  TEST_CASE("arrays in files keep what is written, and little of them is in memory") {
    const auto shared_pages = [] {
      long total = 0, resident = 0, shared = 0;
      std::FILE* const file = std::fopen("/proc/self/statm", "r");
      REQUIRE(std::fscanf(file, "%ld %ld %ld", &total, &resident, &shared) == 3);
      std::fclose(file);
      return shared;
    };
    constexpr std::int64_t kRows = 1 << 22, kBlock = 8192;
    TempFile file;
    const RowFile rows(file.number(), kRows * 8);
    auto* const values = reinterpret_cast<std::uint64_t*>(rows.bytes().data());
    const long before = shared_pages();
    std::atomic<long> most = 0;
    for (const int n_threads : {1, 3}) {
      Team team(n_threads);
      for (int round = 0; round < 2; ++round) {
        for_blocks(team, kRows, kBlock, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
          for (std::int64_t i = begin; i < end; ++i) values[i] += static_cast<std::uint64_t>(i);
          most = std::max(most.load(), shared_pages());
        });
      }
    }
    CHECK((most - before) * sysconf(_SC_PAGESIZE) < kRows * 8 / 4);
    release_row_files();
    std::int64_t n_wrong = 0;
    for (std::int64_t i = 0; i < kRows; ++i) n_wrong += values[i] != 4 * static_cast<std::uint64_t>(i);
    CHECK(n_wrong == 0);
  }
#endif

  TEST_CASE("arrays in files that cannot be had") {
    TempFile file;
    CHECK_THROWS_AS(RowFile(file.number(), 0), std::invalid_argument);
    CHECK_THROWS_AS(RowFile(-1, 100), PageError);
  }

  TEST_CASE("gradients that are rounded where they are") {
    MixedShape shape;
    shape.n_rows = 20000;
    const Mixed m = make_mixed(shape, 818);
    const auto memory = fill_training(m, storages_of(m)[0].storage, m.table.dense());
    Random random(819);
    std::vector<float> gradient;
    for (std::int64_t i = 0; i < shape.n_rows; ++i) gradient.push_back(static_cast<float>(random.normal()));
    Team team(2);
    for (const bool is_wide : {false, true}) {
      if (is_wide) gradient[0] = 1e9F;  // the others would be zeros in a packed cell
      for (const bool is_sample : {false, true}) {
        std::vector<RowIdx> rows;
        for (RowIdx row = 0; is_sample && row < shape.n_rows; row += 2 + row % 3) rows.push_back(row);
        std::vector<std::uint32_t> given(4 * at(shape.n_rows), 7), few(10, 7);
        std::vector<double> scores[3];
        std::vector<float> left[3];  // of the gradients
        for (int use = 0; use < 3; ++use) {
          RoundGrower grower(memory);
          if (use > 0) grower.round_in_place(use == 1 ? given : few);
          scores[use].assign(at(shape.n_rows), 0.0);
          left[use] = gradient;
          const std::vector<GrowParams> params(1);
          grower.grow(team, left[use].data(), nullptr, is_sample ? rows.data() : nullptr,
                      is_sample ? std::ssize(rows) : shape.n_rows, params, scores[use].data());
          CHECK(grower.stats().wide_rounds == is_wide);
        }
        CHECK(first_difference(scores[0], scores[1]) == -1);
        CHECK(first_difference(scores[0], scores[2]) == -1);
        CHECK(left[0] == gradient);
        CHECK((left[1] == gradient) == is_wide);
        CHECK((std::count(given.begin(), given.end(), 7U) == std::ssize(given)) == !is_wide);
        CHECK(std::count(few.begin(), few.end(), 7U) == 10);  // too small: not used
      }
    }
  }

  TEST_CASE("a page may be longer than the table, however long") {
    MixedShape shape;
    shape.n_rows = 100;
    Mixed m = make_mixed(shape, 815);
    const auto memory = fill_training(m, storages_of(m)[0].storage, m.table.dense());
    const PageShape pages(*memory, 100, std::numeric_limits<std::int64_t>::max());
    CHECK(pages.n_pages() == 1);
    CHECK(pages.rows_of(0).end == 100);
  }

  TEST_CASE("checksums see every byte, the length and the place of a page") {
    std::vector<std::uint8_t> bytes(101);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37);
    const std::uint64_t expected = page_checksum(bytes, 3);
    CHECK(page_checksum(bytes, 3) == expected);
    CHECK(page_checksum(bytes, 4) != expected);
    CHECK(page_checksum({bytes.data(), 100}, 3) != expected);
    for (std::uint8_t& byte : bytes) {
      byte ^= 64;
      CHECK(page_checksum(bytes, 3) != expected);
      byte ^= 64;
    }
  }
}

}  // namespace gossamer::tests
