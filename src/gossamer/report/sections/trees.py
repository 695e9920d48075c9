"""The trees: what they are like, and some of them to explore."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from gossamer.data import Table
from gossamer.data.table.date_text import date_text
from gossamer.model.inspection.changed_columns import values_of
from gossamer.model.prediction.predict import predict
from gossamer.report.given import Given
from gossamer.report.html import clean, note, number, plain_number, to_json
from gossamer.report.tree_data import EmbeddedTree, TreeEmbedder, example_rows

_SHOWN_COLUMNS: Final = 40  # whose values are told of an example


def trees(given: Given) -> str:
    """Return the explorer and its data."""
    forest = given.model.forest
    if forest.n_trees == 0:
        return note("The model has no trees, so predictions are the same for all rows.")
    embedder = TreeEmbedder(given.model, given.date_columns)
    embedded = embedder.embed_all(given.trees)
    if not embedded:
        return note("No tree was chosen.")
    facts = {
        "names": embedder.names,
        "trees": [tree.facts for tree in embedded],
        "outputs": [clean(given.output_name(k)) for k in range(min(forest.n_outputs, 1000))]
        if forest.n_outputs > 1
        else [],
        "rows": _examples(given, embedder, embedded),
    }
    return (
        _told(given, embedded)
        + '<div class="explorer" data-explorer><div class="controls" data-controls hidden>'
        + "<label>Tree <select data-tree></select></label>"
        + "<label data-row-choice>Path of <select data-row></select></label>"
        + '<span class="buttons">'
        + "".join(
            f'<button type="button" data-do="{action}"{_named(words, told)}>{words}</button>'
            for action, words, told in (
                ("open", "Expand all", ""),
                ("close", "Collapse", ""),
                ("out", "\u2212", "Zoom out"),
                ("in", "+", "Zoom in"),
                ("fit", "Fit", "Fit the tree to the drawing"),
            )
        )
        + "</span></div>"
        + '<svg class="tree" data-picture hidden role="group" aria-label="The tree"></svg>'
        + '<p class="node-facts" data-facts aria-live="polite"></p>'
        + '<p class="note" data-no-script>Exploring trees needs JavaScript.</p>'
        + f'<script type="application/json">{to_json(facts)}</script></div>'
    )


def _named(words: str, told: str) -> str:
    return f' aria-label="{told}" title="{told}"' if told else ""


def _told(given: Given, embedded: list[EmbeddedTree]) -> str:
    forest = given.model.forest
    n_leaves = np.diff(forest.leaf_begin)
    told = (
        f"{forest.n_trees:,} trees with {number(float(n_leaves.mean()), 3)} leaves on average, "
        f"{int(n_leaves.max()):,} at most."
    )
    if forest.n_trees > len(embedded):
        which = "first " if given.trees is None else ""
        told += f" The {which}{len(embedded):,} of them are on this page."
        if given.trees is not None and len(given.trees) > len(embedded):
            told += " The other chosen trees do not fit on the page."
    n_cut = sum(tree.is_cut for tree in embedded)
    if n_cut:
        told += f" {n_cut:,} large ones are cut below their upper nodes."
    how = (
        " Click on a node to open or close it, or press Enter; drag to move, and zoom with the "
        "buttons or with Ctrl and the wheel. Rows that pass a test go left."
    )
    return note(told + how)


def _examples(
    given: Given, embedder: TreeEmbedder, embedded: list[EmbeddedTree]
) -> list[dict[str, Any]]:
    """Some rows, from the lowest to the highest score: their values, and where they end up."""
    if given.table is None:
        return []
    chosen = given.explained_rows[example_rows(given.scores[given.explained_rows, 0])]
    part = Table(given.table.take_rows(chosen).values)
    leaves = predict(given.model, part, replace(given.options, pred_leaf=True))
    columns = [c for c in embedder.columns if c < given.model.n_columns][:_SHOWN_COLUMNS]
    values = {c: values_of(part.matrix, c).astype(np.float64) for c in columns}
    predictions = given.predictions.reshape(given.table.n_rows, -1)
    found = []
    for i, row in enumerate(chosen.tolist()):
        shown = ", ".join(number(v) for v in predictions[row, :4])
        found.append(
            {
                "name": f"row {int(given.rows[row]):,} (prediction {shown})",
                "values": [
                    _shown(given, c, values[c][i]) if c in values else "" for c in embedder.columns
                ],
                "ends": [
                    tree.node_of_leaf[int(leaves[i, tree.facts["tree"]])] for tree in embedded
                ],
            }
        )
    return found


def _shown(given: Given, column: int, value: float) -> str:
    if np.isnan(value):
        return "missing"
    if column in given.date_columns:
        return date_text(value)
    own = given.levels_of(column)
    return clean(own[int(value)], 30) if own is not None else plain_number(value)
