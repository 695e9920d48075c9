"""What editors and type checkers know about the public names, in a user's script."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gossamer

SCRIPT = """
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import gossamer as gs

Floats = npt.NDArray[np.float64]

x, y = np.zeros((100, 3)), np.zeros(100)
train_set = gs.Dataset(x, y, weight=y, feature_name=["a", "b", "c"])
assert_type(train_set.create_valid(x, y), gs.Dataset)
assert_type(train_set.num_data(), int)
history: dict[str, dict[str, list[float]]] = {}


def objective(score: Floats, data: gs.Dataset) -> tuple[Floats, Floats]:
    return score - data.get_label(), np.ones_like(score)


def metric(score: Floats, data: gs.Dataset) -> tuple[str, float, bool]:
    return "mean", float(np.mean(score)), False


def callback(env: gs.CallbackEnv) -> None:
    assert_type(env.iteration, int)
    assert_type(env.evaluation_result_list, list[gs.EvalResult] | None)


booster = gs.train(
    {"objective": objective, "num_leaves": 7},
    train_set,
    50,
    valid_sets=[train_set],
    feval=[metric],
    callbacks=[callback, gs.early_stopping(5), gs.record_evaluation(history)],
)
assert_type(booster, gs.Booster)
assert_type(booster.predict(x), npt.NDArray[Any])
assert_type(booster.predict(x, raw_score=True), npt.NDArray[Any])
assert_type(booster.feature_importance("gain"), npt.NDArray[Any])
assert_type(booster.best_score, dict[str, dict[str, float]])
assert_type(gs.Booster(model_file=Path("model.gsm")).feature_name(), list[str])
found: dict[str, Any] = gs.cv({}, train_set, nfold=3)
assert_type(gs.__version__, str)

classifier = gs.GossamerClassifier(num_leaves=7, max_bin=15)
assert_type(classifier.fit(x, y, eval_set=[(x, y)]), gs.GossamerClassifier)
assert_type(classifier.set_params(num_leaves=3), gs.GossamerClassifier)
assert_type(classifier.predict_proba(x), npt.NDArray[Any])
assert_type(classifier.score(x, y), float)
assert_type(classifier.booster_, gs.Booster)
assert_type(gs.GossamerRegressor().fit(x, y).predict(x), npt.NDArray[Any])
assert_type(gs.GossamerRanker().fit(x, y, group=[50, 50]).predict(x), npt.NDArray[Any])
"""


def run_mypy(script: str, folder: Path) -> tuple[int, str]:
    """Run mypy as a user does: errors within the package are those of `make lint`."""
    pytest.importorskip("mypy")
    (folder / "script.py").write_text(script)
    options = ["--follow-imports=silent", "--cache-dir=.mypy_cache/script"]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(folder / "script.py")],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout + run.stderr


@pytest.mark.slow
def test_a_strict_script(tmp_path: Path) -> None:
    code, output = run_mypy(SCRIPT, tmp_path)
    assert code == 0, output


def test_the_package_is_typed() -> None:
    assert gossamer.__file__ is not None
    package = Path(gossamer.__file__).parent
    assert (package / "py.typed").exists()
    assert (package / "_native.pyi").exists()
