"""Whether monotone constraints fit the other parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.errors import ParameterError

if TYPE_CHECKING:
    from gossamer.params.resolved import Params


def has_monotone(params: Params) -> bool:
    """Whether some column is constrained.

    Example:
        >>> from gossamer.params import resolve
        >>> has_monotone(resolve({"monotone_constraints": {"age": 1}}))
        True
        >>> has_monotone(resolve({"monotone_constraints": [0, 0]}))
        False
    """
    constraints = params.monotone_constraints
    return any(item[1] if isinstance(item, tuple) else item for item in constraints)


def check_monotone(params: Params) -> None:
    """Raise where leaves are not constants: their order says nothing about predictions then.

    Example:
        >>> from gossamer.params import resolve
        >>> check_monotone(resolve({"monotone_constraints": [1, 0]}))
    """
    if not has_monotone(params):
        return
    if params.monotone_constraints_method != "basic" and params.cegb_penalty_feature_coupled:
        raise ParameterError.because(
            "monotone_constraints_method does not fit cegb_penalty_feature_coupled: both "
            "change what other leaves may do",
            got=params.monotone_constraints_method,
            expected="basic",
        )
    if params.linear_tree:
        raise ParameterError.because(
            "monotone_constraints cannot be combined with linear_tree",
            got=params.monotone_constraints,
            expected="leaves that are constants",
            hint="Leave one of them out.",
        )
