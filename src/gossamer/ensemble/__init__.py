"""Ensembles over folds: several trainings, one model."""

from gossamer.ensemble.train_folds import train_folds

__all__ = ["train_folds"]
