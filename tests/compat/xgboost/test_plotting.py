from __future__ import annotations

from io import BytesIO
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


def test_trees_for_graphviz(few_values: Any, tmp_path: Any) -> None:
    pytest.importorskip("graphviz")
    model = xgb.train({"max_depth": 2}, xgb.DMatrix(*few_values), 3)
    assert (
        xgb.to_graphviz(model, tree_idx=2).source.rstrip() == model.get_dump(dump_format="dot")[2]
    )
    graph = xgb.to_graphviz(
        xgb.XGBRegressor(n_estimators=1, max_depth=2).fit(*few_values),
        rankdir="LR",
        leaf_node_params={"shape": "box"},
        with_stats=True,
    )
    assert 'rankdir="LR"' in graph.source and 'shape="box"' in graph.source
    assert "cover=500" in graph.source
    with pytest.warns(FutureWarning, match="tree_idx"):
        assert (
            xgb.to_graphviz(model, num_trees=1).source == xgb.to_graphviz(model, tree_idx=1).source
        )
    with pytest.raises(ParameterError, match="no such tree"):
        xgb.to_graphviz(model, tree_idx=3)


def test_plots_of_trees(few_values: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graphviz = pytest.importorskip("graphviz")
    picture = BytesIO()
    Figure().savefig(picture, format="png")
    monkeypatch.setattr(graphviz.Source, "pipe", lambda self, format: picture.getvalue())
    model = xgb.train({"max_depth": 2}, xgb.DMatrix(*few_values), 1)
    ax = xgb.plot_tree(model, ax=Figure().add_subplot())
    assert len(ax.images) == 1 and not ax.axison
