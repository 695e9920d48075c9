"""The page of the API has every public name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import gossamer
import gossamer.tune

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")

DATASET_MEMBERS = """
categorical_columns describe feature_weights levels query set_query
"""
BOOSTER_MEMBERS = """
class_names compile fold_facts_ fold_member from_model levels model num_passes oof_prediction
oof_score_ oof_score_by_fold_ pandas_categorical partial_dependence permutation_importance
predict_interval predict_set predictor report resolved_params set_class_names set_objective
shap_interactions shap_values to_c to_explanation to_onnx to_shap to_treelite
"""


def test_every_public_name_is_described() -> None:
    described = {name.split(".")[-1] for name in re.findall(r"^::: ([\w.]+)", PAGE, re.MULTILINE)}
    described |= set(re.findall(r"^        - (\w+)$", PAGE, re.MULTILINE))
    estimators = {name for name in gossamer.__all__ if name.startswith(("Gossamer", "LGBM"))}
    assert "sklearn" in described  # the module's own list has the estimators
    missing = {*gossamer.__all__, *gossamer.tune.__all__} - described - estimators
    assert missing == set()


def test_what_is_shown_is_meant_to_be_used() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    # Members that LightGBM's class of the same name does not have. What other modules need, but no
    # user does, is filtered out on the page.
    for holder, theirs, expected in (
        (gossamer.Dataset, lightgbm.Dataset(None), DATASET_MEMBERS),
        (gossamer.Booster, lightgbm.Booster, BOOSTER_MEMBERS),
    ):
        filters = re.search(rf"::: gossamer\.{holder.__name__}\n(?: .*\n)*? +filters: (.*)", PAGE)
        assert filters is not None
        hidden = [pattern[1:] for pattern in json.loads(filters[1])]
        shown = [name for name in dir(holder) if not any(re.search(h, name) for h in hidden)]
        own = [name for name in shown if not hasattr(theirs, name)]
        assert own == expected.split()


def test_every_public_method_has_a_docstring() -> None:
    silent = [
        f"{holder.__name__}.{name}"
        for holder in (gossamer.Booster, gossamer.Dataset, gossamer.CVBooster)
        for name in dir(holder)
        if not name.startswith("_") and not (getattr(holder, name).__doc__ or "").strip()
    ]
    assert silent == []
