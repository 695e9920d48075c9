from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import lightgbm
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

import gossamer
from gossamer import GossamerRegressor
from gossamer.errors import ParameterError
from gossamer.plot import plot_metric

HISTORY = {
    "train": {"l2": [3.0, 2.0, 1.0], "l1": [2.0, 1.5, 1.0]},
    "valid": {"l2": [3.5, 2.5, 2.75], "l1": [2.0, 1.9, 1.8]},
}


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    yield
    plt.close("all")


def lines(ax: Any) -> dict[str, list[float]]:
    return {line.get_label(): line.get_ydata().tolist() for line in ax.get_lines()}


def test_history() -> None:
    ax = plot_metric(HISTORY)
    assert lines(ax) == {"train": [3.0, 2.0, 1.0], "valid": [3.5, 2.5, 2.75]}
    assert ax.get_lines()[0].get_xdata().tolist() == [1, 2, 3]
    assert (ax.get_title(), ax.get_xlabel()) == ("Metric during training", "Iterations")
    assert (ax.get_ylabel(), ax.get_xlim()) == ("l2", (1, 3))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["train", "valid"]


def test_options() -> None:
    given = Figure().add_subplot()
    ax = plot_metric(
        HISTORY,
        "l1",
        ["valid"],
        ax=given,
        xlim=(0, 9),
        ylim=(0, 5),
        title=None,
        xlabel=None,
        ylabel="value of @metric@",
        grid=False,
    )
    assert ax is given
    assert lines(ax) == {"valid": [2.0, 1.9, 1.8]}
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 9), (0, 5))
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("", "", "value of l1")
    assert plot_metric(HISTORY, ylabel="auto").get_ylabel() == "l2"
    assert plot_metric(HISTORY, ylabel=None).get_ylabel() == ""
    assert plot_metric(HISTORY, dataset_names="train").get_legend() is not None
    figure = plot_metric(HISTORY, figsize=(3, 2), dpi=50).figure
    assert (figure.get_size_inches().tolist(), figure.dpi) == ([3, 2], 50)


def test_estimator_and_its_best_round() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    model = GossamerRegressor().fit(x, y, eval_set=[(x[:50], y[:50])], eval_names=["some"])
    assert list(lines(plot_metric(model))) == ["some"]
    stop = gossamer.early_stopping(3, verbose=False)
    model.fit(x[:100], y[:100], eval_set=[(x[100:], y[100:])], callbacks=[stop])
    curve, dot = plot_metric(model).get_lines()
    best = model.best_iteration_
    assert dot.get_xdata().tolist() == [best]
    assert dot.get_ydata().tolist() == [curve.get_ydata().min()]


def test_one_round() -> None:
    assert plot_metric({"valid": {"auc": [0.5]}}).get_xlim() == (0, 2)


def test_curves_of_different_lengths() -> None:
    ax = plot_metric({"a": {"l2": [1.0]}, "b": {"l2": [1.0, 2.0]}, "c": {"l1": [1.0]}})
    assert lines(ax) == {"a": [1.0], "b": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"metric": "auc"}, "no such metric: got 'auc', expected one of l2, l1"),
        (
            {"dataset_names": ["test"]},
            "no such data set: got 'test', expected some of train",
        ),
        ({"dataset_names": []}, "empty"),
        ({"xlim": 3}, "xlim"),
        ({"ylim": (1, 2, 3)}, "ylim"),
        ({"figsize": "big"}, "figsize"),
    ],
    ids=str,
)
def test_bad_arguments(arguments: Any, what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        plot_metric(HISTORY, **arguments)


def test_nothing_to_draw() -> None:
    data = gossamer.Dataset(np.zeros((5, 1)), np.arange(5))
    with pytest.raises(ParameterError, match="record_evaluation"):
        plot_metric(gossamer.train({"verbose": -1}, data, 1))
    with pytest.raises(ParameterError, match="got 'int'"):
        plot_metric(3)
    with pytest.raises(ParameterError, match="no metric was recorded"):
        plot_metric({})
    with pytest.raises(NotFittedError):
        plot_metric(GossamerRegressor())


def test_results_of_cross_validation() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    params = {"metric": ["l2", "l1"], "verbose": -1}
    found = gossamer.cv(
        params,
        gossamer.Dataset(x, x[:, 0]),
        5,
        nfold=3,
        eval_train_metric=True,
        return_cvbooster=True,
    )
    ax = plot_metric(found, "l1")
    assert lines(ax) == {"train": found["train l1-mean"], "valid": found["valid l1-mean"]}
    band = ax.collections[1].get_paths()[0].vertices[:, 1]
    upper = np.add(found["valid l1-mean"], found["valid l1-stdv"])
    assert band.max() == pytest.approx(upper.max())
    assert plot_metric(found).get_ylabel() == "l2"
    with pytest.raises(ParameterError, match=r"got 'auc', expected one of l2, l1\."):
        plot_metric(found, "auc")


@pytest.mark.parametrize("call", ["plot_metric({'a': {'l2': [1.0]}})", "plot_importance(model)"])
def test_without_matplotlib(call: str) -> None:
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from gossamer.plot import plot_metric, plot_importance\n"
        "import gossamer\n"
        "data = gossamer.Dataset([[float(i)] for i in range(99)], label=range(99))\n"
        f"model = gossamer.train({{}}, data, 1)\n{call}"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    name = call.partition("(")[0]
    assert f'ImportError: {name} needs matplotlib: pip install "gossamer[plot]"' in run.stderr


@pytest.mark.parametrize("name", ["plot_metric", "plot_importance"])
def test_arguments_are_lightgbms(name: str) -> None:
    expected = inspect.signature(getattr(lightgbm, name)).parameters.values()
    own = ("percent",)  # by name only
    given = inspect.signature(getattr(gossamer, name)).parameters.values()
    assert all(p.kind is p.KEYWORD_ONLY for p in given if p.name in own)
    found = [p for p in given if p.name not in own]
    assert [(p.name, p.kind, p.default) for p in found] == [
        (p.name, p.kind, p.default) for p in expected
    ]


@pytest.mark.parametrize("name", ["$x_{$", "US$ or CA$", r"\$", "$"])
def test_dollar_signs_in_names_are_no_formulas(name: str) -> None:
    history = {f"valid {name}": {name: [2.0, 1.0]}, "train $y$": {name: [2.0, 1.0]}}
    ax = plot_metric(history, title="$R^2$")
    ax.figure.canvas.draw()
    assert ax.get_ylabel() == name
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(history)
    plot_metric(history, ylabel="auto").figure.canvas.draw()
    assert ax.title.get_parse_math()  # the user's own text may have a formula
