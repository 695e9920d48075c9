// The kernels that train and predict on a GPU. See device.h and predict.h for what they do and in which order.
#include "cuda/bin.h"
#include "cuda/device.h"
#include "cuda/grid.h"
#include "cuda/predict.h"
#include "cuda/sample.h"

#include "core/random.h"
#include "kernels/kernels.h"
#include "kernels/sampling.h"

namespace gossamer::cuda {
namespace {

#include "cuda/one_slot.inl"

#include "kernels/vector_math.inl"

#include "kernels/split_math.inl"

#include "kernels/layout.inl"

#include "kernels/quantize.inl"

#include "kernels/gradients.inl"

#include "kernels/losses.inl"

#include "kernels/pointwise_losses.inl"

#include "kernels/pointwise.inl"

#include "kernels/bin_values.inl"

#include "cuda/warp.inl"

#include "cuda/rows.inl"

#include "cuda/histograms.inl"

#include "cuda/monotone.inl"

#include "cuda/search.inl"

#include "cuda/choose.inl"

#include "cuda/scores.inl"

#include "cuda/features.inl"

#include "cuda/predict.inl"

#include "cuda/bin.inl"

#include "cuda/sample.inl"

// The gradients of one row: the loops of the host over a single row.
inline void fill_row(const GradientArgs& g, int64_t i) {
  const float* const weight = g.weight != nullptr ? g.weight + i : nullptr;
  float* const hessian = g.hessian != nullptr ? g.hessian + i : nullptr;
  switch (g.kind) {
    case kSquared: gradients_l2(g.score + i, g.label + i, weight, 1, g.gradient + i, hessian); break;
    case kLogistic:
      binary_block(g.score + i, g.label + i, weight, static_cast<float>(g.sigmoid),
                   static_cast<float>(g.weight_negative), static_cast<float>(g.weight_positive), g.gradient + i,
                   hessian);
      break;
    case kSoftmax:
      softmax_gradients_block<true>(g.score + i, g.n_rows, g.label + i, weight, 1, g.n_classes, g.gradient + i, hessian,
                                    g.n_rows);
      break;
    default: gradients_of(g.loss, g.score + i, g.label + i, weight, 1, g.gradient + i, hessian);
  }
}

inline void fill_gradients(const GradientArgs& g) {
  if (g.state == nullptr) {
    for (int64_t i = thread_of_grid(); i < g.n_rows; i += threads_in_grid()) fill_row(g, i);
    return;
  }
  BlockStatistics own;
  for (int64_t i = thread_of_grid(); i < g.n_rows; i += threads_in_grid()) {
    fill_row(g, i);
    own.add_gradient(g.gradient[i], is_counted(i));
    if (g.hessian != nullptr) own.add_hessian(g.hessian[i], is_counted(i));
  }
  own.finish(g.state->statistics);
}

}  // namespace
}  // namespace gossamer::cuda

using gossamer::cuda::Args;

GOSSAMER_KERNEL(fill_gradients, 256, 4)(const __grid_constant__ gossamer::cuda::GradientArgs g) {
  gossamer::cuda::fill_gradients(g);
}

GOSSAMER_KERNEL(copy_lanes, 256, 4)(const __grid_constant__ Args a) { gossamer::cuda::copy_lanes(a); }

GOSSAMER_KERNEL(statistics, 256, 8)(const __grid_constant__ Args a) { gossamer::cuda::find_statistics(a); }

GOSSAMER_KERNEL(layout, 256, 1)(const __grid_constant__ Args a) {
  gossamer::cuda::choose_layout(a, reinterpret_cast<double*>(shared_memory()));
  __syncthreads();
  gossamer::cuda::clear_statistics(a.state->statistics);
}

GOSSAMER_KERNEL(quantise, 256, 4)(const __grid_constant__ Args a) { gossamer::cuda::quantise_rows(a); }

