"""The playground in a real browser: no errors, no requests elsewhere, and sliders that move it.

Needs Chromium or Chrome, and playwright (its own browsers are not used).
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gossamer.playground import ColumnTable, Playground, make_server, page_address

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = next((found for name in NAMES if (found := shutil.which(name))), None)
RECORDED = Path(__file__).parents[2] / "docs" / "assets" / "playground.html"

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300))
    rare = np.where(np.arange(300) < 5, b, np.nan)
    columns = {"<img src=x>": a, "b": b, "rare": rare, "sum": a + b}
    table = ColumnTable(columns, "<b>my</b>.csv")
    server = make_server(Playground(table, ("<img src=x>", "b"), "sum"))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield page_address(server)
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as api:
        found = api.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()


def open_page(browser: Any, address: str, complaints: list[str], **options: Any) -> Any:
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def check(asked: Any) -> None:
        if asked.url not in (address, f"{address}answer", "data:,"):
            complaints.append(asked.url)

    page.on("request", check)
    page.goto(address)
    page.wait_for_selector("[data-tree] rect")
    return page


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    complaints: list[str] = []
    found = open_page(browser, address, complaints)
    yield found
    assert complaints == []
    found.context.close()


def status_of(page: Any) -> str:
    return str(page.inner_text("[data-status]"))


def wait_for_status(page: Any, words: str) -> None:
    page.wait_for_function(
        "words => document.querySelector('[data-status]').textContent.includes(words)", arg=words
    )


@pytest.mark.parametrize("kind", ["light", "dark", "phone"])
def test_it_opens(browser: Any, address: str, kind: str) -> None:
    complaints: list[str] = []
    page = open_page(
        browser,
        address,
        complaints,
        viewport={"width": 360 if kind == "phone" else 1280, "height": 800},
        color_scheme="dark" if kind == "dark" else "light",
        has_touch=kind == "phone",
    )
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == ("rgb(20, 23, 26)" if kind == "dark" else "rgb(255, 255, 255)")
    for place in ("#plane", "[data-curve]", "[data-residuals]", "[data-tree]"):
        box = page.locator(place).bounding_box()
        assert min(box["width"], box["height"]) > 30
    assert page.locator("[data-title]").inner_text().startswith("sum of <b>my</b>.csv")
    assert len(set(colours(page))) > 5
    if kind == "phone":
        page.locator("#plane").tap()
        assert "predicts" in page.inner_text("#readout")
    assert complaints == []
    page.context.close()


def colours(page: Any) -> list[Any]:
    """Colours of some points of the surface."""
    found: list[Any] = page.evaluate(
        "() => { const copy = document.createElement('canvas'); copy.width = copy.height = 640; "
        "const pen = copy.getContext('2d', {willReadFrequently: true}); "
        "pen.drawImage(document.querySelector('#plane'), 0, 0); "
        "return Array.from({length: 100}, (_, i) => "
        "pen.getImageData(64 * (i % 10) + 5, 64 * Math.floor(i / 10) + 5, 1, 1).data.join()); }"
    )
    return found


def test_sliders_train_again(page: Any) -> None:
    page.select_option("[name=scene]", "spirals")
    wait_for_status(page, "binary_logloss")
    assert not page.locator("[data-columns]").is_visible()
    before = colours(page)
    page.locator("#num_leaves").fill("2")
    page.wait_for_function(
        "() => document.querySelectorAll('[data-tree] .leaf').length === 2 "
        "&& document.querySelectorAll('[data-tree] .node').length === 3"
    )
    assert colours(page) != before
    page.locator("#rounds").fill("5")
    wait_for_status(page, "Round 5 of 5")
    assert page.get_attribute("#round", "max") == "5"
    page.select_option("[name=tree_method]", "exact")
    assert page.locator("#max_bin").is_disabled()
    page.check("[name=bins]")
    wait_for_status(page, "every value is a candidate")


def test_the_keyboard_moves_rounds_and_the_cross(page: Any) -> None:
    page.locator("#round").focus()
    page.keyboard.press("Home")
    wait_for_status(page, "Round 1 of 60")
    page.keyboard.press("ArrowRight")
    wait_for_status(page, "Round 2 of 60")
    page.locator("#plane").focus()
    page.keyboard.press("ArrowLeft")
    first = page.inner_text("#readout")
    page.keyboard.press("ArrowUp")
    assert "predicts" in first and page.inner_text("#readout") != first


def test_play_goes_through_the_rounds(page: Any) -> None:
    page.locator("#rounds").fill("4")
    wait_for_status(page, "Round 4 of 4")
    page.click("[data-play]")
    assert page.inner_text("[data-play]") == "Stop"
    page.wait_for_function("() => document.querySelector('[data-play]').textContent === 'Play'")
    assert "Round 4 of 4" in status_of(page)


def test_goss_and_residuals_are_shown(page: Any) -> None:
    page.check("[name=view][value=rows]")
    assert "Choose GOSS" in page.inner_text("[data-legend]")
    page.select_option("[name=sampling]", "goss")
    page.wait_for_function(
        "() => document.querySelector('[data-legend]').textContent.includes('drawn at random')"
    )
    before = colours(page)
    page.check("[name=view][value=residual]")
    assert "too low" in page.inner_text("[data-legend]") and colours(page) is not before


def test_columns_change_places(page: Any) -> None:
    page.select_option("[name=column-0]", "b")
    page.wait_for_function(
        "() => document.querySelector('[data-title]').textContent.endsWith('up: <img src=x>')"
    )
    assert page.input_value("[name=column-1]") == "<img src=x>"


def test_mistakes_are_told(browser: Any, address: str) -> None:
    complaints: list[str] = []
    page = open_page(browser, address, complaints)
    page.select_option("[name=column-0]", "rare")
    page.wait_for_selector(".status.problem")
    assert "too few rows" in status_of(page)
    assert len(complaints) == 1 and "400" in complaints[0]  # Chromium's own line about the status
    page.select_option("[name=column-0]", "<img src=x>")
    wait_for_status(page, "Round 60 of 60")
    page.context.close()


def test_the_recorded_scene(browser: Any) -> None:
    complaints: list[str] = []
    page = open_page(browser, RECORDED.as_uri(), complaints)
    assert page.locator("[data-static]").is_visible()
    assert not page.locator("form").is_visible()
    assert "Round 40 of 40" in status_of(page)
    page.locator("#round").focus()
    page.keyboard.press("Home")
    assert "Round 1 of 40" in status_of(page)
    page.check("[name=view][value=rows]")
    page.keyboard.press("End")
    assert complaints == []
    page.context.close()
