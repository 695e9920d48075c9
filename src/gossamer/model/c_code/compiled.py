"""`CompiledModel`: a model as a library of machine code, loaded into this process."""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.arguments import as_path
from gossamer.data.table.matrix import Values
from gossamer.data.table.sparse import to_dense
from gossamer.errors import GossamerError, NotSupportedError, ParameterError
from gossamer.files import write_atomically
from gossamer.model.c_code.compiler import compile_library, find_compiler, library_suffix
from gossamer.model.c_code.links import make_link
from gossamer.model.c_code.source import c_source, check_name
from gossamer.model.model import Model
from gossamer.model.prediction.predict import as_number, fitting_table
from gossamer.threads import map_on_threads, resolve_threads

# Rows that are converted, and predicted, at a time; of a wide sparse table fewer are made dense.
_BLOCK: Final = 16_384
_BLOCK_VALUES: Final = 2**22

Array = npt.NDArray[Any]


class CompiledModel:
    """A model compiled with a C compiler. Created by `Booster.compile`.

    It predicts the same bits as the `Booster`, accepts the same tables, and keeps the model as it
    was when it was compiled. Many threads can use it at once.

    Attributes:
        path: The library. If no path was given, it is a temporary file, which is deleted when the
            object is closed or garbage-collected.
    """

    path: Path

    def __init__(self, model: Model, library: Path, name: str) -> None:
        """Load a library.

        Args:
            model: What it was compiled from.
            library: The file. A library of the same path must not have been loaded before: the
                system would not look at it again.
            name: The name of the model in C.

        Raises:
            NotSupportedError: If the system cannot load it.
        """
        try:
            loaded = ctypes.CDLL(str(library))
        except OSError as error:
            raise NotSupportedError.because(
                f"the compiled model cannot be loaded ({error})",
                hint="Where programs may not run from the folder of temporary files, set "
                "TMPDIR to another one.",
            ) from None
        self.path = library
        self._model = model
        self._link = make_link(model.objective)
        self._is_closed = False
        self._functions = {
            (is_raw, is_f32): getattr(loaded, f"{name}_predict{raw}_rows{f32}")
            for is_raw, raw in ((True, "_raw"), (False, ""))
            for is_f32, f32 in ((True, "_f32"), (False, ""))
            if is_raw or self._link.body is not None
        }
        for function in self._functions.values():
            pointer, number = ctypes.c_void_p, ctypes.c_int64
            function.argtypes = (pointer, number, number, pointer)
            function.restype = None

    def predict(self, data: Any, raw_score: bool = False, num_threads: int = 0) -> Array:
        """Predict the rows of a table.

        Args:
            data: Rows x columns, as for `Booster.predict`.
            raw_score: Whether to return raw scores.
            num_threads: Number of threads; 0 or less means all CPUs.

        Returns:
            As `Booster.predict`: (rows,), or (rows, outputs) with several outputs.

        Raises:
            DataError: If the table does not fit the model.
        """
        if self._is_closed:
            raise GossamerError.because("the compiled model was closed", hint="Compile it again.")
        num_threads = as_number("num_threads", num_threads, "a number of threads")
        model = self._model
        table = fitting_table(model, data, disable_shape_check=False)
        k = model.objective.n_outputs
        is_raw = raw_score or not model.objective.has_link or not self._link.is_exact
        shape = ((k,) if k > 1 else ()) if is_raw else self._link.shape
        out = np.empty((table.n_rows, *shape))
        step = _BLOCK
        if isinstance(table.values, _native.SparseMatrix):
            step = min(step, max(_BLOCK_VALUES // model.n_columns, 1))
        blocks = [slice(at, at + step) for at in range(0, table.n_rows, step)]

        def fill(i: int) -> None:
            self._fill(table.values, blocks[i], is_raw, out[blocks[i]])

        n_threads = min(
            resolve_threads(num_threads, table.n_rows, model.forest.n_trees), len(blocks)
        )
        map_on_threads(fill, len(blocks), n_threads)  # ctypes releases the GIL
        if raw_score or not model.objective.has_link or self._link.is_exact:
            return out
        scores = np.ascontiguousarray(out.T).ravel()
        return model.objective.to_predictions(scores, max(n_threads, 1))

    def _fill(self, values: Values, block: slice, is_raw: bool, out: Array) -> None:
        if isinstance(values, _native.SparseMatrix):
            rows: Array = to_dense(values, block)
        else:
            rows = values[block]
        # Rows of floats are read where they are; whatever else there is becomes doubles.
        is_f32 = rows.dtype == np.float32
        size = rows.itemsize
        is_fit = (
            (is_f32 or rows.dtype == np.float64)
            and rows.flags.aligned
            and (rows.shape[1] < 2 or rows.strides[1] == size)
            and rows.strides[0] % size == 0
        )
        if not is_fit:
            rows = np.ascontiguousarray(rows, dtype=np.float32 if is_f32 else np.float64)
        function = self._functions[is_raw, is_f32]
        stride = rows.strides[0] // rows.itemsize
        function(rows.ctypes.data, len(rows), stride, out.ctypes.data)

    def close(self) -> None:
        """Delete the library if it is a temporary file. The object can no longer predict.

        The code stays in memory until the process ends, because another thread may be using it.
        """
        self._is_closed = True
        forget = getattr(self, "_forget", None)
        if forget is not None:
            forget()

    def _remove_with(self, folder: Path) -> None:
        """Remove a folder when this is closed or forgotten."""
        self._forget = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def __enter__(self) -> CompiledModel:
        """Return itself; see `close`."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Refuse to be pickled or copied: machine code is of this machine and process."""
        raise NotSupportedError.because(
            "a CompiledModel cannot be pickled or copied",
            hint="Pickle the Booster, and compile it where it is used.",
        )


def compile_model(
    model: Model,
    path: str | os.PathLike[str] | None = None,
    compiler: str | os.PathLike[str] | Sequence[str] | None = None,
    flags: Sequence[str] | None = None,
    name: str = "gossamer_model",
) -> CompiledModel:
    """Compile a model, and load it; see `Booster.compile`."""
    check_name(name)
    if isinstance(flags, (str, bytes)):
        raise ParameterError.because(
            "flags is not a list", got=flags, expected="a list of options, such as ['-O2']"
        )
    target = None if path is None else as_path(path)
    command = find_compiler(compiler)
    # Loaded from a path that was never there before: systems know libraries by their path.
    folder = Path(tempfile.mkdtemp(prefix="gossamer-"))
    library = folder / f"{name}{library_suffix()}"
    try:
        source = folder / f"{name}.c"
        source.write_text(c_source(model, name), encoding="ascii")
        compile_library(source, library, command, ["-O3"] if flags is None else flags, name)
        source.unlink()
        compiled = CompiledModel(model, library, name)
        if target is not None:
            # In one step: the old file may be in use.
            compiled.path = target
            write_atomically(compiled.path, library.read_bytes())
            shutil.rmtree(folder, ignore_errors=True)
        else:
            compiled._remove_with(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return compiled
