"""The web page: built whole, and used in a real browser."""

import math
import random
import shutil
from pathlib import Path

import pytest

from hsdp_symbolic import Setting, labels, statement, statements
from hsdp_symbolic.cli import main
from hsdp_symbolic.errors import HsdpError
from hsdp_symbolic.setting.parameters import PARAMETER_NAMES
from proofs_check.page import build
from proofs_check.page.programs import OPERATIONS, live
from tests import skips
from tests.points import draw_point

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "index.html").write_text(build(), encoding="utf-8")
    return folder / "index.html"


@pytest.fixture(scope="module")
def browser(page, tmp_path_factory):
    webdriver = skips.module("selenium.webdriver", missing="selenium")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        skips.skip(missing="chromium")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    window.get(page.as_uri())
    yield window
    window.quit()


def draw(label, rng):
    """A setting that a statement admits, of moderate size, with its float value."""
    found = statement(label)
    for _ in range(1000):
        point = draw_point(rng, batches=60, smallest_step=1e-3, epochs=200)
        point["sigma"] = float(point.pop("sigma2")) ** 0.5
        given = {name: float(value) for name, value in point.items() if name in found.needs}
        run = Setting(**{name: value for name, value in given.items() if name in PARAMETER_NAMES})
        try:
            value = found.numeric(run, **{k: v for k, v in given.items() if k not in PARAMETER_NAMES})
        except HsdpError:
            continue
        return given, float(value)
    raise AssertionError(f"no setting for {label}")


class TestBuilding:
    def test_nothing_is_fetched(self, page):
        text = page.read_text(encoding="utf-8")
        assert "http://" not in text.replace("http://www.w3.org/", "")
        assert "https://" not in text
        assert "<script src" not in text

    @pytest.mark.smoke
    def test_every_statement_and_claim_is_there(self, page):
        text = page.read_text(encoding="utf-8")
        for found in statements():
            assert f'id="{found.label}"' in text
        assert text.count('class="row"') > 500

    @pytest.mark.smoke
    def test_every_closed_form_is_live(self):
        assert {"thm:strconvexsmooth", "thm:shuffle", "thm:convexsmooth", "thm:GD_tighter", "mironov2019"} <= {
            found.label for found in statements() if live(found) is not None
        }
        assert "GeometricSum" in OPERATIONS

    def test_unwritable_folder(self, capsys, tmp_path):
        (tmp_path / "file").write_text("")
        assert main(["report", "--out", str(tmp_path / "file")]) == 2
        assert "error" in capsys.readouterr().err

    def test_nonsense_setting(self, capsys, tmp_path):
        assert main(["report", "--out", str(tmp_path / "site"), "--n", "-3"]) == 2
        assert not (tmp_path / "site").exists()
        assert "n" in capsys.readouterr().err


class TestInABrowser:
    def test_the_calculator_can_do_what_is_said_of_it(self, browser):
        assert set(browser.execute_script("return Calculator.operations")) == OPERATIONS

    @pytest.mark.parametrize("label", labels())
    def test_the_calculator_agrees_with_numpy(self, browser, label):
        offered = browser.execute_script("return Object.keys(DATA.live)")
        if live(statement(label)) is None:
            assert label not in offered
            return
        rng = random.Random(label)
        cases = [draw(label, rng) for _ in range(50)]
        found = browser.execute_script(
            "return arguments[0].map((given) => evaluate(arguments[1], given))", [given for given, _ in cases], label
        )
        for (given, expected), got in zip(cases, found, strict=True):
            assert "problem" not in got, (given, got)
            assert math.isclose(got["value"], expected, rel_tol=1e-12, abs_tol=1e-300), (given, got, expected)

    @pytest.mark.smoke
    def test_typing_a_number_moves_the_result(self, browser):
        choose(browser, "thm:shuffle")
        box = browser.find_element("id", "number-K")
        box.clear()
        box.send_keys("7")
        run = Setting(n=50, b=2, K=7, eta="0.02", lam=1, beta=4, sigma=2, S_g=4)
        shown = float(browser.find_element("id", "result").text)
        assert math.isclose(shown, statement("thm:shuffle").numeric(run, alpha=15), rel_tol=1e-12)
        assert browser.execute_script("return document.getElementById('slider-K').valueAsNumber") == 7
        assert browser.find_elements("css selector", "#curve path")

    def test_the_slider_moves_by_key(self, browser):
        choose(browser, "thm:shuffle")
        slider = browser.find_element("id", "slider-K")
        before = browser.execute_script("return values.K")
        slider.send_keys("\ue014")  # arrow right
        assert browser.execute_script("return values.K") == before + 1

    @pytest.mark.parametrize(("name", "text"), [("n", "1.5"), ("eta", "5"), ("b", "1000"), ("alpha", "1"), ("K", "")])
    def test_what_does_not_apply_is_said(self, browser, name, text):
        choose(browser, "thm:strconvexsmooth")
        box = browser.find_element("id", f"number-{name}")
        original = box.get_property("value")
        box.clear()
        box.send_keys(text)
        assert browser.find_element("id", "result").text == "—"
        assert browser.find_element("id", "problem").text
        box.clear()
        box.send_keys(original)
        assert browser.find_element("id", "problem").text == ""

    def test_formulas_render(self, browser):
        heights = browser.execute_script(
            "return [...document.querySelectorAll('article > .math > math')].map((m) => m.clientHeight ||"
            " m.getBoundingClientRect().height)"
        )
        assert len(heights) == len(statements())
        assert min(heights) > 10
        fractions = browser.execute_script(
            "return [...document.querySelectorAll('article > .math mfrac')].map((m) => m.getBoundingClientRect())"
        )
        assert max(box["height"] for box in fractions) > 25  # drawn as fractions, not as text in a row

    def test_filters_filter(self, browser):
        chips = browser.find_elements("css selector", ".chips button")
        visible = (
            "return [...document.querySelectorAll('#rows .row')].filter((r) => !r.hidden).map((r) => r.dataset.verdict)"
        )
        everything = browser.execute_script(visible)
        for chip in chips[1:]:
            chip.send_keys(" ")
        kept = browser.execute_script(visible)
        assert set(kept) == {chips[0].get_attribute("data-verdict")}
        assert 0 < len(kept) < len(everything)
        search = browser.find_element("id", "search")
        search.send_keys("no such words")
        assert browser.execute_script(visible) == []
        search.clear()
        search.send_keys(" ")
        for chip in chips[1:]:
            chip.send_keys(" ")
        assert browser.execute_script(visible) == everything

    @pytest.mark.parametrize("width", [360, 1200])
    def test_it_fits_the_screen(self, browser, width):
        override = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", override)
        for details in browser.find_elements("tag name", "details")[:40]:
            browser.execute_script("arguments[0].open = true", details)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_light_and_dark(self, browser):
        shades = set()
        for _ in range(2):
            browser.find_element("id", "theme").click()
            shades.add(browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
        assert len(shades) == 2

    def test_nothing_went_wrong(self, browser):
        assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def choose(browser, label):
    """The form with this bound and the letters it began with."""
    browser.execute_script(
        "document.activeElement.blur(); Object.assign(values, DATA.setting);"
        "const select = document.getElementById('bound'); select.value = arguments[0];"
        "select.dispatchEvent(new Event('change'))",
        label,
    )


def test_the_page_ships_with_the_package():
    assert {path.name for path in Path(build.__code__.co_filename).parent.glob("*.*")} >= {"page.html", "calculator.js"}
