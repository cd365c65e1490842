"""
Everything that must hold before a change lands; ``nox`` runs it all.

``nox -s check`` for the quick part, ``nox -s "tests(mcp='2.3')"`` for one SDK.
"""

from __future__ import annotations

import nox

nox.options.sessions = ["check", "tests", "coverage"]
nox.options.reuse_existing_virtualenvs = True
nox.options.stop_on_first_error = True

MCP = ["2.3", "1.30", "1.24"]
"""The newest of each major, and the oldest that we promise to work with."""

OF_THE_SDK = ["sdk", "calls", "clocks", "fastmcp", "everything", "cli", "conformance", "end_to_end", "docs", "registry"]
"""The tests that another version of the SDK could break; with the oldest one, only these are run."""

FASTMCP = {"2": "fastmcp>=4.1,<5", "1": "fastmcp>=3.4,<4"}
"""Which FastMCP goes with which major of the SDK."""


@nox.session
def check(session: nox.Session) -> None:
    """Format, lint, layers."""
    session.install("-q", "-e", ".[dev]")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("lint-imports")


@nox.session
@nox.parametrize("mcp", MCP)
def tests(session: nox.Session, mcp: str) -> None:
    """Types and tests with one version of the SDK."""
    session.install("-q", "-e", ".[dev]", f"mcp=={mcp}.*", FASTMCP[mcp[0]])
    session.run("python", "-c", "from importlib.metadata import version; print('mcp', version('mcp'))")
    session.run("mypy")
    some = [f"tests/test_{name}.py" for name in OF_THE_SDK] if mcp == MCP[-1] else []
    session.run("coverage", "run", "-m", "pytest", "-q", *some, *session.posargs)


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
