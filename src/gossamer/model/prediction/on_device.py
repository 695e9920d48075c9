"""Predictions on a GPU: of tables of the host, and of arrays that are there already."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from gossamer.cuda.arrays import (
    DeviceArray,
    OwnArray,
    find_device_array,
    in_kind_of,
    open_device_of,
    to_host,
)
from gossamer.errors import DeviceError, NotSupportedError
from gossamer.model.model import Model
from gossamer.tree import Forest

if TYPE_CHECKING:
    from gossamer.cuda.predictor import DevicePredictor
    from gossamer.model.prediction.predict import PredictOptions

# A table of the host is copied to the GPU by device_type=auto where rows x trees are this many.
WORTHWHILE_WALKS: Final = 500_000_000

_Key = tuple[int, int, int]
_known: weakref.WeakKeyDictionary[Forest, tuple[_Key, DevicePredictor]] = (
    weakref.WeakKeyDictionary()
)
_lock = threading.Lock()


def forget_forests() -> None:
    """Give back the memory of all forests that have been predicted with on a GPU."""
    with _lock:
        _known.clear()


def predictor_of(forest: Forest, trees: tuple[int, int], number: int) -> DevicePredictor:
    """Return the trees from the first to before the last on a GPU, kept for the next time."""
    from gossamer.cuda import driver  # only predictions on a GPU wait for it
    from gossamer.cuda.predictor import DevicePredictor

    key = (number, *trees)
    with _lock:
        found = _known.get(forest)
        if found is None or found[0] != key:
            found = (key, DevicePredictor(driver.open_device(number), forest, *trees))
            _known[forest] = found
        return found[1]


def device_predictor(
    model: Model, options: PredictOptions, trees: tuple[int, int], n_rows: int, *, is_sparse: bool
) -> DevicePredictor | None:
    """Return the trees on the GPU that a table of the host is to be predicted on; None: the CPU.

    Raises:
        NotSupportedError: If device_type=cuda, and no GPU can do what is asked for.
        DeviceError: If device_type=cuda, and there is no GPU.
    """
    kind = options.device_type
    if kind in ("", "cpu") or (
        kind == "auto" and n_rows * (trees[1] - trees[0]) < WORTHWHILE_WALKS
    ):
        return None
    refused = "a sparse table" if is_sparse else why_not(model, options)
    try:
        if refused is not None:
            raise refusal(refused)
        model.forest.native  # noqa: B018 - making it checks every index
        return predictor_of(model.forest, trees, options.gpu_device_id)
    except (NotSupportedError, DeviceError, MemoryError):
        if kind == "cuda":
            raise
        return None


def why_not(model: Model, options: PredictOptions) -> str | None:
    """Return what keeps a model from being predicted on a GPU; None: nothing does."""
    if model.forest.linear is not None:
        return "linear leaves (linear_tree)"
    if options.early_stop is not None:
        return "pred_early_stop"
    return None


def refusal(what: str) -> NotSupportedError:
    """Return the error for what a GPU cannot predict with."""
    return NotSupportedError.because(
        f"device_type=cuda cannot predict with {what}",
        hint="Use device_type=cpu: predictions are the same.",
    )


def upload_like(array: DeviceArray, result: npt.NDArray[Any]) -> Any:
    """Return a result of the host as an array of the library that the user's array is of."""
    from gossamer.cuda.device import Buffer

    device = open_device_of(array)
    values = np.ascontiguousarray(result)
    found = OwnArray(device, Buffer.holding(device, values), values.shape, values.dtype)
    device.wait()
    return in_kind_of(array.owner, found)


def on_host(
    result: Any, finish: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
) -> npt.NDArray[Any]:
    """Work on predictions with NumPy; those on a GPU come back there, unless they are text.

    Example:
        >>> on_host(np.array([0.5]), lambda p: 1 - p)
        array([0.5])
    """
    array = find_device_array(result)
    if array is None:
        return finish(result)
    found = finish(to_host(array))
    if found.dtype.kind not in "fiub":
        return found
    uploaded: npt.NDArray[Any] = upload_like(array, found)
    return uploaded


def predict_array(
    model: Model, array: DeviceArray, options: PredictOptions, link: tuple[str, float] = ("", 1.0)
) -> OwnArray:
    """Predict an array on its GPU.

    Args:
        model: The model, without derived columns.
        array: Rows x columns.
        options: What is asked for.
        link: Its name in `gossamer.cuda.predict_records.LINKS`, and its steepness.

    Returns:
        An array on the same GPU.
    """
    from gossamer.cuda import driver
    from gossamer.cuda.device import Buffer
    from gossamer.cuda.predictor import DeviceScoring

    model.forest.native  # noqa: B018 - making it checks every index
    per_round = model.forest.trees_per_round
    first, last = options.rounds_of(model)
    number = driver.number_of_gpu(array.address)
    predictor = predictor_of(model.forest, (first * per_round, last * per_round), number)
    device, n_rows = predictor.device, array.n_rows
    device.settle()
    if options.pred_leaf:
        leaves = Buffer(device, 4 * n_rows * predictor.n_trees)
        predictor.find_leaves(array, leaves.address)
        device.wait()
        return OwnArray(device, leaves, (n_rows, predictor.n_trees), np.dtype(np.int32))
    start = model.start_from(first)
    scoring = DeviceScoring(device, n_rows, start)
    if model.average_output:
        scoring.begin_at_zero()
    else:
        scoring.begin()
    predictor.add_scores(array, scoring.buffer.address)
    if model.average_output:
        scoring.average(max(last - first, 1))
    if link[0]:
        scoring.apply_link(*link)
    device.wait()
    rows = (n_rows,) if len(start) == 1 else (n_rows, len(start))
    return OwnArray(device, scoring.buffer, rows, np.dtype(np.float64))
