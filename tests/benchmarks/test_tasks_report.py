"""Figures and tables of the task benchmarks from made-up runs."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchmarks.paper.store import new_document
from benchmarks.tasks.losses import LOSSES
from benchmarks.tasks.objectives import DATA, OBJECTIVES, ranking_contenders
from benchmarks.tasks.plan import plan_accuracy, plan_ranking, plan_speed
from benchmarks.tasks.report import BLOCKS, format_blocks, format_machine
from benchmarks.tasks.summary import summarise_accuracy, summarise_ranking, summarise_speed


def run(contender: str, loss: float = 1.0, seed: int = 0, **more: Any) -> dict[str, Any]:
    head = {"objective": "gamma", "data": "diamonds", "contender": contender, "seed": seed}
    times = {"rounds_s": 1.0, "best_s": 1.0, "n_rounds": 10, "n_best": 10, "other_cpus": 0.0}
    return {**head, "fold": 0, "repeat": 0, "loss": loss, **times, **more}


def test_accuracy_is_paired_by_seed() -> None:
    runs = [run("gossamer", 1.02), run("gossamer", 2.02, 1), run("gossamer", 9.0, 2)]
    runs += [run("lightgbm", 1.0), run("lightgbm", 2.0, 1), run("xgboost", 3.0)]
    runs += [run("xgboost", 3.0, 1)]  # seed 2 of the peers is missing, so it counts for nobody
    (line,) = summarise_accuracy(runs)
    assert (line.best_peer, line.n_seeds) == ("lightgbm", 2)
    assert line.difference_percent == pytest.approx(100.0 * 0.02 / 1.5)
    assert line.error_percent == pytest.approx(0.0, abs=1e-9)


def test_accuracy_of_negative_losses() -> None:
    """A likelihood below zero: less is better all the same."""
    (line,) = summarise_accuracy([run("gossamer", -1.0), run("xgboost", -2.0)])
    assert line.difference_percent == pytest.approx(50.0)


def test_accuracy_without_peers_or_ours() -> None:
    (alone,) = summarise_accuracy([run("gossamer"), run("lightgbm") | {"error": "broken"}])
    assert alone.difference_percent is None
    (theirs,) = summarise_accuracy([run("lightgbm")])
    assert theirs.difference_percent is None
    assert math.isnan(theirs.error_percent)


def test_ranking_turns_losses_round() -> None:
    runs = [run("gossamer", 0.3), run("lightgbm", 0.4), run("gossamer", 0.5, 1)]
    (line,) = summarise_ranking([*runs, run("lightgbm", 0.4, 1)])
    assert line.ndcg["gossamer"] == pytest.approx(0.6)
    mean, error = line.differences["lightgbm"]
    assert mean == pytest.approx(0.0)
    assert error == pytest.approx(0.1)  # of +0.1 and -0.1


def test_speed_takes_the_best_repeat_and_layout() -> None:
    runs = [run("gossamer", rounds_s=s) for s in (3.0, 1.0, 2.0)]
    runs += [run("lightgbm_row", rounds_s=9.0), run("lightgbm_col", rounds_s=4.0)]
    ours, theirs = summarise_speed([*runs, run("xgboost") | {"error": "broken"}])
    assert (ours.contender, ours.round_s) == ("gossamer", 0.1)
    assert (theirs.contender, theirs.round_s) == ("lightgbm", 0.4)


def test_tables() -> None:
    def document(kind: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
        return new_document(kind, threads=2, rounds=100, scale=1.0) | {"runs": runs}

    def speed(objective: str, ours: float, theirs: float) -> list[dict[str, Any]]:
        more = {"objective": objective, "data": "letter"}
        pair = ("gossamer", ours), ("lightgbm_row", theirs)
        return [run(name, rounds_s=seconds, **more) for name, seconds in pair]

    vector = [
        run("gossamer", 1.0, objective="vector", rounds_s=4.0, best_s=8.0),
        run("gossamer_vector", 1.02, objective="vector", rounds_s=1.0, best_s=4.0),
    ]
    auc = run("gossamer", objective="auc", metric_s=0.2)
    broken = run("xgboost") | {"error": "exit 1: no"}
    blocks = format_blocks(
        {
            "accuracy": document("accuracy", [run("gossamer", 1.006), run("lightgbm"), broken]),
            "ranking": document("ranking", [run("gossamer", 0.5), run("lightgbm", 0.4)]),
            "speed": document(
                "speed",
                [*speed("lambdarank", 1.0, 2.1), *speed("multiclass", 1.0, 2.4), *vector, auc],
            ),
        }
    )
    assert blocks.keys() == set(BLOCKS)
    assert "+0.60" in blocks["accuracy"] and "| **above** |" in blocks["accuracy"]
    assert "-0.10000" in blocks["ranking"] and "| **below** |" in blocks["ranking"]
    assert "2.10" in blocks["lambdarank"]
    assert "2.40" in blocks["multiclass"]
    assert "a round is 4.00 times as fast, training up to the best round 2.00" in blocks["vector"]
    assert "the loss differs by +2.00 %." in blocks["vector"]
    assert "200.00" in blocks["auc"]
    assert blocks["failed"] == "- gamma on diamonds, xgboost: exit 1: no"
    for block in blocks.values():  # a rule of one sign is not a table
        assert "| : |" not in block and "|  |" not in block.splitlines()[0]
    assert set(format_blocks({}).values()) == {"Not run.", "None."}


def test_limits_that_were_not_set_are_not_listed() -> None:
    def said(rows: int, trees: int) -> str:
        return format_machine(new_document("tasks", threads=2, rounds=0, rows=rows, trees=trees))

    assert ". threads 2, rounds 0. Other" in said(0, 0)
    assert ". threads 2, rounds 0, rows 1000, trees 5. Other" in said(1000, 5)


def test_plans() -> None:
    for objective in OBJECTIVES.values():
        assert objective.loss in LOSSES
        assert set(objective.data) <= set(DATA)
        for data in objective.data:
            assert "gossamer" in objective.contenders(data)
    cases = list(plan_accuracy(["multiclass", "cox"], 2))
    assert [(c.data, c.seed) for c in cases][-2:] == [("right_censored", 0), ("right_censored", 1)]
    assert cases[0].contenders["xgboost"] == {"objective": "multi:softprob", "num_class": 7}
    folds = [c.fold for c in plan_ranking(["lambdarank"], ["mq2008", "kdd04_bio"], 2)]
    assert folds == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 0]
    names = [(c.objective, c.data) for c in plan_speed(["multiclass", "vector"])]
    assert names == [
        ("multiclass", "covertype_93k"),
        ("multiclass", "letter"),
        ("vector", "horizons"),
        ("vector", "letter_one_hot"),
    ]
    assert ranking_contenders("rank:map", 3).keys() == {"gossamer", "xgboost"}
    assert ranking_contenders("rank_xendcg", 3)["lightgbm"]["seed"] == 3


def test_every_objective_is_measured() -> None:
    """One that is added to the library must be added here."""
    from gossamer.objectives.registry import OBJECTIVES as ALL

    elsewhere = {name for name in ALL if name.startswith(("custom", "rank", "lambdarank"))}
    assert set(ALL) - elsewhere <= set(OBJECTIVES)
