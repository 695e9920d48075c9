"""What the columns of the parameters' page say is what the other libraries know."""

from __future__ import annotations

import ctypes
import json
import re
from pathlib import Path

import pytest

from gossamer.params import CANONICAL, TABLE
from gossamer.params.peer_names import (
    NOT_LIGHTGBMS,
    XGBOOSTS,
    further_names,
    names_in_lightgbm,
    names_in_xgboost,
)


def test_lists_have_names_of_ours_alone() -> None:
    # A parameter of our own that is not there would be shown as LightGBM's.
    assert CANONICAL.keys() >= NOT_LIGHTGBMS
    assert CANONICAL.keys() >= XGBOOSTS


def test_lightgbms_names_are_those_of_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm", minversion="4.7.0")
    size, buffer = ctypes.c_int64(0), ctypes.create_string_buffer(1 << 20)
    lightgbm.basic._LIB.LGBM_DumpParamAliases(
        ctypes.c_int64(len(buffer)), ctypes.byref(size), buffer
    )
    theirs = json.loads(buffer.value)
    for name, param in TABLE.items():
        shown = set(names_in_lightgbm(param))
        expected = {name, *theirs[name]} if name in theirs else set()
        assert shown == expected, "new names of ours belong into NOT_LIGHTGBMS"


def test_xgboosts_names_are_known_to_the_module_with_its_names() -> None:
    from gossamer.compat.xgboost.params import RENAMED

    for theirs, ours in RENAMED.items():
        was_once = theirs == "sketch_eps"  # XGBoost had it before 2.0
        if CANONICAL.get(theirs) == ours and not was_once:
            assert theirs in names_in_xgboost(TABLE[ours]), theirs


def test_every_name_is_shown() -> None:
    for param in TABLE.values():
        shown = {param.name, *names_in_lightgbm(param), *names_in_xgboost(param)}
        # XGBoost's `alpha` is not an alias here: that is the quantile, as in LightGBM.
        shown -= {"alpha"} - {param.name, *param.aliases}
        assert shown | set(further_names(param)) == {param.name, *param.aliases}


def test_every_parameter_has_an_anchor() -> None:
    page = (Path(__file__).parents[2] / "docs/parameters.md").read_text(encoding="utf-8")
    assert re.findall(r'<a id="(\w+)">', page) == list(TABLE)
