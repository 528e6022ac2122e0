"""The page of the matrix, used as a reader uses it, in a Chromium where there is one."""

import shutil

import pytest

from tapecheck.matrix import Matrix
from tapecheck.report import write_matrix

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed; `nox -s docs` installs it")
CHROMIUM, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium and chromedriver on this machine")
OPTIONS = (
    *("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"),
    *("disable-component-update", "disable-sync"),
)


@pytest.fixture
def browser(make_record, make_cell, tmp_path):
    """A browser that shows the matrix of two releases: rows of two families, one of them with a failure."""
    cells = [
        make_cell(
            make_record(warp=version, outcome=outcome, message=f"seen on {version}"),
            make_record("retain.double-count", warp=version),
            make_record("tape.records-launches", case="chain", warp=version),
            warp=version,
        )
        for version, outcome in (("1.12.1", "fail"), ("1.19.0", "pass"))
    ]
    html, *_ = write_matrix(Matrix(cells, []), tmp_path)
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for option in (*OPTIONS, f"user-data-dir={tmp_path / 'profile'}", "window-size=390,844"):
        options.add_argument(f"--{option}")
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    driver.get(html.as_uri())
    yield driver
    driver.quit()


def shown(browser):
    return [row.get_attribute("id") for row in browser.find_elements("css selector", "tbody tr") if row.is_displayed()]


def said(browser):
    return browser.find_element("css selector", "output").text


def focused(browser):
    return browser.switch_to.active_element.get_attribute("aria-label")


def test_a_family_is_filtered(browser):
    assert said(browser) == "3 rows"
    browser.find_element("id", "family").send_keys("retain-grad")
    assert shown(browser) == ["retain.last-write-wins", "retain.double-count"]
    browser.find_element("id", "deviating").click()
    assert shown(browser) == ["retain.last-write-wins"]
    assert said(browser) == "1 row"
    browser.find_element("id", "name").send_keys("Nothing")
    assert shown(browser) == []
    assert said(browser) == "no row is like that"


def test_a_cell_opens_its_evidence(browser):
    browser.find_element("css selector", "button.fail").click()
    dialog = browser.find_element("css selector", "dialog")
    assert "retain.last-write-wins: Warp 1.12.1 cpu" in dialog.text
    assert "seen on 1.12.1" in dialog.text
    assert "Write instead" in dialog.text
    dialog.find_element("css selector", "form button").click()
    assert not dialog.is_displayed()


def test_a_table_is_one_stop_of_the_tab_key_and_the_arrow_keys_lead_on(browser):
    browser.find_element("id", "deviating").send_keys("\ue004\ue004")  # tab: the frame, then its cell
    assert focused(browser) == "tape.records-launches[chain], warp 1.12.1: pass"
    browser.switch_to.active_element.send_keys("\ue014")  # right
    assert focused(browser) == "tape.records-launches[chain], warp 1.19.0: pass"
    browser.switch_to.active_element.send_keys("\ue004\ue004\ue015")  # into the next table, where it is down
    browser.switch_to.active_element.send_keys("\ue007")  # enter
    assert browser.find_element("css selector", "dialog").is_displayed()


def test_nothing_is_wider_than_a_phone_and_nothing_is_complained_of(browser):
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.get_log("browser") == []
