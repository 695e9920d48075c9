"""Damaged and hostile files of every format that is read: each is refused, or it can be used.

The same seed gives the same files. `make fuzz` tries FUZZ_FILES of them, with a native module that
address and undefined-behaviour sanitizers watch; `test_mutated_files.py` some in every test run.
"""

from __future__ import annotations

import argparse
import bz2
import copy
import gzip
import io
import json
import lzma
import math
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE
from typing import Any, Final, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as parquet
import scipy.sparse
from attack import mutated_models
from attack.mutated_models import Random, change_array, change_json, damage, seal
from model.formats.test_catboost import BRANCHES, SYMMETRIC

import gossamer as gs
from gossamer import Booster, Dataset, GossamerError, checkpoint, files
from gossamer.compat.xgboost import DMatrix
from gossamer.compat.xgboost import train as xgboost_train
from gossamer.data.storage.budget import Budget
from gossamer.model.formats import ubjson
from gossamer.sketch import QuantileSketch

MOST_SECONDS: Final = 10.0  # of processor time for one file: honest ones take some milliseconds
SMALL: Final = {"num_leaves": 6, "min_data_in_leaf": 4, "num_threads": 1, "verbosity": -1}
ODD_WORDS: Final = (
    *(b"", b"0", b"-1", b"1e308", b"-1e309", b"nan", b"inf", b"1e-320", b"2147483648", b"x"),
    *(b"99999999999999999999", b"0x10", b"1_0", b"'", b'"', b"\xff\xfe", b"\x00", b"=", b":"),
    *(b" ", b",", b"\n", b"\r", b"1:2:3", b"-5:1", b"4294967296:1", b"a" * 5000),
)


class File(NamedTuple):
    """A file that nothing is wrong with.

    Attributes:
        format: Counted under this name.
        suffix: Of the name that the file gets.
        content: Its bytes.
        ways: What can be done to it.
        use: Reads a file, and uses what is in it; returns what was read.
    """

    format: str
    suffix: str
    content: bytes
    ways: tuple[Callable[[Random, File, list[File]], bytes], ...]
    use: Callable[[Path], object]


# ---- damage ----


def in_bytes(rng: Random, file: File, pool: list[File]) -> bytes:
    """Cut, change or insert bytes, or splice the file with another one of its format."""
    return damage(rng, file.content, [each for each in pool if each.format == file.format])


def in_words(rng: Random, file: File, pool: list[File]) -> bytes:
    """Put odd words into a text, and move its lines."""
    lines = file.content.split(b"\n")
    for _ in range(int(rng.integers(1, 4))):
        i, j = (int(rng.integers(len(lines))) for _ in range(2))
        way = rng.integers(7)
        if way == 0:
            lines[i], lines[j] = lines[j], lines[i]
        elif way == 1:
            lines.insert(i, lines[j])
        elif way == 2 and len(lines) > 1:
            del lines[i]
        else:
            lines[i] = _with_odd_word(rng, lines[i])
    return b"\n".join(lines)


def _with_odd_word(rng: Random, line: bytes) -> bytes:
    separators = [s for s in (b" ", b",", b"=", b":", b"\t") if s in line]
    separator = separators[rng.integers(len(separators))] if separators else b" "
    words = line.split(separator)
    words[rng.integers(len(words))] = ODD_WORDS[rng.integers(len(ODD_WORDS))]
    return separator.join(words)


def in_json(rng: Random, file: File, pool: list[File]) -> bytes:
    """Change something at any depth of a JSON file."""
    return json.dumps(_changed(rng, json.loads(file.content))).encode()


