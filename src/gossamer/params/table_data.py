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
        "Most bins the values of one feature are put into.",
        low=2,
        high=65535,
    ),
    _bins(
        "max_bin_by_feature",
        (),
        "ints_by_column",
        (),
        "Per feature its own `max_bin`.",
        low=2,
        high=65535,
    ),
    _bins("min_data_in_bin", (), "int", 3, "Fewest sampled rows a bin should hold.", low=1),
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
        "Weights of the rows count when bin boundaries are chosen: bins get about equal weights "
        "instead of numbers of rows. `min_data_in_bin` still counts rows.",
    ),
    _bins(
        "data_random_seed",
        ("data_seed",),
        "int",
        1,
        "Seed of the rows sampled to find the bin boundaries.",
        seed_number=0,
    ),
    _bins(
        "use_missing",
        (),
        "bool",
        True,
        "Give missing values a bin of their own; when off, they count as zero.",
    ),
    _bins("zero_as_missing", (), "bool", False, "Treat zeros as missing values."),
    _bins(
        "is_enable_sparse",
        ("is_sparse", "enable_sparse", "sparse"),
        "bool",
        True,
        "Keep features that are zero in nearly every row as sparse columns, where that is faster. "
        "The model does not depend on it.",
        changes_model=False,
    ),
    _bins(
        "enable_bundle",
        ("is_enable_bundle", "bundle"),
        "bool",
        True,
        "Exclusive feature bundling: features that are never non-zero in the same row share one "
        "place in it. The model does not depend on it (but see `max_conflict_rate`). Off, every "
        "feature is stored alone.",
    ),
    _bins(
        "max_conflict_rate",
        (),
        "float",
        0.0,
        "Share of the rows in which features of one bundle may be non-zero together. Training then "
        "sees only the first of them: faster on some tables, no longer exact.",
        low=0,
        high=1,
    ),
    _bins(
        "bundle_order",
        (),
        "enum",
        "auto",
        "Order in which features are put into bundles: by their conflicts with the others "
        "(`degree`), by their non-zero rows (`count`), or as they stand (`column`). `auto` tries "
        "`column`, and `degree` or, for many columns, `count`, and takes what is cheaper.",
        choices={"auto": (), "degree": (), "count": (), "column": ()},
    ),
    _data(
        "max_memory",
        (),
        "memory",
        0,
        "Most memory that a data set and its training take, as bytes, `500MB`, `4GB` or `50%` of "
        "the machine's. Bins that do not fit are kept on disk (`cache_dir`). The model does not "
        "depend on it. 0 means no limit.",
        low=0,
        changes_model=False,
        kept=False,
    ),
    _data(
        "cache_dir",
        (),
        "str",
        "",
        "Folder for bins that do not fit `max_memory`. Bins of files are kept there, and used "
        "again by the same data with the same parameters. Empty: a temporary file without a name "
        "that nothing is left of.",
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
        "Categorical columns, by name or position; `categorical_feature` of a data set wins.",
        fixed=True,
    ),
    _bins(
        "forcedbins_filename",
        ("forced_bins",),
        "forced_bins",
        "",
        "Bounds that the bins of some features must have: by column, or in a JSON file.",
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
        "Accepted, no effect: data files are never in memory as a whole.",
        changes_model=False,
    ),
    _read(
        "header",
        ("has_header",),
        "bool",
        False,
        "The first line of a text file has names. Where this is not given, it has, unless all "
        "values in it are numbers.",
    ),
    _read(
        "label_column",
        ("label",),
        "column",
        "",
        "Column of a file or a frame that is the label: `name:price`, `price`, or a position. "
        "Without effect on arrays, as are the next three.",
    ),
    _read(
        "weight_column",
        ("weight",),
        "column",
        "",
        "Column of a file or a frame with row weights. A position does not count the label.",
    ),
    _read(
        "group_column",
        ("group", "group_id", "query_column", "query", "query_id"),
        "column",
        "",
        "Column of a file or a frame that says which query a row belongs to. A position does not "
        "count the label.",
    ),
    _read(
        "ignore_column",
        ("ignore_feature", "blacklist"),
        "columns",
        (),
        "Columns of a file or a frame to leave out: `name:a,b`, names, or positions, which do not "
        "count the label.",
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
        "Accepted, no effect: numbers in text files are always read to the last bit.",
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
    _predict("start_iteration_predict", (), "int", 0, "First round whose trees predict."),
    _predict(
        "num_iteration_predict",
        (),
        "int",
        -1,
        "Number of rounds whose trees predict; 0 or less means all, or the best found.",
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
        "Return the leaf each row falls into, per tree.",
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
        "Accept data with another number of columns than in training.",
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
        "Rounds between two checks of `pred_early_stop`.",
        low=1,
    ),
    _predict(
        "pred_early_stop_margin",
        (),
        "float",
        10.0,
        "Margin above which a class is clear to `pred_early_stop`: twice the size of a raw score, "
        "or the distance of the two highest.",
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
