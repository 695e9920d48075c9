"""`Params`: all parameters, resolved, with their types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError
from typing import Any, Literal, NoReturn

from gossamer.params.param_fields import ParamFields
from gossamer.params.table import CANONICAL, TABLE


# A dataclass of so many fields would take a good part of the package's import.
class Params(ParamFields, Mapping[str, object]):
    """Every parameter by its canonical name; made by `resolve`, and never changed.

    Read a value as an attribute (`params.num_leaves`, typed) or as an item
    (`params["num_leaves"]`). `ParamFields` has the types, which are generated from the table.

    Example:
        >>> from gossamer.params import resolve
        >>> params = resolve({"eta": 0.3, "max_depth": 4})
        >>> params.learning_rate, params.num_leaves, sorted(params.given)
        (0.3, 16, ['learning_rate', 'max_depth'])
    """

    # The canonical names of those the user gave.
    given: frozenset[str]

    def __init__(self, *, given: frozenset[str], **values: Any) -> None:
        """Keep the values of all parameters."""
        assert values.keys() == TABLE.keys(), values.keys() ^ TABLE.keys()
        vars(self).update(values, given=given)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: parameters never change."""
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse: parameters never change."""
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        """Whether all values are the same, and the same of them were given."""
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        """Return the same for the same values."""
        return hash(tuple(vars(self).values()))

    def __getitem__(self, name: str) -> object:
        """Return the value of the parameter with this canonical name."""
        if name in TABLE:
            return getattr(self, name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the canonical names."""
        return iter(TABLE)

    def __len__(self) -> int:
        """Return the number of parameters."""
        return len(TABLE)

    def __repr__(self) -> str:
        """Show what was given; all of it would fill a page."""
        shown = (f"{name}={self[name]!r}" for name in self if name in self.given)
        return f"Params({', '.join(shown)})"

    def to_dict(self, *, given_only: bool = False) -> dict[str, object]:
        """Return the values by canonical name; resolving them again gives the same values.

        Args:
            given_only: Leave out what the user did not give.

        Example:
            >>> from gossamer.params import resolve
            >>> resolve({"eta": 0.3}).to_dict(given_only=True)
            {'learning_rate': 0.3}
        """
        given, values = self.given, vars(self)
        found = {name: values[name] for name in TABLE if not given_only or name in given}
        # An empty list would ask for the objective's own metric.
        return {**found, "metric": "None"} if found.get("metric") == () else found

    def replace(self, **changes: object) -> Params:
        """Return a copy with other values, as if they had been given in the first place.

        What follows from other parameters is worked out again. None takes a parameter back to
        not given. Aliases are welcome.

        Example:
            >>> from gossamer.params import resolve
            >>> resolve({"max_depth": 3}).replace(max_depth=4).num_leaves
            16
        """
        return self._replaced(changes, "train")

    def for_prediction(self, changes: Mapping[str, object]) -> Params:
        """Return a copy with other values, for a prediction: they need not fit the objective.

        Example:
            >>> from gossamer.params import resolve
            >>> params = resolve({"num_class": 3}, context="predict")
            >>> params.for_prediction({"nthread": 1}).num_threads
            1
        """
        return self._replaced(changes, "predict")

    def for_data(self, changes: Mapping[str, object]) -> Params:
        """Return a copy with other values, for a data set: they need not fit the objective.

        Example:
            >>> from gossamer.params import resolve
            >>> params = resolve({"num_class": 3}, context="dataset")
            >>> params.for_data({"is_enable_sparse": False}).is_enable_sparse
            False
        """
        return self._replaced(changes, "dataset")

    def _replaced(
        self, changes: Mapping[str, object], context: Literal["train", "predict", "dataset"]
    ) -> Params:
        # Imported here because resolve.py needs this class.
        from gossamer.params.resolve import resolve

        changed = {CANONICAL.get(name) for name in changes}
        kept = {name: self[name] for name in self.given if name not in changed}
        return resolve({**kept, **changes}, context=context)
