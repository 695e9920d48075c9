"""The page: controls made from the tables of settings, with style and script inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from gossamer.playground.scenes import EXAMPLES
from gossamer.playground.settings import CHOICES, SLIDERS, Choice, Slider
from gossamer.report.asset_files import read_asset, script_digest
from gossamer.report.html import text, to_json

if TYPE_CHECKING:
    from gossamer.playground.answers import Playground

_VIEWS = {
    "label": "labels",
    "residual": "residuals",
    "rows": "rows of this round",
}


def make_page(playground: Playground) -> str:
    """Return the page that asks a server for answers."""
    scenes = {name: title for name, (title, _, _) in EXAMPLES.items()}
    columns = ""
    if playground.table is not None and playground.columns is not None:
        scenes = {"file": playground.table.title, **scenes}
        axes, targets = playground.table.axes, playground.table.targets
        titles = ("Horizontal", "Vertical", "Predict")
        columns = '<fieldset data-columns=""><legend>Columns</legend>' + "".join(
            _select(f"column-{i}", title, {name: name for name in names}, chosen)
            for i, (title, names, chosen) in enumerate(
                zip(titles, (axes, axes, targets), playground.columns, strict=True)
            )
        )
        columns += "</fieldset>"
    return _page(scenes, columns, "")


def make_static_page(answers: Sequence[Mapping[str, Any]], title: str) -> str:
    """Return a page that needs no server: only the round can be chosen.

    Args:
        answers: Answers of `Playground.answer`, one for each round that can be chosen.
        title: What the scene is called.
    """
    first, *others = ({**answer, "milliseconds": None} for answer in answers)
    common = {k: v for k, v in first.items() if all(other[k] == v for other in others)}
    own = [{k: v for k, v in each.items() if k not in common} for each in (first, *others)]
    facts = to_json({"common": common, "answers": own})
    data = f'<script type="application/json" id="answers">{facts}</script>'
    return _page({"static": title}, "", data)


def _page(scenes: Mapping[str, str], columns: str, data: str) -> str:
    sliders = {name: _slider(slider) for name, slider in SLIDERS.items()}
    choices = {name: _choice(choice) for name, choice in CHOICES.items()}
    groups = {
        "Trees": ("rounds", "num_leaves", "learning_rate", "lambda_l2", "min_data_in_leaf"),
        "Splits": ("tree_method", "max_bin", "grow_policy"),
        "Rows": ("sampling", "top_rate", "other_rate"),
    }
    controls = "".join(
        f"<fieldset><legend>{title}</legend>"
        + "".join((sliders | choices)[name] for name in names)
        + "</fieldset>"
        for title, names in groups.items()
    )
    example = _select("scene", "Example", scenes)
    body = (
        read_asset("body.html", "gossamer.playground")
        .replace("<!--scene-->", f"<fieldset><legend>Data</legend>{example}</fieldset>{columns}")
        .replace("<!--controls-->", controls)
        .replace("<!--views-->", _radios("view", _VIEWS))
        .replace("<!--data-->", data)
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy()}">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>Gossamer playground</title>\n<style>\n{_style()}</style>\n</head>\n<body>\n"
        f"{body}<script>{_script()}</script>\n</body>\n</html>\n"
    )


def content_policy() -> str:
    """Return what the page may do: run its own script, and ask the server that it came from."""
    return (
        "default-src 'none'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src '{script_digest(_script())}'"
    )


@cache
def _script() -> str:
    own = read_asset("playground.js", "gossamer.playground")
    return read_asset("tree_layout.js") + own


def _style() -> str:
    own = read_asset("playground.css", "gossamer.playground")
    return "".join(read_asset(name) for name in ("page.css", "charts.css", "explorer.css")) + own


def _slider(slider: Slider) -> str:
    return (
        f'<label class="slider" title="{text(slider.help, 200)}">'
        f'<span>{text(slider.title)} <output for="{slider.name}"></output></span>'
        f'<input type="range" id="{slider.name}" name="{slider.name}" min="{slider.low:g}" '
        f'max="{slider.high:g}" step="{slider.step:g}" value="{slider.default:g}" '
        f'aria-describedby="{slider.name}-help">'
        f'<small id="{slider.name}-help">{text(slider.help, 200)}</small></label>'
    )


def _choice(choice: Choice) -> str:
    return _select(choice.name, choice.title, choice.words)


def _select(name: str, title: str, words: Mapping[str, str], chosen: str = "") -> str:
    options = "".join(
        f'<option value="{text(value, 10_000)}"{" selected" if value == chosen else ""}>'
        f"{text(shown, 60)}</option>"
        for value, shown in words.items()
    )
    return (
        f'<label class="choice"><span>{title}</span>'
        f'<select name="{name}">{options}</select></label>'
    )


def _radios(name: str, words: Mapping[str, str]) -> str:
    def radio(i: int, value: str, shown: str) -> str:
        checked = " checked" if i == 0 else ""
        return f'<label><input type="radio" name="{name}" value="{value}"{checked}> {shown}</label>'

    parts: Iterable[str] = (radio(i, *item) for i, item in enumerate(words.items()))
    return "".join(parts)
