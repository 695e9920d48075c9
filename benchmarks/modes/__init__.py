"""Categories, constraints, modes and ``cv`` beside the peers: ``python -m benchmarks.modes``."""
