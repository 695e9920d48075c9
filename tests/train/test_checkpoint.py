"""Checkpoints: a training that is killed and started again gives the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import gossamer
from gossamer import (
    Booster,
    DataError,
    Dataset,
    ModelFileError,
    ParameterError,
    checkpoint,
    early_stopping,
    files,
    record_evaluation,
    reset_parameter,
    threads,
    train,
)
from gossamer.callbacks import CallbackEnv

RNG = np.random.default_rng(11)
TABLE = RNG.normal(size=(300, 4))
LABEL = TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2] + 0.3 * RNG.normal(size=300)
CLASSES = np.digitize(LABEL, [-0.7, 0.7])
GROUP = [10] * 30
QUIET: dict[str, Any] = {"num_leaves": 6, "verbosity": -1, "num_threads": 1}
MULTI = {"objective": "multiclass", "num_class": 3}


class Killed(Exception):
    """Stands for the end of a process."""


def die_after(n_rounds: int) -> Callable[[CallbackEnv], None]:
    """A callback that ends the training, after all others but the checkpoint."""

    def die(env: CallbackEnv) -> None:
        if env.iteration - env.begin_iteration == n_rounds:
            raise Killed

    return die


def squares(scores: Any, data: Dataset) -> Any:
    return scores - data.get_label(), np.ones_like(scores)


def worst(predictions: Any, data: Dataset) -> Any:
    return "worst", float(np.abs(predictions - data.get_label()).max()), False


CASES: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "plain": ({}, LABEL, {}),
    "weights": ({}, LABEL, {"weight": np.arange(300) + 1.0}),
    "initial scores": ({}, LABEL, {"init_score": LABEL * 0.5}),
    "bagging": ({"bagging_fraction": 0.5, "bagging_freq": 4}, LABEL, {}),
    "goss": ({"data_sample_strategy": "goss", "learning_rate": 0.4}, LABEL, {}),
    "mvs": ({"data_sample_strategy": "mvs", "bagging_fraction": 0.5}, LABEL, {}),
    "extra trees": ({"extra_trees": True, "feature_fraction": 0.5}, LABEL, {}),
    "columns by node": ({"feature_fraction_bynode": 0.5}, LABEL, {}),
    "l1": ({"objective": "l1"}, LABEL, {}),
    "multiclass": (MULTI, CLASSES, {}),
    "vector leaves": ({**MULTI, "multi_strategy": "multi_output_tree"}, CLASSES, {}),
    "targets": ({}, np.column_stack([LABEL, -LABEL]), {}),
    "xendcg": ({"objective": "rank_xendcg"}, CLASSES, {"group": GROUP}),
    "position bias": (
        {"objective": "lambdarank"},
        CLASSES,
        {"group": GROUP, "position": np.arange(300) % 10},
    ),
    "custom": ({"objective": squares}, LABEL, {}),
    "no more splits": ({"min_gain_to_split": 5.0}, LABEL, {}),
}


def run(
    case: str, callbacks: list[Any], n_rounds: int = 14, **arguments: Any
) -> tuple[bytes, dict[str, Any]]:
    params, label, fields = CASES[case]
    data = Dataset(TABLE, label, **fields)
    valid = data.create_valid(
        TABLE[:100],
        label[:100],
        **{k: v[:10] if k == "group" else v[:100] for k, v in fields.items()},
    )
    history: dict[str, Any] = {}
    booster = train(
        {**QUIET, **params},
        data,
        n_rounds,
        [data, valid],
        ["learn", "valid"],
        callbacks=[record_evaluation(history), *callbacks],
        **arguments,
    )
    text = booster.model_to_string() + repr((booster.best_iteration, booster.best_score))
    return text.encode(), history


@pytest.mark.parametrize("case", CASES)
def test_going_on_gives_the_same_bytes(case: str, tmp_path: Path) -> None:
    expected = run(case, [])
    path = tmp_path / "run"
    for n_rounds in (3, 4, 9):
        try:
            run(case, [die_after(n_rounds), checkpoint(path, every_rounds=1)])
        except Killed:
            assert path.exists()
    assert run(case, [die_after(99), checkpoint(path, every_rounds=1)]) == expected
    # It had come to its end: nothing is left to do.
    assert run(case, [die_after(99), checkpoint(path, every_rounds=1)]) == expected


def test_bundles_sparse_columns_and_missing_values(tmp_path: Path) -> None:
    table = np.zeros((3000, 60))
    rows = np.arange(3000)
    table[rows, RNG.integers(0, 12, 3000)] = 1
    table[rows, RNG.integers(12, 60, 3000)] = RNG.integers(1, 5, 3000)
    table[rows[::50], 3] = np.nan
    label = table @ RNG.normal(size=60)
    label[np.isnan(label)] = 1.0

    def fit(*callbacks: Any) -> str:
        data = Dataset(csr_array(table), label)
        return train(QUIET, data, 12, callbacks=list(callbacks)).model_to_string()

    path = tmp_path / "run"
    with pytest.raises(Killed):
        fit(die_after(6), checkpoint(path, 1))
    assert fit(die_after(99), checkpoint(path, 1)) == fit()
    table[1500] = 0  # one of the rows that are looked at
    with pytest.raises(DataError, match=r"the (bin bounds|values) of the training data differ"):
        fit(die_after(99), checkpoint(path, 1))


def test_a_data_set_from_a_file(tmp_path: Path) -> None:
    Dataset(TABLE, LABEL).save_binary(tmp_path / "rows")

    def fit(*callbacks: Any) -> str:
        data = Dataset(tmp_path / "rows")
        return train(QUIET, data, 12, callbacks=list(callbacks)).model_to_string()

    with pytest.raises(Killed):
        fit(die_after(6), checkpoint(tmp_path / "run", 1))
    assert fit(die_after(99), checkpoint(tmp_path / "run", 1)) == fit()


@pytest.mark.parametrize("n_rounds", [1, 6, 11])
def test_early_stopping_and_schedules_go_on(n_rounds: int, tmp_path: Path) -> None:
    def callbacks(*others: Any) -> list[Any]:
        return [
            early_stopping(5, verbose=False),
            reset_parameter(
                learning_rate=lambda i: 0.9 * 0.95**i,
                num_leaves=[5 + i % 3 for i in range(60)],
                bagging_fraction=lambda i: 0.8 if i < 8 else 0.5,
                bagging_freq=lambda i: 2,
            ),
            *others,
        ]

    expected = run("plain", callbacks(), n_rounds=60)
    history = expected[1]["valid"]["l2"]
    assert n_rounds + 1 < len(history) < 60  # stopped, and not before the break
    with pytest.raises(Killed):
        run(
            "plain",
            callbacks(die_after(n_rounds), checkpoint(tmp_path / "run", every_rounds=1)),
            n_rounds=60,
        )
    found = run(
        "plain",
        callbacks(die_after(99), checkpoint(tmp_path / "run", every_rounds=1)),
        n_rounds=60,
    )
    assert found == expected
    assert found[1]["valid"]["l2"] == history


def test_early_stopping_as_a_parameter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CASES, "stops", ({"early_stopping_round": 4, "eta": 0.9}, LABEL, {}))
    expected = run("stops", [], n_rounds=80)
    with pytest.raises(Killed):
        run("stops", [die_after(5), checkpoint(tmp_path / "run", every_rounds=2)], n_rounds=80)
    found = run("stops", [die_after(99), checkpoint(tmp_path / "run", every_rounds=2)], 80)
    assert found == expected


def test_metric_functions_and_metric_freq(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CASES, "rare", ({"metric_freq": 5, "metric": ["l1", "rmse"]}, LABEL, {}))
    expected = run("rare", [], feval=worst)
    with pytest.raises(Killed):
        run("rare", [die_after(7), checkpoint(tmp_path / "run", every_rounds=1)], feval=worst)
    found = run("rare", [die_after(99), checkpoint(tmp_path / "run", every_rounds=1)], feval=worst)
    assert found == expected


@pytest.mark.parametrize("case", ["plain", "multiclass", "bagging"])
def test_continued_training(case: str, tmp_path: Path) -> None:
    params, label, _ = CASES[case]
    old = train({**QUIET, **params}, Dataset(TABLE, label), 4)
    expected = run(case, [], init_model=old)
    path = tmp_path / "run"
    with pytest.raises(Killed):
        run(case, [die_after(6), checkpoint(path, every_rounds=2)], init_model=old)
    found = run(case, [die_after(99), checkpoint(path, every_rounds=2)], init_model=old)
    assert found == expected
    longer = train({**QUIET, **params}, Dataset(TABLE, label), 5)
    for other in (longer, None):
        with pytest.raises(DataError, match="was made with another init_model"):
            run(case, [die_after(99), checkpoint(path, every_rounds=2)], init_model=other)


def test_any_number_of_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)
    params = {**MULTI, "bagging_fraction": 0.5}
    monkeypatch.setitem(CASES, "threads", (params, CASES["multiclass"][1], {}))
    expected = run("threads", [])
    for n_threads in (2, 3, 8):
        path = tmp_path / str(n_threads)
        params["num_threads"] = n_threads
        with pytest.raises(Killed):
            run("threads", [die_after(5), checkpoint(path, every_rounds=1)])
        params["num_threads"] = 1
        assert run("threads", [die_after(9), checkpoint(path, every_rounds=1)], 9)[0]
        params["num_threads"] = 3
        assert run("threads", [die_after(99), checkpoint(path, every_rounds=1)]) == expected


def test_estimators(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    options = {"n_estimators": 12, "num_leaves": 6, "verbosity": -1, "random_state": 3}

    def fit(*callbacks: Any) -> Any:
        model = gossamer.GossamerClassifier(**options)
        return model.fit(TABLE, CLASSES, eval_set=[(TABLE, CLASSES)], callbacks=list(callbacks))

    expected = fit()
    with pytest.raises(Killed):
        fit(die_after(5), checkpoint(tmp_path / "run", every_rounds=1))
    found = fit(die_after(99), checkpoint(tmp_path / "run", every_rounds=1))
    assert found.booster_.model_to_string() == expected.booster_.model_to_string()
    assert found.evals_result_ == expected.evals_result_


def test_more_rounds_than_before(tmp_path: Path) -> None:
    path = tmp_path / "run"
    run("plain", [checkpoint(path, every_rounds=1)], n_rounds=6)
    found = run("plain", [checkpoint(path, every_rounds=1)], n_rounds=14)
    assert found == run("plain", [])
    with pytest.raises(ParameterError, match="has more rounds than requested: got 14"):
        run("plain", [checkpoint(path, every_rounds=1)], n_rounds=13)


class TestWhen:
    """every_rounds, every_seconds, resume."""

    def written(self, path: Path, n_rounds: int = 12, **options: Any) -> list[int]:
        """The rounds after which the file was written, as seen in the next one."""
        rounds, last = [], [b""]

        def look(env: CallbackEnv) -> None:
            content = path.read_bytes() if path.exists() else b""
            if content != last[0]:
                rounds.append(env.iteration)
                last[0] = content

        look.order = 2_000_000  # type: ignore[attr-defined]  # the checkpoint still comes last
        run("plain", [look, checkpoint(path, **options)], n_rounds)
        return rounds

    def test_rounds(self, tmp_path: Path) -> None:
        assert self.written(tmp_path / "run", every_rounds=5) == [5, 10]

    def test_seconds(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        now = [0.0]

        def clock() -> float:
            now[0] += 1.0
            return now[0]

        module = sys.modules["gossamer.callbacks.checkpoint"]
        monkeypatch.setattr(module.time, "monotonic", clock)
        rounds = self.written(tmp_path / "run", every_seconds=4.0)
        assert 2 <= len(rounds) <= 4
        assert self.written(tmp_path / "other") == []  # a minute
        both = self.written(tmp_path / "both", every_rounds=5, every_seconds=1000.0)
        assert both == [5, 10]

    def test_start_anew(self, tmp_path: Path) -> None:
        path = tmp_path / "run"
        self.written(path, every_rounds=5)
        seen: list[int] = []
        run("plain", [lambda env: seen.append(env.iteration), checkpoint(path, 5, resume=False)])
        assert seen == list(range(14))

    def test_leftovers_of_killed_processes_are_removed(self, tmp_path: Path) -> None:
        path = tmp_path / "run"
        other = tmp_path / ".run.notes"
        program = (
            "import os, sys; from pathlib import Path; from gossamer.files import PartFile\n"
            "part = PartFile(Path(sys.argv[1])); os.kill(os.getpid(), 9)"
        )
        subprocess.run([sys.executable, "-c", program, str(path)], check=False)
        (leftover,) = tmp_path.iterdir()
        other.write_bytes(b"mine")
        run("plain", [checkpoint(path, 5)])
        assert not leftover.exists() and other.exists()

    def test_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "run"
        expected = run("plain", [])
        with pytest.raises(Killed):
            run("plain", [die_after(5), checkpoint(path, 2)])
        content = path.read_bytes()

        def fail(descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("gossamer.files.os.fsync", fail)
            with pytest.warns(UserWarning, match="could not be written: .*No space left"):
                found = run("plain", [die_after(99), checkpoint(path, 2)])
        assert found == expected
        assert path.read_bytes() == content
        assert os.listdir(tmp_path) == ["run"]


class TestBadInput:
    """Files of other trainings, and broken ones."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        with pytest.raises(Killed):
            run("weights", [die_after(5), checkpoint(tmp_path / "run", 2)])
        return tmp_path / "run"

    def go_on(self, path: Path, params: Any = None, label: Any = LABEL, **changes: Any) -> None:
        fields = {"weight": np.arange(300) + 1.0, **changes}
        table, names = fields.pop("table", TABLE), fields.pop("names", ["learn", "valid"])
        valid_label = fields.pop("valid_label", LABEL[:100])
        callbacks = fields.pop("callbacks", [die_after(99)])
        data = Dataset(table, label, **fields)
        valid = data.create_valid(TABLE[:100], valid_label, weight=np.arange(100) + 1.0)
        train(
            {**QUIET, **(params or {})},
            data,
            14,
            [data, valid],
            names,
            callbacks=[record_evaluation({}), *callbacks, checkpoint(path, 2)],
        )

    def test_the_same(self, path: Path) -> None:
        self.go_on(path)

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"label": LABEL + (np.arange(300) == 7)}, "the label of the training data differ"),
            ({"weight": np.ones(300)}, "the weight of the training data differ"),
            ({"weight": None}, "the weight of the training data differ"),
            ({"init_score": LABEL}, "the init_score of the training data differ"),
            ({"feature_name": list("abcd")}, "the names of columns of the training data differ"),
            ({"table": TABLE + 1e-9}, "the bin bounds of the training data differ"),
            ({"table": TABLE[::-1]}, "the values of the training data differ"),
            ({"valid_label": -LABEL[:100]}, "the label of the data set 'valid' differ"),
            ({"names": ["learn", "check"]}, "was made with other validation sets"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_other_data(self, path: Path, changes: Any, words: str) -> None:
        content = path.read_bytes()
        with pytest.raises(DataError, match=words):
            self.go_on(path, **changes)
        assert path.read_bytes() == content

    def test_other_rows(self, path: Path) -> None:
        weight = np.arange(299) + 1.0
        with pytest.raises(DataError, match="the rows of the training data differ: got 300"):
            self.go_on(path, table=TABLE[:-1], label=LABEL[:-1], weight=weight)

    @pytest.mark.parametrize(
        ("params", "words"),
        [
            ({"learning_rate": 0.2}, "another learning_rate: got 0.1, expected 0.2"),
            ({"num_leaves": 5}, "another num_leaves: got 6, expected 5"),
            ({"seed": 3}, "another (seed|.*_seed)"),
            ({"metric": "l1"}, "another metric"),
        ],
    )
    def test_other_parameters(self, path: Path, params: Any, words: str) -> None:
        with pytest.raises(ParameterError, match=words):
            self.go_on(path, params)

    def test_parameters_that_do_not_matter(self, path: Path) -> None:
        self.go_on(path, {"num_threads": 2, "verbosity": -2})
        # No tree depends on these either.
        self.go_on(path, {"use_quantized_grad": True, "is_enable_sparse": False, "two_round": True})

    def test_other_callbacks(self, path: Path) -> None:
        with pytest.raises(ParameterError, match="was made with other callbacks"):
            self.go_on(path, callbacks=[])

    def test_another_version(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gossamer.model.training.checkpoint._library_version", lambda: "99.0")
        with pytest.raises(ModelFileError, match="another version of Gossamer"):
            self.go_on(path)

    def test_another_format(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gossamer.model.training.checkpoint.VERSION", 2)
        with pytest.raises(ModelFileError, match="is of another format: got 1, expected 2"):
            self.go_on(path)

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
    def test_cut_off(self, path: Path, share: float) -> None:
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(ModelFileError, match="cannot be read"):
            self.go_on(path)

    def test_altered(self, path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[-100] ^= 1
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="checksum"):
            self.go_on(path)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("forest.left", -1),
            ("forest.left", 0),
            ("forest.right", 2**31 - 1),
            ("forest.column", 4),
            ("forest.threshold", 0.125),
            ("forest.leaf_value", np.nan),
            ("forest.column", None),
            ("start", None),
            ("start", np.inf),
        ],
    )
    def test_arrays_that_do_not_fit(self, path: Path, name: str, value: Any) -> None:
        arrays, facts = files.from_bytes(path.read_bytes())
        found = arrays["state.training." + name].copy()
        if value is None:  # another type, too long
            found = np.concatenate([found, found]).astype(np.float32)
        else:
            found[-1] = value
        path.write_bytes(files.to_bytes({**arrays, "state.training." + name: found}, facts))
        with pytest.raises(ModelFileError, match="is inconsistent"):
            self.go_on(path)

    @pytest.mark.parametrize("value", [1.5, -1, True, "2", None])
    def test_rounds_that_are_no_number(self, path: Path, value: Any) -> None:
        arrays, facts = files.from_bytes(path.read_bytes())
        state = [[key, value if key == "n_done" else v] for key, v in facts["state"]["dict"]]
        path.write_bytes(files.to_bytes(arrays, {**facts, "state": {"dict": state}}))
        with pytest.raises(ModelFileError, match="is inconsistent"):
            self.go_on(path)

    @pytest.mark.parametrize("name", ["leaf_count", "leaf_weight", "node_value", "gain"])
    def test_arrays_that_are_cut_off(self, path: Path, name: str) -> None:
        """Those that prediction does not need, too: once an error of division much later."""
        arrays, facts = files.from_bytes(path.read_bytes())
        name = f"state.training.forest.{name}"
        path.write_bytes(files.to_bytes({**arrays, name: arrays[name][:0]}, facts))
        with pytest.raises(ModelFileError, match=r"is inconsistent .*differ in length"):
            self.go_on(path)

    @pytest.mark.parametrize("name", ["identity", "state"])
    @pytest.mark.parametrize("value", [None, 0, "x", [], {}, True])
    def test_facts_that_do_not_fit(self, path: Path, name: str, value: Any) -> None:
        arrays, facts = files.from_bytes(path.read_bytes())
        path.write_bytes(files.to_bytes(arrays, {**facts, name: value}))
        with pytest.raises(ModelFileError, match="is inconsistent"):
            self.go_on(path)

    def test_a_model_is_no_checkpoint(self, path: Path) -> None:
        train(QUIET, Dataset(TABLE, LABEL), 1).save_model(path)
        with pytest.raises(ModelFileError, match="is not a checkpoint: got 'gossamer model'"):
            self.go_on(path)

    def test_a_checkpoint_is_no_model(self, path: Path) -> None:
        with pytest.raises(ModelFileError, match="is not a model: got 'gossamer checkpoint'"):
            Booster(model_file=path)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((3,), "path cannot be used"),
            (("x", 0), "every_rounds cannot be used: got 0"),
            (("x", 2.5), "every_rounds cannot be used"),
            (("x", True), "every_rounds cannot be used"),
            (("x", None, -1), "every_seconds cannot be used"),
            (("x", None, "1"), "every_seconds cannot be used"),
        ],
    )
    def test_arguments(self, arguments: Any, words: str) -> None:
        with pytest.raises(ParameterError, match=words):
            checkpoint(*arguments)

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        for path in (tmp_path / "no" / "run", tmp_path):
            with pytest.raises(ParameterError, match="cannot be written there"):
                run("plain", [checkpoint(path, 2)])

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
    def test_a_named_pipe_cannot_be_read_again(self, tmp_path: Path) -> None:
        path = tmp_path / "run"
        os.mkfifo(path)
        with pytest.raises(ParameterError, match=r"cannot be written there.*expected a file"):
            run("plain", [checkpoint(path, 2, resume=False)])
        assert path.is_fifo()

    def test_a_state_that_cannot_be_written(self, tmp_path: Path) -> None:
        class Odd:
            def __call__(self, env: CallbackEnv) -> None: ...

            def get_state(self) -> Any:
                return {"set": {1, 2}}

            def set_state(self, state: Any) -> None: ...

        with pytest.raises(ParameterError, match=r"callbacks\.\d\.1\.set cannot be written"):
            run("plain", [Odd(), checkpoint(tmp_path / "run", 2)])

    def test_outside_of_a_training(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match="among the callbacks of train"):
            checkpoint(tmp_path / "run", 1)(CallbackEnv(None, {}, 0, 0, 1, None))


