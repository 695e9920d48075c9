"""Names of columns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from gossamer.errors import DataError, shorten
from gossamer.logger import warn
from gossamer.params.suggest import did_you_mean

_SPACE: Final = re.compile(r"\s")


def default_names(n_columns: int) -> list[str]:
    """Return the names of columns that were not given any, as LightGBM's.

    Example:
        >>> default_names(2)
        ['Column_0', 'Column_1']
    """
    return [f"Column_{i}" for i in range(n_columns)]


def check_names(names: Sequence[object], n_columns: int) -> list[str]:
    """Return the names as strings.

    Raises:
        DataError: If there is not one for each column, or two are the same.

    Example:
        >>> check_names(["age", "größe"], 2)
        ['age', 'größe']
    """
    try:
        found = None if isinstance(names, str) else [str(name) for name in names]
    except TypeError:
        found = None
    if found is None:
        raise DataError.because("feature_name must be a list of names, or 'auto'", got=names)
    if len(found) != n_columns:
        raise DataError.because(
            "feature_name and data differ in length",
            got=len(found),
            expected=f"{n_columns}, one per column of the data",
        )
    _check_unique(found)
    return found


def _check_unique(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError.because(
                "the columns have the same name twice", got=name, hint="Rename one of them."
            )
        seen.add(name)


def join_names(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Return the names of the columns of two tables side by side.

    Where neither has names of its own, the columns are numbered on. As in LightGBM, a name that is
    in both becomes `D2_name`, or `D3_name`, ..., in the second.

    Example:
        >>> join_names(["a"], ["b"]), join_names(["Column_0"], ["Column_0"])
        (['a', 'b'], ['Column_0', 'Column_1'])
    """
    if list(left) == default_names(len(left)) and list(right) == default_names(len(right)):
        return default_names(len(left) + len(right))
    taken, renamed = {*left, *right}, {}
    for name in right:
        if name not in set(left):
            continue
        numbers = (f"D{n}_{name}" for n in itertools.count(2))
        renamed[name] = next(new for new in numbers if new not in taken)
        taken.add(renamed[name])
    if renamed:
        warn(f"both data sets have {listing(list(renamed))}: renamed in the second to D2_...")
    return [*left, *(renamed.get(name, name) for name in right)]


def names_for(
    own: Sequence[str], of_table: Sequence[str] | None, found: Sequence[str]
) -> list[str] | None:
    """Return the names by which the columns of another table are known; None: by none.

    Args:
        own: Names of the columns in the data set or the model.
        of_table: Names that they had in the table itself, where these are others.
        found: Names in the other table.

    Example:
        >>> names_for(["a", "b"], ["x", "y"], ["y", "x"])
        ['x', 'y']
        >>> names_for(["a", "b"], None, ["1", "2"]) is None
        True
        >>> names_for(["a", "b"], ["x", "y"], ["b", "a"])
        ['a', 'b']
        >>> names_for(["Column_0"], None, ["x"]) is None
        True
    """
    there = set(found)
    if of_table is not None and set(of_table) <= there and not set(own) <= there:
        return list(of_table)
    # Numbers are what pandas calls the columns of files without header: they do not name anything.
    is_numbered = len(found) == len(own) and all(name.isdecimal() for name in found)
    if is_numbered and of_table is None and there.isdisjoint(own):
        return None
    return None if list(own) == default_names(len(own)) else list(own)


def match_names(known: Sequence[str], found: Sequence[str]) -> list[int] | None:
    """Say where each known column stands in a table that names its columns.

    White space in a name is an underscore in LightGBM's models: that is the same name.

    Returns:
        For each known name its position, or None when the order is already right.

    Raises:
        DataError: If the names are not the same ones, or two are the same.

    Example:
        >>> match_names(["a", "b"], ["b", "a"])
        [1, 0]
        >>> match_names(["mean_size", "b"], ["b", "mean size"])
        [1, 0]
    """
    if list(known) == list(found):
        return None
    _check_unique(found)
    position = {name: i for i, name in enumerate(found)}
    # Models of LightGBM have underscores where the user's names have white space.
    joined = [_SPACE.sub("_", name) for name in found]
    if not set(known) <= set(position) and set(known) == set(joined) and len(known) == len(joined):
        position = {name: i for i, name in enumerate(joined)}
        found = joined
    missing = [name for name in known if name not in position]
    extra = sorted(set(found) - set(known))
    if missing or extra:
        parts = []
        if missing:
            parts.append(f"missing {listing(missing)}")
        if extra:
            parts.append(f"unknown {listing(extra)}")
        hint = "Pass the same columns; their order does not matter."
        if not missing:
            hint = "Select the columns of the training data: table[model.feature_name()]."
        elif len(missing) == 1 and (close := _same_but_case(missing[0], extra)):
            hint = f"Is {close!r} the same column? Rename it to {missing[0]!r}."
        raise DataError.because(
            f"the columns differ from the training data's: {', '.join(parts)}", hint=hint
        )
    return [position[name] for name in known]


def _same_but_case(name: str, others: Sequence[str]) -> str:
    """Return the name that differs in case, white space or a letter only; empty: none."""
    import difflib  # only mistakes need it

    plain = {_SPACE.sub("_", other).lower(): other for other in others}
    close = difflib.get_close_matches(_SPACE.sub("_", name).lower(), list(plain), 1, 0.8)
    return plain[close[0]] if close else ""


def check_order(known: Sequence[str], found: Sequence[str]) -> None:
    """Check that a table has the known columns, at their positions.

    Raises:
        DataError: If one is another, or they differ in number.

    Example:
        >>> check_order(["a", "b"], ["a", "b"])
    """
    for i, (expected, name) in enumerate(zip(known, found, strict=False)):
        if name != expected:
            raise DataError.because(
                f"Expected {expected!r} at position {i} but found {name!r}",
                hint="Pass the columns of the training data in their order, or leave "
                "validate_features out: columns are then found by name.",
            )
    if len(known) != len(found):
        raise DataError.because(
            "the number of columns differs from the training data's",
            got=len(found),
            expected=str(len(known)),
        )


def listing(names: Sequence[str], limit: int = 5) -> str:
    """Return the first few names, and how many more there are; long names are shortened.

    Example:
        >>> listing(["a", "b", "c"], 2)
        "'a', 'b' and 1 more"
    """
    shown = ", ".join(shorten(repr(name), 80) for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def no_such_column(what: str, name: str, names: Sequence[str]) -> DataError:
    """Return the error of a column that is not there; it lists those that are.

    Example:
        >>> print(no_such_column("the model has no such column", "agee", ["age", "day"]))
        the model has no such column: got 'agee', expected one of 'age', 'day'. Did you mean age?
    """
    expected = f"one of {listing(names, 20)}"
    return DataError.because(what, got=name, expected=expected, hint=did_you_mean(name, names))
