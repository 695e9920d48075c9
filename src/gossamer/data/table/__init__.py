"""The user's table as a matrix: arrays, frames, sparse matrices; names and types of columns."""
