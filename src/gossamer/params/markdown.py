"""The documentation page of the parameters, made from the table.

Run `python -m gossamer.params.markdown docs/parameters.md` to write it.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import Final

from gossamer.params.param import KINDS, Param
from gossamer.params.peer_names import further_names, names_in_lightgbm, names_in_xgboost
from gossamer.params.table import TABLE

_INTRODUCTION: Final = """\
# Parameters

<!-- Made from src/gossamer/params by `python -m gossamer.params.markdown docs/parameters.md`. -->

Gossamer takes LightGBM's parameters under LightGBM's names, and XGBoost's names where they mean
the same thing.

- **Names.** The last columns show what LightGBM and XGBoost call a parameter; any of these names
  works. XGBoost's *defaults* differ in places, see [migrating from
  XGBoost](migrating_from_xgboost.md#parameters). When one parameter is given under several names,
  the name in the first column wins, then the shortest, then the first in the alphabet; if the
  values differ, a warning is logged. An unknown name is an error.
- **Values.** `None` means not given. Integers may be written as `31`, `31.0` or `"31"`, booleans
  as `True`, `"true"`, `"+"` or `1`. NaN and infinity are errors.
- **Not yet.** LightGBM's parameters are all known. Those marked *not yet* accept their default
  only; names in ~~strikethrough~~ are known values that this version does not support. Both raise
  `NotSupportedError`.
- **`alpha`** belongs to the objectives `huber`, `quantile` and `expectile`, as in LightGBM. With
  other objectives it has no effect, and a warning says so. XGBoost's L1 penalty of that name is
  `reg_alpha` (`lambda_l1`) here; only `gossamer.compat.xgboost` takes `alpha` for it.

Some values follow from others:

- `seed` gives each of `data_random_seed`, `bagging_seed`, `drop_seed`, `feature_fraction_seed`,
  `objective_seed` and `extra_seed` that is not given itself: the first to sixth number of the
  splitmix64 sequence that starts at `seed`, of each the upper 31 bits.
- `max_depth` above 0 without `num_leaves` sets `num_leaves` to 2^`max_depth`, but to 31 at most
  unless `grow_policy=depthwise`.
- A bagging fraction below 1 without `bagging_freq` sets `bagging_freq=1`; LightGBM would silently
  use all rows. An explicit `bagging_freq=0` turns bagging off.
- `path_smooth` above 0 raises `min_data_in_leaf` to 2 at least. With `min_data_in_leaf=0` and no
  `min_sum_hessian_in_leaf` to speak of, `min_data_in_leaf` is 1.
- `objective=rmse` (or another of its spellings) without a metric sets `metric=rmse`.
- `boosting=goss` means `boosting=gbdt` with `data_sample_strategy=goss`.

These are errors: `multiclass` without `num_class` above 1, `num_class` above 1 with an objective
for one score, a metric for several classes with one score or the other way round, `is_unbalance`
together with `scale_pos_weight`, and `pos_bagging_fraction` or `neg_bagging_fraction` with an
objective other than `binary`. So are `data_sample_strategy=goss` or `mvs` together with bagging,
rates that do not fit, and `other_rate` together with `top_rate=auto`; see
[row sampling](sampling.md).

<p hidden><label>Search: <input type="search" id="parameter-search"
placeholder="leaves, xgboost, sampling, ..."></label> <span id="parameter-count"
aria-live="polite"></span></p>
"""


def render_markdown() -> str:
    """Return the whole page `docs/parameters.md`.

    Example:
        >>> render_markdown().splitlines()[0]
        '# Parameters'
    """
    parts = [_INTRODUCTION]
    for group, params in groupby(TABLE.values(), key=lambda param: param.group):
        rows = list(params)
        parts.append(_render_group(group, rows))
        parts += [_render_choices(param) for param in rows if param.choices]
    return "\n".join(parts)


def _render_group(group: str, params: list[Param]) -> str:
    lines = [
        f"## {group}",
        "",
        "| parameter | what it does | value | in LightGBM | in XGBoost |",
        "|---|---|---|---|---|",
    ]
    for param in params:
        cells = (
            f'<a id="{param.name}"></a>' + _codes([param.name, *further_names(param)]),
            param.doc if param.supported else f"*Not yet.* {param.doc}",
            _value(param),
            _codes(names_in_lightgbm(param)),
            _codes(names_in_xgboost(param)),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _value(param: Param) -> str:
    """Say type, range and default."""
    limits = f" `{param.range_text}`" if param.range_text else ""
    return f"{KINDS[param.kind].short}{limits}, default {_code(param.default)}"


def _codes(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _render_choices(param: Param) -> str:
    lines = [f"Values of `{param.name}`:", ""]
    for choice, spellings in param.choices.items():
        name = f"`{choice}`" if param.supports(choice) else f"~~`{choice}`~~"
        also = ", ".join(f"`{spelling}`" for spelling in spellings)
        lines.append(f"- {name}" + (f" (also {also})" if also else ""))
    return "\n".join(lines) + "\n"


def _code(value: object) -> str:
    """Show a default, the middle of a long tuple left out."""
    if isinstance(value, tuple) and len(value) > 5:
        return f"`({', '.join(map(repr, value[:4]))}, ..., {value[-1]!r})`"
    return f"`{value!r}`"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render_markdown(), encoding="utf-8", newline="\n")
