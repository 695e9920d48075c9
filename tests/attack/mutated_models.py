"""Damaged and hostile model files of our own: each is refused, or it is a model that can be used.

`mutated_files.py` draws from them, and from files of all other formats.
"""

from __future__ import annotations

import copy
import json
import struct
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

import gossamer as gs
from gossamer import Booster, Dataset, files
from gossamer.errors import ModelFileError, NotSupportedError, ParameterError
from gossamer.model import formats
from gossamer.model.files import model_file
from gossamer.model.files.cv_file import from_bytes as cv_from_bytes
from gossamer.model.files.cv_file import to_bytes as cv_to_bytes
from gossamer.model.model import Model

Random = np.random.Generator

FLOATS = (0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, np.nan, np.inf, -np.inf, 1e-35, 0.5)
INTEGERS = (0, 1, -1, 2, 3, 7, 127, -128, 255, 256, 65535, 65536, 2**31 - 1, -(2**31), 2**62, -5)
ODD_FACTS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 10**9, 10**30, 2.5, 1e300, -1e300, "", "a", "nan", "1"),
    *([], {}, [[]], [0], ["a"], ["a", "b", "c", "d"], {"name": "binary"}, [[0, ["a", "b"]]]),
    *({"name": "multiclass", "num_class": 10**9}, {"name": "binary", "sigmoid": 0}),
    {"name": "several_targets", "parts": [{"name": "several_targets", "parts": []}] * 2},
    {"name": "several_targets", "parts": [{"name": "regression"}] * 3},
    {"name": "custom_link", "num_class": 1, "link": "exp"},
    {"name": "reg_sqrt", "objective": "reg_sqrt"},
    {"pred_early_stop": True, "pred_early_stop_freq": 1, "pred_early_stop_margin": 0.1},
    {"predict_leaf_index": True},
    {"num_threads": 10**6},
)


class File(NamedTuple):
    """A model file that nothing is wrong with."""

    name: str
    arrays: dict[str, Any]
    facts: dict[str, Any]
    content: bytes
    as_json: bytes


