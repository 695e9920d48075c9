"""`CVResults`: what `cv` returns."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import numpy as np

from gossamer.notebook import curves, side_by_side, table

_MEAN: Final = "-mean"
_SPREAD: Final = "-stdv"


class CVResults(dict[str, Any]):
    """Means and standard deviations over the folds: a dict that notebooks show as a table.

    Attributes:
        higher_is_better: Name such as "valid auc" -> whether higher values are better.

    Example:
        >>> from gossamer import Dataset, cv
        >>> x = np.linspace(0, 1, 200).reshape(-1, 1)
        >>> found = cv({"metric": "l2"}, Dataset(x, x[:, 0] ** 2), 20, nfold=3)
        >>> type(found).__name__, found.best_round("valid l2")
        ('CVResults', 20)
        >>> found.to_pandas().shape
        (20, 2)
    """

    def __init__(
        self, values: Mapping[str, Any], higher_is_better: Mapping[str, bool] | None = None
    ) -> None:
        super().__init__(values)
        self.higher_is_better = dict(higher_is_better or {})

    def _names(self) -> list[str]:
        return [key.removesuffix(_MEAN) for key in self if key.endswith(_MEAN)]

    def best_round(self, name: str) -> int:
        """Return the round, from 1, with the best mean of a metric such as "valid l2"."""
        means = self[f"{name}{_MEAN}"]
        is_higher = self.higher_is_better.get(name, False)
        return int(np.argmax(means) if is_higher else np.argmin(means)) + 1

    def plot(self, metric: str | None = None, **options: Any) -> Any:
        """Draw a metric by round, see `plot_metric`.

        Args:
            metric: The name of the metric, such as "l2"; None means the first.
            **options: Options of `plot_metric`.
        """
        return import_module("gossamer.plot").plot_metric(self, metric, **options)

    def to_pandas(self) -> Any:
        """Return a pandas data frame: one row for each round, one column for each list."""
        pandas = import_module("pandas")
        lists = {name: values for name, values in self.items() if isinstance(values, list)}
        frame = pandas.DataFrame(lists)
        frame.index = pandas.RangeIndex(1, len(frame) + 1, name="round")
        return frame

    def _repr_html_(self) -> str:
        rows = []
        for name in self._names():
            means, spreads = self[f"{name}{_MEAN}"], self.get(f"{name}{_SPREAD}", [])
            if not means:
                continue
            best = self.best_round(name)
            spread = f" \u00b1 {spreads[best - 1]:.3g}" if best <= len(spreads) else ""
            rows.append([name, f"{means[best - 1]:.6g}{spread}", f"{best:,}", f"{means[-1]:.6g}"])
        head = ["metric", "best mean \u00b1 standard deviation", "at round", "last mean"]
        drawn = [
            curves(name, {name: self[f"{name}{_MEAN}"]}, self.best_round(name))
            for name in self._names()[:2]
            if self[f"{name}{_MEAN}"]
        ]
        return side_by_side(table("Cross-validation", head, rows), *drawn)
