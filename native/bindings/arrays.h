// Typed views of Python arrays. Nothing is ever converted: a wrong dtype is an error, since a silent
// copy of an output array would swallow the result.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/gil.h"
#include "core/matrix_view.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/types.h"

namespace gossamer::bindings {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

template <class Array>
std::int64_t length(const Array& a) {
  return static_cast<std::int64_t>(a.shape(0));
}

template <class Array>
void check_length(const Array& a, std::int64_t expected, const char* name) {
  if (length(a) != expected) {
    throw std::invalid_argument(std::string(name) + " has length " + std::to_string(length(a)) + ", expected " +
                                std::to_string(expected));
  }
}

template <class T>
const T* data_or_null(const std::optional<In<T>>& a, std::int64_t expected, const char* name) {
  if (!a) return nullptr;
  check_length(*a, expected, name);
  return a->data();
}

// Numbers of rows; none: all rows.
using Rows = std::optional<In<RowIdx>>;

inline const RowIdx* checked_rows(const Rows& rows, std::int64_t n_all, Team& team, bool may_be_empty = false) {
  if (!rows) return nullptr;
  if (rows->size() == 0 && !may_be_empty) throw std::invalid_argument("no rows");
  const RowIdx* const data = rows->data();
  for_blocks(team, length(*rows), 65536, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    RowIdx largest = 0;  // no branch, so that many rows are compared at once
    for (std::int64_t i = begin; i < end; ++i) largest = data[i] > largest ? data[i] : largest;
    if (static_cast<std::int64_t>(largest) >= n_all) throw std::invalid_argument("row out of range");
  });
  return data;
}
// The same for rows that must increase: the last one is the largest.
inline const RowIdx* checked_increasing_rows(const Rows& rows, std::int64_t n_all, Team& team, bool may_be_empty) {
  if (!rows || rows->size() == 0) return checked_rows(rows, n_all, team, may_be_empty);
  const RowIdx* const data = rows->data();
  for_blocks(team, length(*rows), 65536, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    bool increases = true;
    for (std::int64_t i = std::max<std::int64_t>(begin, 1); i < end; ++i) increases &= data[i - 1] < data[i];
    if (!increases) throw std::invalid_argument("rows must increase");
  });
  if (static_cast<std::int64_t>(data[rows->size() - 1]) >= n_all) throw std::invalid_argument("row out of range");
  return data;
}
inline const RowIdx* checked_rows(const Rows& rows, std::int64_t n_all) {
  Team alone(1);
  return checked_rows(rows, n_all, alone);
}

inline DType dtype_of(nb::dlpack::dtype type) {
  if (type == nb::dtype<float>()) return DType::f32;
  if (type == nb::dtype<double>()) return DType::f64;
  if (type == nb::dtype<std::int8_t>()) return DType::i8;
  if (type == nb::dtype<std::int16_t>()) return DType::i16;
  if (type == nb::dtype<std::int32_t>()) return DType::i32;
  if (type == nb::dtype<std::int64_t>()) return DType::i64;
  if (type == nb::dtype<std::uint8_t>()) return DType::u8;
  if (type == nb::dtype<std::uint16_t>()) return DType::u16;
  if (type == nb::dtype<std::uint32_t>()) return DType::u32;
  if (type == nb::dtype<std::uint64_t>()) return DType::u64;
  throw std::invalid_argument("matrix dtype is not supported");
}

inline MatrixView view_of(const Matrix& m) {
  MatrixView view;
  view.data = m.data();
  view.n_rows = static_cast<std::int64_t>(m.shape(0));
  view.n_columns = static_cast<std::int64_t>(m.shape(1));
  view.row_stride = m.stride(0);
  view.column_stride = m.stride(1);
  view.dtype = dtype_of(m.dtype());
  return view;
}

template <class T>
std::vector<T> to_vector(const In<T>& a) {
  return std::vector<T>(a.data(), a.data() + a.shape(0));
}

// A NumPy array that owns the vector's memory.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T> values) {
  auto* const owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

}  // namespace gossamer::bindings
