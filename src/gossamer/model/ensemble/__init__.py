"""Models that are averages of members, each trained on all folds but its own."""
