"""The documentation lists all codes, limits and names, in plain words; pytest runs its code blocks."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import re
import subprocess
import symtable
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any, get_args

import griffe
import pytest

import mcp_elicit_client
from mcp_elicit_client import Limits
from mcp_elicit_client.core.diagnostics import DiagnosticCode
from mcp_elicit_client.core.messages import FIELD_ERRORS
from mcp_elicit_client.core.secrets.findings import SecretKind
from mcp_elicit_client.core.url.domains import UrlWarningCode
from mcp_elicit_client.core.validation.field_errors import ErrorCode
from mcp_elicit_client.core.validation.formats import FORMATS
from mcp_elicit_client.exceptions import UrlRefusal
from tests.support import ROOT
from tests.support.wording import (
    MODULES,
    PAGES,
    WORDING,
    find_whole,
    page_text,
    plain,
    prose,
    sentences,
    texts_of,
    words,
)
from tools.messages import messages_in_the_package
from tools.surface import public_modules

REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


TABLES: list[tuple[str, Any]] = [
    ("## Answer errors", ErrorCode),
    ("## Diagnostics", DiagnosticCode),
    ("## Sensitive data", SecretKind),
    ("## URL refusals", UrlRefusal),
    ("## URL warnings", UrlWarningCode),
]


@pytest.mark.parametrize(("heading", "codes"), TABLES)
def test_every_code_is_documented_and_no_other(heading: str, codes: Any) -> None:
    part = REFERENCE.split(heading, 1)[1].split("\n## ", 1)[0]

    assert sorted(re.findall(r"^\| `([a-z_]+)` \|", part, re.MULTILINE)) == sorted(get_args(codes))


def test_every_name_of_a_policy_is_documented_and_no_other() -> None:
    part = REFERENCE.split("## Values of `Answer.policy`", 1)[1]
    modules = [ROOT / "mcp_elicit_client" / "dispatch.py", ROOT / "mcp_elicit_client" / "audit" / "log.py"]
    modules += (ROOT / "mcp_elicit_client" / "policies").glob("*.py")
    code = "\n".join(module.read_text(encoding="utf-8") for module in modules)
    names = set(re.findall(r'^(?:NAME|ADMISSION|COOLDOWN|TIMEOUT) = "(\w+)"', code, re.MULTILINE))

    assert set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)) == names


def test_every_format_is_documented_and_no_other() -> None:
    line = next(each for each in REFERENCE.splitlines() if each.startswith("Formats `"))

    assert re.findall(r"`([a-z0-9-]+)`", line) == list(FORMATS)


def test_every_error_code_has_its_sentence() -> None:
    assert set(FIELD_ERRORS) | {"format", "type"} == set(get_args(ErrorCode))


def test_every_limit_is_documented_with_its_default() -> None:
    part = REFERENCE.split("\n## Limits", 1)[1].split("\n## ", 1)[0]
    documented = {name: int(default) for name, default in re.findall(r"^\| `(\w+)` \| (\d+) \|", part, re.MULTILINE)}

    assert documented == dataclasses.asdict(Limits())


def test_every_exported_name_is_documented_and_exists() -> None:
    part = REFERENCE.split("\n## Names", 1)[1].split("\n## ", 1)[0]
    documented = re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in part.splitlines() if "|" in line))

    assert sorted(documented) == mcp_elicit_client.__all__ == sorted(mcp_elicit_client.__all__)
    assert all(hasattr(mcp_elicit_client, name) for name in documented)


def test_every_public_name_has_an_entry_in_the_reference() -> None:
    """The pages in `docs/api` show the names of their modules that have a docstring."""
    package: Any = griffe.load("mcp_elicit_client", search_paths=[ROOT], resolve_aliases=True, resolve_implicit=True)
    missing = []
    for module in public_modules():
        found = package.modules_collection[module]
        public = [name for name in found.members if not name.startswith("_") and not found[name].is_alias]
        missing += [f"{module}.{name}" for name in found.exports or public if not found[str(name)].has_docstring]

    assert missing == []


def test_the_readme_counts_the_libraries_of_the_table() -> None:
    table = (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")
    libraries = set(re.findall(r"^\| \[(.+?)\]\(hosts/", table, re.MULTILINE)) - {"mcp 1, 2"}

    assert len(libraries) == 20
    assert README.count("twenty") == 2


RECORDED = {"check-results.md"}
"""Pages with texts that were recorded from programs."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_contains_no_replaced_name_and_no_unclear_phrase(page: Path) -> None:
    text = plain(prose(page))

    assert [name for name in WORDING["identifiers"] if find_whole(name, page_text(page))] == []
    assert page.name in RECORDED or [phrase for phrase in WORDING["phrases"] if find_whole(phrase, text)] == []


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_code_blocks_suit_readers_who_check_types_strictly(page: Path) -> None:
    blocks = re.findall(r"^( *)```py(?:thon)?\n(.*?)^\1```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for _, block in blocks:
        assert ".content[0].text" not in block, "the first part may be an image: join the texts of `result.content`"
        tree = compile(dedent(block), str(page), "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        assert [each.name for each in functions if each.returns is None and each.name != "__init__"] == []
        arguments = [each for function in functions for each in ast.walk(function.args) if isinstance(each, ast.arg)]
        assert {each.arg for each in arguments if each.annotation is None} <= {"self"}


def names_from_outside(table: symtable.SymbolTable, own: frozenset[str]) -> set[str]:
    """Return the names that a block uses and does not define."""
    found = {each.get_name() for each in table.get_symbols() if each.is_referenced() and each.is_global()}
    return found.union(*(names_from_outside(child, own) for child in table.get_children())) - own - set(dir(builtins))


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_a_code_block_that_continues_no_other_one_imports_what_it_uses(page: Path) -> None:
    imported: set[str] = set()
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        table = symtable.symtable(block, str(page), "exec")
        own = frozenset(each.get_name() for each in table.get_symbols() if each.is_assigned() or each.is_imported())
        missing = names_from_outside(table, own)
        assert not missing or not missing <= imported, block
        imported |= {each.get_name() for each in table.get_symbols() if each.is_imported()}


def test_the_package_contains_no_replaced_name_and_no_unclear_phrase() -> None:
    names = {path.name: path.read_text(encoding="utf-8") for path in MODULES}
    texts = [(path.name, plain(text)) for path in MODULES for text in texts_of(path).docstrings]
    texts += [(path.name, text.lower()) for path in MODULES for text in texts_of(path).errors]
    texts += [("messages", f"{each.text} {each.plural}".lower()) for each in messages_in_the_package()]

    assert [
        (file, name) for file, text in names.items() for name in WORDING["identifiers"] if find_whole(name, text)
    ] == []
    assert [(file, phrase) for file, text in texts for phrase in WORDING["phrases"] if find_whole(phrase, text)] == []


def test_no_sentence_has_more_than_35_words() -> None:
    texts = [(page.name, prose(page)) for page in PAGES if page.name not in RECORDED]
    texts += [(path.name, text) for path in MODULES for text in texts_of(path).docstrings]

    assert [(name, each) for name, text in texts for each in sentences(text) if words(each) > 35] == []


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("host.py", "unattended.md"),
        ("terminal.py", "get-started.md"),
        ("cli_agent.py", "examples.md"),
        ("desktop_app.py", "examples.md"),
        ("slack_bot.py", "chats.md"),
    ],
)
def test_the_pages_show_the_examples_as_they_are(name: str, page: str) -> None:
    example = (ROOT / "examples" / name).read_text(encoding="utf-8").split('"""\n\n', 1)[1]

    assert example in (ROOT / "docs" / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["how-it-works.md", "development.md"])
