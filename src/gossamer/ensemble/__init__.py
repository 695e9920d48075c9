"""Ensembles over folds: several trainings, one model."""

from gossamer.ensemble.train_folds import train_folds
from gossamer.ensemble.train_quality import train_quality
from gossamer.ensemble.train_refit import train_refit

__all__ = ["train_folds", "train_quality", "train_refit"]
