"""`ScoredSet`: data of a training with the raw scores of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from gossamer.cuda.scores import DeviceScores
from gossamer.data import Dataset, Targets
from gossamer.data.built import BuiltData
from gossamer.data.storage.binned import BinnedTable
from gossamer.data.storage.row_files import RowFiles, blocks
from gossamer.data.table.matrix import Values
from gossamer.errors import DataError
from gossamer.metrics import CustomMetric, EvalResult, Metric, evaluate_custom
from gossamer.objectives import Objective
from gossamer.params import Params
from gossamer.params.check_method import keeps_raw_values, splits_by_value


@dataclass(frozen=True, eq=False)
class ScoredSet:
    """Data with the current raw scores of its rows (class-major).

    Attributes:
        name: What results call it.
        data: The data as it was built when it came into the training.
        given: The user's data set, which functions of the user are called with.
        host_score: The scores as the host knows them; see `score`.
        n_threads: Threads for these rows.
        base: Scores before the first tree: init_score, or predictions of the model that training
            continues from; None: zeros.
        raw: The user's values, where leaves are linear or splits are found by value.
        derived: The table with derived columns.
        on_device: The scores on a GPU.
        files: Where the scores are; None: in memory.
    """

    name: str
    data: BuiltData
    given: Dataset
    host_score: npt.NDArray[np.float64]
    n_threads: int
    base: npt.NDArray[np.float64] | None = None
    raw: Values | None = None
    derived: BinnedTable | None = None
    on_device: DeviceScores = field(default_factory=DeviceScores)
    files: RowFiles | None = None

    def to_files(self, files: RowFiles) -> ScoredSet:
        """Return the same with scores in a file."""
        moved = files.zeros(len(self.host_score), np.float64)
        for part in blocks(len(moved)):
            moved[part] = self.host_score[part]
        return replace(self, host_score=moved, files=files)

    @property
    def score(self) -> npt.NDArray[np.float64]:
        """The scores; they may be changed.

        Raises:
            NotSupportedError: If they are in files of another process.
        """
        if self.files is not None:
            self.files.check_process()
        self.on_device.to_host(self.host_score, changes=True)
        return self.host_score

    def check_contents(self) -> None:
        """Raise where scores or gradients were in files that the disk lost.

        Raises:
            OSError: If so.
        """
        if self.files is not None:
            self.files.check_contents()

    def read_score(self) -> npt.NDArray[np.float64]:
        """Return the scores, which must not be changed."""
        self.on_device.to_host(self.host_score, changes=False)
        return self.host_score

    @property
    def targets(self) -> Targets:
        """Labels and weights."""
        return self.data.targets

    @property
    def table(self) -> BinnedTable:
        """The binned columns, derived ones included."""
        return self.data.table if self.derived is None else self.derived

    def output(self, k: int) -> npt.NDArray[np.float64]:
        """Scores of one output."""
        n_rows = self.data.n_rows
        return self.score[k * n_rows : (k + 1) * n_rows]


def make_scored(
    params: Params,
    data: BuiltData,
    given: Dataset,
    name: str,
    n_outputs: int,
    n_threads: int,
    base: npt.NDArray[np.float64] | None = None,
) -> ScoredSet:
    """Make the scores of data before the first tree, and find its raw values where needed.

    Args:
        params: Checked parameters.
        data: The data.
        given: The user's data set.
        name: What results call it.
        n_outputs: Scores per row.
        n_threads: Threads for these rows.
        base: Scores of a model that training continues from; None: the data's own, if any.

    Raises:
        DataError: If raw values are needed and released, or init_score does not fit.
    """
    score, raw = np.zeros(data.n_rows * n_outputs), None
    if keeps_raw_values(params):
        method = f"tree_method={params.tree_method}"
        raw = data.raw.get(method if splits_by_value(params) else "linear_tree")
    if base is None:
        base = own_scores(name, data, n_outputs)
    if base is not None:
        score[:] = base
    return ScoredSet(name, data, given, score, n_threads, base, raw)


def own_scores(name: str, data: BuiltData, n_outputs: int) -> npt.NDArray[np.float64] | None:
    """Return the scores that rows have by themselves, one output after the other.

    Raises:
        DataError: If they are not as many as the outputs.
    """
    found = data.rows.first_scores
    if found is not None and len(found) != data.n_rows * n_outputs:
        raise DataError.because(
            f"init_score of the data set {name!r} does not fit the objective",
            found=f"{len(found)} numbers",
            expected=f"{data.n_rows} rows x {n_outputs} outputs",
        )
    return found


def evaluate_scores(
    metrics: Sequence[Metric],
    objective: Objective,
    scored: ScoredSet,
    name: str,
    score: npt.NDArray[np.float64],
    targets: Targets,
    feval: CustomMetric | Sequence[CustomMetric] | None,
) -> list[EvalResult]:
    """Evaluate metrics, and the user's own metrics, on scores of one data set."""
    results = [
        EvalResult(
            name,
            metric.name,
            metric.evaluate(score, targets, objective, scored.n_threads),
            metric.maximize,
        )
        for metric in metrics
    ]
    if feval is not None:
        predictions = objective.to_predictions(score.copy(), scored.n_threads)
        results += evaluate_custom(feval, predictions, scored.given, name)
    scored.check_contents()
    return results
