"""How training speeds up with threads, next to LightGBM on all of them."""

from __future__ import annotations

import time

from benchmarks.cases import Case
from benchmarks.split import Split
from benchmarks.stages import format_header, format_row, measure_stages

ROUNDS = 20


def print_scaling(case: Case, split: Split, threads: int, repeats: int) -> None:
    """Prints Gossamer's stages on 1, 2, 4 ... threads, and LightGBM's time on all of them.

    The contenders take turns in one process; the best of the repeats counts.

    Args:
        case: The case.
        split: Its data.
        threads: The largest number of threads.
        repeats: Turns.
    """
    counts = [n for n in (1, 2, 4, 8, 16, 32, 64, 128) if n < threads] + [threads]
    stages: dict[int, dict[str, float]] = {}
    peers: dict[str, float] = {}
    for _ in range(repeats):
        for n in counts:
            found = measure_stages(case, split, n, ROUNDS)
            if n not in stages or found["total"] < stages[n]["total"]:
                stages[n] = found
        for name, options in _peers().items():
            took = _time_lightgbm(case, split, threads, options)
            peers[name] = min(took, peers.get(name, took))
    print(f"{case.name}: milliseconds per tree")
    print(format_header("threads"))
    for n, found in stages.items():
        print(format_row(str(n), found))
    own = stages[threads]["total"]
    print(f"1 to {threads} threads: {stages[1]['total'] / own:.2f} x")
    for name, took in peers.items():
        print(
            f"{name}, {threads} threads: {took:.2f} ms, {took / own:.2f} x Gossamer's", flush=True
        )


def _peers() -> dict[str, dict[str, object]]:
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        return {}
    return {
        "LightGBM by row": {"force_row_wise": True},
        "LightGBM by column": {"force_col_wise": True},
        "LightGBM quantized by row": {"force_row_wise": True, "use_quantized_grad": True},
    }


def _time_lightgbm(case: Case, split: Split, threads: int, options: dict[str, object]) -> float:
    import lightgbm

    objective = {"binary": "binary", "regression": "regression", "multiclass": "multiclass"}
    params = {
        "objective": objective[split.task],
        "num_leaves": case.num_leaves,
        "num_threads": threads,
        "verbosity": -1,
        **options,
    }
    booster = lightgbm.Booster(params, lightgbm.Dataset(split.x_train, split.y_train))
    booster.update()
    start = time.perf_counter()
    for _ in range(ROUNDS):
        booster.update()
    return 1e3 * (time.perf_counter() - start) / ROUNDS
