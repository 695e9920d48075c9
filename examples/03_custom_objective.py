"""An objective and a metric of your own: demand that is better overestimated than missed.

The loss is squared error, four times as heavy where the prediction is too low.
"""

import numpy as np

import gossamer as gs

# %% Data
HEAVY = 4.0  # how much worse too low is than too high

rng = np.random.default_rng(0)
x = rng.uniform(0, 10, size=(2000, 3))
y = 20 + 5 * np.sin(x[:, 0]) + x[:, 1] + rng.normal(scale=3, size=2000)


# %% The loss and a metric
def careful(scores: np.ndarray, data: gs.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return first and second derivative of the loss, one of each per row."""
    error = scores - data.get_label()
    weight = np.where(error < 0, HEAVY, 1.0)
    return weight * error, weight


def share_too_low(predictions: np.ndarray, data: gs.Dataset) -> tuple[str, float, bool]:
    """Return name, value, and whether higher is better."""
    return "share_too_low", float((predictions < data.get_label()).mean()), False


# %% Train with it
def fit(objective: object) -> gs.Booster:
    """Train with an objective, by name or as a function."""
    train_set = gs.Dataset(x[:1500], y[:1500])
    return gs.train(
        {"objective": objective, "metric": "l1", "num_leaves": 15},
        train_set,
        num_boost_round=100,
        valid_sets=[train_set.create_valid(x[1500:], y[1500:])],
        feval=share_too_low,
    )


for name, objective in (("squared error", "regression"), ("careful", careful)):
    scores = fit(objective).best_score["valid_0"]
    print(f"{name:<14} too low: {scores['share_too_low']:4.0%}   mean error: {scores['l1']:.2f}")
