"""`Param`: one row of the parameter table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeVar

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


class KindFacts(NamedTuple):
    """How values of one kind are described.

    Attributes:
        expected: For a user who gave something else.
        short: For the documentation.
        annotation: The type of the resolved value, as in the source of `ParamFields`.
    """

    expected: str
    short: str
    annotation: str


_INT_BY_COLUMN: Final = "an integer per column, as a list or as a dict by column name or index"
_FLOAT_BY_COLUMN: Final = "a number per column, as a list or as a dict by column name or index"
_FORCED_SPLITS: Final = "nested dicts of feature, threshold, left and right, or a JSON file"

KINDS: Final[Mapping[Kind, KindFacts]] = {
    "bool": KindFacts("true or false", "bool", "bool"),
    "int": KindFacts("an integer", "int", "int"),
    "float": KindFacts("a finite number", "float", "float"),
    "auto_float": KindFacts("'auto' or a finite number", "float or `auto`", "float | str"),
    "str": KindFacts("a string", "string", "str"),
    "memory": KindFacts("bytes, or text such as '500MB', '4GB' or '50%'", "size", "int"),
    "enum": KindFacts("a name", "name", "str"),
    "ints": KindFacts("a list of integers", "list of int", "tuple[int, ...]"),
    "floats": KindFacts("a list of finite numbers", "list of float", "tuple[float, ...]"),
    "ints_by_column": KindFacts(_INT_BY_COLUMN, "int by column", "ByColumn[int]"),
    "floats_by_column": KindFacts(_FLOAT_BY_COLUMN, "float by column", "ByColumn[float]"),
    "column": KindFacts("a column name or index", "name or index", "int | str"),
    "columns": KindFacts(
        "a list of column names or indices", "names or indices", "tuple[int | str, ...]"
    ),
    "groups": KindFacts(
        "a list of lists of column names or indices",
        "list of lists",
        "tuple[tuple[int | str, ...], ...]",
    ),
    "forced_splits": KindFacts(_FORCED_SPLITS, "dict or file", "str"),
    "forced_bins": KindFacts(
        "bounds by column name or index, or a JSON file", "dict or file", "str"
    ),
    "objective": KindFacts("a name or a function", "name or function", "str | Callable[..., Any]"),
    "metrics": KindFacts("a name or a list of names", "names", "tuple[str, ...]"),
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
        supported: Whether this version accepts anything but the default.
        unsupported: The choices that this version knows but cannot do.
        fixed: Whether the value must stay the same during a training, though no data set
            depends on it.
        bins: Whether the bins of a data set depend on it.
        raw_values: Whether it decides if a data set keeps its raw values.
        cost: Whether it is a cost of reading or splitting features.
        changes_model: Whether trees, or when training stops, may depend on it.
        kept: Whether model files keep it; their bytes must not depend on those not kept.
        is_file: Whether it names a file for the command line, and nothing else.
        seed_number: For a seed that is derived from `seed`: its position in the sequence.
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
    supported: bool = True
    unsupported: tuple[str, ...] = ()
    fixed: bool = False
    bins: bool = False
    raw_values: bool = False
    cost: bool = False
    changes_model: bool = True
    kept: bool = True
    is_file: bool = False
    seed_number: int | None = None

    @property
    def can_change(self) -> bool:
        """Whether the value may change during a training.

        Example:
            >>> Param("max_bin", (), "int", 255, "", "", bins=True).can_change
            False
        """
        return not (self.fixed or self.bins or self.raw_values)

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
            >>> Param("f", (), "enum", "a", "", "", unsupported=("c",)).supports("c")
            False
        """
        return choice == self.default or (self.supported and choice not in self.unsupported)
