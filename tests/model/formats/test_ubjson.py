"""UBJSON: what XGBoost writes, and nothing that takes more memory than its bytes."""

from __future__ import annotations

import contextlib
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import NotSupportedError
from gossamer.model.formats.ubjson import dumps, loads


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and a == b


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.lists(st.integers(-128, 127)).map(lambda values: np.array(values, np.int8))
    | st.lists(st.floats(width=32, allow_nan=False)).map(lambda values: np.array(values, "f4"))
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(values)
def test_what_is_written_is_read(value: Any) -> None:
    assert same(loads(dumps(value)), value)


@given(st.binary(max_size=60) | values.map(dumps).map(lambda content: content[:-1]))
def test_damage_is_a_value_error(content: bytes) -> None:
    with contextlib.suppress(ValueError):
        loads(content)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"[i\x01U\xffI\x01\x00l\x00\x01\x00\x00]", [1, 255, 256, 65536]),
        (b"[d\x3f\x80\x00\x00D" + struct.pack(">d", 0.1) + b"Ca]", [1.0, 0.1, "a"]),
        (b"{i\x01aTi\x01bF}", {"a": True, "b": False}),
        (b"{#i\x01i\x01aZ", {"a": None}),
        (b"N[N#i\x02Ni\x05SU\x02ab", [5, "ab"]),
    ],
)
def test_forms(content: bytes, value: Any) -> None:
    assert loads(content) == value


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "i4", "i8", "f4", "f8"])
def test_typed_arrays(kind: str) -> None:
    found = loads(dumps(np.array([1, 2, 100], kind)))
    assert found.dtype == kind and found.tolist() == [1, 2, 100]


huge = b"L" + struct.pack(">q", 2**50)


@pytest.mark.parametrize(
    "content",
    [
        b"[$d#" + huge,  # sizes that memory would be taken for
        b"[#" + huge,
        b"{#" + huge,
        b"S" + huge,
        b"[$Z#" + huge,  # values without bytes
        b"[$T#" + huge,
        b"[#L" + struct.pack(">q", -1),
        b"[" * 100_000,
        b"{i\x01a" * 100_000,
        b"[#i\x01" * 100_000,
        b"",
        b"[",
        b"{i\x01a",
        b"Sd\x3f\x80\x00\x00",
        b"x",
        b"ZZ",
        b"SU\x01\xff",
    ],
)
def test_hostile(content: bytes) -> None:
    with pytest.raises(ValueError):
        loads(content)


def test_text_that_is_no_utf8_is_refused() -> None:
    """It could not be read again."""
    with pytest.raises(NotSupportedError, match=r"UTF-8: got 'a\\ud800'"):
        dumps({"names": ["a\ud800"]})
