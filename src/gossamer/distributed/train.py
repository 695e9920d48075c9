"""`train` on several workers: every worker calls it with its own rows, and gets the same model."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from gossamer.callbacks.checkpoint import Checkpoint
from gossamer.data.categories.levels import Levels
from gossamer.data.chunks.chunked_source import take_chunk_rows
from gossamer.data.chunks.program_source import is_chunk
from gossamer.data.dataset import Dataset, built_data
from gossamer.distributed.all_rows import AllRowsSource
from gossamer.distributed.chunked_shards import ChunkedShards
from gossamer.distributed.group import Group
from gossamer.distributed.machines import LEARNER, connect_machines, find_top_k, take_network
from gossamer.distributed.messages import gather_rows
from gossamer.errors import DataError, NotSupportedError
from gossamer.metrics import CustomMetric
from gossamer.model import Booster
from gossamer.objectives.registry import objective_class
from gossamer.params import Params, resolve
from gossamer.params.check_method import splits_by_value
from gossamer.train import Callback
from gossamer.train import train as train_here

# What there is one of per row, but queries, of which there may be fewer.
ROW_FIELDS: Final = ("label", "weight", "group", "query", "init_score", "position")


@dataclass(eq=False)
class ShardData:
    """The rows of one worker.

    The rows of all workers, in the order of their ranks, are the data set. Queries may span
    workers if they are given by `query`.

    Attributes:
        chunks: Arrays, sparse matrices or frames that follow each other; may be empty.
        label: One number per row, or rows x targets.
        weight: One number >= 0 per row.
        group: For ranking: the rows of each query.
        query: Instead of `group`: the query of each row.
        init_score: Scores to start from.
        position: For ranking: where each row was shown.
        feature_name: Names of the columns; "auto": the frames' own.
        categorical_feature: Names or positions of the categorical columns; see `Dataset`.
    """

    chunks: list[Any]
    label: Any = None
    weight: Any = None
    group: Any = None
    query: Any = None
    init_score: Any = None
    position: Any = None
    feature_name: Sequence[str] | Literal["auto"] = "auto"
    categorical_feature: Sequence[str | int] | str | None = "auto"
    fields: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Refuse what has no rows and columns, before other workers wait for it."""
        for i, chunk in enumerate(self.chunks):
            if not is_chunk(chunk):
                shape = getattr(chunk, "shape", None)
                raise DataError.because(
                    f"chunk {i} of a ShardData cannot be used",
                    got=type(chunk).__name__ + (f" of shape {shape}" if shape is not None else ""),
                    expected="an array of rows x columns, a sparse matrix or a frame",
                    hint="A single table is passed as a list: ShardData([table], ...).",
                )

    def gather(self, group: Group) -> None:
        """Put the fields of all workers together; every worker then has all of them."""
        if self.fields:
            return
        self.fields = {name: gather_rows(group, getattr(self, name)) for name in ROW_FIELDS}

    def keep(self, group: Group, wanted: npt.NDArray[np.bool_]) -> None:
        """Leave out rows: `wanted` says of each row of all workers whether it stays."""
        if wanted.all():
            return
        counts = [chunk.shape[0] for chunk in self.chunks]
        begin = sum(int(n[0]) for n in group.gather_array(np.array([sum(counts)]))[: group.rank])
        kept: list[Any] = []
        for chunk, n_rows in zip(self.chunks, counts, strict=True):
            rows = np.flatnonzero(wanted[begin : begin + n_rows])
            kept.append(take_chunk_rows(chunk, rows))
            begin += n_rows
        self.chunks = kept
        self.fields = {
            name: None if values is None else values[wanted] for name, values in self.fields.items()
        }

    def to_dataset(
        self,
        group: Group,
        reference: Dataset | None = None,
        *,
        keeps_own_rows: bool = False,
        top_k: int = 0,
    ) -> Dataset:
        """Return the rows of all workers as a data set, of which this worker holds its shard.

        Args:
            group: The workers.
            reference: The training data, for validation data.
            keeps_own_rows: Whether labels, too, cover the shard's rows only.
            top_k: How many features a worker proposes for a leaf; 0: there is no vote.
        """
        like: tuple[Sequence[str], Levels | None] | None = None
        if reference is not None:
            like = (reference.get_feature_name(), reference.levels)
        self.gather(group)
        pieces = ChunkedShards(group, self.chunks, like, keeps_own_rows=keeps_own_rows, top_k=top_k)
        fields, self.chunks, self.fields = self.fields, [], {}
        return Dataset(
            pieces,
            reference=reference,
            feature_name=self.feature_name,
            categorical_feature=self.categorical_feature,
            **fields,
        )


