"""Where Gossamer's training time goes: milliseconds per tree and stage.

Histograms of small leaves, and of all leaves on one thread, are built while they are searched:
they count as search. So does splitting the rows of small leaves where a batch has many. Stages of
trees with fewer than 5,000 rows are not timed: they count as other.
"""

from __future__ import annotations

import time

from benchmarks.cases import Case
from benchmarks.split import Split

STAGES = ("gradients", "quantize", "partition", "build", "search", "scores", "other")


def measure_stages(case: Case, split: Split, threads: int, rounds: int = 30) -> dict[str, float]:
    """Trains on the case and returns milliseconds per tree by stage, and the total.

    Args:
        case: The case; its number of rounds does not matter here.
        split: The case's data.
        threads: Threads.
        rounds: Rounds to average over.

    Returns:
        Milliseconds per tree: the stages, and "total". Besides, "batches" of leaves per tree and
        "wasted", the percentage of histogram rows below nodes that did not get into the tree.
    """
    import gossamer
    from gossamer.data.dataset import built_data
    from gossamer.model.training.training import Training
    from gossamer.params import resolve

    objective = {"binary": "binary", "regression": "regression", "multiclass": "multiclass"}
    params = {
        "objective": objective[split.task],
        "num_leaves": case.num_leaves,
        "num_threads": threads,
        "num_class": split.n_classes if split.task == "multiclass" else 1,
    }
    data = gossamer.Dataset(split.x_train, split.y_train)
    resolved = resolve(params)
    training = Training(resolved, built_data(data, resolved, for_training=True), data)
    training.train_round()  # makes what later rounds find ready
    fill = training.objective.fill_gradients
    gradients = 0.0

    def timed_fill(*args: object) -> None:
        nonlocal gradients
        start = time.perf_counter()
        fill(*args)  # type: ignore[arg-type]
        gradients += time.perf_counter() - start

    object.__setattr__(training.objective, "fill_gradients", timed_fill)
    before = training.stage_stats()
    start = time.perf_counter()
    for _ in range(rounds):
        training.train_round()
    total = time.perf_counter() - start
    after = training.stage_stats()
    seconds = {name: after[name] - before[name] for name in STAGES if name in after}
    seconds["gradients"] = gradients
    seconds["other"] = total - sum(seconds.values())
    seconds["total"] = total
    n_trees = rounds * training.n_outputs
    found = {name: 1e3 * seconds[name] / n_trees for name in (*STAGES, "total")}
    done = {name: after[name] - before[name] for name in ("batches", "wasted_rows", "built_rows")}
    found["batches"] = done["batches"] / n_trees
    found["wasted"] = 100.0 * done["wasted_rows"] / max(done["built_rows"] - done["wasted_rows"], 1)
    return found


def format_header(first: str) -> str:
    """The two first lines of a table of stages."""
    columns = (first, *STAGES, "total", "batches", "wasted %")
    return f"| {' | '.join(columns)} |\n| --- |{' ---: |' * (len(columns) - 1)}"


def format_row(first: str, found: dict[str, float]) -> str:
    """One line of the table."""
    return f"| {first} | {' | '.join(f'{value:.2f}' for value in found.values())} |"
