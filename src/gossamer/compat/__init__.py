"""Other libraries' names for what Gossamer does, so that scripts run by changing an import."""
