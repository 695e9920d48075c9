"""Rounds of a training on a cluster, as the client sees them."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Final, cast

from distributed import Client, default_client, get_worker

from gossamer.callbacks import CallbackEnv, EvalResult, progress_bar

_LATE: Final = 1.0  # seconds that the last messages may take

Progress = Callable[[CallbackEnv], Any]


@dataclass(frozen=True)
class ReportRounds:
    """A callback of the first worker: tells the client about each round."""

    order: ClassVar[int] = 15  # before those that may stop the training
    before_iteration: ClassVar[bool] = False

    topic: str

    def __call__(self, env: CallbackEnv) -> None:
        """Send the round and its metrics."""
        results = [list(result)[:4] for result in env.evaluation_result_list or ()]
        rounds = [env.iteration, env.begin_iteration, env.end_iteration]
        get_worker().log_event(self.topic, {"rounds": rounds, "results": results})


@contextmanager
def shown_progress(
    client: Client | None, progress: Progress | bool
) -> Iterator[ReportRounds | None]:
    """Call a function on the client after each round, or show a progress bar.

    Yields:
        The callback for the first worker; None: nothing is shown.
    """
    if progress is False:
        yield None
        return
    show = cast(Progress, progress_bar() if progress is True else progress)
    client = default_client() if client is None else client
    is_last = threading.Event()
    topic = f"gossamer-rounds-{uuid.uuid4().hex}"

    def handle(event: tuple[float, Any]) -> None:
        _, content = event
        iteration, begin, end = content["rounds"]
        results = [EvalResult(*result) for result in content["results"]]
        show(CallbackEnv(cast(Any, None), {}, iteration, begin, end, results or None))
        if iteration + 1 == end:
            is_last.set()

    client.subscribe_topic(topic, handle)
    try:
        yield ReportRounds(topic)
        is_last.wait(_LATE)  # after an early stop, the last round is not known
    finally:
        client.unsubscribe_topic(topic)
        close = getattr(show, "close", None)
        if close is not None:
            close()
