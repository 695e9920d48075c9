"""Training and prediction times beside the peers, over many kinds of data."""
