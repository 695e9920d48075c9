"""scikit-learn estimators; they need scikit-learn: `pip install "gossamer[sklearn]"`."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from sklearn.utils.validation import validate_data  # noqa: F401  (new in scikit-learn 1.6)
except ImportError as error:
    _missing: ImportError | None = error
else:
    _missing = None

if TYPE_CHECKING or _missing is None:
    from gossamer.sklearn.base import GossamerModel
    from gossamer.sklearn.classifier import GossamerClassifier
    from gossamer.sklearn.ranker import GossamerRanker
    from gossamer.sklearn.regressor import GossamerRegressor

__all__ = ["GossamerClassifier", "GossamerModel", "GossamerRanker", "GossamerRegressor"]

if _missing is not None:  # stand-ins, so that only using an estimator fails, and says what to do
    from gossamer.sklearn.missing import stand_ins

    globals().update(stand_ins(__all__, _missing))
