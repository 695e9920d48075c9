"""What is wrong is said in a sentence, without a traceback, and with an exit code."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.flights import make_frame

import gossamer as gs

TRAIN = ("train", "flights.csv", "--threads", "1", "-n", "2")


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        ([], 2, "--target is missing. Name the column to predict. The columns are id, hour"),
        (["-t", "delaed"], 1, "got 'delaed', expected one of id, hour"),
        (["-t", "delaed"], 1, "Did you mean delayed?"),
        (["-t", "DELAYED"], 1, "Did you mean delayed?"),
        (["-t", "99"], 1, "got '99'"),
        (["-t", "minutes", "--weight", "wieght"], 1, "--weight: there is no such column"),
        (["-t", "minutes", "--ignore", "id,hours"], 1, "Did you mean hour?"),
        (["-t", "minutes", "num_leafs=3"], 2, "got 'num_leafs'. Did you mean num_leaf"),
        (["-t", "minutes", "--set", "num_leaves"], 2, "--set cannot be used: got 'num_leaves'"),
        (["-t", "minutes", "num_leaves=1"], 2, "num_leaves"),
        (["-t", "minutes", "num_leaves=many"], 2, "got 'many', expected an integer"),
        (["-t", "delayed", "--task", "regression"], 1, "is text, and regression needs numbers"),
        (["-t", "minutes", "--task", "binary"], 1, "has 300 different values"),
        (["-t", "delayed", "--query", "session"], 1, "is text, and ranking needs numbers"),
        (["-t", "minutes", "--task", "binary", "--objective", "l1"], 2, "do not fit"),
        (["-t", "minutes", "--objective", "l3"], 2, "objective"),
        (["-t", "grade", "--task", "ranking"], 2, "Ranking needs queries"),
        (["-t", "minutes", "--metric", "auk"], 2, "metric"),
        (["-t", "minutes", "--valid", "1.5"], 2, "expected a share between 0 and 1"),
        (["-t", "minutes", "--valid", "0"], 2, "expected a share between 0 and 1"),
        (["-t", "minutes", "--valid", "tset.csv"], 1, "tset.csv"),
        (["-t", "minutes", "--valid", "0.0001"], 1, "are too few for a validation share of 0.0001"),
        (["-t", "minutes", "--early-stopping", "5"], 2, "--early-stopping needs validation data"),
        (["-t", "minutes", "--valid", "0.2", "--valid-last", "0.2"], 2, "cannot be combined"),
        (["-t", "minutes", "--out", "no/model.gsm"], 1, "Make it first: mkdir -p no"),
        (["-t", "minutes", "--out", "."], 1, "--out: '.' is a folder"),
        (["-t", "minutes", "--report", "no/report.html"], 1, "--report: there is no folder"),
        (["-t", "minutes", "--init-model", "flights.csv"], 1, "'flights.csv'"),
        (["-t", "minutes", "--init-model", "none.gsm"], 1, "none.gsm"),
        (["-t", "minutes", "--config", "none.toml"], 1, "No such file or directory: 'none.toml'"),
        (["-t", "minutes", "--num-leaves", "3"], 2, "write num_leaves=VALUE after the file"),
        (["minutes"], 2, "If it is the column to predict: --target minutes"),
        (["-t", "minutes", "--rounds", "0"], 2, "0 is not in the range x>=1"),
        (["-t", "minutes", "--rnds", "3"], 2, "--rnds"),
    ],
)
def test_train(run: Any, flights: Path, arguments: list[str], code: int, what: str) -> None:
    result = run(*TRAIN, *arguments, code=code)
    assert what in result.stderr
    assert result.stdout == ""
    assert not Path("model.gsm").exists()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["train", "-t", "y"], "Which file?"),
        (["train", "nothing.csv", "-t", "y"], "'nothing.csv'"),
        (["train", "flihgts.csv", "-t", "y"], "Did you mean flights.csv?"),
        (["train", "*.xyz", "-t", "y"], "no file matches the pattern"),
        (["train", "empty.csv", "-t", "y"], "is empty"),
        (["train", "broken.parquet", "-t", "y"], "not a Parquet file"),
        (["predict", "nothing.gsm", "flights.csv"], "nothing.gsm"),
        (["explain", "flights.csv"], "The model comes first"),
        (["predict", "flights.csv", "model.gsm"], "'flights.csv' looks like data"),
        (["convert", ".", "--out", "a.txt"], "the model '.' is a folder"),
        (["describe", "nothing.csv"], "'nothing.csv'"),
        (["describe", "empty.csv"], "is empty"),
    ],
)
def test_files(run: Any, flights: Path, arguments: list[str], what: str) -> None:
    Path("empty.csv").write_text("")
    Path("broken.parquet").write_text("PARROT")
    result = run(*arguments, code=2 if what == "Which file?" else 1)
    assert what in result.stderr and result.stdout == ""


def test_missing_target_values(run: Any, flights: Path) -> None:
    frame = make_frame()
    frame.loc[[3, 5], "minutes"] = None
    frame.loc[7, "delayed"] = None
    frame.to_csv("gaps.csv")
    for target, what in (("minutes", "2 of 300 rows"), ("delayed", "1 of 300 rows")):
        train = ("train", "gaps.csv", "-t", target, "-n", 1)
        refused = run(*train, "--missing-target", "error", code=1).stderr
        assert what in refused
        assert "--missing-target drop" in refused
        assert f"{what} of the file 'gaps.csv' have no target" in run(*train).stderr


def test_constant_target(run: Any, folder: Path) -> None:
    Path("one.csv").write_text("x,y\n" + "\n".join(f"{i},5" for i in range(50)))
    result = run("train", "one.csv", "-t", "y", code=1)
    assert "has the same value in all rows: there is nothing to learn: got 5" in result.stderr


def test_text_that_is_no_class(run: Any, flights: Path) -> None:
    frame = make_frame().assign(name=[f"name {i}" for i in range(300)])
    frame.to_csv("names.csv")
    result = run("train", "names.csv", "-t", "name", code=1)
    assert "is text, with 300 different values in 300 rows" in result.stderr


def test_new_classes_in_the_validation_file(run: Any, flights: Path) -> None:
    make_frame().replace({"delayed": {"yes": "maybe"}}).to_csv("test.csv")
    result = run(*TRAIN, "-t", "delayed", "--valid", "test.csv", code=1)
    assert "classes that the training rows do not have" in result.stderr
    assert "maybe" in result.stderr


def test_damaged_models(run: Any, model: Path) -> None:
    content = model.read_bytes()
    damages = {
        "cut.gsm": content[: len(content) // 2],
        "altered.gsm": content[:-9] + b"123456789",
        "noise.gsm": bytes(range(256)) * 10,
        "empty.gsm": b"",
        "table.gsm": Path("flights.csv").read_bytes(),
    }
    for name, damaged in damages.items():
        Path(name).write_bytes(damaged)
        for arguments in (
            ("predict", name, "flights.csv"),
            ("explain", name),
            ("describe", name),
            ("convert", name, "--out", "other.txt"),
        ):
            assert run(*arguments, code=1).stderr.startswith(f"gossamer {arguments[0]}: ")


def test_a_model_is_no_table(run: Any, model: Path) -> None:
    result = run("train", "model.gsm", "-t", "y", code=1)
    assert "holds a model, or a data set that was binned before" in result.stderr


def test_disk_full(run: Any, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = model.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        for arguments in (
            (*TRAIN, "-t", "minutes"),
            ("predict", "model.gsm", "flights.csv", "-o", "p.csv"),
            ("convert", "model.gsm", "-o", "m.txt"),
        ):
            assert "No space left on device" in run(*arguments, code=1).stderr
    assert model.read_bytes() == before, "the old model is still there"
    names = {path.name for path in model.parent.iterdir()}
    assert names == {"flights.csv", "flights.parquet", "model.gsm"}


def test_debug_shows_where(flights: Path) -> None:
    from click.testing import CliRunner

    from gossamer.cli.commands import cli

    result = CliRunner().invoke(cli, ["train", "flights.csv", "-t", "nothing", "--debug"])
    assert isinstance(result.exception, gs.DataError)


def test_without_pyarrow(flights: Path) -> None:
    script = (
        "import sys; sys.modules['pyarrow'] = None; import gossamer.cli; "
        "sys.exit(gossamer.cli.main(['train', 'flights.csv', '-t', 'minutes']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'pip install "gossamer[files]"' in done.stderr and "Traceback" not in done.stderr


def test_libsvm_without_pyarrow(folder: Path) -> None:
    lines = [f"{'ab'[i % 5 > 2] == 'a':d} 0:{i % 5}" for i in range(100)]
    Path("rows.svm").write_text("\n".join(lines))
    script = (
        "import sys; import importlib.util as util; find = util.find_spec; "
        "util.find_spec = lambda name, *rest: None if name == 'pyarrow' else find(name, *rest); "
        "sys.modules['pyarrow'] = None; from gossamer.cli import main; "
        "assert main(['train', 'rows.svm', '-n', '20', '-q']) == 0; "
        "assert main(['predict', 'model.gsm', 'rows.svm', '--labels', '-o', 'p.tsv', '-q']) == 0; "
        "sys.exit(main(['predict', 'model.gsm', 'rows.svm', '--labels']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = done.stdout.splitlines()
    assert found[0] == "prediction,label" and len(found) == 101
    assert [line.split(",")[1] for line in found[1:6]] == ["1", "1", "1", "0", "0"]
    assert Path("p.tsv").read_text().replace("\t", ",") == done.stdout
