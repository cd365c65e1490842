"""What the package imports is declared, and the wheel contains what the package reads."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROVIDED_BY_THE_HOST = {
    "IPython",
    "ag2",
    "ag_ui_langgraph",
    "agents",
    "claude_agent_sdk",
    "fastmcp",
    "google",
    "jupyter_core",
    "langchain",
    "langchain_mcp_adapters",
    "mcp_agent",
    "mcp_use",
    "pytest",
    "trio",
}
"""What is only imported where the host application runs on it."""

IMPORT_NAMES = {
    "ag_ui_protocol": "ag_ui",
    "agent_client_protocol": "acp",
    "opentelemetry_api": "opentelemetry",
    "pydantic": "pydantic_core",
    "python_telegram_bot": "telegram",
}
"""Import names that differ from the name of the distribution."""

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def names(requirements: list[str]) -> set[str]:
    """The names of *requirements*, as they are imported."""
    return {re.split(r"[^\w-]", each)[0].lower().replace("-", "_") for each in requirements}


def imported() -> dict[str, set[str]]:
    """Every package of others that the package imports anywhere, and by which files."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "mcp_elicit_client").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imports = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imports.append(node.module)
            for name in imports:
                found.setdefault(name.partition(".")[0], set()).add(path.name)
    return {name: files for name, files in found.items() if name not in sys.stdlib_module_names}


def test_every_import_is_declared_as_a_dependency_or_an_extra() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    declared = names([*PROJECT["project"]["dependencies"], *(each for extra in extras.values() for each in extra)])
    declared |= {IMPORT_NAMES[each] for each in declared & set(IMPORT_NAMES)}
    declared |= {"mcp_elicit_client"} | PROVIDED_BY_THE_HOST

    assert {name: files for name, files in imported().items() if name not in declared} == {}


def test_development_tools_are_in_groups_and_not_in_published_extras() -> None:
    published = [each for extra in PROJECT["project"]["optional-dependencies"].values() for each in extra]
    groups: list[list[Any]] = list(PROJECT["dependency-groups"].values())
    tools = names([each for group in groups for each in group if isinstance(each, str)])

    assert names(published) & tools == set()
    assert {"mypy", "nox", "pytest", "ruff"} <= tools


def test_the_set_up_command_for_developers_installs_all_extras_but_chainlit() -> None:
    page = (ROOT / "docs" / "development.md").read_text(encoding="utf-8")
    extras = [each for each in PROJECT["project"]["optional-dependencies"] if each != "chainlit"]  # needs mcp 1.x

    assert re.findall(r"install -e '\.\[(.+)\]' --group dev", page) == [",".join(extras)]


def test_the_wheel_contains_every_data_file_of_the_package(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    from hatchling.builders.wheel import WheelBuilder

    wheel = next(iter(WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])))
    package = ROOT / "mcp_elicit_client"
    data = {
        str(path.relative_to(ROOT).as_posix())
        for path in package.rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc", ".mo"}
    }
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())

    assert data
    assert data - packed == set()
    catalogs = {name.removesuffix(".po") for name in data if name.endswith(".po")}
    assert catalogs == {name.removesuffix(".mo") for name in packed if name.endswith(".mo")}


def test_an_installed_wheel_is_translated_without_babel(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    pytest.importorskip("babel", reason="the build needs Babel")
    from hatchling.builders.wheel import WheelBuilder

    wheel = next(iter(WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    for source in (tmp_path / "site").rglob("*.po"):
        source.unlink()  # what is compiled suffices
    script = (
        "import sys; sys.modules['babel'] = None; sys.modules['babel.messages.pofile'] = None\n"
        "from mcp_elicit_client.presentation.catalog import MessageCatalog, available_languages\n"
        "from mcp_elicit_client.presentation import messages\n"
        "assert 'site' in sys.modules[MessageCatalog.__module__].__file__\n"
        "for name in available_languages():\n"
        "    print(name, MessageCatalog.for_language(name).text(messages.ASKS_FOR_ANSWERS, server='mail', count=2))\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PYTHONSAFEPATH": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environ, cwd=tmp_path, capture_output=True, check=True, encoding="utf-8"
    )

    assert done.stdout.splitlines() == [
        "en mail asks for 2 answers",
        "de mail bittet um 2 Antworten",
        "es mail pide 2 respuestas",
        "fr mail demande 2 réponses",
        "ja mail が 2 件の回答を求めています",
    ]
