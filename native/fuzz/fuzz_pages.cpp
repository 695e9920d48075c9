// libFuzzer: the bins of a page file are any bytes, and their checksums are right. A page is refused, or trees can
// be grown on it. Pages are the only files that native code reads; all other readers are
// tests/attack/mutated_files.py's.
#define DOCTEST_CONFIG_IMPLEMENT
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "core/round_grower.h"
#include "files/page_file.h"
#include "tests/sparse_table.h"

namespace gossamer::tests {
namespace {

constexpr std::int64_t kRows = 300;
constexpr std::int64_t kPageRows = 128;

struct Case {
  std::shared_ptr<BinMatrix> layout;
  std::vector<char> has_missing;
};

// Tables with shared lanes, bundles, wide bins and missing values.
const std::vector<Case>& cases() {
  static doctest::Context context;  // the tables are made by functions of the tests, which check
  context.setAsDefaultForAssertsOutOfTestCases();
  static const std::vector<Case> found = [] {
    std::vector<Case> all;
    MixedShape shape;
    shape.n_rows = kRows;
    const Mixed m = make_mixed(shape, 1);
    for (const NamedStorage& s : storages_of(m)) {
      const auto memory = fill_training(m, s.storage, m.table.dense());
      Case one{make_page_layout(*memory, {}), {}};
      for (const Feature& f : one.layout->features()) one.has_missing.push_back(f.may_miss && f.n_value_bins % 2 == 0);
      all.push_back(std::move(one));
    }
    return all;
  }();
  return found;
}

void train_on(const Case& one, std::span<const std::uint8_t> bytes) {
  const PageShape shape(*one.layout, kRows, kPageRows);
  std::vector<std::uint8_t> content(static_cast<std::size_t>(kRows * shape.bytes_per_row()));
  std::copy_n(bytes.begin(), std::min(bytes.size(), content.size()), content.begin());
  std::FILE* const file = std::tmpfile();
  if (file == nullptr) std::abort();
  std::fwrite(content.data(), 1, content.size(), file);
  std::fflush(file);
  std::vector<std::uint64_t> checksums;
  for (std::int64_t page = 0; page < shape.n_pages(); ++page) {
    const RowRange rows = shape.rows_of(page);
    const auto begin = static_cast<std::size_t>(rows.begin * shape.bytes_per_row());
    const auto n = static_cast<std::size_t>((rows.end - rows.begin) * shape.bytes_per_row());
    checksums.push_back(page_checksum({content.data() + begin, n}, static_cast<std::uint64_t>(page)));
  }
  try {
    const auto pages =
        std::make_shared<FilePages>(shape, LaneValues(*one.layout, one.has_missing), checksums, fileno(file), "pages");
    const auto matrix = make_paged(*one.layout, one.has_missing, pages, kRows);
    std::vector<float> gradient(kRows), hessian(kRows, 1.0F);
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>((i * 37) % 101) - 50.0F;
    std::vector<double> scores(kRows, 0.0);
    GrowParams params;
    params.shape.num_leaves = 8;
    Team team(1);
    Grower grower(matrix);
    const Tree tree =
        grower.grow(team, gradient.data(), hessian.data(), nullptr, kRows, params, scores.data(), nullptr);
    add_tree_to_scores(team, *matrix, tree, nullptr, kRows, scores.data());
  } catch (const std::exception&) {
  }
  std::fclose(file);
}

}  // namespace
}  // namespace gossamer::tests

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using gossamer::tests::cases;
  if (size == 0) return 0;
  gossamer::tests::train_on(cases()[data[0] % cases().size()], {data + 1, size - 1});
  return 0;
}

#if !defined(GOSSAMER_LIBFUZZER)
// Without clang: so many inputs of random bytes, small ones mostly, since those are bins.
int main(int argc, char** argv) {
  const long n_inputs = argc > 1 ? std::atol(argv[1]) : 10000;
  gossamer::tests::Random random(7);
  std::vector<std::uint8_t> bytes;
  for (long i = 0; i < n_inputs; ++i) {
    bytes.resize(1 + static_cast<std::size_t>(random.below(20000)));
    const std::int64_t most = random.chance(0.7) ? 1 + random.below(4) : 256;
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(most));
    bytes[0] = static_cast<std::uint8_t>(i);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%ld inputs\n", n_inputs);
  return 0;
}
#endif
