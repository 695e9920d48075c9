"""The trial of every kind of table."""

from __future__ import annotations

import pytest

from benchmarks.inputs import cli, try_one
from benchmarks.inputs.kinds import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_gossamer_takes_every_kind(kind: str) -> None:
    found = try_one.main("gossamer", kind)
    if found["result"] == "absent":
        pytest.skip(found["detail"])
    assert found["result"] == "ok", found["detail"]


def test_errors_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(x: object, y: object) -> object:
        raise ValueError("no such table\nsecond line")

    monkeypatch.setitem(try_one.LIBRARIES, "gossamer", fail)
    found = try_one.main("gossamer", "dict of columns")
    assert found == {"result": "error", "detail": "ValueError: no such table"}
    monkeypatch.setitem(try_one.LIBRARIES, "gossamer", lambda x, y: y * 0)
    assert try_one.main("gossamer", "dict of columns")["result"] == "wrong"


def test_a_process_that_ends_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.sys, "executable", "false")
    assert cli._try("gossamer", "dict of columns")["result"] == "crash"
