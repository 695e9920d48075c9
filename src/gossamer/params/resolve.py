"""From the dict a user wrote to `Params`: `resolve`.

The steps, each a function below: find the canonical names, convert the values, refuse what this
version cannot do, fill in what follows from other values, check that the values fit together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, Literal

from gossamer.errors import NotSupportedError, ParameterError
from gossamer.params.check_boosting import check_boosting
from gossamer.params.check_linear import check_linear
from gossamer.params.check_method import VALUE_METHODS, check_method
from gossamer.params.check_monotone import check_monotone
from gossamer.params.check_prune import check_prune
from gossamer.params.check_quantiles import check_quantiles
from gossamer.params.check_sampling import check_sampling
from gossamer.params.check_symmetric import MOST_LEVELS, check_symmetric, n_levels
from gossamer.params.coerce import coerce, did_you_mean
from gossamer.params.param import Param
from gossamer.params.peer_names import OTHER_NAMES
from gossamer.params.resolved import Params
from gossamer.params.table import CANONICAL, DERIVED_SEEDS, TABLE
from gossamer.params.table_objective import CLASS_METRICS
from gossamer.params.traits import OBJECTIVE_CHOICES, Kind, traits_of

Context = Literal["train", "dataset", "predict"]

# As LightGBM: a smaller sum of hessians is as good as zero.
_HESSIAN_EPSILON: Final = 1e-15
_ALL_ROWS: Final = 2**31 - 1
# Values that can be told from others by how they look.
_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


def resolve(params: Mapping[str, Any] | None = None, *, context: Context = "train") -> Params:
    """Check a user's parameters and fill in all the others.

    Names may be aliases. When one parameter comes under several names, the canonical name wins,
    then the shortest, then the first in the alphabet (`warn_of_unused` warns if values differ). A
    value of None means not given. Numbers and booleans may be given as strings.

    Args:
        params: Parameters by name; a `Params` is checked and returned as it is.
        context: What they are for. Only "train" asks whether they fit the objective: a dataset
            or a prediction does not use it.

    Returns:
        All parameters, of their proper types.

    Raises:
        ParameterError: If a name is unknown, or a value is wrong or contradicts another one.
        NotSupportedError: If a value is known but not supported in this version.

    Example:
        >>> params = resolve({"eta": "0.3", "objective": "binary:logistic", "subsample": 0.5})
        >>> params.learning_rate, params.objective, params.bagging_freq
        (0.3, 'binary', 1)
    """
    if isinstance(params, Params):
        resolved = params
    elif type(params) is dict and all(type(value) in _PLAIN for value in params.values()):
        resolved = _resolve_plain(tuple((name, v, repr(v)) for name, v in params.items()))
    else:
        resolved = _fill_in(params or {})
    if context == "train":
        _check_together(resolved)
    return resolved


# The same parameters come several times: with data sets, with trainings, with every fold.
@lru_cache(maxsize=64)
def _resolve_plain(items: tuple[tuple[str, Any, str], ...]) -> Params:
    """Resolve numbers and strings; equal ones that look different (1 and 1.0) are not the same."""
    return _fill_in({name: value for name, value, _ in items})


def _fill_in(params: Mapping[str, Any]) -> Params:
    given = _read_given(params)
    for name, value in given.items():
        _check_supported(TABLE[name], value)
    values: dict[str, Any] = {name: param.default for name, param in TABLE.items()}
    values |= given
    values |= _consequences(values, given)
    return Params(given=frozenset(given), **values)


def _read_given(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that were given, converted, by canonical name."""
    found = group_spellings(params)
    given: dict[str, Any] = {}
    for name, spellings in found.items():
        values = [coerce_given(name, params[spelling], spelling) for spelling in spellings]
        given[name] = values[0]
    if given.get("metric") is None:
        # An empty string leaves the choice to the objective, as if no metric had been given.
        given.pop("metric", None)
        if (named := _metric_of_alias(params, found, given)) is not None:
            given["metric"] = (named,)
        elif (own := _said_by(given.get("objective"), "metric")) is not None:
            given["metric"] = coerce_given("metric", own, "metric")
    if given.get("boosting") == "goss":
        if given.get("data_sample_strategy") == "mvs":
            raise ParameterError.because(
                "boosting=goss means data_sample_strategy=goss",
                got="mvs",
                expected="goss",
                hint="Leave boosting out.",
            )
        given |= {"boosting": "gbdt", "data_sample_strategy": "goss"}
    return given


