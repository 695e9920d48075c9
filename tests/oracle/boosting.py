"""Boosting: gradients, a tree per output, repeat. Scores have the shape (rows, outputs)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .bins import ColumnBins, bin_table, find_bins
from .split import SplitParams
from .tree import Node, grow_tree, leaves, predict_tree

EPSILON = 1e-15


@dataclass(frozen=True)
class Objective:
    """A loss: where to start, its two derivatives, and how scores become predictions."""

    start: Callable[[np.ndarray, np.ndarray, int], list[float]]  # label, weight, outputs
    gradients: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]  # score, label
    link: Callable[[np.ndarray], np.ndarray]


def sigmoid(score: np.ndarray) -> np.ndarray:
    """Logistic function."""
    return 1 / (1 + np.exp(-score))


def softmax(score: np.ndarray) -> np.ndarray:
    """Probabilities per row."""
    exponential = np.exp(score - score.max(axis=1, keepdims=True))
    return exponential / exponential.sum(axis=1, keepdims=True)


def _l2_gradients(score: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return score - label[:, None], np.ones_like(score)


def _binary_start(label: np.ndarray, weight: np.ndarray, n_outputs: int) -> list[float]:
    mean = np.clip(np.average(label, weights=weight), EPSILON, 1 - EPSILON)
    return [float(np.log(mean / (1 - mean)))]


def _binary_gradients(score: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    probability = sigmoid(score)
    return probability - label[:, None], probability * (1 - probability)


def _multiclass_start(label: np.ndarray, weight: np.ndarray, n_outputs: int) -> list[float]:
    shares = [np.average(label == k, weights=weight) for k in range(n_outputs)]
    return [float(np.log(max(share, EPSILON))) for share in shares]


def _multiclass_gradients(score: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n_classes = score.shape[1]
    probability = softmax(score)
    is_class = label[:, None] == np.arange(n_classes)
    factor = n_classes / (n_classes - 1)  # LightGBM's
    return probability - is_class, factor * probability * (1 - probability)


OBJECTIVES = {
    "l2": Objective(
        start=lambda label, weight, n_outputs: [float(np.average(label, weights=weight))],
        gradients=_l2_gradients,
        link=lambda score: score[:, 0],
    ),
    "binary": Objective(
        start=_binary_start,
        gradients=_binary_gradients,
        link=lambda score: sigmoid(score[:, 0]),
    ),
    "multiclass": Objective(
        start=_multiclass_start,
        gradients=_multiclass_gradients,
        link=softmax,
    ),
}


@dataclass
class Model:
    """Start values and trees: ``trees[round][output]``."""

    objective: Objective
    columns: list[ColumnBins]
    start: list[float]
    learning_rate: float
    trees: list[list[Node]]

    def raw_scores(self, table: np.ndarray) -> np.ndarray:
        """Sums over the trees, of shape (rows, outputs)."""
        scores = np.tile(np.array(self.start), (len(table), 1))
        for round_trees in self.trees:
            for output, tree in enumerate(round_trees):
                values = predict_tree(tree, table, self.columns)
                scores[:, output] += self.learning_rate * values
        return scores

    def predict(self, table: np.ndarray) -> np.ndarray:
        """Means (l2), probabilities (binary), or probabilities per class (multiclass)."""
        return self.objective.link(self.raw_scores(table))


def fit(
    table: np.ndarray,
    label: np.ndarray,
    objective: str = "l2",
    n_rounds: int = 10,
    learning_rate: float = 0.1,
    n_classes: int = 1,
    weight: np.ndarray | None = None,
    boost_from_average: bool = True,
    params: SplitParams | None = None,
    columns: list[ColumnBins] | None = None,
    **growth: int | str,
) -> Model:
    """Train. ``growth`` goes to ``grow_tree``: num_leaves, max_depth, growth.

    A tree that cannot split adds nothing; a round of such trees ends the training, as in LightGBM.
    """
    loss = OBJECTIVES[objective]
    weight = np.ones(len(label)) if weight is None else weight
    columns = columns or [find_bins(values) for values in table.T]
    binned = bin_table(table, columns)
    start = loss.start(label, weight, n_classes) if boost_from_average else [0.0] * n_classes
    model = Model(loss, columns, start, learning_rate, [])
    scores = np.tile(np.array(start), (len(table), 1))
    for _ in range(n_rounds):
        gradients, hessians = loss.gradients(scores, label)
        round_trees = []
        for output in range(n_classes):
            tree = grow_tree(
                binned,
                columns,
                gradients[:, output] * weight,
                hessians[:, output] * weight,
                params or SplitParams(),
                **growth,
            )
            if tree.is_leaf:
                tree.value = 0.0
            for leaf in leaves(tree):
                scores[leaf.rows, output] += learning_rate * leaf.value
            round_trees.append(tree)
        if all(tree.is_leaf for tree in round_trees):
            break
        model.trees.append(round_trees)
    return model
