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

// A number of any type, read as a double. Code for every type takes long to compile; types that are rare, or rare in
// some place, share the code for this one.
struct AnyNumber {
  double value;

  operator double() const { return value; }
};

inline double read_number(const void* data, DType dtype, std::int64_t i) {
  switch (dtype) {
    case DType::f32: return static_cast<double>(static_cast<const float*>(data)[i]);
    case DType::f64: return static_cast<const double*>(data)[i];
    case DType::i8: return static_cast<double>(static_cast<const std::int8_t*>(data)[i]);
    case DType::i16: return static_cast<double>(static_cast<const std::int16_t*>(data)[i]);
    case DType::i32: return static_cast<double>(static_cast<const std::int32_t*>(data)[i]);
    case DType::i64: return static_cast<double>(static_cast<const std::int64_t*>(data)[i]);
    case DType::u8: return static_cast<double>(static_cast<const std::uint8_t*>(data)[i]);
    case DType::u16: return static_cast<double>(static_cast<const std::uint16_t*>(data)[i]);
    case DType::u32: return static_cast<double>(static_cast<const std::uint32_t*>(data)[i]);
    case DType::u64: return static_cast<double>(static_cast<const std::uint64_t*>(data)[i]);
  }
  throw std::invalid_argument("unknown dtype");
}

template <>
struct TypedView<AnyNumber> {
  MatrixView matrix;

  AnyNumber operator()(std::int64_t row, std::int64_t column) const {
    return {read_number(matrix.data, matrix.dtype, row * matrix.row_stride + column * matrix.column_stride)};
  }
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

// Calls body(TypedView<T>), where T is float, double or, for all other types, AnyNumber.
template <class Body>
decltype(auto) visit_few(const MatrixView& m, Body&& body) {
  if (m.dtype == DType::f32) {
    return body(TypedView<float>{static_cast<const float*>(m.data), m.row_stride, m.column_stride});
  }
  if (m.dtype == DType::f64) {
    return body(TypedView<double>{static_cast<const double*>(m.data), m.row_stride, m.column_stride});
  }
  return body(TypedView<AnyNumber>{m});
}

// Copies rows [begin, end) of a column to `out`, numbers of any type as fast as any other.
template <class View, class Value>
void read_column(const View& view, std::int64_t column, std::int64_t begin, std::int64_t end, Value* out) {
  for (std::int64_t row = begin; row < end; ++row) out[row - begin] = static_cast<Value>(view(row, column));
}
template <class Value>
void read_column(const TypedView<AnyNumber>& view, std::int64_t column, std::int64_t begin, std::int64_t end,
                 Value* out) {
  visit(view.matrix, [&](const auto& own) {
    for (std::int64_t row = begin; row < end; ++row) out[row - begin] = static_cast<Value>(own(row, column));
  });
}

}  // namespace gossamer
