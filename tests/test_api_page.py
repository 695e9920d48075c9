"""The page of the API has every public name."""

from __future__ import annotations

import re
from pathlib import Path

import gossamer
import gossamer.tune

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")


def test_every_public_name_is_described() -> None:
    described = {name.split(".")[-1] for name in re.findall(r"^::: ([\w.]+)", PAGE, re.MULTILINE)}
    described |= set(re.findall(r"^        - (\w+)$", PAGE, re.MULTILINE))
    estimators = {name for name in gossamer.__all__ if name.startswith(("Gossamer", "LGBM"))}
    assert "sklearn" in described  # the module's own list has the estimators
    missing = {*gossamer.__all__, *gossamer.tune.__all__} - described - estimators
    assert missing == set()


def test_every_public_method_has_a_docstring() -> None:
    silent = [
        f"{holder.__name__}.{name}"
        for holder in (gossamer.Booster, gossamer.Dataset, gossamer.CVBooster)
        for name in dir(holder)
        if not name.startswith("_") and not (getattr(holder, name).__doc__ or "").strip()
    ]
    assert silent == []
