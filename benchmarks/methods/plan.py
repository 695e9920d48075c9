"""What is compared: libraries and ways to find a split, with parameters that mean the same."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.paper.launch import Job, curve_rounds
from benchmarks.paper.variants import Options

LIBRARIES = ("gossamer", "xgboost")
EPSILONS = (0.3, 0.1, 0.03, 0.01)
PROPOSALS = ("global", "local")
EXACT, HIST, PEER = "gossamer_exact", "gossamer_hist", "xgboost_exact"
# Name of a row of the table to our `sketch_eps` and the bins of XGBoost's `approx`.
SKETCHES = {"approx, 1/256": (1.0 / 256.0, 256), "approx, 0.03": (0.03, 33)}
METHODS = ("exact", *SKETCHES, "hist")
N_CURVE = 50  # points of a curve


@dataclass(frozen=True)
class Contender:
    """A library with one way to find a split.

    Attributes:
        name: What the results call it; begins with the library.
        options: Parameters.
    """

    name: str
    options: Options

    @property
    def library(self) -> str:
        """The package."""
        return self.name.split("_")[0]

    def is_installed(self) -> bool:
        """Whether the library can be imported here."""
        return importlib.util.find_spec(self.library) is not None


def common_options(library: str, depth: int) -> Options:
    """Level by level, lambda 1, a hessian of at least 1 in a leaf; no other limit."""
    if library == "xgboost":
        return {
            "grow_policy": "depthwise",
            "max_depth": depth,
            "max_leaves": 0,
            "reg_lambda": 1.0,
            "min_child_weight": 1.0,
        }
    return {
        "grow_policy": "depthwise",
        "max_depth": depth,
        "num_leaves": None,
        "lambda_l2": 1.0,
        "min_sum_hessian_in_leaf": 1.0,
        "min_data_in_leaf": 1,
        "max_bin": None,
    }


def speed_name(library: str, method: str) -> str:
    """Name of a contender of the speed table."""
    return f"{library}_{method.replace(', ', '_').replace('/', '_of_')}"


def speed_contenders(depth: int) -> list[Contender]:
    """Both libraries with every method; one method of both stands side by side."""
    found = []
    for method in METHODS:
        for library in LIBRARIES:
            options: Options = {"tree_method": method.split(",")[0]}
            if method in SKETCHES:
                eps, max_bin = SKETCHES[method]
                options |= {"sketch_eps": eps} if library == "gossamer" else {"max_bin": max_bin}
            options = {**common_options(library, depth), **options}
            found.append(Contender(speed_name(library, method), options))
    return found


def approx_name(proposal: str, eps: float) -> str:
    """Name of a contender of the accuracy table."""
    return f"gossamer_{proposal}_{eps:g}"


def accuracy_contenders(depth: int) -> list[Contender]:
    """Every value, bins, and each proposal with each eps; XGBoost's exact for orientation."""
    ours, theirs = common_options("gossamer", depth), common_options("xgboost", depth)
    return [
        Contender(EXACT, {**ours, "tree_method": "exact"}),
        Contender(HIST, {**ours, "tree_method": "hist"}),
        *(
            Contender(
                approx_name(proposal, eps),
                {**ours, "tree_method": "approx", "proposal": proposal, "sketch_eps": eps},
            )
            for proposal in PROPOSALS
            for eps in EPSILONS
        ),
        Contender(PEER, {**theirs, "tree_method": "exact"}),
    ]


def plan_jobs(
    case: str,
    contenders: list[Contender],
    rounds: int,
    repeats: int = 1,
    seed: int = 0,
    metric: str = "logloss",
    has_curve: bool = False,
) -> Iterator[Job]:
    """The jobs of one data set, in turns; every turn starts with another contender."""
    for repeat in range(repeats):
        shift = (repeat + seed) % max(1, len(contenders))
        for contender in contenders[shift:] + contenders[:shift]:
            labels = {
                "variant": contender.name,
                "library": contender.library,
                "sampling": "",
                "repeat": repeat,
                "is_timed": True,
            }
            curve = curve_rounds(rounds, N_CURVE) if has_curve else ()
            yield Job(
                case, contender.library, contender.options, rounds, seed, labels, curve, (), metric
            )
