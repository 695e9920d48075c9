"""Ctrl-C that is not lost.

Packages that are imported on the way (pandas, by pyarrow) may swallow a KeyboardInterrupt, or turn
it into some other error of theirs.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def heeding_interrupts() -> Iterator[None]:
    """Meanwhile, Ctrl-C ends in a KeyboardInterrupt, whatever became of it on the way.

    Raises:
        KeyboardInterrupt: If there was one, at the latest at the end.

    Example:
        >>> with heeding_interrupts():
        ...     try:
        ...         signal.raise_signal(signal.SIGINT)
        ...     except KeyboardInterrupt:
        ...         pass  # it is lost
        Traceback (most recent call last):
        ...
        KeyboardInterrupt
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
