"""The state of a training: rounds, boosting modes, checkpoints."""
