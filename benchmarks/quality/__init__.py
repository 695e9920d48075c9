"""Accuracy of the presets next to other libraries, and coverage of intervals."""
