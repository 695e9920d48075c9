from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.report.charts.scale import Scale, nice_ticks, span_of, tick_texts
from gossamer.report.html import clean, name, number, percent, table, text, to_json


@given(st.text(st.characters(codec=None), max_size=80))
def test_text_is_text_whatever_is_in_it(value: str) -> None:
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_data(self, data: str) -> None:
            found.append(data)

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            raise AssertionError(tag)

        handle_comment = handle_decl = handle_pi = handle_starttag  # type: ignore[assignment]

    reader = Reader()
    reader.feed(text(value))
    reader.close()
    assert "".join(found) == clean(value)
    clean(value).encode("utf-8")  # no half characters


@given(st.recursive(st.text(st.characters(codec=None)), st.lists, max_leaves=5))
def test_json_cannot_leave_its_script(value: Any) -> None:
    found = to_json(value)
    assert not set("<>&\u2028\u2029") & set(found) and found.isascii()
    assert json.loads(found) == value


def test_long_names_are_cut_with_a_note() -> None:
    found = name("ab" * 500_000)
    assert len(found) < 1000 and "1,000,000 characters" in found and "<abbr" in found


def test_direction_and_control_characters_do_not_reach_the_page() -> None:
    assert clean("a\u202eb\x1b\u2028\ud800") == "a\ufffdb\ufffd\ufffd\ufffd"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0"),
        (-0.05, "-0.05"),
        (99.996, "100"),
        (1e20, "1e+20"),
        (-float("inf"), "\u2212\u221e"),
        (12345.678, "12,346"),
    ],
)
def test_numbers(value: float, expected: str) -> None:
    assert number(value) == expected


def test_shares() -> None:
    assert [percent(v) for v in (0.0, 0.5, 0.0004, float("nan"))] == [
        "0 %",
        "50 %",
        "< 0.1 %",
        "\u2013",
    ]


def test_a_table_has_headings_of_rows_and_columns() -> None:
    found = table(("a", "b"), [("x", "1")], kinds="tn")
    assert '<th scope="row">x</th><td class="n">1</td>' in found and 'scope="col"' in found


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE, max_size=5))
def test_any_numbers_have_an_axis(values: list[float]) -> None:
    low, high = span_of(values)
    assert low < high
    ticks = nice_ticks(low, high)
    assert 1 <= len(ticks) <= 12 and len(tick_texts(ticks)) == len(ticks)
    slack = 1e-6 * max(abs(low), abs(high))
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    places = Scale(low, high, 0.0, 100.0)([*values, low, high])
    assert ((places >= 0) & (places <= 100)).all() and places[-1] == 100


def test_ticks_tell_themselves_apart() -> None:
    for low, high in ((0, 1), (0.001, 0.002), (15_000, 80_000), (-2e6, 3e6), (1e-7, 5e-7)):
        words = tick_texts(nice_ticks(low, high))
        assert len(set(words)) == len(words), words
    assert tick_texts([20_000.0, 40_000.0]) == ["20k", "40k"]
