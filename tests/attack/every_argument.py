"""Public functions with arguments that work, each of which is then given odd values."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pandas as pd

import gossamer as gs
from gossamer import Booster, Dataset, GossamerClassifier, GossamerRanker, GossamerRegressor
from gossamer.compat import xgboost as as_xgboost

RNG = np.random.default_rng(0)
N = 60
ROWS = RNG.normal(size=(N, 3))
LABEL = ROWS[:, 0] + 0.1 * RNG.normal(size=N)
CLASSES = (LABEL > 0).astype(int)
SMALL: Final = {"verbosity": -1, "num_threads": 1, "num_leaves": 4, "min_data_in_leaf": 2}
BINARY: Final = {**SMALL, "objective": "binary"}
XGB: Final = {"verbosity": 0, "nthread": 1, "max_depth": 2}


class Odd:
    """An object that means nothing, and whose text is not there."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


ODD: Final[tuple[Any, ...]] = (
    *(None, -1, 0, 1, 77, 2.5, -0.5, math.nan, math.inf, True, np.float32(1), np.int8(-3), 10**400),
    *("", "x", "a\0b", "\ud800", b"x", [], {}, (), [None], [-1], [[]], {"x": 1}, {1: 2}),
    *(("x", "x"), Odd(), print, np.array([]), np.zeros((2, 2)), np.full(N, np.nan), ROWS, ROWS[:1]),
    *(ROWS[:0], ROWS[:, :0], LABEL, LABEL[:-1], np.array("x"), set(), pd.DataFrame(), pd.NA),
    *(np.full((N, 3), 1e300), np.array(["x"] * N), np.array([{}] * N), 1j, range(3)),
)

Call = tuple[Callable[..., Any], dict[str, Any]]


def like(function: Callable[..., Any], others: tuple[str, ...] = ()) -> Any:
    """Give a function of keywords the names of another function's parameters, and some more."""

    def decorate(own: Callable[..., Any]) -> Callable[..., Any]:
        names = [*inspect.signature(function).parameters, *others]
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [inspect.Parameter(name, keyword) for name in names if name != "kwargs"]
        own.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        own.__qualname__ = f"{function.__qualname__}, used"
        return own

    return decorate


@like(Dataset)
def construct(**given: Any) -> None:
    """Build a data set."""
    Dataset(**{"data": ROWS, "label": LABEL, **given}).construct()


def fit_with(kind: Any, label: Any, options: dict[str, Any]) -> Callable[..., Any]:
    """Return a function that fits an estimator with other arguments."""

    @like(kind, ("quality", "time_limit", "folds", "calibration", "early_stopping"))
    def fit(**given: Any) -> None:
        kind(**{**options, **given}).fit(ROWS, label)

    return fit  # type: ignore[no-any-return]


@lru_cache
def model() -> Booster:
    """A model of numbers."""
    return gs.train(SMALL, Dataset(ROWS, LABEL), 3)


@lru_cache
def folds_text(kind: str) -> str:
    """A model over folds, that knows the predictions of its training rows."""
    params, label = (SMALL, LABEL) if kind == "numbers" else (BINARY, CLASSES)
    return gs.train_folds(params, Dataset(ROWS, label), 4, nfold=3).model_to_string()


def over_folds(kind: str = "numbers") -> Booster:
    """The same model, without a trace of earlier calls."""
    return Booster(model_str=folds_text(kind))


def data(label: Any = LABEL, **options: Any) -> Dataset:
    """A data set that is not built."""
    return Dataset(ROWS, label, **options)


def training() -> Booster:
    """A training that has had one round."""
    found = Booster(SMALL, data())
    found.add_valid(data(), "valid")
    found.update()
    return found


def matrix(label: Any = CLASSES) -> as_xgboost.DMatrix:
    """The table as XGBoost names it."""
    return as_xgboost.DMatrix(ROWS, label)


@lru_cache
def xgboost_bytes() -> bytes:
    """A model of the module with XGBoost's names."""
    return bytes(as_xgboost.train(XGB, matrix(), 2).save_raw())


def xgboost_model() -> as_xgboost.Booster:
    """The same model, fresh."""
    return as_xgboost.Booster(model_file=bytearray(xgboost_bytes()))


def sketch() -> gs.QuantileSketch:
    """A sketch of some numbers."""
    return gs.QuantileSketch(0.05).update(LABEL)


def trainings() -> Iterator[Call]:
    """Functions that train."""
    for params, label in ((SMALL, LABEL), (BINARY, CLASSES)):
        rows = {"params": params, "train_set": data(label)}
        yield gs.train, {**rows, "num_boost_round": 2}
        yield gs.cv, {**rows, "num_boost_round": 2, "nfold": 2}
        yield gs.train_folds, {**rows, "num_boost_round": 2, "nfold": 2}
        yield gs.train_refit, {**rows, "num_boost_round": 3}
        yield gs.train_quality, {**rows, "quality": "fast", "num_boost_round": 2}
        yield gs.train_quality, {**rows, "quality": "good", "num_boost_round": 2, "nfold": 2}


