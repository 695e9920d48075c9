"""The trained model: prediction, importance, files."""

from gossamer.model.booster import Booster
from gossamer.model.model import Model

__all__ = ["Booster", "Model"]
