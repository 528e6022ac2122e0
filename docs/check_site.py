"""The built site: every link leads to something that is there, and nothing is fetched from another host."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).parents[1] / "build/site"
FETCHED = {"script", "link", "img", "iframe", "source", "video"}


class Page(HTMLParser):
    """The ids of a page, and its links with the element that holds each."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.ids, self.links = path, set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found.get("id"), found.get("name")}
        self.links += [(tag, found[name]) for name in ("href", "src") if found.get(name)]


@pytest.fixture(scope="module")
def pages():
    found = {path: Page(path) for path in SITE.rglob("*.html") if path.name != "404.html"}  # its links are the server's
    assert found, "build the site first: nox -s docs"
    return found


def test_no_page_calls_itself_unfinished(pages):
    assert [path for path in pages if "parts of this page are missing" in path.read_text(encoding="utf-8")] == []


def test_every_link_leads_somewhere(pages):
    broken = []
    for page in pages.values():
        for _, link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].ids):
                broken.append(f"{page.path.relative_to(SITE)}: {link}")
    assert not broken


def test_nothing_is_fetched_from_another_host(pages):
    fetched = {(tag, link) for page in pages.values() for tag, link in page.links if tag in FETCHED}
    assert not [link for _, link in fetched if urlsplit(link).netloc]
    styles = "".join(path.read_text(encoding="utf-8") for path in SITE.rglob("*.css"))
    assert "url(http" not in styles
    assert "@import" not in styles


def test_every_fact_was_filled_in(pages):
    assert not [path for path in pages if "<!-- generated" in path.read_text(encoding="utf-8")]
