"""Jobs, and the fresh process that each of them gets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.launch import say
from benchmarks.paper.cases import CASES, Case
from benchmarks.paper.problem import cached_folder, load_facts
from benchmarks.paper.variants import Options, Variant
from benchmarks.real import CaseUnavailableError
from benchmarks.runners import Settings

N_CURVE = 25  # points of a curve
STOPPED = "stopped"


@dataclass(frozen=True)
class Limits:
    """What holds for all runs.

    Attributes:
        threads: Threads of each library.
        num_leaves: Leaves of a tree.
        timeout_s: Limit on one process.
        memory_bytes: Limit on the memory of one process; 0 means none.
    """

    threads: int = 2
    num_leaves: int = 63
    timeout_s: float = 3600.0
    memory_bytes: int = 0


@dataclass(frozen=True)
class Job:
    """One run to do.

    Attributes:
        case: Name of the case.
        library: Package.
        options: Parameters on top of those that all share.
        rounds: Boosting rounds.
        seed: What the options were made with.
        labels: Copied into the result: variant, repeat, share, ...
        curve: Rounds after which accuracy is wanted.
        digests: Rounds after which the model is compared with others'.
        metric: Metric of the curve; "" means the case's.
    """

    case: str
    library: str
    options: Options
    rounds: int
    seed: int
    labels: dict[str, Any] = field(default_factory=dict)
    curve: tuple[int, ...] = ()
    digests: tuple[int, ...] = ()
    metric: str = ""


@dataclass(frozen=True)
class Amount:
    """How much is run of each variant.

    Attributes:
        seeds: Runs whose accuracy is averaged.
        repeats: Runs of which the fastest counts.
        rounds: Boosting rounds.
        slow_rounds: Rounds of the variants that are only timed.
    """

    seeds: int = 5
    repeats: int = 3
    rounds: int = 100
    slow_rounds: int = 30


def plan_case(case: Case, variants: list[Variant], amount: Amount) -> Iterator[Job]:
    """The jobs of one case, round robin over the variants.

    The first `repeats` runs of a variant are timed. Every round starts with another variant, so
    that none is always first.

    Args:
        case: The case.
        variants: Who runs; those that the case leaves out are skipped.
        amount: How much is run.

    Yields:
        Jobs in the order in which they are to be run.
    """
    variants = [variant for variant in variants if variant.mode not in case.left_out]
    n_runs = {
        v.name: max(amount.seeds, amount.repeats) if v.depends_on_seed else amount.repeats
        for v in variants
    }
    for repeat in range(max(n_runs.values(), default=0)):
        shift = repeat % len(variants)
        for variant in variants[shift:] + variants[:shift]:
            if repeat >= n_runs[variant.name]:
                continue
            seed = repeat if variant.depends_on_seed else 0
            rounds = min(amount.rounds, amount.slow_rounds) if variant.is_slow else amount.rounds
            wants_curve = case.has_curve and repeat == 0 and not variant.is_slow
            yield Job(
                case.name,
                variant.library,
                variant.options_for(case.top_rate, case.other_rate, seed),
                rounds,
                seed,
                {
                    "variant": variant.name,
                    "library": variant.library,
                    "sampling": variant.sampling,
                    "repeat": repeat,
                    "is_timed": repeat < amount.repeats,
                },
                curve_rounds(rounds, N_CURVE) if wants_curve else (),
                tuple(sorted({min(rounds, amount.slow_rounds), rounds})),
            )


def curve_rounds(rounds: int, n_points: int) -> tuple[int, ...]:
    """Evenly spaced rounds, the last one among them."""
    return tuple(sorted({max(1, rounds * i // n_points) for i in range(1, n_points + 1)}))


def find_problem(case: Case, scale: float) -> Path | None:
    """The folder of a case's problem, made if need be; None where its data is not here."""
    try:
        return cached_folder(f"{case.name}-x{scale:g}", lambda: case.make(scale))
    except CaseUnavailableError as error:
        say(f"skipped case {case.name}: {error}")
        return None


