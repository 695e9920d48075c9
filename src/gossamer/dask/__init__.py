"""Training on a Dask cluster: the same bytes on any number of workers.

Needs the packages dask and distributed: `pip install gossamer[dask]`.
"""

from __future__ import annotations

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise ImportError("gossamer.dask needs dask: pip install gossamer[dask]") from error

from gossamer.dask.data import DaskDataset
from gossamer.dask.train import predict, train

__all__ = ["DaskDataset", "predict", "train"]
