"""What an objective is, told by the objective itself: `Traits`.

Parameters, estimators, the command line, reports and exporters ask these, never for a name. They
are declared by the objective's class (`Objective.traits`) and collected here by its registry, so
that parameters, which cannot import objectives, know them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

# Links whose predictions are probabilities.
_PROBABILITY_LINKS: Final = ("sigmoid", "softmax", "calibrated")


class Kind(Enum):
    """What predictions are for."""

    REGRESSION = "regression"
    BINARY = "binary"
    MULTICLASS = "multiclass"
    RANKING = "ranking"
    SURVIVAL = "survival"
    QUANTILES = "quantiles"  # several of one label
    DISTRIBUTION = "distribution"  # mean and standard deviation of one label
    TARGETS = "targets"  # an objective for each of several targets
    CUSTOM = "custom"  # written by the user


@dataclass(frozen=True)
class Traits:
    """What other modules need to know about an objective.

    Attributes:
        kind: What predictions are for.
        link: How raw scores become predictions: identity, exp, bounded_exp (exp of at least -708),
            expm1, sigmoid, softmax, softplus, argmax, sign, signed_square, sorted, normal,
            calibrated (corrected by held-out rows), parts (one link per target) or named (a
            `CustomObjective`'s own).
        aliases: Other names in parameters.
        is_choice: Whether the parameter `objective` may be this name; others are only in model
            files.
        probabilities: The link from scores to probabilities where `link` is another one.
        takes_shares: Whether labels are probabilities, so that labels of 0 and 1 may be classes.
        predicts_times: Whether a higher prediction means a later event, and a lower risk.
        can_be_clear: Whether the decision about a row can be clear before all trees have been
            added to its score (`pred_early_stop`).
        alpha: The parameter that `alpha` sets; empty: `alpha` has no effect.
        takes_quantiles: Whether `quantile_alpha` says which quantiles are predicted.
        takes_square_roots: Whether `reg_sqrt` is allowed.
        fits_linear_leaves: Whether gradients grow with the error, which linear leaves need.
        class_weights_instead: The hint where `is_unbalance` and `scale_pos_weight` are refused;
            empty: they are not.
        metric_of_alias: The metric that an alias asks for, unless another is given.
        lightgbm: The line of LightGBM's model files, with {sigmoid} and {n_outputs} to fill in;
            empty: LightGBM has no objective with the same predictions.
        xgboost: XGBoost's objective with the same predictions; empty: there is none.
        shap: What the shap package calls the loss; empty: it does not know it.
    """

    kind: Kind
    link: str = "identity"
    aliases: tuple[str, ...] = ()
    is_choice: bool = True
    probabilities: str = ""
    takes_shares: bool = False
    predicts_times: bool = False
    can_be_clear: bool = False
    alpha: str = ""
    takes_quantiles: bool = False
    takes_square_roots: bool = False
    fits_linear_leaves: bool = True
    class_weights_instead: str = ""
    metric_of_alias: Mapping[str, str] = field(default_factory=dict, hash=False)
    lightgbm: str = ""
    xgboost: str = ""
    shap: str = ""

    @property
    def has_link(self) -> bool:
        """Whether predictions are something else than raw scores."""
        return self.link != "identity"

    @property
    def gives_probabilities(self) -> bool:
        """Whether predictions are probabilities."""
        return self.link in _PROBABILITY_LINKS

    @property
    def is_for_classes(self) -> bool:
        """Whether a classifier may be trained with the objective."""
        return self.kind in (Kind.BINARY, Kind.MULTICLASS) or self.takes_shares


# By name. The choices of the parameter `objective` are these very dicts: objectives that are added
# later are choices, too.
TRAITS: Final[dict[str, Traits]] = {}
OBJECTIVE_CHOICES: Final[dict[str, tuple[str, ...]]] = {}
_CUSTOM: Final = Traits(Kind.CUSTOM)


def add_traits(name: str, traits: Traits) -> None:
    """Make an objective known to the parameters."""
    TRAITS[name] = traits
    if traits.is_choice:
        OBJECTIVE_CHOICES[name] = traits.aliases


def remove_traits(name: str) -> None:
    """Make an objective unknown again."""
    del TRAITS[name]
    OBJECTIVE_CHOICES.pop(name, None)


def traits_of(objective: object) -> Traits:
    """Return the traits of a resolved parameter `objective`: a name, or a function.

    Example:
        >>> traits_of("poisson").link, traits_of(lambda score, data: (score, score)).kind.value
        ('exp', 'custom')
    """
    return TRAITS[objective] if isinstance(objective, str) else _CUSTOM


def names_of(*kinds: Kind) -> list[str]:
    """Return the objectives of these kinds that parameters may name.

    Example:
        >>> names_of(Kind.SURVIVAL)
        ['cox', 'aft']
    """
    return [name for name in OBJECTIVE_CHOICES if TRAITS[name].kind in kinds]
