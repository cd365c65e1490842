"""
Follow every link of the built documentation site.

``python -m tools.site site``: each link, picture, script and style sheet must lead to a
file of the site, each fragment to an element with that id, and nothing is loaded from elsewhere.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}
_ELSEWHERE = ("http", "https", "mailto")


@dataclass
class Html(HTMLParser):
    """What a page names, links to and loads."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        values = {name: value or "" for name, value in attrs}
        if values.get("id"):
            self.ids.add(values["id"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if values.get("rel") != "canonical" and values.get(_LOADED.get(tag, "")):
            self.loads.append(values[_LOADED[tag]])


def broken(site: Path) -> Iterator[str]:
    """Yield a sentence for everything that leads nowhere; *site* is the folder that was built."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site} has no page"
    for path, page in pages.items():
        here = path.relative_to(site)
        for target in page.loads:
            if urlsplit(target).scheme in _ELSEWHERE or urlsplit(target).netloc:
                yield f"{here} loads {target} from elsewhere"
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if parts.scheme not in (*_ELSEWHERE, "data"):
                    yield f"{here} links to {target}"
                continue
            found = _file(site, path, unquote(parts.path))
            if not found.is_file():
                yield f"{here} names {target}, which is not there"
            elif parts.fragment and found in pages and unquote(parts.fragment) not in pages[found].ids:
                yield f"{here} names {target}, and there is no such place on that page"


def _read(path: Path) -> Html:
    page = Html()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _file(site: Path, page: Path, place: str) -> Path:
    if not place:
        return page
    found = (site / place.lstrip("/") if place.startswith("/") else page.parent / place).resolve()
    return found / "index.html" if found.is_dir() else found


def main() -> int:
    """Print what is broken; 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    site = parser.parse_args().site.resolve()
    faults = list(broken(site))
    for fault in faults:
        print(fault)
    print(f"{len(list(site.rglob('*.html')))} pages, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