def test_the_modules_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = [
        name
        for name in re.findall(r"`([a-z_0-9/]+(?:\.py|/))`", text)
        if "/" in name.rstrip("/") or name.endswith("py")
    ]
    roots = [ROOT, ROOT / "mcp_elicit_client", ROOT / "mcp_elicit_client" / "core" / "validation"]
    roots += [ROOT / "mcp_elicit_client" / "presentation", ROOT / "mcp_elicit_client" / "inbox" / "web"]
    roots += [ROOT / "mcp_elicit_client" / "inbox", ROOT / "mcp_elicit_client" / "calls"]

    assert len(named) >= 20
    assert [name for name in named if not any((root / name).exists() for root in roots)] == []


def test_every_example_is_in_the_index() -> None:
    listed = set(
        re.findall(r"\(\.\./examples/([\w/]+\.py)\)", (ROOT / "docs" / "examples.md").read_text(encoding="utf-8"))
    )

    assert {path.name for path in (ROOT / "examples").glob("*.py")} == {each for each in listed if "/" not in each}


def test_the_example_runs() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "host.py")], capture_output=True, text=True, timeout=60, check=True
    )

    assert '"guests": 2' in run.stdout


def test_ci_calls_exactly_the_test_command_of_the_readme() -> None:
    demo, tests = re.findall(r"```sh\n(.+?)\n```", README, re.DOTALL)[0].splitlines()
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert tests in script.splitlines()
    assert demo in script.splitlines()


def test_the_version_of_the_package_is_that_of_the_changelog_or_unreleased() -> None:
    from importlib.metadata import version

    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert f"## {version('mcp-elicit-client')}" in changelog or "## Unreleased" in changelog


def test_importing_the_package_loads_no_user_interface_and_no_network() -> None:
    code = (
        "import sys, mcp.types; before = set(sys.modules); import mcp_elicit_client;"
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('mcp_elicit_client')))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert not loaded & {"httpx", "anyio", "jsonschema", "publicsuffixlist", "idna", "regress", "limits", "termios"}


def test_importing_the_registry_does_not_load_the_search_for_secrets() -> None:
    code = "import sys; from mcp_elicit_client import ElicitationRegistry; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert "mcp_elicit_client.registry" in run.stdout
    assert "mcp_elicit_client.core.secrets.tables" not in run.stdout
