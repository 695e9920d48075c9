"""Progress bars: one that is asked for, and one that shows itself where people wait."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Final

from gossamer.callbacks.env import CallbackEnv
from gossamer.callbacks.log import LogEvaluation
from gossamer.errors import escape_controls
from gossamer.metrics import EvalResult


@dataclass
class BestSoFar:
    """The best value of a metric so far, and the round that reached it.

    Example:
        >>> best = BestSoFar()
        >>> best.note(EvalResult("valid", "auc", 0.9, True), 1)
        (0.9, 1)
        >>> best.note(EvalResult("valid", "auc", 0.8, True), 2)
        (0.9, 1)
    """

    value: float | None = None
    round: int = 0

    def note(self, result: EvalResult, round: int) -> tuple[float, int]:
        """Look at the result of a round; return the best value so far, and its round."""
        sign = -1 if result.maximize else 1
        value = result.metric_value
        if self.value is None or sign * value < sign * self.value:
            self.value, self.round = value, round
        return self.value, self.round


@dataclass(eq=False)
class _ProgressBar:
    order: ClassVar[int] = 15
    before_iteration: ClassVar[bool] = False

    show_metrics: bool
    options: dict[str, Any]
    _bar: Any = None

    def __call__(self, env: CallbackEnv) -> None:
        n_done = env.iteration - env.begin_iteration
        if n_done == 0 or self._bar is None:  # later where training resumes from a checkpoint
            self.close()
            n_rounds = env.end_iteration - env.begin_iteration
            self._bar = _import_tqdm()(total=n_rounds, initial=n_done, **self.options)
        if self.show_metrics and env.evaluation_result_list:
            metrics = {
                escape_controls(f"{each.dataset_name} {each.metric_name}"): f"{each.metric_value:g}"
                for each in env.evaluation_result_list
            }
            self._bar.set_postfix(metrics, refresh=False)
        self._bar.update(1)
        if env.iteration == env.end_iteration - 1:
            self.close()

    def close(self) -> None:
        """Finish the bar; done by itself after the last round, and before the next training."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def progress_bar(
    desc: str = "boosting", show_metrics: bool = True, **tqdm_options: Any
) -> _ProgressBar:
    """Show a progress bar with the latest metrics, in a terminal or in a notebook.

    This needs tqdm: `pip install "gossamer[progress]"`.

    Args:
        desc: Text in front of the bar.
        show_metrics: Whether to show the metrics after the bar.
        **tqdm_options: Passed on to `tqdm`, for example `leave=False`.

    Example:
        >>> from gossamer.callbacks import CallbackEnv
        >>> bar = progress_bar(disable=True)  # drop disable=True to see it
        >>> for i in range(3):
        ...     bar(CallbackEnv(None, {}, i, 0, 3, None))
    """
    _import_tqdm()  # to fail now rather than in the first round
    return _ProgressBar(show_metrics, {"desc": desc, "unit": "round", **tqdm_options})


# A training that takes less than this needs no bar; nor does the rest of one.
_A_MOMENT: Final = 2.0


@dataclass(eq=False)
class _AutomaticBar:
    """Shows a bar once training has taken a moment, and will take another."""

    order: ClassVar[int] = 15
    before_iteration: ClassVar[bool] = False

    unit: str = "round"
    _begin: float = field(default_factory=time.monotonic)
    _bar: Any = None
    _best: BestSoFar = field(default_factory=BestSoFar)

    def __call__(self, env: CallbackEnv) -> None:
        n_done = env.iteration - env.begin_iteration + 1
        n_rounds = env.end_iteration - env.begin_iteration
        text = self._look_at(env)
        if self._bar is None:
            passed = time.monotonic() - self._begin
            if passed < _A_MOMENT or passed / n_done * (n_rounds - n_done) < _A_MOMENT:
                return
            self._bar = _import_tqdm()(total=n_rounds, initial=n_done, unit=self.unit, leave=False)
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(n_done - self._bar.n)

    def _look_at(self, env: CallbackEnv) -> str:
        """Note the best value of the metric that early stopping would look at; say how it is."""
        results = env.evaluation_result_list
        if not results:
            return ""
        result = results[-1]
        best, at = self._best.note(result, env.iteration + 1)
        name = escape_controls(f"{result.dataset_name} {result.metric_name}")
        return f"{name} {result.metric_value:.5g}, best {best:.5g} at {at}"

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def automatic_progress(
    callbacks: Sequence[object], verbosity: int, unit: str = "round"
) -> list[Any]:
    """Return a bar that shows itself when a training takes a while; nothing otherwise.

    There is none where standard error is neither a terminal nor a notebook, with `verbosity` below
    0, with a bar of the user's own, and where metrics are printed.

    Args:
        callbacks: The callbacks of the training.
        verbosity: The parameter.
        unit: What is counted.

    Example:
        >>> automatic_progress([], verbosity=-1)
        []
    """
    if verbosity < 0 or not _is_watched() or find_spec("tqdm") is None:
        return []
    if any(isinstance(callback, (_ProgressBar, LogEvaluation)) for callback in callbacks):
        return []
    return [_AutomaticBar(unit)]


def _is_watched() -> bool:
    """Whether standard error is a terminal, or this is a notebook."""
    if "ipykernel" in sys.modules:
        return True
    stream = sys.stderr
    return stream is not None and hasattr(stream, "isatty") and stream.isatty()


def _import_tqdm() -> Any:
    try:
        return import_module("tqdm.auto").tqdm
    except ImportError as error:
        raise ImportError('progress_bar needs tqdm: pip install "gossamer[progress]"') from error
