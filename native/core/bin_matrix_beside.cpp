// Two binned tables of the same rows become one.
#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/bin_matrix.h"
#include "core/index.h"
#include "core/storage.h"

namespace gossamer {
namespace {

constexpr std::int64_t kTileRows = 256;  // a tile's input and output stay in the first cache levels

// One digit of a lane, and where its values stand now.
struct Piece {
  const Group* from = nullptr;
  std::int64_t lane = 0;
  std::uint32_t from_stride = 1;
  std::uint32_t radix = 1;
  std::uint32_t to_stride = 1;
  bool is_whole = false;  // the old lane holds nothing else
};

template <class Bin>
void add_piece(const Bin* values, std::int64_t row_stride, std::int64_t n, const Piece& piece, std::uint16_t* sums) {
  for (std::int64_t r = 0; r < n; ++r) {
    std::uint32_t digit = values[r * row_stride];
    if (!piece.is_whole) digit = digit / piece.from_stride % piece.radix;
    sums[r] = static_cast<std::uint16_t>(sums[r] + digit * piece.to_stride);
  }
}

}  // namespace

void BinMatrix::fill_beside(Team& team, const BinMatrix& left, const BinMatrix& right) {
  const auto n_left = static_cast<std::int32_t>(left.features_.size());
  const auto piece_of = [&](const Digit& digit) {
    const std::int32_t f = digit.features.front();
    const BinMatrix& source = f < n_left ? left : right;
    const Feature& feature = source.features_[at(f < n_left ? f : f - n_left)];
    if (feature.loose() || feature.radix != digit.radix) throw std::logic_error("a digit is kept in another way");
    return Piece{&source.groups_[at(feature.group)],         feature.lane,
                 static_cast<std::uint32_t>(feature.stride), static_cast<std::uint32_t>(feature.radix),
                 static_cast<std::uint32_t>(digit.stride),   !feature.shared};
  };
  for (Group& group : groups_) {
    std::vector<std::vector<Piece>> pieces;  // by lane
    for (const Lane& lane : group.lanes) {
      pieces.emplace_back();
      for (const Digit& digit : lane.digits) pieces.back().push_back(piece_of(digit));
    }
    for_blocks(team, n_rows_, kTileRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
      std::uint16_t sums[kTileRows];
      const std::int64_t n = end - begin;
      for (std::size_t lane = 0; lane < pieces.size(); ++lane) {
        std::fill_n(sums, n, std::uint16_t{0});
        for (const Piece& piece : pieces[lane]) {
          const Group& from = *piece.from;
          const std::int64_t first = begin * from.row_stride + piece.lane;
          if (from.two_bytes) {
            add_piece(from.bins16.data() + first, from.row_stride, n, piece, sums);
          } else {
            add_piece(from.bins8.data() + first, from.row_stride, n, piece, sums);
          }
        }
        for (std::int64_t r = 0; r < n; ++r) {
          set_lane_value(group, begin + r, static_cast<std::int64_t>(lane), sums[r]);
        }
      }
    });
  }
  cleared_ = true;

  sparse_ = {};
  sparse_.rows.reset(left.sparse_.n_entries() + right.sparse_.n_entries());
  sparse_.bins.reset(sparse_.rows.size());
  for (const BinMatrix* const source : {&left, &right}) {
    const std::int32_t first_feature = source == &left ? 0 : n_left;
    const SparseColumns& from = source->sparse_;
    const std::int64_t first_entry = sparse_.n_entries();
    std::copy_n(from.rows.data(), from.n_entries(), sparse_.rows.data() + first_entry);
    std::copy_n(from.bins.data(), from.n_entries(), sparse_.bins.data() + first_entry);
    for (std::int64_t c = 0; c < from.n_columns(); ++c) {
      const std::int32_t f = first_feature + from.features[at(c)];
      features_[at(f)].entries = static_cast<std::int32_t>(sparse_.n_columns());
      sparse_.features.push_back(f);
      sparse_.begin.push_back(first_entry + from.begin[at(c) + 1]);
    }
  }
  n_dropped_ = left.n_dropped_ + right.n_dropped_;
}

std::shared_ptr<BinMatrix> put_beside(Team& team, const BinMatrix& left, const BinMatrix& right,
                                      std::int32_t first_column) {
  if (left.n_rows() != right.n_rows()) throw std::invalid_argument("the tables differ in rows");
  const auto n_left = static_cast<std::int32_t>(left.features().size());
  std::vector<Feature> features = left.features();
  features.insert(features.end(), right.features().begin(), right.features().end());
  for (std::size_t f = 0; f < features.size(); ++f) {
    Feature& feature = features[f];
    if (feature.missing_kind != features.front().missing_kind) {
      throw std::invalid_argument("the tables differ in what is missing");
    }
    if (at(n_left) <= f) {
      if (feature.column < 0 || first_column > std::numeric_limits<std::int32_t>::max() - feature.column) {
        throw std::invalid_argument("too many columns");
      }
      feature.column += first_column;
    } else if (feature.column >= first_column) {
      throw std::invalid_argument("the columns of the tables overlap");
    }
    feature.group = -1;
    feature.entries = -1;
    feature.bundled = feature.shared = false;
  }
  Storage storage = left.storage();
  storage.share_lanes |= right.storage().share_lanes;
  for (std::vector<std::int32_t> bundle : right.storage().bundles) {
    for (std::int32_t& f : bundle) f += n_left;
    storage.bundles.push_back(std::move(bundle));
  }
  for (const std::int32_t f : right.storage().loose) storage.loose.push_back(f + n_left);
  storage.zero_share.resize(at(n_left));
  const std::vector<double>& of_right = right.storage().zero_share;
  storage.zero_share.insert(storage.zero_share.end(), of_right.begin(), of_right.end());
  storage.zero_share.resize(features.size());
  auto result = std::make_shared<BinMatrix>(std::move(features), left.n_rows(), std::move(storage));
  result->fill_beside(team, left, right);
  return result;
}

}  // namespace gossamer
