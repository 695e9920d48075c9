"""Let one thing fail in a call of the library, and look what is left of a training.

What fails: an allocation, the start of a thread, or the user presses Ctrl-C. Run by
`test_faults.py` in a process with `fail.c` loaded first. The allocations that may fail are
all of the native module and of the C++ library (`operator new` is there), those of
NumPy's arrays, and the larger ones of the interpreter. Every fault happens in a forked child: a
crash is counted and ends nothing else. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from attack.children import MOST_SECONDS, in_child
from scipy.sparse import csr_array

from gossamer import Booster, Dataset, early_stopping, threads, train
from gossamer.data.storage.budget import Budget

N_ROWS: Final = 500
N_ROUNDS: Final = 4
# Parts of the paths of the libraries, and from how many bytes on their allocations may fail: the
# interpreter (a library, or the program itself) need not survive the lack of a few bytes. Of NumPy
# only the contents of arrays are watched: it does not check all other allocations, and where those
# of an indexing fail, NumPy 2.4 reads random addresses.
UNUSUAL_SIZE: Final = 1_234_567
WATCHED: Final = {b"/_native.": 0, b"libstdc++": 0, b"libpython": 2048, b"": 2048}

# ---- kinds of training ----

Kind = tuple[dict[str, Any], Callable[[], dict[str, Any]]]


def table() -> np.ndarray:
    """Numbers, few values, missing values and codes."""
    rng = np.random.default_rng(5)
    columns = rng.normal(size=(N_ROWS, 6))
    columns[:, 3] = rng.integers(0, 4, N_ROWS)
    columns[:, 4] = rng.integers(0, 40, N_ROWS)
    columns[rng.random(N_ROWS) < 0.1, 5] = np.nan
    return columns


def numbers() -> dict[str, Any]:
    """A target that is a number."""
    rows = table()
    noise = np.random.default_rng(6).normal(size=N_ROWS)
    return {"data": rows, "label": rows[:, 0] * rows[:, 1] + np.sin(rows[:, 4]) + 0.3 * noise}


def classes(n_classes: int = 2) -> dict[str, Any]:
    """Classes of the same size."""
    found = numbers()
    return found | {"label": np.argsort(np.argsort(found["label"])) * n_classes // N_ROWS}


def categories(make: Callable[[], dict[str, Any]] = numbers) -> dict[str, Any]:
    """Two of the columns are categorical."""
    return make() | {"categorical_feature": [3, 4]}


def heavy_tail() -> dict[str, Any]:
    """A gradient that dwarfs the others; its row is in the samples of the second half of rounds."""
    found = numbers() | {"weight": np.random.default_rng(8).random(N_ROWS)}
    found["label"][0] = 1e5
    return found


def sparse() -> dict[str, Any]:
    """Compressed rows, nearly all zero."""
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(N_ROWS, 40)).round(1) * (rng.random((N_ROWS, 40)) < 0.05)
    rows[:, :3] = rng.normal(size=(N_ROWS, 3))
    return {"data": csr_array(rows), "label": rows[:, 0] + rows.sum(axis=1)}


def many_columns() -> dict[str, Any]:
    """Columns that are searched side by side, and some over."""
    rows = np.random.default_rng(9).normal(size=(N_ROWS, 43)).round(1)
    return {"data": rows, "label": rows[:, 0] * rows[:, 40] + rows[:, 17]}


def lifetimes() -> dict[str, Any]:
    """Times; those below zero are of rows that were still alive."""
    found = numbers()
    times = np.exp(found["label"] / np.abs(found["label"]).max())
    return found | {"label": np.where(np.arange(N_ROWS) % 3 == 0, -times, times)}


def queries() -> dict[str, Any]:
    """Rows to be ranked."""
    return classes(4) | {"group": np.full(N_ROWS // 10, 10)}


def targets() -> dict[str, Any]:
    """Three targets."""
    label = numbers()["label"]
    return {"data": table(), "label": np.column_stack([label, label**2, -label])}


def weighted() -> dict[str, Any]:
    """Rows with weights and scores to start from."""
    rng = np.random.default_rng(8)
    return numbers() | {"weight": rng.random(N_ROWS), "init_score": rng.normal(size=N_ROWS)}


# Parameters that a data set must know before it is constructed.
NEEDED: Final = (
    *("linear_tree", "tree_method", "verbosity", "cat_target_statistics", "max_memory"),
    "max_conflict_rate",
)
COSTS: Final = {"cegb_penalty_feature_lazy": [0.01] * 6, "cegb_penalty_feature_coupled": [0.5] * 6}
WIDE: Final = {
    "bagging_fraction": 0.5,
    "bagging_freq": 1,
    "learning_rate": 0.01,
    "boost_from_average": False,
    "bagging_seed": 0,
}
FORCED: Final = {"feature": 0, "threshold": 0.1, "left": {"feature": 3, "threshold": 1.5}}
KINDS: Final[dict[str, Kind]] = {
    "regression": ({}, numbers),
    "binary": ({"objective": "binary"}, classes),
    "multiclass": ({"objective": "multiclass", "num_class": 3}, partial(classes, 3)),
    "l1": ({"objective": "regression_l1"}, numbers),
    "quantiles": ({"objective": "quantile", "quantile_alpha": [0.2, 0.8]}, numbers),
    "categories": ({"cat_target_statistics": "off", "min_data_per_group": 5}, categories),
    "one-hot": ({"cat_target_statistics": "off", "max_cat_to_onehot": 50}, categories),
    "statistics": (
        {"cat_target_statistics": "on", "objective": "binary"},
        partial(categories, classes),
    ),
    "goss": ({"data_sample_strategy": "goss", "objective": "binary"}, classes),
    "mvs": ({"data_sample_strategy": "mvs", "bagging_fraction": 0.5}, numbers),
    "bagging": ({"bagging_fraction": 0.5, "bagging_freq": 2, "feature_fraction": 0.7}, numbers),
    "dart": ({"boosting": "dart", "drop_rate": 0.9, "skip_drop": 0.0}, numbers),
    "rf": ({"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}, numbers),
    "linear": ({"linear_tree": True}, numbers),
    "exact": ({"tree_method": "exact"}, numbers),
    "approx": ({"tree_method": "approx", "objective": "binary"}, classes),
    "approx by leaf": ({"tree_method": "approx", "proposal": "local"}, numbers),
    "monotone": ({"monotone_constraints": [1, -1, 0, 0, 0, 0]}, numbers),
    "monotone advanced": (
        {"monotone_constraints": [1, -1, 0, 0, 0, 0], "monotone_constraints_method": "advanced"},
        numbers,
    ),
    "interaction": ({"interaction_constraints": [[0, 1], [2, 3, 4]]}, numbers),
    "costs": (COSTS, numbers),
    "forced splits": ({"forced_splits": FORCED}, numbers),
    "extra trees": ({"extra_trees": True, "feature_fraction_bynode": 0.5}, numbers),
    "wide cells": (WIDE, heavy_tail),
    "small pool": ({"histogram_pool_size": 0.001, "num_leaves": 31}, numbers),
    "vector leaves": ({"multi_strategy": "multi_output_tree"}, targets),
    "targets": ({}, targets),
    "sparse": ({}, sparse),
    "ranking": ({"objective": "lambdarank"}, queries),
    "parallel trees": (
        {"num_parallel_tree": 2, "bagging_fraction": 0.7, "bagging_freq": 1},
        numbers,
    ),
    "weighted": ({"weight": ""}, weighted),
    "pages": ({"max_memory": "1GB"}, numbers),
    "statistics on pages": (
        {"cat_target_statistics": "on", "max_memory": "1GB"},
        partial(categories, numbers),
    ),
    "depth-wise": ({"grow_policy": "depthwise", "path_smooth": 3.0}, numbers),
    "symmetric": ({"grow_policy": "symmetric", "objective": "binary"}, classes),
    "symmetric with categories": (
        {"grow_policy": "symmetric", "cat_target_statistics": "off", "min_data_per_group": 5},
        categories,
    ),
    "gaussian": ({"objective": "gaussian"}, numbers),
    "cox": ({"objective": "cox"}, lifetimes),
    "many columns": ({"num_leaves": 31}, many_columns),
    "conflicts": ({"max_conflict_rate": 0.1}, sparse),
    "pruned": ({"prune": True, "min_gain_to_split": 1.0, "grow_policy": "depthwise"}, numbers),
}


class Case:
    """One kind of training, at one number of threads."""

    def __init__(self, kind: str, n_threads: int, folder: Path) -> None:
        """Train it undisturbed."""
        params, self._make = KINDS[kind]
        self._params = {
            "num_leaves": 8,
            "min_data_in_leaf": 5,
            "learning_rate": 0.3,
            "num_threads": n_threads,
            "verbosity": -1,
            "is_provide_training_metric": True,
            **{name: value for name, value in params.items() if name != "weight"},
        }
        self.path = folder / "model.gossamer"
        self.may_leave_parts = False  # Ctrl-C may come as a file is made
        self.booster = self.start()
        self.models = [self.booster.model_to_string()]
        self.scores = []
        for _ in range(N_ROUNDS):
            self.booster.update()
            self.models.append(self.booster.model_to_string())
            self.scores.append(self.evaluate(self.booster))
        self.rows = self._make()["data"]
        self.predictions = self.booster.predict(self.rows)
        self.booster.save_model(self.path)
        self.saved = self.path.read_bytes()
        self.stopped = self.train(self.data()).model_to_string()

    def data(self) -> Dataset:
        """The data set, not constructed yet."""
        params = {name: self._params[name] for name in NEEDED if name in self._params}
        return Dataset(**self._make(), params=params)

    def start(self, data: Dataset | None = None) -> Booster:
        """A training with a validation set, before its first round."""
        data = self.data() if data is None else data
        booster = Booster(self._params, data)
        booster.add_valid(Dataset(**self._make(), reference=data), "valid")
        return booster

    def train(self, data: Dataset) -> Booster:
        """A whole training that may stop early."""
        valid = Dataset(**self._make(), reference=data)
        callbacks = (
            [] if self._params.get("boosting") == "dart" else [early_stopping(2, verbose=False)]
        )
        return train(self._params, data, 4, valid_sets=[valid], callbacks=callbacks)

    def evaluate(self, booster: Booster) -> Any:
        """Metrics of both data sets."""
        return booster.eval_train(), booster.eval_valid()

    def finish(self, booster: Booster) -> None:
        """Whatever happened before, further rounds must give the undisturbed model."""
        n_rounds = booster.current_iteration()
        check(booster.model_to_string() == self.models[n_rounds], "another model after the fault")
        for _ in range(n_rounds, N_ROUNDS):
            booster.update()
        check(booster.model_to_string() == self.models[-1], "another model further on")
        check(self.evaluate(booster) == self.scores[-1], "other metrics further on")
        check(np.array_equal(booster.predict(self.rows), self.predictions), "other predictions")


def check(holds: bool, what: str) -> None:
    """Stop the child with this word."""
    if not holds:
        raise AssertionError(what)


# ---- where faults happen: each yields the call in which they do, and checks what is left ----


def in_construct(case: Case) -> Iterator[Any]:
    """While a data set is constructed."""
    data = case.data()
    yield data.construct
    case.finish(case.start(data))


def in_start(case: Case) -> Iterator[Any]:
    """While a training is set up, with a validation set."""
    data = case.data()
    yield lambda: case.start(data)
    case.finish(case.start(data))


def in_first_round(case: Case) -> Iterator[Any]:
    """In the first round: nothing has memory yet, and no threads are there."""
    booster = case.start()
    yield booster.update
    case.finish(booster)


def in_third_round(case: Case) -> Iterator[Any]:
    """In a later round."""
    booster = case.start()
    booster.update()
    booster.update()
    yield booster.update
    case.finish(booster)


def in_rollback(case: Case) -> Iterator[Any]:
    """While a round is taken back and done again."""
    booster = case.start()
    for _ in range(3):
        booster.update()
    yield partial(_rollback_and_update, booster)
    case.finish(booster)


def _rollback_and_update(booster: Booster) -> None:
    booster.rollback_one_iter()
    booster.update()


def in_reset(case: Case) -> Iterator[Any]:
    """While parameters change between rounds."""
    booster, other = case.start(), case.start()
    changes = {"lambda_l2": 2.0, "min_data_in_leaf": 20}
    booster.update()
    yield partial(booster.reset_parameter, changes)
    other.update()
    other.reset_parameter(changes)
    booster.reset_parameter(changes)
    for model in (booster, other):
        model.update()
    check(booster.model_to_string() == other.model_to_string(), "another model further on")


def in_metrics(case: Case) -> Iterator[Any]:
    """While metrics are computed."""
    booster = case.start()
    booster.update()
    yield partial(case.evaluate, booster)
    check(case.evaluate(booster) == case.scores[0], "other metrics")
    case.finish(booster)


def in_train(case: Case) -> Iterator[Any]:
    """Anywhere in a whole training."""
    data = case.data()
    yield partial(case.train, data)
    check(case.train(data).model_to_string() == case.stopped, "another model from the same data")


def in_predict(case: Case) -> Iterator[Any]:
    """While predicting, with a model that was never used."""
    booster = Booster(model_str=case.models[-1])
    yield partial(booster.predict, case.rows)
    check(np.array_equal(booster.predict(case.rows), case.predictions), "other predictions")
    check(booster.model_to_string() == case.models[-1], "another model")


def in_save(case: Case) -> Iterator[Any]:
    """While a file is written over another one."""
    other = Booster(model_str=case.models[1])
    other.save_model(case.path)
    before = case.path.read_bytes()
    yield partial(case.booster.save_model, case.path)
    check(case.path.read_bytes() in (before, case.saved), "half a file")
    if not case.may_leave_parts:
        check(len(list(case.path.parent.iterdir())) == 1, "a file left behind")
    case.booster.save_model(case.path)
    check(len(list(case.path.parent.iterdir())) == 1, "a file that the next save left")
    check(case.path.read_bytes() == case.saved, "another file")


def in_load(case: Case) -> Iterator[Any]:
    """While a file is read."""
    yield partial(Booster, model_file=case.path)
    check(Booster(model_file=case.path).model_to_string() == case.models[-1], "another model")


PLACES: Final = {
    place.__name__.removeprefix("in_"): place
    for place in (
        *(in_first_round, in_third_round, in_rollback, in_reset, in_construct, in_start),
        *(in_metrics, in_train, in_predict, in_save, in_load),
    )
}

# ---- faults ----


class Allocations:
    """Allocations fail, with the functions of `fail.c`."""

    expected = "MemoryError"

    def __init__(self) -> None:
        """Watch the libraries, which must be loaded by now."""
        library = ctypes.CDLL(None)
        self._arm = library.fail_malloc_arm
        self._arm.argtypes = [ctypes.c_long, ctypes.c_long]
        self._disarm = library.fail_malloc_disarm
        self._disarm.restype = ctypes.c_long
        library.fail_malloc_watch.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        n_ranges = [library.fail_malloc_watch(*watched) for watched in WATCHED.items()]
        check(n_ranges[0] > 0, "the native module is not loaded")
        library.fail_malloc_learn.argtypes = [ctypes.c_size_t]
        for make in (np.empty, np.zeros):
            library.fail_malloc_learn(UNUSUAL_SIZE)
            make(UNUSUAL_SIZE, dtype=np.uint8)
            check(library.fail_malloc_watch_learned() == 1, "NumPy allocates in another way")

    def prepare(self, case: Case, first: int) -> None:
        """A child starts without threads of ours. Before every other fault it starts some."""
        if first % 2 == 1:
            case.booster.predict(case.rows)

    def during(self, call: Callable[[], Any], first: int, last: int) -> tuple[int, str]:
        """Call with these allocations failing; return how many there were, and what was raised."""
        raised = ""
        self._arm(first, last)
        try:
            call()
        except MemoryError:
            raised = "MemoryError"
        except BaseException as error:  # a wrong one, to be reported
            self._disarm()
            raised = f"{type(error).__name__}: {error}"
        return self._disarm(), raised


class ThreadStarts:
    """Threads cannot be started, with the functions of `fail.c`."""

    expected = ""  # the others do the work

    def __init__(self) -> None:
        """Find the functions."""
        library = ctypes.CDLL(None)
        self._arm = library.fail_threads_arm
        self._arm.argtypes = [ctypes.c_long, ctypes.c_long]
        self._disarm = library.fail_threads_disarm
        self._disarm.restype = ctypes.c_long

    def prepare(self, case: Case, first: int) -> None:
        """A child starts without threads of ours: there is nothing to do."""

    def during(self, call: Callable[[], Any], first: int, last: int) -> tuple[int, str]:
        """Call with these threads not starting; return how many were, and what was raised."""
        self._arm(first, last)
        call()
        return self._disarm(), ""


class Interrupts:
    """The user presses Ctrl-C; a point is a time in microseconds."""

    expected = "KeyboardInterrupt"

    def prepare(self, case: Case, first: int) -> None:
        """Say what Ctrl-C does, as Python itself would."""
        case.may_leave_parts = True
        signal.signal(signal.SIGALRM, signal.default_int_handler)

    def during(self, call: Callable[[], Any], first: int, last: int) -> tuple[int, str]:
        """Call, interrupt after a time, and return how long it took, and what was raised."""
        raised = ""
        begin = time.perf_counter()
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, first / 1e6)
                call()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:  # from here, too: it may come as the call ends
            raised = "KeyboardInterrupt"
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
        return int(1e6 * (time.perf_counter() - begin)), raised


Faults = Allocations | ThreadStarts | Interrupts
KINDS_OF_FAULTS: Final = {
    "allocations": Allocations,
    "threads": ThreadStarts,
    "interrupts": Interrupts,
}


def attack(
    case: Case,
    call: Callable[[], Any],
    rest: Iterator[Any],
    faults: Faults,
    first: int,
    last: int,
) -> dict[str, Any]:
    """Make the call with faults, and go on with the rest, in a child; return what became of it."""

    def work() -> dict[str, Any]:
        faults.prepare(case, first)
        n, raised = faults.during(call, first, last)
        for _ in rest:
            pass
        return {"n": n, "raised": raised}

    found = in_child(work)
    if found.get("raised", "") not in ("", faults.expected) and "memory" not in found["raised"]:
        found["wrong"] = "raised " + found["raised"]
    return found


def choose_points(n: int, most: int, seed: int) -> list[int]:
    """Some of the allocations 1 to n: all of them where there are few enough."""
    if n <= most:
        return list(range(1, n + 1))
    return sorted(np.random.default_rng(seed).choice(n, most, replace=False) + 1)


def main() -> None:
    """Attack, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--faults", choices=list(KINDS_OF_FAULTS), default="allocations")
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--places", nargs="*", default=list(PLACES))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--points", type=int, default=3, help="faults by kind and place")
    parser.add_argument("--until", type=int, default=2000, help="the last allocation that may fail")
    parser.add_argument("--lasting", action="store_true", help="all later ones fail, too")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    threads.CELLS_PER_THREAD = 1  # threads are used however small the data
    # So are pages, where there is a limit of memory.
    Budget.holds_table = lambda self, *_: self.cap == 0  # type: ignore[method-assign]
    Budget.holds_validation = Budget.holds_table  # type: ignore[method-assign]
    Budget.loaded_bytes = lambda *_: 0  # type: ignore[method-assign]
    Budget.page_rows = lambda *_: 100  # type: ignore[method-assign]
    faults = KINDS_OF_FAULTS[args.faults]()
    until = sys.maxsize if args.faults == "interrupts" else args.until
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    counts: dict[str, int] = {}
    for kind in args.kinds:
        with tempfile.TemporaryDirectory() as folder:
            case = Case(kind, args.threads, Path(folder))
            for place in args.places:
                steps = PLACES[place](case)
                fail = partial(attack, case, next(steps), steps, faults)
                undisturbed = fail(0, 0)
                check("wrong" not in undisturbed, f"{kind}, {place}: {undisturbed}")
                n = counts[f"{kind}, {place}"] = undisturbed["n"]
                for point in choose_points(min(n, until), args.points, args.seed):
                    last = sys.maxsize if args.lasting else point
                    found = fail(int(point), last)
                    outcomes[found.get("wrong") or found["raised"] or "no error"] += 1
                    if "wrong" in found:
                        failures.append(f"{kind}, in {place}, {args.faults} {point}: {found}")
                        print(failures[-1], file=sys.stderr, flush=True)
    print(json.dumps({"outcomes": outcomes, "failures": failures, "allocations": counts}))


if __name__ == "__main__":
    main()
