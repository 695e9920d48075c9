"""Not one number but a range: several quantiles in one model, and a mean with its deviation.

The noise grows with the first column, so that some rows are far less certain than others.
"""

import numpy as np

import gossamer as gs

# %% Data
rng = np.random.default_rng(0)
x = rng.uniform(0, 10, size=(4000, 3))
noise = 0.5 + 0.5 * x[:, 0]
y = 10 * np.sin(x[:, 1]) + noise * rng.normal(size=4000)
train_rows, valid_rows, test_rows = slice(0, 2000), slice(2000, 3000), slice(3000, 4000)


# %% What is done with each model
def fit(params: dict[str, object]) -> gs.Booster:
    """Train until the validation data get no better."""
    train_set = gs.Dataset(x[train_rows], y[train_rows])
    return gs.train(
        {"num_leaves": 7, "learning_rate": 0.05, **params},
        train_set,
        num_boost_round=500,
        valid_sets=[train_set.create_valid(x[valid_rows], y[valid_rows])],
        callbacks=[gs.early_stopping(30, verbose=False)],
    )


def report(name: str, low: np.ndarray, high: np.ndarray) -> None:
    """Say how many labels lie inside, and how wide intervals are where noise is small and large."""
    label, calm = y[test_rows], x[test_rows, 0] < 5
    inside = np.mean((low <= label) & (label <= high))
    width = high - low
    print(
        f"{name:<10} inside: {inside:.0%} (80 % asked for)   "
        f"width: {width[calm].mean():.1f} calm, {width[~calm].mean():.1f} noisy"
    )


# %% Quantiles
# Predictions of a row increase: the quantiles cannot cross.
quantiles = fit({"objective": "quantile", "quantile_alpha": [0.1, 0.5, 0.9]})
low, median, high = quantiles.predict(x[test_rows]).T
assert (low <= median).all() and (median <= high).all()
report("quantiles", low, high)

# %% A normal distribution
# A normal distribution: mean and standard deviation of every row.
gaussian = fit({"objective": "gaussian"})
mean, sigma = gaussian.predict(x[test_rows]).T
report("gaussian", mean - 1.2816 * sigma, mean + 1.2816 * sigma)
