// A binned table that comes in pieces of rows, one after another: no piece has to stay.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/bin_matrix.h"

namespace gossamer {

class PieceBinner {
 public:
  // Bins, bundles and sparse columns are those of `like`, some rows of the table that stand for all of them.
  PieceBinner(const BinMatrix& like, std::int64_t n_rows);

  // Bins the next rows.
  void add(Team& team, const MatrixView& rows);
  void add(Team& team, const SparseView& rows);
  std::int64_t n_added() const { return n_added_; }

  // The whole table; once all rows are there. Values that do not fit the bundles of `like` stand apart: see
  // BinMatrix::is_trainable.
  std::shared_ptr<BinMatrix> finish();

 private:
  template <class View>
  void add_rows(Team& team, const View& rows);
  std::shared_ptr<BinMatrix> make_part(std::int64_t n_rows) const;

  std::vector<Feature> features_;
  Storage storage_;
  std::shared_ptr<BinMatrix> whole_;
  std::vector<SparseColumns> entries_;  // of each piece, rows counted from the first of all
  std::int64_t n_added_ = 0;
};

}  // namespace gossamer
