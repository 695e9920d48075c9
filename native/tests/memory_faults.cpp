// The program's own operator new, which fails when FailAllocation says so.
#include "memory_faults.h"

#include <algorithm>
#include <cstdlib>
#include <new>

void* operator new(std::size_t n) {
  void* const memory = gossamer::tests::FailAllocation::is_due() ? nullptr : std::malloc(std::max<std::size_t>(n, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* operator new(std::size_t n, std::align_val_t alignment) {
  const auto a = static_cast<std::size_t>(alignment);
  void* const memory =
      gossamer::tests::FailAllocation::is_due() ? nullptr : std::aligned_alloc(a, std::max((n + a - 1) / a * a, a));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
