// Adds up the sums of several shards of the rows, so that all shards grow the same tree.
//
// A shard is a range of consecutive rows with an evaluator of its own. Every shard makes the same calls in the same
// order. On one machine there is no exchange: pointers to it are null.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace gossamer {

// Leaves elements that a vector is resized by uninitialised: messages are written once.
template <class T>
struct UninitialisedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UninitialisedAllocator<U>;
  };
  UninitialisedAllocator() = default;
  template <class U>
  UninitialisedAllocator(const UninitialisedAllocator<U>&) noexcept {}
  template <class U, class... Args>
  void construct(U* place, Args&&... args) {
    if constexpr (sizeof...(args) == 0) {
      ::new (static_cast<void*>(place)) U;
    } else {
      ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
    }
  }
};

using Bytes = std::vector<std::uint8_t, UninitialisedAllocator<std::uint8_t>>;

// What every shard has sent to this one. `owner` keeps the bytes alive.
struct Received {
  std::vector<std::span<const std::uint8_t>> parts;
  std::shared_ptr<const void> owner;
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual std::int32_t n_shards() const = 0;
  virtual std::int32_t shard() const = 0;
  // Whether every shard has all rows: histograms are complete then, and only the search is shared out.
  virtual bool has_all_rows() const { return false; }
  // How many features a shard proposes for each leaf; only those with the most votes are exchanged. 0: no vote.
  virtual std::int32_t top_k() const { return 0; }

  // Part i goes to shard i; returns what each shard sent to this one.
  virtual Received swap(std::vector<Bytes> parts) = 0;
  // Every number becomes the sum over all shards; sums wrap around like unsigned integers.
  virtual void add(std::span<const std::span<std::uint64_t>> parts) = 0;
  virtual void add(std::span<const std::span<std::int32_t>> parts) = 0;
  // Every number becomes the largest of all shards.
  virtual void keep_largest(std::span<double> values) = 0;
  // The numbers of all shards, in the order of their rows.
  virtual std::vector<double> gather(std::span<const double> own) = 0;

  std::int64_t sum(std::int64_t own) {
    auto word = static_cast<std::uint64_t>(own);
    const std::span<std::uint64_t> part(&word, 1);
    add(std::span(&part, 1));
    return static_cast<std::int64_t>(word);
  }
};

}  // namespace gossamer
