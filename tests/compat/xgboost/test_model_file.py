"""XGBoost's files, read and written by its own names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import gossamer as gs
import gossamer.compat.xgboost as ours
from gossamer.compat.xgboost import model_file
from gossamer.errors import ModelFileError

theirs = pytest.importorskip("xgboost")

ENDINGS = ["json", "ubj"]
PARAMS = [
    {"max_depth": 3},
    {"max_depth": 3, "objective": "binary:logistic"},
    {"max_depth": 3, "objective": "multi:softmax", "num_class": 3},
    {"max_depth": 3, "booster": "dart", "rate_drop": 0.3},
    {"max_depth": 3, "num_parallel_tree": 3, "subsample": 0.5},
]


def label_for(params: dict[str, Any], y: Any) -> Any:
    objective = params.get("objective", "")
    if objective.startswith("multi"):
        return np.digitize(y, [10, 30])
    return y > 20 if objective else y


@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("writer", "reader"), [(ours, theirs), (theirs, ours)])
def test_files_go_both_ways(
    few_values: Any, tmp_path: Path, writer: Any, reader: Any, ending: str, params: dict[str, Any]
) -> None:
    label, path = label_for(params, few_values.y), tmp_path / f"model.{ending}"
    names, types = ["a", "b", "c", "d"], ["q", "int", "float", "q"]
    data = writer.DMatrix(few_values.x, label, feature_names=names, feature_types=types)
    evals = [(data, "train")]
    settings: dict[str, Any] = {"verbose_eval": False, "evals": evals, "early_stopping_rounds": 4}
    model = writer.train({"nthread": 1, **params}, data, 6, **settings)
    model.set_attr(colour="blue")
    model.save_model(path)
    loaded = reader.Booster({"nthread": 1}, model_file=path)
    rows = reader.DMatrix(few_values.x, feature_names=names, feature_types=types)
    np.testing.assert_allclose(loaded.predict(rows), model.predict(data), rtol=2e-6, atol=2e-6)
    from_bytes = reader.Booster(model_file=model.save_raw(ending))
    np.testing.assert_array_equal(from_bytes.predict(rows), loaded.predict(rows))
    assert loaded.attributes() == model.attributes() and loaded.attr("colour") == "blue"
    assert loaded.best_iteration == model.best_iteration
    assert loaded.feature_names == names and loaded.feature_types == types
    assert loaded.num_boosted_rounds() == model.num_boosted_rounds()
    for kind in ("weight", "gain", "total_cover"):
        expected = model.get_score(importance_type=kind)
        assert loaded.get_score(importance_type=kind) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("writer", "reader"), [(ours, theirs), (theirs, ours)])
def test_training_goes_on(few_values: Any, tmp_path: Path, writer: Any, reader: Any) -> None:
    params = {"max_depth": 3, "nthread": 1}
    writer.train(params, writer.DMatrix(*few_values), 3).save_model(tmp_path / "half.ubj")
    data = reader.DMatrix(*few_values)
    more = reader.train(params, data, 3, xgb_model=str(tmp_path / "half.ubj"))
    whole = theirs.train(params, theirs.DMatrix(*few_values), 6)
    assert more.num_boosted_rounds() == 6
    expected = whole.predict(theirs.DMatrix(few_values.x))
    np.testing.assert_allclose(more.predict(data), expected, rtol=1e-3)


def test_sparse_rows_of_their_models(few_values: Any) -> None:
    x = scipy.sparse.csr_matrix(np.where(few_values.x > 2, few_values.x, 0))
    model = theirs.train({"nthread": 1}, theirs.DMatrix(x, few_values.y), 4)
    loaded = ours.Booster(model_file=model.save_raw())
    expected = model.predict(theirs.DMatrix(x))
    np.testing.assert_allclose(loaded.predict(ours.DMatrix(x)), expected, rtol=2e-6)


def test_estimators(few_values: Any, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    label = np.digitize(few_values.y, [10, 30])
    for writer, reader in ((ours, theirs), (theirs, ours)):
        model = writer.XGBClassifier(n_estimators=5, n_jobs=1, max_depth=3)
        model.fit(few_values.x, label).save_model(tmp_path / "model.json")
        loaded = reader.XGBClassifier()
        loaded.load_model(tmp_path / "model.json")
        assert loaded.n_classes_ == 3
        np.testing.assert_allclose(
            loaded.predict_proba(few_values.x), model.predict_proba(few_values.x), atol=2e-6
        )
        np.testing.assert_array_equal(loaded.predict(few_values.x), model.predict(few_values.x))


def test_what_xgboost_cannot_hold_is_saved_as_ours(few_values: Any, tmp_path: Path) -> None:
    data = ours.DMatrix(few_values.x, np.abs(few_values.y))
    model = ours.train({"max_depth": 3, "objective": "reg:squaredlogerror"}, data, 3)
    with pytest.warns(UserWarning, match=r"Gossamer's format instead"):
        model.save_model(tmp_path / "model.json")
    loaded = ours.Booster(model_file=tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(data), model.predict(data))


def test_our_own_format_under_any_name(few_values: Any, tmp_path: Path) -> None:
    data = ours.DMatrix(*few_values)
    model = ours.train({"max_depth": 3}, data, 3)
    model.set_attr(colour="blue")
    content = model.save_raw("gossamer")
    (tmp_path / "old.json").write_bytes(content)  # as versions before this one wrote them
    model.save_model(tmp_path / "model.gsm")
    assert (tmp_path / "model.gsm").read_bytes() == content
    for path in ("old.json", "model.gsm"):
        loaded = ours.Booster(model_file=tmp_path / path)
        assert loaded.attributes() == {"colour": "blue"}
        np.testing.assert_array_equal(loaded.predict(data), model.predict(data))
        assert gs.Booster(model_file=tmp_path / path).current_iteration() == 3
    damaged = model_file.to_bytes(model.model, "no pairs", "gossamer")  # type: ignore[arg-type]
    with pytest.raises(ModelFileError, match="not pairs"):
        ours.Booster(model_file=damaged)
