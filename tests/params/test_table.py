"""The parameter table is sound, and agrees with `Params`, the docs page and LightGBM."""

from __future__ import annotations

import ctypes
import inspect
import json
import types
import typing
from pathlib import Path
from typing import Any

import pytest

from gossamer.params import CANONICAL, TABLE, Param, Params
from gossamer.params.coerce import coerce
from gossamer.params.markdown import render_markdown
from gossamer.params.param import KINDS, ByColumn, Kind
from gossamer.params.param_fields import ParamFields
from gossamer.params.peer_names import NOT_LIGHTGBMS
from gossamer.params.table import DERIVED_SEEDS
from gossamer.params.write_fields import render_fields

OURS = TABLE.keys() & NOT_LIGHTGBMS


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
    """The generated file is current, and the dataclass has its fields."""
    file = Path(inspect.getfile(ParamFields))
    assert file.read_text(encoding="utf-8") == render_fields(), (
        "run: python -m gossamer.params.write_fields src/gossamer/params/param_fields.py"
    )
    assert list(ParamFields.__annotations__) == list(TABLE)
    hints = typing.get_type_hints(Params)
    assert hints["num_leaves"] is int
    assert hints["seed"] == int | None
    assert hints["monotone_constraints"] == ByColumn[int]


def test_defaults_are_of_the_annotated_types():
    """What the generator writes for a kind is what `coerce` returns."""
    hints = typing.get_type_hints(Params)
    for name, param in TABLE.items():
        is_union = typing.get_origin(hints[name]) in (typing.Union, types.UnionType)
        kinds = typing.get_args(hints[name]) if is_union else (hints[name],)
        plain = tuple(typing.get_origin(kind) or kind for kind in kinds)
        assert isinstance(param.default, plain), name


def test_every_kind_is_described():
    """`Kind` names what `KINDS` describes."""
    assert set(typing.get_args(Kind)) == set(KINDS)


def test_flags_agree_with_each_other():
    """Flags are facts about parameters: some follow from others."""
    for param in TABLE.values():
        if not param.kept or "no effect" in param.doc.split(":")[0]:
            assert not param.changes_model, param.name
        if param.is_file:
            assert param.kind == "str", param.name
        # A data set that is built fixes what it was built with; `fixed` is for the others.
        assert not (param.fixed and (param.bins or param.raw_values)), param.name


def test_derived_seeds_are_numbered_without_gaps():
    """A model depends on the number of a seed."""
    numbers = [TABLE[name].seed_number for name in DERIVED_SEEDS]
    assert numbers == list(range(len(DERIVED_SEEDS)))
    seeds = {name for name in TABLE if name.endswith("_seed")}
    assert set(DERIVED_SEEDS) == seeds


def test_parameter_names_do_not_hide_methods():
    """`params.items` must stay the method of a mapping."""
    methods = {name for name, _ in inspect.getmembers(Params) if not name.startswith("_")}
    assert not methods & TABLE.keys()


def test_defaults_are_already_resolved():
    """A default passes its own check unchanged, type included."""
    for name, param in TABLE.items():
        if param.default is not None:
            value = coerce(param, param.default)
            assert value == param.default, name
            assert type(value) is type(param.default), name


def test_support_is_told_by_known_choices():
    """Choices go with kinds that have names, and the unsupported ones are among them."""
    for name, param in TABLE.items():
        assert bool(param.choices) == (param.kind in ("enum", "objective", "metrics")), name
        assert set(param.unsupported) <= set(param.choices), name
        assert param.supports(param.default), name


def test_spellings_of_choices_are_unique():
    """A spelling stands for one choice, and is lower case as values are lowered first."""
    for name, param in TABLE.items():
        spellings = [name for item in param.choices.items() for name in (item[0], *item[1])]
        assert len(spellings) == len(set(spellings)), name
        assert spellings == [spelling.lower() for spelling in spellings], name


def test_docs_are_sentences():
    """Docs end in a full stop and cannot break the markdown table."""
    for name, param in TABLE.items():
        assert param.doc.endswith("."), name
        assert "|" not in param.doc, name


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
