"""Checkpoints: all that a training needs to go on in another process, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from gossamer import files
from gossamer.errors import (
    DataError,
    GossamerError,
    ModelFileError,
    ParameterError,
    shorten,
)
from gossamer.metrics import EvalResult
from gossamer.model.booster import Booster
from gossamer.model.files import model_file
from gossamer.model.files.pack import pack, unpack
from gossamer.model.training.change_training import get_state, set_state
from gossamer.model.training.evaluate import training_of
from gossamer.model.training.fingerprint import describe_data, describe_params

FORMAT: Final = "gossamer checkpoint"
VERSION: Final = 1

Facts = dict[str, Any]


@dataclass(eq=False)
class Run:
    """A training under way: what `train()` does, round after round.

    Attributes:
        booster: The model.
        params: What callbacks see as parameters, and may change.
        callbacks: All callbacks, those before a round first.
        begin: The first round: 0, or the rounds of `init_model`.
        end: One after the last.
        n_done: Rounds done.
        n_settled: Rounds of which every callback has been told.
        is_finished: Whether no leaf can be split any further.
        results: The last metrics.
    """

    booster: Booster
    params: dict[str, Any]
    callbacks: Sequence[Any]
    begin: int
    end: int
    n_done: int = 0
    n_settled: int = 0
    is_finished: bool = False
    results: list[EvalResult] = field(default_factory=list)
    _identity: Facts | None = field(default=None, init=False)

    @property
    def is_whole(self) -> bool:
        """Whether model and callbacks are at the same round, so that a checkpoint may be written.

        Not so where a callback raised something after a round.
        """
        n_rounds = self.booster.current_iteration() - self.begin
        return n_rounds == self.n_done == self.n_settled

    @property
    def identity(self) -> Facts:
        """What the training depends on; to be asked for before the first round."""
        # Up to Python 3.11 a cached_property has one lock for all objects, and workers that are
        # threads of one process must find this at the same time.
        if self._identity is None:
            self._identity = self._find_identity()
        return self._identity

    def _find_identity(self) -> Facts:
        from hashlib import sha256  # takes its time, as everywhere

        training = training_of(self.booster, "a checkpoint")
        base = training.base
        return {
            "version": _library_version(),
            "parameters": describe_params(training.params),
            "init_model": None
            if base is None
            else sha256(model_file.to_bytes(base.model)).hexdigest()[:16],
            "data": {
                "the training data": describe_data(training.train.data),
                **{f"the data set {v.name!r}": describe_data(v.data) for v in training.valid},
            },
        }

    @cached_property
    def first_params(self) -> dict[str, Any]:
        """The parameters that were given, before any of them was changed."""
        return self.booster.resolved_params.to_dict(given_only=True)

    @cached_property
    def first_env(self) -> dict[str, Any]:
        """What callbacks saw as parameters at first."""
        return dict(self.params)


def save(run: Run, path: Path) -> None:
    """Write a checkpoint; until it is complete, an older one stays.

    Raises:
        OSError: If it cannot be written.
        ParameterError: If a callback's state cannot be.
    """
    arrays: files.Arrays = {}
    training = training_of(run.booster, "a checkpoint")
    now = training.params.to_dict(given_only=True)
    state = {
        "n_done": run.n_done,
        "is_finished": run.is_finished,
        "results": [list(result) for result in run.results],
        "params": _changed(run.first_params, now),
        "env": _changed(run.first_env, run.params),
        "callbacks": [[_name(callback), _state(callback)] for callback in run.callbacks],
        "training": get_state(training),
    }
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "identity": pack(run.identity, arrays, "identity"),
        "state": pack(state, arrays, "state"),
    }
    files.write_atomically(path, files.to_bytes(arrays, facts))


def restore(run: Run, path: Path) -> None:
    """Resume from a checkpoint.

    Raises:
        ModelFileError: If the file is damaged, or of another version.
        DataError: If it was made with other data, or another `init_model`.
        ParameterError: If it was made with other parameters or callbacks.
        OSError: If the file cannot be read.
    """
    identity, state = _read(path)
    try:
        _compare(run, identity, path)
        _apply(run, state, path)
    except GossamerError:
        raise
    except (
        *(KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError),
        *(MemoryError, AssertionError),
        RuntimeError,  # arrays of types that the native core does not take
    ) as error:
        reason = shorten(error if isinstance(error, MemoryError) else repr(error))
        raise ModelFileError.because(
            f"the checkpoint {str(path)!r} is inconsistent ({reason})",
            hint="Delete it to start again.",
        ) from None


def _read(path: Path) -> tuple[Facts, Facts]:
    source = f"the checkpoint {str(path)!r}"
    try:
        arrays, facts = files.from_bytes(path.read_bytes())
    except files.BrokenFile as error:
        raise ModelFileError.because(
            f"{source} cannot be read: {error}", hint="Delete it to start again."
        ) from None
    if facts.get("format") != FORMAT:
        raise ModelFileError.because(
            f"{source} is not a checkpoint", got=facts.get("format"), expected=repr(FORMAT)
        )
    if facts.get("version") != VERSION:
        raise ModelFileError.because(
            f"{source} is of another format", got=facts.get("version"), expected=str(VERSION)
        )
    try:
        return unpack(facts["identity"], arrays), unpack(facts["state"], arrays)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError.because(f"{source} is inconsistent ({shorten(repr(error))})") from None


def _compare(run: Run, theirs: Facts, path: Path) -> None:
    """Refuse a checkpoint of another training, and say what differs."""
    mine = run.identity
    source = f"the checkpoint {str(path)!r}"
    hint = "Delete the file, or use another path, to start again."

    def differs(kind: type[GossamerError], what: str, got: object, expected: str) -> GossamerError:
        return kind.because(f"{source} was {what}", got=got, expected=expected, hint=hint)

    if theirs["version"] != mine["version"]:
        what = "written by another version of Gossamer, whose last bits may differ"
        raise differs(ModelFileError, what, theirs["version"], repr(mine["version"]))
    if list(theirs["data"]) != list(mine["data"]):
        others, own = (", ".join(each["data"]) for each in (theirs, mine))
        raise differs(DataError, "made with other validation sets", others, own)
    for name, facts in mine["data"].items():
        for fact, found in facts.items():
            other = theirs["data"][name].get(fact)
            if other != found:
                what = f"made with other data: the {fact} of {name} differ"
                raise differs(DataError, what, other, repr(found))
    if theirs["init_model"] != mine["init_model"]:
        what = "made with another init_model"
        raise differs(DataError, what, theirs["init_model"], repr(mine["init_model"]))
    params = theirs["parameters"]
    for name, value in mine["parameters"].items():
        if name not in params or params[name] != value:
            what = f"made with another {name}"
            raise differs(ParameterError, what, params.get(name), repr(value))


def _apply(run: Run, state: Facts, path: Path) -> None:
    names = [name for name, _ in state["callbacks"]]
    if names != [_name(callback) for callback in run.callbacks]:
        raise ParameterError.because(
            f"the checkpoint {str(path)!r} was made with other callbacks",
            found=", ".join(names),
            expected=", ".join(_name(callback) for callback in run.callbacks),
            hint="Delete the file, or use another path, to start again.",
        )
    if type(state["n_done"]) is not int or state["n_done"] < 0:
        raise ValueError("the rounds done are not a number")
    if state["n_done"] > run.end - run.begin:
        raise ParameterError.because(
            f"the checkpoint {str(path)!r} has more rounds than requested",
            got=state["n_done"],
            expected=f"at most {run.end - run.begin} rounds",
            hint="Raise num_boost_round, or delete the file to start again.",
        )
    training = training_of(run.booster, "a checkpoint")
    if state["params"]:
        run.booster.reset_parameter(state["params"])
    run.params.update(state["env"])
    set_state(training, state["training"])
    for callback, (_, own) in zip(run.callbacks, state["callbacks"], strict=True):
        if _has_state(callback):
            callback.set_state(own)
    run.n_done = run.n_settled = state["n_done"]
    run.is_finished = bool(state["is_finished"])
    run.results = [EvalResult(*result) for result in state["results"]]


def _changed(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in now.items()
        if name not in before or not (before[name] is value or bool(before[name] == value))
    }


def _name(callback: Any) -> str:
    """Name of a function, or of the class of an object that is called."""
    return str(getattr(callback, "__qualname__", type(callback).__qualname__))


def _state(callback: Any) -> Any:
    return callback.get_state() if _has_state(callback) else None


def _has_state(callback: Any) -> bool:
    return hasattr(callback, "get_state") and hasattr(callback, "set_state")


def _library_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # takes its time

    try:
        return version("gossamer")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"
