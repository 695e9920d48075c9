"""Ctrl-C that is not lost.

Packages that are imported on the way (pandas, by pyarrow) may swallow a KeyboardInterrupt, or turn
it into some other error of theirs.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import click

from gossamer.callbacks import CallbackEnv


@contextmanager
def heeding_interrupts() -> Iterator[None]:
    """Meanwhile, Ctrl-C ends in a KeyboardInterrupt, whatever became of it on the way.

    Raises:
        KeyboardInterrupt: If there was one, at the latest at the end.

    Example:
        >>> with heeding_interrupts():
        ...     print("what may take long")
        what may take long
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals
        return
    was_interrupted = False

    def note(*_: Any) -> None:
        nonlocal was_interrupted
        was_interrupted = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    except Exception as error:
        if was_interrupted:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if was_interrupted:
        raise KeyboardInterrupt


class StopAfterRound:
    """A callback: Ctrl-C ends the training when the round is done, and all callbacks know of it.

    A checkpoint can then be written, too. A second Ctrl-C ends it at once.

    Args:
        is_quiet: Whether to say nothing about it.
    """

    order: ClassVar[int] = -1000
    before_iteration: ClassVar[bool] = True

    def __init__(self, is_quiet: bool = False) -> None:
        self._is_quiet = is_quiet
        self._was_asked = False
        self._before: Any = None

    def __call__(self, env: CallbackEnv) -> None:
        """End the training before the next round."""
        if self._was_asked:
            raise KeyboardInterrupt

    def _note(self, *_: Any) -> None:
        if self._was_asked:
            raise KeyboardInterrupt
        self._was_asked = True
        if not self._is_quiet:
            click.echo("\nStopping after this round (Ctrl-C again: at once) ...", err=True)

    def __enter__(self) -> StopAfterRound:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
