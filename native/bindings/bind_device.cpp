// Tables and trees as a GPU reads and writes them.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>

#include "bindings/arrays.h"
#include "bindings/casters.h"
#include "core/column_sampler.h"
#include "core/device_evaluator.h"
#include "core/grower.h"
#include "cuda/bin.h"
#include "cuda/sample.h"

namespace gossamer::bindings {

using namespace nb::literals;

namespace {

template <class T>
std::span<const T> records(const In<std::uint8_t>& bytes, const char* name) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) == 0;
  if (bytes.size() % sizeof(T) != 0 || !is_aligned) {
    throw std::invalid_argument(std::string(name) + " are not whole records");
  }
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// Makes finished trees of the nodes that the device has found.
struct PyDeviceTrees {
  DeviceEvaluator* evaluator;  // the grower's
  Grower grower;
  std::size_t n_features;
  std::int64_t n_rows;
  std::mutex mutex;

  explicit PyDeviceTrees(const std::shared_ptr<BinMatrix>& matrix)
      : PyDeviceTrees(matrix, std::make_unique<DeviceEvaluator>(matrix)) {}

  // With labels, leaf values are refitted on the host, and added to the scores of the tree's rows.
  Tree finish(const In<std::uint8_t>& state, const In<std::uint8_t>& nodes, const In<std::uint32_t>& sets,
              const GrowParams& settings, const Rows& rows, const std::optional<In<float>>& hessian,
              const std::optional<In<float>>& label, const std::optional<Out<double>>& score, int n_threads) {
    const std::span<const cuda::State> states = records<cuda::State>(state, "states");
    const std::span<const cuda::Node> found = records<cuda::Node>(nodes, "nodes");
    if (states.size() != 1) throw std::invalid_argument("there must be one state");
    const auto n_nodes = static_cast<std::size_t>(std::max(states[0].n_nodes, 0));
    if (n_nodes == 0 || n_nodes > found.size())
      throw std::invalid_argument("there are fewer nodes than the state says");
    for (const cuda::Node& node : found.first(n_nodes)) {
      const bool is_feature = node.feature < 0 || static_cast<std::size_t>(node.feature) < n_features;
      const bool has_children = node.left_child < 0 || static_cast<std::size_t>(node.left_child) + 1 < n_nodes;
      if (!is_feature || !has_children) throw std::logic_error("internal error: a node of the device is damaged");
    }
    const RowIdx* const own_rows = checked_rows(rows, n_rows);
    const float* const h = data_or_null(hessian, n_rows, "hessian");
    const float* const y = data_or_null(label, n_rows, "label");
    if (y != nullptr && !score) throw std::invalid_argument("refitting needs scores");
    if (score) check_length(*score, n_rows, "score");
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex);
    const auto n_words = static_cast<std::int64_t>(sets.size() / found.size());
    evaluator->use({found.first(n_nodes), {sets.data(), sets.size()}, n_words, states[0].layout, y != nullptr});
    TeamLease team(y != nullptr ? n_threads : 1);
    const RowIdx none = 0;
    if (y == nullptr) return grower.grow(*team, nullptr, nullptr, &none, 0, settings, nullptr);
    const std::int64_t n_grown = rows ? length(*rows) : n_rows;
    return grower.grow(*team, nullptr, h, own_rows, n_grown, {&settings, 1}, score->data(), {y, true});
  }

 private:
  PyDeviceTrees(const std::shared_ptr<BinMatrix>& matrix, std::unique_ptr<DeviceEvaluator> own)
      : evaluator(own.get()),
        grower(GrowData{matrix}, std::move(own)),
        n_features(matrix->features().size()),
        n_rows(matrix->n_rows()) {}
};

template <class Bin>
void copy_rows_of(const BinMatrix& matrix, const In<std::int32_t>& features, std::int64_t first, std::int64_t n_rows,
                  std::int64_t stride, const Out<Bin>& out, int n_threads) {
  if (first < 0 || n_rows < 0 || first > matrix.n_rows() - n_rows)
    throw std::invalid_argument("there are no such rows");
  if (stride < static_cast<std::int64_t>(features.size())) throw std::invalid_argument("rows overlap");
  check_length(out, n_rows * stride, "out");
  for (std::size_t k = 0; k < features.size(); ++k) {
    const std::int32_t f = features.data()[k];
    if (f < 0 || static_cast<std::size_t>(f) >= matrix.features().size()) {
      throw std::invalid_argument("there is no such feature");
    }
  }
  if (matrix.pages() != nullptr) throw std::invalid_argument("the bins are on disk");
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  copy_rows(*team, matrix, {features.data(), features.size()}, {first, first + n_rows}, stride, out.data());
}

