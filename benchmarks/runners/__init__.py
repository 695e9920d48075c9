"""The contenders: each is a library in one mode, run with the same settings."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.runners.base import Runner, Settings
from benchmarks.runners.catboost import CatBoostRunner
from benchmarks.runners.gossamer import GossamerRunner
from benchmarks.runners.lightgbm import LightGBMRunner
from benchmarks.runners.sklearn import SklearnRunner
from benchmarks.runners.xgboost import XGBoostRunner

__all__ = ["CONTENDERS", "Contender", "Runner", "Settings", "select_contenders"]


@dataclass(frozen=True)
class Contender:
    """A library in one mode.

    Attributes:
        name: What the command line and the tables call it.
        family: Contenders of one family are modes of one thing; the best of them counts.
        package: What must be importable.
        make: The runner's class.
        options: Parameters of this mode only.
    """

    name: str
    family: str
    package: str
    make: Callable[[Settings, dict[str, object]], Runner]
    options: dict[str, object] = field(default_factory=dict)

    def is_installed(self) -> bool:
        """Whether the library can be imported here."""
        return importlib.util.find_spec(self.package) is not None


_ROW: dict[str, object] = {"force_row_wise": True}
_COLUMN: dict[str, object] = {"force_col_wise": True}
_QUANTIZED: dict[str, object] = {"use_quantized_grad": True}

CONTENDERS: dict[str, Contender] = {
    contender.name: contender
    for contender in [
        Contender("gossamer", "gossamer", "gossamer", GossamerRunner),
        Contender("lightgbm_row", "lightgbm", "lightgbm", LightGBMRunner, _ROW),
        Contender("lightgbm_col", "lightgbm", "lightgbm", LightGBMRunner, _COLUMN),
        Contender(
            "lightgbm_quantized_row",
            "lightgbm_quantized",
            "lightgbm",
            LightGBMRunner,
            {**_QUANTIZED, **_ROW},
        ),
        Contender(
            "lightgbm_quantized_col",
            "lightgbm_quantized",
            "lightgbm",
            LightGBMRunner,
            {**_QUANTIZED, **_COLUMN},
        ),
        Contender("xgboost", "xgboost", "xgboost", XGBoostRunner),
        Contender("sklearn", "sklearn", "sklearn", SklearnRunner),
        Contender("catboost", "catboost", "catboost", CatBoostRunner),
    ]
}


def select_contenders(names: list[str]) -> tuple[list[Contender], list[str]]:
    """Finds contenders by name or by family, leaving out those that are not installed.

    Args:
        names: Names or families; empty means all.

    Returns:
        The contenders in table order, and one message for each library left out.

    Raises:
        ValueError: When a name is neither a contender nor a family.
    """
    known = set(CONTENDERS) | {c.family for c in CONTENDERS.values()}
    for name in names:
        if name not in known:
            raise ValueError(f"unknown contender {name!r}; expected one of {sorted(known)}")
    wanted = [c for c in CONTENDERS.values() if not names or c.name in names or c.family in names]
    missing = sorted({c.package for c in wanted if not c.is_installed()})
    messages = [f"skipped {package}: not installed" for package in missing]
    return [c for c in wanted if c.package not in missing], messages
