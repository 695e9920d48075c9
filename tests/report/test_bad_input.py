from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report.pages import Page, fit, table

import gossamer as gs
from gossamer.errors import DataError, ParameterError
from gossamer.report import write_report

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quotes\" and 'more' & </title>",
    "größe 漢字 \u202eright to left",
    "x" * 2_000_000,
    "a\x00b\nc",
    "</script><!--",
    "${1+1}`b`",
    "]]></svg><img src=x onerror=alert(1)>",
]


@pytest.fixture(scope="module")
def x() -> Any:
    return table(200)


@pytest.fixture(scope="module")
def model(x: Any) -> gs.Booster:
    return fit({"objective": "binary"}, x, x[:, 0] > 0, 3)


def bad(model: Any, match: str, *args: Any, error: Any = DataError, **kwargs: Any) -> None:
    with pytest.raises(error, match=match):
        write_report(model, "never.html", *args, **kwargs)
    assert not Path("never.html").exists()


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_labels_and_data_must_fit(model: gs.Booster, x: Any) -> None:
    label = (x[:, 0] > 0).astype(float)
    bad(model, "label is given without data", None, label)
    bad(model, "group is given without data", None, None, group=[200])
    bad(model, "label and data differ in length: got 199, expected 200", x, label[:-1])
    bad(model, "label and data differ in length: got 5", x, 5)
    bad(model, "row 3", x, np.where(np.arange(200) == 3, np.nan, label))
    bad(model, "does not fit objective=binary: got 2", x, label + 1)
    bad(model, "another number of columns than the model has targets: got 2", x, np.eye(200)[:, :2])
    bad(model, "must be numeric", x, ["a"] * 200)
    bad(model, "label cannot be made an array", x, [[1], [1, 2]] * 100)
    bad(model, "number of columns differs", x[:, :3], label)
    bad(model, "the data has no rows", x[:0], label[:0])
    bad(model, "2 dimensions", x[0])


