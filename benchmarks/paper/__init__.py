"""The experiments of the LightGBM paper, run again. See README.md in this folder."""
