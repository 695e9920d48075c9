"""Names of metrics: aliases, arguments after @, what fits the objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gossamer import Dataset, ParameterError, train
from gossamer.metrics import make_metrics
from gossamer.metrics.registry import METRICS
from gossamer.objectives import Binary, Multiclass
from gossamer.params import TABLE, resolve
from gossamer.params.table_objective import CLASS_METRICS


def names(metric: Any, **params: Any) -> list[str]:
    given = {"objective": "binary", "metric": metric, **params}
    n_classes = given.get("num_class", 1)
    objective = Binary() if n_classes == 1 else Multiclass(n_classes)
    return [m.name for m in make_metrics(resolve(given), objective)]


def names_of_classes(metric: Any, **params: Any) -> list[str]:
    return names(metric, objective="multiclass", num_class=3, **params)


def test_every_supported_name_is_there() -> None:
    assert TABLE["metric"].choices.keys() - {"custom"} == METRICS.keys()


def test_metrics_for_classes_are_the_same_in_both_tables() -> None:
    supported = {name for name, metric in METRICS.items() if metric.for_classes}
    assert supported == METRICS.keys() & set(CLASS_METRICS)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("auc", ["auc"]),
        (["auc", "average_precision"], ["auc", "average_precision"]),
        (["average_precision", "auc"], ["average_precision", "auc"]),
        ("logloss, error,auc", ["binary_logloss", "binary_error", "auc"]),
        ("aucpr", ["aucpr"]),
        ("error@0.7", ["binary_error@0.7"]),
        ("Binary_Error@.70", ["binary_error@0.7"]),
        ("error@ 0.7 , error@0.70", ["binary_error@0.7"]),
        (["error", "error@0.5"], ["binary_error", "binary_error@0.5"]),
        ("error@0,error@1", ["binary_error@0", "binary_error@1"]),
        ("error@1e-3", ["binary_error@0.001"]),
        ("ams@0.15", ["ams@0.15"]),
        ("ams@0", ["ams@0"]),
        ("None", []),
        ("none,auc", ["auc"]),
        ((), []),
        ([], ["binary_logloss"]),
        ("", ["binary_logloss"]),
    ],
)
def test_names_in_results(given: Any, found: list[str]) -> None:
    assert names(given) == found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("mlogloss,merror,auc_mu", ["multi_logloss", "multi_error", "auc_mu"]),
        ("merror@2", ["multi_error@2"]),
        ("multi_error@2.0,multi_error@1", ["multi_error@2", "multi_error"]),
    ],
)
def test_names_in_results_of_several_classes(given: Any, found: list[str]) -> None:
    assert names_of_classes(given) == found


def test_what_follows_the_name_wins_over_the_parameter() -> None:
    assert names_of_classes("multi_error", multi_error_top_k=2) == ["multi_error@2"]
    assert names_of_classes("multi_error@3", multi_error_top_k=2) == ["multi_error@3"]


@pytest.mark.parametrize(
    "metric", ["error@abc", "error@2", "error@-0.1", "error@nan", "error@0.5@0.6", "ams", "ams@x"]
)
def test_bad_arguments(metric: str) -> None:
    with pytest.raises(ParameterError, match=r"cannot use what follows @(.|\n)*from 0 to 1"):
        names(metric)


@pytest.mark.parametrize("argument", ["0", "1.5", "-1", "x", "nan", "inf", "1e30"])
def test_bad_counts(argument: str) -> None:
    with pytest.raises(ParameterError, match=r"multi_error(.|\n)*a whole number, 1 or more"):
        names_of_classes(f"multi_error@{argument}")


def test_at_with_nothing_behind_it() -> None:
    with pytest.raises(ParameterError, match=r"nothing follows @ in the name .* binary_error"):
        names("error@")


@pytest.mark.parametrize("metric", ["auc@1", "auc@", "logloss@0.5", "aucpr@2"])
def test_metrics_that_take_no_argument(metric: str) -> None:
    with pytest.raises(ParameterError, match="takes no number after the @"):
        names(metric)


def test_none_takes_no_argument() -> None:
    with pytest.raises(ParameterError, match="takes no number after the @"):
        resolve({"metric": "none@3"})


@pytest.mark.parametrize(
    "metric", ["auc", "error@0.7", "aucpr", "ams@0", "average_precision", "l2"]
)
def test_one_score_does_not_fit_several_classes(metric: str) -> None:
    with pytest.raises(ParameterError, match="metric does not fit objective=multiclass"):
        names_of_classes(metric)


@pytest.mark.parametrize("metric", ["auc_mu", "mlogloss", "multi_error@2"])
def test_several_classes_do_not_fit_one_score(metric: str) -> None:
    with pytest.raises(ParameterError, match="metric does not fit objective=binary"):
        names(metric)


def test_training_keeps_the_order() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = x[:, 0] + 0.1 * rng.normal(size=300) > 0
    data = Dataset(x, label=y)
    params = {"objective": "binary", "metric": ["error@0.7", "auc", "aucpr"], "verbosity": -1}
    model = train(params, data, 2, [data, data.create_valid(x, label=y)], ["a", "b"])
    for name in ("a", "b"):
        assert list(model.best_score[name]) == ["binary_error@0.7", "auc", "aucpr"]
    assert model.best_score["a"] == model.best_score["b"]
