"""What `fit` takes besides rows and labels, for each estimator in LightGBM's order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter
from typing import Any, Final, Literal, TypedDict, TypeVar

from gossamer.arguments import refuse_unknown
from gossamer.train import Callback

Fit = TypeVar("Fit", bound=Callable[..., Any])


class FitOptions(TypedDict, total=False):
    """The arguments of `GossamerModel.fit`, where they are explained."""

    sample_weight: Any
    init_score: Any
    group: Any
    eval_set: Any
    eval_names: Sequence[str] | None
    eval_sample_weight: Any
    eval_class_weight: Any
    eval_init_score: Any
    eval_group: Any
    eval_metric: Any
    feature_name: Sequence[str] | Literal["auto"]
    categorical_feature: Sequence[str | int] | str | None
    callbacks: Sequence[Callback] | None
    init_model: Any
    eval_X: Any
    eval_y: Any
    query: Any
    eval_query: Any
    eval_at: Any


class RankerOptions(FitOptions, total=False):
    """The arguments of `GossamerRanker.fit`: `qid` is XGBoost's name for `query`."""

    qid: Any
    eval_qid: Any


_DEFAULTS: Final = {"feature_name": "auto", "categorical_feature": "auto"}


def takes(by_position: str, by_name: str, **defaults: Any) -> Callable[[Fit], Fit]:
    """Make a `fit(self, X, y, *args, **options)` take its options one by one.

    The function gets every option, `help` and scikit-learn see the signature written out.

    Args:
        by_position: Options in the order that they may be given in, by position or by name.
        by_name: Options that are given by name only.
        **defaults: Values of options that are not given, where that is not None or "auto".

    Example:
        >>> @takes("sample_weight eval_set", "eval_X eval_y")
        ... def fit(self, X, y, *args, **options):
        ...     return options
        >>> fit(None, [[1.0]], [1.0], [2.0], eval_X=3)
        {'sample_weight': [2.0], 'eval_set': None, 'eval_X': 3, 'eval_y': None}
        >>> list(inspect.signature(fit).parameters)[3:]
        ['sample_weight', 'eval_set', 'eval_X', 'eval_y']
    """
    hints = RankerOptions.__annotations__
    both, named = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    kinds = dict.fromkeys(by_position.split(), both) | dict.fromkeys(by_name.split(), named)
    parameters = [Parameter(name, both) for name in ("self", "X", "y")]
    parameters += [
        Parameter(
            name,
            kind,
            default=defaults.get(name, _DEFAULTS.get(name)),
            annotation=getattr(hints.get(name), "__forward_arg__", "Any"),
        )
        for name, kind in kinds.items()
    ]
    signature = inspect.Signature(parameters)

    def decorate(fit: Fit) -> Fit:
        @wraps(fit)
        def call(*args: Any, **kwargs: Any) -> Any:
            if unknown := kwargs.keys() - signature.parameters.keys():
                refuse_unknown("fit", unknown)
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"fit() {error}") from None
            bound.apply_defaults()
            given = bound.arguments
            return fit(given.pop("self"), given.pop("X"), given.pop("y"), **given)

        call.__signature__ = signature  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate
