from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

import gossamer.compat.xgboost as xgb
from gossamer.errors import ParameterError


def labels(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_the_most_important_is_on_top(few_values: Any) -> None:
    model = xgb.train({"max_depth": 3}, xgb.DMatrix(*few_values), 5)
    ax = xgb.plot_importance(model, importance_type="gain", ax=Figure().add_subplot())
    scores = model.get_score(importance_type="gain")
    assert labels(ax) == sorted(scores, key=lambda name: scores[name])
    some = xgb.plot_importance(
        model, max_num_features=2, values_format="{v:.1f}", ax=Figure().add_subplot()
    )
    counts = model.get_fscore()
    assert labels(some) == sorted(counts, key=lambda name: counts[name])[-2:]
    assert {text.get_text() for text in some.texts} == {
        f"{value:.1f}" for value in sorted(counts.values())[-2:]
    }


def test_estimators_are_drawn(few_values: Any) -> None:
    pytest.importorskip("sklearn")
    model = xgb.XGBRegressor(n_estimators=3).fit(*few_values)
    ax = xgb.plot_importance(model, show_values=False, ax=Figure().add_subplot())
    assert len(labels(ax)) >= 2 and not ax.texts


@pytest.mark.parametrize("nothing", [{}, 3, None], ids=str)
def test_nothing_to_draw(nothing: Any) -> None:
    with pytest.raises(ParameterError, match="nothing to draw"):
        xgb.plot_importance(nothing)
