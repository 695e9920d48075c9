"""What the tests of reports share: a reader of pages, and small models."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

import gossamer as gs

VOID = {"meta", "input", "br", "hr", "img", "link"}
QUIET = {"verbose": -1, "num_threads": 1, "num_leaves": 7, "min_data_in_leaf": 5}


class Page(HTMLParser):
    """Reads a page, and fails where tags do not match."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.source = path.read_text(encoding="utf-8")
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[tuple[str | None, str]] = []
        self.feed(self.source)
        self.close()
        assert self.open == [], "elements that are not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice: {attrs}"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs).get("type"), ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    @property
    def ids(self) -> list[str]:
        return [found for _, attrs in self.tags if (found := attrs.get("id"))]

    @property
    def headings(self) -> list[str]:
        return [i.removesuffix("-title") for i in self.ids if i.endswith("-title")]

    def charts(self) -> int:
        return sum(tag == "svg" and attrs.get("class") == "chart" for tag, attrs in self.tags)


def table(n_rows: int = 400, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(n_rows, 4))


def fit(params: dict[str, Any], x: Any, y: Any, rounds: int = 8, **fields: Any) -> gs.Booster:
    return gs.train({**QUIET, **params}, gs.Dataset(x, y, **fields), rounds)
