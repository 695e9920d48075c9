"""Damaged files end with an error that names them, and never end the process."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gossamer as gs
from gossamer.data.files import columnar
from gossamer.data.files.columnar import ParquetFiles

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

# Reads many damaged copies of a file; what is not an error of ours is printed.
PROGRAM = """
import random, sys, warnings
from pathlib import Path
import numpy as np, pyarrow as pa, pyarrow.feather as feather, pyarrow.ipc as ipc
import gossamer as gs

warnings.simplefilter("ignore")
kind, folder = sys.argv[1], Path(sys.argv[2])
rng = np.random.default_rng(0)
n = 400
table = pa.table({
    "a": rng.normal(size=n),
    "b": pa.array(rng.choice(["x", "yy", "zzz"], n)),
    "c": pa.array(rng.choice(["u", "v"], n)).dictionary_encode(),
    "d": pa.array([None if i % 7 == 0 else i for i in range(n)]),
    "y": rng.integers(0, 2, n),
})
path = folder / "good.arrow"
if kind == "stream":
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
else:
    feather.write_feather(table, str(path), chunksize=100, compression=kind)
good = path.read_bytes()
model = gs.train({"verbose": -1}, gs.Dataset(path, label="y"), 3)
damaged, n_errors = folder / "damaged.arrow", 0
for i in range(200):
    choose, content = random.Random(i), bytearray(good)
    if choose.random() < 0.15:
        content = content[: choose.randrange(len(content))]
    else:
        for _ in range(choose.choice([1, 2, 5, 20])):
            place = choose.randrange(len(content))
            content[place] = choose.choice([0, 127, 128, 255, choose.randrange(256)])
    damaged.write_bytes(content)
    for read in (model.predict, lambda path: gs.Dataset(path, label="y").construct()):
        try:
            read(damaged)
        except gs.GossamerError:
            n_errors += 1
        except BaseException as error:
            print(i, repr(error)[:200])
print("errors" if n_errors > 100 else f"only {n_errors} errors")
"""


@pytest.mark.parametrize("kind", ["lz4", "uncompressed", "stream"])
def test_arrow_files(tmp_path: Path, kind: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout.split()) == (0, ["errors"]), run.stdout + run.stderr


@pytest.mark.parametrize("name", ["rows.csv.gz", "rows.svm.gz"])
def test_compressed_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    line = "1 0:2.5 1:3\n" if "svm" in name else "2.5,3\n"
    content = bytearray(gzip.compress("".join(line * 3 for _ in range(9)).encode()))
    content[10] = 0xFF  # a block of a type that deflate does not have
    path.write_bytes(content)
    with pytest.raises(gs.DataError, match=rf"{name}' cannot be read \("):
        gs.Dataset(path).construct()


def zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows", content)
    return packed.getvalue()


LINES = {"csv": "{},3,{}\n", "svm": "{1} 0:{0} 1:3\n", "jsonl": '{{"a": {}, "y": {}}}\n'}
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zip": zipped}


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("kind", LINES)
def test_every_kind_of_compression(tmp_path: Path, kind: str, packer: str) -> None:
    """Cut off anywhere, or with a changed byte: an error that names the file, or a table."""
    path = tmp_path / f"rows.{kind}.{packer}"
    rng = np.random.default_rng(0)
    rows = [
        LINES[kind].format(round(value, 3), i % 2) for i, value in enumerate(rng.normal(size=99))
    ]
    content = PACKERS[packer]("".join(rows).encode())
    n_errors = 0
    for i in range(120):
        damaged = bytearray(content)
        place = len(content) * i // 120
        if i % 2:
            del damaged[place:]
        else:
            damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        try:
            gs.Dataset(path).construct()
        except gs.DataError as error:
            n_errors += str(path) in str(error)
    assert n_errors > 60


def test_a_zip_archive_with_a_password(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.zip"
    content = bytearray(zipped(b"1,2\n" * 9))
    content[6] |= 1  # "encrypted", in the file's header and in the directory
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(gs.DataError, match=r"rows.csv.zip' cannot be read \(.*encrypted"):
        gs.Dataset(path).construct()


@pytest.mark.parametrize("said", ['{"index_columns": 5}', "[]", "[" * 10_000, "\xff", "{}"])
def test_what_pandas_would_not_write(tmp_path: Path, said: str) -> None:
    table = pa.table({"a": [1.0, 2.0, 3.0] * 10, "y": [0, 1, 1] * 10})
    table = table.replace_schema_metadata({"pandas": said.encode("latin-1")})
    parquet.write_table(table, tmp_path / "rows.parquet")
    data = gs.Dataset(tmp_path / "rows.parquet", label="y").construct()
    assert data.get_feature_name() == ["a"]


def test_a_description_by_pandas_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has an entry for every column: read once for each, wide files took hours."""
    read = []
    load = columnar.json.loads
    monkeypatch.setattr(columnar.json, "loads", lambda text: (read.append(1), load(text))[1])
    names = [f"column {i}" for i in range(300)]
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(9, 300)), columns=names)
    frame.to_parquet(tmp_path / "rows.parquet")
    assert ParquetFiles([tmp_path / "rows.parquet"]).names == names
    assert len(read) == 1


def test_names_in_json_lines_that_are_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"\xdea": 1.5, "y": 0}\n' * 20)
    with pytest.raises(gs.DataError, match=r"rows.jsonl' cannot be read \(.*utf-8"):
        gs.Dataset(path, label="y").construct()


def test_text_in_json_lines_that_is_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"a": "x", "y": 0}\n{"a": "x\xde", "y": 1}\n' * 20)
    with pytest.raises(gs.DataError, match=r"rows.jsonl' cannot be read \(.*UTF8"):
        gs.Dataset(path, label="y").construct()


def test_text_in_parquet_that_is_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    text = pa.array([b"x", b"x\xde"] * 20).view(pa.string())
    parquet.write_table(pa.table({"a": text, "y": [0.0, 1.0] * 20}), path)
    with pytest.raises(gs.DataError, match=r"rows.parquet' cannot be read \(.*UTF8"):
        gs.Dataset(path, label="y").construct()


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,\x9cb,y\n" + b"1,2,0\n3,4,1\n" * 20)
    data = gs.Dataset(path, label="y").construct()
    assert data.get_feature_name() == ["a", "\u0153b"]  # as Windows-1252 has it
