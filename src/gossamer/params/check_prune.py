"""Whether pruning fits the other parameters."""

from __future__ import annotations

from gossamer.errors import ParameterError
from gossamer.params.resolved import Params


def check_prune(params: Params) -> None:
    """Raise where splits count on others that pruning may take back.

    Example:
        >>> from gossamer.params import resolve
        >>> try:
        ...     resolve({"prune": True, "cegb_penalty_feature_coupled": [1.0]})
        ... except ParameterError as error:
        ...     print(str(error)[:48])
        prune does not fit cegb_penalty_feature_coupled:
    """
    if params.prune and params.cegb_penalty_feature_coupled:
        raise ParameterError.because(
            "prune does not fit cegb_penalty_feature_coupled: a split may be free because of "
            "another one, which pruning takes back",
            got=True,
            expected="prune=false",
            hint="Leave one of them out.",
        )
