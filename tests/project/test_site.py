"""The check of the built documentation finds what leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import ROOT
from tools.site import broken

PAGE = """<!doctype html><link rel="stylesheet" href="../style.css"><body id="top">
<a href="../">home</a> <a href="#top">up</a> <a href="../#there">there</a> <a href="https://example.com/">out</a>
<img src="../a.png"> {more}"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "page").mkdir()
    (tmp_path / "style.css").touch()
    (tmp_path / "a.png").touch()
    (tmp_path / "index.html").write_text('<h1 id="there">x</h1><a href="page/">page</a><a href="/page/#top">x</a>')
    return tmp_path


def faults(site: Path, more: str) -> list[str]:
    (site / "page" / "index.html").write_text(PAGE.format(more=more))
    return list(broken(site))


def test_a_site_that_holds_together_has_no_faults(site: Path) -> None:
    assert faults(site, "") == []


def test_a_site_that_was_not_built_is_a_fault(tmp_path: Path) -> None:
    assert list(broken(tmp_path)) == [f"{tmp_path} has no page"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('<a href="../nowhere/">x</a>', "names ../nowhere/, which is not there"),
        ('<a href="#nowhere">x</a>', "names #nowhere, and there is no such place"),
        ('<a href="../#nowhere">x</a>', "names ../#nowhere, and there is no such place"),
        ('<img src="b.png">', "names b.png, which is not there"),
        ('<script src="https://example.com/x.js"></script>', "loads https://example.com/x.js from elsewhere"),
        ('<a href="javascript:alert(1)">x</a>', "links to javascript:alert(1)"),
    ],
)
def test_what_leads_nowhere_is_said(site: Path, more: str, said: str) -> None:
    (fault,) = faults(site, more)
    assert said in fault


def test_every_page_in_the_list_exists_and_every_picture_is_shown() -> None:
    listed = [line.split(": ")[-1] for line in (ROOT / "mkdocs.yml").read_text().splitlines() if line.endswith(".md")]
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(pages)
    texts = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    pictures = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs" / "pictures").iterdir()]
    assert [path for path in pictures if path not in texts] == []


@pytest.mark.parametrize("page", ["README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md"])
def test_what_stands_beside_the_site_links_to_what_is_there(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / page).read_text(encoding="utf-8"))

    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []
