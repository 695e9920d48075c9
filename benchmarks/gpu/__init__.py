"""Training on a GPU beside the CPU, and beside other libraries where they are installed."""
