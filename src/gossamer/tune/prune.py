"""Give up a trial that does not look promising."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from gossamer.callbacks import CallbackEnv, EvalResult
from gossamer.errors import ParameterError, import_needed


def import_optuna() -> Any:
    """Return Optuna.

    Raises:
        ImportError: If it is not installed.
    """
    return import_needed("optuna", "gossamer.tune", "tune")


@dataclass(eq=False)
class PruningCallback:
    """Report metrics to a trial of Optuna, and end training if Optuna prunes the trial.

    It works in `train()` and `cv()`, and raises `optuna.TrialPruned`.

    Args:
        trial: The trial.
        metric: Name of the metric to report; None means the first.
        dataset: Name of the data set; None means the last one (in `cv()`, "valid").
        every: Number of rounds between two reports.

    Example:
        >>> import gossamer as gs
        >>> class Trial:  # in earnest, what Optuna hands to your objective
        ...     reports = []
        ...     def report(self, value, step): self.reports.append((step, round(value, 3)))
        ...     def should_prune(self): return False
        >>> data = gs.Dataset([[i] for i in range(100)], [i % 2 for i in range(100)])
        >>> watch = PruningCallback(Trial())
        >>> model = gs.train({"verbose": -1}, data, 3, [data], callbacks=[watch])
        >>> len(Trial.reports)
        3
    """

    order: ClassVar[int] = 40  # after early stopping has seen the round
    before_iteration: ClassVar[bool] = False

    trial: Any
    metric: str | None = None
    dataset: str | None = None
    every: int = 1

    def __call__(self, env: CallbackEnv) -> None:
        """Report a round."""
        results = env.evaluation_result_list
        step = env.iteration - env.begin_iteration
        if not results or step % self.every:
            return
        result = find_result(results, self.metric, self.dataset)
        self.trial.report(result.metric_value, step)
        if self.trial.should_prune():
            raise import_optuna().TrialPruned(f"given up after {step + 1} rounds")


def find_result(results: list[EvalResult], metric: str | None, dataset: str | None) -> EvalResult:
    """Return the result that a search looks at.

    Raises:
        ParameterError: If there is none.

    Example:
        >>> found = [EvalResult("train", "l2", 1.0, False), EvalResult("valid", "l2", 2.0, False)]
        >>> find_result(found, None, None).metric_value
        2.0
    """
    data = results[-1].dataset_name if dataset is None else dataset
    for result in results:
        if result.dataset_name == data and metric in (None, result.metric_name):
            return result
    known = ", ".join(f"{result.dataset_name} {result.metric_name}" for result in results)
    raise ParameterError.because(
        "there is no such metric to watch",
        found=f"{data} {metric or '(any)'}",
        expected=f"one of {known}",
    )