def in_ubjson(rng: Random, file: File, pool: list[File]) -> bytes:
    """Change something at any depth of a UBJSON file."""
    facts = _changed(rng, _plain(ubjson.loads(file.content)))
    try:
        return ubjson.dumps(facts)
    except (TypeError, ValueError, struct.error):  # what the format cannot say
        return in_bytes(rng, file, pool)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, np.ndarray)):
        return [_plain(each) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _changed(rng: Random, facts: Any) -> Any:
    whole = copy.deepcopy(facts)
    for _ in range(1 + int(rng.integers(3))):
        change_json(rng, whole, facts)
    return whole


def in_arrays(rng: Random, file: File, pool: list[File]) -> bytes:
    """Change arrays or facts of a file of ours, and give it the right checksum."""
    arrays, facts = files.from_bytes(file.content)
    arrays = {name: array.copy() for name, array in arrays.items()}
    for _ in range(1 + int(rng.integers(3) == 0) * int(rng.integers(1, 4))):
        if rng.integers(3) and arrays:
            change_array(rng, arrays, [_Arrays(arrays)])
        else:
            change_json(rng, facts, {})
    return seal(arrays, facts)


class _Arrays(NamedTuple):
    arrays: dict[str, Any]


def in_pages(rng: Random, file: File, pool: list[File]) -> bytes:
    """Change a page file's bins, or what is said about them, and give it the right checksums."""
    length = int.from_bytes(file.content[-16:-8], "little")
    pages = bytearray(file.content[: -16 - length])
    arrays, facts = files.from_bytes(file.content[-16 - length : -16])
    arrays = {name: array.copy() for name, array in arrays.items()}
    n_bytes = facts["page_rows"] * len(pages) // facts["n_rows"]
    if rng.integers(2):
        for place in rng.integers(0, len(pages), 1 + int(rng.integers(3) == 0) * len(pages) // 3):
            pages[place] = int(rng.integers(256))
    elif rng.integers(3):
        change_array(rng, arrays, [_Arrays(arrays)])
    else:
        change_json(rng, facts, {})
    parts = [bytes(pages[begin : begin + n_bytes]) for begin in range(0, len(pages), n_bytes)]
    sums = np.array([page_checksum(part, i) for i, part in enumerate(parts)], np.uint64)
    if np.shape(arrays.get("checksums")) == sums.shape:
        arrays["checksums"] = sums
    footer = seal(arrays, facts)
    return bytes(pages) + footer + len(footer).to_bytes(8, "little") + b"gossamer"


def page_checksum(content: bytes, page: int) -> int:
    """Return what `page_checksum` of native/files/page_file.cpp does."""
    a, b, all_bits = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 2**64 - 1

    def rotate(word: int, n: int) -> int:
        word &= all_bits
        return (word << n | word >> (64 - n)) & all_bits

    def mix(total: int, word: int) -> int:
        return rotate(total + word * b, 31) * a & all_bits

    sums = [page * a + b & all_bits, page ^ a, b, a + b & all_bits]
    n_words = len(content) // 32 * 4
    for i, word in enumerate(struct.unpack(f"<{n_words}Q", content[: 8 * n_words])):
        sums[i % 4] = mix(sums[i % 4], word)
    found = sum(map(rotate, sums, (1, 7, 12, 18))) & all_bits
    found = mix(found, len(content))
    for byte in content[8 * n_words :]:
        found = mix(found, byte + 1)
    found = (found ^ found >> 33) * b & all_bits
    return found ^ found >> 29


def compressed(rng: Random, file: File, pool: list[File]) -> bytes:
    """Change the text inside of a compressed file."""
    packer = PACKERS[file.suffix.rpartition(".")[2]]
    inner = file._replace(content=packer.unpack(file.content))
    return packer.pack(in_words(rng, inner, pool))


class Packer(NamedTuple):
    """Compresses bytes, and back."""

    pack: Callable[[bytes], bytes]
    unpack: Callable[[bytes], bytes]


def _zip(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("rows"), content)
    return packed.getvalue()


def _unzip(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read("rows")


PACKERS: Final = {
    "gz": Packer(lambda content: gzip.compress(content, mtime=0), gzip.decompress),
    "bz2": Packer(bz2.compress, bz2.decompress),
    "xz": Packer(lzma.compress, lzma.decompress),
    "zip": Packer(_zip, _unzip),
}


def in_archive(rng: Random, file: File, pool: list[File]) -> bytes:
    """Change arrays or facts in an archive of NumPy's."""
    with np.load(io.BytesIO(file.content)) as archive:
        arrays = {name: archive[name].copy() for name in archive.files}
    if rng.integers(3):
        change_array(rng, arrays, [_Arrays(arrays)])
    else:
        facts = _changed(rng, json.loads(arrays["facts"].tobytes()))
        arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


# ---- files ----


def make_files(folder: Path) -> list[File]:
    """Return files of every format that nothing is wrong with."""
    return [*_make_models(folder), *_make_tables(folder), *_make_own(folder)]


def _use_model(path: Path) -> object:
    return mutated_models.use(path.read_bytes()) == "read"


def _make_models(folder: Path) -> list[File]:
    found = []
    for name, ways in (
        ("lightgbm", (in_words, in_words, in_bytes)),
        ("xgboost json", (in_json, in_json, in_bytes)),
        ("xgboost ubjson", (in_ubjson, in_ubjson, in_bytes)),
    ):
        form = name.partition(" ")[0]
        suffix = {"lightgbm": ".txt", "xgboost json": ".json"}.get(name, ".ubj")
        for own in mutated_models.make_files():
            path = folder / f"model{suffix}"
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    booster = Booster(model_str=mutated_models.text_of(own).decode())
                    booster.save_model(path, format=None if suffix == ".ubj" else form)
            except GossamerError:  # what the format cannot hold
                continue
            found.append(File(name, suffix, path.read_bytes(), ways, _use_model))
    assert len({file.format for file in found}) == 3
    for facts in (SYMMETRIC, BRANCHES):
        content = json.dumps(facts).encode()
        found.append(File("catboost", ".json", content, (in_json, in_json, in_bytes), _use_model))
    return found


def _table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)).round(3), columns=["a", "b", "c"])
    table.loc[::7, "b"] = np.nan
    table["town"] = pd.Series(rng.choice(["Bern", "Oslo", "Rome"], 60)).astype("category")
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60), unit="D")
    table["y"] = (table["a"] + rng.normal(size=60) > 0).astype(int)
    return table


