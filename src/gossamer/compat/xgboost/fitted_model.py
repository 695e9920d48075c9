"""`FittedModel`: what XGBoost tells of a model: its columns, attributes, importance and trees."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gossamer.arguments import as_path, check_flags
from gossamer.compat.xgboost.categories import Categories
from gossamer.compat.xgboost.dump import (
    Columns,
    dump_trees,
    join_dump,
    one_per_column,
    trees_to_frame,
)
from gossamer.compat.xgboost.importance import importance
from gossamer.errors import DataError
from gossamer.files import write_atomically
from gossamer.model import Booster as CoreBooster
from gossamer.model.model import Model


class FittedModel:
    """A model with names and types of its columns, and attributes.

    Args:
        core: Gossamer's own booster; None: there is no model yet.
        names: Names of the columns; None: they have none.
        types: Types of the columns; None: all are numbers.

    Example:
        >>> from gossamer import Dataset
        >>> core = CoreBooster({"verbosity": -1}, Dataset([[1.0], [2.0]], [0, 1]))
        >>> model = FittedModel(core, names=["size"])
        >>> model.set_attr(author="me")
        >>> model.num_features(), model.feature_names, model.attributes()
        (1, ['size'], {'author': 'me'})
    """

    def __init__(
        self,
        core: CoreBooster | None = None,
        names: list[str] | None = None,
        types: list[str] | None = None,
    ) -> None:
        self._core = core
        self._names, self._types = names, types
        self._attributes: dict[str, str] = {}

    @property
    def fitted(self) -> CoreBooster:
        """Gossamer's own booster of this model."""
        if self._core is None:
            raise DataError.because(
                "the Booster has no model yet", hint="Train it, or load a model first."
            )
        return self._core

    @property
    def model(self) -> Model:
        """Gossamer's own model: trees, start, names."""
        return self.fitted.model

    def num_boosted_rounds(self) -> int:
        """Return the number of rounds."""
        return 0 if self._core is None else self._core.current_iteration()

    @property
    def levels(self) -> Any:
        """Values of the columns of categories; None: there are no such columns."""
        return self.fitted.levels

    def get_categories(self, export_to_arrow: bool = False) -> Categories:
        """Return the categories of each column that the model was trained on.

        Args:
            export_to_arrow: Whether they are wanted as arrays of pyarrow.
        """
        return Categories.of(self.levels, self._names, self.num_features(), export_to_arrow)

    def num_features(self) -> int:
        """Return the number of columns."""
        return self.fitted.num_feature()

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns; None: they have none."""
        return None if self._names is None else list(self._names)

    @feature_names.setter
    def feature_names(self, names: Sequence[str] | None) -> None:
        self._names = None if names is None else self._each_column("feature_names", names)

    @property
    def feature_types(self) -> list[str] | None:
        """Types of the columns, as they were given to the `DMatrix`."""
        return None if self._types is None else list(self._types)

    @feature_types.setter
    def feature_types(self, types: Sequence[str] | None) -> None:
        self._types = None if types is None else self._each_column("feature_types", types)

    def _each_column(self, name: str, values: Sequence[str]) -> list[str]:
        n_columns = None if self._core is None else self.num_features()
        return one_per_column(name, values, n_columns)

    @property
    def best_iteration(self) -> int:
        """The best round that early stopping found, from 0."""
        return int(self._found_by_stopping("best_iteration"))

    @best_iteration.setter
    def best_iteration(self, iteration: int) -> None:
        self.set_attr(best_iteration=iteration)

    @property
    def best_score(self) -> float:
        """The metric at that round."""
        return float(self._found_by_stopping("best_score"))

    @best_score.setter
    def best_score(self, score: float) -> None:
        self.set_attr(best_score=score)

    def _found_by_stopping(self, name: str) -> str:
        found = self.attr(name)
        if found is None:
            raise AttributeError(f"there is no {name}: it takes early stopping to find it")
        return found

    def attr(self, key: str) -> str | None:
        """Return an attribute; None: there is none."""
        return self._attributes.get(key) if isinstance(key, str) else None

    def attributes(self) -> dict[str, str]:
        """Return all attributes."""
        return dict(self._attributes)

    def set_attr(self, **kwargs: Any) -> None:
        """Set attributes, which are text; None takes one away."""
        for key, value in kwargs.items():
            if value is None:
                self._attributes.pop(key, None)
            else:
                self._attributes[key] = str(value)

    def get_score(self, fmap: Any = "", importance_type: str = "weight") -> dict[str, float]:
        """Return how much each column matters that splits somewhere.

        Args:
            fmap: A feature map: a file with number, name and type of each column.
            importance_type: "weight" counts splits, "gain" is their mean gain, "cover" the mean of
                the hessians they split; "total_gain" and "total_cover" are sums.
        """
        counts = importance(self.model, "weight")
        values = importance(self.model, importance_type)
        found = zip(self._columns(fmap).names, values.tolist(), counts, strict=True)
        return {name: value for name, value, count in found if count > 0}

    def get_fscore(self, fmap: Any = "") -> dict[str, float]:
        """Return the number of splits of each column that splits somewhere."""
        return self.get_score(fmap, "weight")

    @check_flags
    def get_split_value_histogram(
        self, feature: str, fmap: Any = "", bins: int | None = None, as_pandas: bool = True
    ) -> Any:
        """Count the thresholds at which a column is split; a name that no column has: none."""
        names = list(self._columns(fmap).names)
        if not isinstance(feature, str) or feature in names:
            column = names.index(feature) if isinstance(feature, str) else feature
            found = self.fitted.get_split_value_histogram(column, bins, xgboost_style=True)
        else:
            found = self.fitted.get_split_value_histogram(0, bins, xgboost_style=True)[:0]
        return found if as_pandas or not hasattr(found, "to_numpy") else found.to_numpy()

    def _columns(self, fmap: str | os.PathLike[str]) -> Columns:
        path = os.path.expanduser(as_path(fmap)) if not isinstance(fmap, str) or fmap else ""
        n_columns = self.num_features()
        return (
            Columns.read(path, n_columns)
            if path
            else Columns.of(n_columns, self._names, self._types)
        )

    @check_flags
    def get_dump(
        self,
        fmap: str | os.PathLike[str] = "",
        with_stats: bool = False,
        dump_format: str = "text",
    ) -> list[str]:
        """Return each tree as text.

        Args:
            fmap: A feature map: a file with number, name and type of each column.
            with_stats: Whether to add gains and covers.
            dump_format: "text", "json" or "dot".

        Example:
            >>> from gossamer.compat.xgboost import Booster, DMatrix
            >>> data = DMatrix([[1.0], [2.0]], label=[0, 1])
            >>> booster = Booster({"min_child_weight": 0, "eta": 1, "base_score": 0.5})
            >>> booster.update(data, 0)
            >>> booster.get_dump()[0].splitlines()[0]
            '0:[f0<1.50000012] yes=1,no=2,missing=1'
        """
        return dump_trees(
            self.model, self._columns(fmap), with_stats=with_stats, dump_format=dump_format
        )

    def dump_model(
        self,
        fout: str | os.PathLike[str],
        fmap: str | os.PathLike[str] = "",
        with_stats: bool = False,
        dump_format: str = "text",
    ) -> None:
        """Write what `get_dump` returns to a file.

        Args:
            fout: Path of the file.
            fmap: As for `get_dump`.
            with_stats: As for `get_dump`.
            dump_format: As for `get_dump`.
        """
        text = join_dump(self.get_dump(fmap, with_stats, dump_format), dump_format)
        write_atomically(Path(os.path.expanduser(os.fspath(fout))), text.encode())

    def trees_to_dataframe(self, fmap: str | os.PathLike[str] = "") -> Any:
        """Return all nodes as a pandas data frame, a row for each.

        Args:
            fmap: As for `get_dump`.
        """
        return trees_to_frame(self.model, self._columns(fmap))
