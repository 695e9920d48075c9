"""Predictions of tables, chunks and single rows."""