def _make_tables(folder: Path) -> list[File]:
    frame = _table()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    model = gs.train({**SMALL, "objective": "binary"}, Dataset(frame, label="y"), 3)
    numbers = frame[["a", "b", "c"]].to_numpy()
    plain = gs.train(SMALL, Dataset(numbers, frame["y"]), 2)
    for name, write in {
        "data.parquet": lambda path: parquet.write_table(table, path, row_group_size=20),
        "plain.parquet": lambda path: parquet.write_table(
            table, path, compression="none", use_dictionary=False, data_page_version="2.0"
        ),
        "lz4.feather": lambda path: feather.write_feather(table, str(path), chunksize=20),
        "plain.feather": lambda path: feather.write_feather(table, str(path), "uncompressed"),
        "data.arrow": lambda path: _write_stream(table, path),
        "data.csv": lambda path: frame.to_csv(path, index=False),
        "data.tsv": lambda path: frame.to_csv(path, index=False, sep="\t"),
    }.items():
        write(folder / name)
    lines = [
        f"{int(y)} " + " ".join(f"{i}:{value}" for i, value in enumerate(row) if value == value)
        for y, row in zip(frame["y"], numbers, strict=True)
    ]
    (folder / "data.svm").write_text("\n".join(lines) + "\n")
    frame.assign(day=frame["day"].astype(str)).to_json(
        folder / "data.jsonl", orient="records", lines=True
    )
    packed = ("csv.gz", "csv.zip", "svm.gz", "svm.xz", "jsonl.bz2")
    for kind, _, packer in (name.partition(".") for name in packed):
        content = PACKERS[packer].pack((folder / f"data.{kind}").read_bytes())
        (folder / f"data.{kind}.{packer}").write_bytes(content)

    def use_named(path: Path) -> object:
        Dataset(path, label="y", params=SMALL).construct()
        return np.isfinite(model.predict(path)).all()

    def use_jsonl(path: Path) -> object:
        data = Dataset(path, label="y", params=SMALL)
        return data.construct().num_data() > 0

    def use_svm(path: Path) -> object:
        Dataset(path, params=SMALL).construct()
        return np.isfinite(plain.predict(path)).all()

    text = (in_words, in_words, in_bytes)
    return [
        File(kind, suffix, (folder / name).read_bytes(), ways, use)
        for kind, name, suffix, ways, use in (
            ("parquet", "data.parquet", ".parquet", (in_bytes,), use_named),
            ("parquet", "plain.parquet", ".parquet", (in_bytes,), use_named),
            ("feather", "lz4.feather", ".feather", (in_bytes,), use_named),
            ("feather", "plain.feather", ".feather", (in_bytes,), use_named),
            ("arrow stream", "data.arrow", ".arrow", (in_bytes,), use_named),
            ("csv", "data.csv", ".csv", text, use_named),
            ("csv", "data.tsv", ".tsv", text, use_named),
            ("libsvm", "data.svm", ".svm", text, use_svm),
            ("json lines", "data.jsonl", ".jsonl", text, use_jsonl),
            *(
                (name, f"data.{name}", f".{name}", (compressed, in_bytes), use)
                for name, use in zip(
                    packed, (use_named, use_named, use_svm, use_svm, use_jsonl), strict=True
                )
            ),
        )
    ]