@pytest.mark.parametrize("is_before", [True, False])
def test_ctrl_c_writes_the_rounds_so_far(is_before: bool, tmp_path: Path) -> None:
    seen: list[int] = []

    def press(env: CallbackEnv) -> None:
        seen.append(env.iteration)
        if len(seen) == 7:
            raise KeyboardInterrupt

    press.before_iteration = is_before  # type: ignore[attr-defined]
    callbacks = [press, checkpoint(tmp_path / "run", every_rounds=5)]
    with pytest.warns(UserWarning, match=f"interrupted after {6 if is_before else 7} rounds"):
        run("plain", callbacks)
    assert run("plain", callbacks) == run("plain", [])
    # After a round, some callbacks have heard of it and others have not: the last file stays.
    assert seen[7] == (6 if is_before else 5)


class Counter:
    """A user's callback with a state of its own."""

    def __init__(self) -> None:
        self.n = 0
        self.seen = np.zeros(0)

    def __call__(self, env: CallbackEnv) -> None:
        self.n += 1
        self.seen = np.append(self.seen, env.evaluation_result_list[0].metric_value)

    def get_state(self) -> Any:
        return {"n": self.n, "seen": self.seen}

    def set_state(self, state: Any) -> None:
        self.n, self.seen = state["n"], state["seen"]


