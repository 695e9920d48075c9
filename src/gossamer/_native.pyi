"""
Gossamer's native core: everything that runs per row, per bin or per node.
"""

import enum
from collections.abc import Callable, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

def kernel_level() -> str:
    """Instruction set level in use."""

def kernel_levels() -> list[str]:
    """Levels that this machine can run, best last."""

def set_kernel_level(name: str) -> bool:
    """Chooses a level; False if this machine does not have it."""

class SparseMatrix:
    """
    Compressed rows or columns; checked when made (ValueError, IndexError).
    """

    def __init__(
        self,
        values: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
        indices: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
        begin: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
        n_rows: int,
        n_columns: int,
        by_row: bool,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def by_row(self) -> bool: ...
    @property
    def values(self) -> Annotated[NDArray, dict(shape=(None,), writable=False)]: ...
    @property
    def indices(self) -> Annotated[NDArray, dict(shape=(None,), writable=False)]: ...
    @property
    def begin(self) -> Annotated[NDArray, dict(shape=(None,), writable=False)]: ...
    @property
    def n_entries(self) -> int: ...
    @property
    def is_canonical(self) -> bool:
        """Whether the indices of each row (column) strictly increase."""

@overload
def find_bounds(
    matrix: SparseMatrix,
    sample: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    max_bin: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    forced: Sequence[Sequence[float]],
    min_data_in_bin: int,
    use_missing: bool,
    zero_as_missing: bool,
    n_threads: int,
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
) -> tuple: ...
@overload
def find_bounds(
    matrix: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
    sample: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    max_bin: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    forced: Sequence[Sequence[float]],
    min_data_in_bin: int,
    use_missing: bool,
    zero_as_missing: bool,
    n_threads: int,
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
) -> tuple:
    """
    Upper bin bounds of every column: (bounds, offsets, missing seen, zero share).
    """

@overload
def count_categories(
    matrix: SparseMatrix,
    columns: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int,
) -> list: ...
@overload
def count_categories(
    matrix: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
    columns: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int,
) -> list:
    """
    For each column: (categories, how often each, missing values, a value that is not a category).
    """

def bin_dense(
    matrix: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
    columns: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    upper: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    offsets: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    missing_kind: int,
    may_miss: Annotated[
        NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    zero_share: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    category: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    share_lanes: bool,
    bundle: bool,
    sparse: bool,
    max_conflict_rate: float,
    order: int,
    costs: tuple[float, float],
    n_threads: int,
) -> tuple:
    """Training data: (binned table, how its storage was chosen)."""

def bin_sparse(
    matrix: SparseMatrix,
    columns: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    upper: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    offsets: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    missing_kind: int,
    category: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    share_lanes: bool,
    bundle: bool,
    sparse: bool,
    max_conflict_rate: float,
    order: int,
    costs: tuple[float, float],
    n_threads: int,
) -> tuple:
    """Training data: (binned table, how its storage was chosen)."""

@overload
def bin_like(training: BinMatrix, matrix: SparseMatrix, n_threads: int) -> BinMatrix: ...
@overload
def bin_like(
    training: BinMatrix,
    matrix: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
    n_threads: int,
) -> BinMatrix:
    """Other data in the bins of training data."""

class BinMatrix:
    """A binned table."""

    def __init__(
        self,
        columns: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        upper: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        offsets: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        missing_kind: int,
        n_rows: int,
        may_miss: Annotated[
            NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        category: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        share_lanes: bool = False,
        bundled: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        bundle_ends: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        loose: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        zero_share: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
    ) -> None: ...
    def storage(self) -> dict:
        """
        How features are kept: bundled, bundle_ends, loose, may_miss, zero_share.
        """

    def describe(self) -> dict:
        """Figures about the storage."""

    def copy_sparse(self) -> tuple:
        """
        Entries of features in bundles and sparse columns: features, begin, rows, bins.
        """

    def set_sparse(
        self,
        features: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        begin: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        rows: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        bins: Annotated[
            NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def hide(self, feature: int) -> None:
        """No tree will split on the feature."""

    def set_l2(self, feature: int, l2: float) -> None:
        """Adds to lambda_l2 in splits on the feature."""

    @property
    def is_trainable(self) -> bool: ...
    def make_trainable(self) -> BinMatrix:
        """The same table, stored so that it can be trained on."""

    def take_rows(
        self,
        rows: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_threads: int,
        as_sample: bool = False,
    ) -> BinMatrix:
        """
        Some rows, in memory. `as_sample`: features are missing where they are in the whole table.
        """

    def beside(self, right: BinMatrix, first_column: int, n_threads: int) -> BinMatrix:
        """
        One table with the features of both; column c of the other becomes first_column + c.
        """

    def copy_column(
        self, feature: int
    ) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,))]: ...
    def set_column(
        self,
        feature: int,
        bins: Annotated[
            NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def has_missing(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None,))]: ...
    def entry_counts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Entries of each feature in sparse columns."""

    def set_totals(
        self,
        has_missing: Annotated[
            NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        entry_counts: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """The table is a shard of the rows: what features have in all shards."""

    def find_missing(self) -> None:
        """To be called after set_column and set_sparse."""

    def is_sharing(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None,))]: ...
    @property
    def shares_lanes(self) -> bool: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def row_bytes(self) -> int:
        """Bytes of a row in lanes."""

    @property
    def n_cells(self) -> int:
        """Cells of a histogram."""

class PieceBinner:
    """Bins a table that arrives in pieces of rows."""

    def __init__(self, like: BinMatrix, n_rows: int) -> None: ...
    @overload
    def add(self, rows: SparseMatrix, n_threads: int) -> None:
        """The next rows."""

    @overload
    def add(
        self,
        rows: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> None: ...
    def finish(self) -> BinMatrix:
        """The whole table."""

class DeviceTrees:
    """Makes finished trees of the nodes that a GPU has found."""

    def __init__(self, matrix: BinMatrix) -> None: ...
    def finish(
        self,
        state: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        nodes: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        sets: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        settings: GrowParams,
        rows: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        hessian: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        label: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        score: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]
        | None = None,
        n_threads: int = 1,
    ) -> Tree:
        """
        The tree; cuda/device.h describes the records. With labels, leaf values are refitted on
        the host and added to the scores of `rows` (none: all).
        """

@overload
def copy_rows(
    matrix: BinMatrix,
    features: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    first: int,
    n_rows: int,
    stride: int,
    out: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None:
    """Bins of features row by row."""

@overload
def copy_rows(
    matrix: BinMatrix,
    features: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    first: int,
    n_rows: int,
    stride: int,
    out: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def describe_features(matrix: BinMatrix) -> dict:
    """What a GPU needs to know of the features, by name."""

@overload
def set_rows(
    matrix: BinMatrix,
    features: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    stride: int,
    rows: Annotated[
        NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int,
) -> None:
    """
    The way back: rows of bins become lanes; find_missing() is to be called afterwards.
    """

@overload
def set_rows(
    matrix: BinMatrix,
    features: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    stride: int,
    rows: Annotated[
        NDArray[numpy.uint16], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int,
) -> None: ...
def score_nodes(
    tree: Tree,
    matrix: BinMatrix,
    lanes: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> tuple[
    Annotated[NDArray[numpy.uint8], dict(shape=(None,))],
    Annotated[NDArray[numpy.uint32], dict(shape=(None,))],
]:
    """The records and sets with which a GPU adds a tree to scores."""

def record_sizes() -> dict:
    """Bytes of the records that host and GPU share."""

def tree_features(
    settings: GrowParams, n_features: int
) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """The features that a tree may use."""

def sampling_weights(
    settings: GrowParams, n_features: int
) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """The weights with which features are drawn; empty: all the same."""

def feature_groups(settings: GrowParams) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
    """
    The groups of interaction constraints that each feature is in, a bit each; empty: none.
    """

class PageWriter:
    """Bins a table that arrives in pieces of rows, and writes it to a file."""

    def __init__(self, like: BinMatrix, n_rows: int, page_rows: int, file: int) -> None: ...
    @overload
    def add(self, rows: SparseMatrix, n_threads: int) -> bool:
        """
        The next rows. False: features do not fit their bundles, see misfits().
        """

    @overload
    def add(
        self,
        rows: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> bool: ...
    def add_rows_of(
        self,
        table: BinMatrix,
        rows: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_threads: int,
    ) -> None:
        """Rows of a table on pages, which increase. It is stored as `like`."""

    def misfits(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
    def has_missing(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None,))]: ...
    def finish(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """The checksum of every page."""

class BesideWriter:
    """Writes the pages of a table again, with more features."""

    def __init__(self, left: BinMatrix, right: BinMatrix, first_column: int, file: int) -> None:
        """
        `left` is on pages, `right` says how the other features are stored. Column c of the
        latter becomes first_column + c.
        """

    def write(
        self,
        values: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
        n_threads: int,
    ) -> None:
        """The other features' values in all rows."""

    def finish(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """The checksum of every page."""

    def has_missing(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None,))]: ...
    @property
    def layout(self) -> BinMatrix:
        """An empty table that stores all features as the pages do."""

    @property
    def page_rows(self) -> int: ...

class RowFile:
    """An array by row in a file; little of it is in memory at a time."""

    def __init__(self, file: int, n_bytes: int) -> None:
        """`file` may be closed then."""

    def array(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """The bytes, which may be changed."""

    def check(self) -> None:
        """Raises OSError where the disk lost a part of the array."""

def release_row_files() -> None:
    """Gives back the resident memory of all row files, not their bytes."""

def page_layout(
    like: BinMatrix,
    not_bundled: Annotated[
        NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
) -> BinMatrix:
    """An empty table that stores features as pages can."""

def open_pages(
    like: BinMatrix,
    n_rows: int,
    page_rows: int,
    checksums: Annotated[
        NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    has_missing: Annotated[
        NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    file: int,
    name: str,
) -> BinMatrix:
    """A table whose bins are in a file, which may be closed then."""

class PageKeeper:
    """Keeps pages of a table in memory as long as it lives."""

    def __init__(self, matrix: BinMatrix) -> None: ...
    def keep(self, n_bytes: int) -> None:
        """
        Keeps the first pages from their next reading on, as many as fit these bytes.
        """

def release_kept_pages() -> None:
    """
    Gives back the memory of all kept pages; they are read again when needed.
    """

def on_disk(matrix: BinMatrix) -> dict | None:
    """Figures about the pages of a table; None: its bins are in memory."""

class RowLoss:
    """A loss whose rounds can follow one another without Python in between."""

    @staticmethod
    def squared() -> RowLoss: ...
    @staticmethod
    def logistic(sigmoid: float, weight_negative: float, weight_positive: float) -> RowLoss: ...
    @staticmethod
    def softmax(n_classes: int) -> RowLoss: ...

def gradients_l2(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")] | None,
    n_threads: int,
) -> None: ...
def gradients_binary(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    sigmoid: float,
    weight_negative: float,
    weight_positive: float,
    gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def gradients_softmax(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    n_classes: int,
    gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None:
    """Class-major scores and results."""

def sigmoid(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    steepness: float,
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def softmax(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_classes: int,
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None:
    """Class-major scores to row-major probabilities."""

class Loss(enum.Enum):
    L1 = 0

    HUBER = 1

    FAIR = 2

    QUANTILE = 3

    MAPE = 4

    PSEUDO_HUBER = 5

    LOG_COSH = 6

    EXPECTILE = 7

    POISSON = 8

    GAMMA = 9

    TWEEDIE = 10

    HINGE = 11

    FOCAL = 12

    CROSS_ENTROPY = 13

    CROSS_ENTROPY_LAMBDA = 14

    POISSON_DEVIANCE = 15

    GAMMA_LIKELIHOOD = 16

    GAMMA_DEVIANCE = 17

    TWEEDIE_LIKELIHOOD = 18

    SQUARED_LOG = 19

    PROBABILITY = 20

    INTENSITY = 21

class Link(enum.Enum):
    EXP = 0

    EXPM1 = 1

    SIGNED_SQUARE = 2

    LOG1P_EXP = 3

class LossArgs:
    def __init__(self, kind: Loss, a: float = 0.0, b: float = 0.0, c: float = 0.0) -> None: ...
    @property
    def kind(self) -> Loss: ...
    @property
    def a(self) -> float: ...
    @property
    def b(self) -> float: ...
    @property
    def c(self) -> float: ...

def gradients_of(
    loss: LossArgs,
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")] | None,
    n_threads: int,
) -> None: ...
def sum_loss(
    loss: LossArgs,
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    n_threads: int,
) -> float: ...
def apply_link(
    link: Link,
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def weighted_quantile(
    values: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    alpha: float,
) -> float:
    """The quantile that leaf values are refitted with."""

class CoxOrder:
    """Rows in the order of their times."""

    def __init__(
        self,
        label: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        weight: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
    ) -> None: ...
    @property
    def event_weight(self) -> float: ...
    def gradients(
        self,
        score: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        n_threads: int,
    ) -> None: ...
    def loss(
        self,
        score: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        n_threads: int,
    ) -> float:
        """Negative logarithm of the partial likelihood."""

def gradients_aft(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    lower: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    upper: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    distribution: int,
    sigma: float,
    gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def sum_aft_loss(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    lower: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    upper: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    distribution: int,
    sigma: float,
    most: float,
    n_threads: int,
) -> float: ...
def aft_slopes(
    score: float,
    lower: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    upper: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    distribution: int,
    sigma: float,
    n_threads: int,
) -> tuple[float, float]:
    """Sums of the two derivatives where all rows have one score."""

def concordance(
    lower: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    upper: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    risk: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
) -> float:
    """Harrell's C."""

def gradients_normal(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    floor: float,
    scale: float,
    gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None:
    """Class-major: means, then logarithms of standard deviations."""

def sum_normal_loss(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    floor: float,
    n_threads: int,
) -> float: ...
def sum_normal_crps(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    floor: float,
    n_threads: int,
) -> float: ...
def gradients_quantiles(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    alphas: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")] | None,
    n_threads: int,
) -> None:
    """Class-major scores and results."""

def sort_outputs(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_outputs: int,
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None:
    """Class-major scores to rows of increasing values."""

def exp_scores(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def sum_squared_error(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    n_threads: int,
) -> float: ...
def sum_absolute_error(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    n_threads: int,
) -> float: ...
def auc(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    n_threads: int,
) -> float: ...
def average_precision(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    n_threads: int,
) -> float: ...
def aucpr(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    n_threads: int,
) -> float: ...
def sum_binary_error(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    threshold: float,
    n_threads: int,
) -> float: ...
def sum_logloss(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    sigmoid: float,
    n_threads: int,
) -> float: ...
def sum_multi_logloss(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    n_classes: int,
    n_threads: int,
) -> float: ...
def sum_multi_error(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    n_classes: int,
    top_k: int,
    n_threads: int,
) -> float: ...
def auc_mu(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    n_classes: int,
    costs: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int,
) -> float: ...

class PairDelta(enum.Enum):
    """How a pair of rows is weighted."""

    ndcg = 0

    pairwise = 1

    map = 2

class GainKind(enum.Enum):
    """2^label - 1, the label itself, or a table by label."""

    exponential = 0

    linear = 1

    table = 2

class PairNorm(enum.Enum):
    """What the gradients of a query are divided by."""

    none = 0

    gradients = 1

    pairs = 2

class RankMetric(enum.Enum):
    ndcg = 0

    map = 1

    precision = 2

class LambdaRank:
    """Gradients from pairs of rows of the same query."""

    def __init__(
        self,
        label: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        queries: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        *,
        delta: PairDelta,
        gain: GainKind,
        gains: Sequence[float],
        sigmoid: float,
        hessian_factor: float,
        hessian_floor: float,
        divide_by_difference: bool,
        norm: PairNorm,
        n_top: int,
        n_drawn: int,
        n_threads: int,
    ) -> None: ...
    def fill(
        self,
        score: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        weight: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        position: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        bias: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        ratios: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")]
        | None,
        key: int,
        gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        n_threads: int,
    ) -> None: ...

def gradients_xendcg(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    queries: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    key: int,
    gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None: ...
def ranking_metric(
    score: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    weight: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    queries: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    kind: RankMetric,
    n_top: int,
    without_relevant: float,
    gain: GainKind,
    gains: Sequence[float],
    n_threads: int,
) -> float:
    """Mean over the queries, weighted by the mean weight of their rows."""

def random_bits(key: int, counter: int) -> int:
    """64 random bits, a function of both arguments."""

def sample_rows(
    n_rows: int,
    fraction_negative: float,
    fraction_positive: float,
    label: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    key: int,
    rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> int:
    """
    Draws a bag of rows and writes them to `rows`. Returns how many there are.
    """

class GradientSampler:
    """Samples rows by their gradients; scores serve one sample."""

    def __init__(self, n_rows: int, n_outputs: int) -> None: ...
    def score(
        self,
        gradient: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hessian: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        reg: float,
        n_threads: int,
    ) -> None:
        """Scores rows by sqrt(sum over outputs of gradient^2 + reg x hessian^2)."""

    def histogram(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """
        Rows by the leading 12 bits of their score: exponent and 4 bits of mantissa.
        """

    def sample_goss(
        self,
        n_top: int,
        n_other: int,
        key: int,
        gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu")],
        n_threads: int,
    ) -> None:
        """
        Keeps the rows of largest score and draws others, whose gradients are weighted.

        Rows without scores are scored with reg = 0.
        The first n_top + n_other of `rows` become the sample, in increasing order.
        """

    def sample_mvs(
        self,
        n_expected: float,
        key: int,
        gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu")],
        n_threads: int,
    ) -> int:
        """
        Keeps rows with probabilities that grow with their scores; divides gradients by them.

        Returns how many of `rows` are the sample.
        """

def share_draws(
    n_rows: int,
    n_tops: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_other: int,
    key: int,
) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """How many rows outside the top GOSS draws from each block of rows."""

def find_mu(
    n_expected: float,
    counts: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    sums_at: Callable[[float], tuple[float, int]],
) -> float:
    """
    The mu of MVS.

    `sums_at` takes a mu; it returns the sum of the scores below it and the number of others.
    """

SAMPLE_BLOCK: int = 8192

def mean_step(
    gradient: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    hessian: Annotated[
        NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    n_threads: int,
) -> float:
    """Sum of |gradient| over sum of hessian."""

class QuantileSketch:
    """Quantiles of a stream of weighted values."""

    def __init__(self, eps: float) -> None: ...
    def update(
        self,
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
    ) -> None:
        """Adds values; NaN counts as missing, weight 0 does not count."""

    def merge(self, other: QuantileSketch) -> None:
        """Adds all that the other sketch has seen."""

    def query(
        self,
        shares: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The values at these shares of the total weight."""

    def rank(
        self,
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> tuple[
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
        Annotated[NDArray[numpy.float64], dict(shape=(None,))],
    ]:
        """
        Lower bounds of the weight below values, and upper bounds of the weight at and below them.
        """

    def propose(self, eps: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Increasing cuts; from each to the next lies at most eps of the weight, or one heavy value.
        """

    def state(self) -> tuple:
        """
        (eps, missing_weight, buffer, level sizes, entries).

        The buffer is pairs (value, weight), an entry is (value, rank_low, rank_high, weight).
        """

    @staticmethod
    def from_state(
        eps: float,
        missing_weight: float,
        buffer: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        level_sizes: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        entries: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> QuantileSketch:
        """The sketch with this state; ValueError if no sketch can have it."""

    @property
    def eps(self) -> float: ...
    @property
    def total_weight(self) -> float: ...
    @property
    def missing_weight(self) -> float: ...
    @property
    def n_entries(self) -> int: ...
    @property
    def error_bound(self) -> float: ...

class FeatureCosts:
    """Costs of splits and features, and what has been paid."""

    def __init__(
        self, n_rows: int, split: float, coupled: Sequence[float], lazy: Sequence[float]
    ) -> None:
        """`coupled` and `lazy` have a cost for every feature, or are empty."""

    @property
    def remembers(self) -> bool:
        """Whether one tree's splits change the costs of the next one."""

    def clear(self) -> None:
        """Nothing has been paid."""

    def use(self, feature: int) -> None:
        """A tree that is not known here uses the feature."""

    def add_tree(self, matrix: BinMatrix, tree: Tree, n_threads: int) -> None:
        """The rows have passed the splits of this tree."""

class FeatureLimits:
    """What features may do in a tree, by the trainer's features."""

    def __init__(
        self,
        n_features: int,
        groups: Sequence[Sequence[int]],
        gain_factors: Sequence[float],
        sampling_weights: Sequence[float],
        forced: Sequence[Sequence[int]],
        costs: FeatureCosts | None,
    ) -> None:
        """
        Lists may be empty. A forced split is (feature, threshold bin, left, right); left and
        right are places in the list, or -1.
        """

class SortedTable:
    """Columns with their rows in the order of their values."""

    @property
    def n_sorted(self) -> int:
        """Features that are sorted; the bins of the others hold one value each."""

    @property
    def n_bytes(self) -> int: ...

def sort_columns(matrix: BinMatrix, raw: object, n_threads: int) -> SortedTable:
    """Sorts the columns of a table that has been binned."""

class Proposals:
    """Candidates for the splits of each tree, and the table binned by them."""

    def __init__(self, binned: BinMatrix, sorted: SortedTable, eps: float) -> None: ...
    @property
    def matrix(self) -> BinMatrix:
        """The table to make a Grower of."""

class GrowParams:
    """Typed settings of one tree."""

    def __init__(self) -> None: ...
    @property
    def num_leaves(self) -> int: ...
    @num_leaves.setter
    def num_leaves(self, arg: int, /) -> None: ...
    @property
    def max_depth(self) -> int: ...
    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...
    @property
    def depthwise(self) -> bool: ...
    @depthwise.setter
    def depthwise(self, arg: bool, /) -> None: ...
    @property
    def symmetric(self) -> bool: ...
    @symmetric.setter
    def symmetric(self, arg: bool, /) -> None: ...
    @property
    def prune_below(self) -> float: ...
    @prune_below.setter
    def prune_below(self, arg: float, /) -> None: ...
    @property
    def extra_trees(self) -> bool: ...
    @extra_trees.setter
    def extra_trees(self, arg: bool, /) -> None: ...
    @property
    def extra_key(self) -> int: ...
    @extra_key.setter
    def extra_key(self, arg: int, /) -> None: ...
    @property
    def column_key(self) -> int: ...
    @column_key.setter
    def column_key(self, arg: int, /) -> None: ...
    @property
    def max_histogram_bytes(self) -> int: ...
    @max_histogram_bytes.setter
    def max_histogram_bytes(self, arg: int, /) -> None: ...
    @property
    def copies_samples(self) -> bool: ...
    @copies_samples.setter
    def copies_samples(self, arg: bool, /) -> None: ...
    @property
    def limits(self) -> FeatureLimits: ...
    @limits.setter
    def limits(self, arg: FeatureLimits | None, /) -> None: ...
    @property
    def lambda_l1(self) -> float: ...
    @lambda_l1.setter
    def lambda_l1(self, arg: float, /) -> None: ...
    @property
    def lambda_l2(self) -> float: ...
    @lambda_l2.setter
    def lambda_l2(self, arg: float, /) -> None: ...
    @property
    def min_gain_to_split(self) -> float: ...
    @min_gain_to_split.setter
    def min_gain_to_split(self, arg: float, /) -> None: ...
    @property
    def min_sum_hessian(self) -> float: ...
    @min_sum_hessian.setter
    def min_sum_hessian(self, arg: float, /) -> None: ...
    @property
    def min_data(self) -> float: ...
    @min_data.setter
    def min_data(self, arg: float, /) -> None: ...
    @property
    def max_delta_step(self) -> float: ...
    @max_delta_step.setter
    def max_delta_step(self, arg: float, /) -> None: ...
    @property
    def path_smooth(self) -> float: ...
    @path_smooth.setter
    def path_smooth(self, arg: float, /) -> None: ...
    @property
    def cat_l2(self) -> float: ...
    @cat_l2.setter
    def cat_l2(self, arg: float, /) -> None: ...
    @property
    def cat_smooth(self) -> float: ...
    @cat_smooth.setter
    def cat_smooth(self, arg: float, /) -> None: ...
    @property
    def min_data_per_group(self) -> float: ...
    @min_data_per_group.setter
    def min_data_per_group(self, arg: float, /) -> None: ...
    @property
    def max_cat_threshold(self) -> int: ...
    @max_cat_threshold.setter
    def max_cat_threshold(self, arg: int, /) -> None: ...
    @property
    def max_cat_to_onehot(self) -> int: ...
    @max_cat_to_onehot.setter
    def max_cat_to_onehot(self, arg: int, /) -> None: ...
    @property
    def l1_in_gain(self) -> bool: ...
    @l1_in_gain.setter
    def l1_in_gain(self, arg: bool, /) -> None: ...
    @property
    def fraction_by_tree(self) -> float: ...
    @fraction_by_tree.setter
    def fraction_by_tree(self, arg: float, /) -> None: ...
    @property
    def fraction_by_level(self) -> float: ...
    @fraction_by_level.setter
    def fraction_by_level(self, arg: float, /) -> None: ...
    @property
    def fraction_by_node(self) -> float: ...
    @fraction_by_node.setter
    def fraction_by_node(self, arg: float, /) -> None: ...
    @property
    def sorted(self) -> SortedTable: ...
    @sorted.setter
    def sorted(self, arg: SortedTable | None, /) -> None: ...
    @property
    def proposals(self) -> Proposals: ...
    @proposals.setter
    def proposals(self, arg: Proposals | None, /) -> None: ...
    @property
    def local_eps(self) -> float: ...
    @local_eps.setter
    def local_eps(self, arg: float, /) -> None: ...
    @property
    def global_eps(self) -> float: ...
    @global_eps.setter
    def global_eps(self, arg: float, /) -> None: ...
    @property
    def learning_rate(self) -> float: ...
    @learning_rate.setter
    def learning_rate(self, arg: float, /) -> None: ...
    @property
    def value_unit(self) -> float: ...
    @value_unit.setter
    def value_unit(self, arg: float, /) -> None: ...
    @property
    def damp_from(self) -> float: ...
    @damp_from.setter
    def damp_from(self, arg: float, /) -> None: ...
    @property
    def refit(self) -> bool: ...
    @refit.setter
    def refit(self, arg: bool, /) -> None: ...
    @property
    def refit_alpha(self) -> float: ...
    @refit_alpha.setter
    def refit_alpha(self, arg: float, /) -> None: ...
    @property
    def refit_delta(self) -> float: ...
    @refit_delta.setter
    def refit_delta(self, arg: float, /) -> None: ...
    @property
    def linear_lambda(self) -> float: ...
    @linear_lambda.setter
    def linear_lambda(self, arg: float, /) -> None: ...
    @property
    def linear_extrapolation(self) -> float: ...
    @linear_extrapolation.setter
    def linear_extrapolation(self, arg: float, /) -> None: ...
    @property
    def linear_check(self) -> bool: ...
    @linear_check.setter
    def linear_check(self, arg: bool, /) -> None: ...
    @property
    def linear_noise(self) -> float: ...
    @linear_noise.setter
    def linear_noise(self, arg: float, /) -> None: ...
    @property
    def monotone_directions(self) -> list[int]: ...
    @monotone_directions.setter
    def monotone_directions(self, arg: Sequence[int], /) -> None: ...
    @property
    def monotone_penalty(self) -> float: ...
    @monotone_penalty.setter
    def monotone_penalty(self, arg: float, /) -> None: ...
    @property
    def monotone_method(self) -> int: ...
    @monotone_method.setter
    def monotone_method(self, arg: int, /) -> None: ...

class Tree:
    """A grown tree; arrays are copies."""

    @property
    def n_leaves(self) -> int: ...
    @property
    def n_values(self) -> int: ...
    @property
    def largest_value(self) -> float: ...
    @property
    def linear(self) -> object:
        """Arrays by name; None: none."""

    @property
    def column(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
    @property
    def threshold(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    @property
    def threshold_bin(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
    @property
    def missing_kind(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None,))]: ...
    @property
    def default_left(self) -> Annotated[NDArray[numpy.int8], dict(shape=(None,))]: ...
    @property
    def left(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
    @property
    def right(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
    @property
    def gain(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    @property
    def node_value(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    @property
    def node_weight(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    @property
    def node_count(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    @property
    def category_begin(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...
    @property
    def category(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...
    @property
    def leaf_value(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    @property
    def leaf_weight(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    @property
    def leaf_count(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

class Grower:
    """
    Grows trees on one binned table: one per output, or one whose leaves have a value for each.
    """

    def __init__(
        self,
        matrix: BinMatrix,
        vector_leaves: bool = False,
        exchange: object | None = None,
        page_rows: int = 0,
    ) -> None:
        """
        `exchange`: the matrix is a shard of the rows. Its methods add(array), keep_largest(array),
        gather(array) and exchange(parts) work over all shards; the first two change the array.
        `size` is the number of shards, `rank` says which one this is; `has_all_rows`: each of them
        has all rows, and shares the search only; `top_k`: how many features a shard proposes for
        a leaf where only elected ones are exchanged, or 0.
        `page_rows`: a matrix in memory is read in pages of so many rows, and takes no copy by
        column.
        """

    def grow(
        self,
        gradient: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        hessian: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        rows: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        params: Sequence[GrowParams],
        label: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        score: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        n_threads: int,
        raw: object | None = None,
        adds_to_others: bool = False,
    ) -> list[Tree]:
        """
        Grows the trees of a round (arrays are output-major) and adds their values to the scores of
        their rows; with labels, leaf values are refitted. `adds_to_others`: trees are added
        to the scores of all rows outside `rows`, too.
        """

    def grow_rounds(
        self,
        n_rounds: int,
        loss: RowLoss,
        label: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        weight: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None,
        gradient: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")],
        hessian: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu")]
        | None,
        params: Sequence[GrowParams],
        score: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        largest: float,
        n_threads: int,
    ) -> list[Tree]:
        """
        Grows the trees of several rounds on all rows and returns all of them.

        Ends after a round with a tree of one leaf, or a leaf value that is not within `largest`.
        `gradient` and `hessian` are memory that is overwritten.
        """

    def round_in_place(
        self, memory: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu")]
    ) -> None:
        """
        From now on, gradients are rounded where they are: `grow` changes them. Where a row takes
        four numbers, they go to this memory.
        """

    def stats(self) -> dict:
        """Seconds per stage and amounts of work so far."""

def join_trees(trees: list) -> tuple | None:
    """
    The first leaf of each tree and the number of leaves, the arrays of all trees by name, and
    whether any tree is linear. None: one of them is not native.
    """

def make_tree(matrix: BinMatrix, arrays: dict, n_values: int, by_value: bool = False) -> Tree:
    """
    A tree from its arrays by name. IndexError(node): the table's bins cannot express its
    test. With `by_value` nodes compare values instead.
    """

def add_tree_to_scores(
    matrix: BinMatrix,
    tree: Tree,
    rows: Annotated[
        NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None,
    score: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
    values: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ]
    | None = None,
    raw: object | None = None,
) -> None:
    """
    Adds the tree's values, or `values` (one or more per leaf), to the scores of rows.
    """

class Forest:
    """Trees ready for prediction; checked when made."""

    def __init__(
        self,
        n_outputs: int,
        n_values: int,
        n_columns: int,
        node_begin: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        leaf_begin: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        column: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        threshold: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        missing_kind: Annotated[
            NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        default_left: Annotated[
            NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        left: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        right: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        leaf_value: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        category_begin: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
        category: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None = None,
    ) -> None: ...
    @property
    def n_trees(self) -> int: ...
    def set_linear(
        self,
        linear_begin: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        linear_constant: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        linear_low: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        linear_high: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        linear_column: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        linear_coefficient: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        linear_centre: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Gives the leaves linear models; checked."""

    @overload
    def predict(
        self,
        matrix: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
        first_tree: int,
        last_tree: int,
        out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        n_threads: int,
    ) -> None:
        """Adds raw scores to `out` (rows x outputs, flattened)."""

    @overload
    def predict(
        self,
        matrix: SparseMatrix,
        first_tree: int,
        last_tree: int,
        out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        n_threads: int,
    ) -> None:
        """
        The same from compressed rows; absent columns are missing, additional ones are ignored.
        """

    def predict_until_clear(
        self,
        matrix: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
        first_tree: int,
        last_tree: int,
        every: int,
        margin: float,
        out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        n_threads: int,
    ) -> None:
        """
        The same, but a row stops once its scores are clear; checked every `every` trees.
        """

    @overload
    def predict_leaves(
        self,
        matrix: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
        first_tree: int,
        last_tree: int,
        out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")],
        n_threads: int,
    ) -> None: ...
    @overload
    def predict_leaves(
        self,
        matrix: SparseMatrix,
        first_tree: int,
        last_tree: int,
        out: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu")],
        n_threads: int,
    ) -> None: ...

def used_columns(forest: Forest) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]:
    """Columns that some node tests, increasing."""

@overload
def add_shap_values(
    forest: Forest,
    matrix: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
    node_count: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    leaf_count: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    first_tree: int,
    last_tree: int,
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    compact: bool,
    n_threads: int,
) -> None:
    """
    Adds Shapley values to `out` (rows x outputs x (columns + 1), flattened; compact: used
    columns).
    """

@overload
def add_shap_values(
    forest: Forest,
    matrix: SparseMatrix,
    node_count: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    leaf_count: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    first_tree: int,
    last_tree: int,
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    compact: bool,
    n_threads: int,
) -> None: ...
def add_shap_interactions(
    forest: Forest,
    matrix: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
    node_count: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    leaf_count: Annotated[
        NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    first_tree: int,
    last_tree: int,
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None:
    """
    The same by pairs of columns: rows x outputs x (columns + 1) x (columns + 1).
    """

def add_shap_values_of(
    forest: Forest,
    matrix: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
    background: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
    first_tree: int,
    last_tree: int,
    out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    n_threads: int,
) -> None:
    """
    Adds Shapley values against background rows to `out` (rows x outputs x (columns + 1)).
    """

class RowLink(enum.Enum):
    NONE = 0

    SIGMOID = 1

    SOFTMAX = 2

    EXP = 3

class RowPredictor:
    """Predicts one row at a time."""

    def __init__(
        self,
        forest: Forest,
        first_tree: int,
        last_tree: int,
        start: Sequence[float],
        n_averaged: int,
        link: RowLink,
        steepness: float,
        names: tuple,
    ) -> None: ...
    def __call__(self, row: object | None) -> object:
        """
        A float, or an array of several outputs; NotImplemented if the row is not as expected.
        """