def _write_stream(table: pa.Table, path: Path) -> None:
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=20)


def _make_own(folder: Path) -> list[File]:
    """Binned data sets, checkpoints and sketches."""
    frame = _table()
    queries = {"group": [20, 40], "weight": np.ones(60), "init_score": np.zeros(60)}
    rng = np.random.default_rng(0)
    sparse = rng.normal(size=(60, 30)) * (rng.random((60, 30)) < 0.05)
    found = []
    for data in (
        Dataset(frame, label="y"),
        Dataset(frame[["a", "b"]], frame["y"], **queries),
        Dataset(sparse, frame["y"], params={"max_bin": 15}),
    ):
        path = folder / "data.bin"
        data.save_binary(path)
        found.append(
            File("data set", ".bin", path.read_bytes(), (in_arrays, in_arrays, in_bytes), _use_set)
        )
    plain = frame[["a", "b"]].to_numpy()
    for table in (plain, scipy.sparse.csr_array(sparse)):
        path = folder / "data.buffer"
        DMatrix(table, frame["y"], weight=np.ones(60)).save_binary(path)
        ways = (in_archive, in_archive, in_bytes)
        found.append(File("dmatrix", ".buffer", path.read_bytes(), ways, _use_dmatrix))
    for params in ({}, {"boosting": "dart", "drop_rate": 0.9}):
        path = folder / "run.checkpoint"
        path.unlink(missing_ok=True)
        _train_with(path, 3, params)
        use = _UseCheckpoint(params)
        ways = (in_arrays, in_arrays, in_bytes)
        found.append(File("checkpoint", ".checkpoint", path.read_bytes(), ways, use))
    pages = _UsePages()
    content = pages.set_up(folder)
    found.append(File("pages", ".pages", content, (in_pages, in_pages, in_bytes), pages))
    sketch = QuantileSketch(0.05).update(rng.normal(size=500)).to_bytes()
    found.append(File("sketch", ".sketch", sketch, (in_bytes,), _use_sketch))
    return found


def _use_set(path: Path) -> object:
    data = Dataset(path)
    data.construct()
    if data.get_label() is not None:
        gs.train(SMALL, data, 2)
    return data.num_data() > 0


