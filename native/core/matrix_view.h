// The user's matrix as it is: any numeric type, any strides, never copied.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace gossamer {

enum class DType { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

struct MatrixView {
  const void* data = nullptr;
  DType dtype = DType::f64;
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;
  std::int64_t row_stride = 0;  // elements
  std::int64_t column_stride = 0;
};

template <class T>
struct TypedView {
  const T* data;
  std::int64_t row_stride;
  std::int64_t column_stride;

  T operator()(std::int64_t row, std::int64_t column) const { return data[row * row_stride + column * column_stride]; }
};

// Calls body(TypedView<T>) with the matrix's own type.
template <class Body>
decltype(auto) visit(const MatrixView& m, Body&& body) {
  const auto as = [&]<class T>(const T* p) -> decltype(auto) {
    return body(TypedView<T>{p, m.row_stride, m.column_stride});
  };
  switch (m.dtype) {
    case DType::f32: return as(static_cast<const float*>(m.data));
    case DType::f64: return as(static_cast<const double*>(m.data));
    case DType::i8: return as(static_cast<const std::int8_t*>(m.data));
    case DType::i16: return as(static_cast<const std::int16_t*>(m.data));
    case DType::i32: return as(static_cast<const std::int32_t*>(m.data));
    case DType::i64: return as(static_cast<const std::int64_t*>(m.data));
    case DType::u8: return as(static_cast<const std::uint8_t*>(m.data));
    case DType::u16: return as(static_cast<const std::uint16_t*>(m.data));
    case DType::u32: return as(static_cast<const std::uint32_t*>(m.data));
    case DType::u64: return as(static_cast<const std::uint64_t*>(m.data));
  }
  throw std::invalid_argument("unknown dtype");
}

}  // namespace gossamer
