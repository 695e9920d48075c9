"""The page: its sections one after another, with styles and scripts inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gossamer.report.asset_files import read_asset, script_digest
from gossamer.report.given import Given
from gossamer.report.html import text
from gossamer.report.sections import SECTIONS
from gossamer.report.sections.summary import summary
from gossamer.report.sections.verdict import verdict

_SCRIPTS: Final = ("threshold.js", "tree_layout.js", "tree_explorer.js")
_STYLES: Final = ("page.css", "charts.css", "explorer.css")


@dataclass(frozen=True)
class _Part:
    """A section of the page."""

    id: str
    title: str
    content: str

    @property
    def html(self) -> str:
        heading = f'<h2 id="{self.id}-title">{self.title}</h2>'
        return (
            f'<section id="{self.id}" aria-labelledby="{self.id}-title">'
            f"{heading}{self.content}</section>"
        )


def make_page(given: Given) -> str:
    """Return the whole page; the same model and data give the same text on the same day."""
    parts = [_Part(id, title, make(given)) for id, title, make in SECTIONS]
    parts = [part for part in parts if part.content]
    menu = "".join(f'<li><a href="#{part.id}">{part.title}</a></li>' for part in parts)
    script = "\n".join(read_asset(name) for name in _SCRIPTS)
    style = "\n".join(read_asset(name) for name in _STYLES)
    title = text(given.title, 200)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # Only this very script runs, and nothing is loaded, whatever a name contains.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        f"style-src 'unsafe-inline'; script-src '{script_digest(script)}'\">\n"
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="generator" content="Gossamer">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"<header><h1>{title}</h1>{summary(given)}{verdict(given)}</header>\n"
        f'<nav aria-label="Sections"><ul>{menu}</ul></nav>\n<main>\n'
        + "\n".join(part.html for part in parts)
        + "\n</main>\n<footer><p>Written by Gossamer. This page loads nothing and sends "
        f"nothing.</p></footer>\n<script>{script}</script>\n</body>\n</html>\n"
    )
