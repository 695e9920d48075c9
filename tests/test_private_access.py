"""No module of the package reaches into another's underscored state."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "gossamer"

# What another library keeps in no public place: scikit-learn's trained gradient boosting.
OF_OTHERS = {
    "model/formats/sklearn_hgb.py": {"_bin_mapper", "_predictors", "_baseline_prediction"},
    "model/formats/sklearn_trees.py": {"_raw_predict_init"},
}


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _own_names(tree: ast.Module) -> set[str]:
    """Private names that classes of this module define: methods, fields, and `self._x = ...`."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    names.add(part.name)
                elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    names.add(part.target.id)
                elif isinstance(part, ast.Assign):
                    names |= {t.id for t in part.targets if isinstance(t, ast.Name)}
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        ):
            names.add(node.attr)
    return {name for name in names if _is_private(name)}


def _is_own(node: ast.expr) -> bool:
    """Whether this is the object itself, its class, or what it inherits."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def find_foreign(path: str, text: str) -> Iterator[str]:
    """Yield each `x._y` whose `_y` belongs to no class of the module."""
    tree = ast.parse(text)
    known = _own_names(tree) | OF_OTHERS.get(path, set())
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not _is_private(node.attr):
            continue
        if not _is_own(node.value) and node.attr not in known:
            yield f"{path}:{node.lineno}: {ast.unparse(node)}"


def test_private_state_is_private() -> None:
    found = [
        line
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in find_foreign(
            path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")
        )
    ]
    assert found == []


def test_what_counts_as_private_access() -> None:
    text = """
class Own:
    def __init__(self, other):
        self._mine = other._mine
        self._theirs._deep = super()._inherited
        other.__class__
def look(x):
    return x._mine, x._foreign
"""
    assert sorted(find_foreign("here.py", text)) == [
        "here.py:5: self._theirs._deep",
        "here.py:8: x._foreign",
    ]
    assert list(find_foreign("model/formats/sklearn_hgb.py", "x._predictors")) == []
