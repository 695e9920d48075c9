"""Training on several workers of one machine, next to one process and the other libraries."""