def _use_dmatrix(path: Path) -> object:
    data = DMatrix(path)
    if data.get_label().size:
        xgboost_train({"nthread": 1, "max_leaves": 4, "verbosity": 0}, data, 2)
    return data.num_row() > 0


def _train_with(path: Path, n_rounds: int, params: dict[str, Any]) -> Booster:
    frame = _table()
    data = Dataset(frame[["a", "b", "c"]], frame["y"])
    valid = Dataset(frame[["a", "b", "c"]], frame["y"], reference=data)
    callbacks = [checkpoint(path, every_rounds=1), gs.record_evaluation({})]
    return gs.train({**SMALL, **params}, data, n_rounds, valid_sets=[valid], callbacks=callbacks)


class _UseCheckpoint:
    def __init__(self, params: dict[str, Any]) -> None:
        self._params = params

    def __call__(self, path: Path) -> object:
        return np.isfinite(_train_with(path, 5, self._params).predict(np.zeros((2, 3)))).all()


class _UsePages:
    """Trains on a table whose bins are in a page file, which is put where it is looked for."""

    def __init__(self) -> None:
        self._cache = Path()  # the page file

    def set_up(self, folder: Path) -> bytes:
        """Have a table in this folder, and return the page file that belongs to it."""
        self._table = folder / "table.parquet"
        shutil.rmtree(folder / "pages", ignore_errors=True)
        frame = _table()[["a", "b", "town", "y"]]
        parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), self._table)
        self._train()
        (self._cache,) = (folder / "pages").glob("*.pages")
        return self._cache.read_bytes()

    def _train(self) -> None:
        cache = str(self._table.with_name("pages"))
        params = {**SMALL, "max_memory": "1GB", "cache_dir": cache, "cat_target_statistics": "off"}
        chosen = {
            "holds_table": lambda *_: False,
            "page_rows": lambda *_: 25,
            "loaded_bytes": lambda *_: 0,
        }
        with patch.multiple(Budget, **chosen):
            gs.train(params, Dataset(self._table, label="y", params=params), 2)

    def __call__(self, path: Path) -> object:
        content = path.read_bytes()
        if self._cache.parent.parent != path.parent:
            self.set_up(path.parent)
        self._cache.write_bytes(content)
        try:
            self._train()
        except OSError as error:
            assert str(error).startswith("page ") and str(self._cache) in str(error), error
            return False
        return self._cache.read_bytes() == content  # else it was written again


def _use_sketch(path: Path) -> object:
    sketch = QuantileSketch.from_bytes(path.read_bytes())
    return np.all(np.diff(sketch.quantile([0.1, 0.5, 0.9])) >= 0)


# ---- many ----


def draw(
    seed: int, i: int, own: list[mutated_models.File], others: list[File]
) -> tuple[str, bytes, File]:
    """Draw file number i of a seed, a model of our own where i is odd and there are such models.

    Returns:
        What was done to it, its bytes, and the file that it was before.
    """
    rng = np.random.default_rng((seed, i))
    if i % 2 and own:
        what, content = mutated_models.mutate(rng, own)
        return what, content, File("gossamer", ".gossamer", content, (), _use_model)
    kinds = sorted({file.format for file in others})
    kind = kinds[rng.integers(len(kinds))]
    some = [file for file in others if file.format == kind]
    file = some[rng.integers(len(some))]
    way = file.ways[rng.integers(len(file.ways))]
    return f"{way.__name__} of {kind}", way(rng, file, others), file


class Outcome(NamedTuple):
    """What became of many files."""

    counts: Counter[str]
    failures: list[str]


