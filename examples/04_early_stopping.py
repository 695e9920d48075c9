"""Stop when validation gets no better; watch, record and draw the learning curve.

Needs scikit-learn for the data; with matplotlib it draws: pip install "gossamer[sklearn,plot]"
"""

import tempfile
from importlib.util import find_spec
from pathlib import Path

from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import gossamer as gs

# %% Data
x, y = load_diabetes(return_X_y=True, as_frame=True)
x_train, x_valid, y_train, y_valid = train_test_split(x, y, test_size=0.3, random_state=1)

# %% Train until validation gets no better
train_set = gs.Dataset(x_train, y_train)
valid_set = train_set.create_valid(x_valid, y_valid)
history: dict[str, dict[str, list[float]]] = {}
model = gs.train(
    {"metric": ["rmse", "mae"], "learning_rate": 0.03, "num_leaves": 5, "lambda_l2": 1.0},
    train_set,
    num_boost_round=1000,
    valid_sets=[train_set, valid_set],
    valid_names=["train", "valid"],
    callbacks=[
        gs.early_stopping(50, first_metric_only=True),
        gs.log_evaluation(50),
        gs.record_evaluation(history),
    ],
)
# %% What came out
n_rounds = len(history["valid"]["rmse"])
print(f"\nbest round: {model.best_iteration} of {n_rounds}; predict() stops there")
print(f"RMSE on the validation data: {model.best_score['valid']['rmse']:.2f}")

# %% The learning curve
if find_spec("matplotlib"):
    from matplotlib.figure import Figure

    ax = gs.plot_metric(history, metric="rmse", ax=Figure().add_subplot())
    path = Path(tempfile.gettempdir(), "gossamer_learning_curve.png")
    ax.figure.savefig(path)
    print(f"learning curve: {path}")
