"""Target statistics as columns of the trees."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse

import gossamer as gs
from gossamer import files
from gossamer.errors import ModelFileError, NotSupportedError, ParameterError
from gossamer.model.derived import code_values
from gossamer.model.files import model_file

Array = npt.NDArray[Any]
PARAMS = {"verbosity": -1, "objective": "binary", "num_leaves": 7}


def rows(seed: int = 0, n_rows: int = 3000, n_levels: int = 300) -> tuple[Array, Array]:
    """Two columns of many categories, each with an effect of its own; one of few; one number."""
    rng = np.random.default_rng(seed)
    effect = np.random.default_rng(99).normal(size=n_levels) * 2
    x = np.column_stack(
        [
            rng.integers(0, n_levels, n_rows),
            rng.integers(0, n_levels, n_rows),
            rng.integers(0, 4, n_rows),
            rng.normal(size=n_rows),
        ]
    ).astype(float)
    score = effect[x[:, 0].astype(int)] + effect[x[:, 1].astype(int)] + x[:, 3]
    y = (score + rng.logistic(size=n_rows) > 0).astype(float)
    x[rng.random(n_rows) < 0.05, 0] = np.nan
    return x, y


def data_set(x: Any, y: Array, **kwargs: Any) -> gs.Dataset:
    return gs.Dataset(x, label=y, categorical_feature=[0, 1, 2], **kwargs)


def test_auto_takes_columns_of_many_categories() -> None:
    x, y = rows(n_rows=6000)
    derived = gs.train(PARAMS, data_set(x, y), 5).model.derived
    assert derived is not None
    singles = {s for s in derived.statistics.sources if len(s) == 1}
    assert singles == {(0,), (1,)}
    assert any(len(s) == 3 for s in derived.statistics.sources)
    assert (
        gs.train({**PARAMS, "cat_target_statistics": "off"}, data_set(x, y), 5).model.derived
        is None
    )
    few = np.column_stack([x[:, 2], x[:, 3]])
    assert gs.train(PARAMS, gs.Dataset(few, y, categorical_feature=[0]), 5).model.derived is None


def test_encoded_columns_are_not_split_by_sets() -> None:
    x, y = rows(n_rows=6000)
    forest = gs.train(PARAMS, data_set(x, y), 20).model.forest
    begin = forest.arrays.get("category_begin", np.zeros(len(forest.arrays["column"]) + 1))
    split_by_sets = forest.arrays["column"][np.diff(begin) > 0]
    assert set(split_by_sets.tolist()) <= {2}


@pytest.mark.parametrize("classes", [2, 3])
def test_validation_scores_are_those_of_predict(classes: int) -> None:
    x, y = rows()
    other, z = rows(1)
    params = PARAMS
    if classes == 3:
        y, z = (label + (table[:, 3] > 1) for label, table in ((y, x), (z, other)))
        params = {**PARAMS, "objective": "multiclass", "num_class": 3}
    train_set = data_set(x, y)
    valid = train_set.create_valid(other, z)
    record: dict[str, Any] = {}
    model = gs.train(
        params, train_set, 10, valid_sets=[valid], callbacks=[gs.record_evaluation(record)]
    )
    p = model.predict(other)
    if classes == 2:
        loss = -np.mean(np.where(z == 1, np.log(p), np.log1p(-p)))
    else:
        loss = -np.mean(np.log(p[np.arange(len(z)), z.astype(int)]))
    assert next(iter(record["valid_0"].values()))[-1] == pytest.approx(loss, rel=1e-9)
    again = gs.Booster(model_str=model.model_to_string())
    assert np.array_equal(again.predict(other), p)
    assert np.array_equal(
        again.predict(other, pred_leaf=True), model.predict(other, pred_leaf=True)
    )


def test_any_number_of_threads() -> None:
    x, y = rows()
    texts = {
        gs.train({**PARAMS, "num_threads": n}, data_set(x, y), 5).model_to_string()
        for n in (1, 2, 3, 8)
    }
    assert len(texts) == 1


def test_unseen_categories_count_as_the_mean() -> None:
    x, y = rows()
    model = gs.train(PARAMS, data_set(x, y), 5)
    odd = x[:50].copy()
    odd[:, 0] = 77_777
    more = odd.copy()
    more[:, 0] = -1
    assert np.array_equal(model.predict(odd), model.predict(more))


def test_sparse_tables() -> None:
    x, y = rows()
    x = np.nan_to_num(x)
    dense = gs.train(PARAMS, data_set(x, y), 5)
    model = gs.train(PARAMS, data_set(sparse.csr_matrix(x), y), 5)
    assert model.model_to_string() == dense.model_to_string()
    assert np.array_equal(model.predict(sparse.csr_matrix(x)), dense.predict(x))


def test_labels_do_not_leak() -> None:
    """Categories that each row has alone say nothing: no split on them helps on other rows."""
    rng = np.random.default_rng(0)
    x = np.column_stack([np.arange(4000), rng.normal(size=4000)]).astype(float)
    y = (rng.random(4000) < 0.5).astype(float)
    params = {**PARAMS, "cat_target_statistics": "on"}
    model = gs.train(params, gs.Dataset(x, y, categorical_feature=[0]), 20)
    assert model.predict(x).std() < 0.1


def test_folds_have_statistics_of_their_own() -> None:
    x, y = rows()
    result = gs.cv(PARAMS, data_set(x, y), 5, nfold=3, return_cvbooster=True)
    tables = [booster.model.derived.statistics for booster in result["cvbooster"].boosters]
    assert len({table.values.tobytes() for table in tables}) == 3


def test_importance_is_credited_to_the_sources() -> None:
    x, y = rows()
    model = gs.train(PARAMS, data_set(x, y), 10)
    for kind in ("split", "gain"):
        found = model.feature_importance(kind)
        assert len(found) == 4
        assert found[0] > 0 and found[1] > 0
    gains = model.model.forest.arrays["gain"].sum()
    assert model.feature_importance("gain").sum() == pytest.approx(gains)


@pytest.mark.parametrize(
    "options",
    [
        {"monotone_constraints": [0, 0, 0, 1]},
        {"interaction_constraints": [[0, 1], [2, 3]]},
        {"feature_contri": [1, 1, 1, 0.5]},
    ],
    ids=str,
)
def test_auto_gives_way_and_on_is_refused(options: dict[str, Any]) -> None:
    x, y = rows()
    assert gs.train({**PARAMS, **options}, data_set(x, y), 3).model.derived is None
    with pytest.raises(ParameterError, match="cat_target_statistics"):
        gs.train({**PARAMS, **options, "cat_target_statistics": "on"}, data_set(x, y), 3)


@pytest.mark.parametrize("check", [True, False])
def test_linear_leaves_have_slopes_of_the_users_numbers_alone(check: bool) -> None:
    x, y = rows()
    other, z = rows(1)
    train_set = data_set(x, 3 * x[:, 3] + y, params={"linear_tree": True})
    valid = train_set.create_valid(other, 3 * other[:, 3] + z)
    record: dict[str, Any] = {}
    params = {**PARAMS, "objective": "regression", "linear_tree": True, "linear_check": check}
    model = gs.train(params, train_set, 10, [valid], callbacks=[gs.record_evaluation(record)])
    assert model.model.derived is not None
    linear = model.model.forest.linear
    assert linear is not None
    assert set(linear["linear_column"].tolist()) == {3}
    p = model.predict(other)
    loss = np.mean((p - (3 * other[:, 3] + z).astype(np.float32)) ** 2)
    assert record["valid_0"]["l2"][-1] == pytest.approx(loss, rel=1e-9)
    again = gs.Booster(model_str=model.model_to_string())
    assert np.array_equal(again.predict(other), p)


def test_shrinkage_follows_from_the_variances() -> None:
    """Categories that explain little are shrunk more; numbers that are given are kept."""
    rng = np.random.default_rng(5)
    x = np.column_stack([rng.integers(0, 300, 6000), rng.integers(0, 300, 6000)]).astype(float)
    effect = rng.normal(size=300)
    y = 3 * effect[x[:, 0].astype(int)] + 0.2 * effect[x[:, 1].astype(int)] + rng.normal(size=6000)
    shared = {"verbosity": -1, "cat_target_statistics": "on", "cat_combinations": 1}

    def train(**more: Any) -> gs.Booster:
        return gs.train({**shared, **more}, gs.Dataset(x, y, categorical_feature=[0, 1]), 5)

    def statistics(model: gs.Booster) -> list[Array]:
        learned = model.model.derived.statistics
        return [learned.values[a:b, 0] for a, b in pairwise(learned.offsets)]

    auto, strong, weak = (train(cat_prior_weight=w) for w in ("auto", 0.5, 200.0))
    assert np.array_equal(statistics(auto)[0], statistics(strong)[0])
    assert 0.0 < np.std(statistics(auto)[1]) < np.std(statistics(strong)[1])
    assert np.std(statistics(weak)[1]) <= np.std(statistics(auto)[1])
    assert train(cat_prior_weight=5, cat_statistics_l2=50).model_to_string(
        num_iteration=5
    ) != train(cat_prior_weight=5, cat_statistics_l2="auto").model_to_string(num_iteration=5)
    texts = {
        train(cat_prior_weight="auto", cat_statistics_l2="auto", num_threads=n).model_to_string()
        for n in (1, 3)
    }
    assert len(texts) == 1


def test_what_cannot_change_such_a_model() -> None:
    x, y = rows()
    model = gs.train(PARAMS, data_set(x, y), 3)
    with pytest.raises(ParameterError, match="target statistics"):
        gs.train(PARAMS, data_set(x, y), 3, init_model=model)
    with pytest.raises(NotSupportedError, match="refit"):
        model.refit(x, y)
    booster = gs.Booster(PARAMS, data_set(x, y))
    booster.update()
    with pytest.raises(NotSupportedError, match="target statistics"):
        booster.update(train_set=data_set(x, y))


class Stop(Exception):
    """Ends a training as a kill would."""


def test_resuming_from_a_checkpoint(tmp_path: Any) -> None:
    x, y = rows()
    expected = gs.train(PARAMS, data_set(x, y), 8)

    calls: list[int] = []
    fails = True

    def watch(env: Any) -> None:
        calls.append(env.iteration)
        if fails and env.iteration == 5:
            raise Stop

    def run() -> gs.Booster:
        point = gs.checkpoint(tmp_path / "c", every_rounds=2)
        return gs.train(PARAMS, data_set(x, y), 8, callbacks=[point, watch])

    with pytest.raises(Stop):
        run()
    fails = False
    calls.clear()
    again = run()
    assert calls[0] > 0, "it went on, and did not start again"
    assert again.model_to_string() == expected.model_to_string()


def test_broken_files() -> None:
    x, y = rows(n_rows=1000)
    content = model_file.to_bytes(gs.train(PARAMS, data_set(x, y), 3).model)
    arrays, facts = files.from_bytes(content)
    names = [name for name in arrays if name.startswith("derived.")]
    assert len(names) > 5
    for name in names:
        for change in (None, arrays[name][:-1], arrays[name].astype("?"), arrays[name][::-1]):
            broken = {k: v for k, v in arrays.items() if k != name}
            if change is not None:
                broken[name] = np.ascontiguousarray(change)
            is_same_kind = change is not None and change.shape == arrays[name].shape
            is_same_kind &= change is not None and change.dtype == arrays[name].dtype
            if is_same_kind and name in ("derived.values", "derived.prior", "derived.n_codes"):
                continue  # in another order, but not broken
            if is_same_kind and name == "derived.sources":
                continue
            with pytest.raises(ModelFileError):
                model_file.from_bytes(files.to_bytes(broken, facts))


def test_codes() -> None:
    known = np.array([2, 5, 9], np.int32)
    values = np.array([2, 5, 9, 3, -1, np.nan, np.inf, -np.inf, 1e300])
    assert code_values(values, known).tolist() == [0, 1, 2, 3, 3, 3, 3, 3, 3]
    assert code_values(np.array([5], np.uint8), known).tolist() == [1]
    assert code_values(np.empty(0), known[:0]).tolist() == []


def test_sparse_rows_without_the_last_columns() -> None:
    """What a narrow table lacks is missing, be it dense or sparse."""
    x, y = rows()
    x = np.nan_to_num(x)
    model = gs.train(PARAMS, data_set(x, y), 5)
    narrow = x[:20, :3]
    dense = model.predict(narrow, predict_disable_shape_check=True)
    found = model.predict(sparse.csr_matrix(narrow), predict_disable_shape_check=True)
    assert np.array_equal(dense, found)
