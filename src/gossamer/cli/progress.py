"""The bar that a terminal shows while a command trains; it needs no other package."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

import click

from gossamer.callbacks import CallbackEnv
from gossamer.callbacks.progress import BestSoFar
from gossamer.errors import escape_controls


@dataclass(eq=False)
class TrainingBar:
    """A callback: rounds, time left, the first metric of the last data set.

    Attributes:
        label: The text in front.
        is_shown: Whether there is a terminal.
    """

    order: ClassVar[int] = 15
    before_iteration: ClassVar[bool] = False

    label: str = "training"
    is_shown: bool = True
    _bar: Any = None
    _best: BestSoFar = field(default_factory=BestSoFar)
    _shown: float = 0.0

    def __call__(self, env: CallbackEnv) -> None:
        """Move on by a round."""
        if not self.is_shown:
            return
        n_done = env.iteration - env.begin_iteration + 1
        n_rounds = env.end_iteration - env.begin_iteration
        text = self._look_at(env)
        if self._bar is None:
            self._bar = click.progressbar(
                length=n_rounds,
                label=self.label,
                file=sys.stderr,
                width=24,
                show_pos=True,
                item_show_func=lambda item: item,
            )
            self._bar.__enter__()
        is_last = n_done >= n_rounds
        now = time.monotonic()
        if is_last or now - self._shown > 0.1:
            self._shown = now
            self._bar.update(n_done - self._bar.pos, text)

    def _look_at(self, env: CallbackEnv) -> str | None:
        """Note the best value so far, and say how it is."""
        results = env.evaluation_result_list
        if not results:
            return None
        last = results[-1].dataset_name
        result = next(result for result in results if result.dataset_name == last)
        best, at = self._best.note(result, env.iteration + 1)
        name = escape_controls(f"{last} {result.metric_name}")
        return f"{name} {result.metric_value:.5g} (best {best:.5g} at {at})"

    def close(self) -> None:
        """End the line."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None
