"""The code of pages that no other test runs, and of the README, runs."""

from __future__ import annotations

import ast
import json
import re
import runpy
import shutil
import subprocess
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gossamer as gs

ROOT = Path(__file__).parents[1]


def blocks_of(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def run(page: str, n_blocks: int, names: dict[str, Any]) -> dict[str, Any]:
    """Run the code of a page; wherever it says `params = ...`, train with them."""
    blocks = blocks_of(page)
    assert len(blocks) == n_blocks
    for block in blocks:
        for statement in ast.parse(block).body:
            exec(compile(ast.Module([statement], []), page, "exec"), names)
            if ast.unparse(statement).startswith("params = "):
                data = gs.Dataset(names["x"], names["y"], feature_name=names.get("columns", "auto"))
                model = gs.train({**names["params"], "num_threads": 1}, data, 3)
                assert model.current_iteration() == 3
    return names


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_categories(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    names = run("docs/categories.md", 4, {})
    frame, model = names["frame"], names["model"]
    oslo, atlantis, nowhere = model.predict(names["new"])
    assert oslo == pytest.approx(700, abs=20) and atlantis == nowhere
    expected = model.predict(frame)
    np.testing.assert_array_equal(names["by_code"].predict(names["codes"]), expected)
    np.testing.assert_array_equal(names["by_object"].predict(names["objects"]), expected)
    np.testing.assert_array_equal(names["estimator"].predict(frame), expected)
    auto, off = (float(line.split()[1]) for line in capsys.readouterr().out.splitlines())
    assert auto < off
    assert model.levels.by_column == {0: ("Bern", "Graz", "Lyon", "Oslo", "Rome")}


def test_interchange(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lightgbm")
    run("docs/interchange.md", 2, {})
    assert capsys.readouterr().out.split() == ["True", "True", "50"]


def test_files() -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    names = run("docs/files.md", 4, {})
    frame, model = names["frame"], names["model"]
    expected = model.predict(frame[4000:][["rooms", "area", "town"]])
    np.testing.assert_array_equal(names["predicted"], expected)
    assert np.corrcoef(expected, frame["price"][4000:])[0, 1] > 0.99
    assert names["names"] == ["rooms", "area"] and names["same"]
    assert names["columns"] == ["rooms", "area", "town"]


def test_xgboost_options() -> None:
    blocks = blocks_of("docs/xgboost_options.md")
    assert len(blocks) == 3
    exec(compile("\n".join(blocks), "docs/xgboost_options.md", "exec"), {})


def test_prediction() -> None:
    names = run("docs/prediction.md", 3, {})
    predict_row, table = names["predict_row"], names["table"]
    by_name = predict_row({"length": 5.1, "width": None, "depth": 1.4})
    assert by_name == predict_row([5.1, None, 1.4]) > 0.5
    assert predict_row(table[0]) == names["model"].predict(table)[0]


def test_deploying() -> None:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    names = run("docs/deploying.md", 4, {})
    np.testing.assert_array_equal(names["same"], names["model"].predict(names["table"]))
    assert Path("libmodel.so").exists()
    page = (ROOT / "docs/deploying.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    Path("program.c").write_text(program)
    subprocess.run([compiler, "-O3", "-o", "program", "program.c", "model.c", "-lm"], check=True)
    said = subprocess.run(["./program"], check=True, capture_output=True, text=True).stdout
    assert float(said) == names["probability"]


def test_constraints() -> None:
    Path("splits.json").write_text(json.dumps({"feature": "age", "threshold": 30}))
    bins = [{"feature": 0, "bin_upper_bound": [17.5, 30]}]
    Path("bins.json").write_text(json.dumps(bins))
    names = run("docs/constraints.md", 8, {})
    assert names["data"].get_field("feature_weights") is not None


def test_boosting_modes() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 4))
    run("docs/boosting_modes.md", 2, {"x": x, "y": x[:, 0]})


def test_explaining(capsys: pytest.CaptureFixture[str]) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    names = run("docs/explaining.md", 7, {})
    values, model, background = names["values"], names["model"], names["background"]
    raw = model.predict(background, raw_score=True).mean()
    assert abs(values[0, -1] - raw) < 1e-12 and values.shape == (200, 5)
    assert names["names"][names["strength"].max(axis=0).argmax()] in ("age", "floor")
    lines = capsys.readouterr().out.splitlines()
    means = {line.split()[0]: float(line.split()[1]) for line in lines}
    assert list(means) == names["names"] and means["size"] > means["age"] > 0.3 > means["noise"]
    assert names["each"].values.shape == (200, 100) and names["plane"].values.shape == (20, 20)
    pyplot.close("all")


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("graphviz")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    script: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "draw_plots.py"))
    with pyplot.rc_context():
        drawn = script["draw"](tmp_path)
    # What the page shows is what its code draws: the same files, and none too many.
    stored = sorted((ROOT / "docs" / "assets" / "plots").iterdir())
    assert sorted(path.name for path in drawn) == [path.name for path in stored]
    assert all(path.stat().st_size > 10_000 for path in drawn)
    assert len(blocks_of("docs/plots.md")) == len(drawn) + 2


def test_report() -> None:
    pytest.importorskip("sklearn")
    names = run("docs/report.md", 3, {})
    page = names["path"].read_text(encoding="utf-8")  # written again by the second example
    assert "predicted not sold" in page and "150 of 200 rows" in page
    assert "binary_logloss" in Path("estimator.html").read_text(encoding="utf-8")


