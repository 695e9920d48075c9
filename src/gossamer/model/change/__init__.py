"""Models changed by hand: edited, joined, refitted."""
