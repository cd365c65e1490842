"""A release describes itself: its metadata, its extras, the changelog, and the workflows that test and publish it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

import pytest

import mcp_elicit_client
from tests.support import ROOT
from tools import wheels
from tools.changelog import ReleaseError, release_notes, version_of_the_package

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REPOSITORY = "https://code.example/team/mcp-elicit-client"
LINKS = re.compile(r"\]\(([^)]+)\)")
PYTHONS = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ENVIRONMENT = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


@contextmanager
def built(monkeypatch: pytest.MonkeyPatch, root: Path, folder: Path, repository: str | None) -> Iterator[Message]:
    """Build a wheel, and yield its metadata."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    pytest.importorskip("babel", reason="the build needs Babel")
    from hatchling.builders.wheel import WheelBuilder

    if repository is None:
        monkeypatch.delenv("REPOSITORY_URL", raising=False)
    else:
        monkeypatch.setenv("REPOSITORY_URL", repository)
    wheel = next(iter(WheelBuilder(str(root)).build(directory=str(folder), versions=["standard"])))
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        yield HeaderParser().parsestr(archive.read(name).decode())


def description(metadata: Message) -> str:
    text = metadata.get_payload()
    assert isinstance(text, str)
    return text


def test_a_release_has_absolute_links_to_its_own_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    version = mcp_elicit_client.__version__
    with built(monkeypatch, ROOT, tmp_path, REPOSITORY) as metadata:
        text = description(metadata)

    assert f"![A form in the terminal]({REPOSITORY}/raw/v{version}/docs/pictures/terminal-form.svg)" in text
    links = LINKS.findall(without_code(text))
    assert f"{REPOSITORY}/blob/v{version}/docs/get-started.md" in links
    assert [link for link in links if not link.startswith("https://")] == []
    for link in links:
        if link.startswith(REPOSITORY):
            assert (ROOT / re.split(r"/(?:raw|blob)/v[^/]+/", link)[1].partition("#")[0]).is_file(), link
    urls = dict(each.split(", ") for each in metadata.get_all("Project-URL", []))
    assert set(urls) == {"Homepage", "Documentation", "Source", "Changelog", "Issues", "Security"}
    assert all(url.startswith(REPOSITORY) for url in urls.values())


def test_the_program_of_the_readme_is_unchanged_in_the_description(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with built(monkeypatch, ROOT, tmp_path, REPOSITORY) as metadata:
        blocks = re.findall(r"```.*?```", description(metadata), re.DOTALL)

    assert blocks == re.findall(r"```.*?```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def test_without_a_repository_the_description_has_no_relative_links(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with built(monkeypatch, ROOT, tmp_path, None) as metadata:
        text = description(metadata)

    assert "Get started" in text
    assert [link for link in LINKS.findall(without_code(text)) if not link.startswith("https://")] == []
    assert metadata.get_all("Project-URL") is None


def test_a_wheel_from_the_source_distribution_has_the_same_metadata(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with built(monkeypatch, ROOT, tmp_path / "direct", REPOSITORY) as metadata:
        direct = metadata.as_string()
    from hatchling.builders.sdist import SdistBuilder

    source = next(iter(SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])))
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (unpacked,) = (tmp_path / "source").iterdir()
    with built(monkeypatch, unpacked, tmp_path / "again", None) as metadata:
        assert metadata.as_string() == direct


def test_the_version_of_the_package_is_that_of_its_metadata() -> None:
    from importlib.metadata import version

    assert mcp_elicit_client.__version__ == version("mcp-elicit-client") == version_of_the_package()


def package_names(requirements: list[str]) -> list[str]:
    return sorted(re.split(r"[^\w-]", each)[0] for each in requirements)


def rows(heading: str) -> list[list[str]]:
    """The names in backticks of each cell of the table under *heading*."""
    part = ENVIRONMENT.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("| `")]
    return [[",".join(re.findall(r"`([^`]+)`", cell)) for cell in (line[0], line[-1])] for line in lines]


def test_every_extra_is_documented_with_its_packages() -> None:
    documented = {extra: sorted(packages.split(",")) for extra, packages in rows("Extras")}

    assert documented == {name: package_names(each) for name, each in PROJECT["optional-dependencies"].items()}