def group_spellings(params: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return, by canonical name, the names that were given with a value, the winner first."""
    if not isinstance(params, Mapping):
        raise ParameterError.because("parameters cannot be used", got=params, expected="a dict")
    found: dict[str, list[str]] = {}
    for spelling, value in params.items():
        if spelling not in CANONICAL:
            raise ParameterError.because(
                "unknown parameter",
                got=spelling,
                hint=_suggest(str(spelling)),
            )
        if value is not None:
            found.setdefault(CANONICAL[spelling], []).append(spelling)
    for name, spellings in found.items():
        spellings.sort(key=lambda spelling: (spelling != name, len(spelling), spelling))
    return found


def _suggest(spelling: str) -> str:
    """Return a sentence about the parameter that an unknown name may mean."""
    if spelling in OTHER_NAMES:
        return f"Use {OTHER_NAMES[spelling]} instead."
    return did_you_mean(spelling, CANONICAL) or "The parameters are listed in docs/parameters.md."


def _said_by(objective: object, name: str) -> object:
    """What a `CustomObjective` says about itself; None: nothing, or it is something else."""
    return getattr(objective, name) if hasattr(objective, "is_custom_objective") else None


def _metric_of_alias(
    params: Mapping[str, Any], found: Mapping[str, list[str]], given: Mapping[str, Any]
) -> str | None:
    """Return the metric that the spelling of the objective asks for; None: it asks for none."""
    if "objective" not in found:
        return None
    spelling = params[found["objective"][0]]
    if not isinstance(spelling, str):
        return None
    return traits_of(given["objective"]).metric_of_alias.get(spelling.strip().lower())


def coerce_given(name: str, value: object, spelling: str) -> object:
    """Convert a given value; for an unsupported parameter no value but the default is of use."""
    param = TABLE[name]
    if spelling == "max_leaves" and str(value) in ("0", "0.0"):  # XGBoost's way to say: no limit
        return param.high
    try:
        return coerce(param, value, spelling)
    except ParameterError:
        if not param.supported:
            raise _not_supported(param, value) from None
        raise


def _check_supported(param: Param, value: object) -> None:
    """Refuse what LightGBM or XGBoost can do and this version cannot."""
    choices: Iterable[object] = (value,)
    if param.kind == "metrics" and isinstance(value, tuple):
        choices = (name.partition("@")[0] for name in value)
    for choice in choices:
        if not param.supports(choice):
            raise _not_supported(param, choice)


def _not_supported(param: Param, value: object) -> NotSupportedError:
    if param.unsupported:
        choices = [choice for choice in param.choices if param.supports(choice)]
        expected, hint = f"one of {', '.join(choices)}", ""
    else:
        expected, hint = f"its default {param.default!r}", "Leave it out."
    return NotSupportedError.because(
        f"{param.name} is known, but this value is not supported in this version of Gossamer",
        got=value,
        expected=expected,
        hint=hint,
    )


def derive_seed(seed: int, index: int) -> int:
    """Derive one of several seeds from `seed`, by splitmix64.

    It is the number at position `index` of the splitmix64 sequence that starts at `seed`, cut to
    its upper 31 bits so that it fits any integer type.

    Example:
        >>> derive_seed(42, 0) != derive_seed(42, 1)
        True
    """
    mask = 2**64 - 1
    mixed = (seed + (index + 1) * 0x9E3779B97F4A7C15) & mask
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    return (mixed ^ (mixed >> 31)) >> 33


def _consequences(values: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what follows from other values."""
    found: dict[str, Any] = {}
    if values["seed"] is not None:
        found |= {
            name: derive_seed(values["seed"], index)
            for index, name in enumerate(DERIVED_SEEDS)
            if name not in given
        }
    if values["grow_policy"] == "symmetric":
        most = values["num_leaves"] if "num_leaves" in given else None
        found["max_depth"] = n_levels(values["max_depth"], most)
        found["num_leaves"] = 2 ** min(found["max_depth"], MOST_LEVELS)
    elif values["max_depth"] > 0 and "num_leaves" not in given:
        # Level by level, depth is the limit that was asked for; best first, 31 leaves are plenty.
        depthwise = values["grow_policy"] == "depthwise"
        most = TABLE["num_leaves"].high if depthwise else TABLE["num_leaves"].default
        found["num_leaves"] = min(most, 2 ** min(values["max_depth"], 30))
    if values["max_depth"] > 0 and values["num_leaves"] == TABLE["num_leaves"].high:
        # The same trees, and no memory for more leaves than they can have.
        found["num_leaves"] = min(values["num_leaves"], 2 ** min(values["max_depth"], 30))
    if values["path_smooth"] > 0:
        # A leaf of one row would be all parent.
        found["min_data_in_leaf"] = max(values["min_data_in_leaf"], 2)
    elif values["min_data_in_leaf"] == 0 and values["min_sum_hessian_in_leaf"] <= _HESSIAN_EPSILON:
        # Otherwise nothing would keep a leaf from being empty.
        found["min_data_in_leaf"] = 1
    if values["tree_method"] in VALUE_METHODS:
        # Bins serve where they hold one value each: let as many as possible.
        whole = {"min_data_in_bin": 1, "bin_construct_sample_cnt": _ALL_ROWS}
        found |= {name: value for name, value in whole.items() if name not in given}
    if values["tree_method"] == "approx" and "max_bin" in given and "sketch_eps" not in given:
        found["sketch_eps"] = 1.0 / values["max_bin"]
    n_outputs = _said_by(values["objective"], "n_outputs")
    if n_outputs is not None and "num_class" not in given:
        found["num_class"] = coerce(TABLE["num_class"], n_outputs, "n_outputs")
    own = traits_of(values["objective"]).alpha
    if "alpha" in given and own not in ("", *given):
        found[own] = coerce(TABLE[own], values["alpha"], "alpha")
    if len(values["quantile_alpha"]) == 1 and "alpha" not in given:
        found["alpha"] = values["quantile_alpha"][0]
    by_gradients = values["sampling_method"] == "gradient_based" and values["bagging_fraction"] < 1
    if by_gradients and "data_sample_strategy" not in given:
        found["data_sample_strategy"] = "mvs"
    if "bagging_freq" not in given and _samples_rows(values):
        found["bagging_freq"] = 1
    return found


def _samples_rows(values: Mapping[str, Any]) -> bool:
    fractions = ("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction")
    return any(values[name] < 1 for name in fractions)


def _check_together(params: Params) -> None:
    """Raise where values contradict each other or the objective."""
    objective = "custom" if callable(params.objective) else params.objective
    traits, n_classes = traits_of(objective), params.num_class
    if traits.kind is Kind.MULTICLASS and n_classes < 2:
        raise ParameterError.because(
            f"objective={objective} needs num_class",
            got=n_classes,
            expected="the number of classes, 2 or more",
            hint="Set num_class, or use objective=binary for two classes.",
        )
    if traits.kind not in (Kind.MULTICLASS, Kind.CUSTOM) and n_classes != 1:
        raise ParameterError.because(
            f"num_class does not fit objective={objective}",
            got=n_classes,
            expected="1",
            hint="Leave num_class out, or use objective=multiclass.",
        )
    fitting = f"several classes: {', '.join(CLASS_METRICS)}" if n_classes > 1 else "one score"
    for metric in params.metric or ():
        if (metric.partition("@")[0] in CLASS_METRICS) != (n_classes > 1):
            raise ParameterError.because(
                f"metric does not fit objective={objective} with num_class={n_classes}",
                got=metric,
                expected=f"a metric for {fitting}",
                hint="Choose another metric, or leave it out for the objective's own.",
            )
    if params.is_unbalance and params.scale_pos_weight != 1:
        raise ParameterError.because(
            "is_unbalance and scale_pos_weight both weight the positive rows",
            got=params.scale_pos_weight,
            expected="scale_pos_weight=1 when is_unbalance is true",
            hint="Give one of them only.",
        )
    # LightGBM ignores class weights where an objective has no use for them. Objectives that
    # LightGBM does not have refuse them: no script of its users depends on that.
    if traits.class_weights_instead and (params.is_unbalance or params.scale_pos_weight != 1):
        raise ParameterError.because(
            f"objective={objective} does not weight its classes",
            found=f"is_unbalance={params.is_unbalance} and "
            f"scale_pos_weight={params.scale_pos_weight:g}",
            expected="neither of them",
            hint=traits.class_weights_instead,
        )
    if params.reg_sqrt and not traits.takes_square_roots:
        allowed = [name for name in OBJECTIVE_CHOICES if traits_of(name).takes_square_roots]
        raise ParameterError.because(
            f"reg_sqrt does not fit objective={objective}",
            got=True,
            expected=f"one of the objectives {', '.join(allowed)}",
            hint="Leave reg_sqrt out.",
        )
    if (
        traits.kind is not Kind.BINARY
        and min(params.pos_bagging_fraction, params.neg_bagging_fraction) < 1
    ):
        raise ParameterError.because(
            "pos_bagging_fraction and neg_bagging_fraction need objective=binary",
            got=objective,
            expected="binary",
            hint="Use bagging_fraction instead.",
        )
    check_linear(params)
    check_method(params)
    check_monotone(params)
    check_prune(params)
    check_quantiles(params)
    check_sampling(params)
    check_symmetric(params)
    check_boosting(params)
