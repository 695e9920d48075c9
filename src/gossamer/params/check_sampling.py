"""Whether the parameters of row sampling fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.errors import ParameterError
from gossamer.params.table import TABLE

if TYPE_CHECKING:
    from gossamer.params.resolved import Params

# Rates are decimals: 0.58 + 0.42 may come out a little above 1.
_ROUNDING = 1e-12


def check_sampling(params: Params) -> None:
    """Raise where sampling by gradients contradicts bagging, or rates do not fit.

    Example:
        >>> from gossamer.params import resolve
        >>> params = {"data_sample_strategy": "goss", "top_rate": 0.7, "other_rate": 0.4}
        >>> try:
        ...     check_sampling(resolve(params, context="dataset"))
        ... except ParameterError as error:
        ...     print(str(error)[:47])
        top_rate + other_rate is out of range: got 1.1,
    """
    if params.sampling_method == "gradient_based":
        _check_gradient_based(params)
    if params.data_sample_strategy == "goss":
        _check_no_bagging(params)
        if params.top_rate == "auto":
            _check_no_other_rate(params)
        else:
            _check_rates(params)
    elif params.data_sample_strategy == "mvs":
        _check_no_bagging(params)
        if params.bagging_fraction == 1:
            _check_rates(params)


def _check_gradient_based(params: Params) -> None:
    """XGBoost's name for MVS: `bagging_fraction` alone is the share, 1 is all rows."""
    expected = "mvs" if params.bagging_fraction < 1 else "bagging"
    if params.data_sample_strategy not in (expected, "mvs"):
        raise ParameterError.because(
            "sampling_method=gradient_based means data_sample_strategy=mvs",
            got=params.data_sample_strategy,
            expected="mvs",
            hint="Give one of them only.",
        )
    for name in ("top_rate", "other_rate"):
        if params[name] != TABLE[name].default:
            raise ParameterError.because(
                f"{name} does not fit sampling_method=gradient_based",
                got=params[name],
                expected=f"no {name}",
                hint="subsample (bagging_fraction) is the share of rows to keep.",
            )


def _check_no_bagging(params: Params) -> None:
    """GOSS and MVS draw rows themselves, in every round."""
    strategy = params.data_sample_strategy
    for name in ("pos_bagging_fraction", "neg_bagging_fraction"):
        if params[name] != 1:
            raise _contradiction(strategy, name, params[name], "1", f"Leave {name} out.")
    if strategy == "mvs" or params.top_rate == "auto":
        if params.bagging_freq > 1:
            hint = f"Leave bagging_freq out: {strategy} draws rows every round."
            raise _contradiction(strategy, "bagging_freq", params.bagging_freq, "0 or 1", hint)
    elif params.bagging_fraction < 1 and params.bagging_freq > 0 and params.top_rate != "auto":
        hint = "Leave bagging_fraction out, and set top_rate and other_rate."
        raise _contradiction(strategy, "bagging_fraction", params.bagging_fraction, "1", hint)


def _contradiction(
    strategy: str, name: str, value: object, expected: str, hint: str
) -> ParameterError:
    what = f"data_sample_strategy={strategy} cannot be combined with bagging: {name}"
    return ParameterError.because(what, got=value, expected=expected, hint=hint)


def _check_no_other_rate(params: Params) -> None:
    if "other_rate" in params.given:
        raise ParameterError.because(
            "top_rate=auto chooses both rates, so other_rate has no effect",
            got=params.other_rate,
            expected="no other_rate",
            hint="Leave other_rate out, or give top_rate as a number.",
        )


def _check_rates(params: Params) -> None:
    if isinstance(params.top_rate, str):
        raise ParameterError.because(
            "top_rate does not fit data_sample_strategy=mvs",
            got=params.top_rate,
            expected="a number",
            hint="Set bagging_fraction, the share of rows to keep.",
        )
    total = params.top_rate + params.other_rate
    if not 0 < total <= 1 + _ROUNDING:
        raise ParameterError.because(
            "top_rate + other_rate is out of range",
            got=total,
            expected="a share of the rows, > 0 and <= 1",
            hint="Lower one of them; 0.2 and 0.1 are the defaults.",
        )
