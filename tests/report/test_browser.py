"""The page in a real browser: no errors, all pictures there, what can be moved moves.

Needs Chromium or Chrome; clicks need playwright as well (its own browsers are not used).
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report.pages import QUIET, Page, table

import gossamer as gs

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome")


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with all that scripts do, and with names that would like to be scripts."""
    x = table()
    label = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
    names = ["<script>document.title='broken'</script>", "</script>", 'a "b"', "größe"]
    train = gs.Dataset(x, label, feature_name=names)
    history: dict[str, dict[str, list[float]]] = {}
    model = gs.train(
        {**QUIET, "objective": "binary", "num_leaves": 15},
        train,
        10,
        valid_sets=[train],
        callbacks=[gs.record_evaluation(history)],
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    return model.report(path, x, label, evals_result=history, title="</title><b>Title")


def test_scripts_run_without_errors(page_path: Path, tmp_path: Path) -> None:
    assert BROWSER is not None
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    found = subprocess.run(
        [BROWSER, *options, f"--user-data-dir={tmp_path}", "--dump-dom", page_path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        encoding="utf-8",
    )
    assert found.returncode == 0, found.stderr
    assert "CONSOLE" not in found.stderr, found.stderr
    (tmp_path / "dom.html").write_text(found.stdout, encoding="utf-8")
    dom = Page(tmp_path / "dom.html")
    assert sum("data-node" in attrs for _, attrs in dom.tags) > 5
    assert next("hidden" not in attrs for _, attrs in dom.tags if "data-slider" in attrs)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as api:
        found = api.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(params=["light", "dark", "phone", "no script"])
def opened(request: Any, browser: Any, page_path: Path) -> Iterator[Any]:
    """The page, opened; at the end there must have been no complaint and no request."""
    kind = request.param
    context = browser.new_context(
        viewport={"width": 360 if kind == "phone" else 1200, "height": 800},
        color_scheme="dark" if kind == "dark" else "light",
        java_script_enabled=kind != "no script",
    )
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda asked: complaints.append(asked.url))
    page.goto(page_path.as_uri())
    assert complaints.pop(0) == page_path.as_uri()
    page.kind = kind
    yield page
    assert complaints == []
    context.close()


def sizes(page: Any, selector: str) -> list[tuple[float, float]]:
    boxes = [place.bounding_box() for place in page.locator(selector).all()]
    return [(box["width"], box["height"]) if box else (0.0, 0.0) for box in boxes]


def test_all_pictures_are_there(opened: Any) -> None:
    found = sizes(opened, "svg.chart")
    assert len(found) >= 12 and min(min(size) for size in found) > 30
    assert opened.title() == "</title><b>Title"
    widest = opened.locator("body").bounding_box()["width"]
    assert max(width for width, _ in found) <= widest  # nothing sticks out
    if opened.kind == "no script":
        assert opened.locator("[data-no-script]").is_visible()
        assert opened.locator("[data-static]").is_visible()
        assert not opened.locator("[data-controls]").is_visible()
        return
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    back = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == ("rgb(20, 23, 26)" if opened.kind == "dark" else "rgb(255, 255, 255)")
    assert not opened.locator("[data-no-script]").is_visible()


@pytest.fixture
def page(browser: Any, page_path: Path) -> Iterator[Any]:
    complaints: list[str] = []
    found = browser.new_page(viewport={"width": 1200, "height": 900})
    found.on("console", lambda message: complaints.append(message.text))
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.goto(page_path.as_uri())
    yield found
    assert complaints == []
    found.close()


def test_the_threshold_moves_the_numbers(page: Any) -> None:
    def read(name: str) -> str:
        return str(page.locator(f'[data-out="{name}"]').inner_text())

    whole = sum(int(read(name)) for name in ("tp", "fp", "tn", "fn"))
    before = read("fp")
    slider = page.locator("[data-slider] input")
    slider.focus()
    page.keyboard.press("Home")
    assert (read("threshold"), read("recall"), read("tn")) == ("0", "100 %", "0")
    page.keyboard.press("End")
    assert (read("threshold"), read("tp"), read("precision")) == ("1", "0", "\u2013")
    slider.fill("60")
    assert read("threshold") == "0.3" and int(read("fp")) >= int(before)
    assert sum(int(read(name)) for name in ("tp", "fp", "tn", "fn")) == whole


def test_nodes_open_and_close(page: Any) -> None:
    nodes = page.locator("[data-node]")
    first = nodes.count()
    page.click('[data-do="close"]')
    assert nodes.count() == 1 and nodes.first.get_attribute("aria-expanded") == "false"
    nodes.first.click()
    assert nodes.count() == 3 and nodes.first.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Tab")  # the focus stays on the root when it is drawn again
    page.locator('[data-node="0"]').focus()
    page.keyboard.press("Enter")
    assert nodes.count() == 1
    assert page.evaluate("document.activeElement.dataset.node") == "0"
    page.click('[data-do="open"]')
    assert nodes.count() == 29 > first  # 15 leaves


def test_nodes_tell_their_facts(page: Any) -> None:
    root = page.locator('[data-node="0"]')
    page.locator('[data-node="1"]').hover()
    child = page.locator("[data-facts]").inner_text()
    root.hover()
    facts = page.locator("[data-facts]").inner_text()
    assert "400 training rows, gain" in facts and "goes left" in facts and child != facts


def test_paths_of_rows_are_shown(page: Any) -> None:
    assert page.locator(".node.on").count() == 0
    page.select_option("[data-row]", "3")
    on = page.locator(".node.on")
    assert on.count() >= 3 and page.locator(".node.on.leaf").count() == 1
    assert page.locator(".edge.on").count() == on.count() - 1
    page.select_option("[data-tree]", "4")
    assert page.locator(".node.on.leaf").count() == 1
    page.select_option("[data-row]", "-1")
    assert page.locator(".node.on").count() == 0


def test_the_tree_is_moved_and_zoomed(page: Any) -> None:
    picture = page.locator("[data-picture]")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()

    def state() -> list[float]:
        found = picture.locator("> g").get_attribute("transform")
        return [float(v) for v in found.translate(str.maketrans("()", "  ")).split() if _is(v)]

    before = state()
    page.mouse.move(box["x"] + 10, box["y"] + box["height"] - 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + box["height"] - 40, steps=4)
    page.mouse.up()
    after = state()
    assert np.allclose(np.subtract(after, before), [50, -30, 0])
    page.click('[data-do="in"]')
    assert state()[2] == pytest.approx(1.3 * after[2])
    n_nodes = page.locator("[data-node]").count()
    page.click('[data-do="fit"]')
    assert page.locator("[data-node]").count() == n_nodes
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.keyboard.down("Control")
    zoom = state()[2]
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    page.wait_for_function(
        "zoom => !document.querySelector('[data-all]').getAttribute('transform')"
        ".endsWith(`scale(${zoom})`)",
        arg=zoom,
    )
    assert state()[2] > zoom


def _is(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def test_the_page_prints(page: Any) -> None:
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert min(min(size) for size in sizes(page, "svg.chart")) > 30
    assert page.pdf(format="A4").startswith(b"%PDF")
