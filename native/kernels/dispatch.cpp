#include "kernels/kernels.h"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gossamer {

// Kernels read several bins as one integer, and files hold arrays as they lie in memory.
static_assert(std::endian::native == std::endian::little, "Gossamer needs a little-endian processor");

// CMakeLists.txt defines which levels were compiled.
#if defined(GOSSAMER_HAS_V2)
namespace v2 {
const KernelTable& table();
}
#endif
#if defined(GOSSAMER_HAS_V3)
namespace v3 {
const KernelTable& table();
}
#endif
#if defined(GOSSAMER_HAS_V4)
namespace v4 {
const KernelTable& table();
}
#endif
#if defined(GOSSAMER_HAS_GENERIC)
namespace generic {
const KernelTable& table();
}
#endif

namespace {

struct Levels {
  const KernelTable* tables[3];
  int n = 0;
  std::atomic<const KernelTable*> chosen{nullptr};

  Levels() {
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
#if defined(GOSSAMER_HAS_V2)
    if (__builtin_cpu_supports("x86-64-v2")) tables[n++] = &v2::table();
#endif
#if defined(GOSSAMER_HAS_V3)
    if (__builtin_cpu_supports("x86-64-v3")) tables[n++] = &v3::table();
#endif
#if defined(GOSSAMER_HAS_V4)
    if (__builtin_cpu_supports("x86-64-v4")) tables[n++] = &v4::table();
#endif
#if defined(GOSSAMER_HAS_GENERIC)
    tables[n++] = &generic::table();
#endif
    if (n == 0) {
      throw std::runtime_error(
          "gossamer was compiled for another processor, with instructions that this one lacks. Compile it here, or "
          "with "
          "GOSSAMER_KERNELS=all, which runs on any x86-64-v2 processor.");
    }
    chosen = tables[n - 1];
    const char* const forced = std::getenv("GOSSAMER_KERNELS");
    if (forced != nullptr) choose(forced);
  }

  bool choose(const char* name) {
    for (int i = 0; i < n; ++i) {
      if (std::strcmp(tables[i]->level, name) == 0) {
        chosen = tables[i];
        return true;
      }
    }
    return false;
  }
};

Levels& levels() {
  static Levels instance;
  return instance;
}

}  // namespace

const KernelTable& kernels() { return *levels().chosen.load(std::memory_order_relaxed); }
bool merges_stores() {
#if defined(__x86_64__)
  static const bool merges = [] {
    constexpr unsigned kZen5 = 0x1a;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    __builtin_cpu_init();
    if (!__builtin_cpu_is("amd") || __get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return false;
    return (eax >> 8 & 0xf) + (eax >> 20 & 0xff) >= kZen5;  // the family
  }();
  return merges;
#else
  return false;
#endif
}
int n_kernel_levels() { return levels().n; }
const char* kernel_level_name(int idx) { return levels().tables[idx]->level; }
bool set_kernel_level(const char* name) { return levels().choose(name); }

}  // namespace gossamer
