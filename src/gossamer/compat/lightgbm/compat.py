"""`lightgbm.compat`: which optional packages are installed, and scikit-learn's error class."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

PANDAS_INSTALLED: Final = find_spec("pandas") is not None
SKLEARN_INSTALLED: Final = find_spec("sklearn") is not None

LGBMNotFittedError: type[ValueError]
try:
    from sklearn.exceptions import NotFittedError
except ImportError:  # pragma: no cover
    LGBMNotFittedError = ValueError
else:
    LGBMNotFittedError = NotFittedError

__all__ = ["PANDAS_INSTALLED", "SKLEARN_INSTALLED", "LGBMNotFittedError"]