def test_every_dependency_is_documented_with_its_purpose() -> None:
    documented = sorted(name for names, _ in rows("Dependencies") for name in names.split(","))

    assert documented == package_names(PROJECT["dependencies"])


CHANGELOGS: Mapping[str, tuple[str, str, str]] = {
    "another tag": ("## 1.2.0 - 2026-01-02\n\n- New.\n", "v1.3.0", "is not v1.2.0"),
    "a tag without v": ("## 1.2.0 - 2026-01-02\n\n- New.\n", "1.2.0", "is not v1.2.0"),
    "no heading": ("## 1.1.0 - 2026-01-02\n\n- New.\n", "v1.2.0", "has no entries"),
    "no date": ("## 1.2.0\n\n- New.\n", "v1.2.0", "has no entries"),
    "no entries": ("## 1.2.0 - 2026-01-02\n\n## 1.1.0 - 2026-01-01\n\n- Old.\n", "v1.2.0", "has no entries"),
    "another version with the same beginning": ("## 1.2.01 - 2026-01-02\n\n- New.\n", "v1.2.0", "has no entries"),
    "unreleased": ("## Unreleased\n\n### Added\n\n- More.\n\n## 1.2.0 - 2026-01-02\n\n- New.\n", "v1.2.0", "Move them"),
}


@pytest.mark.parametrize("name", CHANGELOGS)
def test_a_version_without_an_entry_in_the_changelog_is_not_released(name: str) -> None:
    changelog, tag, error = CHANGELOGS[name]

    with pytest.raises(ReleaseError, match=error):
        release_notes(changelog, tag, "1.2.0")


def test_the_notes_of_a_release_are_its_entries() -> None:
    changelog = (
        "# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-01-02\n\n### Added\n\n- New.\n\n## 1.1.0 - 2026-01-01\n"
    )

    assert release_notes(changelog, "v1.2.0", "1.2.0") == "### Added\n\n- New."


def workflow(path: Path) -> Any:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_pinned_by_its_hash_and_names_its_version(path: Path) -> None:
    used = re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))

    pinned = r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\.github/workflows/\w+\.yml"
    assert [each for each in used if not re.fullmatch(pinned, each)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_no_more_rights_than_it_needs(path: Path) -> None:
    content = workflow(path)

    assert content["permissions"] == {"contents": "read"}
    assert "secrets." not in path.read_text(encoding="utf-8")
    rights = {name: job["permissions"] for name, job in content["jobs"].items() if "permissions" in job}
    assert rights == (
        {
            "build": {"contents": "read", "id-token": "write", "attestations": "write"},
            "publish": {"id-token": "write"},
        }
        if path.stem == "release"
        else {}
    )


def test_a_release_is_published_only_after_it_was_built_and_tested() -> None:
    jobs = workflow(ROOT / ".github" / "workflows" / "release.yml")["jobs"]

    assert jobs["publish"]["needs"] == ["build", "test"]
    assert jobs["publish"]["environment"] == "release"
    assert jobs["test"]["uses"] == "./.github/workflows/ci.yml"


def test_ci_runs_on_every_system_and_python_that_the_package_names() -> None:
    nox = pytest.importorskip("nox", reason="nox is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "nox", "-f", str(ROOT / "noxfile.py"), "-s", "matrix"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    outputs = {name: json.loads(value) for name, _, value in (each.partition("=") for each in done.stdout.splitlines())}

    assert nox.project.python_versions({"project": PROJECT}) == PYTHONS == list(wheels.PYTHONS)
    assert outputs["python"] == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    systems = {each.partition("-")[0] for each in outputs["os"]} | {"linux"}
    named = {"macos": "MacOS", "windows": "Microsoft :: Windows", "linux": "POSIX :: Linux"}
    assert {f"Operating System :: {named[each]}" for each in systems} <= set(PROJECT["classifiers"])
    assert {each.title.split()[0].lower() for each in wheels.PLATFORMS} == systems
    jobs = workflow(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    assert jobs["other"]["strategy"]["matrix"] == {
        "os": "${{ fromJSON(needs.matrix.outputs.os) }}",
        "python": "${{ fromJSON(needs.matrix.outputs.python) }}",
    }
