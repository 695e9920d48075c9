"""What the numbers of classes stand for: kept with a model, so that predictions can name them."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any, cast

from gossamer.data.table.columns import Level
from gossamer.errors import DataError
from gossamer.objectives import Objective


def check_class_names(names: object, objective: Objective) -> tuple[Level, ...]:
    """Return names of classes, in the order of the classes' numbers.

    Args:
        names: Text, numbers or booleans.
        objective: The model's objective.

    Raises:
        DataError: If they are not as many as the classes, or not different.
    """
    expected = "text or numbers, one for each class, all different"
    found: tuple[Any, ...] | None
    try:
        found = None if isinstance(names, (str, bytes)) else tuple(cast(Iterable[Any], names))
    except TypeError:
        found = None
    if found is None:
        raise DataError.because("the names of classes cannot be used", got=names, expected=expected)
    for name in found:
        is_number = type(name) in (int, float) and isfinite(name)
        if not (type(name) in (str, bool) or is_number):
            raise DataError.because(
                "the name of a class cannot be used", got=name, expected="text or a number"
            )
    n_classes = objective.n_classes
    if len(found) != n_classes:
        raise DataError.because(
            "the names of classes do not fit the model",
            found=f"{len(found)} names",
            expected=f"{n_classes}, the classes of objective={objective.name}",
        )
    if len({str(name) for name in found}) < len(found):
        raise DataError.because("two classes have the same name", got=found, expected=expected)
    return found
