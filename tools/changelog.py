"""
Check that a version is ready to be released, and print what changed in it.

``python -m tools.changelog v0.1.0`` fails if the tag is not the version of the
package, or if ``CHANGELOG.md`` has no entry for it, or still has entries
without a version.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


class ReleaseError(Exception):
    """The version cannot be released.  The text says what to change."""


def version_of_the_package() -> str:
    """Return the version, without importing the package."""
    text = (ROOT / "mcp_elicit_client" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    return str(version)


def release_notes(changelog: str, tag: str, version: str) -> str:
    """
    Return what *changelog* says about *version*, which is released with *tag*.

    Raises:
        ReleaseError: If the tag, the version and the changelog do not fit.
    """
    if tag != f"v{version}":
        raise ReleaseError(f"The tag {tag} is not v{version}, the version in mcp_elicit_client/__init__.py.")
    parts = re.split(r"^## (.+)$", changelog, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    if _entries(sections.get("Unreleased", "")):
        raise ReleaseError(f'CHANGELOG.md has entries under "Unreleased". Move them to "## {version} - YYYY-MM-DD".')
    for heading, text in sections.items():
        if re.fullmatch(rf"\[?{re.escape(version)}\]? - \d{{4}}-\d\d-\d\d", heading) and _entries(text):
            return text.strip()
    raise ReleaseError(f'CHANGELOG.md has no entries under "## {version} - YYYY-MM-DD".')


def _entries(text: str) -> list[str]:
    return re.findall(r"^- \S.*", text, re.MULTILINE)


def main() -> int:
    """Print the notes of a release, or why there can be none."""
    if len(sys.argv) != 2:
        print("usage: python -m tools.changelog TAG", file=sys.stderr)
        return 2
    try:
        text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        print(release_notes(text, sys.argv[1], version_of_the_package()))
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
