"""What `quality` stands for: settings that were chosen on data sets, see docs/ensembles.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gossamer.params import CANONICAL

QUALITIES: Final = ("fast", "good", "best")


@dataclass(frozen=True)
class Preset:
    """Settings of a quality.

    Attributes:
        params: Parameters of all members.
        members: Parameters of single members, in turn; none: all are the same.
        n_folds: Number of folds; 0: a single model, whose number of rounds held-out rows find.
        n_rounds: Most rounds.
    """

    params: Mapping[str, Any]
    members: tuple[Mapping[str, Any], ...]
    n_folds: int
    n_rounds: int


_SAMPLED: Final = {"feature_fraction": 0.6, "bagging_fraction": 0.8, "bagging_freq": 1}
_GOOD: Final = Preset({**_SAMPLED, "path_smooth": 10.0, "early_stopping_round": 25}, (), 0, 200)
# Extra trees need two to three times the rounds of others: they take longer steps.
_EXTRA: Final = {"extra_trees": True, "learning_rate": 0.08}
# Rounds of several trees take longer, too.
_SEVERAL_OUTPUTS: Final = {"learning_rate": 0.08, "early_stopping_round": 25}
_BEST: Final = Preset(
    {**_SAMPLED, "feature_fraction": 0.8, "learning_rate": 0.04},
    ({}, {"num_leaves": 15}, _EXTRA, {"num_leaves": 63, "lambda_l2": 3.0}),
    8,
    3000,
)


def choose_preset(
    quality: str, given: Mapping[str, Any], *, has_categories: bool, n_outputs: int = 1
) -> Preset:
    """Return the settings of "good" or "best", without parameters that the user gave.

    Args:
        quality: The name.
        given: The user's parameters, by any name.
        has_categories: Whether some columns are categorical: no extra trees then, whose random
            thresholds ruin columns of many levels.
        n_outputs: Trees of a round; for several "best" has half the rounds.

    Example:
        >>> chosen = choose_preset("good", {"colsample_bytree": 0.9}, has_categories=False)
        >>> sorted(chosen.params)
        ['bagging_fraction', 'bagging_freq', 'early_stopping_round', 'path_smooth']
    """
    preset = _BEST if quality == "best" else _GOOD
    own = {CANONICAL.get(name, name) for name in given}
    if own & {"bagging_fraction", "bagging_freq", "data_sample_strategy", "boosting"}:
        own |= {"bagging_fraction", "bagging_freq"}
    if "max_depth" in own:  # which limits the leaves
        own.add("num_leaves")

    def without(params: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in params.items() if name not in own}

    params = dict(preset.params)
    if quality == "best" and n_outputs > 1:
        params |= _SEVERAL_OUTPUTS
    members = [each for each in preset.members if not (has_categories and each is _EXTRA)]
    return Preset(without(params), tuple(map(without, members)), preset.n_folds, preset.n_rounds)
