"""A progress bar."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from gossamer.callbacks.env import CallbackEnv


@dataclass(eq=False)
class _ProgressBar:
    order: ClassVar[int] = 15
    before_iteration: ClassVar[bool] = False

    show_metrics: bool
    options: dict[str, Any]
    _bar: Any = None

    def __call__(self, env: CallbackEnv) -> None:
        n_done = env.iteration - env.begin_iteration
        if n_done == 0 or self._bar is None:  # later where training goes on from a checkpoint
            self.close()
            n_rounds = env.end_iteration - env.begin_iteration
            self._bar = _import_tqdm()(total=n_rounds, initial=n_done, **self.options)
        if self.show_metrics and env.evaluation_result_list:
            metrics = {
                f"{result.dataset_name} {result.metric_name}": f"{result.metric_value:g}"
                for result in env.evaluation_result_list
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

    It needs tqdm: `pip install "gossamer[progress]"`.

    Args:
        desc: What to write in front of the bar.
        show_metrics: Whether to write the metrics behind it.
        **tqdm_options: Passed on to `tqdm`, for instance `leave=False`.

    Example:
        >>> from gossamer.callbacks import CallbackEnv
        >>> bar = progress_bar(disable=True)  # drop disable=True to see it
        >>> for i in range(3):
        ...     bar(CallbackEnv(None, {}, i, 0, 3, None))
    """
    _import_tqdm()  # to fail now rather than in the first round
    return _ProgressBar(show_metrics, {"desc": desc, "unit": "round", **tqdm_options})


def _import_tqdm() -> Any:
    try:
        return import_module("tqdm.auto").tqdm
    except ImportError as error:
        raise ImportError('progress_bar needs tqdm: pip install "gossamer[progress]"') from error
