"""Every learning task beside the peers: ``python -m benchmarks.tasks``."""
