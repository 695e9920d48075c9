"""Write the training to a file now and then, and resume from there after a crash."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import ClassVar, Final

from gossamer.arguments import as_path, check_flags
from gossamer.callbacks.env import CallbackEnv, is_cv
from gossamer.errors import NotSupportedError, ParameterError
from gossamer.files import remove_stale
from gossamer.logger import info, warn
from gossamer.model.training.checkpoint import Run, restore, save

_SECONDS: Final = 60.0


@dataclass(eq=False)
class Checkpoint:
    """What `checkpoint` makes.

    Attributes:
        path: The file.
        every_rounds: Rounds from one file to the next; None: they do not matter.
        every_seconds: Seconds from one file to the next; None: they do not matter.
        resume: Whether to resume from a file that exists.
    """

    order: ClassVar[int] = 1000  # `train` calls it after all others in any case
    before_iteration: ClassVar[bool] = False

    path: Path
    every_rounds: int | None
    every_seconds: float | None
    resume: bool
    _run: Run | None = None
    _written: float = 0.0  # when

    def attach(self, run: Run) -> None:
        """Prepare to write a training, which resumes from the file if there is one."""
        _check_folder(self.path)
        self._run = run
        _ = run.identity, run.first_params, run.first_env  # as they are before the first round
        if self.resume and self.path.exists():
            restore(run, self.path)
            info(f"Training resumes from {str(self.path)!r} after {run.n_done} rounds.")
        remove_stale(self.path)
        self._written = time.monotonic()

    def __call__(self, env: CallbackEnv) -> None:
        """Write the file if it is time."""
        if is_cv(env.model):
            raise NotSupportedError.because("checkpoint() works with train() and fit(), not cv()")
        n_done = self._attached().n_done
        is_due = self.every_rounds is not None and n_done % self.every_rounds == 0
        if self.every_seconds is not None:
            is_due |= time.monotonic() - self._written >= self.every_seconds
        if is_due:
            self.write()

    def write(self) -> None:
        """Write a checkpoint now. A full disk does not end the training: the last file stays.

        Raises:
            ParameterError: If no training is under way.
        """
        run = self._attached()
        try:
            save(run, self.path)
        except OSError as error:
            warn(f"The checkpoint {str(self.path)!r} could not be written: {error}")
        self._written = time.monotonic()

    def _attached(self) -> Run:
        if self._run is None:
            raise ParameterError.because("checkpoint() must be among the callbacks of train()")
        return self._run

    def close(self) -> None:
        """Release the training."""
        self._run = None


@check_flags
def checkpoint(
    path: str | os.PathLike[str],
    every_rounds: int | None = None,
    every_seconds: float | None = None,
    resume: bool = True,
) -> Checkpoint:
    """Write the state of the training to a file regularly, and resume from it.

    To resume, run the script again. The result is byte for byte the same as without an
    interruption; recorded metrics, early stopping and schedules of parameters continue too. A file
    of another training (other data, parameters or callbacks) is rejected.

    Args:
        path: The file. It is replaced in one step, so a crash or a full disk leaves the previous
            one.
        every_rounds: Write the file after this number of rounds.
        every_seconds: Write the file after the first round that ends this number of seconds after
            the previous time. If neither is given, 60.
        resume: Whether to resume from the file if it exists. Otherwise it is overwritten.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> import gossamer
        >>> path = Path(tempfile.mkdtemp(), "run.checkpoint")
        >>> x = np.arange(100.0).reshape(-1, 1)
        >>> def run(n_rounds):
        ...     data = gossamer.Dataset(x, label=x[:, 0])
        ...     callbacks = [checkpoint(path, every_rounds=5)]
        ...     return gossamer.train({}, data, n_rounds, callbacks=callbacks)
        >>> cut_short = run(7)
        >>> run(20).num_trees()  # goes on after round 5
        20
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ParameterError.because(
            "the checkpoint's path cannot be used", got=path, expected="a path"
        )
    if every_rounds is not None and not (_is_a(every_rounds, Integral) and every_rounds >= 1):
        raise ParameterError.because(
            "every_rounds cannot be used", got=every_rounds, expected="an integer >= 1"
        )
    if every_seconds is not None and not (_is_a(every_seconds, Real) and every_seconds >= 0):
        raise ParameterError.because(
            "every_seconds cannot be used", got=every_seconds, expected="a number >= 0"
        )
    if every_rounds is None and every_seconds is None:
        every_seconds = _SECONDS
    return Checkpoint(as_path(path), every_rounds, every_seconds, bool(resume))


def _is_a(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _check_folder(path: Path) -> None:
    """Fail before hours of training rather than after."""
    folder = path.parent
    is_file = path.is_file() or not path.exists()  # no folder, no named pipe
    if not is_file or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ParameterError.because(
            "the checkpoint cannot be written there",
            got=str(path),
            expected="a file in a folder that exists and may be written to",
        )
