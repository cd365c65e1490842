"""
Everything that must hold before a change lands; ``nox`` runs it all.

``nox -s check`` for the quick part, ``nox -s "tests(mcp='2.3')"`` for one SDK.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import nox

nox.options.sessions = ["check", "site", "package", "tests", "hosts", "coverage"]
nox.options.reuse_existing_virtualenvs = True
nox.options.stop_on_first_error = True

MCP = ["2.3", "1.30", "1.24"]
"""The newest of each major, and the oldest that we promise to work with."""

OF_THE_SDK = [
    "sdk",
    "calls",
    "clocks",
    "fastmcp",
    "everything",
    "cli",
    "conformance",
    "end_to_end",
    "docs",
    "registry",
    "hosts",
]
"""The tests that another version of the SDK could break; all are run with the newest one."""

SITE = ["zensical==0.0.73", "mkdocstrings-python>=2.0.11,<3", "ruff"]
"""What builds the site; pinned, since 0.x may change anything.  Ruff breaks the lines of long signatures."""

WITHOUT_THE_CHECKOUT = ["choices", "headless", "registry"]
"""The tests of the source distribution that are run against the installed wheel."""

ALL_CORES = ["-n", "auto", "--dist", "worksteal"]
"""How tests are shared out."""

FASTMCP = {"2": "fastmcp>=4.1,<5", "1": "fastmcp>=3.4,<4"}
"""Which FastMCP goes with which major of the SDK."""

FASTMCP_ALONE = ["fastmcp>=4.1,<5", "fastmcp-slim>=4.1,<5"]
"""All of FastMCP that has types."""

HOSTS = [
    "langchain-mcp-adapters>=0.3",
    "mcp-use>=1.7",
    "openai-agents>=0.24",
    "pydantic-ai-slim[mcp]>=2.60,<3",
    "strands-agents>=1.62",
]
"""Libraries that every change is tried with: those whose requirements agree, on mcp 1.x.  ``compatibility`` has all."""


@nox.session
def check(session: nox.Session) -> None:
    """Format, lint, layers, and whether the public surface is the one that is kept."""
    session.install("-q", "-e", ".[dev]")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("lint-imports")
    session.run("python", "-m", "tools.surface")


@nox.session
def site(session: nox.Session) -> None:
    """Build the documentation, and follow every link of it."""
    if sys.version_info < (3, 11):
        session.skip("what builds the site needs Python 3.11")
    session.install("-q", "--no-compile", *SITE)
    session.run("zensical", "build", "--strict", "--clean")
    session.run("python", "-m", "tools.site", "site")


@nox.session
def package(session: nox.Session) -> None:
    """Build what is released, and use it as somebody would who has nothing else."""
    session.install("-q", "--no-compile", "build", "hatchling", "twine")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        session.run("python", "-m", "build", "--no-isolation", "--outdir", str(place / "dist"), silent=True)
        wheel, source = next(place.glob("dist/*.whl")), next(place.glob("dist/*.tar.gz"))
        session.run("twine", "check", "--strict", str(wheel), str(source))
        session.run("python", "-m", "venv", str(place / "venv"))
        shutil.unpack_archive(source, place)
        tests = place / source.name.removesuffix(".tar.gz")
        shutil.rmtree(tests / "mcp_elicit_client")
        programs = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
        python = str(programs / "python")
        session.chdir(place)
        session.run(python, "-m", "pip", "install", "-q", "--no-compile", str(wheel), external=True)
        session.run(str(programs / "mcp-elicit"), "demo", external=True)
        extras = f"{wheel}[terminal,browser,otel,qr,redis,sealed]"
        session.run(
            python,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-compile",
            extras,
            "hypothesis",
            "pytest",
            "sybil",
            "trio",
            external=True,
        )
        # The libraries whose classes stand in signatures of ours; no more of them is needed than that.
        session.run(
            python, "-m", "pip", "install", "-q", "--no-deps", "openai-agents>=0.24", *FASTMCP_ALONE, external=True
        )
        verify_types(session, programs)
        session.chdir(tests)
        chosen = [f"tests/test_{name}.py" for name in WITHOUT_THE_CHECKOUT]
        session.run(
            python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, "docs/quickstart.md", external=True
        )


def verify_types(session: nox.Session, programs: Path) -> None:
    """Verify that every public name has a type, as whoever type-checks a host application sees it."""
    pyright = Path(__file__).parent / ".npm" / "node_modules" / ".bin" / "pyright"
    if not pyright.exists() and "CI" not in os.environ:
        session.warn("the npm package pyright is not installed; see .ci/run")
        return
    # Where pyright verifies types it takes the first Python of the path, and nox puts that of the session there.
    path = f"PATH={programs}{os.pathsep}{os.environ['PATH']}"
    session.run("env", path, str(pyright), "--ignoreexternal", "--verifytypes", "mcp_elicit_client", external=True)


@nox.session
@nox.parametrize("mcp", MCP)
def tests(session: nox.Session, mcp: str) -> None:
    """Types and tests with one version of the SDK."""
    session.install("-q", "-e", ".[dev]", f"mcp=={mcp}.*", FASTMCP[mcp[0]])
    session.run("python", "-c", "from importlib.metadata import version; print('mcp', version('mcp'))")
    session.run("mypy")
    some = [f"tests/test_{name}.py" for name in OF_THE_SDK] if mcp != MCP[0] else []
    session.run(
        "coverage",
        "run",
        "-m",
        "pytest",
        "-q",
        *ALL_CORES,
        *some,
        *session.posargs,
        env={"ELICIT_HOSTS": "mcp,fastmcp"},
    )


@nox.session
def hosts(session: nox.Session) -> None:
    """Types and tests of the adapters for other libraries, with those that install together."""
    session.install(
        "-q",
        "-e",
        ".",
        "coverage[toml]",
        "hypothesis",
        "mypy",
        "packaging",
        "pytest",
        "pytest-xdist",
        "sybil",
        "mcp<2",
        *HOSTS,
    )
    session.run("mypy", "mcp_elicit_client/hosts", "tests/compatibility", "examples/hosts")
    here = ",".join(re.split(r"[^\w-]", each)[0] for each in HOSTS)
    env = {"ELICIT_HOSTS": here}
    session.run(
        "coverage", "run", "-m", "pytest", "-q", *ALL_CORES, "tests/hosts/test_hosts.py", *session.posargs, env=env
    )


@nox.session
def compatibility(session: nox.Session) -> None:
    """Measure every library that we have an adapter for, and write ``docs/compatibility.md``; about ten minutes."""
    session.install("-q", "uv>=0.9")
    session.run("python", "-m", "tests.compatibility.matrix", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """What all the tests together have covered."""
    session.install("-q", "coverage[toml]>=7.10")
    session.run("coverage", "combine")
    session.run("coverage", "report")


@nox.session
def mutants(session: nox.Session) -> None:
    """Which changes to the core no test notices; about fifteen minutes."""
    session.install("-q", "-e", ".[dev]", "mutmut>=3.3")
    session.run("mutmut", "run", *session.posargs, env={"HYPOTHESIS_PROFILE": "mutants"})
    session.run("mutmut", "results")
