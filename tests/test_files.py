"""Files that are complete or not there, and arrays in them."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer as gs
from gossamer import files
from gossamer.cli.write import TableWriter

ARRAYS = {
    "bytes": np.arange(5, dtype=np.int8),
    "numbers": np.array([[1.5, -2.0], [np.inf, 0.0]]),
    "nothing": np.empty(0, dtype=np.int64),
}
FACTS = {"format": "test", "names": ["ä", "b"], "nested": {"z": 1, "a": [0.1]}}


def test_round_trip() -> None:
    arrays, facts = files.from_bytes(files.to_bytes(ARRAYS, FACTS))
    assert facts == FACTS
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


@pytest.mark.slow
def test_bytes_do_not_depend_on_orders_or_process() -> None:
    backwards = dict(reversed(ARRAYS.items())), dict(reversed(FACTS.items()))
    content = files.to_bytes(ARRAYS, FACTS)
    assert files.to_bytes(*backwards) == content
    program = (
        "import sys, hashlib, numpy as np; from gossamer import files\n"
        "arrays = {f'a{i}': np.arange(i) for i in range(9)}\n"
        "facts = {f'f{i}': i for i in range(9)}\n"
        "print(hashlib.sha256(files.to_bytes(arrays, facts)).hexdigest())"
    )
    run = [sys.executable, "-c", program]
    digests = {subprocess.run(run, capture_output=True, check=True).stdout for _ in range(2)}
    assert len(digests) == 1


@settings(deadline=None)
@given(data=st.data())
def test_any_altered_byte_is_noticed(data: st.DataObject) -> None:
    content = bytearray(files.to_bytes(ARRAYS, FACTS))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    try:
        arrays, facts = files.from_bytes(bytes(content))
    except files.BrokenFile:
        return
    # White space in the header, or an equal spelling of it, may pass: the contents are the same.
    assert facts == FACTS
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)


@settings(deadline=None)
@given(length=st.integers(0, len(files.to_bytes(ARRAYS, FACTS)) - 1))
def test_any_cut_is_noticed(length: int) -> None:
    with pytest.raises(files.BrokenFile):
        files.from_bytes(files.to_bytes(ARRAYS, FACTS)[:length])


@settings(deadline=None)
@given(content=st.binary(max_size=200))
def test_other_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(files.BrokenFile):
        files.from_bytes(content)


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    files.write_atomically(path, b"old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        files.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_data_is_on_disk_before_the_file_appears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (events.append("fsync"), fsync(fd)))
    monkeypatch.setattr(os, "replace", lambda *a: (events.append("replace"), replace(*a)))
    files.write_atomically(tmp_path / "file", b"x")
    assert events == ["fsync", "replace", "fsync"]  # the file, its name, the folder


def test_a_panic_for_lack_of_memory_is_a_memory_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """safetensors panics where Python has no memory; the panic is not an Exception."""

    class PanicException(BaseException):
        pass

    def panic(*_: object, **__: object) -> None:
        raise PanicException("PyObject pointer is null")

    content = files.to_bytes(ARRAYS, FACTS)
    monkeypatch.setattr("safetensors.numpy.save", panic)
    with pytest.raises(MemoryError, match="not enough memory"):
        files.to_bytes(ARRAYS, FACTS)
    monkeypatch.setattr("safetensors.numpy.load", panic)
    with pytest.raises(files.BrokenFile, match="not enough memory"):
        files.from_bytes(content)


def test_permissions_are_those_of_an_ordinary_file(tmp_path: Path) -> None:
    ordinary, path = tmp_path / "ordinary", tmp_path / "file"
    ordinary.write_bytes(b"")
    files.write_atomically(path, b"x")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)
    path.chmod(0o600)
    files.write_atomically(path, b"y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_files_of_other_threads_keep_their_permissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The umask is that of the whole process: who changes it opens other threads' files to all."""

    def change(_: int) -> int:
        raise AssertionError("the umask was changed")

    monkeypatch.setattr(os, "umask", change)
    files.write_atomically(tmp_path / "file", b"x")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    files.write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