def methods_of_models() -> Iterator[Call]:
    """Methods of `Booster`."""
    for found in (model(), over_folds(), over_folds("classes")):
        for name in (
            "predict",
            "predict_interval",
            "predict_set",
            "shap_values",
            "shap_interactions",
        ):
            yield getattr(found, name), {"data": ROWS}
        yield found.partial_dependence, {"data": ROWS, "feature": 0}
        yield found.refit, {"data": ROWS, "label": CLASSES}
        yield found.permutation_importance, {"data": ROWS, "label": CLASSES, "n_repeats": 1}
        for name in (
            "feature_importance",
            "dump_model",
            "model_to_string",
            "oof_prediction",
            "to_c",
        ):
            yield getattr(found, name), {}
    yield model().get_leaf_output, {"tree_id": 0, "leaf_id": 0}
    yield model().get_split_value_histogram, {"feature": 0}
    yield model().predictor, {}
    yield model().fold_member, {"member": 0}
    yield over_folds().fold_member, {"member": 0}
    yield Booster.from_model, {"model": model()}
    yield Booster, {"params": SMALL, "train_set": data()}


def changes() -> Iterator[Call]:
    """Methods that change a model, a training or a data set."""
    copy = Booster(model_str=model().model_to_string())
    yield copy.set_leaf_output, {"tree_id": 0, "leaf_id": 0, "value": 1.0}
    yield copy.shuffle_models, {}
    yield copy.model_from_string, {"model_str": model().model_to_string()}
    yield Booster(model_str=folds_text("classes")).set_class_names, {"names": ["no", "yes"]}
    yield training().update, {}
    yield training().eval, {"data": data(), "name": "other"}
    yield training().eval_train, {}
    yield training().add_valid, {"data": data(), "name": "other"}
    yield training().reset_parameter, {"params": {"learning_rate": 0.5}}
    yield training().set_train_data_name, {"name": "rows"}
    yield Dataset, {"data": ROWS, "label": LABEL}
    yield construct, {}
    yield data().create_valid, {"data": ROWS, "label": LABEL}
    yield data(free_raw_data=False).subset, {"used_indices": [1, 2, 3]}
    yield data().construct().feature_num_bin, {"feature": 0}
    for name in ("weight", "label", "init_score", "group", "position", "query"):
        yield getattr(data().construct(), f"set_{name}"), {name: None}
    yield data().construct().get_field, {"field_name": "label"}
    yield data().get_ref_chain, {}
    yield data().add_features_from, {"other": data(None)}
    yield data().set_reference, {"reference": data()}
    yield data().set_categorical_feature, {"categorical_feature": [0]}
    yield data().set_feature_name, {"feature_name": ["a", "b", "c"]}


def callbacks_and_sketches() -> Iterator[Call]:
    """Callbacks and quantile sketches."""
    yield gs.early_stopping, {"stopping_rounds": 1}
    yield gs.log_evaluation, {}
    yield gs.record_evaluation, {"eval_result": {}}
    yield gs.reset_parameter, {"learning_rate": [0.1]}
    yield gs.report_metrics, {"log": print}
    yield gs.checkpoint, {"path": "run", "every_rounds": 1}
    yield gs.CustomObjective, {"gradient": print}
    yield gs.QuantileSketch, {}
    yield sketch().update, {"values": LABEL}
    yield sketch().quantile, {"q": 0.5}
    yield sketch().rank, {"value": 0.5}
    yield sketch().merge, {"other": sketch()}
    yield sketch().cuts, {}
    yield gs.QuantileSketch.from_bytes, {"data": sketch().to_bytes()}


def estimators() -> Iterator[Call]:
    """Estimators, their options and methods."""
    options: dict[str, Any] = {"n_estimators": 2, "verbosity": -1, "n_jobs": 1, "num_leaves": 4}
    for kind, label in ((GossamerClassifier, CLASSES), (GossamerRegressor, LABEL)):
        yield kind(**options).fit, {"X": ROWS, "y": label}
        yield fit_with(kind, label, options), {}
        fitted = kind(**options).fit(ROWS, label)
        folds = kind(**options, folds=3).fit(ROWS, label)
        for each in (fitted, folds):
            yield each.predict, {"X": ROWS}
            yield each.predict_interval, {"X": ROWS}
            yield each.predict_set, {"X": ROWS}
            yield each.score, {"X": ROWS, "y": label}
    yield fitted.load_model, {"filename": "model.gossamer"}
    classifier = GossamerClassifier(**options).fit(ROWS, CLASSES)
    yield classifier.predict_proba, {"X": ROWS}
    yield classifier.decision_function, {"X": ROWS}
    yield GossamerRanker(**options).fit, {"X": ROWS, "y": CLASSES, "group": [20, 40]}