def make_files() -> list[File]:
    """Return small models of every kind."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 4))
    x[:, 2] = rng.integers(0, 12, 120)
    x[::5, 0], x[::3, 1] = np.nan, 0.0
    y = np.nan_to_num(x[:, 0]) + (x[:, 2] % 3)
    small = {"num_leaves": 6, "min_data_in_leaf": 4, "num_threads": 1, "verbosity": -1}
    sets = {"cat_target_statistics": "off", "min_data_per_group": 1, "cat_smooth": 1}
    statistics = {"cat_target_statistics": "on", "cat_combinations": 2, "categorical_feature": [2]}
    town = np.array(["Bern", "Oslo", "Rome"], object)[rng.integers(0, 3, 120)]
    mixed = np.column_stack([x.astype(object), town])
    forest = {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}
    codes = np.where(x[:, [2]] > 5, 70_000.0 + x[:, [2]], x[:, [2]])
    kinds: dict[str, tuple[dict[str, Any], Any, Any]] = {
        "regression": ({}, x, y),
        "zero missing": ({"objective": "binary", "zero_as_missing": True}, x, y > 1),
        "no missing": ({"objective": "poisson", "use_missing": False}, x, y + 5),
        "multiclass": ({"objective": "multiclass", "num_class": 3}, x, y.astype(int) % 3),
        "one of many": ({"objective": "multiclassova", "num_class": 3}, x, y.astype(int) % 3),
        "categories": ({"categorical_feature": [2], **sets}, x, y),
        "large codes": (
            {"categorical_feature": [0], **sets},
            codes,
            y,
        ),
        "statistics": (statistics, x, y),
        "levels": (sets, mixed, y + (town == "Oslo")),
        "linear": ({"linear_tree": True}, x, np.sin(y) + x[:, 3]),
        "vectors": ({"multi_strategy": "multi_output_tree"}, x, np.column_stack([y, -y, y**2])),
        "targets": ({}, x, np.column_stack([y, -y])),
        "forest": (forest, x, y),
        "parallel": ({"num_parallel_tree": 2, "bagging_fraction": 0.5, "bagging_freq": 1}, x, y),
        "quantiles": ({"objective": "quantile", "quantile_alpha": [0.2, 0.7]}, x, y),
        "gaussian": ({"objective": "gaussian"}, x, y),
        "aft": ({"objective": "aft"}, x, np.exp(y)),
        "square roots": ({"objective": "l1", "reg_sqrt": True}, x, y),
        "constant": ({}, x, np.ones(120)),
    }
    found = []
    for name, (params, table, label) in kinds.items():
        params = {**small, **params}
        columns = params.pop("categorical_feature", "auto")
        data = Dataset(table, label, categorical_feature=columns, params=dict(small))
        found.append(_file_of(name, gs.train(params, data, 3).model))
    members = [{"num_leaves": 5}, {"num_leaves": 4}]
    for name, (params, label, options) in {
        "folds": ({}, y, {"members": members, "repeats": 2}),
        "folds of quantiles": ({"objective": "quantile", "quantile_alpha": [0.1, 0.9]}, y, {}),
        "folds, joined statistics": (statistics, y, {}),
        "folds, sigmoid": ({"objective": "binary"}, y > 1, {"calibration": "sigmoid"}),
        "folds, isotonic": (
            {"objective": "multiclass", "num_class": 3},
            y.astype(int) % 3,
            {"calibration": "isotonic"},
        ),
    }.items():
        params = {**small, **params, "early_stopping_round": 0}
        columns = params.pop("categorical_feature", "auto")
        data = Dataset(x, label, categorical_feature=columns, params=dict(small))
        found.append(_file_of(name, gs.train_folds(params, data, 2, nfold=2, **options).model))
    present = {name for file in found for name in file.arrays}
    assert {file.facts["version"] for file in found} >= {1, 2, 3, 4}
    assert present >= {"category", "linear_column", "derived.keys"}
    assert any(file.arrays.get("category", np.zeros(1)).max() >= 2**16 for file in found)
    return found


def _file_of(name: str, model: Model) -> File:
    content = model_file.to_bytes(model)
    return File(name, *files.from_bytes(content), content, formats.to_bytes(model, "json"))


# ---- damage ----


def mutate(rng: Random, pool: list[File]) -> tuple[str, bytes]:
    """Return what was done to a file, and its bytes."""
    file = pool[rng.integers(len(pool))]
    ways: list[tuple[str, float, Callable[[], bytes]]] = [
        ("arrays", 0.3, lambda: _with_odd_arrays(rng, file, pool)),
        ("values", 0.2, lambda: _with_other_values(rng, file)),
        ("facts", 0.2, lambda: _with_odd_facts(rng, file, pool)),
        ("bytes", 0.15, lambda: damage(rng, file.content, pool)),
        ("json", 0.1, lambda: _odd_json(rng, file)),
        ("json bytes", 0.08, lambda: damage(rng, file.as_json, pool)),
        ("text", 0.02, lambda: damage(rng, text_of(file), pool)),
        ("folds", 0.05, lambda: _odd_folds(rng, file, pool)),
    ]
    shares = np.array([share for _, share, _ in ways])
    name, _, make = ways[rng.choice(len(ways), p=shares / shares.sum())]
    return f"{name} of {file.name}", make()


def text_of(file: File) -> bytes:
    return files.to_text(file.content, "gossamer model 1").encode()


def seal(arrays: dict[str, Any], facts: dict[str, Any]) -> bytes:
    """Bytes with the right checksum, as an attacker would write them."""
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    try:
        return files.to_bytes(tensors, facts)
    except ValueError:  # NaN in the facts: there is no right checksum
        import safetensors.numpy

        whole = json.dumps({**facts, "checksum": ""})
        return safetensors.numpy.save(tensors, metadata={"gossamer": whole})


def _with_odd_arrays(rng: Random, file: File, pool: list[File]) -> bytes:
    arrays = {name: array.copy() for name, array in file.arrays.items()}
    for _ in range(1 + int(rng.integers(3) == 0) * int(rng.integers(1, 6))):
        change_array(rng, arrays, pool)
    return seal(arrays, file.facts)


def change_array(rng: Random, arrays: dict[str, Any], pool: list[File]) -> None:
    name = sorted(arrays)[rng.integers(len(arrays))]
    array = arrays[name]
    way = rng.integers(14)
    if way <= 7 and array.size:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flat = array.reshape(-1)
            places = rng.integers(0, flat.size, 1 if way < 5 else 1 + flat.size // 3)
            flat[places] = [_odd_number(rng, flat, int(place)) for place in places]
    elif way == 8:
        arrays[name] = array[: rng.integers(len(array) + 1)]
    elif way == 9:
        arrays[name] = np.concatenate([array, array[: rng.integers(len(array) + 1)]])
    elif way == 10:
        kinds = ("i1", "i4", "i8", "u8", "f4", "f8", "u1", "f2")
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays[name] = array.astype(kinds[rng.integers(len(kinds))])
    elif way == 11:
        del arrays[name]
    elif way == 12:
        others = pool[rng.integers(len(pool))].arrays
        other = sorted(others)[rng.integers(len(others))]
        arrays[other if rng.integers(2) else name] = others[other]
    else:
        shapes = [(1, array.size), (array.size, 1), (0, 2**40), (0,), (array.size, 1, 1)]
        shape = shapes[rng.integers(len(shapes))]
        arrays[name] = np.empty(shape, array.dtype) if 0 in shape else array.reshape(shape)


def _with_other_values(rng: Random, file: File) -> bytes:
    """Other trees of the same shape, which a file may well have: odd numbers, but allowed ones."""
    arrays = {name: array.copy() for name, array in file.arrays.items()}
    n_columns = len(file.facts["feature_names"])
    allowed: dict[str, Callable[[int], Any]] = {
        "column": lambda n: rng.integers(0, n_columns, n),
        "missing_kind": lambda n: rng.integers(0, 3, n),
        "default_left": lambda n: rng.integers(0, 2, n),
        "threshold": lambda n: rng.choice([f for f in FLOATS if f == f], n),
        "leaf_value": lambda n: rng.choice([f for f in FLOATS if np.isfinite(f)], n),
        "node_value": lambda n: rng.choice([f for f in FLOATS if np.isfinite(f)], n),
        "gain": lambda n: rng.normal(size=n),
        "node_count": lambda n: rng.choice([0, 1, 2**62, 5], n),
        "leaf_count": lambda n: rng.choice([0, 1, 2**62, 5], n),
        "linear_column": lambda n: rng.integers(0, n_columns, n),
        "linear_coefficient": lambda n: rng.choice([f for f in FLOATS if np.isfinite(f)], n),
        "linear_centre": lambda n: rng.normal(size=n),
        "category": lambda n: np.sort(rng.choice(2**17, n, replace=False)),
        "derived.values": lambda n: rng.normal(size=n),
    }
    present = [name for name in allowed if name in arrays]
    for name in rng.choice(present, int(rng.integers(1, 4))):
        flat = arrays[name].reshape(-1)
        n_changed = int(rng.integers(flat.size + 1)) if name != "category" else flat.size
        flat[:n_changed] = allowed[name](n_changed)
    if "linear_low" in arrays:
        arrays["linear_low"] = np.minimum(arrays["linear_low"], arrays["leaf_value"])
        arrays["linear_high"] = np.maximum(arrays["linear_high"], arrays["leaf_value"])
    return seal(arrays, file.facts)


def _odd_number(rng: Random, flat: Any, place: int) -> Any:
    if rng.integers(3) == 0:
        return flat[rng.integers(flat.size)]  # one of the others
    if flat.dtype.kind == "f":
        if rng.integers(2):
            return FLOATS[rng.integers(len(FLOATS))]
        return np.frombuffer(rng.bytes(flat.dtype.itemsize), flat.dtype)[0]
    limits = np.iinfo(flat.dtype)
    number = int(flat[place]) + int(rng.integers(-2, 3))
    if rng.integers(2):
        number = INTEGERS[rng.integers(len(INTEGERS))]
    return min(max(number, limits.min), limits.max)


def _with_odd_facts(rng: Random, file: File, pool: list[File]) -> bytes:
    facts = copy.deepcopy(file.facts)
    for _ in range(1 + int(rng.integers(3) == 0)):
        change_json(rng, facts, pool[rng.integers(len(pool))].facts)
    return seal(file.arrays, facts)


def change_json(rng: Random, facts: Any, others: Any) -> None:
    """Change something in a JSON value, at any depth."""
    at, other = facts, others
    while True:
        if not isinstance(at, (dict, list)) or not at:
            return
        keys: list[Any] = sorted(at) if isinstance(at, dict) else list(range(len(at)))
        key = keys[rng.integers(len(keys))]
        below = at[key]
        try:
            other = other[key]
        except (KeyError, IndexError, TypeError):
            other = None
        if isinstance(below, (dict, list)) and below and rng.integers(3):
            at = below
            continue
        break
    way = rng.integers(8)
    if way == 0:
        del at[key]
    elif way == 1:
        at[key] = other
    elif way == 2 and isinstance(at, list):
        at.append(copy.deepcopy(at[key]))
    elif way == 3 and type(below) in (int, float):
        at[key] = below + [1, -1, 0.5, 10**9][rng.integers(4)]
    elif way == 4:
        at[key] = [not_a_number(), "x" * 10**5, _nested(int(rng.integers(1, 3000)))][
            rng.integers(3)
        ]
    elif way == 5 and isinstance(at, dict):
        at["more"] = copy.deepcopy(below)
    else:
        at[key] = copy.deepcopy(ODD_FACTS[rng.integers(len(ODD_FACTS))])


def not_a_number() -> float:
    """Not a number: no JSON either, though Python writes it."""
    return float("nan")


def _nested(depth: int) -> Any:
    found: Any = []
    for _ in range(min(depth, 400)):
        found = [found]
    return found


def damage(rng: Random, content: bytes, pool: Sequence[Any]) -> bytes:
    """Cut, change or insert bytes; splice the file with another one of the pool."""
    found = bytearray(content)
    for _ in range(1 + int(rng.integers(4) == 0) * int(rng.integers(1, 20))):
        place = int(rng.integers(len(found))) if found else 0
        # Headers are short, and what is in them matters most.
        place = place % 4096 if rng.integers(2) else place
        way = rng.integers(7)
        if way == 0:
            del found[place:]
        elif way == 1 and found:
            found[place % len(found)] ^= 1 << int(rng.integers(8))
        elif way == 2 and found:
            found[place % len(found)] = int(rng.integers(256))
        elif way == 3:
            found[place:place] = rng.bytes(int(rng.integers(1, 9)))
        elif way == 4:
            del found[place : place + int(rng.integers(1, 64))]
        elif way == 5:
            other = pool[rng.integers(len(pool))].content
            found[place:] = other[place:]
        else:
            sizes = (0, 1, 7, 2**20, 2**31, 2**62, 2**63, 2**64 - 1)
            found[:8] = struct.pack("<Q", sizes[rng.integers(len(sizes))])
    return bytes(found)


def _odd_json(rng: Random, file: File) -> bytes:
    whole = json.loads(file.as_json)
    for _ in range(1 + int(rng.integers(3))):
        change_json(rng, whole, {})
    return json.dumps(whole).encode()


def _odd_folds(rng: Random, file: File, pool: list[File]) -> bytes:
    models = [model_file.from_bytes(each.content) for each in (file, pool[0])]
    arrays, facts = files.from_bytes(cv_to_bytes(models, 2))
    if rng.integers(2):
        change_json(rng, facts, file.facts)
    else:
        name = f"fold_{rng.integers(2)}"
        inner = _with_odd_arrays(rng, file, pool)
        arrays[name] = np.frombuffer(inner, np.uint8)
    return seal(arrays, facts)


# ---- use ----


def use(content: bytes) -> str:
    """Read a file as a user would, and use the model in every way.

    Returns:
        "refused" or "read".
    """
    try:
        if b"gossamer cv models" in content[:65536]:
            models = cv_from_bytes(content)[0]
        elif content[:15] == b"gossamer model ":
            models = [formats.from_text(content.decode("utf-8", errors="surrogateescape"))]
        else:
            models = [formats.from_bytes(content)]
    except ModelFileError as error:
        assert 10 < len(str(error)) < 3000, "an error that nobody reads"
        return "refused"
    for model in models:
        _use_model(model)
    return "read"


def _use_model(model: Model) -> None:
    booster = Booster.from_model(model)
    assert model_file.to_bytes(model_file.from_bytes(model_file.to_bytes(model))) == (
        model_file.to_bytes(model)
    )
    again = formats.from_bytes(formats.to_bytes(model, "json"))
    table = _table_of(model)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = booster.predict(table)
            np.testing.assert_array_equal(Booster.from_model(again).predict(table), found)
        except ParameterError:
            # What was given for predictions need not fit the rounds: then it is not used.
            assert "start_iteration_predict" in booster.params
            return
        assert len(found) == len(table) and np.asarray(found).dtype.kind in "fi"
        _compare_ways(booster, model, table)


def _compare_ways(booster: Booster, model: Model, table: Any) -> None:
    """Every way of predicting, and of looking at a model."""
    raw = booster.predict(table, raw_score=True, predict_leaf_index=False, pred_early_stop=False)
    leaves = booster.predict(table, pred_leaf=True)
    assert leaves.shape[0] == len(table) and leaves.min(initial=0) >= 0
    given = booster.params.keys() & {"predict_leaf_index", "start_iteration_predict", "more"}
    if not given and not model.levels:
        predict_row = booster.predictor(raw_score=True)
        rows = [predict_row(row) for row in table.tolist()]
        if not booster.params.get("pred_early_stop"):
            np.testing.assert_array_equal(np.array(rows).reshape(raw.shape), raw)
        sparse = scipy.sparse.csr_array(np.nan_to_num(table, nan=7.0))
        booster.predict(sparse)
        booster.predict(sparse, pred_leaf=True)
    for part in (table[:1], table[:1]):  # the second time by the way of single rows
        booster.predict(part)
    with suppress(NotSupportedError):  # trees that do not say how many rows they had
        booster.predict(table, pred_contrib=True)
    json.dumps(booster.dump_model())
    assert len(list(booster)) == booster.current_iteration()
    for kind in ("split", "gain", "cover"):
        booster.feature_importance(kind)
    if model.folds is not None:
        _use_folds(booster, table)
    if model.forest.n_trees:
        booster.trees_to_dataframe()
        float(booster.lower_bound()), float(booster.upper_bound())


def _use_folds(booster: Booster, table: Any) -> None:
    """What only an ensemble over folds can do."""
    booster.oof_prediction()
    assert len(booster.oof_score_) == len(booster.oof_score_by_fold_)
    n_members = len(booster.fold_facts_)
    assert booster.fold_member(n_members - 1).predict(table[:2]).shape[0] == 2
    for predict in (booster.predict_interval, booster.predict_set):
        with suppress(NotSupportedError):  # for the other kind of labels
            assert predict(table).shape[0] == len(table)


def _table_of(model: Model) -> Any:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(9, model.n_columns)) * 3
    table[1], table[2], table[3] = np.nan, 0.0, 1e300
    table[4] = -np.inf
    table[5] = 70_001.0
    if not model.levels:
        return table
    mixed = table.astype(object)
    for column, levels in model.levels.by_column.items():
        known = [*levels, None] if levels else ["unknown", None]
        mixed[:, column] = [known[i % len(known)] for i in range(len(mixed))]
    return mixed
