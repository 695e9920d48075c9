// What a kernel needs from its surroundings: NVRTC's on a GPU, those of native/tests/emulator.h on the host, where the
// tests run the kernels thread by thread.
#pragma once

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)

#define GOSSAMER_KERNEL(name, n_threads) extern "C" __global__ void __launch_bounds__(n_threads) name

extern __shared__ __align__(16) unsigned char gossamer_shared[];
inline unsigned char* shared_memory() { return gossamer_shared; }

#else

#include "tests/emulator.h"

#endif
