"""What you know about the world: directions that predictions must keep."""

import numpy as np

import gossamer as gs

# %% Few and noisy rows
rng = np.random.default_rng(0)
size, age, noise = rng.uniform(20, 150, 400), rng.uniform(0, 100, 400), rng.normal(size=400)
x = np.column_stack([size, age, noise])
y = 3 * size - age + 60 * rng.normal(size=400)
x_new = np.column_stack(
    [rng.uniform(20, 150, 4000), rng.uniform(0, 100, 4000), rng.normal(size=4000)]
)
y_new = 3 * x_new[:, 0] - x_new[:, 1]


def steps_down(model: gs.Booster, column: int) -> int:
    """Count where a prediction falls as the column rises, over a grid and 50 rows."""
    grid = np.linspace(x[:, column].min(), x[:, column].max(), 60)
    rows = np.repeat(x_new[:50], 60, axis=0)
    rows[:, column] = np.tile(grid, 50)
    return int((np.diff(model.predict(rows).reshape(50, 60), axis=1) < 0).sum())


# %% With and without
names = ["size", "age", "noise"]
for title, constraints in (("free", {}), ("size up, age down", {"size": 1, "age": -1})):
    params = {"monotone_constraints": constraints, "num_leaves": 15, "verbose": -1}
    if not constraints:
        del params["monotone_constraints"]
    model = gs.train(params, gs.Dataset(x, y, feature_name=names), 60)
    rmse = np.sqrt(np.mean((model.predict(x_new) - y_new) ** 2))
    print(f"{title:<18} RMSE {rmse:5.1f}   price falls with size {steps_down(model, 0)} times")

# %% Columns that must not act together
params = {"interaction_constraints": [["size"], ["age", "noise"]], "verbose": -1}
model = gs.train(params, gs.Dataset(x, y, feature_name=names), 60)
pairs = np.abs(model.shap_interactions(x_new[:100])).mean(axis=0)
print(f"size with age: {pairs[0, 1]:.3g}, age with noise: {pairs[1, 2]:.3g}")
