// The gradients of a tree's rows as integers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/leaf_evaluator.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/types.h"

namespace gossamer {

class QuantisedRows {
 public:
  // `fine`: keeps as many bits of the gradients as a wide cell holds, see choose_layout. Only rows of the tree are
  // read.
  void start(Team& team, const TreeTask& task, std::int64_t n_all, bool fine, Exchange* exchange);

  const CellLayout& layout() const { return layout_; }
  // By row: PackedRow, or WideCell in a wide layout.
  const std::uint32_t* values() const { return values_; }
  // Sums over all rows of all shards.
  const Sums& total() const { return total_; }

 private:
  void make_memory(const TreeTask& task, std::int64_t n_all);

  CellLayout layout_;
  bool has_layout_ = false;          // layout_ is the layout of the last tree
  Buffer<std::uint32_t> own_;        // unused where the values have another place
  std::uint32_t* values_ = nullptr;  // where the gradients were, the task's memory, or own_
  Sums total_;
  std::vector<GradientStats> stats_;  // by thread, or part of one
  std::vector<Sums> sums_;            // by thread
};

}  // namespace gossamer
