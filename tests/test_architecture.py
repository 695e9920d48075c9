"""House rules that a reader of the code may rely on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "gossamer"

# The pipeline from left to right: a stage imports only from stages before it.
STAGES = [
    "_native",
    "errors",
    "arguments",
    "notebook",
    "logger",
    "params",
    "threads",
    "side_by_side",
    "files",
    "binning",
    "cuda",
    "data",
    "sketch",
    "objectives",
    "metrics",
    "sampling",
    "tree",
    "model",
    "callbacks",
    "train",
    "cv",
    "ensemble",
    "distributed",
    "sklearn",
    "dask",
    "tune",
    "plot",
    "report",
    "playground",
    "cli",
    "compat",
]

# Where text may go straight to the terminal.
MAY_PRINT = {"cli", "logger", "callbacks"}

SOURCES = sorted(PACKAGE.rglob("*.py"))


# Lines of a file at most; tables of parameters may have as many as there are parameters.
MOST_LINES = 500
TABLES = re.compile(r"params/(table_\w+|param_fields)\.py")


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _stage(path: Path) -> str:
    """The part of the package a file belongs to; "" is the package's own `__init__`."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first in ("__init__", "__main__") else first


def _run_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _run_nodes(node)


def _imported_stages(path: Path) -> Iterator[tuple[int, str]]:
    for node in _run_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{_name(path)}:{node.lineno}: imports are written in full"
            base = node.module or ""
            names = [alias.name for alias in node.names]
            modules = [f"{base}.{name}" for name in names] if base == "gossamer" else [base]
        else:
            continue
        for module in modules:
            parts = module.split(".")
            if parts[0] == "gossamer" and len(parts) > 1:
                yield node.lineno, parts[1]


def test_every_part_of_the_package_has_its_place() -> None:
    found = {_stage(path) for path in SOURCES} - {""}
    assert found <= set(STAGES), "new parts need a place in STAGES, and a line in ARCHITECTURE.md"


def test_imports_flow_one_way() -> None:
    wrong = [
        f"{_name(path)}:{line} imports gossamer.{imported}"
        for path in SOURCES
        if (stage := _stage(path))
        for line, imported in _imported_stages(path)
        # `from gossamer import Booster` hides where it comes from; only the edges may do that.
        if imported != stage
        and (imported not in STAGES or STAGES.index(imported) > STAGES.index(stage))
    ]
    assert not wrong, f"a stage imports only from those before it: {', '.join(STAGES)}"


def test_files_are_short() -> None:
    lines = {
        _name(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in SOURCES
        if not TABLES.fullmatch(path.relative_to(PACKAGE).as_posix())
    }
    long = {name: n for name, n in lines.items() if n > MOST_LINES}
    assert not long, f"split these along an idea: none may have more than {MOST_LINES} lines"


def test_nothing_prints_but_the_edges() -> None:
    prints = [
        f"{_name(path)}:{node.lineno}"
        for path in SOURCES
        if _stage(path) not in MAY_PRINT
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert not prints, "use gossamer.logger"


def test_the_map_names_only_what_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    # Paths stand in backticks and have a slash, or are files at the top.
    named = re.findall(r"`([\w./-]+(?:/|\.(?:md|toml|txt|py|pyi|cpp|h|inl|yml|cff)))`", text)
    assert len(named) > 20
    missing = sorted({name for name in named if not (ROOT / name).exists()})
    assert not missing, f"ARCHITECTURE.md names paths that are not there: {missing}"


def test_the_core_knows_nothing_of_python() -> None:
    wrong = [
        f"{_name(path)}: {line.strip()}"
        for folder in ("core", "kernels", "tests")
        for path in sorted((ROOT / "native" / folder).rglob("*"))
        if path.suffix in {".h", ".cpp", ".inl"}
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*#\s*include\s*[<\"](Python\.h|nanobind|bindings/|numpy/)", line)
    ]
    assert not wrong


def test_every_native_test_is_in_the_build() -> None:
    folder = ROOT / "native" / "tests"
    listed = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
    suites = re.search(r"set\(suites\s+([^)]*)\)", listed)
    assert suites is not None
    files = {path.stem.removeprefix("test_") for path in folder.glob("test_*.cpp")}
    assert files == set(suites.group(1).split())


def test_split_math_needs_no_standard_library() -> None:
    """Compilers for other devices take the same formulas: they have no C++ library."""
    for name in ("split_math.inl", "split_rules.h"):
        text = (ROOT / "native/kernels" / name).read_text()
        assert "#include" not in text, name
        assert "std::" not in text, name
