"""The ways to find a split, exact, approx and hist: accuracy by candidates, time beside XGBoost."""
