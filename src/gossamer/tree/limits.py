"""What features may do in a tree: from parameters by column to the native core's features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.binning import Binning
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.logger import warn
from gossamer.params import Params
from gossamer.params.column_options import by_column, column_of
from gossamer.params.forced import ForcedNode, read_splits

# Not known to trees with a value for every output in each leaf.
_ONE_OUTPUT: Final = (
    "feature_contri",
    "forcedsplits_filename",
    "cegb_penalty_split",
    "cegb_penalty_feature_lazy",
    "cegb_penalty_feature_coupled",
)


def check_vector_leaves(params: Params) -> None:
    """Refuse what trees with vector leaves cannot do.

    Raises:
        NotSupportedError: If there are costs, factors or forced splits.
    """
    found = next((name for name in _ONE_OUTPUT if params[name]), None)
    if found is not None:
        what = f"{found} cannot be combined with multi_strategy=multi_output_tree"
        hint = "Leave one of them out."
        raise NotSupportedError.because(what, got=params[found], hint=hint)


def make_limits(
    params: Params,
    binning: Binning,
    names: Sequence[str],
    costs: _native.FeatureCosts | None,
    feature_weights: npt.NDArray[np.float64] | None = None,
) -> _native.FeatureLimits | None:
    """Turn parameters by column into limits of features; None: there are none.

    Args:
        params: Checked parameters.
        binning: The features of the trainer.
        names: Names of the user's columns.
        costs: As `make_costs` returns.
        feature_weights: Weights that came with the data, one per column.

    Raises:
        ParameterError: If a parameter names unknown columns, or impossible splits.
    """
    groups = _groups(params, names)
    factors = _by_feature(params, "feature_contri", binning, names, 1.0)
    weights = _sampling_weights(params, binning, names, feature_weights)
    forced = _forced(params, binning, names, groups)
    if not (groups or factors or weights or forced or costs):
        return None
    of_column = _feature_of(binning)
    by_feature = [[of_column[c] for c in group if of_column[c] >= 0] for group in groups]
    return _native.FeatureLimits(binning.n_features, by_feature, factors, weights, forced, costs)


def make_costs(
    params: Params, binning: Binning, names: Sequence[str], n_rows: int
) -> _native.FeatureCosts | None:
    """Return the costs of features, nothing paid so far; None: there are none.

    Raises:
        ParameterError: If a cost names an unknown column.
    """
    coupled = _by_feature(params, "cegb_penalty_feature_coupled", binning, names, 0.0)
    lazy = _by_feature(params, "cegb_penalty_feature_lazy", binning, names, 0.0)
    rate = params.cegb_tradeoff
    if rate == 0 or not (params.cegb_penalty_split or any(coupled) or any(lazy)):
        return None
    return _native.FeatureCosts(
        n_rows,
        rate * params.cegb_penalty_split,
        [rate * cost for cost in coupled],
        [rate * cost for cost in lazy],
    )


def _by_feature(
    params: Params, name: str, binning: Binning, names: Sequence[str], default: float
) -> list[float]:
    """One number per feature of the trainer, or none at all."""
    value = getattr(params, name)
    if not value:
        return []
    numbers = by_column(value, names, name, default)
    return [numbers[column] for column in binning.columns]


def _feature_of(binning: Binning) -> list[int]:
    """The feature of each column; -1: the column is constant."""
    found = [-1] * binning.n_columns
    for feature, column in enumerate(binning.columns):
        found[column] = feature
    return found


def _groups(params: Params, names: Sequence[str]) -> list[list[int]]:
    what = "interaction_constraints"
    groups = []
    for i, group in enumerate(params.interaction_constraints):
        if not group:
            raise ParameterError.because(
                f"group {i} of {what} is empty", expected="at least one column"
            )
        groups.append(sorted({column_of(column, names, what) for column in group}))
    return groups


def _sampling_weights(
    params: Params,
    binning: Binning,
    names: Sequence[str],
    of_data: npt.NDArray[np.float64] | None,
) -> list[float]:
    weights = _by_feature(params, "feature_weights", binning, names, 1.0)
    if of_data is not None:
        if weights:
            raise ParameterError.because(
                "feature_weights is given twice",
                found="the parameter and the field of the data set",
                expected="one of them",
            )
        weights = [float(of_data[column]) for column in binning.columns]
    if weights and not any(weights):
        raise ParameterError.because(
            "feature_weights is 0 for every column that can split",
            expected="at least one weight above 0",
        )
    return weights


def _forced(
    params: Params, binning: Binning, names: Sequence[str], groups: list[list[int]]
) -> list[tuple[int, int, int, int]]:
    nodes = read_splits(params.forcedsplits_filename)
    if len(nodes) >= params.num_leaves:
        raise ParameterError.because(
            f"forced_splits does not fit num_leaves={params.num_leaves}",
            found=f"{len(nodes)} splits",
            expected=f"at most {params.num_leaves - 1}",
        )
    of_column = _feature_of(binning)
    columns = [column_of(node.column, names, node.where) for node in nodes]
    if groups:
        _check_forced_groups(nodes, columns, groups)
    made: dict[int, tuple[int, int]] = {}  # feature and bin of the splits that can be made
    left_out: set[int] = set()
    for i, (node, column) in enumerate(zip(nodes, columns, strict=True)):
        if of_column[column] < 0:
            raise ParameterError.because(
                f"{node.where} cannot be made",
                got=node.column,
                expected="a column that is not constant",
            )
        if binning.is_categorical[of_column[column]]:
            raise ParameterError.because(
                f"{node.where} cannot be made: its column is categorical",
                got=node.column,
                expected="a column of numbers",
                hint="Forced splits have thresholds; leave the column out of forced_splits or "
                "of categorical_feature.",
            )
        upper = binning.upper_of(of_column[column])
        threshold = int(np.searchsorted(upper, node.threshold))
        if i in left_out or threshold == len(upper) - 1:
            if i not in left_out:
                warn(
                    f"{node.where} is left out with all splits below it: no row of feature "
                    f"{node.column!r} is above {node.threshold}."
                )
            left_out |= {i, node.left, node.right}
            continue
        made[i] = of_column[column], threshold
    place = {i: k for k, i in enumerate(made)}
    return [(*made[i], place.get(nodes[i].left, -1), place.get(nodes[i].right, -1)) for i in made]


def _check_forced_groups(
    nodes: list[ForcedNode], columns: list[int], groups: list[list[int]]
) -> None:
    """Every path of forced splits must lie in a group."""
    paths: list[set[int]] = [set() for _ in nodes]
    for i, node in enumerate(nodes):
        paths[i].add(columns[i])
        if not any(paths[i] <= set(group) for group in groups):
            raise ParameterError.because(
                f"{node.where} contradicts interaction_constraints",
                got=node.column,
                expected="the features of a path in one group",
            )
        for child in (node.left, node.right):
            if child >= 0:
                paths[child] |= paths[i]
