"""`plot_metric`: a metric, round by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gossamer.errors import ParameterError, ParameterTypeError
from gossamer.model import Booster
from gossamer.plot.arguments import checks_arguments
from gossamer.plot.axes import Pair, check_pair, label_axes, make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

History = Mapping[str, Mapping[str, Sequence[float]]]

# Behind the names of metrics in what `cv` returns.
_MEAN: Final = "-mean"
_SPREAD: Final = "-stdv"


@checks_arguments
def plot_metric(
    booster: Any,
    metric: str | None = None,
    dataset_names: Sequence[str] | None = None,
    ax: Axes | None = None,
    xlim: Pair | None = None,
    ylim: Pair | None = None,
    title: str | None = "Metric during training",
    xlabel: str | None = "Iterations",
    ylabel: str | None = "@metric@",
    figsize: Pair | None = None,
    dpi: int | None = None,
    grid: bool = True,
) -> Axes:
    """Draw a metric by round of training.

    This needs matplotlib: `pip install "gossamer[plot]"`.

    Args:
        booster: The dict that `record_evaluation` filled, the result of `cv`, or a fitted
            estimator. A dot marks the best round that the early stopping of an estimator found. For
            `cv`, a band around the curve shows the standard deviation over the folds.
        metric: Name of the metric; None means the first.
        dataset_names: Names of the data sets; None means all.
        ax: matplotlib axes to draw on; None creates new ones.
        xlim: Limits of the x axis, which counts rounds from 1.
        ylim: Limits of the y axis.
        title: Title, or None.
        xlabel: Label of the x axis, or None.
        ylabel: Label of the y axis, or None; `@metric@` is replaced by the name of the metric.
        figsize: Width and height of the new figure in inches.
        dpi: Resolution of the new figure.
        grid: Whether to draw a grid.

    Returns:
        The axes.

    Raises:
        ParameterError: If there is no such metric or data set, or nothing was recorded.

    Example:
        >>> from matplotlib.figure import Figure
        >>> history = {"train": {"l2": [0.9, 0.5, 0.3]}, "valid": {"l2": [0.9, 0.6, 0.5]}}
        >>> ax = plot_metric(history, ax=Figure().add_subplot())
        >>> ax.get_ylabel(), [line.get_label() for line in ax.get_lines()]
        ('l2', ['train', 'valid'])
    """
    history = _find_history(booster)
    curves = _find_curves(history, metric, dataset_names)
    name = next(iter(curves.values()))[0]
    ax = make_axes(ax, figsize, dpi, "plot_metric")
    best_round = getattr(booster, "best_iteration_", 0)
    for dataset_name, (_, values) in curves.items():
        (line,) = ax.plot(range(1, len(values) + 1), values, label=dataset_name)
        spreads = history[dataset_name].get(_spread_of(name))
        if spreads is not None:
            middle, half = np.asarray(values, float), np.asarray(spreads, float)
            places = range(1, len(values) + 1)
            ax.fill_between(
                places,
                middle - half,
                middle + half,
                color=line.get_color(),
                alpha=0.15,
                linewidth=0,
            )
        if 0 < best_round <= len(values):
            ax.plot(best_round, values[best_round - 1], "o", color=line.get_color())
    n_rounds = max(len(values) for _, values in curves.values())
    # A single round is a point, which needs some room around it.
    ax.set_xlim(check_pair(xlim, "xlim") or (1 if n_rounds > 1 else 0, max(n_rounds, 2)))
    if check_pair(ylim, "ylim") is not None:
        ax.set_ylim(ylim)
    for text in ax.legend(loc="best", frameon=False).get_texts():
        text.set_parse_math(False)
    label_axes(
        ax,
        title=title,
        xlabel=xlabel,
        ylabel="@metric@" if ylabel == "auto" else ylabel,
        grid="both" if grid else None,
        names={"@metric@": name},
    )
    return ax


def metric_names(booster: Any) -> list[str]:
    """Return the names of the metrics that `plot_metric` can draw.

    Example:
        >>> metric_names({"valid": {"auc": [0.7], "l2": [0.1]}})
        ['auc', 'l2']
    """
    history = _find_history(booster)
    return list(dict.fromkeys(m for d in history.values() for m in d if not m.startswith(" ")))


def _find_history(booster: Any) -> History:
    if isinstance(booster, Mapping):
        history: History = _by_dataset(booster)
    elif hasattr(type(booster), "evals_result_"):
        history = booster.evals_result_
    else:
        hint = "Record the metrics with record_evaluation(history), and pass history."
        raise ParameterTypeError.because(
            "plot_metric cannot draw this",
            got=type(booster).__name__,
            expected="recorded metrics or a fitted estimator",
            hint=hint if isinstance(booster, Booster) else "",
        )
    if not history:
        raise ParameterError.because(
            "there is nothing to draw: no metric was recorded",
            hint="Pass valid_sets to train(), or eval_set to fit().",
        )
    return history


def _by_dataset(found: Mapping[str, Any]) -> History:
    """What `cv` returned, as if it had been recorded; anything else as it is.

    Example:
        >>> _by_dataset({"valid l2-mean": [0.5], "valid l2-stdv": [0.1]})
        {'valid': {'l2': [0.5], ' l2-stdv': [0.1]}}
    """
    if not any(key.endswith(_MEAN) and " " in key for key in map(str, found)):
        return found
    history: dict[str, dict[str, Sequence[float]]] = {}
    for key, values in found.items():
        dataset_name, is_there, name = key.partition(" ")
        if not is_there:
            continue  # the models
        metrics = history.setdefault(dataset_name, {})
        if name.endswith(_MEAN):
            metrics[name.removesuffix(_MEAN)] = values
        else:
            metrics[_spread_of(name.removesuffix(_SPREAD))] = values
    return history


def _spread_of(name: str) -> str:
    """Where the standard deviations of a metric stand: no metric's name begins with a space."""
    return f" {name}{_SPREAD}"


def _find_curves(
    history: History, metric: str | None, dataset_names: Sequence[str] | None
) -> dict[str, tuple[str, Sequence[float]]]:
    """Name of the metric and values of each data set to draw."""
    wanted = list(history) if dataset_names is None else list(dataset_names)
    if isinstance(dataset_names, str):
        wanted = [dataset_names]
    unknown = [name for name in wanted if name not in history]
    if unknown or not wanted:
        raise ParameterError.because(
            "there is no such data set" if unknown else "dataset_names is empty",
            got=unknown[0] if unknown else dataset_names,
            expected=f"some of {', '.join(history)}",
        )
    for each in wanted:
        if not isinstance(history[each], Mapping):
            raise ParameterError.because(
                "this is not a history of metrics",
                got=history[each],
                expected="{data set: {metric: values}}",
            )
    name = next(iter(history[wanted[0]]), "") if metric is None else metric
    curves = {d: (name, history[d][name]) for d in wanted if name in history[d]}
    if not curves:
        known = dict.fromkeys(m for d in wanted for m in history[d] if not m.startswith(" "))
        raise ParameterError.because(
            "there is no such metric", got=metric, expected=f"one of {', '.join(known)}"
        )
    return curves
