"""The shared part of XGBoost's own tests, unchanged, with our module in XGBoost's place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

peer = pytest.importorskip("xgboost")
MODULES: Final = pytest.importorskip("tests.compat.xgboost.peer_functions").MODULES

ROOT: Final = Path(__file__).parents[3]
# Calls that may fail, by the reason. A function without arguments means all its calls.
MAY_FAIL: Final = {
    "XGBoost fails too: exact trees know no categories, or the combination does not exist": (
        "parse_tree.run_split_value_histograms exact",
        "parse_tree.run_tree_to_df_categorical exact",
        "updater.check_categorical_missing 3 exact False",
        "updater.check_categorical_missing 3 exact True",
        "updater.check_categorical_missing 9 exact False",
        "updater.check_categorical_missing 9 exact True",
        "updater.check_categorical_ohe 3 exact False",
        "updater.check_categorical_ohe 3 exact True",
        "updater.check_categorical_ohe 9 exact False",
        "updater.check_categorical_ohe 9 exact True",
        "updater.check_quantile_loss_rf approx multi_output_tree",
        "updater.check_quantile_loss_rf exact multi_output_tree",
        "updater.run_max_cat exact",
    ),
    "it draws with Graphviz's dot": ("plotting.run_categorical",),
    "objectives as classes, with gradients of their own for splits, do not exist here": (
        "multi_target.run_eta",
        "multi_target.run_gradient_based_sampling_accuracy",
        "multi_target.run_reduced_grad",
        "multi_target.run_with_iter",
    ),
    "multi_strategy cannot change between rounds": (
        "multi_target.run_feature_importance_strategy_compare",
        "multi_target.run_mixed_strategy",
        "multi_target.run_multiclass",
        "multi_target.run_multilabel",
    ),
    "an ExtMemQuantileDMatrix does not have its values in memory": (
        "ordinal.run_cat_container_iter",
        "updater.check_extmem_qdm",
    ),
    "there is no gblinear": ("with_skl.run_intercept",),
    "bounds of bins are others": (
        "quantile_dmatrix.check_ref_quantile_cut",
        "updater.check_get_quantile_cut",
    ),
    "quantiles that are trained together do not cross": ("updater.check_quantile_loss",),
    "the text of a message": (
        "data_iter.check_invalid_cat_batches",
        "parse_tree.run_split_value_histograms hist",
        "parse_tree.run_split_value_histograms approx",
    ),
    "numbers are read as the categories that they name, unknown ones as missing values": (
        "ordinal.run_cat_invalid",
    ),
    "save_binary writes no categories": ("ordinal.run_cat_container_mixed",),
    "a start of exactly 0 or 1 is infinite as a raw score": ("intercept.run_logistic_degenerate",),
}


@pytest.mark.skipif(not peer.__version__.startswith("3.2."), reason="written for XGBoost 3.2")
@pytest.mark.parametrize("module", MODULES)
def test_calls_that_pass(module: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.compat.xgboost.peer_functions", module],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line[2:].split(": ", 1) for line in ran.stdout.splitlines() if line.startswith("> ")]
    outcomes = {name: outcome for name, outcome in lines if outcome != "skipped"}
    allowed = {
        name for names in MAY_FAIL.values() for name in names if name.startswith(f"{module}.")
    }
    assert allowed <= {*outcomes, *(name.split()[0] for name in outcomes)}
    unexpected = {
        name: outcome
        for name, outcome in outcomes.items()
        if outcome != "ok" and not allowed & {name, name.split()[0]}
    }
    assert not unexpected
    assert outcomes
