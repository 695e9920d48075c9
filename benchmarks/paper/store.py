"""Result documents: JSON with one run on each line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine, find_versions

RUNS_FILE = "results.json"
SAMPLING_FILE = "goss_vs_sgb.json"
Document = dict[str, Any]


def new_document(kind: str, **settings: object) -> Document:
    """An empty document.

    Args:
        kind: "paper" or "goss_vs_sgb".
        **settings: What holds for all runs.

    Returns:
        Machine, versions, settings, and room for data sets ("data") and "runs".
    """
    return {
        "kind": kind,
        "machine": describe_machine(),
        "versions": find_versions(),
        "settings": settings,
        "data": {},
        "runs": [],
    }


def write_document(path: Path, document: Document) -> None:
    """Writes a document, making its folder; the file is complete or as it was."""
    head = json.dumps({key: value for key, value in document.items() if key != "runs"}, indent=1)
    runs = ",\n  ".join(json.dumps(run) for run in document["runs"])
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(f'{head[:-2]},\n "runs": [\n  {runs}\n ]\n}}\n')
    unfinished.replace(path)


def read_document(path: Path) -> Document | None:
    """Reads a document, or returns None where there is none."""
    if not path.is_file():
        return None
    document: Document = json.loads(path.read_text())
    return document


def keep_others(document: Document, earlier: Document, keys: tuple[str, ...]) -> None:
    """Adds the earlier runs whose labels are not among the new ones.

    Args:
        document: The new runs; changed.
        earlier: An earlier document.
        keys: Labels that say what a run is a run of.

    Raises:
        ValueError: When the two were measured in different ways.
    """
    for name in ("kind", "settings"):
        if document[name] != earlier[name]:
            raise ValueError(f"earlier results differ in {name}: {earlier[name]}")
    if document["machine"]["cpu"] != earlier["machine"]["cpu"]:
        raise ValueError(f"earlier results are of another machine: {earlier['machine']['cpu']}")
    done = {tuple(run.get(key) for key in keys) for run in document["runs"]}
    kept = [run for run in earlier["runs"] if tuple(run.get(key) for key in keys) not in done]
    document["runs"] = kept + document["runs"]
    document["data"] = {**earlier["data"], **document["data"]}
