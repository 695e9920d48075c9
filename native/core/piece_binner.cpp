#include "core/piece_binner.h"

#include <algorithm>
#include <stdexcept>

#include "core/index.h"

namespace gossamer {

PieceBinner::PieceBinner(const BinMatrix& like, std::int64_t n_rows)
    : features_(like.features()), storage_(like.storage()) {
  for (Feature& feature : features_) {
    feature.group = -1;
    feature.entries = -1;
    feature.bundled = feature.shared = feature.has_missing = false;
  }
  whole_ = make_part(n_rows);
}

std::shared_ptr<BinMatrix> PieceBinner::make_part(std::int64_t n_rows) const {
  return std::make_shared<BinMatrix>(features_, n_rows, storage_);
}

template <class View>
void PieceBinner::add_rows(Team& team, const View& rows) {
  if (!whole_) throw std::invalid_argument("the table is finished");
  if (rows.n_rows > whole_->n_rows() - n_added_) throw std::invalid_argument("there are more rows than were announced");
  const std::shared_ptr<BinMatrix> part = make_part(rows.n_rows);
  part->fill(team, rows, Use::other);
  whole_->put_rows(*part, n_added_, {0, rows.n_rows});
  if (part->sparse().n_entries() > 0) {
    SparseColumns entries = part->take_sparse();
    for (RowIdx& row : entries.rows) row += static_cast<RowIdx>(n_added_);
    entries_.push_back(std::move(entries));
  }
  n_added_ += rows.n_rows;
}

void PieceBinner::add(Team& team, const MatrixView& rows) { add_rows(team, rows); }
void PieceBinner::add(Team& team, const SparseView& rows) { add_rows(team, rows); }

std::shared_ptr<BinMatrix> PieceBinner::finish() {
  if (!whole_) throw std::invalid_argument("the table is finished");
  if (n_added_ != whole_->n_rows()) throw std::invalid_argument("there are fewer rows than were announced");
  // Sparse columns are there even without entries; others where some value did not fit.
  std::vector<std::int64_t> count(features_.size(), -1);
  for (const std::int32_t f : storage_.loose) count[at(f)] = 0;
  for (const SparseColumns& part : entries_) {
    for (std::int64_t c = 0; c < part.n_columns(); ++c) {
      std::int64_t& n = count[at(part.features[at(c)])];
      n = std::max<std::int64_t>(n, 0) + static_cast<std::int64_t>(part.rows_of(c).size());
    }
  }
  SparseColumns all;
  std::vector<std::int32_t> features = storage_.loose;  // first, as everywhere
  for (std::size_t f = 0; f < count.size(); ++f) {
    if (count[f] > 0 && !std::binary_search(storage_.loose.begin(), storage_.loose.end(), static_cast<std::int32_t>(f)))
      features.push_back(static_cast<std::int32_t>(f));
  }
  std::vector<std::int64_t> next(features_.size(), -1);
  for (const std::int32_t f : features) {
    all.features.push_back(f);
    next[at(f)] = all.begin.back();
    all.begin.push_back(all.begin.back() + count[at(f)]);
  }
  all.rows.reset(all.n_entries());
  all.bins.reset(all.n_entries());
  for (SparseColumns& part : entries_) {
    for (std::int64_t c = 0; c < part.n_columns(); ++c) {
      std::int64_t& to = next[at(part.features[at(c)])];
      std::copy(part.rows_of(c).begin(), part.rows_of(c).end(), all.rows.data() + to);
      std::copy(part.bins_of(c).begin(), part.bins_of(c).end(), all.bins.data() + to);
      to += static_cast<std::int64_t>(part.rows_of(c).size());
    }
    part = {};  // as early as possible
  }
  entries_.clear();
  whole_->set_entries(std::move(all));
  return std::move(whole_);
}

}  // namespace gossamer
