from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer
from gossamer.cli import main
from gossamer.cli.commands import COMMANDS
from gossamer.cli.demo import PATIENCE, judge, train_and_test
from gossamer.cli.demo_data import load_data, make_data

BLOCK = "import sys\nfor name in {names}: sys.modules[name] = None\n"
CALL = "import gossamer.cli; sys.exit(gossamer.cli.main({arguments}))"


def run_without(names: tuple[str, ...], *arguments: str) -> subprocess.CompletedProcess[str]:
    script = BLOCK.format(names=names) + CALL.format(arguments=list(arguments))
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def test_version(capsys: Any) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith(f"gossamer {gossamer.__version__} (Python 3.")
    assert main(["version"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"gossamer {gossamer.__version__} (Python 3.") and "pyarrow" in out
    assert main(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["packages"]["click"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command: str, capsys: Any) -> None:
    for option in ("--help", "-h"):
        assert main([command, option]) == 0
        out = capsys.readouterr().out
        assert "Example" in out and f"gossamer {command}" in out and "--debug" in out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["trian"], "There is no command 'trian'. Did you mean train?"),
        (["xyz"], "There are train, predict, cv"),
        (["demo", "--rounds", "0"], "0 is not in the range x>=1"),
        (["demo", "--rounds", "many"], "'many' is not a valid integer"),
        (["demo", "--nothing"], "--nothing"),
        (["--nothing"], "--nothing"),
        (["predict", "model.gsm"], "Missing argument"),
    ],
)
def test_wrong_usage(arguments: list[str], what: str, capsys: Any) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert what in captured.err and captured.out == ""


def test_no_command(capsys: Any) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    for command in COMMANDS:
        assert f"  {command} " in out
    assert "gossamer train flights.parquet --target delayed" in out


def test_asking_for_help(capsys: Any) -> None:
    assert main(["help"]) == 0
    assert "describe" in capsys.readouterr().out
    assert main(["help", "train"]) == 0
    assert "--early-stopping" in capsys.readouterr().out


def test_commands_are_imported_when_needed() -> None:
    script = (
        "import sys; from gossamer.cli import main; assert main(['params', 'num_leaves']) == 0; "
        "heavy = ('pyarrow', 'pandas', 'polars', 'matplotlib', 'sklearn', 'narwhals', 'tqdm'); "
        "sys.exit(','.join(name for name in heavy if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_errors_of_our_own_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr("gossamer.cli.demo.run_demo", fail)
    with pytest.raises(ValueError, match="a bug"):
        main(["demo"])


def test_demo(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    for text in (
        "Breast Cancer Wisconsin",
        "569 rows x 30 columns",
        "valid logloss",
        f"no better for {PATIENCE}",
        "accuracy",
        "What matters most",
        "to train",
        "gossamer-demo/model.gsm",
        "gossamer-demo/learning_curve.png",
        "gossamer explain gossamer-demo/model.gsm",
        "gossamer-demo/report.html in a browser",
    ):
        assert text in out
    assert "\x1b" not in out, "no colours where there is no terminal"
    model = gossamer.Booster(model_file="gossamer-demo/model.gsm")
    assert model.feature_name()[0] == "mean radius"
    picture = Path("gossamer-demo/learning_curve.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gossamer-demo"]


def test_options(tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "a" / "b"
    assert main(["demo", "--out", str(folder), "--rounds", "5", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("test accuracy 0.")
    assert captured.out.count("\n") == 1
    assert captured.err == ""
    assert gossamer.Booster(model_file=folder / "model.gsm").current_iteration() == 5


def test_one_round(tmp_path: Path, capsys: Any) -> None:
    assert main(["demo", "--out", str(tmp_path), "--rounds", "1"]) == 0
    assert "Best round 1\n" in capsys.readouterr().out


def test_folder_that_cannot_be_made(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "file").write_text("")
    assert main(["demo", "--out", str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err.startswith("gossamer demo: ")


def test_interrupted(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gossamer.cli.demo.run_demo", interrupt)
    assert main(["demo", "--out", str(tmp_path)]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_nobody_reads_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gossamer.cli", "demo", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
    assert process.returncode == 1
    assert err == b""


def test_without_any_extra(tmp_path: Path) -> None:
    run = run_without(("sklearn", "matplotlib", "tqdm"), "demo", "--out", str(tmp_path))
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    for text in (
        "made up",
        'pip install "gossamer[sklearn]"',
        'learning_curve.png needs matplotlib: pip install "gossamer[plot]"',
        "valid logloss",
        "x4",
    ):
        assert text in run.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.gsm", "report.html"]


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_in_a_terminal(tmp_path: Path) -> None:
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "gossamer.cli", "demo", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    content = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        content += part
    os.close(ours)
    assert process.wait() == 0
    text = content.decode()
    assert "training: " in text, "the progress bar"
    assert "\x1b[1;32m" in text, "colours"


def test_data() -> None:
    for data in (load_data(), make_data()):
        parts = data.split()
        assert list(parts) == ["train", "valid", "test"]
        assert sum(len(label) for _, label in parts.values()) == len(data.label)
        assert {len(set(label.tolist())) for _, label in parts.values()} == {2}
        assert len(data.columns) == data.values.shape[1]


def test_the_model_is_good() -> None:
    for data, accuracy in ((load_data(), 0.93), (make_data(), 0.85)):
        outcome = train_and_test(data, 200, [])
        assert outcome.metrics["accuracy"] > accuracy
        assert outcome.metrics["AUC"] > accuracy


def test_judge_agrees_with_scikit_learn() -> None:
    from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

    rng = np.random.default_rng(0)
    label, probability = rng.integers(0, 2, 500), rng.uniform(0.01, 0.99, 500).round(2)
    found = judge(label, probability)
    assert found["accuracy"] == accuracy_score(label, probability > 0.5)
    assert found["AUC"] == pytest.approx(roc_auc_score(label, probability))
    assert found["logloss"] == pytest.approx(log_loss(label, probability))


def test_the_module_is_the_command() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "gossamer", "params", "nothing-like-this"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("gossamer params: ")