def check_supported(params: Mapping[str, Any] | None) -> None:
    """Refuse what workers cannot do together, by name and before any work.

    Raises:
        NotSupportedError: If a parameter asks for such.

    Example:
        >>> check_supported({"num_leaves": 31})
        >>> check_supported({"linear_tree": True})
        Traceback (most recent call last):
        ...
        gossamer.errors.NotSupportedError: linear_tree is not supported on several workers: ...
    """
    resolved = resolve(params or {}, context="train")
    asked = ""
    if resolved.linear_tree:
        asked = "linear_tree"
    elif splits_by_value(resolved):
        asked = "tree_method"
    elif resolved.max_memory > 0:
        asked = "max_memory"
    elif resolved.max_conflict_rate > 0:  # the rows of all workers decide which values are left out
        asked = "max_conflict_rate"
    if asked:
        raise NotSupportedError.because(
            f"{asked} is not supported on several workers",
            got=resolved[asked],
            expected="linear_tree=false, tree_method=hist, max_conflict_rate=0 and no max_memory",
            hint="Train on one machine, or leave it out.",
        )


def keeps_own_rows(params: Params, fields: Mapping[str, Any]) -> bool:
    """Return whether a worker can train with scores and labels of its own rows only.

    Not so where something is computed from all rows at once: gradients of ranking, of Cox's model
    and of the user's own objectives, samples by gradient or class, queries, forests and DART.

    Example:
        >>> keeps_own_rows(resolve({"objective": "binary"}), {})
        True
        >>> keeps_own_rows(resolve({"objective": "lambdarank"}), {})
        False
    """
    return (
        objective_class(params).by_row
        and params.boosting == "gbdt"
        and params.data_sample_strategy == "bagging"
        and min(params.pos_bagging_fraction, params.neg_bagging_fraction) >= 1
        and not params.bagging_by_query
        and not params.weighted_bins
        and all(fields.get(name) is None for name in ("group", "query", "position"))
    )


