// The kernels of a GPU as a library that runs them on the host; see emulator.h. The Python tests load it in the place
// of a driver.
#include "cuda/kernels.cu"

#include <exception>
#include <string_view>

namespace {

template <class Arguments, void (*kernel)(Arguments)>
void call(const void* args) {
  kernel(*static_cast<const Arguments*>(args));
}

using gossamer::cuda::BinArgs;
using gossamer::cuda::FinishArgs;
using gossamer::cuda::GatherArgs;
using gossamer::cuda::GradientArgs;
using gossamer::cuda::PredictArgs;
using gossamer::cuda::SampleArgs;
using gossamer::cuda::ScoreArgs;

struct Kernel {
  std::string_view name;
  void (*call)(const void* args);
};

constexpr Kernel kKernels[] = {
    {"fill_gradients", call<GradientArgs, fill_gradients>},
    {"copy_lanes", call<Args, copy_lanes>},
    {"statistics", call<Args, statistics>},
    {"layout", call<Args, layout>},
    {"quantise", call<Args, quantise>},
    {"start", call<Args, start>},
    {"choose", call<Args, choose>},
    {"draw_features", call<Args, draw_features>},
    {"split_rows", call<Args, split_rows>},
    {"histograms", call<Args, histograms>},
    {"histograms_wide", call<Args, histograms_wide>},
    {"histograms_two_bytes", call<Args, histograms_two_bytes>},
    {"search", call<Args, search>},
    {"search_any", call<Args, search_any>},
    {"list_tree", call<Args, list_tree>},
    {"add_scores", call<ScoreArgs, add_scores>},
    {"predict_packed", call<PredictArgs, predict_packed>},
    {"predict_plain", call<PredictArgs, predict_plain>},
    {"finish_scores", call<FinishArgs, finish_scores>},
    {"bin_rows", call<BinArgs, bin_rows>},
    {"gather_rows", call<GatherArgs, gather_rows>},
    {"count_digits", call<SampleArgs, count_digits>},
    {"count_tops", call<SampleArgs, count_tops>},
    {"sum_blocks", call<SampleArgs, sum_blocks>},
    {"count_drawn", call<SampleArgs, count_drawn>},
    {"list_drawn", call<SampleArgs, list_drawn>},
    {"list_goss", call<SampleArgs, list_goss>},
};

}  // namespace

// Returns whether the kernel has run.
extern "C" int gossamer_emulate(const char* name, unsigned n_blocks, unsigned n_threads, unsigned shared_bytes,
                                const void* args) {
  for (const Kernel& kernel : kKernels) {
    if (kernel.name != name) continue;
    try {
      emulator::run({kernel.call, args, n_blocks, n_threads, shared_bytes});
      return 1;
    } catch (const std::exception&) {
      return 0;
    }
  }
  return 0;
}
