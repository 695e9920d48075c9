"""Whether `tree_method` fits the other parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gossamer.errors import ParameterError

if TYPE_CHECKING:
    from gossamer.params.resolved import Params

VALUE_METHODS: Final = ("exact", "approx")

# What only bins that are made beforehand can do, and the value that leaves it out.
_NEEDS_BINS: Final[dict[str, Any]] = {
    "extra_trees": False,
    "forcedsplits_filename": "",
    "cegb_penalty_feature_lazy": (),
    "cegb_penalty_feature_coupled": (),
    "max_conflict_rate": 0.0,  # rows would go by bins in some places and by values in others
}
_ABOUT_BINS: Final = (
    "max_bin",
    "max_bin_by_feature",
    "forcedbins_filename",
    "min_data_in_bin",
    "weighted_bins",
    "bin_construct_sample_cnt",
)


def splits_by_value(params: Params) -> bool:
    """Whether thresholds are found among the values themselves, not among bounds of bins.

    Example:
        >>> from gossamer.params import resolve
        >>> splits_by_value(resolve({"tree_method": "exact"})), splits_by_value(resolve({}))
        (True, False)
    """
    return params.tree_method in VALUE_METHODS


def keeps_raw_values(params: Params) -> bool:
    """Whether training reads the user's own table, not its bins alone."""
    return params.linear_tree or splits_by_value(params)


def check_method(params: Params) -> None:
    """Raise where `tree_method` is asked for something that it cannot do.

    Example:
        >>> from gossamer.params import resolve
        >>> try:
        ...     resolve({"tree_method": "exact", "max_bin": 63})
        ... except ParameterError as error:
        ...     print(str(error)[:50])
        tree_method=exact has no bins, max_bin says how th
    """
    method = params.tree_method
    if not splits_by_value(params):
        return
    if method == "exact":
        for name in _ABOUT_BINS:
            if name in params.given:
                raise ParameterError.because(
                    f"tree_method=exact has no bins, {name} says how they are made",
                    got=params[name],
                    expected="every value as a candidate",
                    hint=f"Leave {name} out, or use tree_method=approx or hist.",
                )
    for name, off in _NEEDS_BINS.items():
        if params[name] != off:
            raise ParameterError.because(
                f"{name} cannot be combined with tree_method={method}",
                got=params[name],
                expected="tree_method=hist",
                hint=f"Leave {name} out, or leave tree_method out.",
            )
    refused = {
        "multi_strategy": (
            params.multi_strategy == "multi_output_tree",
            "multi_strategy=multi_output_tree cannot be combined with",
            "one_output_per_tree",
            "Trees with several values per leaf need tree_method=hist.",
        ),
        "monotone_constraints_method": (
            params.monotone_constraints and params.monotone_constraints_method != "basic",
            "monotone_constraints_method does not fit",
            "basic",
            "The other methods look at leaves bin by bin: use tree_method=hist.",
        ),
        "cat_target_statistics": (
            params.cat_target_statistics == "on",
            "cat_target_statistics does not fit",
            "auto or off",
            "Statistics of categories need tree_method=hist.",
        ),
    }
    for name, (is_refused, what, expected, hint) in refused.items():
        if is_refused:
            what = f"{what} tree_method={method}"
            raise ParameterError.because(what, got=params[name], expected=expected, hint=hint)
