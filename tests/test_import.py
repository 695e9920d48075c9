"""`import gossamer` is quick: what is heavy or optional is imported when it is first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gossamer

PACKAGES = """
scipy sklearn pandas polars pyarrow narwhals matplotlib graphviz tqdm optuna click rich lightgbm
xgboost shap joblib
"""
# Parts of the standard library and of NumPy that take their time.
SLOW = """
importlib.metadata email socket subprocess hashlib _hashlib multiprocessing asyncio http unittest
xml numpy.random
"""


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_heavy_is_imported() -> None:
    found = run("import sys, gossamer; print(*sys.modules)").split()
    assert "numpy" in found
    assert [name for name in (PACKAGES + SLOW).split() if name in found] == []


def test_training_on_an_array_imports_little() -> None:
    """What a server that only predicts has to load."""
    script = """
import sys
import numpy, gossamer
x = numpy.arange(100.0).reshape(-1, 1)
model = gossamer.train({"verbose": -1}, gossamer.Dataset(x, x[:, 0]), 2)
model.predict(x)
print(*sys.modules)
"""
    found = run(script).split()
    assert [name for name in PACKAGES.split() if name in found] == []


def test_every_name_is_there() -> None:
    for name in gossamer.__all__:
        assert getattr(gossamer, name) is not None, name
        assert name in dir(gossamer), name


@pytest.mark.parametrize("name", ["plot", "sklearn", "compat", "tune"])
def test_modules_need_no_import_of_their_own(name: str) -> None:
    assert run(f"import gossamer; print(gossamer.{name}.__name__)") == f"gossamer.{name}\n"
    assert name in dir(gossamer)


def test_other_names_are_not() -> None:
    for name in ("plot_nothing", "GossamerClasifier", "train_"):
        with pytest.raises(AttributeError, match=f"module 'gossamer' has no attribute '{name}'"):
            getattr(gossamer, name)


def test_star() -> None:
    assert run("from gossamer import *; print(plot_tree.__name__, train.__name__)") == (
        "plot_tree train\n"
    )


def test_exit_is_quiet_while_models_are_held() -> None:
    """A daemon thread keeps its model until the process ends: not a leak to warn about."""
    script = """
import threading, time, sys
import numpy, gossamer
x = numpy.arange(100.0).reshape(-1, 1)
model = gossamer.train({"verbose": -1}, gossamer.Dataset(x, x[:, 0]), 2)
def serve(model=model, predict_row=model.predictor()):
    while True:
        predict_row(x[0])
        time.sleep(0.001)
threading.Thread(target=serve, daemon=True).start()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
