"""Names of columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from gossamer import Booster, Dataset, train
from gossamer.data.table.names import check_names, match_names
from gossamer.errors import DataError


def test_any_unicode_is_a_name() -> None:
    names = ["größe", "宽度", 'a "quote", [brackets]: {braces}', "", "line\nbreak", "🌲"]
    assert check_names(names, 6) == names


def test_numbers_become_names() -> None:
    assert check_names([1, "b"], 2) == ["1", "b"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a"], "differ in length: got 1, expected 2"),
        (["a", "a"], "same name twice: got 'a'"),
        ([1, "1"], "same name twice"),
        ("ab", "list of names"),
        (5, "list of names"),
    ],
)
def test_bad_names(names: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        check_names(names, 2)


def test_matching_finds_the_order() -> None:
    assert match_names(["a", "b", "c"], ["a", "b", "c"]) is None
    assert match_names(["a", "b", "c"], ["c", "a", "b"]) == [1, 2, 0]


def test_matching_says_what_differs() -> None:
    with pytest.raises(DataError, match="missing 'b', unknown 'x'"):
        match_names(["a", "b"], ["a", "x"])
    with pytest.raises(DataError, match="unknown '0', '1', '2', '3', '4' and 2 more"):
        match_names([], [str(i) for i in range(7)])


def test_matching_refuses_a_name_twice() -> None:
    with pytest.raises(DataError, match="same name twice: got 'b'"):
        match_names(["a", "b"], ["a", "b", "b"])


def test_tables_with_a_name_twice_are_refused() -> None:
    """Whichever of the two columns were used, it might be the wrong one."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=["a", "b", "c"])
    model = train({"verbosity": -1}, Dataset(table[["a", "b"]], table["a"]), 3)
    values = [table[name].to_numpy() for name in table]
    for twice in (
        table.set_axis(["a", "b", "b"], axis=1),
        pa.Table.from_arrays([pa.array(column) for column in values], ["a", "b", "b"]),
    ):
        for options in ({}, {"pred_leaf": True}):
            with pytest.raises(DataError, match="same name twice: got 'b'"):
                model.predict(twice, **options)


def test_white_space_is_an_underscore_in_models_of_lightgbm() -> None:
    assert match_names(["a_b", "c"], ["a b", "c"]) == [0, 1]
    assert match_names(["a_b", "c"], ["c", "a\tb"]) == [1, 0]
    with pytest.raises(DataError, match="missing 'a_b'"):
        match_names(["a_b", "c"], ["a  b", "c"])
    with pytest.raises(DataError, match="unknown"):
        match_names(["a_b"], ["a_b", "a b"])  # which one is it?
    with pytest.raises(DataError, match="missing 'a b'"):
        match_names(["a b"], ["a_b"])


def test_columns_that_pandas_numbers_go_by_position(tmp_path: Path) -> None:
    """As frames of files without header are; a model that was read as text knows its names only."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=[1, 2, 3])
    data = Dataset(table, table[1], feature_name=["a", "b", "c"])
    model = train({"verbosity": -1}, data, 3)
    model.save_model(tmp_path / "model.txt")
    loaded = Booster(model_file=tmp_path / "model.txt")
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    with pytest.raises(DataError, match="columns"):
        loaded.predict(table[[1, 2]])
    with pytest.raises(DataError, match="columns differ"):
        loaded.predict(table.rename(columns={1: "x", 2: "y", 3: "z"}))
