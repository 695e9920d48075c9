"""Runs the functions of `xgboost.testing` (the shared part of XGBoost's own tests) with our module.

    python -m tests.compat.xgboost.peer_functions          # with gossamer.compat.xgboost
    python -m tests.compat.xgboost.peer_functions xgboost  # with XGBoost itself
    python -m tests.compat.xgboost.peer_functions metrics  # some modules only

The functions are read from the installed package, unchanged; `xgboost` is ours while they are
imported and called. A line per call says "ok", "skipped" or what went wrong.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import itertools
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas
import xgboost

import gossamer.compat.xgboost

FOLDER: Final = Path(xgboost.__file__).parent / "testing"
MODULES: Final = [
    "basic_models",
    "callbacks",
    "continuation",
    "data",
    "data_iter",
    "interaction_constraints",
    "intercept",
    "metrics",
    "multi_target",
    "ordinal",
    "parse_tree",
    "plotting",
    "predict",
    "quantile_dmatrix",
    "ranking",
    "updater",
    "with_skl",
]
# They need a GPU or many seconds, or are helpers of other functions.
LEFT_OUT: Final = (
    "check_cut",
    "check_get_quantile_cut_device",
    "run_recode_dmatrix",
    "run_recode_dmatrix_predict",
    "run_specified_cat",
    "run_training_continuation",
    "run_update",
    "run_validation",
)


class Ours(types.ModuleType):
    """A module of XGBoost as ours: what ours does not have (types, helpers) is XGBoost's."""

    def __init__(self, name: str, theirs: types.ModuleType) -> None:
        super().__init__(name)
        self._ours = [gossamer.compat.xgboost]
        if importlib.util.find_spec(f"gossamer.compat.{name}") is not None:
            self._ours.insert(0, importlib.import_module(f"gossamer.compat.{name}"))
        self._theirs = theirs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for module in self._ours:
            if hasattr(module, name):
                return getattr(module, name)
        return getattr(self._theirs, name)


def use_ours() -> None:
    """Put our module in XGBoost's place, for the rest of the process."""
    for name in ("callback", "objective", "plotting", "sklearn", "tracker", "training"):
        importlib.import_module(f"xgboost.{name}")
    theirs = {name: m for name, m in sys.modules.items() if name.split(".")[0] == "xgboost"}
    for name, module in theirs.items():
        sys.modules[name] = Ours(name, module)
    package = sys.modules["xgboost"]
    package.__path__ = []
    spec = importlib.util.spec_from_file_location(
        "xgboost.testing", FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
    )
    assert spec is not None and spec.loader is not None
    testing = sys.modules["xgboost.testing"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(testing)
    package.testing = testing  # type: ignore[attr-defined]


def values_of(library: Any) -> dict[str, list[Any]]:
    """What is passed for each argument of the functions."""
    rng = np.random.RandomState(1994)
    x = rng.randn(200, 5)
    y = (x[:, 0] > x[:, 1]).astype(np.int64)
    return {
        "device": ["cpu"],
        "tdevice": ["cpu"],
        "tree_method": ["hist", "approx", "exact"],
        "weighted": [False, True],
        "learning_rate": [None, 1.0],
        "grow_policy": ["depthwise", "lossguide"],
        "multi_strategy": ["multi_output_tree", "one_output_per_tree"],
        "sampling_method": ["uniform"],
        "objective": ["rank:ndcg", "rank:pairwise", "rank:map"],
        "DMatrixT": [library.DMatrix, library.QuantileDMatrix],
        "DType": [np.array],
        "estimator": [library.XGBClassifier],
        "impl": [pandas],
        "as_frame": [None, pandas.DataFrame],
        "X": [x],
        "y": [y],
        "dtrain": [library.DMatrix(x, y)],
        "dtest": [library.DMatrix(x, y)],
        "rng": [np.random.default_rng(0)],
        "n_samples": [4, 100, 1000],
        "n_samples_per_batch": [128],
        "n_features": [4],
        "n_batches": [3],
        "n_bins": [32],
        "on_host": [False],
        "is_cat": [False, True],
        "extmem": [False, True],
        "rows": [64],
        "cols": [3],
        "rounds": [4],
        "cats": [3, 9],
    }


OWN_VALUES: Final = {"run_eta_decay_leaf_output": {"objective": ["binary:logistic"]}}


def calls(library: Any, modules: list[str]) -> Iterator[tuple[str, Callable[[], None]]]:
    """Name and call of every function with every combination of arguments."""
    values = values_of(library)
    for name in modules:
        module = importlib.import_module(f"xgboost.testing.{name}")
        for called, function in sorted(vars(module).items()):
            is_own = inspect.isfunction(function) and function.__module__ == module.__name__
            if not is_own or not called.startswith(("run_", "check_")) or called in LEFT_OUT:
                continue
            choices = {**values, **OWN_VALUES.get(called, {})}
            names = [
                argument
                for argument, known in inspect.signature(function).parameters.items()
                if argument in choices or known.default is inspect.Parameter.empty
            ]
            for chosen in itertools.product(*(choices[argument] for argument in names)):
                given = dict(zip(names, chosen, strict=True))
                shown = [
                    getattr(value, "__name__", str(value))
                    for argument, value in given.items()
                    if len(choices[argument]) > 1
                ]
                yield " ".join([f"{name}.{called}", *shown]), lambda f=function, g=given: f(**g)


def main(arguments: list[str]) -> None:
    """Call everything and print what came of it."""
    warnings.simplefilter("ignore")
    modules = [argument for argument in arguments if argument in MODULES] or MODULES
    library = xgboost if "xgboost" in arguments else gossamer.compat.xgboost
    if library is not xgboost:
        use_ours()
    n_passed = n_failed = 0
    for name, call in calls(library, modules):
        try:
            call()
        except BaseException as error:  # pytest's own outcomes are not exceptions
            if type(error).__name__ == "Skipped":
                print(f"> {name}: skipped")
                continue
            n_failed += 1
            text = " ".join(str(error).split())
            print(f"> {name}: {type(error).__name__} {text[:200]}", flush=True)
        else:
            n_passed += 1
            print(f"> {name}: ok", flush=True)
    print(f"{n_passed} passed, {n_failed} failed")


if __name__ == "__main__":
    main(sys.argv[1:])
