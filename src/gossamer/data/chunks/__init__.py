"""Tables that are read in chunks of rows, so that they are never in memory as a whole."""
