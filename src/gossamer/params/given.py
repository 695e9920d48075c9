"""What users pass as parameters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gossamer.errors import ParameterTypeError


def as_dict(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a copy of a user's parameters.

    Raises:
        ParameterError: If they are not a dict.

    Example:
        >>> as_dict({"num_leaves": 7}), as_dict(None)
        ({'num_leaves': 7}, {})
    """
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        is_path = isinstance(params, (str, os.PathLike))
        raise ParameterTypeError.because(
            "parameters cannot be used",
            got=params if is_path else type(params).__name__,
            expected="a dict, as {'num_leaves': 31}",
            hint="A saved model is loaded by Booster(model_file=...)." if is_path else "",
        )
    return dict(params)
