"""Forced splits and forced bins: as a dict, as JSON, or as a JSON file of LightGBM.

`Params` keeps them as text: the path of a file, or the JSON that the file would hold.
"""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gossamer.errors import ParameterError, shorten
from gossamer.params.suggest import did_you_mean

_SPLIT_KEYS: Final = ("feature", "threshold", "left", "right")
_BIN_KEYS: Final = ("feature", "bin_upper_bound")


@dataclass(frozen=True)
class ForcedNode:
    """One forced split; `left` and `right` are places in the list of all of them, -1: none."""

    where: str  # for messages
    column: int | str
    threshold: float
    left: int
    right: int


def splits_text(value: object) -> str:
    """Return forced splits as `Params` keeps them: a path as it is, a dict as JSON.

    Raises:
        ParameterError: If a dict is not made of splits, or contains itself.

    Example:
        >>> splits_text({"feature": "age", "threshold": 30})
        '{"feature": "age", "threshold": 30.0}'
    """
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        return value
    tree = _parse(value, "forced_splits") if isinstance(value, str) else value
    return _to_json(_list_splits(tree, "forced_splits"), 0) if tree else ""


def read_splits(text: str) -> list[ForcedNode]:
    """Return forced splits level by level, the root first; none for an empty text.

    Raises:
        ParameterError: If the file cannot be read, or holds something else.

    Example:
        >>> text = '{"feature": 0, "threshold": 1, "right": {"feature": "b", "threshold": 2}}'
        >>> [(node.column, node.threshold, node.left, node.right) for node in read_splits(text)]
        [(0, 1.0, -1, 1), ('b', 2.0, -1, -1)]
    """
    tree = _load(text, "forced_splits", "{")
    return _list_splits(tree, "forced_splits") if tree else []


def bins_text(value: object) -> str:
    """Return forced bins as `Params` keeps them: a path as it is, anything else as JSON.

    Args:
        value: A path, {column: bounds}, or LightGBM's list of
            {"feature": column, "bin_upper_bound": bounds}.

    Raises:
        ParameterError: If it is none of these.

    Example:
        >>> bins_text({"age": [18, 30, 67]})
        '[{"feature": "age", "bin_upper_bound": [18.0, 30.0, 67.0]}]'
    """
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return value
    found = _parse(value, "forced_bins") if isinstance(value, str) else value
    if isinstance(found, Mapping):
        found = [dict(zip(_BIN_KEYS, item, strict=True)) for item in found.items()]
    bounds = _list_bins(found)
    items = [dict(zip(_BIN_KEYS, item, strict=True)) for item in bounds]
    return json.dumps(items, ensure_ascii=False) if items else ""


def read_bins(text: str) -> list[tuple[int | str, list[float]]]:
    """Return forced bins as (column, increasing bounds) pairs; none for an empty text.

    Raises:
        ParameterError: If the file cannot be read, or holds something else.
    """
    found = _load(text, "forced_bins", "[")
    return _list_bins(found) if found else []


def _load(text: str, what: str, first: str) -> object:
    """What a text holds, or the file that it names."""
    if not text.strip():
        return None
    if text.lstrip().startswith(first):
        return _parse(text, what)
    try:
        content = Path(text).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ParameterError.because(
            f"the file of {what} cannot be read ({shorten(error)})", got=text
        ) from None
    return _parse(content, f"{what} in {text!r}")


def _parse(text: str, what: str) -> object:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParameterError.because(f"{what} is not JSON ({error})") from None
    return found


def _list_splits(tree: object, what: str) -> list[ForcedNode]:
    """Check a nested dict, and list its splits level by level."""
    waiting: list[tuple[object, str, tuple[int, ...]]] = [(tree, what, ())]
    nodes: list[ForcedNode] = []
    place = 0
    while place < len(waiting):
        item, where, above = waiting[place]
        place += 1
        node = _check_keys(item, where, _SPLIT_KEYS, _SPLIT_KEYS[:2])
        if id(item) in above:
            raise ParameterError.because(f"{where} is one of the splits above it: a cycle")
        children = []
        for side in ("left", "right"):
            child = node.get(side)
            children.append(-1 if child is None else len(waiting))
            if child is not None:
                waiting.append((child, f"{where}.{side}", (*above, id(item))))
        column = _check_column(node["feature"], where)
        threshold = _check_number(node["threshold"], f"{where}.threshold")
        nodes.append(ForcedNode(where, column, threshold, *children))
    return nodes


def _to_json(nodes: list[ForcedNode], place: int) -> str:
    built: list[dict[str, object]] = [
        {"feature": node.column, "threshold": node.threshold} for node in nodes
    ]
    for item, node in zip(built, nodes, strict=True):
        for side, child in (("left", node.left), ("right", node.right)):
            if child >= 0:
                item[side] = built[child]
    return json.dumps(built[place], ensure_ascii=False)


def _list_bins(found: object) -> list[tuple[int | str, list[float]]]:
    if not isinstance(found, (list, tuple)):
        raise ParameterError.because(
            "forced_bins has an invalid value",
            got=found,
            expected="{column: bounds}, or a list of {'feature': column, "
            "'bin_upper_bound': bounds}",
        )
    bins = []
    for i, item in enumerate(found):
        where = f"forced_bins[{i}]"
        entry = _check_keys(item, where, _BIN_KEYS, _BIN_KEYS)
        column = _check_column(entry["feature"], where)
        bounds = entry["bin_upper_bound"]
        where = f"forced_bins of {column!r}"
        if isinstance(bounds, (str, Mapping)) or not isinstance(bounds, Collection):
            raise ParameterError.because(
                f"{where} cannot be used", got=bounds, expected="a list of numbers"
            )
        if len(bounds) == 0:
            raise ParameterError.because(f"{where} has no bounds", expected="at least one")
        bins.append((column, sorted({_check_number(bound, where) for bound in bounds})))
    return bins


def _check_keys(
    item: object, where: str, known: tuple[str, ...], needed: tuple[str, ...]
) -> Mapping[str, object]:
    if not isinstance(item, Mapping):
        raise ParameterError.because(
            f"{where} cannot be used", got=item, expected=f"a dict with {' and '.join(needed)}"
        )
    for key in item:
        if key not in known:
            raise ParameterError.because(
                f"{where} has an unknown key",
                got=key,
                expected=f"one of {', '.join(known)}",
                hint=did_you_mean(str(key), known),
            )
    for key in needed:
        if item.get(key) is None:
            raise ParameterError.because(f"{where} has no {key}")
    return item


def _check_column(value: object, where: str) -> int | str:
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    raise ParameterError.because(
        f"{where}.feature cannot be used", got=value, expected="a column name or index"
    )


def _check_number(value: object, where: str) -> float:
    if isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise ParameterError.because(f"{where} cannot be used", got=value, expected="a finite number")