def xgboost_names() -> Iterator[Call]:
    """The module with XGBoost's names."""
    yield (
        as_xgboost.train,
        {"params": XGB, "dtrain": matrix(), "num_boost_round": 2, "verbose_eval": False},
    )
    yield as_xgboost.cv, {"params": XGB, "dtrain": matrix(), "num_boost_round": 2}
    yield as_xgboost.DMatrix, {"data": ROWS, "label": CLASSES}
    yield as_xgboost.QuantileDMatrix, {"data": ROWS, "label": CLASSES}
    yield matrix().set_info, {}
    yield matrix().slice, {"rindex": [1, 2]}
    yield matrix().set_float_info, {"field": "label", "data": LABEL}
    yield matrix().set_uint_info, {"field": "group_ptr", "data": [0, N]}
    yield matrix().get_float_info, {"field": "label"}
    yield matrix().get_uint_info, {"field": "group_ptr"}
    for name in ("label", "weight", "base_margin", "group"):
        parameter = {"base_margin": "margin"}.get(name, name)
        yield getattr(matrix(), f"set_{name}"), {parameter: LABEL}
    yield as_xgboost.Booster, {}
    found = xgboost_model()
    yield found.predict, {"data": matrix()}
    yield found.inplace_predict, {"data": ROWS}
    yield found.get_score, {}
    yield found.get_dump, {}
    yield found.trees_to_dataframe, {}
    yield found.get_split_value_histogram, {"feature": "f0"}
    yield found.attr, {"key": "x"}
    yield found.eval, {"data": matrix()}
    yield found.eval_set, {"evals": [(matrix(), "rows")]}
    yield found.save_raw, {}
    yield xgboost_model().set_attr, {"x": "y"}
    yield xgboost_model().set_param, {"params": "eta", "value": 0.3}
    yield xgboost_model().update, {"dtrain": matrix(), "iteration": 3}
    yield xgboost_model().boost, {"dtrain": matrix(), "grad": LABEL, "hess": np.ones(N)}
    yield xgboost_model().load_model, {"fname": xgboost_bytes()}
    yield xgboost_model().load_config, {"config": found.save_config()}
    for kind, label in ((as_xgboost.XGBClassifier, CLASSES), (as_xgboost.XGBRegressor, LABEL)):
        small = {"n_estimators": 2, "verbosity": 0, "n_jobs": 1, "max_depth": 2}
        yield kind(**small).fit, {"X": ROWS, "y": label}
        yield fit_with(kind, label, small), {}
        fitted = kind(**small).fit(ROWS, label)
        yield fitted.predict, {"X": ROWS}
        yield fitted.apply, {"X": ROWS}


def plots_and_exports() -> Iterator[Call]:
    """Plots, reports and models in other formats."""
    history: dict[str, dict[str, list[float]]] = {}
    rows = data()
    gs.train(SMALL, rows, 3, valid_sets=[rows], callbacks=[gs.record_evaluation(history)])
    yield gs.plot_metric, {"booster": history}
    for plot in (gs.plot_importance, gs.plot_tree, gs.create_tree_digraph):
        yield plot, {"booster": model()}
    yield gs.plot_split_value_histogram, {"booster": model(), "feature": 0}
    for plot in (gs.plot_shap_summary, gs.plot_shap_waterfall):
        yield plot, {"booster": model(), "data": ROWS}
    for plot in (gs.plot_partial_dependence, gs.plot_shap_dependence):
        yield plot, {"booster": model(), "data": ROWS, "feature": 0}
    yield gs.cv(SMALL, data(), 2, nfold=2).plot, {}
    yield model().report, {"data": ROWS[:20], "label": LABEL[:20]}
    for export in (model().to_onnx, model().to_shap, model().to_treelite):
        yield export, {}


GROUPS: Final = (
    *(trainings, methods_of_models, changes, callbacks_and_sketches, estimators, xgboost_names),
    plots_and_exports,
)


def ways() -> Iterator[tuple[str, Callable[..., Any], dict[str, Any], str]]:
    """Yield what to call: its name, the function, good arguments, and the parameter to change."""
    for group in GROUPS:
        for function, good in group():
            of_function = inspect.signature(function).parameters.values()
            named = [p.name for p in of_function if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
            for parameter in dict.fromkeys([*good, *named]):
                yield f"{group.__name__}: {function.__qualname__}", function, good, parameter


def fresh(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return good arguments without a trace of earlier calls."""
    return {
        name: data(value.label) if isinstance(value, Dataset) else value
        for name, value in arguments.items()
    }
