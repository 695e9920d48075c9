// Cells of histograms as messages between shards.
//
// Every shard owns some lanes and some blocks of sparse columns. The other shards send it their cells of these; it adds
// them up, and finds the best splits of its features. A message has a bit for each cell and the cells that are not
// empty: packed ones where the sender has few rows in the leaf, otherwise 64-bit sums.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/exchange.h"
#include "core/histogram_builder.h"
#include "core/parallel.h"

namespace gossamer {

// What one shard owns.
struct CellShare {
  struct Lanes {
    std::int32_t group;
    std::int32_t first, n;
  };
  std::vector<Lanes> lanes;
  std::vector<std::int32_t> blocks;  // of sparse columns, increasing

  bool has_lane(std::int32_t group, std::int32_t lane) const;
};

// Deals the lanes and blocks of all used groups out, so that every shard has about as many cells. `whole_groups`: the
// lanes of a group, which are built together, stay together if there are enough groups.
std::vector<CellShare> share_cells(const HistogramShape& shape, std::int32_t n_shards, bool whole_groups = false);

// The cells of this shard's share become the sums over all shards; the others are left as they are. `shares` has an
// entry per shard, for all histograms alike, or one per histogram and shard.
void exchange_cells(Team& team, const HistogramShape& shape, std::span<const CellShare> shares,
                    std::span<BuiltHistogram> built, Exchange& exchange);

// ---- records of numbers ----

class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    std::memcpy(extend(sizeof(T)), &value, sizeof(T));
  }
  void put_all(std::span<const std::uint8_t> values) { bytes_.insert(bytes_.end(), values.begin(), values.end()); }
  // Appends so many uninitialised bytes. The pointer is valid until more are appended.
  std::uint8_t* extend(std::size_t n) {
    bytes_.resize(bytes_.size() + n);
    return bytes_.data() + bytes_.size() - n;
  }
  // Takes the last bytes back, from `end` on.
  void cut(const std::uint8_t* end) { bytes_.resize(static_cast<std::size_t>(end - bytes_.data())); }
  void reserve(std::size_t n) { bytes_.reserve(n); }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

// Throws std::runtime_error if a message ends too early.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <class T>
  T get() {
    T value;
    std::memcpy(&value, get_all(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::span<const std::uint8_t> get_all(std::size_t n);
  bool is_empty() const { return rest_.empty(); }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace gossamer
