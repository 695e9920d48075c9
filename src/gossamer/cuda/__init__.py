"""Training on a GPU: the same trees as on the CPU, byte for byte."""
