"""`lightgbm.dask`: names that can be imported, and refuse to be used."""

from __future__ import annotations

from typing import Any

from gossamer.errors import NotSupportedError, message

__all__ = ["DaskLGBMClassifier", "DaskLGBMRanker", "DaskLGBMRegressor"]


class _Refused:
    """An estimator of LightGBM's that Gossamer lacks."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Say what to use instead."""
        name = type(self).__name__
        raise NotSupportedError(
            message(
                f"{name} is not supported: Gossamer does not train on a Dask cluster",
                hint=f"Use {name.removeprefix('Dask')} on one machine.",
            )
        )


class DaskLGBMClassifier(_Refused):
    """Not supported; making one raises an error."""


class DaskLGBMRanker(_Refused):
    """Not supported; making one raises an error."""


class DaskLGBMRegressor(_Refused):
    """Not supported; making one raises an error."""