// Rows of bins that a device has found, which become the lanes of a table. Every feature has a lane for itself.
template <class Bin>
void set_rows(BinMatrix& matrix, const In<std::int32_t>& features, std::int64_t stride, const In<Bin>& rows,
              int n_threads) {
  if (stride < static_cast<std::int64_t>(features.size())) throw std::invalid_argument("rows overlap");
  check_length(rows, matrix.n_rows() * stride, "rows");
  if (matrix.pages() != nullptr) throw std::invalid_argument("the bins are on disk");
  const std::span<const std::int32_t> own(features.data(), features.size());
  for (const std::int32_t f : own) {
    if (f < 0 || static_cast<std::size_t>(f) >= matrix.features().size()) {
      throw std::invalid_argument("there is no such feature");
    }
    const Feature& feature = matrix.features()[static_cast<std::size_t>(f)];
    if (feature.loose() || feature.bundled || feature.shared) {
      throw std::invalid_argument("features share their lanes");
    }
  }
  nb::gil_scoped_release release;
  TeamLease team(n_threads);
  matrix.make_columns(*team);
  constexpr std::int64_t kBlockRows = 4096;
  for_blocks(*team, matrix.n_rows(), kBlockRows, [&](std::int64_t begin, std::int64_t end, std::int64_t, int) {
    for (std::size_t k = 0; k < own.size(); ++k) {
      const Feature& feature = matrix.features()[static_cast<std::size_t>(own[k])];
      const Bin* const from = rows.data() + k;
      const auto copy = [&](auto* lane) {
        for (std::int64_t r = begin; r < end; ++r) {
          const auto bin = static_cast<std::int32_t>(from[r * stride]);
          lane[r] = static_cast<std::remove_reference_t<decltype(lane[0])>>(std::min(bin, feature.n_bins() - 1));
        }
      };
      void* const lane = matrix.lane_data(feature);
      if (matrix.groups()[static_cast<std::size_t>(feature.group)].two_bytes) {
        copy(static_cast<std::uint16_t*>(lane));
      } else {
        copy(static_cast<std::uint8_t*>(lane));
      }
    }
  });
  matrix.rows_from_columns(*team, own);
}

nb::dict describe_features(const BinMatrix& matrix) {
  std::vector<std::int32_t> n_value_bins, has_missing, n_categories, is_hidden;
  std::vector<double> l2;
  std::vector<std::uint8_t> known;
  for (const Feature& f : matrix.features()) {
    n_value_bins.push_back(f.n_value_bins);
    has_missing.push_back(f.has_missing);
    is_hidden.push_back(f.hidden);
    l2.push_back(f.l2);
    n_categories.push_back(-1);
    if (!f.is_categorical()) continue;
    n_categories.back() = 0;
    for (const std::int32_t category : f.category) {
      known.push_back(category >= 0);
      n_categories.back() += category >= 0;
    }
  }
  nb::dict d;
  d["n_value_bins"] = to_numpy(std::move(n_value_bins));
  d["has_missing"] = to_numpy(std::move(has_missing));
  d["is_hidden"] = to_numpy(std::move(is_hidden));
  d["l2"] = to_numpy(std::move(l2));
  d["n_categories"] = to_numpy(std::move(n_categories));
  d["known"] = to_numpy(std::move(known));
  return d;
}

ColumnSampler sampler_of(const GrowParams& settings, std::int64_t n_features) {
  const FeatureLimits* const limits = settings.search.limits.get();
  return {n_features, settings.search.fractions, settings.search.column_key,
          limits != nullptr ? limits->sampling_weights : std::vector<double>{}};
}

// A tree as the device walks through it: records, and the words of its sets. `lanes` has the lane of each
// feature in the table of the device.
auto score_nodes(const Tree& tree, const BinMatrix& matrix, const In<std::int32_t>& lanes) {
  const auto& features = matrix.features();
  check_length(lanes, static_cast<std::int64_t>(features.size()), "lanes");
  std::vector<std::uint8_t> records(tree.feature.size() * sizeof(cuda::TreeNode));
  std::vector<std::uint32_t> sets;
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    const auto f = static_cast<std::size_t>(tree.feature[i]);
    if (f >= features.size()) throw std::invalid_argument("the tree belongs to another table");
    cuda::TreeNode node{lanes.data()[f],
                        tree.threshold_bin[i],
                        features[f].n_value_bins,
                        tree.default_left[i],
                        tree.left[i],
                        tree.right[i],
                        -1};
    const std::span<const std::uint8_t> left = tree.left_bins(i);
    if (!left.empty()) {
      node.set = static_cast<std::int32_t>(sets.size());
      sets.resize(sets.size() + (left.size() + 31) / 32);
      for (std::size_t bin = 0; bin < left.size(); ++bin) {
        if (left[bin] != 0) sets[static_cast<std::size_t>(node.set) + bin / 32] |= 1u << (bin % 32);
      }
    }
    std::memcpy(records.data() + i * sizeof(node), &node, sizeof(node));
  }
  return std::pair(to_numpy(std::move(records)), to_numpy(std::move(sets)));
}