class TestSpecialFiles:
    """Named pipes and devices are written to, never replaced by files."""

    def read_while(self, pipe: Path, write: Callable[[], object]) -> bytes:
        """Return what arrives in a named pipe, which must stay one."""
        # Open for both directions, so that no opening waits for the other side.
        descriptor = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        try:
            write()
            assert pipe.is_fifo()
            assert [path for path in pipe.parent.iterdir() if path.suffix == ".part"] == []
            return os.read(descriptor, 60_000)
        except BlockingIOError:
            return b""  # nothing was written to it
        finally:
            os.close(descriptor)

    def test_a_named_pipe_stays_one(self, tmp_path: Path) -> None:
        pipe, link = tmp_path / "pipe", tmp_path / "link"
        os.mkfifo(pipe)
        link.symlink_to(pipe)
        for path in (pipe, link):
            write = partial(files.write_atomically, path, b"new")
            assert self.read_while(pipe, write) == b"new"
        assert link.is_symlink()

    def test_all_that_a_reader_waits_for_arrives(self, tmp_path: Path) -> None:
        pipe, content = tmp_path / "pipe", bytes(range(256)) * 4000  # more than a pipe holds
        os.mkfifo(pipe)
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(pipe.read_bytes)
            files.write_atomically(pipe, content)
            assert found.result(60) == content
        assert pipe.is_fifo()

    def test_of_every_writer(self, tmp_path: Path) -> None:
        x = np.arange(100.0).reshape(-1, 1)
        data = gs.Dataset(x, x[:, 0])
        model = gs.train({"num_leaves": 3, "verbosity": -1}, data, 2)
        pipe = tmp_path / "pipe.html"
        os.mkfifo(pipe)
        found = self.read_while(pipe, lambda: model.save_model(pipe, format="gossamer"))
        (tmp_path / "model").write_bytes(found)
        np.testing.assert_array_equal(
            gs.Booster(model_file=tmp_path / "model").predict(x), model.predict(x)
        )
        assert self.read_while(pipe, lambda: model.to_c(pipe)) == model.to_c().encode()
        found = self.read_while(pipe, lambda: data.save_binary(pipe))
        (tmp_path / "data").write_bytes(found)
        assert gs.Dataset(tmp_path / "data").construct().num_data() == 100

    def test_a_table_of_the_command_line(self, tmp_path: Path) -> None:
        for ending in ("csv", "parquet"):
            pipe = tmp_path / f"pipe.{ending}"
            os.mkfifo(pipe)

            def write(out: Path = pipe) -> None:
                with TableWriter(str(out)) as writer:
                    writer.write({"a": np.array([1, 2])})

            found = self.read_while(pipe, write)
            assert found == b"a\n1\n2\n" if ending == "csv" else found.endswith(b"PAR1")

    def test_a_table_that_starts_again(self, tmp_path: Path) -> None:
        """Rows that went through a pipe cannot be taken back."""
        pipe = tmp_path / "pipe.csv"
        os.mkfifo(pipe)

        def write(out: Path) -> None:
            with TableWriter(str(out)) as writer:
                writer.restart()
                writer.write({"a": np.array([1])})
                writer.restart()
                writer.write({"a": np.array([2])})

        with pytest.raises(gs.DataError, match=r"pipe.csv' got rows before .* Write to a file"):
            self.read_while(pipe, lambda: write(pipe))
        write(tmp_path / "file.csv")
        assert (tmp_path / "file.csv").read_bytes() == b"a\n2\n"

    def test_a_reader_that_leaves(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        part = files.PartFile(pipe)
        os.close(reader)
        part.file.write(b"new")
        with pytest.raises(BrokenPipeError):
            part.finish()
        part.drop()
        assert pipe.is_fifo()

    def test_a_socket_is_an_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)  # addresses of sockets are short
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket")
            with pytest.raises(
                OSError, match="to be written it needs the name of a file"
            ) as caught:
                files.write_atomically(Path("socket"), b"new")
            assert caught.value.filename == "socket" and Path("socket").is_socket()


KILLED = """
import os, signal, sys
from pathlib import Path
from typing import Any
from gossamer import files
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
files.write_atomically(Path(sys.argv[1]), b"new")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
class TestStaleFiles:
    def leave_one(self, path: Path) -> Path:
        """Write a file in a process that is killed before the file has its name."""
        before = set(path.parent.iterdir())
        subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
        (left,) = set(path.parent.iterdir()) - before
        return left

    def test_the_next_save_removes_them(self, tmp_path: Path) -> None:
        path, other = tmp_path / "model.gsm", tmp_path / "model.txt"
        path.write_bytes(b"old")
        left, of_other = self.leave_one(path), self.leave_one(other)
        assert path.read_bytes() == b"old"
        assert left.exists() and stat.S_IMODE(left.stat().st_mode) in (0o600, 0o644)
        notes = tmp_path / f"{left.name}.notes"
        notes.write_bytes(b"mine")
        files.write_atomically(path, b"new")
        assert set(tmp_path.iterdir()) == {path, of_other, notes}

    def test_files_that_are_being_written_stay(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        program = KILLED.replace(
            "os.kill(os.getpid(), signal.SIGKILL)", "(print('ready', flush=True), input())"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            part = files.PartFile(path)  # this process writes the same file
            files.write_atomically(path, b"new")
            assert len(list(tmp_path.iterdir())) == 3
            part.drop()
            assert len(list(tmp_path.iterdir())) == 2
            process.communicate("\n")

    def test_of_other_machines_after_a_day(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        recent, old = (tmp_path / f".file.00000000-{i}-0123abcd.part" for i in (1, 2))
        for left in (recent, old):
            left.write_bytes(b"part")
        os.utime(old, (0, 0))
        files.write_atomically(path, b"new")
        assert set(tmp_path.iterdir()) == {path, recent}

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # open files
    def test_of_an_interrupt_at_any_line(self, tmp_path: Path) -> None:
        """Ctrl-C after every line of the writing, one after the other."""
        path = tmp_path / "file"
        for n_lines in range(100):
            seen = 0

            def trace(frame: Any, event: str, _: object, stop: int = n_lines) -> Any:
                nonlocal seen
                if frame.f_code.co_filename != files.__file__:
                    return None
                seen += event == "line"
                if seen > stop:
                    sys.settrace(None)
                    raise KeyboardInterrupt
                return trace

            sys.settrace(trace)
            try:
                files.write_atomically(path, b"interrupted")
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(None)
            files.write_atomically(path, b"new")
            assert list(tmp_path.iterdir()) == [path]
        assert seen < n_lines  # the last ones were not interrupted any more

    def test_long_names(self, tmp_path: Path) -> None:
        path = tmp_path / ("ä" * 127)
        files.write_atomically(path, b"new")
        assert list(tmp_path.iterdir()) == [path]
