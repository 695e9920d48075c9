"""Training on more data than memory: time per round and peak memory under a limit."""
