"""The columns of the paper's tables: each is a library in one mode."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field

Options = dict[str, object]

PACKAGES = ("gossamer", "lightgbm", "xgboost")


@dataclass(frozen=True)
class Variant:
    """A library in one mode.

    Attributes:
        name: What the command line and the results call it.
        library: Package.
        mode: Storage and sampling: "exact", "dense", "sparse", "efb", "efb_goss", ..., "hist".
        sampling: How rows are drawn, see `sampling_options`; "" means all rows.
        options: Parameters of this mode, less the sampling.
        family: Variants of one family do the same work, and the fastest one counts.
        is_slow: Whether it is only timed, over fewer rounds.
        depends_on_seed: Whether accuracy is averaged over seeds.
        in_default: Whether it is run when no variants are named.
    """

    name: str
    library: str
    mode: str
    sampling: str = ""
    options: Options = field(default_factory=dict)
    family: str = ""
    is_slow: bool = False
    depends_on_seed: bool = True
    in_default: bool = True

    def is_installed(self) -> bool:
        """Whether the library can be imported here."""
        return importlib.util.find_spec(self.library) is not None

    def options_for(self, top_rate: float, other_rate: float, seed: int) -> Options:
        """All parameters of this variant on a case with those rates."""
        return {
            **self.options,
            **sampling_options(self.sampling, top_rate, other_rate),
            **seed_options(self.library, seed),
        }


def sampling_options(sampling: str, top_rate: float, other_rate: float) -> Options:
    """Parameters of a way to draw rows.

    Args:
        sampling: "goss", "goss_auto" (Gossamer divides the share into both rates anew in each
            round), "sgb" (every row with the same chance), "mvs", or "" for all rows.
        top_rate: Share of all rows that are kept for their gradients.
        other_rate: Share of all rows that are drawn from the others.

    Returns:
        Parameters; all ways use the same share of rows, top_rate + other_rate.
    """
    share = round(top_rate + other_rate, 6)
    if sampling == "":
        return {}
    if sampling == "goss":
        return {"data_sample_strategy": "goss", "top_rate": top_rate, "other_rate": other_rate}
    if sampling == "goss_auto":
        return {"data_sample_strategy": "goss", "top_rate": "auto", "bagging_fraction": share}
    if sampling == "sgb":
        return {"bagging_fraction": share, "bagging_freq": 1}
    if sampling == "mvs":
        return {"data_sample_strategy": "mvs", "bagging_fraction": share, "bagging_freq": 1}
    raise ValueError(f"unknown sampling {sampling!r}")


def seed_options(library: str, seed: int) -> Options:
    """Parameters that make runs with different seeds draw differently; 0 is the default."""
    if library == "xgboost":
        return {"seed": seed}
    return {"bagging_seed": 3 + seed, "data_random_seed": 1 + seed}


_DENSE: Options = {"enable_bundle": False, "is_enable_sparse": False}
_SPARSE: Options = {"enable_bundle": False}
_EXACT: Options = {"tree_method": "exact", "max_bin": None}
_ROW: Options = {"force_row_wise": True}
_COLUMN: Options = {"force_col_wise": True}


def _layouts(name: str, mode: str, sampling: str) -> list[Variant]:
    """LightGBM as it comes, which tries both layouts first, and with each layout forced."""
    return [
        Variant(name, "lightgbm", mode, sampling, family=name),
        Variant(f"{name}_row", "lightgbm", mode, sampling, _ROW, name, depends_on_seed=False),
        Variant(f"{name}_col", "lightgbm", mode, sampling, _COLUMN, name, depends_on_seed=False),
    ]


def _slow(library: str, mode: str, options: Options, in_default: bool = True) -> Variant:
    return Variant(
        f"{library}_{mode}",
        library,
        mode,
        options=options,
        is_slow=True,
        depends_on_seed=False,
        in_default=in_default,
    )


VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for variant in [
        _slow("gossamer", "exact", _EXACT),
        _slow("gossamer", "dense", _DENSE),
        _slow("gossamer", "sparse", _SPARSE),
        Variant("gossamer_efb", "gossamer", "efb"),
        Variant("gossamer_efb_goss", "gossamer", "efb_goss", "goss"),
        Variant("gossamer_efb_sgb", "gossamer", "efb_sgb", "sgb"),
        Variant("gossamer_efb_goss_auto", "gossamer", "efb_goss_auto", "goss_auto"),
        Variant("gossamer_efb_mvs", "gossamer", "efb_mvs", "mvs"),
        _slow("lightgbm", "dense", _DENSE, in_default=False),
        _slow("lightgbm", "sparse", _SPARSE),
        *_layouts("lightgbm_efb", "efb", ""),
        *_layouts("lightgbm_efb_goss", "efb_goss", "goss"),
        Variant("lightgbm_efb_sgb", "lightgbm", "efb_sgb", "sgb"),
        Variant("xgboost_hist", "xgboost", "hist", depends_on_seed=False),
    ]
}


def select_variants(names: list[str]) -> tuple[list[Variant], list[str]]:
    """Finds variants by name or by library, leaving out those that are not installed.

    Args:
        names: Names or libraries; empty means the default ones.

    Returns:
        The variants in table order, and one message for each library left out.

    Raises:
        ValueError: When a name is neither a variant nor a library.
    """
    known = [*VARIANTS, *PACKAGES]
    for name in names:
        if name not in known:
            raise ValueError(f"unknown variant {name!r}; expected one of {known}")
    wanted = [
        variant
        for variant in VARIANTS.values()
        if variant.name in names or (variant.in_default and (not names or variant.library in names))
    ]
    missing = {variant.library for variant in wanted if not variant.is_installed()}
    messages = [f"skipped {library}: not installed" for library in sorted(missing)]
    return [variant for variant in wanted if variant.library not in missing], messages


def family_members(family: str) -> list[str]:
    """Names of the variants that do the same work as the one named."""
    return [name for name, variant in VARIANTS.items() if (variant.family or name) == family]
