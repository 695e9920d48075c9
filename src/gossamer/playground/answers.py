"""`Playground`: trains what the page asks for, and tells what the page draws."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.callbacks import record_evaluation
from gossamer.data import Dataset
from gossamer.data.dataset import built_data
from gossamer.errors import ParameterError
from gossamer.model import Booster
from gossamer.params.suggest import did_you_mean
from gossamer.playground.columns import ColumnTable
from gossamer.playground.scenes import EXAMPLES, Scene, make_example
from gossamer.playground.settings import Settings
from gossamer.playground.watch_rows import UsedRows, WatchRows
from gossamer.report.html import clean
from gossamer.report.tree_data import TreeEmbedder
from gossamer.train import train

# Cells of the surface in each direction.
GRID: Final = 80
_KEPT_MODELS: Final = 8


@dataclass(frozen=True, eq=False)
class _Trained:
    """A model, and what was seen while it was trained."""

    scene: Scene
    model: Booster
    curves: dict[str, list[float]]
    metric: str
    rows: dict[int, UsedRows | None]
    bounds: list[list[float]]
    seconds: float


class Playground:
    """Trains what the page asks for, and tells what the page draws.

    Args:
        table: Columns of the user's file; None: there are only the examples.
        axes: The two columns that are drawn at first.
        target: The column that is predicted at first.
        grid: Cells of the surface in each direction.

    Example:
        >>> answer = Playground().answer({"scene": "circles", "rounds": 20, "round": 5})
        >>> answer["round"], answer["rounds"], len(answer["surface"]) == GRID * GRID
        (5, 20, True)
    """

    def __init__(
        self,
        table: ColumnTable | None = None,
        axes: tuple[str, str] | None = None,
        target: str | None = None,
        grid: int = GRID,
    ) -> None:
        self.table = table
        self.columns: tuple[str, str, str] | None = None
        if table is not None:
            target = table.targets[-1] if target is None else target
            x, y = axes or table.choose_axes(target)
            table.make_scene(x, y, target)  # raises before a browser is opened
            self.columns = (x, y, target)
        self._grid = grid
        self._lock = Lock()
        self._trained: dict[tuple[Any, ...], _Trained] = {}

    def answer(self, asked: object) -> dict[str, Any]:
        """Train, or take what was trained before, and return what the page draws.

        Args:
            asked: What `Settings.parse` takes.

        Raises:
            GossamerError: If the settings, or columns of the file, cannot be used.
        """
        settings = Settings.parse(asked)
        with self._lock:
            begin = time.perf_counter()
            key = settings.training_key
            found = self._trained.pop(key, None) or _train(self._scene(settings), settings)
            self._trained[key] = found  # the latest are kept
            if len(self._trained) > _KEPT_MODELS:
                del self._trained[next(iter(self._trained))]
            answer = _describe(found, settings, self._grid)
            answer["milliseconds"] = {
                "training": round(1e3 * found.seconds, 1),
                "answer": round(1e3 * (time.perf_counter() - begin), 1),
            }
            return answer

    def _scene(self, settings: Settings) -> Scene:
        if settings.scene in EXAMPLES:
            return make_example(settings.scene)
        if self.table is not None and settings.scene == "file":
            assert self.columns is not None
            return self.table.make_scene(*(settings.columns or self.columns))
        names = [*EXAMPLES, *(["file"] if self.table is not None else [])]
        raise ParameterError.because(
            "there is no such example",
            got=settings.scene,
            expected=f"one of {', '.join(names)}",
            hint=did_you_mean(settings.scene, names),
        )


def _train(scene: Scene, settings: Settings) -> _Trained:
    is_train = ~scene.held_out
    names = ["column_0", "column_1"]  # the page has the user's names
    train_set = Dataset(scene.values[is_train], scene.label[is_train], feature_name=names)
    valid_set = train_set.create_valid(scene.values[scene.held_out], scene.label[scene.held_out])
    history: dict[str, dict[str, list[float]]] = {}
    watch = WatchRows()
    begin = time.perf_counter()
    model = train(
        settings.params(scene.task),
        train_set,
        int(settings.values["rounds"]),
        valid_sets=[train_set, valid_set],
        valid_names=["training", "held out"],
        callbacks=[record_evaluation(history), watch],
    )
    seconds = time.perf_counter() - begin
    (metric,) = history["training"]
    curves = {name: values[metric] for name, values in history.items()}
    bounds = _bounds(train_set) if settings.values["tree_method"] == "hist" else [[], []]
    return _Trained(scene, model, curves, metric, watch.rows, bounds, seconds)


def _bounds(train_set: Dataset) -> list[list[float]]:
    """Return the bounds between the bins of the two columns."""
    binning = built_data(train_set).table.binning
    found: list[list[float]] = [[], []]
    for feature, column in enumerate(binning.columns.tolist()):
        found[column] = _rounded(binning.upper_of(feature)[:-1])
    return found


def _describe(found: _Trained, settings: Settings, grid: int) -> dict[str, Any]:
    scene, model = found.scene, found.model
    n_rounds = model.current_iteration()
    shown = min(settings.round, n_rounds)
    prediction = model.predict(scene.values, num_iteration=shown)
    embedder = TreeEmbedder(model.model)
    return {
        "scene": {
            "title": clean(scene.title, 120),
            "task": scene.task,
            "names": [clean(name) for name in scene.names],
            "label_names": [clean(name) for name in scene.label_names],
            "extent": scene.extent,
            "label_range": scene.label_range,
            "note": clean(scene.note, 300),
        },
        "settings": dict(settings.values),
        "round": shown,
        "rounds": n_rounds,
        "grid": grid,
        "surface": _rounded(model.predict(grid_points(scene, grid), num_iteration=shown)),
        "points": {
            "x": _rounded(scene.values[:, 0]),
            "y": _rounded(scene.values[:, 1]),
            "label": _rounded(scene.label),
            "held_out": scene.held_out.astype(int).tolist(),
        },
        "prediction": _rounded(prediction),
        "metric": found.metric,
        "curves": {name: _rounded(values) for name, values in found.curves.items()},
        "tree": embedder.embed(shown - 1).facts["nodes"],
        "tree_columns": embedder.columns,  # by the numbers that nodes have
        "bins": found.bounds,
        "rows": _describe_rows(found, shown - 1),
    }


def _describe_rows(found: _Trained, n_round: int) -> dict[str, Any] | None:
    """The rows of a round, numbered as the points are; None: all training rows."""
    rows = found.rows.get(n_round)
    if rows is None:
        return None
    place = np.flatnonzero(~found.scene.held_out)
    return {
        "kept": place[rows.kept].tolist(),
        "drawn": place[rows.drawn].tolist(),
        "weight": round(rows.weight, 4),
    }


def grid_points(scene: Scene, grid: int) -> npt.NDArray[np.float64]:
    """Return the middles of the cells of the surface: row by row, the lowest first.

    Example:
        >>> grid_points(make_example("moons"), 3).shape
        (9, 2)
    """
    middle = (np.arange(grid) + 0.5) / grid
    x, y = (low + middle * (high - low) for low, high in scene.extent)
    return np.column_stack([np.tile(x, grid), np.repeat(y, grid)])


def _rounded(values: Any) -> list[float]:
    """Numbers with five digits: more cannot be seen."""
    return [float(f"{value:.5g}") for value in np.asarray(values, dtype=np.float64).tolist()]
