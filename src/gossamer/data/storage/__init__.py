"""Binned tables: in memory, on disk, and in files."""
