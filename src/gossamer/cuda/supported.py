"""What a GPU can do, and when it is worth it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gossamer import _native
from gossamer.cuda.device import Device
from gossamer.cuda.driver import open_device
from gossamer.cuda.records import NODE
from gossamer.cuda.sizes import choose_size, max_nodes, max_slots, slot_size
from gossamer.cuda.table import DeviceTable
from gossamer.errors import DeviceError, NotSupportedError, message
from gossamer.params import Params
from gossamer.params.check_monotone import has_monotone

if TYPE_CHECKING:
    from gossamer.objectives import Objective

# Parameters that only the CPU knows, with the value that leaves them out.
ON_CPU_ONLY: Final[dict[str, Any]] = {
    "linear_tree": False,
    "forcedsplits_filename": "",
    "feature_contri": (),
    "cegb_penalty_split": 0.0,
    "cegb_penalty_feature_lazy": (),
    "cegb_penalty_feature_coupled": (),
    "max_memory": 0,
}
# Tables with fewer values than this are trained on the CPU by device_type=auto: a tree takes a GPU
# about a millisecond, whatever its size.
WORTHWHILE_VALUES: Final = 8_000_000


def find_device(
    params: Params, objective: Objective, bins: _native.BinMatrix, *, is_whole: bool
) -> Device | None:
    """Return the GPU that a training runs on; None: it runs on the CPU.

    Args:
        params: Checked parameters.
        objective: The loss.
        bins: The binned table.
        is_whole: Whether the table has all rows, and no other worker has some.

    Raises:
        NotSupportedError: If device_type=cuda, and something is asked for that no GPU can do.
        DeviceError: If device_type=cuda, and there is no GPU.
        MemoryError: If device_type=cuda, and the table does not fit.
    """
    if params.device_type == "cpu":
        return None
    is_asked_for = params.device_type == "cuda"
    # Where leaf values are found from residuals, the host has to split the rows as well.
    refits = any(objective.leaf_refit_of(k) is not None for k in range(objective.n_outputs))
    is_small = bins.n_rows * bins.n_features < WORTHWHILE_VALUES
    if not is_asked_for and (is_small or refits):
        return None
    try:
        check_on_gpu(params, objective, bins, is_whole=is_whole)
        device = open_device(max(params.gpu_device_id, 0))
        check_memory(params, objective, bins, device)
    except (NotSupportedError, DeviceError, MemoryError):
        if is_asked_for:
            raise
        return None
    return device


def check_on_gpu(
    params: Params, objective: Objective, bins: _native.BinMatrix, *, is_whole: bool
) -> None:
    """Raise for what a GPU cannot do.

    Raises:
        NotSupportedError: With the name of the parameter.
    """
    for name, default in ON_CPU_ONLY.items():
        if params[name] != default:
            raise _refusal(name, params[name], f"its default {default!r}")
    if has_monotone(params):
        if params.monotone_constraints_method != "basic":
            raise _refusal(
                "monotone_constraints_method", params.monotone_constraints_method, "basic"
            )
        if params.monotone_penalty:
            raise _refusal("monotone_penalty", params.monotone_penalty, "its default 0.0")
    if params.grow_policy == "symmetric":
        raise _refusal("grow_policy", params.grow_policy, "lossguide or depthwise")
    if params.tree_method in ("exact", "approx"):
        raise _refusal("tree_method", params.tree_method, "hist")
    if params.multi_strategy == "multi_output_tree" and objective.n_outputs > 1:
        raise _refusal("multi_strategy", params.multi_strategy, "one_output_per_tree")
    if not is_whole:
        raise _refusal("num_machines", "rows on several workers", "all rows on one machine")
    if _native.on_disk(bins) is not None:
        raise _refusal("max_memory", "bins on disk", "bins in memory")


def _refusal(name: str, got: Any, expected: str) -> NotSupportedError:
    return NotSupportedError.because(
        f"device_type=cuda does not support {name}",
        got=got,
        expected=expected,
        hint="Use device_type=cpu, or device_type=auto, which uses the CPU if necessary.",
    )


def bytes_needed(params: Params, objective: Objective, bins: _native.BinMatrix) -> int:
    """Return how much memory of the GPU a training takes.

    Rows take their bins, up to 16 bytes of gradients as integers, two lists of rows, a sample of
    rows; for each output a score; a label and a weight. With several outputs, gradients and
    hessians have memory of their own.
    """
    n_outputs = objective.n_outputs
    by_output = 8 if n_outputs == 1 else 8 + 4 + 4
    by_row = DeviceTable.bytes_per_row(bins) + 16 + 3 * 4 + n_outputs * by_output + 4 + 4
    n_nodes = max_nodes(params.num_leaves)
    found = _native.describe_features(bins)
    n_cells = int((found["n_value_bins"] + found["has_missing"]).sum())
    by_tree = n_nodes * NODE.itemsize + 8 * slot_size(n_cells) * max_slots(params.num_leaves)
    return by_row * bins.n_rows + by_tree


def check_memory(
    params: Params, objective: Objective, bins: _native.BinMatrix, device: Device
) -> None:
    """Raise before anything is allocated if the training does not fit the device.

    Raises:
        MemoryError: With both figures.
        NotSupportedError: If a tree has more leaves than fit on the GPU.
    """
    if choose_size(params.num_leaves) > device.shared_bytes:
        most = params.num_leaves
        while choose_size(most) > device.shared_bytes:
            most -= 1
        raise _refusal("num_leaves", params.num_leaves, f"at most {most} on this GPU")
    needed, free = bytes_needed(params, objective, bins), device.free_bytes()
    if needed > free:
        raise MemoryError(
            message(
                "training does not fit into the memory of the GPU",
                found=f"{bins.n_rows} rows, which take {needed / 1e9:.2f} GB",
                expected=f"at most {free / 1e9:.2f} GB, which are free",
                hint="Use device_type=cpu, fewer rows or columns, a smaller max_bin or num_leaves.",
            )
        )
