"""From what the user gave to a data set in bins: one builder per kind of source."""
