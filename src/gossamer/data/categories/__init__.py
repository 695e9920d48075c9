"""Categorical columns: their levels, and target statistics made of them."""
