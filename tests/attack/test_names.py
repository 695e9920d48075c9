"""Hostile names of columns, levels, metrics and data sets: text everywhere, code nowhere."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from attack.conftest import Tally
from attack.scale import share

from gossamer import Booster, Dataset, GossamerError, log_evaluation, train

PIECES = (
    *(
        "<script>alert(1)</script>",
        "</script>",
        "<img src=x onerror=alert(1)>",
        "&lt;",
        "-->",
        "<!--",
    ),
    *("]]>", '"', "'", "`", "\\", '\\"', "*/", "/*", "//", "??/", "%s%n%d", "{0}", "${x}", "#{x}"),
    *(
        "$(id)",
        "$x^$",
        "\n",
        "\r\n",
        "\t",
        "\0",
        "\x1b[31m",
        "\x1b]0;x\x07",
        "\x9b2J",
        "\u202e",
        "\ufeff",
    ),
    *(
        "\u2028",
        "\u061c",
        "é",
        "e\u0301",
        "漢字",
        "😀",
        " ",
        "",
        ",",
        ":",
        "=",
        ";",
        "[",
        "]",
        "{",
        "}",
        "|",
    ),
    *("tree=0", "end of trees", "feature_names=", "0", "-1", "nan", "None", "../../x", "a" * 300),
)
TAGS_THAT_RUN = {"img", "iframe", "object", "embed", "link", "base", "form"}


class Page(HTMLParser):
    """Which tags a page has, and what could run."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.n_scripts = 0
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.n_scripts += tag == "script"
        if tag in TAGS_THAT_RUN or any(name.startswith("on") for name, _ in attrs):
            self.wrong.append(f"<{tag} {attrs}>")


def draw_name(draw: random.Random) -> str:
    return "".join(draw.choice(PIECES) for _ in range(draw.randrange(1, 5)))


def draw_names(draw: random.Random, n: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < n:
        found[draw_name(draw)] = None
    return list(found)


def is_clean(text: str) -> bool:
    return all(letter.isprintable() or letter in "\n\t" for letter in text)


def use(seed: int, folder: Path) -> None:
    """Train with hostile names, and write them in every way there is."""
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    names, levels = draw_names(draw, 4), draw_names(draw, 3)
    table = pd.DataFrame(rng.normal(size=(80, 4)), columns=names)
    codes = rng.integers(0, 3, 80)
    table[names[3]] = pd.Categorical.from_codes(codes, levels)
    label = (codes == 1) + (table[names[0]].to_numpy() > 0)
    half = draw.choice(["", "\ud800"])  # of a surrogate: Arrow does not have it in columns
    metric_name, set_name = draw_name(draw) + half, half + draw_name(draw)

    def metric(_: Any, __: Any) -> tuple[str, float, bool]:
        return metric_name, 1.0, True

    data = Dataset(table, label)
    params = {"num_leaves": 5, "min_data_in_leaf": 2, "min_data_per_group": 1, "verbosity": 1}
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        booster = train(
            {**params, "num_threads": 1, "cat_target_statistics": "off"},
            data,
            3,
            valid_sets=[data.create_valid(table, label)],
            valid_names=[set_name],
            feval=metric,
            callbacks=[log_evaluation(1)],
        )
    assert is_clean(said.getvalue()), f"the terminal gets {said.getvalue()!r}"
    assert booster.feature_name() == names
    expected = booster.predict(table)
    for suffix, form in ((".gsm", None), (".json", None), (".txt", "lightgbm"), (".ubj", None)):
        path = folder / f"model{suffix}"
        try:
            booster.save_model(path, format=form)
        except GossamerError as error:
            assert is_clean(str(error)), str(error)
            continue
        again = Booster(model_file=path)
        assert again.num_trees() == booster.num_trees()
        if suffix in (".gsm", ".json") and form is None:
            assert again.feature_name() == names
            np.testing.assert_array_equal(again.predict(table), expected)
    page = Page(booster.report(folder / "a.html", table, label).read_text(encoding="utf-8"))
    assert not page.wrong, page.wrong
    assert page.n_scripts <= 3, "a script that is not ours"
    source = booster.to_c()
    assert source.isascii() and is_clean(source), "names reach the C code as they are"
    try:
        booster.predict(table.rename(columns={names[0]: draw_name(draw)}))
    except GossamerError as error:
        assert is_clean(str(error)), str(error)


def test_hostile_names(tally: Tally, tmp_path: Path) -> None:
    for seed in range(share(20, 1_000)):
        with tally.run(f"use({seed})"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use(seed, tmp_path)