def test_names_of_columns_are_checked(x: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(x, columns=list("abcd"))
    model = fit({}, frame, x[:, 0], 2)
    bad(model, "'d'", frame.rename(columns={"d": "e"}))


def test_other_arguments_are_checked(model: gs.Booster, x: Any) -> None:
    for wanted in (
        {"max_rows": 0},
        {"n_features": -1},
        {"trees": [3]},
        {"trees": "0"},
        {"trees": [0.5]},
        {"trees": 1},
        {"class_names": ["a"]},
        {"class_names": "ab"},
        {"class_names": 2},
        {"evals_result": [1, 2]},
        {"evals_result": {"valid": {"l2": "abc"}}},
        {"evals_result": {"valid": {"l2": 5}}},
        {"evals_result": {"valid": {"l2": [1]}, "other": 3}},
    ):
        bad(model, f"{next(iter(wanted))} cannot be used", x, error=ParameterError, **wanted)
    bad({"a": 1}, "no report about this: got 'dict'", x, error=ParameterError)


def test_ranking_needs_queries(x: Any) -> None:
    grade = (x[:, 0] > 0).astype(int)
    model = fit({"objective": "lambdarank"}, x, grade, 2, group=[100, 100])
    bad(model, "need queries. Pass group", x, grade)
    bad(model, "do not add up", x, grade, group=[100, 99])


def test_paths(model: gs.Booster, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="the path is a folder"):
        model.report(tmp_path)
    with pytest.raises(ParameterError, match="there is no such folder"):
        model.report(tmp_path / "none" / "a.html")
    for path in ("", 5, b"a.html"):
        with pytest.raises(ParameterError, match="the path cannot be used"):
            model.report(path)  # type: ignore[arg-type]
    assert model.report("a.html") == Path("a.html") and Path("a.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]  # nothing left over


def test_an_old_page_survives_a_failure(
    model: gs.Booster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path("a.html").write_text("old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        model.report("a.html")
    assert Path("a.html").read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_one_row(model: gs.Booster, x: Any) -> None:
    page = Page(model.report("a.html", x[:1], [1]))
    assert "All rows are of one class" in page.text and "nan" not in page.text
    regression = fit({}, x, x[:, 0], 2)
    assert "Residuals" in Page(regression.report("a.html", x[:1], [1])).text


def test_extreme_numbers() -> None:
    values = table(200) * 1e300
    values[0] = [np.inf, -np.inf, np.nan, 1e308]
    model = fit({"objective": "poisson"}, values, np.arange(200) % 5, 3)
    page = Page(model.report("a.html", values, np.arange(200) % 5))
    assert "Predicted and actual" in page.text
    huge = fit({}, table(200), np.full(200, 3e37) * (np.arange(200) % 2), 3)
    assert "Residuals" in Page(huge.report("a.html", table(200), np.full(200, 3e37))).text


def test_hostile_names_are_text() -> None:
    x = np.random.default_rng(0).normal(size=(300, len(HOSTILE)))
    model = fit({}, x, x.sum(axis=1), 10, feature_name=HOSTILE)
    history = {"<b>": {"</svg><script>": [1.0, 0.5, float("nan")]}}
    path = model.report("a.html", x, x.sum(axis=1), title=HOSTILE[0], evals_result=history)
    page = Page(path)
    tags = {tag for tag, _ in page.tags}
    assert "img" not in tags and "b" not in tags
    assert [kind for kind, _ in page.scripts] == ["application/json", None]
    assert "2,000,000 characters" in page.source and path.stat().st_size < 500_000
    assert HOSTILE[0] in page.text and "größe 漢字" in page.text and "\u202e" not in page.source
    for _, attrs in page.tags:
        assert not any(name.startswith("on") for name in attrs)
        assert not set(attrs) & {"src", "srcset", "style", "xlink:href"}
        assert attrs.get("href", "#").startswith("#")  # type: ignore[union-attr]


def test_hostile_levels_and_classes_are_text() -> None:
    pandas = pytest.importorskip("pandas")
    levels = [HOSTILE[0], HOSTILE[5], HOSTILE[7], "y" * 1_000_000]
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"c": pandas.Categorical.from_codes(rng.integers(0, 4, 300), levels)})
    label = (frame["c"] == levels[0]).astype(int)
    model = fit({"objective": "binary", "cat_target_statistics": "off"}, frame, label)
    path = model.report("a.html", frame, label, class_names=HOSTILE[5:7])
    page = Page(path)
    assert [kind for kind, _ in page.scripts] == ["application/json"] * 2 + [None]
    assert "img" not in {tag for tag, _ in page.tags} and path.stat().st_size < 300_000


def test_nothing_is_loaded_from_elsewhere(model: gs.Booster, x: Any) -> None:
    source = model.report("a.html", x, x[:, 0] > 0).read_text(encoding="utf-8")
    for word in ("http://", "https://", "@import", "url(", "<link", "<iframe"):
        assert word not in source.replace("http://www.w3.org/2000/svg", ""), word
    assert "default-src 'none'" in source and "script-src 'sha256-" in source


def test_matplotlib_is_not_needed(model: gs.Booster) -> None:
    import subprocess
    import sys

    model.save_model("model.safetensors")
    code = (
        "import sys, gossamer as gs; gs.Booster(model_file='model.safetensors').report('a.html');"
        "sys.exit(any(name in sys.modules for name in ('matplotlib', 'pandas', 'sklearn')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_cv_returns_is_drawn(model: gs.Booster) -> None:
    history = {"valid l2-mean": [3.0, 2.0], "valid l2-stdv": [0.1, 0.1]}
    page = Page(model.report("a.html", evals_result=history))
    assert "l2-mean" in page.text and "stdv" not in page.text
    bands = [attrs for _, attrs in page.tags if (attrs.get("class") or "").startswith("band")]
    assert len(bands) == 1


@pytest.mark.parametrize("kind", ["constant", "missing", "infinite", "half", "truth", "one column"])
@pytest.mark.parametrize("objective", ["binary", "regression", "multiclass"])
def test_odd_tables(kind: str, objective: str) -> None:
    x: Any = table(120)
    if kind == "constant":
        x[:] = 1.0
    elif kind == "missing":
        x[:, 0] = np.nan
    elif kind == "infinite":
        x[::3] = np.inf
    elif kind == "one column":
        x = x[:, :1]
    else:
        x = (x > 0) if kind == "truth" else x.astype(np.float16)
    label = np.arange(120) % (3 if objective == "multiclass" else 2)
    params = {"objective": objective, "num_class": 3 if objective == "multiclass" else 1}
    page = Page(fit(params, x, label).report("a.html", x, label))
    assert (
        len(page.headings) == 8
        and "nan" not in page.source.split("</style>")[1].split("<script>")[0]
    )


def test_booster_and_function_take_the_same_arguments() -> None:
    import inspect

    method = inspect.signature(gs.Booster.report).parameters
    function = inspect.signature(write_report).parameters
    assert list(method)[1:] == list(function)[1:]
    for name in list(function)[1:]:
        assert method[name].default == function[name].default