def run(
    n_files: int, seed: int, keep: Path, only: str = "", most_seconds: float = math.inf
) -> Outcome:
    """Try many files, half of them models of our own.

    Args:
        n_files: How many.
        seed: All of them follow from it.
        keep: A folder. What crashes the process is the file `last` in it; what fails is kept.
        only: Only formats whose name has this.
        most_seconds: No file is tried after this time.
    """
    last = time.monotonic() + most_seconds
    own = mutated_models.make_files()
    with tempfile.TemporaryDirectory() as folder:
        others = [file for file in make_files(Path(folder)) if only in file.format]
    counts: Counter[str] = Counter()
    failures = []
    for file in own:
        assert mutated_models.use(file.content) == mutated_models.use(file.as_json) == "read"
    for file in others:
        path = keep / f"good{file.suffix}"
        path.write_bytes(file.content)
        assert file.use(path), file.format
    for i in range(n_files):
        if time.monotonic() > last:
            break
        what, content, file = draw(seed, i, [] if only else own, others)
        kind, suffix = file.format, file.suffix
        path = keep / f"last{suffix}"
        path.write_bytes(content)
        begin = time.process_time()
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                read = file.use(path)
            counts[f"{kind}: {'read' if read else 'refused'}"] += 1
        except GossamerError as error:
            counts[f"{kind}: refused"] += 1
            if not 10 < len(str(error)) < 3000:
                failures.append(f"file {i} of seed {seed} ({what}): an error that nobody reads")
        except BaseException as error:
            counts[f"{kind}: failed"] += 1
            kept = path.rename(keep / f"{seed}-{i}{suffix}")
            text = f"{type(error).__name__}: {str(error)[:300]}"
            failures.append(f"file {i} of seed {seed} ({what}), kept as {kept}: {text}")
            print(failures[-1], file=sys.stderr, flush=True)
        seconds = time.process_time() - begin
        if seconds > MOST_SECONDS:
            failures.append(f"file {i} of seed {seed} ({what}) took {seconds:.1f} s")
    return Outcome(counts, failures)


def run_side_by_side(n_files: int, n_processes: int, arguments: list[str], keep: Path) -> Outcome:
    """Try many files in processes of their own, each with another seed; a crash is a failure.

    Args:
        n_files: How many in all.
        n_processes: Among how many processes they are divided; the first seed is 1000.
        arguments: Further arguments of the command line.
        keep: A folder, in which each process has its own.
    """
    children = []
    for part in range(n_processes):
        folder = keep / str(part)
        n_own = len(range(part, n_files, n_processes))
        seed = ["--seed", str(1000 + part), "--keep", str(folder)]
        command = [sys.executable, "-s", __file__, str(n_own), *seed, *arguments]
        children.append(subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True))
    with ThreadPoolExecutor(n_processes) as pool:
        answers = list(pool.map(lambda child: child.communicate(), children))
    counts: Counter[str] = Counter()
    failures = []
    for child, (output, errors) in zip(children, answers, strict=True):
        if child.returncode in (0, 1) and output:
            found = json.loads(output)
            counts.update(found["counts"])
            failures += found["failures"]
        else:
            text = errors[-5000:]
            failures.append(f"a crash ({child.returncode}) of {' '.join(child.args)}:\n{text}")
    return Outcome(counts, failures)


def main() -> None:
    """Read the command line; print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_files", type=int, nargs="?", default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz/files"))
    parser.add_argument("--only", default="", help="only formats whose name has this")
    parser.add_argument("--processes", type=int, default=1, help="each with a seed of its own")
    parser.add_argument("--seconds", type=float, default=math.inf, help="no file after this time")
    wanted = parser.parse_args()
    wanted.keep.mkdir(parents=True, exist_ok=True)
    if wanted.processes == 1:
        counts, failures = run(
            wanted.n_files, wanted.seed, wanted.keep, wanted.only, wanted.seconds
        )
    else:
        arguments = ["--only", wanted.only, "--seconds", str(wanted.seconds)]
        counts, failures = run_side_by_side(
            wanted.n_files, wanted.processes, arguments, wanted.keep
        )
    found = {"module": gs._native.__file__, "counts": dict(sorted(counts.items()))}
    print(json.dumps({**found, "files": counts.total(), "failures": failures}, indent=1))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
