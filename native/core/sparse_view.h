// The user's sparse matrix as it is: compressed rows or columns, any numeric type, values and indices never copied.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "core/matrix_view.h"

namespace gossamer {

// A slice is a row of a compressed-row matrix, a column of a compressed-column one. Slice s holds
// entries [begin[s], begin[s + 1]); an entry's index is its position in the slice. Absent means zero.
struct SparseView {
  const void* values = nullptr;
  DType dtype = DType::f64;
  const void* indices = nullptr;
  bool wide_indices = false;    // int64; else int32. `begin` has the same type
  const void* begin = nullptr;  // a copy: the user may change the original
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  bool by_row = true;

  std::int64_t n_slices() const { return by_row ? n_rows : n_columns; }
  std::int64_t begin_of(std::int64_t slice) const {
    return wide_indices ? static_cast<const std::int64_t*>(begin)[slice]
                        : static_cast<const std::int32_t*>(begin)[slice];
  }
  std::int64_t n_entries() const { return begin_of(n_slices()); }
};

// Thrown where two looks at the user's table disagree.
struct TableChanged : std::runtime_error {
  TableChanged() : std::runtime_error("the table was changed by another thread while it was read") {}
};

// The values of a matrix, in the order in which they are stored.
template <class T>
struct StoredValues {
  using Type = const T*;
};
template <>
struct StoredValues<AnyNumber> {
  struct Type {
    const void* data;
    DType dtype;

    AnyNumber operator[](std::int64_t e) const { return {read_number(data, dtype, e)}; }
  };
};

template <class T, class Index>
struct TypedSparse {
  typename StoredValues<T>::Type values;
  const Index* indices;
  const Index* begin;
  std::int64_t limit;  // indices are below it

  // Asks for the memory of entry e, which need not exist.
  void prefetch(std::int64_t e) const {
    __builtin_prefetch(indices + e);
    if constexpr (std::is_pointer_v<decltype(values)>) __builtin_prefetch(values + e);
  }

  // The index of entry e, greater than `last`, the one before it in its slice (-1: there is none).
  // A matrix is checked when it is handed over, but another thread may write to its arrays after
  // that: so an index is checked again where it is followed, and read only once.
  std::int64_t index(std::int64_t e, std::int64_t last) const {
    const auto index = static_cast<std::int64_t>(__atomic_load_n(indices + e, __ATOMIC_RELAXED));
    if (index <= last || index >= limit) throw TableChanged();
    return index;
  }
};

// Calls body(TypedSparse<T, Index>) with the matrix's own types; types of values that are rare are AnyNumber.
template <class Body>
decltype(auto) visit(const SparseView& m, Body&& body) {
  const std::int64_t limit = m.by_row ? m.n_columns : m.n_rows;
  const auto as = [&]<class T>(typename StoredValues<T>::Type values) -> decltype(auto) {
    const auto with = [&]<class Index>(const Index* indices) -> decltype(auto) {
      return body(TypedSparse<T, Index>{values, indices, static_cast<const Index*>(m.begin), limit});
    };
    if (m.wide_indices) return with(static_cast<const std::int64_t*>(m.indices));
    return with(static_cast<const std::int32_t*>(m.indices));
  };
  switch (m.dtype) {
    case DType::f32: return as.template operator()<float>(static_cast<const float*>(m.values));
    case DType::f64: return as.template operator()<double>(static_cast<const double*>(m.values));
    case DType::i32: return as.template operator()<std::int32_t>(static_cast<const std::int32_t*>(m.values));
    case DType::i64: return as.template operator()<std::int64_t>(static_cast<const std::int64_t*>(m.values));
    default: return as.template operator()<AnyNumber>({m.values, m.dtype});
  }
}

struct SparseCheck {
  bool in_range = true;
  bool canonical = true;  // indices of each slice strictly increase: sorted, no duplicates
};

// Throws if `begin` is not a list of slices of n_entries entries; checks every index.
SparseCheck check_sparse(const SparseView& view, std::int64_t n_values);

}  // namespace gossamer
