"""Methods of `Booster` that explain it and its predictions, as functions of a trained model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gossamer.arguments import check_flags, length_of
from gossamer.cuda.arrays import to_host
from gossamer.data import Dataset
from gossamer.data.chunks.find_source import whole_table
from gossamer.data.dataset import built_data
from gossamer.model.given_params import given_params
from gossamer.model.inspection.shap_values import shap_interactions as interactions_of
from gossamer.model.inspection.shap_values import shap_values as values_of
from gossamer.model.prediction.arguments import predict_options
from gossamer.model.prediction.predict import fitting_table
from gossamer.params import resolve

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gossamer.model.inspection.partial import PartialDependence
    from gossamer.model.inspection.permutation import PermutationImportance
    from gossamer.model.inspection.report_options import ReportOptions
    from gossamer.model.trained_model import TrainedModel


def shap_values(
    booster: TrainedModel,
    data: Any,
    background: Any = None,
    start_iteration: int = 0,
    num_iteration: int | None = None,
    **kwargs: Any,
) -> npt.NDArray[np.float64]:
    """Return exact Shapley values of the raw scores.

    Args:
        data: The rows to explain, as for `predict`.
        background: Rows whose values replace unknown ones (interventional values). None means that
            unknown columns follow the shares of the training rows in each node, as in
            `predict(pred_contrib=True)`.
        start_iteration: First round to use.
        num_iteration: Number of rounds, as for `predict`.
        **kwargs: Parameters, such as `num_threads`.

    Returns:
        (rows, columns + 1), or (rows, outputs, columns + 1) with several outputs. The last column
        is the expected value over all rows. The sum over the columns is the raw score.

    Example:
        >>> import gossamer as gs
        >>> x, y = [[0.0, 0.0], [1.0, 0.0]] * 30, [0.0, 1.0] * 30
        >>> booster = gs.train({"verbose": -1, "min_data_in_bin": 1}, gs.Dataset(x, y), 100)
        >>> booster.shap_values([[1.0, 0.0]]).round(3)
        array([[0.5, 0. , 0.5]])
    """
    options = predict_options(booster, start_iteration, num_iteration, kwargs)
    values: Any = values_of(booster.model, data, options, background)
    if isinstance(values, list):
        values = np.stack([part.toarray() for part in values], axis=1)
    found: npt.NDArray[np.float64] = values[:, 0] if values.shape[1] == 1 else values
    return found


def shap_interactions(
    booster: TrainedModel,
    data: Any,
    start_iteration: int = 0,
    num_iteration: int | None = None,
    **kwargs: Any,
) -> npt.NDArray[np.float64]:
    """Return exact Shapley interaction values of the raw scores.

    Args:
        data: The rows to explain, as for `predict`.
        start_iteration: First round to use.
        num_iteration: Number of rounds, as for `predict`.
        **kwargs: Parameters, such as `num_threads`.

    Returns:
        (rows, columns + 1, columns + 1), or (rows, outputs, columns + 1, columns + 1). The
        interaction of two columns is divided equally between the two entries for this pair. The sum
        of a row of the matrix is the Shapley value of the column.
    """
    options = predict_options(booster, start_iteration, num_iteration, kwargs)
    values = interactions_of(booster.model, data, options)
    return values[:, 0] if values.shape[1] == 1 else values


def to_shap(booster: TrainedModel, num_iteration: int | None = None) -> dict[str, Any]:
    """Return the trees in the form that `shap.TreeExplainer` accepts.

    Args:
        num_iteration: Number of rounds, as for `predict`.

    Raises:
        NotSupportedError: If the package cannot represent the trees: categorical splits, target
            statistics, linear leaves, zeros that count as missing. Use `to_explanation` then.

    Example:
        >>> import gossamer as gs
        >>> data = gs.Dataset(np.arange(100.0).reshape(-1, 1), label=np.arange(100) > 50)
        >>> booster = gs.Booster({"num_leaves": 2, "verbose": -1}, data)
        >>> booster.update()
        False
        >>> booster.to_shap()["trees"][0]["children_left"]
        array([ 1, -1, -1])
    """
    from gossamer.model.inspection import shap_package

    return shap_package.to_shap(booster.used_model(num_iteration))


def to_explanation(
    booster: TrainedModel,
    data: Any,
    background: Any = None,
    start_iteration: int = 0,
    num_iteration: int | None = None,
    **kwargs: Any,
) -> Any:
    """Return the Shapley values of `shap_values` as a `shap.Explanation`, for its plots.

    This needs the shap package, and works for all models.

    Args:
        data: The rows to explain, as for `predict`.
        background: As for `shap_values`.
        start_iteration: First round to use.
        num_iteration: Number of rounds, as for `predict`.
        **kwargs: Parameters, such as `num_threads`.

    Raises:
        ImportError: If the package is not installed.
    """
    from gossamer.model.inspection import shap_package

    model = booster.model
    data = whole_table(data)
    values = booster.shap_values(data, background, start_iteration, num_iteration, **kwargs)
    options = predict_options(booster, start_iteration, num_iteration, kwargs)
    matrix = fitting_table(model, data, options.disable_shape_check).matrix
    table = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return shap_package.to_explanation(values, table, list(model.names))


def permutation_importance(
    booster: TrainedModel,
    data: Any,
    label: Any,
    metric: str | None = None,
    n_repeats: int = 5,
    seed: int = 0,
    weight: Any = None,
    group: Any = None,
    start_iteration: int = 0,
    num_iteration: int | None = None,
    **kwargs: Any,
) -> PermutationImportance:
    """Shuffle one column after another, and measure how much worse a metric becomes.

    Use data that the model was not trained on. The same seed gives the same numbers.

    Args:
        data: Rows x columns, as for `predict`.
        label: Labels, as for `Dataset`.
        metric: Name of a metric; None uses the metric of the training, or the default of the
            objective.
        n_repeats: How often each column is shuffled.
        seed: Seed for the shuffling.
        weight: Weights, as for `Dataset`.
        group: Number of rows of each query, as for `Dataset`.
        start_iteration: First round to use.
        num_iteration: Number of rounds, as for `predict`.
        **kwargs: Parameters, such as `num_threads`.

    Returns:
        `mean` and `std` by column, and all `values`. They are above 0 if the column helps.

    Example:
        >>> import gossamer as gs
        >>> x = np.arange(200.0).reshape(100, 2) % 13
        >>> booster = gs.Booster({"verbose": -1}, gs.Dataset(x, label=x[:, 0]))
        >>> booster.update()
        False
        >>> found = booster.permutation_importance(x, x[:, 0], metric="l1")
        >>> bool(found.mean[0] > 0), bool(found.mean[1] == 0)
        (True, True)
    """
    from gossamer.model.inspection import permutation

    resolved = resolve(given_params(booster.params))
    if metric is not None:
        resolved = resolved.replace(metric=metric)
    options = predict_options(booster, start_iteration, num_iteration, kwargs)
    label = to_host(label)
    rows = np.zeros((max(length_of(label), 0), 1), np.int8)
    given = built_data(Dataset(rows, label, weight=weight, group=group, params={"verbose": -1}))
    return permutation.permutation_importance(
        booster.model, data, given, resolved, options, n_repeats, seed
    )


@check_flags
def partial_dependence(
    booster: TrainedModel,
    data: Any,
    feature: int | str | Sequence[int | str],
    grid: Any = None,
    kind: Literal["average", "individual"] = "average",
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int = 100,
    raw_score: bool = False,
    start_iteration: int = 0,
    num_iteration: int | None = None,
    **kwargs: Any,
) -> PartialDependence:
    """Return the predictions as one column takes different values.

    Args:
        data: Rows x columns, as for `predict`; all other columns keep their values.
        feature: The column, by number or name, or two columns.
        grid: The values of the column, or a list of values for each of two columns. None uses
            quantiles of the data between `percentiles`, or all values of the data if the column is
            categorical or has at most `grid_resolution` values.
        kind: "average" is the mean over the rows (partial dependence). "individual" returns one
            curve for each row (individual conditional expectation, ICE).
        percentiles: Lowest and highest quantile of the grid.
        grid_resolution: Maximum number of values in a grid of quantiles.
        raw_score: Whether to use raw scores rather than predictions.
        start_iteration: First round to use.
        num_iteration: Number of rounds, as for `predict`.
        **kwargs: Parameters, such as `num_threads`.

    Returns:
        `grid`, the values of each column, and `values`, with the shape (grid,), or (grid, other
        grid) for two columns. With "individual", the rows are the first dimension. With several
        outputs, they are the last dimension.

    Example:
        >>> import gossamer as gs
        >>> x = np.arange(200.0).reshape(100, 2)
        >>> data = gs.Dataset(x, label=x[:, 0] > 99)
        >>> booster = gs.Booster({"num_leaves": 2, "verbose": -1}, data)
        >>> booster.update()
        False
        >>> found = booster.partial_dependence(x, 0, grid=[50.0, 150.0])
        >>> found.values.round(2)
        array([0.45, 0.55])
    """
    from gossamer.model.inspection import partial

    options = predict_options(booster, start_iteration, num_iteration, kwargs, raw_score)
    return partial.partial_dependence(
        booster.model, data, feature, options, grid, kind, percentiles, grid_resolution
    )


def report(
    booster: TrainedModel,
    path: str | os.PathLike[str] | None = None,
    data: Any = None,
    label: Any = None,
    **options: Unpack[ReportOptions],
) -> Any:
    """Write a self-contained HTML page about the model.

    It contains learning curves, metrics and plots for the task, importance, Shapley values, partial
    dependence, trees to explore, columns and parameters (docs/report.md).

    Args:
        path: The file to write. An existing file is replaced in one step. None writes no file and
            returns the page, which notebooks show.
        data: Rows to explain and to predict, as for `predict`, or a `Dataset` that has kept its raw
            data. Use rows that the model was not trained on if you can.
        label: Their labels, as for `Dataset`. Classes are given by number, or by name if the model
            has class names.
        **options: Options given by name: `group` or `query` for ranking, `evals_result`, `title`,
            `class_names`, `num_iteration`, `max_rows`, `n_features`, `trees`, `target` and
            `source`; see `ReportOptions` below.

    Returns:
        The path of the file (a `pathlib.Path`), or the page (a `ReportPage`) if no path is given.

    Raises:
        ParameterError: If the path cannot be a file, or an argument cannot be used.
        DataError: If the data does not fit the model, or the labels do not fit the data.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import gossamer as gs
        >>> x = [[0.0], [1.0]] * 30
        >>> booster = gs.train({"verbose": -1}, gs.Dataset(x, [0.0, 1.0] * 30), 5)
        >>> booster.report(Path(tempfile.mkdtemp(), "report.html"), x).name
        'report.html'
    """
    # Pages are made of models, so they come later in the pipeline: found when first asked for.
    return import_module("gossamer.report").write_report(booster, path, data, label, **options)
