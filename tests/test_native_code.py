"""How the native code is cut, and what keeps its bytes the same on every platform."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

_NATIVE = Path(__file__).parents[1] / "native"
_CORE = _NATIVE / "core"

_MOST_LINES = 70  # of a function
_MOST_GROWER_LINES = 500  # with its header
_SHARED_LINES = 6

# Libraries differ in the last bits of these. No model depends on the ones that are named here: what
# storage costs, the start of an iteration that converges to the same bits, and a metric.
_INEXACT = re.compile(
    r"std::((?:exp|expm1|exp2|log|log1p|log2|log10|pow|cbrt|hypot|a?sinh?|a?cosh?|a?tanh?|atan2|erfc?|[lt]gamma)f?)\("
)
_MAY_BE_INEXACT = {("storage.cpp", "log2"), ("shap.cpp", "cos"), ("order_metrics.cpp", "log")}

_NOT_A_FUNCTION = re.compile(r"^\s*(namespace|struct|class|enum|union|extern)\b|=\s*\{$")


def test_functions_are_short() -> None:
    long = {
        f"{path.name}: {name}": n_lines
        for path in _sources(_CORE)
        for name, n_lines in _functions(path.read_text().splitlines())
        if n_lines > _MOST_LINES
    }
    assert not long, f"functions of more than {_MOST_LINES} lines: {long}"


def test_the_grower_is_short() -> None:
    n_lines = sum(
        len((_CORE / name).read_text().splitlines()) for name in ("grower.h", "grower.cpp")
    )
    assert n_lines <= _MOST_GROWER_LINES


def test_nothing_is_written_twice() -> None:
    places: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in _sources(_CORE):
        lines = list(_lines_of_code(path.read_text()))
        for i in range(len(lines) - _SHARED_LINES + 1):
            run = tuple(text for _, text in lines[i : i + _SHARED_LINES])
            places[run].append(f"{path.name}:{lines[i][0]}")
    twice = [found for found in places.values() if len(found) > 1]
    assert not twice, f"places that share {_SHARED_LINES} lines: {twice}"


def test_no_model_depends_on_a_library_of_mathematics() -> None:
    used = {
        (path.name, name)
        for folder in ("core", "files", "kernels", "cuda", "bindings")
        for path in _sources(_NATIVE / folder)
        for _, code in _lines_of_code(path.read_text())
        for name in _INEXACT.findall(code)
    }
    assert used == _MAY_BE_INEXACT


@pytest.mark.parametrize("order", ["LITTLE", "BIG"])
def test_big_endian_is_refused_by_the_compiler(order: str) -> None:
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("no C++ compiler")
    options = ["-std=c++20", "-fsyntax-only", f"-I{_NATIVE}", "-DGOSSAMER_GENERIC_KERNELS"]
    options += ["-U__BYTE_ORDER__", f"-D__BYTE_ORDER__=__ORDER_{order}_ENDIAN__"]
    command = [compiler, *options, str(_NATIVE / "kernels" / "dispatch.cpp")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if order == "BIG":
        assert "Gossamer needs a little-endian processor" in done.stderr
    assert (done.returncode == 0) == (order == "LITTLE")


def test_the_search_for_functions_finds_them() -> None:
    code = """
namespace a {
int one(int x) { return x; }
struct Counts {
  explicit Counts(int n)
      : n_(n) {
    n_ += 1;
  }
  int n_ = 0;
};
const int table[] = {
    1,
};
template <typename T>
int longest(T x,
            int y) {
  const auto add = [&](int z) {
    return z;
  };
  return add(y);
}
}  // namespace a
"""
    assert list(_functions(code.splitlines())) == [
        ("explicit Counts(int n)", 4),
        ("template <typename T>", 8),
    ]


def _sources(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cpp", ".inl"))
    assert found
    return found


def _functions(lines: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the first line and the number of lines of every function, its parameters included.

    clang-format indents what is in a namespace by nothing and what is in a class by two spaces.
    """
    end_of_last = 0
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if i < end_of_last or not line.endswith("{"):
            continue
        begin = i
        while begin > 0 and _goes_on(lines[begin - 1]):
            begin -= 1
        indent = len(lines[begin]) - len(lines[begin].lstrip())
        if any(_NOT_A_FUNCTION.search(text) for text in lines[begin : i + 1]) or "(" not in "".join(
            lines[begin : i + 1]
        ):
            continue
        end = next(j for j in range(i + 1, len(lines)) if lines[j].startswith(" " * indent + "}"))
        end_of_last = end + 1
        yield lines[begin].strip(), end - begin + 1


def _goes_on(line: str) -> bool:
    """Whether the next line belongs to what this one begins."""
    text = line.strip()
    return (
        bool(text) and not text.endswith((";", "{", "}", ":")) and not text.startswith(("//", "#"))
    )


def _lines_of_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that say something: no comments, lone braces, includes."""
    for number, line in enumerate(text.splitlines(), 1):
        code = " ".join(re.sub(r"//.*", "", line).split())
        if re.search(r"\w", code) and not code.startswith("#include"):
            yield number, code
