"""Rounds that survive the loss of a worker."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gossamer.distributed import SavedRounds


def test_a_training_that_never_begins_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        group: Any = SimpleNamespace(has_failed=False)
        kept = SavedRounds(b"content").attach_to(group)
        assert len(list(tmp_path.iterdir())) == 1
        del kept
        gc.collect()
    assert not list(tmp_path.iterdir())
