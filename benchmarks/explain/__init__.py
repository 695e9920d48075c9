"""Shapley values beside LightGBM's: ``python -m benchmarks.explain``."""
