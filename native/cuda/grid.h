// What a kernel needs from its surroundings: NVRTC's on a GPU, those of native/tests/emulator.h on the host, where the
// tests run the kernels thread by thread.
#pragma once

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)

// `n_blocks` of a kernel should run on a processor at the same time.
#define GOSSAMER_KERNEL(name, n_threads, n_blocks) \
  extern "C" __global__ void __launch_bounds__(n_threads, n_blocks) name
// For code that is rarely run, so that it takes no registers from the rest.
#define GOSSAMER_RARE __noinline__

extern __shared__ __align__(16) unsigned char gossamer_shared[];
inline unsigned char* shared_memory() { return gossamer_shared; }

#else

#include "tests/emulator.h"

#endif
