"""Whether `quantile_alpha` and `alpha` are quantiles: `check_quantiles`."""

from __future__ import annotations

from itertools import pairwise

from gossamer.errors import ParameterError
from gossamer.params.resolved import Params
from gossamer.params.table import TABLE
from gossamer.params.traits import traits_of


def check_quantiles(params: Params) -> None:
    """Raise unless the quantiles lie between 0 and 1 and increase.

    Raises:
        ParameterError: If they do not, or if there is no use for them.
    """
    quantiles = params.quantile_alpha
    is_quantile = traits_of(params.objective).takes_quantiles
    if quantiles and not is_quantile:
        raise ParameterError.because(
            "quantile_alpha is for objective=quantile",
            got=params.objective,
            expected="objective=quantile",
            hint="Leave quantile_alpha out, or change the objective.",
        )
    name = "quantile_alpha" if quantiles else "alpha"
    for alpha in quantiles or ((params.alpha,) if is_quantile else ()):
        if not 0 < alpha < 1:
            raise ParameterError.because(
                f"{name} is out of range", got=alpha, expected="between 0 and 1, exclusive"
            )
    for before, after in pairwise(quantiles):
        if before >= after:
            what = "names a quantile twice" if before == after else "is out of order"
            raise ParameterError.because(
                f"quantile_alpha {what}",
                got=list(quantiles),
                expected="increasing quantiles",
                hint="Predictions come in this order: sort the quantiles, each once.",
            )
    # All parameters written out include alpha's default.
    is_alpha_given = "alpha" in params.given and params.alpha != TABLE["alpha"].default
    if quantiles and is_alpha_given and quantiles != (params.alpha,):
        raise ParameterError.because(
            "alpha and quantile_alpha contradict each other",
            got=params.alpha,
            expected=f"alpha left out, or quantile_alpha={params.alpha!r}",
            hint="Give one of them only.",
        )
