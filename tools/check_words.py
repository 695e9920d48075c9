"""Find wordings that make readers stop, in src/, docs/ and the README.

    python tools/check_words.py            all of them, with file and line
    python tools/check_words.py --count    how many in each file

Each pattern has a plainer wording. Exits with 1 if there is any.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
WHERE = ("README.md", "docs", "src")
SUFFIXES = {".py", ".pyi", ".md", ".html", ".js", ".css"}

# What is found -> what to write instead. Lower and upper case are the same.
PATTERNS: dict[str, str] = {
    r"\b(?:is|are|was|were) no (?!longer|more\b|other|better|worse|different|less|fewer|larger"
    r"|smaller|need|way|reason|such|splits?\b|rows?\b|limit)[a-z]": "is not a ...",
    r"\bstands? (?:together|for itself|beside|behind|in front|above|below|on top|alone|apart)\b"
    r"|\bwhat stands\b|\bit stands\b|\bthat stands\b": "is, is stored, appears",
    r"\bthat of\b|\bthose of\b": "repeat the noun, or use 's",
    r"\bbeside\b": "next to, compared with",
    r"\bpictures?\b": "plot",
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


def find(text: str) -> list[tuple[int, str, str]]:
    """Return line, words and what to write instead, of each place."""
    places = []
    for pattern, better in PATTERNS.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            places.append((text.count("\n", 0, match.start()) + 1, match.group(), better))
    return sorted(places)


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
        for line, words, better in find(path.read_text(encoding="utf-8")):
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
