"""Traits of objectives: nobody asks for a name, and a new objective works everywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.metrics.registry import METRICS
from gossamer.objectives.registry import OBJECTIVES
from gossamer.params.traits import OBJECTIVE_CHOICES, TRAITS, Kind

PACKAGE = Path(__file__).parents[2] / "src" / "gossamer"
# Where names of objectives are the subject: the registry, the names of other libraries.
MAY_COMPARE = (
    "objectives/registry.py",
    "compat/",
    "model/formats/lightgbm_objective.py",
    "model/formats/xgboost_objective.py",
    "model/formats/xgboost_read.py",
    "model/formats/xgboost_write.py",
)
NAMES = {*OBJECTIVES, *(alias for t in TRAITS.values() for alias in t.aliases), "several_targets"}
# Words that are something else as well: tasks of the command line, links, kinds of files.
OTHER_MEANINGS = {
    *("binary", "multiclass", "regression", "softmax", "normal", "custom", "none", "null", "na"),
    *METRICS,
}


def _strings(node: ast.AST, constants: dict[str, set[str]]) -> set[str]:
    """The strings that a side of a comparison holds, also by the name of a constant."""
    if isinstance(node, ast.Dict):  # what is compared are its keys
        keys = [_strings(key, constants) for key in node.keys if key is not None]
        return set[str]().union(*keys)
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.add(each.value)
        elif isinstance(each, ast.Name):
            found |= constants.get(each.id, set())
    return found


def _is_name(node: ast.AST) -> bool:
    """Whether an expression is the name of an objective, by how it is written."""
    text = ast.unparse(node)
    return text.endswith(("objective.name", "part.name", "params.objective", ".inner.name")) or (
        text in ("objective", "config['name']", "own['name']")
    )


def _comparisons(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where a name of an objective is compared with strings, or looked up among them."""
    constants = {
        target.id: _strings(value, {})
        for node in tree.body
        for target, value in _assignments(node)
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            words = set[str]().union(*(_strings(side, constants) for side in sides)) & NAMES
            if words - OTHER_MEANINGS or (words and any(map(_is_name, sides))):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            looked_up = node.func.attr == "get" and node.args and _is_name(node.args[0])
            is_prefix = node.func.attr in ("startswith", "endswith") and _is_name(node.func.value)
            if looked_up or is_prefix:
                yield node.lineno, ast.unparse(node)
        elif (
            isinstance(node, ast.Subscript)
            and _is_name(node.slice)
            and _strings(node.value, constants) & NAMES
        ):
            yield node.lineno, ast.unparse(node)


def _assignments(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield target, node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value


def test_only_registry_and_formats_compare_names_of_objectives() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}:{line}: {text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, text in _comparisons(ast.parse(path.read_text(encoding="utf-8")))
        if not str(path.relative_to(PACKAGE)).startswith(MAY_COMPARE)
    }
    assert not found, "ask objective.traits, or traits_of(params.objective)"


@pytest.mark.parametrize(
    "code",
    [
        'objective.name == "cox"',
        'model.objective.name in ("binary", "focal")',
        'params.objective not in _SURVIVAL\n_SURVIVAL = ("cox", "aft")',
        '_TASKS.get(objective.name)\n_TASKS = {"cox": 1}',
        '_TASKS[objective.name]\n_TASKS = {"cox": 1}',
        'objective.name.startswith("multi")',
        '"rank:map" == objective',
        'name == "several_targets"',
    ],
)
def test_the_search_finds_comparisons(code: str) -> None:
    assert len(list(_comparisons(ast.parse(code)))) == 1


def test_traits_are_told_once() -> None:
    for name, objective in OBJECTIVES.items():
        assert TRAITS[name] is objective.traits
        assert "traits" in vars(objective), f"{name} has the traits of another objective"
    spellings = [s for name, aliases in OBJECTIVE_CHOICES.items() for s in (name, *aliases)]
    assert len(set(spellings)) == len(spellings)


def test_kinds_have_classes() -> None:
    for objective in OBJECTIVES.values():
        classes = {Kind.BINARY: 2, Kind.MULTICLASS: objective.n_outputs}
        assert objective().n_classes == classes.get(objective.traits.kind, 0)
