"""Prediction beside the other libraries and the compilers of their models."""
