"""Text columns as they are: new categories in prediction, and a column of many of them.

Needs pandas; lists and arrays of objects would do as well.
"""

import numpy as np
import pandas as pd

import gossamer as gs

# %% Data
rng = np.random.default_rng(0)
n_rows, n_shops = 6000, 600
weather = rng.choice(["sun", "cloud", "rain", "fog", "snow"], size=n_rows)
shop = rng.integers(0, n_shops, size=n_rows)
price = rng.uniform(1, 5, size=n_rows)
goodness = rng.normal(size=n_shops)
mood = {"sun": 1.0, "cloud": 0.2, "rain": -0.8, "fog": -0.5, "snow": 0.9}
score = goodness[shop] + np.array([mood[name] for name in weather]) - 0.5 * (price - 3)
bought = rng.uniform(size=n_rows) < 1 / (1 + np.exp(-score))

frame = pd.DataFrame({"weather": weather, "shop": [f"shop {i}" for i in shop], "price": price})
train_rows, test_rows = slice(0, 4500), slice(4500, n_rows)

# %% Sets, or statistics
# "auto": weather is split by sets, shop (few rows for each) becomes the mean label of rows before.
for choice in ("off", "auto"):
    params = {"objective": "binary", "metric": "auc", "cat_target_statistics": choice}
    train_set = gs.Dataset(frame[train_rows], bought[train_rows])
    valid_set = train_set.create_valid(frame[test_rows], bought[test_rows])
    model = gs.train({**params, "learning_rate": 0.05}, train_set, 80, valid_sets=[valid_set])
    auc = model.best_score["valid_0"]["auc"]
    print(f"statistics of shops {choice:<4}   AUC {auc:.3f}")

# %% New categories
# The levels are part of the model: rows of another table need no encoding, and may be new.
new = pd.DataFrame(
    {"weather": ["sun", "hail", None], "shop": ["shop 1", "shop 1", "a new one"], "price": 3.0}
)
print(new.assign(probability=model.predict(new).round(3)).to_string(index=False))
