// One piece of memory for many arrays: where they are small, allocating and freeing them one by one takes longer than
// filling them.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace gossamer {

class Arena;

// What lets a vector of numbers live in an arena, or on the heap where there is none.
template <class T>
struct ArenaAllocator {
  static_assert(std::is_trivially_destructible_v<T>);
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  ArenaAllocator() = default;
  explicit ArenaAllocator(Arena* own) : arena(own) {}
  template <class U>
  ArenaAllocator(const ArenaAllocator<U>& other) : arena(other.arena) {}

  T* allocate(std::size_t n);
  // Does not touch the arena, which may be gone.
  void deallocate(T* array, std::size_t n) noexcept {
    if (arena == nullptr) std::allocator<T>().deallocate(array, n);
  }
  ArenaAllocator select_on_container_copy_construction() const { return {}; }  // copies live on the heap
  template <class U>
  bool operator==(const ArenaAllocator<U>& other) const {
    return arena == other.arena;
  }

  Arena* arena = nullptr;
};

template <class T>
using ArenaVector = std::vector<T, ArenaAllocator<T>>;

// Memory is given back when the arena goes, not before.
class Arena {
 public:
  explicit Arena(std::size_t n_bytes) { add_block(n_bytes); }
  template <class T>
  static std::size_t bytes_of(const ArenaVector<T>&, std::size_t n) {
    return aligned(n * sizeof(T));
  }
  // The vector becomes an empty one that can take n numbers.
  template <class T>
  void give(ArenaVector<T>& vector, std::size_t n) {
    vector = ArenaVector<T>(ArenaAllocator<T>(this));
    vector.reserve(n);
  }
  void* allocate(std::size_t n_bytes) {
    n_bytes = aligned(n_bytes);
    if (n_bytes > left_) add_block(2 * n_bytes);
    left_ -= n_bytes;
    return blocks_.back().get() + size_ - left_ - n_bytes;
  }

 private:
  static std::size_t aligned(std::size_t n_bytes) {
    constexpr std::size_t kAlign = alignof(std::max_align_t);
    return (n_bytes + kAlign - 1) / kAlign * kAlign;
  }

  void add_block(std::size_t n_bytes) {
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(n_bytes));
    size_ = left_ = n_bytes;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::size_t size_ = 0;  // of the last block
  std::size_t left_ = 0;
};

// A copy owns nothing, because copies of vectors live on the heap.
struct OwnedArena : std::unique_ptr<Arena> {
  OwnedArena() = default;
  OwnedArena(const OwnedArena&) : std::unique_ptr<Arena>() {}
  OwnedArena(OwnedArena&&) = default;
  OwnedArena& operator=(const OwnedArena&) { return *this; }
  OwnedArena& operator=(OwnedArena&&) = default;
};

template <class T>
T* ArenaAllocator<T>::allocate(std::size_t n) {
  if (arena == nullptr) return std::allocator<T>().allocate(n);
  return static_cast<T*>(arena->allocate(n * sizeof(T)));
}

}  // namespace gossamer
