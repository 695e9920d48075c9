// A binned table that arrives in pieces of rows, one after another: no piece has to be kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/bin_matrix.h"

namespace gossamer {

class PieceBinner {
 public:
  // Bins, bundles and sparse columns are taken from `like`, which holds a sample of the table's rows.
  PieceBinner(const BinMatrix& like, std::int64_t n_rows);

  // Bins the next rows.
  void add(Team& team, const MatrixView& rows);
  void add(Team& team, const SparseView& rows);
  std::int64_t n_added() const { return n_added_; }

  // The whole table, once all rows have been added. Values that do not fit the bundles of `like` are stored apart: see
  // BinMatrix::is_trainable.
  std::shared_ptr<BinMatrix> finish();

 private:
  template <class View>
  void add_rows(Team& team, const View& rows);
  std::shared_ptr<BinMatrix> make_part(std::int64_t n_rows) const;

  std::vector<Feature> features_;
  Storage storage_;
  std::shared_ptr<BinMatrix> whole_;
  std::vector<SparseColumns> entries_;  // by piece; rows are counted from the start of the table
  std::int64_t n_added_ = 0;
};

}  // namespace gossamer
