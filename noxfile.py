"""
Everything that must hold before a change lands; ``nox`` runs it all.

``nox -s check`` for the quick part, ``nox -s "tests(mcp='2.3')"`` for one SDK.
"""

from __future__ import annotations

import re

import nox

nox.options.sessions = ["check", "tests", "hosts", "coverage"]
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
"""The tests that another version of the SDK could break; with the oldest one, only these are run."""

FASTMCP = {"2": "fastmcp>=4.1,<5", "1": "fastmcp>=3.4,<4"}
"""Which FastMCP goes with which major of the SDK."""

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
    session.run("coverage", "run", "-m", "pytest", "-q", *some, *session.posargs, env={"ELICIT_HOSTS": "mcp,fastmcp"})


@nox.session
def hosts(session: nox.Session) -> None:
    """Types and tests of the adapters for other libraries, with those that install together."""
    session.install(
        "-q", "-e", ".", "coverage[toml]", "hypothesis", "mypy", "packaging", "pytest", "sybil", "mcp<2", *HOSTS
    )
    session.run("mypy", "mcp_elicit_client/hosts", "tests/compatibility", "examples/hosts")
    here = ",".join(re.split(r"[^\w-]", each)[0] for each in HOSTS)
    env = {"ELICIT_HOSTS": here}
    session.run("coverage", "run", "-m", "pytest", "-q", "tests/test_hosts.py", *session.posargs, env=env)


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
