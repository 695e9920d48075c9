"""The model that a training continues from (`init_model`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data import as_table
from gossamer.data.built import BuiltData, GivenRows
from gossamer.data.categories.levels import NO_LEVELS
from gossamer.data.chunks.find_source import find_source
from gossamer.data.table.names import default_names
from gossamer.errors import DataError, ParameterError
from gossamer.logger import warn
from gossamer.model.model import Model
from gossamer.model.prediction.predict import predict_scores
from gossamer.objectives import Custom, Objective
from gossamer.params import Params
from gossamer.tree import Tree

if TYPE_CHECKING:
    from gossamer.model.training.training import Training


@dataclass(frozen=True, eq=False)
class BaseModel:
    """A model, whose trees come before the training's trees.

    Attributes:
        model: All of it.
    """

    model: Model

    def trees(self) -> Iterator[Tree]:
        """Return its trees, in order."""
        forest = self.model.forest
        return (forest.tree(t) for t in range(forest.n_trees))

    def names(self, found: list[str]) -> list[str]:
        """Return the names of the whole model's columns: the data's, or else the model's."""
        return self.model.names if found == default_names(len(found)) else found

    def check_fits(self, data: BuiltData, objective: Objective) -> None:
        """Check that trees of this training can follow the model's trees.

        Raises:
            DataError: If the columns differ.
            ParameterError: If the outputs or the objective do.
        """
        model, names = self.model, data.names
        if len(names) != model.n_columns:
            raise DataError.because(
                "init_model was trained on another number of columns",
                got=len(names),
                expected=str(model.n_columns),
            )
        known = model.names_for(names)
        if known is not None and names != default_names(len(names)) and names != known:
            place = next(i for i, name in enumerate(names) if name != known[i])
            raise DataError.because(
                f"init_model was trained on other columns; the first that differs is {place}",
                got=names[place],
                expected=repr(known[place]),
                hint="Pass the same columns in the same order.",
            )
        self.check_objective(objective)

    def check_objective(self, objective: Objective, other: str = "init_model") -> None:
        """Check that scores of both mean the same.

        Args:
            objective: The other's objective.
            other: What errors call it.

        Raises:
            ParameterError: If they do not.
        """
        model = self.model
        if objective.n_outputs != model.objective.n_outputs:
            raise ParameterError.because(
                f"{other} has another number of outputs than the objective",
                got=objective.n_outputs,
                expected=str(model.objective.n_outputs),
                hint="Classes, targets or quantiles must be the model's.",
            )
        if not _mean_the_same(model.objective, objective):
            raise ParameterError.because(
                f"{other} was trained with an objective whose scores mean something else",
                got=_describe(objective),
                expected=_describe(model.objective),
                hint="Use the model's objective; or pass its predict(raw_score=True) as "
                "init_score, and keep two models.",
            )

    def check_levels(self, data: BuiltData) -> None:
        """Check that codes of text and categories mean the same to the model.

        Raises:
            DataError: If they do not.
        """
        if (data.columns.levels or NO_LEVELS) != (self.model.levels or NO_LEVELS):
            raise DataError.because(
                "init_model was trained on other levels of text or categories",
                hint="Give the columns the same categories, e.g. as pandas categories, or pass "
                "a Dataset with reference= to the data that the model was trained on.",
            )

    def check_training(self, training: Training) -> None:
        """Refuse a model that this training cannot continue.

        Raises:
            DataError: If so.
        """
        self.check_mode(training.boosting.averages)
        self.check_derived(training.params)
        self.check_values_per_leaf(training.n_outputs // training.trees_per_set)
        self.check_parallel(training.params.num_parallel_tree)

    def check_mode(self, averages: bool) -> None:
        """Check that scores are sums of trees, before and after.

        Raises:
            ParameterError: If one of them is a mean.
        """
        if averages or self.model.average_output:
            raise ParameterError.because(
                "init_model cannot be combined with random forests (boosting=rf)",
                got="boosting=rf" if averages else "an init_model that is one",
                hint="A mean of trees cannot be continued; train more rounds at once.",
            )

    def check_parallel(self, n_parallel: int, other: str = "init_model") -> None:
        """Check that every round has as many trees, before and after.

        Raises:
            ParameterError: If not.
        """
        expected = self.model.forest.n_parallel
        if self.model.forest.n_trees > 0 and n_parallel != expected:
            raise ParameterError.because(
                f"{other} has another num_parallel_tree",
                got=n_parallel,
                expected=str(expected),
                hint="Every round of a model has the same number of trees.",
            )

    def check_derived(self, params: Params) -> None:
        """Check that the trees know the user's columns only, before and after.

        Raises:
            ParameterError: If they know target statistics, or are to know them.
        """
        if params.cat_target_statistics == "on":
            raise ParameterError.because(
                "init_model cannot be combined with target statistics",
                got="cat_target_statistics=on",
                expected="auto or off",
                hint="A training that continues splits categories by sets.",
            )
        if self.model.derived is not None:
            raise ParameterError.because(
                "init_model was trained with target statistics, which other data would change",
                hint="Train it with cat_target_statistics=off to continue from it.",
            )

    def check_values_per_leaf(self, n_values: int, other: str = "init_model") -> None:
        """Check that leaves have as many values as the training's leaves.

        Raises:
            ParameterError: If one of them has a tree for each output, the other one for all.
        """
        forest = self.model.forest
        if forest.n_trees and forest.n_values != n_values:
            kinds = {True: "one_output_per_tree", False: "multi_output_tree"}
            raise ParameterError.because(
                f"{other} was trained with another multi_strategy",
                got=kinds[n_values == 1],
                expected=repr(kinds[forest.n_values == 1]),
            )

    def scores(
        self, data: BuiltData, name: str, raw: GivenRows | None, num_threads: int
    ) -> npt.NDArray[np.float64]:
        """Return the model's raw scores of a data set, class-major.

        From the raw table if it is there; otherwise the thresholds of the trees must be among the
        bounds of the bins.

        Raises:
            DataError: If it is gone, and a threshold is not a bound.
        """
        if data.rows.init_score is not None:
            warn(
                f"init_score of the data set {name!r} is ignored: training continues from what "
                "init_model predicts."
            )
        if raw is not None:
            table: object = data.without_fields(raw.data)
            if raw.has_own_names and find_source(raw.data) is None:
                table = replace(as_table(table), names=data.names)
            return predict_scores(self.model, table, raw.rows, num_threads, data.source.has_header)
        return self._scores_of_bins(data, name, num_threads)

    def _scores_of_bins(
        self, data: BuiltData, name: str, num_threads: int
    ) -> npt.NDArray[np.float64]:
        model, n_rows = self.model, data.n_rows
        if model.forest.linear is not None:
            raise DataError.because(
                f"init_model has linear leaves, and the raw data of {name!r} is gone",
                hint="Pass a Dataset that is not constructed yet, or one with free_raw_data=False.",
            )
        forest, bins = model.forest, data.table.bins
        score = np.repeat(model.start, n_rows)
        by_output = score.reshape(forest.n_outputs, n_rows)
        for t in range(forest.n_trees):
            tree = forest.tree(t)
            outputs = score if forest.n_values > 1 else by_output[t % forest.n_outputs]
            if tree.n_leaves == 1:
                outputs += np.repeat(tree.leaf_value, n_rows)
                continue
            try:
                native = _native.make_tree(bins, vars(tree), forest.n_values)
            except IndexError as error:
                raise _unknown_threshold(self.model, name, t, int(str(error))) from None
            data.table.add_tree(native, outputs, num_threads)
        return score


def _mean_the_same(one: Objective, other: Objective) -> bool:
    """Whether raw scores of both lead to the same predictions."""
    if type(one) is Custom or isinstance(other, Custom):
        return True  # what scores mean is known to the user alone
    if one.name == other.name and one.has_link:
        return one.to_config() == other.to_config()
    if not one.has_link and not other.has_link:
        return True
    if one.has_link != other.has_link:
        return False
    # If predictions agree at these scores, the links are the same.
    scores = np.linspace(-3.0, 3.0, 5 * one.n_outputs)
    mine, others = one.to_predictions(scores.copy(), 1), other.to_predictions(scores.copy(), 1)
    return mine.shape == others.shape and bool(np.array_equal(mine, others))


def _describe(objective: Objective) -> str:
    config = objective.to_config()
    name = str(config.pop("name"))
    return ", ".join([name, *(f"{key}={value}" for key, value in config.items())])


def _unknown_threshold(model: Model, name: str, t: int, node: int) -> DataError:
    tree = model.forest.tree(t)
    column = model.names[int(tree.column[node])]
    return DataError.because(
        f"init_model cannot be applied to the data set {name!r}: its raw data is gone, and "
        f"tree {t} splits {column!r} where no bin ends",
        got=float(tree.threshold[node]),
        expected="a bound of the bins",
        hint="Pass a Dataset that is not constructed yet, or one with free_raw_data=False; or "
        "one with the bins that the model was trained on (reference=).",
    )
