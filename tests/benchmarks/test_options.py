"""The benchmark of options: every command runs, and the table says how losses compare."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.options.cli import ABOUT, VARIANTS, format_table, main
from benchmarks.paper.store import new_document, read_document


@pytest.mark.parametrize("kind", sorted(VARIANTS))
def test_a_command_compares_every_variant(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [kind, "--data", "levels_300_strong", "--rows", "900", "--rounds", "3", "--seeds", "1"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    document = read_document(tmp_path / f"{kind}.json")
    assert document is not None
    assert [run["variant"] for run in document["runs"]] == list(VARIANTS[kind])
    assert all(run["loss"] > 0 for run in document["runs"])
    assert "| levels_300_strong |" in capsys.readouterr().out


def test_trainings_stop_on_a_fifth_of_their_rows(tmp_path: Path) -> None:
    words = ["linear", "--data", "steps", "--rows", "900", "--seeds", "2", "--variants", "checked"]
    losses = []
    for patience in ("0", "5"):
        out = tmp_path / patience
        main([*words, "--rounds", "60", "--patience", patience, "--out", str(out)])
        found = read_document(out / "linear.json")
        assert found is not None
        losses.append([run["loss"] for run in found["runs"]])
    # Noise: sixty rounds are far too many.
    assert sum(losses[1]) < 0.99 * sum(losses[0])


def test_tables_of_a_command_are_known() -> None:
    assert set(ABOUT) == set(VARIANTS)
    with pytest.raises(SystemExit):
        main(["linear", "--data", "no_such_table"])


def test_what_is_compared() -> None:
    document = new_document("linear")
    for data, loss, other in (("a", 2.0, 1.0), ("b", 4.0, 5.0)):
        document["runs"] += [
            {"data": data, "variant": "without", "seed": 0, "loss": loss},
            {"data": data, "variant": "checked", "seed": 0, "loss": other},
        ]
    lines = format_table(document).splitlines()
    assert lines[2:] == [
        "| a | 2 | -50.00 % |",
        "| b | 4 | +25.00 % |",
        "| mean | | -12.50 % |",
        "| worst | | +25.00 % |",
    ]
    document["runs"] += [
        {"data": "a", "variant": "without", "seed": 1, "loss": 2.0},
        {"data": "a", "variant": "checked", "seed": 1, "loss": 1.2},
    ]
    assert format_table(document).splitlines()[2] == "| a | 2 | -45.00 % (5.00) |"
