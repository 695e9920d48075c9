"""Show the metrics while training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from gossamer.callbacks.env import CallbackEnv
from gossamer.logger import show
from gossamer.metrics.eval_result import format_results
from gossamer.params import Params


@dataclass(eq=False)
class LogEvaluation:
    """What `log_evaluation` returns."""

    order: ClassVar[int] = 10
    before_iteration: ClassVar[bool] = False

    period: int
    show_stdv: bool

    def __call__(self, env: CallbackEnv) -> None:
        """Show the metrics of a round."""
        results = env.evaluation_result_list
        if results and self.period > 0 and (env.iteration + 1) % self.period == 0:
            show(f"[{env.iteration + 1}]\t{format_results(results, self.show_stdv)}")


def log_evaluation(period: int = 1, show_stdv: bool = True) -> LogEvaluation:
    """Show the metrics every `period` rounds.

    They are printed, or logged if `register_logger` or `logging` is set up to receive them.

    Args:
        period: Number of rounds between two lines; 0 or less shows nothing.
        show_stdv: Whether to show the standard deviation over the folds in `cv()`.

    Example:
        >>> from gossamer.callbacks import CallbackEnv, EvalResult
        >>> results = [EvalResult("valid", "l2", 0.25, False)]
        >>> env = CallbackEnv(None, {}, 0, 0, 10, results)
        >>> log_evaluation()(env)  # doctest: +NORMALIZE_WHITESPACE
        [1] valid's l2: 0.25
    """
    return LogEvaluation(period, show_stdv)


def prints_metrics(params: Params) -> bool:
    """Whether the user asked for output: `verbose=1`, or more, was passed.

    Example:
        >>> from gossamer.params import resolve
        >>> prints_metrics(resolve({})), prints_metrics(resolve({"verbose": 1}))
        (False, True)
    """
    return "verbosity" in params.given and params.verbosity >= 1


def automatic_log(callbacks: Sequence[object], params: Params) -> list[LogEvaluation]:
    """Return what prints the metrics of every round, if `verbose=1` was passed.

    Example:
        >>> from gossamer.params import resolve
        >>> len(automatic_log([], resolve({"verbose": 1})))
        1
    """
    if not prints_metrics(params) or any(isinstance(c, LogEvaluation) for c in callbacks):
        return []
    return [log_evaluation()]
