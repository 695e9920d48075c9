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

Gossamer accepts LightGBM's parameters under LightGBM's names, and XGBoost's names if they mean the
same thing.

- **Names.** The last columns show the names in LightGBM and XGBoost; all of them work. Some
  *defaults* differ from XGBoost's, see [migrating from
  XGBoost](migrating_from_xgboost.md#parameters). If a parameter is set under several names, the
  name in the first column takes precedence, then the shortest name, then the first name in
  alphabetical order. If the values differ, a warning says so. An unknown name raises an error.
- **Values.** `None` means not set. Integers can be written as `31`, `31.0` or `"31"`, booleans as
  `True`, `"true"`, `"+"` or `1`. NaN and infinity raise an error.
- **Not yet.** All of LightGBM's parameters are known. Parameters marked *not yet* accept only their
  default. Values in ~~strikethrough~~ are not supported by this version. Both raise
  `NotSupportedError`.
- **`alpha`** belongs to the objectives `huber`, `quantile` and `expectile`, as in LightGBM. With
  other objectives it has no effect, and a warning says so. XGBoost also uses the name `alpha` for
  the L1 penalty, which is `reg_alpha` (`lambda_l1`) here. Only `gossamer.compat.xgboost` accepts
  `alpha` for it.

Some values depend on others:

- `seed` sets `data_random_seed`, `bagging_seed`, `drop_seed`, `feature_fraction_seed`,
  `objective_seed` and `extra_seed`, unless they are set. They are the upper 31 bits of the first
  six numbers of the splitmix64 sequence that starts at `seed`.
- `max_depth` above 0 without `num_leaves` sets `num_leaves` to 2^`max_depth`, but to at most 31
  unless `grow_policy=depthwise`.
- With `grow_policy=symmetric`, `max_depth` is 6 unless it is set, and at most 16. If `num_leaves`
  is set, there are only as many levels as it allows.
- A bagging fraction below 1 without `bagging_freq` sets `bagging_freq=1`; LightGBM would silently
  use all rows. Set `bagging_freq=0` explicitly to turn bagging off.
- With `path_smooth` above 0, `min_data_in_leaf` is at least 2. If `min_data_in_leaf` is 0 and
  `min_sum_hessian_in_leaf` is close to 0, `min_data_in_leaf` is 1.
- `objective=rmse` (or one of its aliases) without a metric sets `metric=rmse`.
- `boosting=goss` means `boosting=gbdt` with `data_sample_strategy=goss`.

These combinations raise an error:

- `multiclass` without `num_class` above 1, or `num_class` above 1 with an objective for one score
- a metric for several classes with one score, or a metric for one score with several classes
- `is_unbalance` with `scale_pos_weight`
- `pos_bagging_fraction` or `neg_bagging_fraction` with an objective other than `binary`
- `data_sample_strategy=goss` or `mvs` with bagging, or with rates that are too large
- `other_rate` with `top_rate=auto`; see [row sampling](sampling.md)
- `grow_policy=symmetric` with constraints, costs, forced splits and others; see [symmetric
  trees](how_growth.md#symmetric-trees)

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
