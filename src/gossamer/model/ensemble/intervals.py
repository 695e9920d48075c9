"""Intervals and sets with a guarantee, from the out-of-fold predictions of an ensemble."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.arguments import check_flags
from gossamer.data.labels.fields import one_per_row
from gossamer.errors import DataError, NotSupportedError, ParameterError
from gossamer.model.ensemble.average import member_model
from gossamer.model.ensemble.conformal import Floats, Misfits
from gossamer.model.ensemble.fold_record import FoldRecord
from gossamer.model.ensemble.out_of_fold import record_of
from gossamer.model.model import Model
from gossamer.model.prediction.arguments import predict_options
from gossamer.model.prediction.predict import PredictOptions, predict
from gossamer.objectives import Multiclass
from gossamer.params.traits import Kind

if TYPE_CHECKING:
    from gossamer.model.trained_model import TrainedModel

_FOR_INTERVALS: Final = (Kind.REGRESSION, Kind.QUANTILES, Kind.DISTRIBUTION, Kind.CUSTOM)
_FOR_TIGHT: Final = (Kind.REGRESSION, Kind.CUSTOM)
_FOR_SETS: Final = (Kind.BINARY, Kind.MULTICLASS)
# The share of the members' distance from their average that tight intervals take off once more.
_TAKEN_OFF: Final = 0.5
_POSITIVE_LINKS: Final = ("exp", "bounded_exp")


@check_flags
def predict_interval(
    booster: TrainedModel,
    data: Any,
    coverage: float = 0.9,
    *,
    tight: bool = False,
    groups: Any = None,
    train_groups: Any = None,
    weight: Any = None,
    train_weight: Any = None,
    **kwargs: Any,
) -> Floats:
    """Predict an interval for each row that contains the label with the given probability.

    The method is CV+ (Barber et al., 2021), which uses the errors of the members of an ensemble
    over folds on rows that they were not trained on. With several quantiles, the outer ones are
    widened or narrowed (conformalised quantiles). With `gaussian`, intervals are proportional to
    the standard deviation. It assumes that new rows come from the same distribution as the training
    rows.

    Args:
        booster: The model, trained by `train_folds`.
        data: Rows x columns, as for `predict`.
        coverage: The share of labels that lie in their intervals, between 0 and 1.
        tight: Whether to narrow intervals by how much the average of the members is better than a
            single member, which CV+ does not use. The coverage is then close to the given one
            instead of slightly above it, and there is no guarantee for small data sets.
        groups: One value for each row of `data`, together with `train_groups`. The coverage then
            holds in every group (Mondrian), because rows are compared only with training rows of
            their group.
        train_groups: The group of each training row.
        weight: One number for each row of `data`, together with `train_weight`: how much more
            likely the row is than among the training rows.
        train_weight: The same number for each training row; None means that all are 1.
        **kwargs: Parameters of predictions, such as `num_threads`.

    Returns:
        (rows, 2): lower and upper ends. They are infinite if there are too few rows for the
        coverage.

    Raises:
        NotSupportedError: If the model has no out-of-fold predictions, or its labels are not single
            numbers.

    Example:
        >>> from gossamer import Dataset, train_folds
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(900, 2))
        >>> y = x[:, 0] + rng.normal(size=900)
        >>> model = train_folds({"verbose": -1}, Dataset(x[:600], y[:600]), 50, nfold=5)
        >>> low, high = model.predict_interval(x[600:], coverage=0.8).T
        >>> inside = (low <= y[600:]) & (y[600:] <= high)
        >>> bool(0.74 < inside.mean() < 0.9)
        True
    """
    model = booster.model
    record = _record(model, "predict_interval()", _FOR_INTERVALS, "predict_set() is for classes.")
    if model.objective.traits.kind is Kind.CUSTOM and model.objective.n_outputs > 1:
        raise _wrong_kind(model, "predict_interval()", "One output is needed.")
    if tight and model.objective.traits.kind not in _FOR_TIGHT:
        raise _wrong_kind(model, "tight=True", "It is for single numbers: leave it out.")
    coverage = _check_coverage(coverage)
    low, high, scale = _ends(model, record.score, coverage)
    label = record.label[0][record.row].astype(np.float64)
    misfit = np.maximum(low - label, label - high) / scale
    options = predict_options(booster, 0, -1, kwargs, raw_score=True)
    scores = _member_scores(model, data, options)
    ends = [_ends(model, each, coverage) for each in scores]
    low, high, scale = (np.stack([each[i] for each in ends]) for i in range(3))
    found = np.empty((low.shape[1], 2))
    parts = _parts(record, misfit, _Given(groups, train_groups, weight, train_weight), len(found))
    for rows, misfits, own in parts:
        share = (coverage, own)
        own_ends = (low[:, rows], high[:, rows])
        found[rows] = _bounds(misfits, own_ends, scale[:, rows], share)
        if tight:
            average = [np.broadcast_to(each.mean(axis=0), each.shape) for each in own_ends]
            around = _bounds(misfits, (average[0], average[1]), scale[:, rows], share)
            found[rows] = _tighten(found[rows], around)
    crossed = found[:, 0] > found[:, 1]  # quantiles may be narrowed until nothing is left
    found[crossed] = found[crossed].mean(axis=1)[:, None]
    if model.objective.traits.link in _POSITIVE_LINKS:
        found = np.maximum(found, 0.0)
    return found


def _bounds(
    misfits: Misfits, ends: tuple[Floats, Floats], scale: Floats, share: tuple[float, Floats]
) -> Floats:
    """Return the intervals (rows, 2) around what members predict: ends of (members, rows)."""
    low, high = ends
    found = (-misfits.upper_bounds(-low, scale, *share), misfits.upper_bounds(high, scale, *share))
    return np.column_stack(found)


def _tighten(found: Floats, around: Floats) -> Floats:
    """Narrow intervals of CV+ to what the average of the members needs.

    The error of a held-out row is a member's error: the average's, and the distance of the member
    from the average. CV+ (`found`) adds that distance a second time, since its ends lie around
    every member; intervals `around` the average do not. Subtracting the distance once more would
    be right for normal errors and too much for errors with a sharp peak, so half of it is
    subtracted.
    """
    is_bounded = np.isfinite(found)
    ends = found.copy()
    ends[is_bounded] -= (1 + _TAKEN_OFF) * (found[is_bounded] - around[is_bounded])
    low, high = np.maximum(ends[:, 0], found[:, 0]), np.minimum(ends[:, 1], found[:, 1])
    return np.column_stack([low, high])


@check_flags
def predict_set(
    booster: TrainedModel,
    data: Any,
    coverage: float = 0.9,
    *,
    by_class: bool = False,
    groups: Any = None,
    train_groups: Any = None,
    weight: Any = None,
    train_weight: Any = None,
    **kwargs: Any,
) -> npt.NDArray[np.bool_]:
    """Predict a set of classes for each row that contains its class with the given probability.

    A class is in the set unless the members give it a lower probability than they gave to the true
    class of nearly all rows that they were not trained on (CV+). The most probable class is always
    in the set.

    Args:
        booster: The model, trained by `train_folds`.
        data: Rows x columns, as for `predict`.
        coverage: The share of rows whose class is in their set, between 0 and 1.
        by_class: Whether the coverage must hold for the rows of every class.
        groups: One value for each row of `data`, together with `train_groups`. The coverage then
            holds in every group (Mondrian).
        train_groups: The group of each training row.
        weight: One number for each row of `data`, see `predict_interval`.
        train_weight: The same number for each training row; None means that all are 1.
        **kwargs: Parameters of predictions, such as `num_threads`.

    Returns:
        A boolean array (rows, classes); with two classes, the columns are class 0 and class 1.

    Raises:
        NotSupportedError: If the model has no out-of-fold predictions, or does not predict classes.

    Example:
        >>> from gossamer import Dataset, train_folds
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(900, 2))
        >>> y = (x[:, 0] + rng.normal(size=900) > 0).astype(int)
        >>> params = {"objective": "binary", "verbose": -1}
        >>> model = train_folds(params, Dataset(x[:600], y[:600]), 50, nfold=5)
        >>> sets = model.predict_set(x[600:], coverage=0.9)
        >>> bool(sets[np.arange(300), y[600:]].mean() > 0.85)
        True
    """
    model = booster.model
    record = _record(model, "predict_set()", _FOR_SETS, "predict_interval() is for numbers.")
    coverage = _check_coverage(coverage)
    code = record.label[0][record.row].astype(np.int64)
    misfit = 1 - _probabilities(model, record.score)[np.arange(len(code)), code]
    options = predict_options(booster, 0, -1, kwargs, raw_score=True)
    scores = _member_scores(model, data, options)
    misfits_of = 1 - np.stack([_probabilities(model, each) for each in scores])
    _, n_rows, n_classes = misfits_of.shape
    found = np.zeros((n_rows, n_classes), dtype=np.bool_)
    given = _Given(groups, train_groups, weight, train_weight)
    for c in range(n_classes):
        counts = code == c if by_class else np.ones(len(code), dtype=np.bool_)
        for rows, misfits, own in _parts(record, misfit, given, len(found), counts):
            below = misfits.weight_below(misfits_of[:, rows, c], "left")
            found[rows, c] = below < coverage * (misfits.total + own) * (1 - 1e-12)
    best = misfits_of.mean(axis=0).argmin(axis=1)
    found[np.arange(len(found)), best] = True
    return found


@dataclass(frozen=True, eq=False)
class _Given:
    """Groups and weights as the user gave them: of the rows to predict, and of training rows."""

    groups: Any
    train_groups: Any
    weight: Any
    train_weight: Any


def _record(model: Model, action: str, kinds: tuple[Kind, ...], hint: str) -> FoldRecord:
    record = record_of(model, action)
    if model.objective.traits.kind not in kinds or record.has_queries or len(record.label) > 1:
        raise _wrong_kind(model, action, hint)
    if record.has_init_score:
        raise NotSupportedError.because(
            f"{action} cannot be used: the training data had init_score, which new rows lack",
            hint="Train without init_score.",
        )
    return record


def _wrong_kind(model: Model, action: str, hint: str) -> NotSupportedError:
    return NotSupportedError.because(
        f"{action} does not fit the model", got=f"objective={model.objective.name}", hint=hint
    )


def _check_coverage(coverage: Any) -> float:
    is_number = isinstance(coverage, (int, float, np.number)) and not isinstance(coverage, bool)
    if not is_number or not 0 < coverage < 1:
        raise ParameterError.because(
            "coverage cannot be used", got=coverage, expected="a number between 0 and 1"
        )
    return float(coverage)


def _ends(model: Model, scores: Floats, coverage: float) -> tuple[Floats, Floats, Floats]:
    """Return lower end, upper end and scale of intervals, from raw scores (outputs, rows)."""
    objective = model.objective
    flat = np.ascontiguousarray(scores).ravel()
    kind = objective.traits.kind
    if kind is Kind.QUANTILES:
        alphas = np.asarray(objective.to_config()["alphas"])
        found = objective.to_predictions(flat, 1)
        low, high = (
            found[:, np.argmin(np.abs(alphas - wanted))]
            for wanted in ((1 - coverage) / 2, (1 + coverage) / 2)
        )
        return low, high, np.ones(len(low))
    found = objective.to_predictions(flat, 1)
    if kind is Kind.DISTRIBUTION:
        return found[:, 0], found[:, 0], found[:, 1]
    found = np.asarray(found, dtype=np.float64).reshape(-1)
    return found, found, np.ones(len(found))


def _probabilities(model: Model, scores: Floats) -> Floats:
    """Return the probability of each class, (rows, classes), from raw scores (outputs, rows)."""
    objective, flat = model.objective, np.ascontiguousarray(scores).ravel()
    if not objective.traits.gives_probabilities:
        if len(scores) > 1:  # objectives that predict the class itself
            return Multiclass(len(scores)).to_predictions(flat, 1)
        found = 1 / (1 + np.exp(-np.clip(flat, -700, 700)))
    else:
        found = objective.to_predictions(flat, 1)
    if found.ndim == 1:
        return np.column_stack([1 - found, found])
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _member_scores(model: Model, data: Any, options: PredictOptions) -> list[Floats]:
    """Return the raw scores (outputs, rows) of every member."""
    record = record_of(model, "a member")
    table = options.table_of(model, data)
    # Raw scores of whole members, whatever else the model's parameters ask of predictions.
    options = replace(
        options,
        first_round=0,
        last_round=None,
        pred_leaf=False,
        pred_contrib=False,
        disable_shape_check=False,
        validate_features=None,
        early_stop=None,
    )
    found = []
    for m in range(record.n_members):
        scores = predict(member_model(model, m), table, options)
        found.append(scores.reshape(1, -1) if scores.ndim == 1 else scores.T)
    return found


def _parts(
    record: FoldRecord,
    misfit: Floats,
    given: _Given,
    n_rows: int,
    counts: npt.NDArray[np.bool_] | None = None,
) -> Iterator[tuple[npt.NDArray[np.intp], Misfits, Floats]]:
    """Divide the rows to predict by group.

    Returns:
        For each group: its rows, the misfits that these are compared with, the rows' own weights.
    """
    n_times = np.bincount(record.row, minlength=record.n_rows)
    weight = 1.0 / n_times[record.row]  # of a row that was held out several times, a part each
    if given.train_weight is not None:
        weight *= _numbers(given.train_weight, record.n_rows, "train_weight")[record.row]
    own = np.ones(n_rows) if given.weight is None else _numbers(given.weight, n_rows, "weight")
    if (given.groups is None) != (given.train_groups is None):
        raise ParameterError.because(
            "only one of groups and train_groups is given", expected="both, or neither"
        )
    used = np.ones(len(misfit), dtype=np.bool_) if counts is None else counts
    member = record.member_of_pair
    if given.groups is None:
        chosen = Misfits.of(misfit[used], weight[used], member[used], record.n_members)
        yield np.arange(n_rows), chosen, own
        return
    groups = one_per_row(given.groups, n_rows, "groups")
    of_pairs = one_per_row(given.train_groups, record.n_rows, "train_groups")[record.row]
    for group in np.unique(groups):
        rows, here = np.flatnonzero(groups == group), used & (of_pairs == group)
        chosen = Misfits.of(misfit[here], weight[here], member[here], record.n_members)
        yield rows, chosen, own[rows]


def _numbers(values: Any, n_rows: int, name: str) -> Floats:
    try:
        found = one_per_row(values, n_rows, name).astype(np.float64)
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if not (np.isfinite(found) & (found >= 0)).all():
        raise DataError.because(f"{name} cannot be used", expected="finite numbers >= 0")
    return found
