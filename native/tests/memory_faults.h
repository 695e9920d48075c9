// Makes an allocation of this program fail, to see what becomes of it.
#pragma once

#include <atomic>
#include <cstdint>

namespace gossamer::tests {

// While it lives, the n-th allocation from 0, on any thread, throws std::bad_alloc. One at a time.
class FailAllocation {
 public:
  explicit FailAllocation(std::int64_t n) { left_ = n; }
  ~FailAllocation() { left_ = -1; }
  FailAllocation(const FailAllocation&) = delete;
  FailAllocation& operator=(const FailAllocation&) = delete;

  bool happened() const { return left_ < 0; }
  // Whether the allocation that begins is the one.
  static bool is_due() { return left_.load(std::memory_order_relaxed) >= 0 && left_.fetch_sub(1) == 0; }

 private:
  static inline std::atomic<std::int64_t> left_{-1};
};

}  // namespace gossamer::tests
