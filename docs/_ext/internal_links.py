"""Every link from one page to another, or to a place on it, leads somewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

logger = logging.getLogger(__name__)


class _Page(HTMLParser):
    """Addresses that a page names, and its own places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.named: set[str] = set()
        self.places: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif name in ("href", "src") and value and tag != "base":
                self.named.add(value)


def _broken(folder: Path) -> list[tuple[Path, str]]:
    """Pages, and addresses on them that lead nowhere."""
    files = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: _Page(path.read_text("utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        for address in sorted(page.named):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.exists() or (target in pages and place not in pages[target].places):
                found.append((path.relative_to(folder), address))
    return found


def _check(app, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        for page, address in _broken(Path(app.outdir)):
            logger.warning("%s: %s leads nowhere", page, address, type="internal_links")


def setup(app) -> dict[str, bool]:
    """Look at the pages when all are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True}
