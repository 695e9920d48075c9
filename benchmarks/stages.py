"""Where Gossamer's training time goes: milliseconds per tree and stage."""

from __future__ import annotations

import time

from benchmarks.cases import Case

STAGES = ("gradients", "quantize", "partition", "build", "search", "scores", "other")


def measure_stages(case: Case, threads: int, scale: float, rounds: int = 30) -> dict[str, float]:
    """Trains on the case and returns milliseconds per tree by stage, and the total.

    Args:
        case: The case; its number of rounds does not matter here.
        threads: Threads.
        scale: Factor on the number of rows.
        rounds: Rounds to average over.

    Returns:
        Milliseconds per tree: the stages, and "total".
    """
    import gossamer
    from gossamer.model.training import Training
    from gossamer.params import resolve

    split = case.load(0, scale)
    objective = {"binary": "binary", "regression": "regression", "multiclass": "multiclass"}
    params = {
        "objective": objective[split.task],
        "num_leaves": case.num_leaves,
        "num_threads": threads,
        "num_class": split.n_classes if split.task == "multiclass" else 1,
    }
    training = Training(resolve(params), gossamer.Dataset(split.x_train, split.y_train))
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
    return {name: 1e3 * seconds[name] / n_trees for name in (*STAGES, "total")}
