"""Parameters that are given and have no effect: `warn_of_unused`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from gossamer.logger import warn
from gossamer.params.param import Param
from gossamer.params.resolve import coerce_given, group_spellings, resolve
from gossamer.params.resolved import Params
from gossamer.params.table import TABLE
from gossamer.params.traits import Kind, traits_of

_is_silent: ContextVar[bool] = ContextVar("unused_allowed", default=False)

_DART: Final = "needs boosting=dart"
_GOSS: Final = "needs data_sample_strategy=goss"
# What a parameter needs to have an effect, in words, and whether that is so.
_NEEDS: Final[Mapping[str, tuple[str, Callable[[Params], bool]]]] = {
    **dict.fromkeys(
        ("drop_rate", "max_drop", "skip_drop", "uniform_drop", "xgboost_dart_mode"),
        (_DART, lambda params: params.boosting == "dart"),
    ),
    **dict.fromkeys(
        ("top_rate", "other_rate"), (_GOSS, lambda params: params.data_sample_strategy != "bagging")
    ),
    **dict.fromkeys(
        ("scale_pos_weight", "is_unbalance"),
        ("needs two classes (objective=binary)", lambda params: _weights_classes(params)),
    ),
    "linear_lambda": ("needs linear_tree=true", lambda params: params.linear_tree),
}


@contextmanager
def unused_allowed() -> Iterator[None]:
    """Do not warn in here: for LightGBM's and XGBoost's names, which have warnings of their own.

    Example:
        >>> with unused_allowed():
        ...     warn_of_unused({"drop_rate": 0.5})
    """
    token = _is_silent.set(True)
    try:
        yield
    finally:
        _is_silent.reset(token)


def warn_of_unused(params: Mapping[str, Any] | None) -> None:
    """Warn of parameters of a training that have no effect, unless `verbosity` is below 0.

    Args:
        params: What the user gave.

    Raises:
        GossamerError: If `resolve` does.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as caught:
        ...     warnings.simplefilter("always")
        ...     warn_of_unused({"drop_rate": 0.5})
        >>> print(caught[0].message)
        drop_rate=0.5 has no effect: it needs boosting=dart.
    """
    resolved = resolve(params)
    if not may_warn(resolved):
        return
    for text in [*_conflicts(params or {}), *_without_effect(resolved)]:
        warn(text)


def may_warn(params: Params) -> bool:
    """Return whether a training may warn of its parameters.

    Example:
        >>> may_warn(resolve({})), may_warn(resolve({"verbosity": -1}))
        (True, False)
    """
    return not _is_silent.get() and params.verbosity >= 0


def _conflicts(params: Mapping[str, Any]) -> Iterator[str]:
    """Find parameters that are given several values under several names."""
    if isinstance(params, Params):
        return
    for name, spellings in group_spellings(params).items():
        values = [coerce_given(name, params[spelling], spelling) for spelling in spellings]
        if any(value != values[0] for value in values):
            listed = ", ".join(f"{spelling}={params[spelling]!r}" for spelling in spellings)
            yield f"{name} is given more than once ({listed}); using {spellings[0]}."


def _without_effect(params: Params) -> Iterator[str]:
    traits = traits_of(params.objective)
    if _is_changed(TABLE["alpha"], params) and not (traits.kind is Kind.CUSTOM or traits.alpha):
        # To users of XGBoost it is the L1 penalty.
        yield (
            f"alpha={params.alpha!r} has no effect with objective={params.objective}. "
            "The L1 penalty is reg_alpha (lambda_l1)."
        )
    for name, (needs, is_used) in _NEEDS.items():
        if _is_changed(TABLE[name], params) and not is_used(params):
            yield f"{name}={params[name]!r} has no effect: it {needs}."


def _is_changed(param: Param, params: Params) -> bool:
    return param.name in params.given and params[param.name] != param.default


def _weights_classes(params: Params) -> bool:
    """Whether the objective weights the rows of class 1; one that is custom may."""
    traits = traits_of(params.objective)
    return traits.kind in (Kind.BINARY, Kind.CUSTOM) or traits.link == "sigmoid"
