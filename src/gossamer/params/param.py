"""`Param`: one row of the parameter table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeVar

Kind = Literal[
    "bool",
    "int",
    "float",
    "auto_float",
    "str",
    "memory",
    "enum",
    "ints",
    "floats",
    "ints_by_column",
    "floats_by_column",
    "column",
    "columns",
    "groups",
    "forced_splits",
    "forced_bins",
    "objective",
    "metrics",
]

# How each kind is described to a user, in errors and in the documentation.
KIND_WORDS: Final[Mapping[Kind, str]] = {
    "bool": "true or false",
    "int": "an integer",
    "float": "a finite number",
    "auto_float": "'auto' or a finite number",
    "str": "a string",
    "memory": "bytes, or text such as '500MB', '4GB' or '50%'",
    "enum": "a name",
    "ints": "a list of integers",
    "floats": "a list of finite numbers",
    "ints_by_column": "an integer per column, as a list or as a dict by column name or index",
    "floats_by_column": "a number per column, as a list or as a dict by column name or index",
    "column": "a column name or index",
    "columns": "a list of column names or indices",
    "groups": "a list of lists of column names or indices",
    "forced_splits": "nested dicts of feature, threshold, left and right, or a JSON file",
    "forced_bins": "bounds by column name or index, or a JSON file",
    "objective": "a name or a function",
    "metrics": "a name or a list of names",
}

_Number = TypeVar("_Number")
# One number per column, or (column, number) pairs for some of them.
ByColumn = tuple[_Number, ...] | tuple[tuple[int | str, _Number], ...]


@dataclass(frozen=True)
class Param:
    """One parameter: everything that checks, documents and fills it in.

    Attributes:
        name: The canonical name.
        aliases: Other names that mean the same.
        kind: The type of its value.
        default: The value when none is given, already of the resolved type.
        doc: One or two sentences for the documentation.
        group: The heading it is documented under.
        low: Smallest value, itself allowed unless `low_open`.
        high: Largest value, itself allowed unless `high_open`.
        low_open: Whether the value must be strictly greater than `low`.
        high_open: Whether the value must be strictly less than `high`.
        choices: For names: every known value, with its other spellings.
        supported: True; or False when only the default is accepted in this version;
            or the choices that this version supports.
    """

    name: str
    aliases: tuple[str, ...]
    kind: Kind
    default: object
    doc: str
    group: str
    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    supported: bool | tuple[str, ...] = True

    @property
    def range_text(self) -> str:
        """The allowed range in words, empty when there is no limit.

        Example:
            >>> Param("f", (), "float", 1.0, "", "", low=0, low_open=True, high=1).range_text
            '> 0 and <= 1'
        """
        parts = []
        if self.low is not None:
            parts.append(f"{'>' if self.low_open else '>='} {self.low}")
        if self.high is not None:
            parts.append(f"{'<' if self.high_open else '<='} {self.high}")
        return " and ".join(parts)

    def in_range(self, value: float) -> bool:
        """Whether `value` lies between `low` and `high`.

        Example:
            >>> Param("f", (), "float", 1.0, "", "", low=0, low_open=True).in_range(0.0)
            False
        """
        above = self.low is None or value > self.low or (value == self.low and not self.low_open)
        below = (
            self.high is None or value < self.high or (value == self.high and not self.high_open)
        )
        return above and below

    def supports(self, choice: object) -> bool:
        """Whether this version can do `choice`, one resolved value of this parameter.

        Example:
            >>> Param("f", (), "enum", "a", "", "", supported=("a", "b")).supports("c")
            False
        """
        if isinstance(self.supported, bool):
            return self.supported or choice == self.default
        return not isinstance(choice, str) or choice in self.supported