nb::dict record_sizes() {
  nb::dict d;
  d["DeviceFeature"] = sizeof(cuda::DeviceFeature);
  d["LaneGroup"] = sizeof(cuda::LaneGroup);
  d["Node"] = sizeof(cuda::Node);
  d["NodeLimits"] = sizeof(cuda::NodeLimits);
  d["Job"] = sizeof(cuda::Job);
  d["Best"] = sizeof(cuda::Best);
  d["State"] = sizeof(cuda::State);
  d["Args"] = sizeof(cuda::Args);
  d["TreeNode"] = sizeof(cuda::TreeNode);
  d["ScoreArgs"] = sizeof(cuda::ScoreArgs);
  d["GradientArgs"] = sizeof(cuda::GradientArgs);
  d["DeviceMatrix"] = sizeof(cuda::DeviceMatrix);
  d["PlainNode"] = sizeof(cuda::PlainNode);
  d["PlainTree"] = sizeof(cuda::PlainTree);
  d["PackedColumn"] = sizeof(cuda::PackedColumn);
  d["PackedTree"] = sizeof(cuda::PackedTree);
  d["PredictArgs"] = sizeof(cuda::PredictArgs);
  d["FinishArgs"] = sizeof(cuda::FinishArgs);
  d["BinnedFeature"] = sizeof(cuda::BinnedFeature);
  d["BinArgs"] = sizeof(cuda::BinArgs);
  d["GatherArgs"] = sizeof(cuda::GatherArgs);
  d["SampleArgs"] = sizeof(cuda::SampleArgs);
  return d;
}

}  // namespace

void bind_device(nb::module_& m) {
  nb::class_<PyDeviceTrees>(m, "DeviceTrees", "Makes finished trees of the nodes that a GPU has found.")
      .def(nb::init<const std::shared_ptr<BinMatrix>&>(), "matrix"_a)
      .def("finish", &PyDeviceTrees::finish, "state"_a.noconvert(), "nodes"_a.noconvert(), "sets"_a.noconvert(),
           "settings"_a, "rows"_a.noconvert() = nb::none(), "hessian"_a.noconvert() = nb::none(),
           "label"_a.noconvert() = nb::none(), "score"_a.noconvert() = nb::none(), "n_threads"_a = 1,
           "The tree; cuda/device.h describes the records. With labels, leaf values are refitted on\n"
           "the host and added to the scores of `rows` (none: all).");
  m.def("copy_rows", &copy_rows_of<std::uint8_t>, "matrix"_a, "features"_a.noconvert(), "first"_a, "n_rows"_a,
        "stride"_a, "out"_a.noconvert(), "n_threads"_a, "Bins of features row by row.");
  m.def("copy_rows", &copy_rows_of<std::uint16_t>, "matrix"_a, "features"_a.noconvert(), "first"_a, "n_rows"_a,
        "stride"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def("describe_features", &describe_features, "matrix"_a, "What a GPU needs to know of the features, by name.");
  m.def("set_rows", &set_rows<std::uint8_t>, "matrix"_a, "features"_a.noconvert(), "stride"_a, "rows"_a.noconvert(),
        "n_threads"_a, "The way back: rows of bins become lanes; find_missing() is to be called afterwards.");
  m.def("set_rows", &set_rows<std::uint16_t>, "matrix"_a, "features"_a.noconvert(), "stride"_a, "rows"_a.noconvert(),
        "n_threads"_a);
  m.def("score_nodes", &score_nodes, "tree"_a, "matrix"_a, "lanes"_a.noconvert(),
        "The records and sets with which a GPU adds a tree to scores.");
  m.def("record_sizes", &record_sizes, "Bytes of the records that host and GPU share.");
  m.def(
      "tree_features",
      [](const GrowParams& settings, std::int64_t n_features) {
        return to_numpy(std::vector(sampler_of(settings, n_features).tree_features()));
      },
      "settings"_a, "n_features"_a, "The features that a tree may use.");
  m.def(
      "sampling_weights",
      [](const GrowParams& settings, std::int64_t n_features) {
        return to_numpy(std::vector(sampler_of(settings, n_features).weights()));
      },
      "settings"_a, "n_features"_a, "The weights with which features are drawn; empty: all the same.");
  m.def(
      "feature_groups",
      [](const GrowParams& settings) {
        const FeatureLimits* const limits = settings.search.limits.get();
        return to_numpy(limits != nullptr ? std::vector(limits->groups.of_features()) : std::vector<std::uint64_t>{});
      },
      "settings"_a, "The groups of interaction constraints that each feature is in, a bit each; empty: none.");
}

}  // namespace gossamer::bindings
