"""From what a user wrote to a value of the parameter's type: `coerce`."""

from __future__ import annotations

import json
import math
import numbers
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, TypeVar

from gossamer.errors import ParameterError
from gossamer.params.forced import bins_text, splits_text
from gossamer.params.memory import parse_memory
from gossamer.params.param import KINDS, ByColumn, Kind, Param
from gossamer.params.suggest import did_you_mean as did_you_mean

_Number = TypeVar("_Number")
_TRUE: Final = ("true", "+", "1")
_FALSE: Final = ("false", "-", "0")
_INT64: Final = range(-(2**63), 2**63)


def coerce(param: Param, value: object, spelling: str = "") -> object:
    """Convert `value` to the type of `param` and check its range and choices.

    Args:
        param: The row of the table.
        value: What the user gave; not None.
        spelling: The name the user gave it by, for the message.

    Raises:
        ParameterError: If the value does not fit.

    Example:
        >>> from gossamer.params.table import TABLE
        >>> coerce(TABLE["num_leaves"], "63")
        63
        >>> coerce(TABLE["metric"], "mse, auc")
        ('l2', 'auc')
    """
    value = _unwrap(value)
    name = f"{spelling} ({param.name})" if spelling not in ("", param.name) else param.name
    if param.kind == "objective" and callable(value):
        return value
    try:
        if param.kind in ("enum", "objective"):
            return _to_choice(param, value)
        if param.kind == "metrics":
            return _to_metrics(param, value)
        result = _CONVERTERS[param.kind](value)
    except ParameterError as error:
        if param.name in str(error) or (spelling and spelling in str(error)):
            raise
        raise ParameterError(f"{name}: {error}") from None
    except (TypeError, ValueError, OverflowError):
        raise ParameterError.because(
            f"{name} has an invalid value", got=value, expected=_expected(param)
        ) from None
    if not all(param.in_range(number) for number in _numbers_in(param, result)):
        raise ParameterError.because(
            f"{name} is out of range", got=value, expected=_expected(param)
        )
    return result


def _numbers_in(param: Param, result: object) -> list[float]:
    """The numbers that must lie in the range of a parameter."""
    if isinstance(result, (int, float)):
        return [result]
    if not isinstance(result, tuple) or param.kind not in ("ints_by_column", "floats_by_column"):
        return []
    return [item[1] if isinstance(item, tuple) else item for item in result]


def _expected(param: Param) -> str:
    """What a user should have given."""
    return f"{KINDS[param.kind].expected} {param.range_text}".rstrip()


def _unwrap(value: object) -> object:
    """Turn numpy scalars and 0-d arrays into Python values, without importing numpy."""
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        item: object = value.item()
        return item
    return value


def _to_bool(value: object) -> bool:
    text = value.strip().lower() if isinstance(value, str) else str(_to_int(value, bools=True))
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise ValueError


def _to_int(value: object, *, bools: bool = False) -> int:
    if isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            value = float(value)
    # True and False are integers to Python, but `early_stopping=True` hardly means one round.
    if isinstance(value, bool) and not bools:
        raise TypeError
    if isinstance(value, numbers.Integral):
        whole = int(value)
    elif isinstance(value, numbers.Real) and float(value).is_integer():
        whole = int(float(value))
    else:
        raise TypeError
    # The native core takes 64-bit integers at most.
    if whole not in _INT64:
        raise OverflowError
    return whole


def _to_float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (str, numbers.Real)):
        raise TypeError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def _to_auto_float(value: object) -> float | str:
    if isinstance(value, str) and value.strip().lower() == "auto":
        return "auto"
    return _to_float(value)


def _to_str(value: object) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise TypeError
    return value


def _to_path(value: object) -> object:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _items(value: object) -> list[object]:
    """The items of a list, an array, a comma-separated string, or of a single value."""
    if isinstance(value, str):
        text = value.strip().strip("()[]")
        return [item.strip() for item in text.split(",")] if text else []
    if isinstance(value, Mapping):
        raise TypeError
    if isinstance(value, (set, frozenset)):
        # A set has no order of its own that is the same in every run.
        return sorted(value, key=str)
    # Iterators are refused: reading one twice, or an endless one, would go wrong.
    if isinstance(value, Iterable) and not isinstance(value, Collection):
        raise TypeError
    return list(value) if isinstance(value, Collection) else [value]


def _to_ints(value: object) -> tuple[int, ...]:
    return tuple(_to_int(_unwrap(item)) for item in _items(value))


def _to_floats(value: object) -> tuple[float, ...]:
    return tuple(_to_float(_unwrap(item)) for item in _items(value))


def _to_column(value: object) -> int | str:
    return value if isinstance(value, str) else _to_int(value)


def _to_columns(value: object) -> tuple[int | str, ...]:
    return tuple(_to_column(_unwrap(item)) for item in _items(value))


