"""Random trainings: the same bytes whichever way the data and the model take.

A failure names the seed, and `draw_training(seed)` is the training.
"""

from __future__ import annotations

import pickle
import re
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack.random_trainings import STORAGES, Training, draw_training
from attack.scale import share

from gossamer import (
    Booster,
    DataError,
    Dataset,
    NotSupportedError,
    cv,
    threads,
    train,
)
from gossamer.cuda import driver, supported
from gossamer.data.storage.budget import Budget
from gossamer.distributed import Group, ShardData, run_group
from gossamer.distributed import train as train_shard
from gossamer.model.training.memory import Placement, may_be_in_files, place_rows
from tests.cuda.emulated import EmulatedDevice, emulated_library


@pytest.mark.parametrize("seed", range(share(60, 5_000)))
def test_random_training(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CELLS_PER_THREAD", 1)  # threads are used however small the data
    training = draw_training(seed)
    print(training)
    model = training.train()
    text = model.model_to_string()
    for n_threads in (2, 5):
        assert training.train(n_threads=n_threads).model_to_string() == text, n_threads
    check_storages(training, model)
    check_file(training, text, tmp_path / "data.bin")
    check_formats(training, model, tmp_path)
    check_fields_set_later(training, text)
    check_rounds(training, text)
    check_parts(training, text)
    check_pages(training, text, monkeypatch)
    check_shards(training, text)
    if seed % 50 == 0:  # seconds
        check_gpu(replace(training, n_rounds=min(training.n_rounds, 2)), monkeypatch)


def check_shards(training: Training, text: str) -> None:
    """With rows on several workers, which are threads here."""
    n_rows, fields = len(training.table), {"label": training.label, **training.fields}
    if "feature_weights" in fields:
        return  # a shard has none
    sizes = fields.pop("group", None)
    if sizes is not None:
        fields["query"] = np.repeat(np.arange(len(sizes)), sizes)
    ends = [0, *np.random.default_rng(training.seed).integers(0, n_rows + 1, 2), n_rows]
    rows = training.rows("compressed rows" if "compressed" in training.storage else None)

    def work(group: Group) -> str:
        own = slice(*sorted(ends)[group.rank : group.rank + 2])
        chunk = rows.iloc[own] if hasattr(rows, "iloc") else rows[own]
        mine = {name: values[own] for name, values in fields.items()}
        shard = ShardData([chunk], categorical_feature=training.data().categorical_feature, **mine)
        found = train_shard(group, training.all_params(), shard, training.n_rounds)
        return found.model_to_string()

    with suppress(NotSupportedError):  # of trees that one machine grows
        assert run_group(3, work) == [text] * 3


def check_gpu(training: Training, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU whose kernels run on the host."""
    device = EmulatedDevice(str(emulated_library()))
    with monkeypatch.context() as patch:
        patch.setattr(supported, "open_device", lambda number=0: device)
        patch.setattr(driver, "open_device", lambda number=0: device)
        there = replace(training, params={**training.params, "device_type": "cuda"})
        try:
            found = there.train().model_to_string()
        except NotSupportedError as error:
            assert "device_type=cuda does not support" in str(error)
            return
    assert found == training.train().model_to_string()


def check_pages(training: Training, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With bins on disk, scores in files where they may be, and mostly gradients, too."""

    def place(params: Any, objective: Any, data: Any, *rest: Any, **options: Any) -> Placement:
        placed = place_rows(params, objective, data, *rest, **options)
        in_files = may_be_in_files(params, objective, data)
        return replace(placed, in_files=in_files, holds_gradients=training.seed % 3 == 0)

    n_pages = 1 + training.seed % 4
    limited = replace(training, params={**training.params, "max_memory": "1GB"})
    with monkeypatch.context() as patch:
        patch.setattr(Budget, "holds_table", lambda *_: False)
        patch.setattr(Budget, "loaded_bytes", lambda *_: 0)
        patch.setattr(Budget, "page_rows", lambda *_: len(training.table) // n_pages + 1)
        patch.setattr("gossamer.model.training.prepared.place_rows", place)
        data = limited.data()
        try:
            found = limited.train(data, n_threads=2).model_to_string()
        except NotSupportedError as error:
            assert re.search("needs the bins in memory|symmetric .* with max_memory", str(error))
            return
    assert data.describe().pages == n_pages
    assert found == text


def check_storages(training: Training, model: Booster) -> None:
    """Dense or sparse, by row or by column, with names or without."""
    if training.text is not None:
        return
    text, rows = model.model_to_string(), training.rows("rows")
    expected = model.predict(training.rows())
    lossy = "max_conflict_rate" in training.params or training.params.get("tree_method") == "approx"
    for storage in STORAGES:
        if lossy and ("compressed" in storage) != ("compressed" in training.storage):
            continue  # which values are left out, or proposed, depends on it
        found = training.train(training.data(storage))
        np.testing.assert_array_equal(found.predict(training.rows()), expected, storage)
        if "frame" not in (storage, training.storage):  # names are part of the model
            assert found.model_to_string() == text, storage
            np.testing.assert_array_equal(found.predict(rows), expected, storage)


def check_file(training: Training, text: str, path: Path) -> None:
    """Training on a file of bins, which has the values too where leaves are linear."""
    training.data(params=training.bin_params()).save_binary(path)
    for _ in range(2):
        try:
            found = training.train(Dataset(path)).model_to_string()
        except DataError as error:
            assert training.reads_values, error
            assert "has bins only" in str(error)
            return
        assert found == text
        Dataset(path).construct().save_binary(path)


def check_formats(training: Training, model: Booster, folder: Path) -> None:
    """Our own text, files and JSON, pickles and LightGBM's text predict the same."""
    rows, text = training.rows(), model.model_to_string()
    expected = model.predict(rows), model.predict(rows, raw_score=True)
    paths = [folder / "model.gsm", folder / "model.json"]
    for path in paths:
        model.save_model(path)
    files = [Booster(model_file=path) for path in paths]
    for other in (*files, Booster(model_str=text), pickle.loads(pickle.dumps(model))):
        assert other.model_to_string() == text
        check_predictions(other, rows, expected, 0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            foreign = model.model_to_string(format="lightgbm")
        except NotSupportedError:
            return
    if any("no bounds" not in str(warning.message) for warning in caught):
        return  # some rows are predicted differently
    tolerance = 1e-13 if training.params.get("boosting") == "rf" else 0.0  # docs/interchange.md
    if model.model.forest.linear is not None:
        free = without_bounds(model)
        expected, tolerance = (free.predict(rows), free.predict(rows, raw_score=True)), 1e-7
    check_predictions(Booster(model_str=foreign), rows, expected, tolerance)


def without_bounds(model: Booster) -> Booster:
    """The same model with lines of leaves that go on without end, as LightGBM's do."""
    found = model.model
    linear = dict(found.forest.linear or {})
    has_terms = np.diff(linear["linear_begin"]) > 0
    for name, bound in (("linear_low", -1e308), ("linear_high", 1e308)):
        linear[name] = np.where(has_terms, bound, linear[name])
    return Booster.from_model(replace(found, forest=replace(found.forest, linear=linear)))


def check_predictions(model: Booster, rows: Any, expected: Any, tolerance: float) -> None:
    found = model.predict(rows), model.predict(rows, raw_score=True)
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance)


def check_fields_set_later(training: Training, text: str) -> None:
    """Fields that are set before the first round are those of the training."""
    fields = {"label": training.label, **training.fields}
    # Without the weights, bins that are chosen by them would be others.
    now = {name: fields.pop(name) for name in ("weight", "group", "position") if name in fields}
    data = training.data(label=np.roll(training.label, 1, axis=0), init_score=None, **now)
    booster = Booster(training.all_params(), data)
    for name, values in fields.items():
        data.set_field(name, values)
    for _ in range(training.n_rounds):
        if booster.update():
            break
    assert booster.model_to_string() == text


def check_rounds(training: Training, text: str) -> None:
    """A round taken back and done again."""
    data = training.data()
    booster = train(training.all_params(), data, training.n_rounds, keep_training_booster=True)
    n_rounds = booster.current_iteration()
    for _ in range(min(2, n_rounds)):
        booster.rollback_one_iter()
    while booster.current_iteration() < n_rounds:
        booster.update()
    assert booster.model_to_string() == text


def check_parts(training: Training, text: str) -> None:
    """All rows as a subset, and folds of `cv` as subsets."""
    params, n_rows = training.all_params(), len(training.table)
    whole = training.data(params=training.bin_params(), free_raw_data=False)
    found = train(params, whole.subset(np.arange(n_rows)), training.n_rounds)
    assert found.model_to_string() == text
    parts = training.halves()
    folds = [(parts[0], parts[1]), (parts[1], parts[0])]
    try:
        expected = [train(params, whole.subset(part), training.n_rounds) for part in parts]
    except DataError:  # a class is not in one half, say
        with pytest.raises(DataError):
            cv(params, training.data(), training.n_rounds, folds=folds)
        return
    models = cv(params, training.data(), training.n_rounds, folds=folds, return_cvbooster=True)
    for one, other in zip(models["cvbooster"].boosters, expected, strict=True):
        assert one.model_to_string() == other.model_to_string()
