"""How many rounds (cv), going on after a crash (checkpoint), and going on from a model."""

import tempfile
from pathlib import Path

import numpy as np

import gossamer as gs

# %% Data
rng = np.random.default_rng(0)
x = rng.normal(size=(2000, 8))
y = x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * rng.normal(size=2000)
params = {"metric": "rmse", "learning_rate": 0.1, "num_leaves": 15}

# %% Cross-validation
# The folds go through the rounds together, and stop where their mean is best.
result = gs.cv(params, gs.Dataset(x, y), 500, callbacks=[gs.early_stopping(20, verbose=False)])
rmse = result["valid rmse-mean"]
n_rounds = len(rmse)
print(
    f"cv: best after {n_rounds} rounds, RMSE {rmse[-1]:.3f} ± {result['valid rmse-stdv'][-1]:.3f}"
)


# %% A checkpoint
# A checkpoint: run the same lines again, and training resumes from the file.
class Crash(Exception):
    """What ends the first run."""


def crash(env: gs.CallbackEnv) -> None:
    """Fail half-way, once."""
    if env.iteration == n_rounds // 2 and not crashed:
        crashed.append(env.iteration)
        raise Crash


crashed: list[int] = []
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "run.checkpoint")
    for attempt in ("first", "second"):
        try:
            model = gs.train(
                params,
                gs.Dataset(x, y),
                n_rounds,
                callbacks=[gs.checkpoint(path, every_rounds=10), crash],
            )
        except Crash:
            print(f"{attempt} run: ended in round {crashed[0] + 1}")
        else:
            print(f"{attempt} run: all {model.current_iteration()} rounds")
straight = gs.train(params, gs.Dataset(x, y), n_rounds)
print("same model as without the crash:", model.model_to_string() == straight.model_to_string())

# Ctrl-C would have returned the rounds so far: `model.was_interrupted` tells, and the lines behind
# `train` still run. A second Ctrl-C raises KeyboardInterrupt.
assert not model.was_interrupted

# %% New data
# New data: more trees behind the old ones, or the same trees with other leaf values.
x_new = rng.normal(size=(500, 8))
y_new = x_new[:, 0] + x_new[:, 1] * x_new[:, 2] + 1
more = gs.train(params, gs.Dataset(x_new[:250], y_new[:250]), 30, init_model=model)
moved = model.refit(x_new[:250], y_new[:250], decay_rate=0.5)
for name, which in (("as it was", model), ("30 more rounds", more), ("refitted", moved)):
    error = np.sqrt(np.mean((which.predict(x_new[250:]) - y_new[250:]) ** 2))
    print(f"on new data, {name:<15} RMSE {error:.3f}")
