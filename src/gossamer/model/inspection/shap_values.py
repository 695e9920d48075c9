"""Shapley values: how much each column contributes to a prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.data.table.sparse import by_row, read_sparse, to_dense, to_scipy
from gossamer.errors import DataError, GossamerError, NotSupportedError
from gossamer.model.model import Model
from gossamer.model.prediction.predict import PredictOptions, tree_range, with_derived
from gossamer.threads import resolve_threads
from gossamer.tree import Forest

Floats = npt.NDArray[np.float64]
# Of sparse rows, so many rows and values of these are dense at a time.
_BLOCK: Final = 4096
_DENSE_VALUES: Final = 2**24


def shap_values(
    model: Model,
    data: object,
    options: PredictOptions,
    background: object = None,
    *,
    by_hessian: bool = False,
) -> Any:
    """Return Shapley values of raw scores; the last one is the expected value over all rows.

    Args:
        model: The model.
        data: The user's table.
        options: Rounds and threads.
        background: Rows whose values take the place of unknown ones; None: unknown columns are
            left to the shares of the training rows in each node.
        by_hessian: Whether rows count by their hessians, as in XGBoost.

    Returns:
        (rows, outputs, columns + 1); of a sparse table a list with a compressed-row matrix for
        each output, rows x (columns + 1).
    """
    values = options.table_of(model, data).values
    if background is not None:
        return _against(model, values, background, options)
    if isinstance(values, _native.SparseMatrix) and model.derived is None:
        return _of_sparse(model, values, options, by_hessian)

    def add(part: Any, first: int, last: int, out: Floats, n_threads: int) -> None:
        forest = model.forest
        counts = covers_of(forest, by_hessian=by_hessian)
        _native.add_shap_values(forest.native, part, *counts, first, last, out, False, n_threads)

    found = _finish(model, _over_rows(model, values, options, add, 1), options)
    if not isinstance(values, _native.SparseMatrix):
        return found
    import scipy.sparse  # not needed by most, and slow to import

    return [scipy.sparse.csr_matrix(found[:, k]) for k in range(found.shape[1])]


def shap_interactions(
    model: Model, data: object, options: PredictOptions, *, by_hessian: bool = False
) -> Floats:
    """Return Shapley interaction values of raw scores, for every pair of columns.

    Args:
        model: The model.
        data: The user's table, dense.
        options: Rounds and threads.
        by_hessian: Whether rows count by their hessians, as in XGBoost.

    Returns:
        (rows, outputs, columns + 1, columns + 1); each line sums up to the Shapley value.
    """
    values = _dense(options.table_of(model, data).values)

    def add(part: Any, first: int, last: int, out: Floats, n_threads: int) -> None:
        forest = model.forest
        counts = covers_of(forest, by_hessian=by_hessian)
        _native.add_shap_interactions(forest.native, part, *counts, first, last, out, n_threads)

    found = _finish(model, _over_rows(model, values, options, add, 2), options)
    # Lines now belong to the user's columns; what is in them follows.
    return found if model.derived is None else _from_sources(model, found.swapaxes(-1, -2))


Covers = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def covers_of(forest: Forest, *, by_hessian: bool = False) -> Covers:
    """Return how much of the training data nodes and leaves have seen, as integers.

    Numbers of rows; or, where a model does not know these, or by demand, sums of hessians in a
    small unit.
    """
    names = ("node_weight", "leaf_weight") if by_hessian else ("node_count", "leaf_count")
    nodes, leaves = (forest.arrays[name] for name in names)
    if not by_hessian:
        return (nodes, leaves) if leaves.any() else covers_of(forest, by_hessian=True)
    most = max((float(values.max()) for values in (nodes, leaves) if len(values)), default=0.0)
    if not 0 < most < np.inf:
        return np.zeros(len(nodes), np.int64), np.zeros(len(leaves), np.int64)
    unit = 2.0 ** (np.frexp(most)[1] - 52)
    with np.errstate(under="ignore"):
        scaled = [np.maximum(np.rint(values / unit), 0) for values in (nodes, leaves)]
    return scaled[0].astype(np.int64), scaled[1].astype(np.int64)


Add = Callable[[Any, int, int, Floats, int], None]


def _over_rows(model: Model, values: Any, options: PredictOptions, add: Add, n_axes: int) -> Floats:
    """Let `add` fill (rows, outputs, columns + 1 ...), derived columns among them."""
    n_rows = values.n_rows if isinstance(values, _native.SparseMatrix) else len(values)
    k, width = model.objective.n_outputs, model.forest.n_columns + 1
    first, last = tree_range(model, options)
    n_threads = resolve_threads(options.num_threads, n_rows, last - first)
    out = np.zeros((n_rows, k, *[width] * n_axes))
    for part, rows in with_derived(model, values, n_threads):
        with _limits():
            add(part, first, last, out[rows].reshape(-1), n_threads)  # rows of `out` itself
    return out


def _finish(model: Model, values: Floats, options: PredictOptions) -> Floats:
    """From trees to the model: means, start scores, sources of derived columns."""
    first, last = tree_range(model, options)
    if model.average_output:
        values /= max((last - first) // model.forest.trees_per_round, 1)
    place: tuple[Any, ...] = (Ellipsis, *[-1] * (values.ndim - 2))
    values[place] += model.start_from(options.first_round)
    return values if model.derived is None else _from_sources(model, values)


def _from_sources(model: Model, values: Floats) -> Floats:
    """Share what derived columns have (last axis) among the columns that they are made of."""
    assert model.derived is not None
    n_columns = model.n_columns
    found = np.concatenate([values[..., :n_columns], values[..., -1:]], axis=-1)
    for derived in range(model.derived.n_columns):
        sources = model.derived.sources_of(derived)
        for source in sources:
            found[..., source] += values[..., n_columns + derived] / len(sources)
    return found


def _of_sparse(
    model: Model, values: _native.SparseMatrix, options: PredictOptions, by_hessian: bool
) -> list[Any]:
    import scipy.sparse  # not needed by most, and slow to import

    forest, k = model.forest, model.objective.n_outputs
    counts = covers_of(forest, by_hessian=by_hessian)
    first, last = tree_range(model, options)
    start = model.start_from(options.first_round)
    scale = max((last - first) // forest.trees_per_round, 1) if model.average_output else 1
    columns = np.append(_native.used_columns(forest.native), model.n_columns)
    blocks: list[list[Any]] = [[] for _ in range(k)]
    for part, n_rows in _row_blocks(values, max(_DENSE_VALUES // (k * len(columns)), 1)):
        n_threads = resolve_threads(options.num_threads, n_rows, last - first)
        out = np.zeros((n_rows, k, len(columns)))
        flat = out.reshape(-1)
        with _limits():
            _native.add_shap_values(
                forest.native, part, *counts, first, last, flat, True, n_threads
            )
        out /= scale
        out[..., -1] += start
        for output in range(k):
            rows, places = np.nonzero(out[:, output])
            entries = (out[rows, output, places], (rows, columns[places]))
            shape = (n_rows, model.n_columns + 1)
            blocks[output].append(scipy.sparse.csr_matrix(entries, shape=shape))
    return [scipy.sparse.vstack(parts, format="csr") for parts in blocks]


def _row_blocks(
    values: _native.SparseMatrix, most_rows: int
) -> Iterator[tuple[_native.SparseMatrix, int]]:
    step = min(most_rows, _BLOCK)
    if values.n_rows <= step:
        yield values, values.n_rows
        return
    matrix = to_scipy(values)
    for begin in range(0, values.n_rows, step):
        part = by_row(read_sparse(matrix[begin : begin + step]))
        yield part, part.n_rows


def _against(model: Model, values: Any, background: object, options: PredictOptions) -> Floats:
    others: Any = _dense(options.table_of(model, background).values)
    values = _dense(values)
    if len(others) == 0:
        raise DataError.because("the background data has no rows", expected="one row or more")
    if model.derived is not None:
        n_threads = resolve_threads(options.num_threads, len(others), 1)
        others = np.concatenate([part for part, _ in with_derived(model, others, n_threads)])

    def add(part: Any, first: int, last: int, out: Floats, n_threads: int) -> None:
        native = model.forest.native
        _native.add_shap_values_of(native, part, others, first, last, out, n_threads)

    return _finish(model, _over_rows(model, values, options, add, 1), options)


@contextmanager
def _limits() -> Iterator[None]:
    """Say which limit of the native code a tree exceeds.

    Raises:
        NotSupportedError: If one does.
    """
    try:
        yield
    except GossamerError:  # it says what is wrong already
        raise
    except ValueError as error:
        raise NotSupportedError.because(f"the trees cannot be explained: {error}") from None


def _dense(values: Any) -> Any:
    """Return a dense table: where every pair or background row counts, results are larger yet."""
    return to_dense(values) if isinstance(values, _native.SparseMatrix) else values