def _to_by_column(value: object, to_number: Callable[[object], _Number]) -> ByColumn[_Number]:
    """A number per column, or from a dict or a list of pairs (column, number) pairs.

    Pairs and not a dict, since parameters never change and JSON has no numbers as keys.
    """
    items = list(value.items()) if isinstance(value, Mapping) else _items(value)
    pairs = [item for item in items if isinstance(item, (tuple, list))]
    if not pairs:
        return tuple(to_number(_unwrap(item)) for item in items)
    if len(pairs) != len(items) or any(len(pair) != 2 for pair in pairs):
        raise TypeError
    return tuple((_to_column(_unwrap(key)), to_number(_unwrap(item))) for key, item in pairs)


def _to_groups(value: object) -> tuple[tuple[int | str, ...], ...]:
    if isinstance(value, str):
        # LightGBM writes "[0,1],[2,3]", XGBoost "[[0,1],[2,3]]".
        text = value.strip()
        value = json.loads(text if text.startswith("[[") else f"[{text}]")
    return tuple(_to_columns(group) for group in _items(value))


def _to_choice(param: Param, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    text = value.strip().lower()
    for choice, spellings in param.choices.items():
        if text == choice or text in spellings:
            return choice
    spellings_too = [name for item in param.choices.items() for name in (item[0], *item[1])]
    raise ParameterError.because(
        f"{param.name} is not a known name",
        got=value,
        expected="" if text in _OTHER_WORDS else f"one of {', '.join(param.choices)}",
        hint=_OTHER_WORDS.get(text) or did_you_mean(text, spellings_too),
    )


# What people call metrics that go by another name here.
_ACCURACY: Final = "Use binary_error or multi_error, which are 1 - accuracy."
_F1: Final = (
    "It depends on a threshold, so it is not built in: use average_precision or auc, or pass a "
    "function (eval_metric of fit(), feval of train())."
)
_OTHER_WORDS: Final = {
    **dict.fromkeys(("accuracy", "acc", "error_rate", "misclassification"), _ACCURACY),
    **dict.fromkeys(("f1", "f1_score", "f1_macro", "f1_weighted", "recall", "precision"), _F1),
    **dict.fromkeys(("roc_auc", "roc-auc", "rocauc"), "Use auc."),
    **dict.fromkeys(("pr_auc", "prauc", "auprc"), "Use aucpr or average_precision."),
    "neg_log_loss": "Use binary_logloss or multi_logloss.",
    "neg_mean_squared_error": "Use l2.",
    "neg_root_mean_squared_error": "Use rmse.",
    "neg_mean_absolute_error": "Use l1.",
}

# XGBoost's way to say that a query without relevant rows counts 0.
_MINUS: Final = ("ndcg-", "map-", "pre-")


def _to_metric(param: Param, value: object) -> str:
    """The canonical name, and after @ what the metric is evaluated at (`ndcg@5`)."""
    if isinstance(value, str) and value in _MINUS:
        value = f"{value[:-1]}@-"
    if not isinstance(value, str) or "@" not in value:
        return _to_choice(param, value)
    spelling, _, argument = value.partition("@")
    name = _to_choice(param, spelling)
    if name == "custom":
        raise ParameterError.because(
            "this metric takes no number after the @", got=value, expected=spelling.strip()
        )
    return f"{name}@{argument.strip()}"


def _to_metrics(param: Param, value: object) -> tuple[str, ...] | None:
    if isinstance(value, str) and not value.strip():
        return None
    names = [name for name in _items(value) if name is not None]
    if not names:
        return () if value == () else None  # the tuple is what "None" became before
    if callable(value) or any(callable(name) for name in names):
        raise ParameterError.because(
            "metric takes names only",
            got=value,
            hint="Pass a metric function as feval, or as eval_metric of an estimator.",
        )
    metrics = (_to_metric(param, name) for name in names)
    # A dict keeps the order and drops repeats; "custom" stands for no metric of ours.
    return tuple(dict.fromkeys(metric for metric in metrics if metric != "custom"))


_CONVERTERS: Final[Mapping[Kind, Callable[[object], object]]] = {
    "bool": _to_bool,
    "int": _to_int,
    "float": _to_float,
    "auto_float": _to_auto_float,
    "str": _to_str,
    "memory": parse_memory,
    "ints": _to_ints,
    "floats": _to_floats,
    "ints_by_column": lambda value: _to_by_column(value, _to_int),
    "floats_by_column": lambda value: _to_by_column(value, _to_float),
    "column": _to_column,
    "columns": _to_columns,
    "groups": _to_groups,
    "forced_splits": lambda value: splits_text(_to_path(value)),
    "forced_bins": lambda value: bins_text(_to_path(value)),
}
