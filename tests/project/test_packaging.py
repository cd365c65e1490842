"""What is installed with the package is all that it imports."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import requires

from tests.support import ROOT

PROVIDED_BY_THE_HOST = {
    "agents",
    "fastmcp",
    "google",
    "langchain",
    "langchain_mcp_adapters",
    "mcp_agent",
    "mcp_use",
    "pytest",
    "trio",
}
"""What is only imported where the host application runs on it."""

PARTS = {"opentelemetry_api": "opentelemetry", "pydantic": "pydantic_core"}
"""What is imported under another name than its distribution's."""


def imported() -> dict[str, set[str]]:
    """Every package of others that the package imports anywhere, and by which files."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "mcp_elicit_client").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.append(node.module)
            for name in names:
                found.setdefault(name.partition(".")[0], set()).add(path.name)
    return {name: files for name, files in found.items() if name not in sys.stdlib_module_names}


def test_every_import_is_declared_as_a_dependency_or_an_extra() -> None:
    needed = [each for each in requires("mcp-elicit-client") or () if "extra == 'dev'" not in each.replace('"', "'")]
    declared = {re.split(r"[^\w-]", each)[0].lower().replace("-", "_") for each in needed}
    declared |= {PARTS[each] for each in declared & set(PARTS)} | {"mcp_elicit_client"} | PROVIDED_BY_THE_HOST

    assert {name: files for name, files in imported().items() if name not in declared} == {}