def train(
    group: Group | None,
    params: Mapping[str, Any] | None,
    train_set: ShardData,
    num_boost_round: int = 100,
    valid_sets: Sequence[ShardData] = (),
    valid_names: Sequence[str] | None = None,
    feval: CustomMetric | Sequence[CustomMetric] | None = None,
    init_model: Any = None,
    callbacks: Sequence[Callback] | None = None,
    resume: SavedRounds | None = None,
    *,
    token: str | None = None,
) -> Booster:
    """Train a model on the rows of all workers; the same bytes as `gossamer.train` on all rows.

    All workers call this with the same arguments but their own rows. Custom objectives and metrics
    are called on every worker with the scores and labels of all rows, and must be deterministic.

    Args:
        group: The workers, see `ThreadGroup` and `TcpGroup`; None: those that the parameters
            `machines` (or `machine_list_filename`), `num_machines`, `local_listen_port` and
            `time_out` (minutes) name, as in LightGBM. This process listens on its own address only.
        params: See `gossamer.train`. `tree_learner` is "data", or "feature" where every worker has
            all rows (in `valid_sets`, too): then the search for splits is shared out alone. With
            "voting", workers exchange only the features that they elect (`top_k`): fewer bytes
            for wide tables, but the model depends on who has which rows.
        train_set: The training rows of this worker.
        num_boost_round: See `gossamer.train`.
        valid_sets: The validation rows of this worker; training data itself may be among them.
        valid_names: See `gossamer.train`.
        feval: See `gossamer.train`.
        init_model: See `gossamer.train`.
        callbacks: See `gossamer.train`; they are called on every worker.
        resume: Where finished rounds are kept if a worker is lost, and taken from.
        token: With `machines`: a secret that all of them share, at least 16 characters.

    Raises:
        ParameterError: If `machines` cannot be used, or the token is missing.
        NotSupportedError: If parameters ask for something that workers cannot do together.
        WorkerError: If another worker is lost, or failed.

    Example:
        >>> from gossamer.distributed.threads import run_group
        >>> x = np.arange(40_000.0).reshape(-1, 1)
        >>> def work(group):
        ...     rows = np.array_split(x, group.size)[group.rank]
        ...     return train(group, {}, ShardData([rows], label=rows[:, 0]), 5)
        >>> import gossamer
        >>> one = gossamer.train({}, gossamer.Dataset(x, label=x[:, 0]), 5)
        >>> one.model_to_string() == run_group(3, work)[0].model_to_string()
        True
    """
    network, params = take_network(params)
    check_supported(params)
    if group is None:
        with connect_machines(network, token) as machines:
            return train(
                machines,
                params | {n: v for n, v in network.items() if n in LEARNER},
                train_set,
                num_boost_round,
                valid_sets,
                valid_names,
                feval,
                init_model,
                callbacks,
                resume,
            )
    resolved = resolve(params or {}, context="train")
    top_k = find_top_k(network, resolved)
    if network.get("tree_learner") == "feature":
        data, valid = _with_all_rows(group, resolved, train_set, valid_sets)
    else:
        train_set.gather(group)  # a worker without rows does not know which fields there are
        own = feval is None and keeps_own_rows(resolved, train_set.fields)
        data = train_set.to_dataset(group, keeps_own_rows=own, top_k=top_k)
        if init_model is not None or valid_sets:
            built_data(data, resolved)
        valid = [data if rows is train_set else rows.to_dataset(group, data) for rows in valid_sets]
    saved = [] if resume is None else [resume.attach_to(group)]
    return train_here(
        params,
        data,
        num_boost_round,
        valid_sets=valid or None,
        valid_names=valid_names,
        feval=feval,
        init_model=init_model,
        callbacks=[*(callbacks or ()), *saved],
    )


def _with_all_rows(
    group: Group, params: Params, train_set: ShardData, valid_sets: Sequence[ShardData]
) -> tuple[Dataset, list[Dataset]]:
    """Return the data sets where every worker has all rows; see `train`."""

    def make(rows: ShardData, table: Any, reference: Dataset | None = None) -> Dataset:
        return Dataset(
            table,
            reference=reference,
            feature_name=rows.feature_name if reference is None else "auto",
            categorical_feature=rows.categorical_feature if reference is None else "auto",
            **{name: getattr(rows, name) for name in ROW_FIELDS},
        )

    data = make(train_set, AllRowsSource(group, train_set.chunks))
    built_data(data, params)
    return data, [data if r is train_set else make(r, list(r.chunks), data) for r in valid_sets]


class SavedRounds:
    """The rounds that were finished before a worker was lost, as bytes of a checkpoint.

    Args:
        content: What an earlier training left in `content`; None: begin at the first round.
    """

    def __init__(self, content: bytes | None = None) -> None:
        self.content = content

    def attach_to(self, group: Group) -> Checkpoint:
        """Return the callback that resumes from the rounds, and keeps them if a worker fails."""
        return _KeepRounds(self, group)


class _KeepRounds(Checkpoint):
    """Writes a checkpoint once, when another worker has failed."""

    def __init__(self, rounds: SavedRounds, group: Group) -> None:
        folder = tempfile.mkdtemp(prefix="gossamer-")
        # A training that fails early does not close its callbacks.
        self._remove_folder = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        path = Path(folder, "rounds")
        if rounds.content is not None:
            path.write_bytes(rounds.content)
        super().__init__(path, None, None, True)
        self._rounds, self._group = rounds, group

    def close(self) -> None:
        """Keep the finished rounds if another worker has failed."""
        run = self._run
        if run is not None and self._group.has_failed and run.is_whole and run.n_done > 0:
            self.write()
            self._rounds.content = self.path.read_bytes()
        super().close()
        self._remove_folder()
