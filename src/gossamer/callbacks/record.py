"""Keep the metrics of every round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gossamer.callbacks.env import CallbackEnv
from gossamer.errors import ParameterTypeError

EvalHistory = dict[str, dict[str, list[float]]]


@dataclass(eq=False)
class _RecordEvaluation:
    order: ClassVar[int] = 20
    before_iteration: ClassVar[bool] = False

    eval_result: EvalHistory

    def __call__(self, env: CallbackEnv) -> None:
        if env.iteration == env.begin_iteration:
            self.eval_result.clear()
        for result in env.evaluation_result_list or []:
            history = self.eval_result.setdefault(result.dataset_name, {})
            if result.metric_std_dev is None:
                history.setdefault(result.metric_name, []).append(result.metric_value)
            else:
                history.setdefault(f"{result.metric_name}-mean", []).append(result.metric_value)
                history.setdefault(f"{result.metric_name}-stdv", []).append(result.metric_std_dev)

    def get_state(self) -> EvalHistory:
        """Return the metrics so far, for a checkpoint."""
        return self.eval_result

    def set_state(self, state: EvalHistory) -> None:
        """Resume from a checkpoint."""
        self.eval_result.clear()
        self.eval_result.update(state)


def record_evaluation(eval_result: EvalHistory) -> _RecordEvaluation:
    """Store the metrics of every round in a dictionary.

    Args:
        eval_result: Filled with data set -> metric -> values, one per round. In `cv()`, the metrics
            are named `metric-mean` and `metric-stdv`. Previous content is deleted.

    Example:
        >>> from gossamer.callbacks import CallbackEnv, EvalResult
        >>> history = {}
        >>> record = record_evaluation(history)
        >>> record(CallbackEnv(None, {}, 0, 0, 10, [EvalResult("valid", "l2", 0.25, False)]))
        >>> history
        {'valid': {'l2': [0.25]}}
    """
    if not isinstance(eval_result, dict):
        raise ParameterTypeError.because(
            "record_evaluation cannot fill eval_result",
            got=eval_result,
            expected="a dictionary",
            hint="Make an empty one first: history = {}; record_evaluation(history).",
        )
    return _RecordEvaluation(eval_result)
