// The program's own operator new, which fails when FailAllocation says so. Every form of it is here: sanitizers replace
// those that are left out, and then complain about memory that comes from one allocator and goes back to another.
#include "memory_faults.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

void* allocate(std::size_t n) noexcept {
  return gossamer::tests::FailAllocation::is_due() ? nullptr : std::malloc(std::max<std::size_t>(n, 1));
}

void* allocate(std::size_t n, std::align_val_t alignment) noexcept {
  const auto a = static_cast<std::size_t>(alignment);
  if (gossamer::tests::FailAllocation::is_due()) return nullptr;
  return std::aligned_alloc(a, std::max((n + a - 1) / a * a, a));
}

void* checked(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t n) { return checked(allocate(n)); }
void* operator new[](std::size_t n) { return checked(allocate(n)); }
void* operator new(std::size_t n, std::align_val_t a) { return checked(allocate(n, a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return checked(allocate(n, a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return allocate(n, a); }
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept { return allocate(n, a); }

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
