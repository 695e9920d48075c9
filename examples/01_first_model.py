"""Train a model, look at it, save it, load it.

Needs scikit-learn for the data: pip install "gossamer[sklearn]"
"""

import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import gossamer as gs

# %% Data
data = load_breast_cancer()
x_train, x_test, y_train, y_test = train_test_split(data.data, data.target, random_state=0)

# %% Train
# A data set is put into bins once; any number of models can be trained on it.
train_set = gs.Dataset(x_train, y_train, feature_name=list(data.feature_names))
model = gs.train({"objective": "binary", "learning_rate": 0.1}, train_set, num_boost_round=100)

# %% Predict new rows
probability = model.predict(x_test)
print(f"accuracy on {len(y_test)} new rows: {((probability > 0.5) == y_test).mean():.3f}")

# %% What matters
print("\nwhat matters most:")
gains = zip(model.feature_importance("gain"), model.feature_name(), strict=True)
for gain, name in sorted(gains, reverse=True)[:5]:
    print(f"  {name:<22}{gain:8.1f}")

# %% Save and load
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "model.gsm")
    model.save_model(path)
    again = gs.Booster(model_file=path)
    print(f"\nsaved {path.stat().st_size:,} bytes", end="; ")
    print(f"the same predictions after loading: {(again.predict(x_test) == probability).all()}")