def test_states_of_other_callbacks(tmp_path: Path) -> None:
    whole, first, second = Counter(), Counter(), Counter()
    run("plain", [whole])
    with pytest.raises(Killed):
        run("plain", [first, die_after(6), checkpoint(tmp_path / "run", 1)])
    run("plain", [second, die_after(99), checkpoint(tmp_path / "run", 1)])
    assert (first.n, second.n) == (7, 14)
    np.testing.assert_array_equal(second.seen, whole.seen)


def train_in_a_child(case: str, path: Path, result: Path) -> int:
    """Train in a process of its own; returns its number."""
    child = os.fork()
    if child:
        return child
    try:
        model, history = run(
            case,
            [
                early_stopping(25, verbose=False),
                reset_parameter(learning_rate=lambda i: 0.2 * 0.99**i),
                checkpoint(path, every_rounds=1),
            ],
            n_rounds=40,
        )
        found = model + repr(history).encode()
    except BaseException as error:
        found = repr(error).encode()
    try:  # in one step: this process may be killed at any moment
        part = result.with_suffix(".part")
        part.write_bytes(found)
        part.rename(result)
    finally:
        os._exit(0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_random_moments(tmp_path: Path) -> None:
    cases = ["plain", "bagging", "multiclass", "position bias", "vector leaves", "goss", "custom"]
    random = np.random.default_rng()  # not the same moments every time
    n_kills = n_whole = 0
    began = time.monotonic()
    while n_kills < 50 or n_whole < 3:
        case = cases[n_whole % len(cases)]
        plain, path, result = (tmp_path / f"{n_whole}{end}" for end in ("plain", "run", "result"))
        start = time.monotonic()
        os.waitpid(train_in_a_child(case, tmp_path / f"{n_whole}whole", plain), 0)
        takes = time.monotonic() - start
        expected = plain.read_bytes()
        while not result.exists():
            child = train_in_a_child(case, path, result)
            time.sleep(random.uniform(0, takes / 2))
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            n_kills += os.WIFSIGNALED(status)
            assert time.monotonic() - began < 200
        assert result.read_bytes() == expected
        n_whole += 1
    leftovers = [name for name in os.listdir(tmp_path) if name.startswith(".")]
    assert len(leftovers) <= n_whole  # those of one that was killed before it could end itself


def test_a_checkpoint_is_written_in_trainings_only(tmp_path: Path) -> None:
    callback = checkpoint(tmp_path / "run.ckpt")
    with pytest.raises(ParameterError, match=r"must be among the callbacks of train\(\)"):
        callback.write()
