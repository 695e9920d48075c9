// Pages whose rows are split on the way: one pass splits the leaves of a batch and builds the histograms of their
// children.
#pragma once

#include <cstdint>
#include <functional>

#include "core/leaf_rows.h"
#include "core/parallel.h"
#include "core/row_pages.h"

namespace gossamer {

class SplittingPages : public RowPages {
 public:
  explicit SplittingPages(RowPages& pages) : pages_(pages) {}

  // `rows` may be about to be split by any pass from now on.
  void start(Team& team, LeafRows& rows) {
    team_ = &team;
    rows_ = &rows;
  }
  std::span<const RowRange> ranges() const override { return pages_.ranges(); }
  void for_each(const std::function<void(const RowPage&)>& body) override {
    n_passes_ += 1;
    pages_.for_each([&](const RowPage& page) {
      if (rows_->is_splitting()) rows_->split_page(*team_, page);
      body(page);
    });
    if (rows_->is_splitting()) rows_->finish_split(*team_);
  }
  std::int64_t n_passes() const { return n_passes_; }

 private:
  RowPages& pages_;
  Team* team_ = nullptr;
  LeafRows* rows_ = nullptr;
  std::int64_t n_passes_ = 0;
};

}  // namespace gossamer