def test_linear_trees() -> None:
    names = run("docs/linear_trees.md", 1, {})
    assert names["linear_error"] < names["plain_error"]


def test_quantile_sketch() -> None:
    names = run("docs/quantile_sketch.md", 2, {})
    sketch = names["sketch"]
    assert sketch.quantile([0.1, 0.5, 0.9]) == pytest.approx([-0.28, 1, 2.28], abs=0.1)
    assert 9 <= len(sketch.cuts(0.1)) <= 14 and sketch.error_bound <= 0.01
    assert names["again"].to_bytes() == names["data"]


def test_saving(capsys: pytest.CaptureFixture[str]) -> None:
    names = run("docs/saving.md", 6, {})
    assert capsys.readouterr().out.startswith(("age <=", "size <="))
    model, x = names["model"], names["x"]
    for name in ("again", "same", "readable", "copied"):
        assert names[name].model_to_string() == model.model_to_string()
    names["readable"].save_model("from_json.gsm")
    assert Path("from_json.gsm").read_bytes() == Path("model.gsm").read_bytes()
    assert names["last"].current_iteration() == 1 and names["both"].current_iteration() == 65
    np.testing.assert_array_equal(names["pickled"].predict(x), model.predict(x, num_iteration=10))


def test_tree_methods() -> None:
    names = run("docs/tree_methods.md", 1, {})
    assert names["errors"]["hist"] == pytest.approx(0.32, abs=0.02)
    assert names["errors"]["exact"] == pytest.approx(0.10, abs=0.02)


def test_interchange_others() -> None:
    for package in ("sklearn", "catboost", "onnx", "onnxruntime", "treelite"):
        pytest.importorskip(package)
    names = run("docs/interchange_others.md", 4, {})
    assert names["booster"].num_trees() == 20 and names["label"].shape == (500,)


def test_ecosystem(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One block for the data, and one for each tool; a tool that is not installed is left out."""
    tools = ("shap", "optuna", "mlflow", "skops", "onnxruntime")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    first, *blocks = blocks_of("docs/ecosystem.md")
    assert len(blocks) == len(tools)
    names: dict[str, Any] = {}
    exec(compile(first, "docs/ecosystem.md", "exec"), names)
    is_there = {tool: find_spec(tool) is not None for tool in tools}
    for tool, block in zip(tools, blocks, strict=True):
        assert f"import {tool}" in block
        if is_there[tool]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of the tools
                exec(compile(block, "docs/ecosystem.md", "exec"), names)
    printed = ["True"] * (is_there["shap"] + is_there["onnxruntime"])
    assert capsys.readouterr().out.split()[: len(printed)] == printed
    x, expected = names["x"], names["model"].predict(names["x"])
    if is_there["optuna"]:
        assert len(names["study"].trials) == 3
    if is_there["mlflow"]:
        np.testing.assert_array_equal(names["again"].predict(x), expected)
        history = (
            names["mlflow"].MlflowClient().get_metric_history(names["run"].info.run_id, "valid/auc")
        )
        assert [point.step for point in history] == list(range(1, 51))
    if is_there["skops"]:
        np.testing.assert_array_equal(names["loaded"].predict(x), names["estimator"].predict(x))
    missing = [tool for tool in tools if not is_there[tool]]
    if missing:
        pytest.skip(f"the lines about {', '.join(missing)} were not run: not installed")


def test_readme(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    run("README.md", 1, {})
    printed = capsys.readouterr().out.splitlines()
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(printed) == 2
    assert all(f"    {line}\n" in text for line in printed)


def test_the_first_page(capsys: pytest.CaptureFixture[str]) -> None:
    names = run("docs/index.md", 1, {})
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"    {capsys.readouterr().out.strip()}\n" in text
    assert names["model"].feature_name() == ["size", "city"]


def test_migrating_from_xgboost(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    names = run("docs/migrating_from_xgboost.md", 5, {})
    assert capsys.readouterr().out.startswith("[0]\ttrain-error:0.")
    again = gs.Booster(model_file="model.gsm")
    whole = names["booster"].predict(names["dvalid"])
    np.testing.assert_allclose(again.predict(names["x"][800:]), whole, rtol=1e-6)
    assert list(names["table"])[:3] == ["train-rmse-mean", "train-rmse-std", "train-bias-mean"]
    assert list(names["table"])[-1] == "test-bias-std" and len(names["history"]["valid"]) == 2


def test_interchange_with_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    names = run("docs/interchange_xgboost.md", 2, {})
    x = names["x"]
    data = xgboost.DMatrix(x)
    for here, there in (("booster", "theirs"), ("ours", "again")):
        expected = names[there].predict(data)
        np.testing.assert_allclose(names[here].predict(x), expected, atol=1e-6)


def test_every_page_is_in_the_menu_and_on_no_page_a_link_leads_nowhere() -> None:
    pages = sorted((ROOT / "docs").glob("*.md"))
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page.name for page in pages if f": {page.name}" not in menu] == []
    broken = [
        f"{page.name}: {link}"
        for page in [*pages, ROOT / "README.md"]
        for link in re.findall(r"\]\(([^)#\s:]+)(?:#[\w-]+)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert broken == []


def test_tables() -> None:
    names = run("docs/tables.md", 1, {})
    assert names["model"].feature_name() == ["size", "town", "sold", "new"]
    row = {name: [value] for name, value in names["row"].items()}
    oslo = names["model"].predict(row)
    assert oslo - names["model"].predict({**row, "town": ["Bern"]}) == pytest.approx(1, abs=0.3)
