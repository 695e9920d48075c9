#include "kernels/kernels.h"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace gossamer {

// Kernels read several bins as one integer, and files hold arrays as they lie in memory.
static_assert(std::endian::native == std::endian::little, "Gossamer needs a little-endian processor");

#if !defined(GOSSAMER_GENERIC_KERNELS)
namespace v2 {
const KernelTable& table();
}
namespace v3 {
const KernelTable& table();
}
namespace v4 {
const KernelTable& table();
}
#else
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
#if !defined(GOSSAMER_GENERIC_KERNELS)
    __builtin_cpu_init();
    tables[n++] = &v2::table();
    if (__builtin_cpu_supports("x86-64-v3")) tables[n++] = &v3::table();
    if (__builtin_cpu_supports("x86-64-v4")) tables[n++] = &v4::table();
#else
    tables[n++] = &generic::table();
#endif
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
int n_kernel_levels() { return levels().n; }
const char* kernel_level_name(int idx) { return levels().tables[idx]->level; }
bool set_kernel_level(const char* name) { return levels().choose(name); }

}  // namespace gossamer
