"""Held-out losses of Gossamer with an option and without it."""