GOSSAMER_KERNEL(start, 32, 1)(const __grid_constant__ Args a) {
  if (threadIdx.x == 0) gossamer::cuda::make_root(a);
}

GOSSAMER_KERNEL(choose, 1024, 1)(const __grid_constant__ Args a) { gossamer::cuda::choose_nodes(a); }

GOSSAMER_KERNEL(draw_features, 32, 16)(const __grid_constant__ Args a) { gossamer::cuda::draw_all(a); }

GOSSAMER_KERNEL(split_rows, 512, 4)(const __grid_constant__ Args a) { gossamer::cuda::split_all(a); }

GOSSAMER_KERNEL(histograms, 512, 2)(const __grid_constant__ Args a) { gossamer::cuda::build_all<false>(a); }

GOSSAMER_KERNEL(histograms_wide, 512, 2)(const __grid_constant__ Args a) { gossamer::cuda::build_all<true>(a); }

GOSSAMER_KERNEL(histograms_two_bytes, 256, 4)(const __grid_constant__ Args a) { gossamer::cuda::build_two_bytes(a); }

GOSSAMER_KERNEL(search, 128, 4)(const __grid_constant__ Args a) { gossamer::cuda::search_all<false>(a); }

GOSSAMER_KERNEL(search_any, 128, 4)(const __grid_constant__ Args a) { gossamer::cuda::search_all<true>(a); }

GOSSAMER_KERNEL(list_tree, 1024, 1)(const __grid_constant__ Args a) { gossamer::cuda::list_tree(a); }

GOSSAMER_KERNEL(add_scores, 256, 8)(const __grid_constant__ gossamer::cuda::ScoreArgs s) {
  gossamer::cuda::add_scores(s);
}

GOSSAMER_KERNEL(predict_packed, 256, 3)(const __grid_constant__ gossamer::cuda::PredictArgs p) {
  gossamer::cuda::predict_packed(p);
}

GOSSAMER_KERNEL(predict_plain, 256, 4)(const __grid_constant__ gossamer::cuda::PredictArgs p) {
  gossamer::cuda::predict_plain(p);
}

GOSSAMER_KERNEL(finish_scores, 256, 4)(const __grid_constant__ gossamer::cuda::FinishArgs f) {
  gossamer::cuda::finish_scores(f);
}

GOSSAMER_KERNEL(bin_rows, 256, 4)(const __grid_constant__ gossamer::cuda::BinArgs b) {
  if (b.is_double != 0) {
    gossamer::cuda::bin_rows<double>(b);
  } else {
    gossamer::cuda::bin_rows<float>(b);
  }
}

GOSSAMER_KERNEL(gather_rows, 256, 8)(const __grid_constant__ gossamer::cuda::GatherArgs g) {
  gossamer::cuda::gather(g);
}

GOSSAMER_KERNEL(count_digits, 256, 8)(const __grid_constant__ gossamer::cuda::SampleArgs s) {
  gossamer::cuda::count_digits(s);
}

GOSSAMER_KERNEL(count_tops, 256, 8)(const __grid_constant__ gossamer::cuda::SampleArgs s) {
  gossamer::cuda::count_tops(s);
}

GOSSAMER_KERNEL(sum_blocks, 256, 4)(const __grid_constant__ gossamer::cuda::SampleArgs s) {
  gossamer::cuda::sum_blocks(s);
}

GOSSAMER_KERNEL(count_drawn, 256, 8)(const __grid_constant__ gossamer::cuda::SampleArgs s) {
  gossamer::cuda::count_drawn(s);
}

GOSSAMER_KERNEL(list_drawn, 256, 8)(const __grid_constant__ gossamer::cuda::SampleArgs s) {
  gossamer::cuda::list_drawn(s);
}

GOSSAMER_KERNEL(list_goss, 256, 8)(const __grid_constant__ gossamer::cuda::SampleArgs s) {
  gossamer::cuda::list_goss(s);
}
