// The features that a tree, a level and a node may split on. Each set is drawn from the one above it,
// so that the fractions multiply.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace gossamer {

struct ColumnFractions {
  double by_tree = 1.0;
  double by_level = 1.0;
  double by_node = 1.0;
};

class ColumnSampler {
 public:
  // `weights` by feature (empty: all the same): a feature of twice the weight is twice as likely to be drawn next.
  ColumnSampler(std::int64_t n_features, ColumnFractions fractions, std::uint64_t key,
                std::vector<double> weights = {});

  const std::vector<std::int32_t>& tree_features() const { return tree_; }
  // Empty: all the same.
  const std::vector<double>& weights() const { return weights_; }
  // Features in increasing order. `node_key` names the node by its path from the root; a node draws from the
  // features for which allowed(feature) holds.
  std::vector<std::int32_t> node_features(int depth, std::uint64_t node_key,
                                          const std::function<bool(std::int32_t)>& allowed = nullptr);

 private:
  ColumnFractions fractions_;
  std::uint64_t key_;
  std::vector<double> weights_;
  std::vector<std::int32_t> tree_;
  std::vector<std::vector<std::int32_t>> levels_;
};

}  // namespace gossamer
