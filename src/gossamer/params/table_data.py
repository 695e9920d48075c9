"""Parameters of datasets, of data files, and of prediction."""

from __future__ import annotations

from functools import partial
from typing import Final

from gossamer.params.param import Param

_data = partial(Param, group="Dataset")
_bins = partial(_data, bins=True)
_file = partial(Param, group="Data files", supported=False)
_read = partial(Param, group="Data files")
_predict = partial(Param, group="Prediction", changes_model=False)
_convert = partial(Param, group="Conversion", supported=False)

DATASET: Final = (
    _bins(
        "max_bin",
        ("max_bins",),
        "int",
        255,
        "Maximum number of bins for the values of a feature.",
        low=2,
        high=65535,
    ),
    _bins(
        "max_bin_by_feature",
        (),
        "ints_by_column",
        (),
        "Separate `max_bin` for each feature.",
        low=2,
        high=65535,
    ),
    _bins("min_data_in_bin", (), "int", 3, "Minimum number of sampled rows in a bin.", low=1),
    _bins(
        "bin_construct_sample_cnt",
        ("subsample_for_bin",),
        "int",
        200000,
        "Number of rows sampled to find the bin boundaries.",
        low=1,
    ),
    _bins(
        "weighted_bins",
        (),
        "bool",
        False,
        "Use the row weights to choose bin boundaries, so that bins have about equal weight "
        "instead of equal numbers of rows. `min_data_in_bin` still counts rows.",
    ),
    _bins(
        "data_random_seed",
        ("data_seed",),
        "int",
        1,
        "Seed for the sample of rows that bin boundaries are computed from.",
        seed_number=0,
    ),
    _bins(
        "use_missing",
        (),
        "bool",
        True,
        "Give missing values their own bin. If false, they count as zero.",
    ),
    _bins("zero_as_missing", (), "bool", False, "Treat zeros as missing values."),
    _bins(
        "is_enable_sparse",
        ("is_sparse", "enable_sparse", "sparse"),
        "bool",
        True,
        "Store features that are almost always zero as sparse columns if that is faster. The "
        "model does not depend on it.",
        changes_model=False,
    ),
    _bins(
        "enable_bundle",
        ("is_enable_bundle", "bundle"),
        "bool",
        True,
        "Exclusive feature bundling: features that are never non-zero in the same row are stored"
        " together. If false, every feature is stored separately. The model does not depend on "
        "it (but see `max_conflict_rate`).",
    ),
    _bins(
        "max_conflict_rate",
        (),
        "float",
        0.0,
        "Share of the rows in which features of one bundle may be non-zero at the same time. "
        "Training then uses only the first of them. This is faster on some tables, but no longer"
        " exact.",
        low=0,
        high=1,
    ),
    _bins(
        "bundle_order",
        (),
        "enum",
        "auto",
        "Order in which features are added to bundles: by conflicts with other features "
        "(`degree`), by number of non-zero rows (`count`), or in the order of the table "
        "(`column`). `auto` tries `column`, and `degree` or, with many columns, `count`, and "
        "uses the cheaper result.",
        choices={"auto": (), "degree": (), "count": (), "column": ()},
    ),
    _data(
        "max_memory",
        (),
        "memory",
        0,
        "Maximum memory for a data set and its training, in bytes or as `500MB`, `4GB` or `50%` "
        "(of the machine's memory). Bins that do not fit are stored on disk (`cache_dir`). 0 "
        "means no limit. The model does not depend on it.",
        low=0,
        changes_model=False,
        kept=False,
    ),
    _data(
        "cache_dir",
        (),
        "str",
        "",
        "Folder for bins that do not fit into `max_memory`. Bins of files are kept there and "
        "used again for the same data and parameters. If empty, bins are stored in a temporary "
        "file that is always deleted.",
        changes_model=False,
        kept=False,
    ),
    _data(
        "feature_pre_filter",
        (),
        "bool",
        True,
        "Accepted, no effect: features that cannot be split never change a tree.",
        changes_model=False,
    ),
    _data(
        "categorical_feature",
        ("cat_feature", "categorical_column", "cat_column", "categorical_features"),
        "columns",
        (),
        "Categorical features, by name or position. The argument `categorical_feature` of a data"
        " set takes precedence.",
        fixed=True,
    ),
    _bins(
        "forcedbins_filename",
        ("forced_bins",),
        "forced_bins",
        "",
        "Bin boundaries that some features must have: a dict by feature, or the name of a JSON "
        "file.",
    ),
)

