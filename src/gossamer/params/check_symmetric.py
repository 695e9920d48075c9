"""Whether symmetric trees fit the other parameters."""

from __future__ import annotations

from typing import Final

from gossamer.errors import NotSupportedError, ParameterError
from gossamer.params.check_monotone import has_monotone
from gossamer.params.resolved import Params

# A level needs the histograms of all its leaves at once.
MOST_LEVELS: Final = 16
DEFAULT_LEVELS: Final = 6
# What decides about single leaves, or is not written for levels.
_REFUSED: Final = (
    *("interaction_constraints", "forcedsplits_filename", "feature_contri", "cegb_penalty_split"),
    *("cegb_penalty_feature_lazy", "cegb_penalty_feature_coupled", "max_memory"),
)


def n_levels(max_depth: int, num_leaves: int | None) -> int:
    """Return the levels of a symmetric tree.

    Args:
        max_depth: As given; 0 or less means the default.
        num_leaves: Most leaves; None: any number.

    Example:
        >>> n_levels(-1, None), n_levels(8, None), n_levels(8, 31)
        (6, 8, 4)
    """
    levels = max_depth if max_depth > 0 else DEFAULT_LEVELS
    return levels if num_leaves is None else min(levels, num_leaves.bit_length() - 1)


def check_symmetric(params: Params) -> None:
    """Raise where `grow_policy=symmetric` meets what such trees cannot do.

    Example:
        >>> from gossamer.params import resolve
        >>> try:
        ...     resolve({"grow_policy": "symmetric", "monotone_constraints": [1]})
        ... except NotSupportedError as error:
        ...     print(str(error)[:62])
        grow_policy=symmetric cannot be combined with monotone_constra
    """
    if params.grow_policy != "symmetric":
        return
    if params.max_depth > MOST_LEVELS:
        raise ParameterError.because(
            "max_depth is too large for grow_policy=symmetric",
            got=params.max_depth,
            expected=f"at most {MOST_LEVELS}",
            hint="Symmetric trees usually have 4 to 10 levels.",
        )
    refused = [name for name in _REFUSED if params[name]]
    if has_monotone(params):
        refused.append("monotone_constraints")
    if params.tree_method in ("exact", "approx"):
        refused.append("tree_method")
    if params.multi_strategy == "multi_output_tree":
        refused.append("multi_strategy")
    for name in refused:
        raise NotSupportedError.because(
            f"grow_policy=symmetric cannot be combined with {name}",
            got=params[name],
            hint=f"Use grow_policy=lossguide or depthwise, or leave {name} out.",
        )
