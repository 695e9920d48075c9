// Aligned, uninitialised arrays. Large ones come straight from the operating system, with a request
// for huge pages: gathering rows otherwise spends its time in TLB misses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gossamer {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size) : size_(size) { allocate(); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::int64_t i) { return data_[i]; }
  const T& operator[](std::int64_t i) const { return data_[i]; }
  std::int64_t size() const { return size_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }

  // Does not keep the old contents.
  void reset(std::int64_t size) { *this = Buffer(size); }
  void grow_to(std::int64_t size) {
    if (size > size_) reset(size);
  }

 private:
  static constexpr std::size_t kHuge = std::size_t{1} << 21;
  // Kernels may read a few bytes past the last element (4-byte gathers of 1-byte bins).
  static constexpr std::size_t kSlack = 64;

  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
  }

  void allocate() {
    if (size_ == 0) return;
    const std::size_t bytes = static_cast<std::size_t>(size_) * sizeof(T) + kSlack;
#if defined(__linux__)
    if (bytes >= kHuge) {
      mapped_bytes_ = bytes + kHuge;
      void* raw = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (raw == MAP_FAILED) {
        mapped_bytes_ = 0;
        throw std::bad_alloc();
      }
      mapped_ = raw;
      const auto address = (reinterpret_cast<std::uintptr_t>(raw) + kHuge - 1) & ~(kHuge - 1);
      data_ = reinterpret_cast<T*>(address);
      madvise(data_, bytes, MADV_HUGEPAGE);
      return;
    }
#endif
    data_ = static_cast<T*>(::operator new(bytes, std::align_val_t{64}));
  }

  void release() noexcept {
    if (data_ == nullptr) return;
#if defined(__linux__)
    if (mapped_ != nullptr) {
      munmap(mapped_, mapped_bytes_);
      return;
    }
#endif
    ::operator delete(static_cast<void*>(data_), std::align_val_t{64});
  }

  T* data_ = nullptr;
  std::int64_t size_ = 0;
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace gossamer