FILES: Final = (
    _read(
        "data",
        ("train", "train_data", "train_data_file", "data_filename"),
        "str",
        "",
        "Accepted, no effect in Python. File with the training data for the command line.",
        is_file=True,
        changes_model=False,
    ),
    _read(
        "valid",
        (
            "test",
            "valid_data",
            "valid_data_file",
            "test_data",
            "test_data_file",
            "valid_filenames",
        ),
        "str",
        "",
        "Accepted, no effect in Python. Files with validation data for the command line, separated "
        "by commas.",
        is_file=True,
        changes_model=False,
    ),
    _read(
        "pre_partition",
        ("is_pre_partition",),
        "bool",
        False,
        "Accepted, no effect: there is one machine. Each already has its own part of the data.",
        changes_model=False,
    ),
    _read(
        "two_round",
        ("two_round_loading", "use_two_round_loading"),
        "bool",
        False,
        "Accepted, no effect: data files are never loaded into memory completely.",
        changes_model=False,
    ),
    _read(
        "header",
        ("has_header",),
        "bool",
        False,
        "Whether the first line of a text file contains names. By default it does, unless all "
        "its values are numbers.",
    ),
    _read(
        "label_column",
        ("label",),
        "column",
        "",
        "Column of a file or a frame that is the label: `name:price`, `price`, or a position. "
        "This parameter and the next three have no effect on arrays.",
    ),
    _read(
        "weight_column",
        ("weight",),
        "column",
        "",
        "Column of a file or a frame with row weights. Positions do not count the label.",
    ),
    _read(
        "group_column",
        ("group", "group_id", "query_column", "query", "query_id"),
        "column",
        "",
        "Column of a file or a frame with the query of each row. Positions do not count the label.",
    ),
    _read(
        "ignore_column",
        ("ignore_feature", "blacklist"),
        "columns",
        (),
        "Columns of a file or a frame that are not used: `name:a,b`, names, or positions. "
        "Positions do not count the label.",
    ),
    _file(
        "save_binary",
        ("is_save_binary", "is_save_binary_file"),
        "bool",
        False,
        "Write the binned dataset next to its data file.",
    ),
    _read(
        "precise_float_parser",
        (),
        "bool",
        False,
        "Accepted, no effect: numbers in text files are always parsed exactly.",
        changes_model=False,
    ),
    _file(
        "parser_config_file",
        (),
        "str",
        "",
        "File that sets up a custom parser for data files.",
    ),
)

PREDICT: Final = (
    _predict("start_iteration_predict", (), "int", 0, "First round that is used for prediction."),
    _predict(
        "num_iteration_predict",
        (),
        "int",
        -1,
        "Number of rounds that are used for prediction; 0 or less means all rounds, or the "
        "rounds up to the best one.",
    ),
    _predict(
        "predict_raw_score",
        ("is_predict_raw_score", "predict_rawscore", "raw_score"),
        "bool",
        False,
        "Return raw scores, without the link function.",
    ),
    _predict(
        "predict_leaf_index",
        ("is_predict_leaf_index", "leaf_index"),
        "bool",
        False,
        "Return the index of the leaf that each row falls into, for every tree.",
    ),
    _predict(
        "predict_contrib",
        ("is_predict_contrib", "contrib"),
        "bool",
        False,
        "Return how much each feature contributed (Shapley values).",
    ),
    _predict(
        "predict_disable_shape_check",
        (),
        "bool",
        False,
        "Accept data with a different number of columns than the training data.",
    ),
    _predict(
        "pred_early_stop",
        (),
        "bool",
        False,
        "Stop adding trees to rows whose class is already clear. Classification and ranking only.",
    ),
    _predict(
        "pred_early_stop_freq",
        (),
        "int",
        10,
        "Number of rounds between two checks of `pred_early_stop`.",
        low=1,
    ),
    _predict(
        "pred_early_stop_margin",
        (),
        "float",
        10.0,
        "For `pred_early_stop`: the margin above which a class is clear. The margin is twice the"
        " absolute raw score, or the difference of the two highest scores.",
    ),
    _predict(
        "output_result",
        (
            "predict_result",
            "prediction_result",
            "predict_name",
            "prediction_name",
            "pred_name",
            "name_pred",
        ),
        "str",
        "LightGBM_predict_result.txt",
        "Accepted, no effect in Python. File the command line writes predictions to.",
        is_file=True,
    ),
)

CONVERT: Final = (
    _convert(
        "convert_model_language",
        (),
        "str",
        "",
        "Programming language a model is converted to.",
    ),
    _convert(
        "convert_model",
        ("convert_model_file",),
        "str",
        "gbdt_prediction.cpp",
        "File the converted model is written to.",
    ),
)
