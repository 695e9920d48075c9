"""Objectives that are registered here alone work everywhere, or are refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner

import gossamer as gs
from gossamer import _native
from gossamer.cli.commands import cli
from gossamer.data import Targets
from gossamer.objectives import Gradients, Objective
from gossamer.objectives.pointwise import apply_link
from gossamer.objectives.registry import register, unregister
from gossamer.params import Params
from gossamer.params.traits import Kind, Traits

ROWS = np.random.default_rng(3).normal(size=(300, 4))
SIGNAL = ROWS[:, 0] + (ROWS[:, 1] > 0)
SETTINGS = {"verbosity": -1, "num_leaves": 7, "num_threads": 1}


@dataclass(frozen=True)
class Counts(Objective):
    """Counts, with a link that every format has."""

    name: ClassVar[str] = "toy_counts"
    traits: ClassVar[Traits] = Traits(
        Kind.REGRESSION, "exp", aliases=("toys",), lightgbm="poisson", xgboost="count:poisson"
    )
    default_metric: ClassVar[str | None] = "rmse"

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Counts:
        return cls()

    def start_scores(self, targets: Targets) -> list[float]:
        return [float(np.log(targets.average(targets.label)))]

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        assert out.hessian is not None
        rate = np.exp(score)
        out.gradient[:] = rate - targets.label
        out.hessian[:] = rate

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        return apply_link(_native.Link.EXP, score, n_threads)


@dataclass(frozen=True)
class Cubes(Objective):
    """Two classes, with a link that no format has, and without probabilities."""

    name: ClassVar[str] = "toy_cubes"
    traits: ClassVar[Traits] = Traits(Kind.BINARY, "cube")
    default_metric: ClassVar[str | None] = "binary_error"

    @classmethod
    def from_params(cls, params: Params, targets: Targets) -> Cubes:
        return cls()

    def start_scores(self, targets: Targets) -> list[float]:
        return [0.0]

    def fill_gradients(
        self, score: npt.NDArray[np.float64], targets: Targets, out: Gradients, n_threads: int
    ) -> None:
        assert out.hessian is not None
        out.gradient[:] = score - np.where(targets.label > 0, 1, -1)
        out.hessian[:] = 1

    def to_predictions(self, score: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[Any]:
        return score**3


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register(Counts)
    register(Cubes)
    yield
    unregister(Counts)
    unregister(Cubes)


def _labels(name: str) -> npt.NDArray[Any]:
    counts = np.random.default_rng(4).poisson(np.exp(0.5 * SIGNAL))
    return counts if name in ("toys", Counts.name) else (SIGNAL > 0.5).astype(int)


def _fit(name: str) -> gs.Booster:
    data = gs.Dataset(ROWS, _labels(name))
    return gs.train({**SETTINGS, "objective": name}, data, 10, valid_sets=[data])


def _save(format: str, model: gs.Booster, folder: Path) -> None:
    model.save_model(folder / "model", format=format)


@pytest.mark.parametrize("name", ["toys", "toy_cubes"])
def test_train_predict_and_files(name: str, tmp_path: Path) -> None:
    model = _fit(name)
    predicted: Any = model.predict(ROWS)
    scores: Any = model.predict(ROWS, raw_score=True)
    np.testing.assert_allclose(predicted, np.exp(scores) if name == "toys" else scores**3)
    assert np.corrcoef(predicted, SIGNAL)[0, 1] > 0.5
    model.save_model(tmp_path / "model.gsm")
    again = gs.Booster(model_file=tmp_path / "model.gsm")
    np.testing.assert_array_equal(again.predict(ROWS), predicted)
    assert again.predictor()(ROWS[0]) == pytest.approx(predicted[0], rel=1e-15)
    assert gs.cv({**SETTINGS, "objective": name}, gs.Dataset(ROWS, _labels(name)), 3)
    with pytest.raises(gs.ParameterError, match="num_class does not fit objective=toy_c"):
        gs.train({**SETTINGS, "objective": name, "num_class": 3}, gs.Dataset(ROWS, _labels(name)))


def test_estimators() -> None:
    counts = _labels("toys")
    regressor = gs.GossamerRegressor(objective="toys", n_estimators=10, **SETTINGS)
    assert regressor.fit(ROWS, counts).predict(ROWS).min() > 0
    with pytest.raises(gs.ParameterError, match="not one for classes"):
        gs.GossamerClassifier(objective="toys", **SETTINGS).fit(ROWS, counts > 1)
    words = np.where(SIGNAL > 0.5, "high", "low")
    classifier = gs.GossamerClassifier(objective="toy_cubes", n_estimators=20, **SETTINGS)
    assert classifier.fit(ROWS, words).score(ROWS, words) > 0.9
    with pytest.raises(gs.NotSupportedError, match="toy_cubes has no probabilities"):
        classifier.predict_proba(ROWS)


@pytest.mark.parametrize("name", ["toys", "toy_cubes"])
def test_command_line_and_report(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    table = np.column_stack([ROWS, _labels(name)])
    head = "a,b,c,d,y"
    np.savetxt(tmp_path / "rows.csv", table, delimiter=",", header=head, comments="")
    rows, model = str(tmp_path / "rows.csv"), str(tmp_path / "model.gsm")
    for words in (
        ["train", rows, "-t", "y", "--objective", name, "-n", "5", "-o", model],
        ["predict", model, rows, "-o", str(tmp_path / "out.csv")],
        ["describe", model],
        ["report", model, rows, "-t", "y", "-o", str(tmp_path / "page.html")],
    ):
        result = CliRunner().invoke(cli, words, prog_name="gossamer")
        assert result.exit_code == 0, result.output
    page = (tmp_path / "page.html").read_text()
    assert ("ROC" if name == "toy_cubes" else "Residuals") in page
    assert "toy_c" in page


@pytest.mark.parametrize("format", ["lightgbm", "xgboost", "c", "onnx", "treelite"])
def test_exporters_know_the_link_or_refuse_by_name(format: str, tmp_path: Path) -> None:
    if format in ("onnx", "treelite"):
        pytest.importorskip(format)
    _save(format, _fit("toys"), tmp_path)
    assert (tmp_path / "model").stat().st_size > 0
    with pytest.raises(gs.NotSupportedError, match="toy_cubes"):
        _save(format, _fit("toy_cubes"), tmp_path)


def test_other_libraries_read_what_is_written(tmp_path: Path) -> None:
    model = _fit("toys")
    for format in ("lightgbm", "xgboost"):
        _save(format, model, tmp_path)
        again = gs.Booster(model_file=tmp_path / "model")
        np.testing.assert_allclose(again.predict(ROWS), model.predict(ROWS), rtol=1e-5)


def test_shap_and_dumps() -> None:
    model = _fit("toys")
    assert model.to_shap()["objective"] is None
    assert model.dump_model()["objective"] == "toy_counts"
