"""Why is this prediction what it is, and what does the model depend on?

With matplotlib it draws: pip install "gossamer[plot]"
"""

import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import gossamer as gs

# %% A model
rng = np.random.default_rng(0)
names = ["size", "age", "floor", "door"]
x = np.column_stack(
    [rng.gamma(8, 10, 2000), rng.integers(0, 100, 2000), *rng.integers(0, 9, (2, 2000))]
)
y = 3 * x[:, 0] + (x[:, 2] - 4) * x[:, 1] + rng.normal(0, 20, 2000)
data = gs.Dataset(x[:1500], y[:1500], feature_name=names)
model = gs.train({"verbose": -1}, data, 150)
x_test, y_test = x[1500:], y[1500:]

# %% One prediction, column by column
values = model.shap_values(x_test[:1])[0]
print(f"expected value:  {values[-1]:7.1f}")
for name, number, value in zip(names, x_test[0], values, strict=False):
    print(f"  {name:<6} = {number:5.0f}  {value:+8.1f}")
print(f"prediction:      {model.predict(x_test[:1])[0]:7.1f}")

# %% What good predictions need
found = model.permutation_importance(x_test, y_test, metric="l1", n_repeats=3)
print("\nmean error grows, with the column shuffled, by")
for name, mean in zip(found.names, found.mean, strict=True):
    print(f"  {name:<6} {mean:6.1f}")

# %% Which columns act together
pairs = np.abs(model.shap_interactions(x_test[:100])).mean(axis=0)[:4, :4]
np.fill_diagonal(pairs, 0)
first, second = np.unravel_index(pairs.argmax(), pairs.shape)
print(f"\nstrongest pair: {names[first]} and {names[second]}")

# %% Pictures
if find_spec("matplotlib"):
    from matplotlib.figure import Figure

    folder = Path(tempfile.gettempdir())
    ax = gs.plot_partial_dependence(model, x_test, "age", kind="both", ax=Figure().add_subplot())
    ax.figure.savefig(folder / "gossamer_age.svg")
    ax = gs.plot_tree(model, tree_index=0, max_depth=3, ax=Figure(figsize=(12, 6)).add_subplot())
    ax.figure.savefig(folder / "gossamer_tree.svg")
    print(f"\npictures: {folder / 'gossamer_age.svg'}, {folder / 'gossamer_tree.svg'}")
