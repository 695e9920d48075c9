"""`DeviceGrower`: grows trees on a device, from gradients to nodes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gossamer import _native
from gossamer.cuda.device import Buffer, Device, Launch
from gossamer.cuda.records import (
    BEST,
    JOB,
    NODE,
    NODE_LIMITS,
    RULES,
    STATE,
    TASK,
    TREE_NODE,
    as_bytes,
)
from gossamer.cuda.refit import Refit
from gossamer.cuda.score_kernel import add_scores, score_args
from gossamer.cuda.sizes import (
    WAITING_BYTES,
    choose_size,
    draw_size,
    max_nodes,
    max_slots,
    most_slots,
    slot_size,
)
from gossamer.cuda.table import BUILD_THREADS, DeviceTable

_CHOOSE_THREADS: Final = 1024
_SEARCH_THREADS: Final = 128
# Batches of the first tree; more follow where they are not enough. Some are recorded together.
_FIRST_BATCHES: Final = 24
_BATCHES_AT_ONCE: Final = 2
_TREES_BEFORE: Final = 8  # that tell how many batches the next one needs
_MOST_RECORDED: Final = 32
_CATEGORY_BYTES: Final = 48  # of a bin, in the memory of a search
_MOST_CATEGORY_BYTES: Final = 2**30
# Shared memory of kernels that find the statistics of gradients.
STATISTICS_BYTES: Final = 2048 + 16
# Shared memory of a multiprocessor, and the most blocks that build histograms there at once.
_SHARED_OF_PROCESSOR: Final = 227 * 1024
_BLOCKS_OF_PROCESSOR: Final = 2
# Bytes of a row's gradient and hessian as integers.
_NARROW_ROW: Final = 4
_WIDE_ROW: Final = 16
# `TreeError` of native/cuda/device.h.
_OTHER_WIDTH: Final = 2
_NO_SLOT: Final = 3


class DeviceGrower:
    """Grows trees on one table; a tree has the bytes of the tree that the CPU grows."""

    def __init__(
        self,
        device: Device,
        table: DeviceTable,
        bins: _native.BinMatrix,
        settings: _native.GrowParams,
    ) -> None:
        """Allocate what a tree needs.

        Args:
            device: Where trees grow.
            table: The bins.
            bins: The same on the host.
            settings: Of the trees; what differs from tree to tree may change.

        Raises:
            MemoryError: If the device has not enough memory.
        """
        self._device, self._table, self._bins = device, table, bins
        self._trees = _native.DeviceTrees(bins)
        n_rows, n_leaves = table.n_rows, settings.num_leaves
        self.num_leaves = n_leaves
        args = table.args.copy()
        n_cells, words = int(args["n_cells"]), int(args["category_words"])
        self._max_nodes = max_nodes(n_leaves)
        max_jobs = min(n_leaves, _CHOOSE_THREADS)
        slot_words = slot_size(n_cells)
        scratch = 32 * words * _CATEGORY_BYTES
        self._search_blocks, warps = self._grid, _SEARCH_THREADS // 32
        if scratch:
            most = _MOST_CATEGORY_BYTES // (warps * scratch)
            self._search_blocks = max(min(self._grid, most), 1)
        sizes = {
            "task": TASK.itemsize,
            "sample": 4,
            "row_values": _NARROW_ROW * n_rows,
            "state": STATE.itemsize,
            "nodes": NODE.itemsize * self._max_nodes,
            "jobs": JOB.itemsize * max_jobs,
            "waiting": WAITING_BYTES * (n_leaves + 1),
            "bests": BEST.itemsize * 2 * max_jobs * table.n_features,
            "category_sets": 4 * words * self._max_nodes,
            "histograms": 8 * slot_words * max_slots(n_leaves),
            "tree_nodes": TREE_NODE.itemsize * n_leaves,
            "tree_values": 8 * self._max_nodes,
            "allowed": table.n_features,
            "category_scratch": scratch * warps * self._search_blocks,
        }
        self._buffers = {name: Buffer(device, size) for name, size in sizes.items()}
        for name, buffer in self._buffers.items():
            args[name] = buffer.address
        # The rows of nodes. Before a tree has nodes, gradients and hessians may be here.
        self.lists = [Buffer(device, 4 * n_rows) for _ in "ab"]
        args["row_lists"] = [buffer.address for buffer in self.lists]
        args["slot_words"] = slot_words
        args["max_slots"] = max_slots(n_leaves)
        args["max_nodes"] = self._max_nodes
        args["build_blocks"] = self._build_blocks
        args["category_scratch_bytes"] = scratch
        self._args = args
        self._set_counters()
        self._found = device.host_memory(STATE.itemsize + NODE.itemsize * self._max_nodes)
        self._sets = device.host_memory(max(4 * words * self._max_nodes, 4))
        self._tree = Buffer(device, 0)  # that is added to scores
        self._task = b""  # what the device knows of it
        self._limits: _native.FeatureLimits | None = None
        self._directions: list[int] = []
        self._recorded: dict[bytes, Any] = {}
        self._started: bytes | None = None  # what the tree that was started last is grown from
        self._is_wide: dict[int, bool] = {}  # by output: the cells of its last tree
        self._last_batches = deque([_FIRST_BATCHES], maxlen=_TREES_BEFORE)
        self._n_expected = self._max_nodes  # nodes of the next tree
        self.n_batches = 0  # of all trees
        self.state = self._buffers["state"].address  # of the tree

    @property
    def _grid(self) -> int:
        return 8 * self._device.n_processors

    @property
    def _build_blocks(self) -> int:
        by_memory = _SHARED_OF_PROCESSOR // (self._table.build_bytes + 1024)
        return max(min(by_memory, _BLOCKS_OF_PROCESSOR), 1) * self._device.n_processors

    def _set_counters(self) -> None:
        state = np.zeros((), STATE)
        state["statistics"]["max_abs_gradient"] = 0x80000000  # zero, as the kernels order floats
        state["statistics"]["max_hessian"] = 0x80000000
        state["statistics"]["min_hessian"] = 0xFFFFFFFF
        self._buffers["state"].write(as_bytes(state))

    def _take(self, settings: _native.GrowParams, gradient: int, hessian: int | None) -> None:
        args = self._args
        args["gradient"], args["hessian"] = gradient, hessian or 0
        args["max_depth"] = settings.max_depth
        args["depthwise"] = settings.depthwise
        args["extra_trees"] = settings.extra_trees
        args["num_leaves"] = settings.num_leaves
        args["damp_from"] = settings.damp_from
        self._limit_features(settings)
        self._limit_values(settings)
        args["min_gain_to_split"] = settings.min_gain_to_split
        for name in RULES.names or ():
            args["given_rules"][name] = getattr(settings, name)

    def _limit_features(self, settings: _native.GrowParams) -> None:
        """Let levels and nodes draw their features, and paths limit them."""
        args, n_features = self._args, self._table.n_features
        args["fraction_by_level"] = settings.fraction_by_level
        args["fraction_by_node"] = settings.fraction_by_node
        draws = min(settings.fraction_by_level, settings.fraction_by_node) < 1
        if settings.limits is not self._limits:
            self._limits = settings.limits
            groups = _native.feature_groups(settings)
            weights = _native.sampling_weights(settings, n_features)
            n_words = len(groups) // max(n_features, 1)
            args["group_words"] = n_words
            self._keep("feature_groups", groups)
            self._keep("feature_weights", weights)
            self._room("open_groups", 8 * self._max_nodes * n_words)
        is_limited = draws or int(args["group_words"]) > 0
        n_bytes = 4 * self._max_nodes * -(-n_features // 32)
        self._room("node_features", n_bytes if is_limited else 0)

    def _limit_values(self, settings: _native.GrowParams) -> None:
        """Let values rise or fall with features."""
        directions = settings.monotone_directions
        if directions == self._directions:
            return
        self._directions = directions
        is_on = any(directions)
        self._keep("directions", np.array(directions if is_on else [], np.int8))
        self._room("node_limits", NODE_LIMITS.itemsize * self._max_nodes if is_on else 0)

    def _room(self, name: str, n_bytes: int) -> None:
        """Give the kernels memory; none if there are no bytes."""
        buffer = self._buffers.get(name)
        if n_bytes and (buffer is None or buffer.n_bytes < n_bytes):
            buffer = self._buffers[name] = Buffer(self._device, n_bytes)
        self._args[name] = buffer.address if buffer is not None and n_bytes else 0

    def _keep(self, name: str, values: npt.NDArray[Any]) -> None:
        self._room(name, values.nbytes)
        if values.nbytes:
            self._buffers[name].write(values)

    def _kernels(self, *, has_statistics: bool = False) -> tuple[list[Launch], list[Launch]]:
        """Return the kernels that start a tree, and the kernels of a batch of nodes."""
        args, grid = self._args, self._grid
        rules = args["given_rules"]
        limits = [rules[name] > 0 for name in ("lambda_l1", "max_delta_step", "path_smooth")]
        limits += [args["category_words"] > 0, args["directions"] > 0]
        name = "search_any" if any(limits) else "search"
        find = [Launch(name, self._search_blocks, _SEARCH_THREADS, args)]
        if args["node_features"]:
            find.insert(
                0, Launch("draw_features", 4 * grid, 32, args, draw_size(self._table.n_features))
            )
        build = []
        if int(args["n_lanes8"]):
            shared = self._table.build_bytes
            name = "histograms_wide" if args["wide"] else "histograms"
            build.append(Launch(name, self._build_blocks, BUILD_THREADS, args, shared))
        if int(args["n_lanes16"]):
            build.append(Launch("histograms_two_bytes", grid, 256, args))
        statistics = Launch("statistics", grid, 256, args, STATISTICS_BYTES)
        start = [
            *([] if has_statistics else [statistics]),
            Launch("layout", 1, 256, args, 4096),
            Launch("quantise", grid, 256, args, 512),
            Launch("start", 1, 32, args),
            *build,
            *find,
        ]
        choose_bytes = choose_size(int(args["num_leaves"]))
        batch = [
            Launch("choose", 1, _CHOOSE_THREADS, args, choose_bytes),
            Launch("split_rows", 4 * self._device.n_processors, 512, args, 512),
            *build,
            *find,
        ]
        return start, batch

    def _use_width(self, is_wide: bool) -> None:
        """Let the next tree have wide cells or narrow ones; the device says if it needs others."""
        n_bytes = self._table.n_rows * (_WIDE_ROW if is_wide else _NARROW_ROW)
        if self._buffers["row_values"].n_bytes < n_bytes:
            self._buffers["row_values"] = Buffer(self._device, n_bytes)
            self._args["row_values"] = self._buffers["row_values"].address
        self._args["wide"] = is_wide

    def _replay(self, what: bytes, launches: Callable[[], Sequence[Launch]]) -> None:
        """Launch kernels together; the kernels of `what` are recorded once."""
        if what not in self._recorded:
            if len(self._recorded) >= _MOST_RECORDED:  # settings that change from tree to tree
                self._recorded.clear()
            self._recorded[what] = self._device.record(launches())
        self._device.replay(self._recorded[what])

    def _key(self, before: Sequence[Launch] = ()) -> bytes:
        return b"".join(
            as_bytes(args).tobytes() for args in (self._args, *[b.args for b in before])
        )

    def _start(self, before: Sequence[Launch] = ()) -> None:
        """Launch the kernels of a tree, with as many batches as it will probably need."""

        def kernels() -> list[Launch]:
            finds = any(b.shared_bytes == STATISTICS_BYTES for b in before)
            start, batch = self._kernels(has_statistics=finds)
            return [*before, *start, *batch * _BATCHES_AT_ONCE]

        self._replay(b"start" + self._key(before), kernels)
        # As many as the last trees needed, and one that finds the tree complete.
        self._add_batches(max(self._last_batches) // _BATCHES_AT_ONCE)

    def _add_batches(self, n_times: int) -> None:
        """Launch more batches of the tree."""
        key = b"batch" + self._key()
        for _ in range(n_times):
            self._replay(key, lambda: self._kernels()[1] * _BATCHES_AT_ONCE)

    def use_rows(self, rows: npt.NDArray[np.uint32] | None) -> None:
        """Grow the next trees on some rows; None: on all."""
        self._rows = rows
        self._n_sampled = None if rows is None else len(rows)
        if rows is None:
            return
        if self._buffers["sample"].n_bytes < 4 * self._table.n_rows:
            self._buffers["sample"] = Buffer(self._device, 4 * self._table.n_rows)
        self._args["sample"] = self._buffers["sample"].address
        if len(rows):
            self._buffers["sample"].write(rows)

    def use_drawn(self, rows: Buffer, n_rows: int) -> None:
        """Grow the next trees on rows that were drawn on the device."""
        self._rows, self._n_sampled = None, n_rows
        self._args["sample"] = rows.address

    def _set_task(self, settings: _native.GrowParams, output: int) -> None:
        n_sampled, task = self._n_sampled, np.zeros((), TASK)
        task["n_rows"] = self._table.n_rows if n_sampled is None else n_sampled
        task["extra_key"] = settings.extra_key
        if self._args["node_features"]:
            task["column_key"] = settings.column_key
        task["output"] = output
        task["is_sampled"] = n_sampled is not None
        task["n_allowed"] = self._table.n_searched
        task["learning_rate"] = settings.learning_rate
        self._args["allowed"] = 0
        if settings.fraction_by_tree < 1:
            features = _native.tree_features(settings, self._table.n_features)
            allowed = np.zeros(self._table.n_features, np.uint8)
            allowed[features] = 1
            task["n_allowed"] = int(allowed[self._table.is_searched].sum())
            self._buffers["allowed"].write(allowed)
            self._args["allowed"] = self._buffers["allowed"].address
        if task.tobytes() != self._task:
            self._buffers["task"].write(as_bytes(task))
            self._task = task.tobytes()

    def grow(
        self,
        gradient: Buffer,
        hessian: Buffer | None,
        settings: Sequence[_native.GrowParams],
        before: Sequence[Launch] = (),
        refit: Refit | None = None,
        score: int | None = None,
    ) -> list[_native.Tree]:
        """Grow a tree for each output from gradients that are on the device.

        The next tree starts on the device while the host finishes one: the tree of the next output,
        or, if there are kernels that compute gradients, the first tree of the next round.

        Args:
            gradient: The gradients.
            hessian: The hessians; None: all are 1.
            settings: Of the tree of each output.
            before: Kernels that compute the gradients; none: they come from the host.
            refit: What leaf values are found from; None: they are Newton's steps.
            score: Address of the scores that trees are added to, output by output; None: the host
                adds them.
        """
        trees: list[_native.Tree] = []
        n_outputs = len(settings)
        for k, own in enumerate(settings):
            self._start_tree(gradient, hessian, own, k, before if k == 0 else ())
            self._wait_for_tree(k)
            own_score = None if score is None else score + 8 * self._table.n_rows * k
            is_added = own_score is not None and self._add_found(own, own_score)
            host = {}
            if refit is not None and own.refit:
                host = {"rows": self._rows, **refit.of_output(k, n_outputs)}
            state, nodes = self._found[: STATE.itemsize], self._found[STATE.itemsize :]
            if k + 1 < n_outputs:
                self._start_tree(gradient, hessian, settings[k + 1], k + 1)
            elif is_added and before and self._is_predictable(settings[0]):
                self._start_tree(gradient, hessian, settings[0], 0, before)
            trees.append(self._trees.finish(state, nodes, self._sets.view(np.uint32), own, **host))
            if own_score is not None and not is_added and trees[-1].n_leaves > 1:
                self.add_scores(trees[-1], own_score)
        return trees

    def drop_started(self) -> None:
        """What trees are grown from has changed: a tree that was started ahead is of no use."""
        self._started = None

    def _is_predictable(self, settings: _native.GrowParams) -> bool:
        """Whether the tree of the next round has the same settings, as far as can be known."""
        is_random = settings.extra_trees or settings.fraction_by_tree < 1
        return self._n_sampled is None and not is_random and not self._args["node_features"]

    def _add_found(self, settings: _native.GrowParams, score: int) -> bool:
        """Let the device add the tree that it has found to scores, if it knows its nodes."""
        n_listed = int(self._found[: STATE.itemsize].view(STATE)[0]["n_listed"])
        if n_listed == 0 or settings.prune_below > 0 or settings.value_unit > 0:
            return False
        args = score_args(self._table, score, self.num_leaves - 1)
        for name, buffer in (("nodes", "tree_nodes"), ("values", "tree_values")):
            args[name] = self._buffers[buffer].address
        args["sets"] = self._buffers["category_sets"].address
        args["state"] = self._buffers["state"].address
        shared = 8 * 33 + 4 * self._max_nodes
        self._replay(
            b"scores" + self._key() + as_bytes(args).tobytes(),
            lambda: [
                Launch("list_tree", 1, 1024, self._args, shared),
                add_scores(args, self._grid),
            ],
        )
        return True

    def _read_tree(self) -> np.void:
        """Read what the device has found; return its state."""
        device = self._device
        device.read_later(self._buffers["state"].address, self._found[: STATE.itemsize])
        # Most trees have about as many nodes as the one before.
        n_read = min(self._n_expected + self._n_expected // 4, self._max_nodes)
        nodes = self._found[STATE.itemsize :]
        device.read_later(self._buffers["nodes"].address, nodes[: n_read * NODE.itemsize])
        if self._args["category_words"]:
            device.read_later(self._buffers["category_sets"].address, self._sets)
        device.wait()
        state: np.void = self._found[: STATE.itemsize].view(STATE)[0]
        if state["n_nodes"] > n_read:
            device.read(self._buffers["nodes"].address, nodes)
        return state

    def _start_tree(
        self,
        gradient: Buffer,
        hessian: Buffer | None,
        settings: _native.GrowParams,
        output: int,
        before: Sequence[Launch] = (),
    ) -> None:
        """Let the device grow a tree, unless it has started with just this one."""
        self._take(settings, gradient.address, None if hessian is None else hessian.address)
        self._set_task(settings, output)
        self._use_width(self._is_wide.get(output, False))
        started = self._key(before) + self._task
        if started != self._started:
            self._start(before)
        self._started = started

    def _wait_for_tree(self, output: int) -> None:
        """Wait until the tree is complete, and read its nodes."""
        while True:
            state = self._read_tree()
            if state["error"] == _OTHER_WIDTH:
                self._is_wide[output] = not self._args["wide"]
                self._use_width(self._is_wide[output])
                self._start()
                continue
            if state["error"] == _NO_SLOT:
                self._add_slots()
            elif state["error"]:
                raise RuntimeError("internal error: rows and histograms of the device disagree")
            if state["is_complete"]:
                break
            if state["n_batches"] > 2 * self.num_leaves:  # every batch has a node of the tree
                raise RuntimeError("internal error: a tree of the device is never complete")
            self._add_batches(1)
        self._started = None
        n_batches = int(state["n_batches"])
        self.n_batches += n_batches
        self._n_expected = int(state["n_nodes"])
        self._last_batches.append(n_batches)

    def _add_slots(self) -> None:
        """Allocate space for more histograms. The tree then continues from where it stopped."""
        n_slots = min(2 * int(self._args["max_slots"]), most_slots(self.num_leaves))
        before = self._buffers["histograms"]
        after = Buffer(self._device, 8 * int(self._args["slot_words"]) * n_slots)
        self._device.copy(after.address, before.address, before.n_bytes)
        self._device.wait()  # before the memory is given back
        self._buffers["histograms"] = after
        self._args["histograms"], self._args["max_slots"] = after.address, n_slots
        self._recorded.clear()
        assert STATE.fields is not None
        self._buffers["state"].write(np.zeros(4, np.uint8), STATE.fields["error"][1])

    def add_scores(self, tree: _native.Tree, score: int, table: DeviceTable | None = None) -> None:
        """Add a tree to the scores of all rows, or of another table's.

        Args:
            tree: A tree with at least one split.
            score: Address of the scores of one output.
            table: Whose rows; None: the training's.
        """
        table = self._table if table is None else table
        nodes, sets = _native.score_nodes(tree, self._bins, table.lanes)
        parts = [tree.leaf_value.view(np.uint8), nodes, sets.view(np.uint8)]
        args = score_args(table, score, tree.n_leaves - 1)
        whole = np.concatenate(parts)
        if self._tree.n_bytes < whole.nbytes:
            self._tree = Buffer(self._device, 2 * whole.nbytes)
        self._tree.write(whole)
        args["values"] = self._tree.address
        args["nodes"] = self._tree.address + parts[0].nbytes
        args["sets"] = args["nodes"] + nodes.nbytes
        self._device.run([add_scores(args, self._grid)])
