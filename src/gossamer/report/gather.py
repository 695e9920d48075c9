"""From the arguments of a report to what is `Given`: all of them are checked here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.arguments import check_count, length_of
from gossamer.data import Dataset, Table, Targets
from gossamer.data.dataset import built_data
from gossamer.data.findings import date_names
from gossamer.data.labels.fields import as_array
from gossamer.data.random_order import random_order
from gossamer.data.table.frames import frame_names
from gossamer.errors import DataError, GossamerError, ParameterError
from gossamer.model import Booster
from gossamer.model.given_params import given_params
from gossamer.model.model import Model
from gossamer.model.prediction.predict import fitting_table
from gossamer.objectives import Custom, SeveralTargets
from gossamer.params import Params, resolve
from gossamer.params.traits import Kind
from gossamer.report.given import SEED, Given, History, choose_rows
from gossamer.report.training_rows import are_training_rows, held_out_scores

# Scores of the sample of rows: with very many outputs it has fewer rows.
_PREDICTED: Final = 20_000_000


def gather(
    booster: Any,
    data: Any,
    label: Any,
    *,
    group: Any,
    query: Any,
    evals_result: Any,
    title: Any,
    class_names: Any,
    num_iteration: int | None,
    max_rows: int,
    n_features: int,
    trees: Any,
    target: str | None = None,
    source: str | None = None,
    is_training: bool | None = None,
) -> Given:
    """Check all arguments of a report.

    Raises:
        ParameterError: If an argument cannot be used.
        DataError: If the data do not fit the model.
    """
    check_count(max_rows, "max_rows", least=1)
    check_count(n_features, "n_features", least=0)
    own, classes, history = _find_booster(booster)
    model = own.used_model(num_iteration)
    found_names = _check_class_names(class_names, model)
    if class_names is None and classes is not None and len(classes) == _n_classes(model):
        found_names = tuple(map(str, np.asarray(classes).tolist()))
    has_weight = False
    if isinstance(data, Dataset):
        has_weight = data.get_weight() is not None
        data, label, group = _open_dataset(data, label, group, query)
    table, targets, rows, n_rows = None, None, np.arange(0), 0
    dates: frozenset[int] = frozenset()
    held_out = None
    if data is None and (label is not None or group is not None or query is not None):
        what = "label" if label is not None else "group" if group is not None else "query"
        raise DataError.because(
            f"{what} is given without data", hint="Pass the table that it belongs to."
        )
    if data is not None:
        dates = _find_dates(model, data)
        whole = fitting_table(model, data, False)
        if (n_rows := whole.n_rows) == 0:
            raise DataError.because("the data has no rows", expected="one row or more")
        if label is not None:
            # Labels of a booster may be the names of its classes, or their numbers.
            may_be_codes = own is booster
            if may_be_codes and _are_codes(label, classes, is_named=class_names is not None):
                classes = None
            label = label if classes is None else _encode(label, classes)
            targets = _read_targets(model, label, group, query, n_rows)
        room = max(_PREDICTED // model.objective.n_outputs, 1)
        rows = _sample(targets, n_rows, min(max_rows, room))
        if targets is not None:
            n_threads = _resolve(own).num_threads
            if is_training is None:
                is_training = are_training_rows(model, whole, targets, n_threads)
            if is_training and model.folds is not None and model.folds.n_rows == n_rows:
                held_out = held_out_scores(model, rows)
        if len(rows) < n_rows:
            whole = whole.take_rows(rows)
            targets = None if targets is None else _take(targets, rows)
        table = Table(whole.values)
    return Given(
        own,
        model,
        _resolve(own),
        "Model report" if title is None else str(title),
        _check_history(history if evals_result is None else evals_result),
        found_names,
        table,
        n_rows,
        rows,
        targets,
        n_features,
        _check_trees(trees, model),
        has_weight,
        target,
        source,
        date.today().isoformat(),
        dates,
        bool(is_training),
        held_out,
    )


def _find_dates(model: Model, data: Any) -> frozenset[int]:
    """The columns of the model that are dates in the data."""
    known = frozenset(c for c in range(model.n_columns) if model.is_date(c))
    found = date_names(data)
    if not found:
        return known
    names = model.names_for(frame_names(data)) or model.names
    return known | {i for i, name in enumerate(names) if name in found}


def _find_booster(booster: Any) -> tuple[Booster, Any, Any]:
    """The booster, and of an estimator its classes and recorded metrics."""
    if isinstance(booster, Booster):
        return booster, booster.class_names, booster.eval_history
    if isinstance(found := getattr(booster, "booster_", None), Booster):
        classes = getattr(booster, "classes_", None)
        classes = None if isinstance(classes, list) else classes  # several labels: 0 and 1 each
        return found, classes, getattr(booster, "evals_result_", {})
    raise ParameterError.because(
        "there is no report about this",
        got=type(booster).__name__,
        expected="a Booster or a fitted estimator",
    )


def _resolve(booster: Booster) -> Params:
    try:
        return resolve(given_params(booster.params), context="predict")
    except GossamerError:  # a file's parameters are for information only
        return resolve({})


def _open_dataset(data: Dataset, label: Any, group: Any, query: Any) -> tuple[Any, Any, Any]:
    if label is not None or group is not None or query is not None:
        raise DataError.because(
            "label, group and query are taken from the Dataset",
            hint="Leave them out, or pass the table itself as data.",
        )
    return data.get_data(), data.get_label(), data.get_group()


def _are_codes(label: Any, classes: Any, *, is_named: bool) -> bool:
    """Whether labels are numbers of classes rather than names that the model keeps.

    Args:
        label: The labels.
        classes: The names; None: the model keeps none.
        is_named: Whether the user named the classes, in the order of their numbers.
    """
    values = as_array(label, "label")
    if classes is None or values.dtype.kind not in "biuf":
        return classes is None
    return is_named or not set(np.unique(values).tolist()) <= set(classes)


def _encode(label: Any, classes: Any) -> npt.NDArray[np.int64]:
    """Labels as an estimator was given them, as numbers of classes."""
    code_of = {name: code for code, name in enumerate(np.asarray(classes).tolist())}
    values = as_array(label, "label")
    found = values.ravel().tolist() if values.ndim in (1, 2) else []
    unknown = [value for value in found if value not in code_of]
    if unknown:
        raise DataError.because(
            "label has a class that the model does not know",
            got=unknown[0],
            expected=f"one of {', '.join(map(repr, list(code_of)[:10]))}",
        )
    return np.array([code_of[value] for value in found])


def _read_targets(model: Model, label: Any, group: Any, query: Any, n_rows: int) -> Targets:
    length = length_of(label)
    if length != n_rows:
        raise DataError.because(
            "label and data differ in length",
            got=length if length >= 0 else label,
            expected=f"{n_rows}, one per row of the data",
        )
    rows = np.zeros((n_rows, 1), np.int8)
    data = Dataset(rows, label, group=group, query=query, params={"verbose": -1})
    targets = built_data(data).targets
    objective = model.objective
    n_targets = len(objective.parts) if isinstance(objective, SeveralTargets) else 1
    takes_two = objective.takes_intervals and targets.n_targets == 2
    is_custom = isinstance(objective, Custom)
    if targets.n_targets != n_targets and not takes_two and not is_custom:
        raise DataError.because(
            "label has another number of columns than the model has targets",
            got=targets.n_targets,
            expected=str(n_targets),
        )
    if objective.traits.kind is Kind.RANKING and targets.queries is None:
        raise DataError.because(
            "labels of a ranking model need queries",
            hint="Pass group (the rows of each query), or query (an id per row).",
        )
    objective.check_valid(targets, targets, "report")
    return targets


def _sample(targets: Targets | None, n_rows: int, most: int) -> npt.NDArray[np.int64]:
    """Rows of the sample; whole queries where there are some, one at least."""
    if n_rows <= most or targets is None or targets.queries is None:
        return choose_rows(n_rows, most)
    sizes = np.diff(targets.queries)
    order = random_order(len(sizes), SEED)
    n_taken = max(int(np.searchsorted(np.cumsum(sizes[order]), most, "right")), 1)
    is_taken = np.zeros(len(sizes), dtype=bool)
    is_taken[order[:n_taken]] = True
    return np.flatnonzero(np.repeat(is_taken, sizes))


def _take(targets: Targets, rows: npt.NDArray[np.int64]) -> Targets:
    label = targets.label.reshape(targets.n_targets, -1)[:, rows].ravel()
    queries = None
    if targets.queries is not None:
        of_row = np.repeat(np.arange(len(targets.queries) - 1), np.diff(targets.queries))[rows]
        queries = np.flatnonzero(np.diff(of_row, prepend=-1, append=of_row[-1] + 1)).astype(
            np.int64
        )
    return Targets(label, None, targets.n_targets, queries)


def _check_class_names(names: Any, model: Model) -> tuple[str, ...]:
    if names is None:
        return ()
    found = None if isinstance(names, (str, bytes)) else _listed(names)
    wanted = _n_classes(model)
    if found is None or len(found) != wanted:
        raise ParameterError.because(
            "class_names cannot be used", got=names, expected=f"a list of {wanted} names"
        )
    return tuple(map(str, found))


def _n_classes(model: Model) -> int:
    k = model.objective.n_outputs
    return 2 if k == 1 else k


def _listed(values: Any) -> list[Any] | None:
    try:
        return list(np.asarray(values).tolist() if hasattr(values, "tolist") else values)
    except TypeError:
        return None


def _check_history(history: Any) -> History:
    expected = "data set -> metric -> a value per round, as record_evaluation() fills it"
    if not isinstance(history, Mapping):
        raise ParameterError.because("evals_result cannot be used", got=history, expected=expected)
    if history and not any(isinstance(part, Mapping) for part in history.values()):
        history = _from_cv(history)
    for part in history.values():
        for values in part.values() if isinstance(part, Mapping) else [None]:
            try:
                is_good = np.asarray(values, dtype=np.float64).ndim == 1
            except (TypeError, ValueError):
                is_good = False
            if not is_good:
                raise ParameterError.because(
                    "evals_result cannot be used", got=values, expected=expected
                )
    found: History = history
    return found


def _from_cv(history: Mapping[str, Any]) -> History:
    """What `cv()` returns: "valid l2-mean" -> values."""
    found: dict[str, dict[str, Any]] = {}
    for name, values in history.items():
        data_name, _, metric = str(name).rpartition(" ")
        found.setdefault(data_name or "valid", {})[metric] = values
    return found


def _check_trees(trees: Any, model: Model) -> tuple[int, ...] | None:
    if trees is None:
        return None
    listed = None if isinstance(trees, (str, bytes)) else _listed(trees)
    n_trees = model.forest.n_trees
    is_good = listed is not None and all(
        isinstance(t, (int, np.integer)) and not isinstance(t, bool) and 0 <= t < n_trees
        for t in listed
    )
    if not is_good:
        raise ParameterError.because(
            "trees cannot be used",
            got=trees,
            expected=f"a list of numbers of trees, 0..{n_trees - 1}",
        )
    assert listed is not None
    return tuple(dict.fromkeys(map(int, listed)))
