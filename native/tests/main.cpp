// Runs the suites. GOSSAMER_KERNELS names the level to start at; if this machine does not have it,
// nothing runs and the exit code is 77, which ctest shows as skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernels/kernels.h"

int main(int argc, char** argv) {
  const char* const wanted = std::getenv("GOSSAMER_KERNELS");
  if (wanted != nullptr && std::strcmp(wanted, gossamer::kernels().level) != 0) {
    std::printf("kernel level %s: not on this machine\n", wanted);
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
