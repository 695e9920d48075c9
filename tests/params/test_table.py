"""The parameter table is sound, and agrees with `Params`, the docs page and LightGBM."""

from __future__ import annotations

import ctypes
import inspect
import json
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gossamer.params import CANONICAL, TABLE, Param, Params
from gossamer.params.coerce import coerce
from gossamer.params.markdown import render_markdown
from gossamer.params.param import ByColumn
from gossamer.params.peer_names import NOT_LIGHTGBMS

OURS = TABLE.keys() & NOT_LIGHTGBMS
TYPES: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "auto_float": float | str,
    "str": str,
    "memory": int,
    "enum": str,
    "ints": tuple[int, ...],
    "floats": tuple[float, ...],
    "ints_by_column": ByColumn[int],
    "floats_by_column": ByColumn[float],
    "column": int | str,
    "columns": tuple[int | str, ...],
    "groups": tuple[tuple[int | str, ...], ...],
    "forced_splits": str,
    "forced_bins": str,
    "objective": str | Callable[..., Any],
    "metrics": tuple[str, ...],
}
every_param = pytest.mark.parametrize("param", TABLE.values(), ids=lambda param: param.name)


def test_all_of_lightgbm_and_ours_are_there():
    """LightGBM 4.7 has 141 parameters with 167 aliases."""
    assert len(TABLE.keys() - OURS) == 141
    assert TABLE.keys() >= OURS


def test_every_name_means_one_thing():
    """No name or alias is used twice."""
    names = [name for param in TABLE.values() for name in (param.name, *param.aliases)]
    assert sorted(names) == sorted(set(names)) == sorted(CANONICAL)


def test_names_and_aliases_are_lightgbms():
    """Ask an installed LightGBM for its own table."""
    lightgbm = pytest.importorskip("lightgbm", minversion="4.7.0")
    if not lightgbm.__version__.startswith("4.7."):
        pytest.skip("the table follows LightGBM 4.7")
    size, buffer = ctypes.c_int64(0), ctypes.create_string_buffer(1 << 20)
    lightgbm.basic._LIB.LGBM_DumpParamAliases(
        ctypes.c_int64(len(buffer)), ctypes.byref(size), buffer
    )
    theirs = json.loads(buffer.value)
    assert theirs.keys() == TABLE.keys() - OURS
    for name, aliases in theirs.items():
        assert set(aliases) <= set(TABLE[name].aliases), name


def test_params_has_the_fields_of_the_table():
    """The dataclass repeats names, order and types for type checkers."""
    hints = typing.get_type_hints(Params)
    hints.pop("given")
    assert list(hints) == list(TABLE)
    for param in TABLE.values():
        expected = TYPES[param.kind]
        if param.default is None:
            expected = expected | None
        assert hints[param.name] == expected, param.name


def test_parameter_names_do_not_hide_methods():
    """`params.items` must stay the method of a mapping."""
    methods = {name for name, _ in inspect.getmembers(Params) if not name.startswith("_")}
    assert not methods & TABLE.keys()


@every_param
def test_default_is_already_resolved(param: Param):
    """A default passes its own check unchanged, type included."""
    if param.default is not None:
        value = coerce(param, param.default)
        assert value == param.default
        assert type(value) is type(param.default)


@every_param
def test_support_is_told_by_known_choices(param: Param):
    """Choices go with kinds that have names, and the supported ones are among them."""
    assert bool(param.choices) == (param.kind in ("enum", "objective", "metrics"))
    if isinstance(param.supported, tuple):
        assert set(param.supported) <= set(param.choices)
    assert param.supports(param.default)


@every_param
def test_spellings_of_choices_are_unique(param: Param):
    """A spelling stands for one choice, and is lower case as values are lowered first."""
    spellings = [name for item in param.choices.items() for name in (item[0], *item[1])]
    assert len(spellings) == len(set(spellings))
    assert spellings == [name.lower() for name in spellings]


@every_param
def test_doc_is_a_sentence(param: Param):
    """Docs end in a full stop and cannot break the markdown table."""
    assert param.doc.endswith(".")
    assert "|" not in param.doc


def test_docs_page_is_up_to_date():
    """The page is made from the table and never edited by hand."""
    page = Path(__file__).parents[2] / "docs" / "parameters.md"
    assert page.read_text(encoding="utf-8") == render_markdown(), (
        "run: python -m gossamer.params.markdown docs/parameters.md"
    )


@pytest.mark.parametrize(
    ("limits", "inside", "outside", "text"),
    [
        ({}, [-1e9, 0, 1e9], [], ""),
        ({"low": 0}, [0, 1], [-1], ">= 0"),
        ({"low": 0, "low_open": True, "high": 1}, [0.1, 1], [0, 1.1], "> 0 and <= 1"),
        ({"low": 1, "high": 2, "high_open": True}, [1, 1.9], [0.9, 2], ">= 1 and < 2"),
    ],
)
def test_range(limits: dict[str, Any], inside: list[float], outside: list[float], text: str):
    """Open and closed limits."""
    param = Param("p", (), "float", 1.0, "", "", **limits)
    assert all(param.in_range(value) for value in inside)
    assert not any(param.in_range(value) for value in outside)
    assert param.range_text == text
