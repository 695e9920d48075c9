"""The trained model: prediction, importance, files."""

from gossamer.model.booster import Booster
from gossamer.model.cv_booster import CVBooster
from gossamer.model.model import Model

__all__ = ["Booster", "CVBooster", "Model"]
