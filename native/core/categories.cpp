#include "core/categories.h"

#include <algorithm>
#include <map>

#include "core/index.h"

namespace gossamer {
namespace {

class Counter {
 public:
  void add(double x, std::int64_t n = 1) {
    if (!(x > -1.0)) {  // NaN too
      result_.n_missing += n;
      return;
    }
    const std::int32_t category = category_of(x);
    if (x != static_cast<double>(category)) {
      result_.odd = result_.has_odd ? std::max(result_.odd, x) : x;
      result_.has_odd = true;
    }
    if (category < 0) return;
    if (category < kFew) {
      const auto place = static_cast<std::size_t>(category);
      if (place >= few_.size()) few_.resize(std::max(2 * place, kStart), 0);
      few_[place] += n;
    } else {
      many_[category] += n;
    }
  }

  CategoryCounts result() && {
    for (std::size_t c = 0; c < few_.size(); ++c) put(static_cast<std::int32_t>(c), few_[c]);
    for (const auto& [category, count] : many_) put(category, count);
    return std::move(result_);
  }

 private:
  static constexpr std::int32_t kFew = 1 << 20;  // smaller categories are counted in an array
  static constexpr std::size_t kStart = 256;

  void put(std::int32_t category, std::int64_t count) {
    if (count == 0) return;
    result_.categories.push_back(category);
    result_.counts.push_back(count);
  }

  CategoryCounts result_;
  std::vector<std::int64_t> few_;
  std::map<std::int32_t, std::int64_t> many_;
};

// A column of a compressed matrix; rows without an entry are zero.
template <class T, class Index>
void count_sparse(const SparseView& matrix, const TypedSparse<T, Index>& entries, std::int64_t column,
                  Counter& counter) {
  std::int64_t n_zero = matrix.n_rows;
  const auto add = [&](std::int64_t e) {
    counter.add(static_cast<double>(entries.values[e]));
    --n_zero;
  };
  if (matrix.by_row) {
    for (std::int64_t row = 0; row < matrix.n_rows; ++row) {
      const Index* const first = entries.indices + entries.begin[row];
      const Index* const last = entries.indices + entries.begin[row + 1];
      const Index* const found = std::lower_bound(first, last, static_cast<Index>(column));
      if (found != last && *found == static_cast<Index>(column)) add(found - entries.indices);
    }
  } else {
    for (std::int64_t e = entries.begin[column]; e < entries.begin[column + 1]; ++e) add(e);
  }
  if (n_zero > 0) counter.add(0.0, n_zero);
}

}  // namespace

std::vector<CategoryCounts> count_categories(Team& team, const MatrixView& matrix,
                                             std::span<const std::int32_t> columns) {
  std::vector<CategoryCounts> found(columns.size());
  visit_few(matrix, [&]<class T>(TypedView<T> view) {
    team.for_each(static_cast<std::int64_t>(columns.size()), [&](std::int64_t i, int) {
      Counter counter;
      for (std::int64_t row = 0; row < matrix.n_rows; ++row) {
        counter.add(static_cast<double>(view(row, columns[at(i)])));
      }
      found[at(i)] = std::move(counter).result();
    });
  });
  return found;
}

std::vector<CategoryCounts> count_categories(Team& team, const SparseView& matrix,
                                             std::span<const std::int32_t> columns) {
  std::vector<CategoryCounts> found(columns.size());
  visit(matrix, [&]<class T, class Index>(TypedSparse<T, Index> entries) {
    team.for_each(static_cast<std::int64_t>(columns.size()), [&](std::int64_t i, int) {
      Counter counter;
      count_sparse(matrix, entries, columns[at(i)], counter);
      found[at(i)] = std::move(counter).result();
    });
  });
  return found;
}

}  // namespace gossamer
