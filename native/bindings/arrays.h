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

#include "core/matrix_view.h"
#include "core/memory.h"

namespace gossamer::bindings {

namespace nb = nanobind;

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

inline MatrixView view_of(const Matrix& m) {
  MatrixView view;
  view.data = m.data();
  view.n_rows = static_cast<std::int64_t>(m.shape(0));
  view.n_columns = static_cast<std::int64_t>(m.shape(1));
  view.row_stride = m.stride(0);
  view.column_stride = m.stride(1);
  const auto type = m.dtype();
  const auto is = [&]<class T>() { return type == nb::dtype<T>(); };
  if (is.operator()<float>())
    view.dtype = DType::f32;
  else if (is.operator()<double>())
    view.dtype = DType::f64;
  else if (is.operator()<std::int8_t>())
    view.dtype = DType::i8;
  else if (is.operator()<std::int16_t>())
    view.dtype = DType::i16;
  else if (is.operator()<std::int32_t>())
    view.dtype = DType::i32;
  else if (is.operator()<std::int64_t>())
    view.dtype = DType::i64;
  else if (is.operator()<std::uint8_t>())
    view.dtype = DType::u8;
  else if (is.operator()<std::uint16_t>())
    view.dtype = DType::u16;
  else if (is.operator()<std::uint32_t>())
    view.dtype = DType::u32;
  else if (is.operator()<std::uint64_t>())
    view.dtype = DType::u64;
  else
    throw std::invalid_argument("matrix dtype is not supported");
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
