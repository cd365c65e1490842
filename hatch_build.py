"""Build hooks of Hatchling: compile the translations, and write the long description and URLs of the package."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "REPOSITORY_URL"
"""The environment variable with the URL of the repository's pages.  The release workflow sets it."""

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")


def long_description(text: str, repository: str, version: str) -> str:
    """
    Return the README with absolute links, as a package index needs them.

    Links lead to the files of the release.  Without a repository, the text of
    a link remains, and pictures are removed.
    """

    def absolute(link: re.Match[str]) -> str:
        target = link["target"]
        if re.match(r"https?://", target):
            return link[0]
        if not repository:
            return "" if link["picture"] else link["text"]
        view = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['text']}]({repository}/{view}/v{version}/{target})"

    code = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
    parts = code.split(text)  # every second part is a code block
    parts[::2] = [re.sub(r"\n{3,}", "\n\n", _LINK.sub(absolute, part)) for part in parts[::2]]
    return "".join(parts)


def project_urls(repository: str, version: str) -> dict[str, str]:
    """Return the project URLs that a package index shows."""
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/blob/v{version}/docs/index.md",
        "Source": f"{repository}/tree/v{version}",
        "Changelog": f"{repository}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
        "Security": f"{repository}/security/policy",
    }


class DescribeProject(MetadataHookInterface):
    """Sets the long description and the project URLs."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set what the source distribution that is built from does not contain."""
        repository = os.environ.get(REPOSITORY, "").rstrip("/")
        if repository and not repository.startswith("https://"):
            raise ValueError(f"{REPOSITORY} must begin with https://, not {repository!r}.")
        if "readme" not in metadata:
            text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
            text = long_description(text, repository, metadata["version"])
            metadata["readme"] = {"content-type": "text/markdown", "text": text}
        if repository and "urls" not in metadata:
            metadata["urls"] = project_urls(repository, metadata["version"])


class CompileTranslations(BuildHookInterface[Any]):
    """Writes a ``.mo`` file beside each ``.po`` file."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 -- Hatchling passes both
        """Compile every translation and add it to the build."""
        root = Path(self.root)
        for source in root.glob("mcp_elicit_client/presentation/locales/*/LC_MESSAGES/*.po"):
            compiled = source.with_suffix(".mo")
            with source.open("rb") as file:
                catalog = read_po(file)
            # Another process that reads the file, or builds at the same time, never sees a part of it.
            new = compiled.with_name(f"{os.getpid()}.{compiled.name}")
            with new.open("wb") as output:
                write_mo(output, catalog)
            new.replace(compiled)
            build_data["artifacts"].append(f"/{compiled.relative_to(root).as_posix()}")