def run_jobs(jobs: Iterable[Job], folder: Path, limits: Limits) -> Iterator[dict[str, Any]]:
    """Runs jobs one after another, each in a fresh process.

    Args:
        jobs: What is run; all of one case.
        folder: Its problem.
        limits: What holds for all.

    Yields:
        Raw results; a failed run has the key "error" instead of figures.
    """
    facts = load_facts(folder)
    too_slow: set[str] = set()  # one that was stopped would be stopped again
    for job in jobs:
        who = _who(job)
        settings = Settings(
            facts["task"], facts["n_classes"], limits.num_leaves, job.rounds, limits.threads
        )
        head = {
            "case": job.case,
            **job.labels,
            "seed": job.seed,
            "rounds": job.rounds,
            "options": job.options,
        }
        if who in too_slow:
            result: dict[str, Any] = {"error": f"{STOPPED} in an earlier run"}
        else:
            result = _run_worker(job, settings, folder, limits)
        if str(result.get("error", "")).startswith(STOPPED):
            too_slow.add(who)
        say(_one_line(job, result))
        yield {**head, **result}


def _run_worker(job: Job, settings: Settings, folder: Path, limits: Limits) -> dict[str, Any]:
    order = {
        "library": job.library,
        "options": job.options,
        "settings": asdict(settings),
        "folder": str(folder.resolve()),
        "metric": job.metric or CASES[job.case].metric,
        "curve": job.curve,
        "digests": job.digests,
        "memory_bytes": limits.memory_bytes,
    }
    return run_process("benchmarks.paper.worker", order, limits.threads, limits.timeout_s)


def run_process(
    module: str, order: dict[str, Any], threads: int, timeout_s: float
) -> dict[str, Any]:
    """Runs a worker module in a fresh process: ``python -m MODULE JOB.json RESULT.json``.

    Args:
        module: The module.
        order: What it is to do, as JSON.
        threads: Threads of libraries that ask OpenMP for them.
        timeout_s: Limit on the process.

    Returns:
        What it wrote, or the key "error".
    """
    with tempfile.TemporaryDirectory(prefix="gossamer-job-") as name:
        job_file, result_file = Path(name) / "job.json", Path(name) / "result.json"
        job_file.write_text(json.dumps(order))
        command = [sys.executable, "-m", module, str(job_file), str(result_file)]
        try:
            done = subprocess.run(
                command,
                cwd=Path(__file__).resolve().parents[2],
                env={**os.environ, "OMP_NUM_THREADS": str(threads)},
                capture_output=True,
                text=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"error": f"{STOPPED} after {timeout_s:.0f} s"}
        if done.returncode != 0 or not result_file.is_file():
            return {"error": f"exit {done.returncode}: {_last_message(done.stderr)}"}
        loaded: dict[str, Any] = json.loads(result_file.read_text())
        return loaded


def _last_message(stderr: str) -> str:
    """The exception that ended a process: what follows the last line of its traceback."""
    lines = stderr.strip().splitlines()
    n_kept = 0
    while n_kept < len(lines) and not lines[-1 - n_kept].startswith((" ", "Traceback")):
        n_kept += 1
    return " ".join(lines[len(lines) - max(1, n_kept) :])[:300] or "no message"


def _who(job: Job) -> str:
    """The variant, or the library and its way to draw rows; the same for all seeds."""
    if "variant" in job.labels:
        return str(job.labels["variant"])
    return f"{job.library} {job.labels['sampling'] or 'all'} {job.labels['share']:g}"


def _one_line(job: Job, result: dict[str, Any]) -> str:
    start = f"{job.case:14} {_who(job):24} seed {job.seed}"
    if "error" in result:
        return f"{start}  FAILED {result['error']}"
    scores = "  ".join(f"{name} {value:.6g}" for name, value in result["metrics"].items())
    peak = result["peak_over_input_bytes"] / 2**20
    return (
        f"{start}  build {result['build_s']:7.3f} s  train {result['train_s']:8.3f} s  "
        f"peak {peak:7.0f} MiB  {scores}"
    )
