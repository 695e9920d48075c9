"""`run_job`: work of all workers of a cluster on one data set, which survives a lost worker."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from dask.delayed import Delayed
from distributed import Client, Future, default_client, wait
from distributed import TimeoutError as DaskTimeoutError

from gossamer.dask.workers import Job, Outcome, hold_parts, stop_training, work_on_parts
from gossamer.distributed import WorkerError
from gossamer.errors import GossamerError, message, shorten
from gossamer.logger import warn

_PAUSE: Final = 0.5  # seconds between two looks at the cluster
_SECOND_LOOK: Final = 5.0  # seconds at most until a silent worker is looked at again
_STOP: Final = 5.0  # seconds at most until all workers know that a training has ended
_GONE: Final = "it left the cluster, or does not answer"
_PAUSED: Final = "it is paused, perhaps for want of memory, and begins no task"


class _Lost(Exception):
    """Workers were lost; what is known about it."""

    def __init__(self, error: WorkerError, workers: set[str], rounds: bytes | None) -> None:
        super().__init__(str(error))
        self.error, self.workers, self.rounds = error, workers, rounds


def run_job(
    client: Client | None,
    job: Job,
    parts: Sequence[Delayed],
    valid: Sequence[Sequence[Delayed]],
    time_out: float = 60.0,
    max_restarts: int = 3,
) -> Any:
    """Let all workers work on their parts; returns what the job returns.

    Args:
        client: The cluster; None: the current one.
        job: What every worker does.
        parts: The partitions of the training data, in the order of the rows.
        valid: The partitions of each validation set.
        time_out: Seconds without a sign of life after which a worker counts as lost.
        max_restarts: How often to resume from the finished rounds after workers were lost.

    Raises:
        WorkerError: If a worker raised an exception that is not Gossamer's, or was lost once more
            than `max_restarts`.
        GossamerError: What the job raised.
    """
    client = default_client() if client is None else client
    last: WorkerError | None = None
    rounds: bytes | None = None
    for n_restarts in range(max_restarts + 1):
        addresses = _usable_workers(client, time_out, last)[: max(len(parts), 1)]
        key = f"gossamer-{uuid.uuid4().hex}"
        try:
            return _try_job(client, job, key, addresses, parts, valid, time_out, rounds)
        except _Lost as loss:
            last = loss.error
            rounds = loss.rounds or rounds
            _remove_workers(client, loss.workers)
            _stop(client, key, addresses)
            if n_restarts == max_restarts:
                raise loss.error from None
            how = "without it" if loss.workers else "from the finished rounds"
            warn(f"{loss.error} Training continues {how}.")
        except BaseException:
            _stop(client, key, addresses)
            raise
    raise AssertionError("unreachable")


def _usable_workers(client: Client, time_out: float, last: WorkerError | None) -> list[str]:
    """Return the addresses of all workers that begin tasks; waits for one if there is none.

    Raises:
        WorkerError: If all of them are paused, or none is left: `last`, what is known of it.
        GossamerError: If there was none.
    """
    deadline = time.monotonic() + time_out
    while True:
        present = sorted(client.nthreads())
        paused = _paused_workers(client, dict.fromkeys(present))
        found = [address for address in present if address not in paused]
        if found:
            return found
        if time.monotonic() > deadline:
            if last is not None:
                raise last
            if paused:
                raise _lost_error(paused[0], _PAUSED)
            raise GossamerError.because(
                "the cluster has no workers",
                found=f"none within {time_out:g} seconds",
                hint="Start workers, or scale the cluster.",
            )
        time.sleep(_PAUSE)


def _try_job(
    client: Client,
    job: Job,
    key: str,
    addresses: list[str],
    parts: Sequence[Delayed],
    valid: Sequence[Sequence[Delayed]],
    time_out: float,
    rounds: bytes | None,
) -> Any:
    """Place the parts, then start the job on all workers at once."""
    by_worker = [_deal(parts, len(addresses)), *(_deal(own, len(addresses)) for own in valid)]
    holding: dict[str, Future] = {}
    computed: list[Future] = []
    for rank, address in enumerate(addresses):
        own = [
            client.compute(list(dealt[rank]), workers=[address], allow_other_workers=True)
            for dealt in by_worker
        ]
        computed += [future for futures in own for future in futures]
        holding[address] = client.submit(
            hold_parts, key, rank, own[0], own[1:], workers=[address], pure=False
        )
    _wait_for(client, holding, time_out)
    del computed, own  # not `holding`: workers keep parts as long as these tasks are wanted
    tasks = {
        address: client.submit(
            work_on_parts,
            job,
            key,
            rank,
            addresses,
            time_out,
            rounds,
            workers=[address],
            pure=False,
            priority=1,  # the others wait for it: before tasks that only load data
        )
        for rank, address in enumerate(addresses)
    }
    lost, outcomes = _wait_for(client, tasks, time_out, stop_early=False)
    return _result(addresses, outcomes, lost)


def _deal(parts: Sequence[Delayed], n_workers: int) -> list[Sequence[Delayed]]:
    """Give each worker consecutive parts, about as many as the others."""
    ends = [len(parts) * rank // n_workers for rank in range(n_workers + 1)]
    return [parts[ends[rank] : ends[rank + 1]] for rank in range(n_workers)]


def _wait_for(
    client: Client, tasks: dict[str, Future], time_out: float, *, stop_early: bool = True
) -> tuple[set[str], dict[str, Outcome]]:
    """Wait until all tasks have ended, except tasks of lost workers; returns those and outcomes.

    Raises:
        _Lost: With `stop_early`, if a worker is lost.
    """
    lost: set[str] = set()
    outcomes: dict[str, Outcome] = {}
    deadline: float | None = None
    patience = time_out / 2
    paused_since: dict[str, float] = {}
    blamed_since: dict[str, float] = {}
    reasons: dict[str, str] = {}
    while True:
        pending = [a for a in tasks if a not in lost and a not in outcomes]
        if not pending:
            return lost, outcomes
        with suppress(DaskTimeoutError):
            wait([tasks[a] for a in pending], timeout=_PAUSE, return_when="FIRST_COMPLETED")
        for address in pending:
            if tasks[address].done():
                # What a worker returned may be lost with the worker before it is fetched: Dask
                # would then wait for another worker of this address.
                try:
                    outcomes[address] = tasks[address].result(timeout=patience)
                except DaskTimeoutError:
                    patience *= 2  # or it is large, and the network slow
        lost |= set(tasks) - set(client.nthreads())
        paused = _paused_workers(client, {address: tasks[address].key for address in tasks})
        now = time.monotonic()
        paused_since = {address: paused_since.get(address, now) for address in paused}
        idle = {address for address, since in paused_since.items() if now - since > time_out}
        reasons |= dict.fromkeys(idle, _PAUSED)
        # A worker whose connections are gone may be well: its own outcome then follows, perhaps
        # not before it has computed for a while.
        blamed_since = {a: blamed_since.get(a, now) for a in _blamed(outcomes)}
        blamed = {a for a, since in blamed_since.items() if now - since > time_out}
        accused = {*silent_workers(client, sorted(tasks), time_out), *idle, *blamed}
        lost |= {name for name in accused if name in tasks and name not in outcomes}
        if lost and stop_early:
            first = sorted(lost)[0]
            raise _Lost(_lost_error(first, reasons.get(first, _GONE)), lost, None)
        if lost:
            deadline = deadline or time.monotonic() + 2 * time_out
            if time.monotonic() > deadline:
                return lost | (tasks.keys() - outcomes.keys()), outcomes


def silent_workers(client: Client, addresses: Sequence[str], seconds: float) -> list[str]:
    """Return workers that the scheduler has not heard of for so long, such as stopped processes.

    Dask itself waits for minutes (`distributed.scheduler.worker-ttl`). A scheduler that did not run
    for a while has heard of no worker: it gets time to read what has arrived meanwhile.
    """

    # A function within a function travels as it is: the scheduler need not have this package.
    def look(dask_scheduler: Any = None) -> list[str]:
        known, now = dask_scheduler.workers, time.time()
        return [a for a in addresses if a in known and now - known[a].last_seen > seconds]

    silent: list[str] = client.run_on_scheduler(look)
    if not silent:
        return []
    time.sleep(min(seconds / 4, _SECOND_LOOK))
    still: list[str] = client.run_on_scheduler(look)
    return [address for address in silent if address in still]


def _paused_workers(client: Client, tasks: Mapping[str, str | None]) -> list[str]:
    """Return workers that are paused, and have not begun the task of this key.

    A paused worker answers, and finishes what it has begun, but begins nothing.
    """

    def look(dask_scheduler: Any = None) -> list[str]:
        known = dask_scheduler.workers
        return [
            address
            for address, key in tasks.items()
            if address in known
            and known[address].status.name == "paused"
            and all(task.key != key for task in known[address].long_running)
        ]

    paused: list[str] = client.run_on_scheduler(look)
    return paused


def _blamed(outcomes: dict[str, Outcome]) -> set[str]:
    """Return the workers that others say are lost."""
    errors = (outcome.error for outcome in outcomes.values())
    return {e.worker for e in errors if isinstance(e, WorkerError) and e.is_lost}


def _result(addresses: Sequence[str], outcomes: dict[str, Outcome], lost: set[str]) -> Any:
    """Return the value of the first worker, or raise what went wrong."""
    own = outcomes.get(addresses[0])
    errors = {a: o.error for a, o in outcomes.items() if o.error is not None}
    # A model that is finished is right, whoever was lost meanwhile.
    if own is not None and own.error is None and not any(map(_is_own_fault, errors.values())):
        return own.value
    for address, error in errors.items():
        if not isinstance(error, WorkerError):
            if isinstance(error, GossamerError):
                raise error
            text = f"worker {address} failed: {type(error).__name__}: {shorten(error, 2000)}"
            raise WorkerError(text, address) from error
    for error in errors.values():
        if _is_own_fault(error):
            raise error
    rounds = next((o.rounds for o in outcomes.values() if o.rounds is not None), None)
    found = next((e for e in errors.values() if isinstance(e, WorkerError)), None)
    # Workers that have returned something are there: only connections between them were lost.
    raise _Lost(found or _lost_error(sorted(lost)[0]), lost - outcomes.keys(), rounds)


def _is_own_fault(error: BaseException) -> bool:
    """Whether a worker failed by itself, rather than for want of another one."""
    return not (isinstance(error, WorkerError) and error.is_lost)


def _lost_error(address: str, why: str = _GONE) -> WorkerError:
    text = message(f"worker {address} is lost: {why}")
    return WorkerError(text, address, is_lost=True)


def _remove_workers(client: Client, addresses: set[str]) -> None:
    """Let the scheduler forget workers that do not answer: it then recomputes their data."""
    present = sorted(addresses & set(client.nthreads()))

    async def remove(dask_scheduler: Any = None) -> None:
        for address in present:
            await dask_scheduler.remove_worker(address=address, stimulus_id="gossamer-lost-worker")

    if present:
        client.run_on_scheduler(remove)


def _stop(client: Client, key: str, addresses: Sequence[str]) -> None:
    """End the work that is still under way, as far as the workers can be reached.

    Workers that cannot be reached find out by themselves: the scheduler releases their tasks.
    """
    with suppress(DaskTimeoutError, OSError):
        present = sorted(set(client.nthreads()) & set(addresses))
        if present:
            client.run(
                stop_training,
                key,
                workers=present,
                wait=False,
                on_error="ignore",
                callback_timeout=_STOP,
            )
