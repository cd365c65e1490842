"""Compile the translations for the wheel; Hatchling runs this hook when it builds the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


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
            with compiled.open("wb") as output:
                write_mo(output, catalog)
            build_data["artifacts"].append(f"/{compiled.relative_to(root).as_posix()}")
