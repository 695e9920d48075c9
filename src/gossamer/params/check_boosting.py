"""Whether the mode of boosting fits the other parameters."""

from __future__ import annotations

from gossamer.errors import ParameterError
from gossamer.params.resolved import Params
from gossamer.params.traits import Kind, traits_of


def check_boosting(params: Params) -> None:
    """Raise where a random forest could not differ from a single tree, or has no loss of its own.

    Example:
        >>> from gossamer.params import resolve
        >>> try:
        ...     resolve({"boosting": "rf"})
        ... except ParameterError as error:
        ...     print(str(error)[:35])
        boosting=rf needs trees that differ
    """
    if params.boosting != "rf":
        return
    if traits_of(params.objective).kind is Kind.CUSTOM:
        raise no_own_objective()
    fractions = (
        params.bagging_fraction,
        params.pos_bagging_fraction,
        params.neg_bagging_fraction,
    )
    samples_rows = params.data_sample_strategy != "bagging" or (
        params.bagging_freq > 0 and min(fractions) < 1
    )
    if not samples_rows and params.feature_fraction == 1:
        raise ParameterError.because(
            "boosting=rf needs trees that differ, but neither rows nor features are sampled",
            expected="bagging_fraction < 1 with bagging_freq > 0, or feature_fraction < 1",
            hint="Set bagging_fraction=0.632, for instance: the share of rows that a draw "
            "with replacement reaches.",
        )


def no_own_objective() -> ParameterError:
    """Make the error of a random forest with a function as objective."""
    return ParameterError.because(
        "boosting=rf cannot be used with an objective of one's own",
        expected="an objective by name",
        hint="Use boosting=gbdt or dart.",
    )
