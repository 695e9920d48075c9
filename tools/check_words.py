"""Find wordings that make readers stop, in src/, docs/, the README and the comments of native/.

    python tools/check_words.py            all of them, with file and line
    python tools/check_words.py --count    how many in each file

Each pattern has a plainer wording. Exits with 1 if there is any.
"""

from __future__ import annotations

import argparse
import io
import itertools
import re
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
WHERE = (
    "README.md",
    "docs",
    "src",
    *(f"native/{name}" for name in ("bindings", "core", "files", "fuzz", "tests")),
)
NATIVE_SUFFIXES = {".cpp", ".h", ".inl"}
SUFFIXES = {".py", ".pyi", ".md", ".html", ".js", ".css", *NATIVE_SUFFIXES}

# What is found -> what to write instead. Lower and upper case are the same.
PATTERNS: dict[str, str] = {
    r"(?<!there )\b(?:is|are|was|were) no (?!longer|more\b|other|better|worse|different|less|fewer"
    r"|larger|smaller|need|way|reason|such|splits?\b|rows?\b|limit)[a-z]": "is not a ...",
    r"\bstands? (?:together|for itself|beside|behind|in front|above|below|on top|alone|apart)\b"
    r"|\bwhat stands\b|\bit stands\b|\bthat stands\b": "is, is stored, appears",
    r"\bthat of\b|\bthose of\b": "repeat the noun, or use 's",
    r"(?<![./])(?<!def )\bbeside\b(?!\()": "next to, compared with",
    r"(?<![/-])\bpictures?\b(?!\.md|/)": "plot",  # names of files stay
    r"\btruth values?\b": "boolean",
    r"\banew\b": "again, from scratch",
    r"\bwithout: (?:the|it|that|those|as)\b": "Default: ...",
    r"\bby chance\b": "at random",
    r"\bparted\b": "split",
    r"\bgo(?:es)? on from\b": "resumes from",
    r"\blets? go of\b": "releases",
    r"\bcomes? behind\b": "follow",
    r"\b(?:is|are) asked about\b": "is evaluated on",
    r"\broom for\b|\bthere is room\b|\bno room\b": "space, buffer",
    r"\bway to a leaf\b": "path to a leaf",
    r"\bsomebody\b|\bnobody\b": "name the function or role",
    r"\bcome to terms\b|\bhangs? on it\b|\bhears\b|\bwishes\b|\bpays\b": "depends on, costs",
    r"\bgoe?s? together with\b": "can be combined with",
    r"\bnot usable\b": "cannot be used because ...",
    r"\bmemory of the computer\b": "host memory",
    r"\btakes nothing after\b": "needs a number after",
    r"\bexpected of all rows\b": "expected value over all rows",
    r"\bsaid out loud\b": "printed",
    r"\bas asked for\b": "(--task)",
    r"\bholes\b": "missing values",
    r"\bthe data decide\b": "chosen automatically",
    r"\bother than a mean\b": "classes, quantiles, rankings or survival times",
}

# Comments of C++; comments and template strings of a script.
_NATIVE_PROSE = re.compile(r"//[^\n]*")
_SCRIPT_PROSE = re.compile(r"//[^\n]*|/\*.*?\*/|`[^`]*`", re.DOTALL)


def find(text: str) -> list[tuple[int, str, str]]:
    """Return line, words and what to write instead, of each place."""
    places = []
    for pattern, better in PATTERNS.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            places.append((text.count("\n", 0, match.start()) + 1, match.group(), better))
    return sorted(places)


def prose_of(path: Path) -> str:
    """Return a file's text with spaces in place of code: names in programs are not prose."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".py", ".pyi"):
        return _keep(text, _python_places(text))
    if path.suffix == ".js":
        return _keep(text, [m.span() for m in _SCRIPT_PROSE.finditer(text)])
    if path.suffix in NATIVE_SUFFIXES:
        return _keep(text, [m.span() for m in _NATIVE_PROSE.finditer(text)])
    return text


def _python_places(text: str) -> list[tuple[int, int]]:
    """Return where strings and comments are."""
    begins = [0, *itertools.accumulate(len(line) for line in text.splitlines(keepends=True))]
    kinds = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    return [
        (begins[token.start[0] - 1] + token.start[1], begins[token.end[0] - 1] + token.end[1])
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type in kinds
    ]


def _keep(text: str, places: list[tuple[int, int]]) -> str:
    kept = ["\n" if c == "\n" else " " for c in text]
    for begin, end in places:
        kept[begin:end] = text[begin:end]
    return "".join(kept)


def files() -> list[Path]:
    """Return the files to look at."""
    found: list[Path] = []
    for name in WHERE:
        path = ROOT / name
        found += [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    return [path for path in found if path.suffix in SUFFIXES]


def main(arguments: list[str]) -> int:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", help="only files below these")
    parser.add_argument("--count", action="store_true", help="a number for each file")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    for path in files():
        name = str(path.relative_to(ROOT))
        if options.folders and not any(name.startswith(f) for f in options.folders):
            continue
        for line, words, better in find(prose_of(path)):
            counts[name] += 1
            if not options.count:
                print(f"{name}:{line}: {words!r}: {better}")
    if options.count:
        for name, n in counts.most_common():
            print(f"{n:5} {name}")
    print(f"{sum(counts.values())} places")
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
