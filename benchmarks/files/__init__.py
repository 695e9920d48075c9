"""Training from files: how much memory it takes."""
