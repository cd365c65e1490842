"""
Sessions that check, test and measure the project.

``nox`` runs what needs only Python and a few minutes: the checks, and the tests
that start nothing.  ``.ci/run`` runs all tests and the sessions for releases and
other versions after it, and ``nox -s long`` repeats random tests more often and
measures the coverage.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import nox
from nox.command import CommandFailed

MCP = ["2.3", "1.30", "1.24"]
"""The newest release of each major version of the SDK, and the oldest release that is supported."""

nox.options.sessions = ["check", "quick"]
nox.options.reuse_existing_virtualenvs = True
nox.options.stop_on_first_error = True

IN_CI = os.environ.get("CI") == "true"

PROJECT = nox.project.load_toml("pyproject.toml")
CHAINLIT = "chainlit"
"""An extra that needs mcp 1.x and many packages.  It has a separate session."""

EXTRAS = ",".join(each for each in PROJECT["project"]["optional-dependencies"] if each != CHAINLIT)
LINT = nox.project.dependency_groups(PROJECT, "lint")
TEST = nox.project.dependency_groups(PROJECT, "test")
PYTHONS = nox.project.python_versions(PROJECT)
"""The supported versions of Python, from the classifiers."""

OTHER_SYSTEMS = ["macos-15", "macos-15-intel", "windows-2025"]
"""The runners of CI besides Linux, where ``.ci/run`` runs.  They run the session ``platform``."""

SDK_TESTS = [
    *("tests/sdk", "tests/calls", "tests/cli", "tests/hosts", "tests/integration"),
    *("tests/project/test_docs.py", "tests/test_registry.py"),
]
"""The tests that depend on the SDK.  All tests run with its newest release, these also with mcp 1.30."""

OLDEST_SDK_TESTS = ["tests/sdk", "tests/calls", "tests/test_registry.py"]
"""The tests that also run with the oldest release of the SDK."""

OLDEST_SDK_TYPES = ["mcp_elicit_client/sdk", "mcp_elicit_client/calls", "mcp_elicit_client/relay"]
"""The folders whose types are also checked with the oldest release of the SDK."""

WHEEL_TESTS = ["tests/core/test_choices.py", "tests/handlers/test_headless.py", "tests/test_registry.py"]
"""The tests that run against the installed wheel."""

PLATFORM_TESTS = [
    *("tests/core", "tests/sdk", "tests/calls", "tests/policies", "tests/presentation", "tests/inbox"),
    *("tests/ui/test_consoles.py", "tests/ui/test_web.py", "tests/ui/test_browser_handler.py"),
    *("tests/test_registry.py", "tests/test_dispatch.py", "tests/test_users.py"),
]
"""The tests that run on each operating system.  Those that need POSIX are skipped on Windows."""

NOTEBOOK_TESTS = [
    "tests/handlers/test_jupyterlab.py",
    "tests/handlers/test_notebook.py::test_nbclient_runs_a_notebook_that_asks",
]
"""The tests of the handler for notebooks that other sessions skip."""

TESTS = ["tests", "mcp_elicit_client"]
"""The tests, and the examples in docstrings."""

PAGES = ["docs", "README.md"]
"""The documentation.  The code blocks of a page run in one process, since they share their names."""

BROWSER_TEST = [
    "hypothesis",
    "playwright>=1.50",
    "pytest>=8.4",
    "pytest-timeout>=2.4",
    "sybil>=9",
    "trio>=0.30",
]
"""What the tests of a handler in another application's page need, besides that application."""

JUPYTER = ["ipykernel>=7.4", "jupyterlab>=4.4,<5", "nbclient>=0.10"]
OLD_JUPYTER = ["ipykernel<7", "nest-asyncio"]
"""What the kernel of ipykernel 6 imports from a separate directory."""

PARALLEL = ["-n", "auto", "--dist", "worksteal"]

MAX_REPEATED = 3
"""How many failed tests CI runs once more, alone.  A busy machine causes no more of them than that."""

UV = "uv>=0.9"
"""The installer of packages."""

SITE = ["zensical==0.0.73", "mkdocstrings-python>=2.0.11,<3", "ruff"]
"""What builds the site.  Zensical is pinned, since it is at version 0; Ruff formats long signatures."""

FASTMCP = {
    "2": ["fastmcp>=4.1,<5", "fastmcp-tasks>=4.1,<5", "pydantic-ai-slim[ag-ui]>=2.60,<3; python_version >= '3.11'"],
    "1": ["fastmcp>=3.4,<4"],
}
"""FastMCP for each major version of the SDK, its tasks extension, and a framework with an AG-UI endpoint."""

TYPED_HOSTS = ["openai-agents>=0.24", "fastmcp>=4.1,<5", "fastmcp-slim>=4.1,<5"]
"""Host libraries whose classes are named in signatures of the package."""

HOSTS = [
    "langchain-mcp-adapters>=0.3",
    "mcp-use>=1.7",
    "openai-agents>=0.24",
    "pydantic-ai-slim[mcp]>=2.60,<3",
    "strands-agents>=1.62",
]
"""Host libraries that can be installed together, on mcp 1.x.  The session ``compatibility`` tests all of them."""

COPILOT = "github-copilot-sdk>=1.0.27"
"""A library that can only be tested without its program, which needs an account."""


def install(session: nox.Session, *requirements: str) -> None:
    """Install *requirements*, unless the environment was made for the same ones."""
    stamp = Path(session.virtualenv.location) / "installed.txt"
    wanted = "\n".join([*requirements, Path("pyproject.toml").read_text(encoding="utf-8")])
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        install_packages(session, *requirements)
        collect_less(session)
        stamp.write_text(wanted, encoding="utf-8")


def install_packages(session: nox.Session, *arguments: str, into: Path | None = None) -> None:
    """
    Install packages into the environment of *session* or into another one.

    uv takes seconds where pip takes a minute.  It reads no settings of pip, so that pip may reach an index that uv does
    not reach.  Neither compiles what it installs, which takes long as well: Python compiles what is imported.
    """
    environment = into or Path(session.virtualenv.location)
    try:
        session.install("-q", "--only-binary", ":all:", UV)
        session.run_install("uv", "pip", "install", "-q", *arguments, env={"VIRTUAL_ENV": str(environment)})
    except CommandFailed:
        session.warn("uv failed, so pip installs the packages.  It takes a minute longer.")
        pip = ["python", "-m", "pip", "--python", str(environment)]
        session.run_install(*pip, "install", "-q", "--no-compile", *arguments)


def collect_less(session: nox.Session) -> None:
    """
    Let all Python processes in the environment of *session* search for reference cycles less often.

    The tests start more than a thousand processes, and an import of the SDK takes a sixth less time like this.
    """
    write = (
        "import pathlib, sysconfig;"
        " path = pathlib.Path(sysconfig.get_path('purelib'), 'collect_less.pth');"
        " path.write_text('import gc; gc.set_threshold(50_000, 20, 50)')"
    )
    session.run_install("python", "-c", write)


def cache_of(session: nox.Session, tool: str) -> str:
    """Return the folder in which *tool* keeps what it found out: sessions may run at the same time."""
    return str(Path(session.virtualenv.location).absolute() / f"{tool}_cache")


def mypy(session: nox.Session, *paths: str) -> None:
    """
    Check the types in *paths*, or in all files, against the packages of *session*.

    The first run begins with what mypy found out about the files elsewhere, which saves half the time or more: it
    reads again what differs.
    """
    cache = Path(cache_of(session, "mypy"))
    if Path(".mypy_cache").exists() and not cache.exists():
        shutil.copytree(".mypy_cache", cache)
    session.run("mypy", *paths, env={"MYPY_CACHE_DIR": str(cache)})


def pytest(session: nox.Session, *arguments: str, hosts: str = "mcp,fastmcp", profile: str = "ci") -> None:
    """Run pytest; in the long session, measure the coverage as well."""
    cache = cache_of(session, "pytest")
    runner = ["coverage", "run", "-m", "pytest"] if profile == "long" else ["python", "-m", "pytest"]
    runner += ["-q", "-o", f"cache_dir={cache}"]
    env = {
        "ELICIT_HOSTS": hosts,
        "HYPOTHESIS_PROFILE": os.environ.get("HYPOTHESIS_PROFILE", profile),
        "PYTHONDONTWRITEBYTECODE": "",  # pytest compiles 700 modules for each worker unless it may keep them
        "NODE_COMPILE_CACHE": cache_of(session, "node"),  # playwright starts Node for each test
    }
    try:
        session.run(*runner, *PARALLEL, *arguments, *session.posargs, env=env)
    except CommandFailed:
        if not IN_CI or not 0 < count_failed(cache) <= MAX_REPEATED:
            raise
        session.warn("The tests that failed run once more, alone. If they pass now, make them steady.")
        session.run(*runner, "--lf", *arguments, *session.posargs, env=env)


def count_failed(cache: str) -> int:
    """Return how many tests failed in the last run of pytest with this *cache*."""
    kept = Path(cache, "v", "cache", "lastfailed")
    return len(json.loads(kept.read_text(encoding="utf-8"))) if kept.exists() else 0


@nox.session
def check(session: nox.Session) -> None:
    """Check the format, lint rules, layers, import cycles and the list of public names."""
    install(session, *LINT)
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("lint-imports")
    session.run("python", "-m", "tools.modules")
    session.run("python", "-m", "tools.surface")


@nox.session
def quick(session: nox.Session) -> None:
    """Run the tests that start no process, browser or server, do not wait and have no large input."""
    install(session, "-e", f".[{EXTRAS}]", *TEST, f"mcp=={MCP[0]}.*", *FASTMCP["2"])
    paths = () if session.posargs else (*TESTS, *PAGES)
    pytest(session, "-m", "not slow", "-n", "3", "--dist", "loadfile", *paths, profile="quick")


@nox.session
@nox.parametrize("mcp", MCP)
def tests(session: nox.Session, mcp: str) -> None:
    """Check the types and run the tests with one release of the SDK."""
    install(session, "-e", f".[{EXTRAS}]", *TEST, f"mcp=={mcp}.*", *FASTMCP[mcp[0]])
    session.run("python", "-c", "from importlib.metadata import version; print('mcp', version('mcp'))")
    typed, paths = {
        MCP[0]: ([], TESTS),
        MCP[1]: (["mcp_elicit_client", *SDK_TESTS], SDK_TESTS),
        MCP[2]: (OLDEST_SDK_TYPES, OLDEST_SDK_TESTS),
    }[mcp]
    mypy(session, *typed)
    pytest(session, *(() if session.posargs else paths))
    if mcp == MCP[0] and not session.posargs:
        pytest(session, *PAGES, "--dist", "loadfile")


@nox.session(venv_backend="none")
def matrix(_session: nox.Session) -> None:
    """Print the versions of Python and the other operating systems as outputs of a workflow."""
    print(f"python={json.dumps(PYTHONS)}")
    print(f"os={json.dumps(OTHER_SYSTEMS)}")


@nox.session
def platform(session: nox.Session) -> None:
    """Run the demo and the tests that need no other program, on any operating system."""
    install(session, "-e", f".[{EXTRAS}]", *TEST, f"mcp=={MCP[0]}.*", *FASTMCP["2"])
    session.run("mcp-elicit", "demo")
    pytest(session, "-m", "not slow", *PLATFORM_TESTS, profile="quick")
    pytest(session, "tests/core/test_patterns.py", profile="quick")  # the processes that check patterns


@nox.session
def newest(session: nox.Session) -> None:
    """Test with the newest version of every dependency, pre-releases included."""
    session.install("-q", "--upgrade", "--upgrade-strategy", "eager", "--pre", "-e", f".[{EXTRAS}]", *TEST)
    session.run("python", "-m", "pip", "list")
    mypy(session)
    pytest(session, *TESTS, hosts="mcp")


@nox.session
def lowest(session: nox.Session) -> None:
    """Test with the lowest version of every direct dependency that ``pyproject.toml`` allows."""
    session.install("-q", UV)
    resolve = ["uv", "pip", "install", "-q", "--python", str(Path(session.virtualenv.location, "bin", "python"))]
    session.run(*resolve, "--resolution", "lowest-direct", "-e", f".[{EXTRAS}]", *TEST)
    # Old versions warn about each other.
    pytest(
        session,
        "-m",
        "not slow",
        "-o",
        "filterwarnings=default",
        "--disable-warnings",
        *TESTS,
        hosts="mcp",
        profile="quick",
    )


@nox.session
def hosts(session: nox.Session) -> None:
    """Check the types and run the tests of the adapters whose libraries can be installed together."""
    install(session, "-e", ".", *TEST, "mcp<2", *HOSTS, COPILOT)
    mypy(session, "mcp_elicit_client/hosts", "tests/compatibility", "examples/hosts")
    pytest(
        session,
        "tests/hosts/test_hosts.py",
        "tests/hosts/test_copilot.py",
        hosts=",".join(re.split(r"[^\w-]", each)[0] for each in HOSTS),
    )


@nox.session
def chainlit(session: nox.Session) -> None:
    """Check the types of the handler for Chainlit, and test it with a real server and browser."""
    if sys.version_info >= (3, 14):
        session.skip("Chainlit needs Python 3.13 or older")
    install_packages(session, "-e", f".[{CHAINLIT},terminal]", "mypy>=1.18", *BROWSER_TEST)
    mypy(session, "mcp_elicit_client/handlers/chainlit")
    session.run("python", "-m", "pytest", "-q", "tests/handlers/test_chainlit.py", *session.posargs)


@nox.session
def notebook(session: nox.Session) -> None:
    """Test the handler for notebooks in a real JupyterLab, with the newest kernel and with ipykernel 6."""
    old = str(Path(session.virtualenv.location) / "ipykernel-6")
    install_packages(session, "-e", ".[notebook]", *JUPYTER, *BROWSER_TEST)
    install_packages(session, "--no-deps", "--target", old, *OLD_JUPYTER)
    env = {"ELICIT_NOTEBOOK": "true", "ELICIT_IPYKERNEL_6": old}
    session.run("python", "-m", "pytest", "-q", *(session.posargs or NOTEBOOK_TESTS), env=env)


@nox.session
def compatibility(session: nox.Session) -> None:
    """Test every host library and write ``docs/compatibility.md``; takes about ten minutes."""
    install(session, "-e", ".", *TEST, UV)
    session.run("python", "-m", "tests.compatibility.matrix", *session.posargs)


@nox.session
def site(session: nox.Session) -> None:
    """Build the documentation and follow every link."""
    if sys.version_info < (3, 11):
        session.skip("the site generator needs Python 3.11")
    install(session, *SITE)
    session.run("zensical", "build", "--strict", "--clean")
    session.run("python", "-m", "tools.site", "site")


@nox.session
def package(session: nox.Session) -> None:
    """Build the release and use it outside the checkout.  If a folder is passed, keep what was built there."""
    install(session, "build", "hatchling", "Babel", "twine")
    kept = Path(session.posargs[0]).absolute() if session.posargs else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        session.run("python", "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), silent=True)
        wheel, source = next(folder.glob("dist/*.whl")), next(folder.glob("dist/*.tar.gz"))
        session.run("twine", "check", "--strict", str(wheel), str(source))
        session.run("python", "-m", "venv", str(folder / "venv"))
        shutil.unpack_archive(source, folder)
        checkout = folder / source.name.removesuffix(".tar.gz")
        shutil.rmtree(checkout / "mcp_elicit_client")
        programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        python = [str(programs / "python"), "-m"]
        session.chdir(folder)
        session.run(*python, "pip", "install", "-q", "--no-compile", str(wheel), external=True)  # as users do
        session.run(str(programs / "mcp-elicit"), "demo", external=True)
        tools = ["hypothesis", "pytest", "pytest-timeout", "sybil", "trio"]
        install_packages(session, f"{wheel}[{EXTRAS}]", *tools, into=folder / "venv")
        install_packages(session, "--no-deps", *TYPED_HOSTS, into=folder / "venv")
        verify_types(session, programs)
        session.chdir(checkout)
        tests = [*WHEEL_TESTS, "docs/get-started.md"]
        session.run(*python, "pytest", "-q", "-p", "no:cacheprovider", *tests, external=True)
        if kept is not None:
            shutil.copytree(folder / "dist", kept, dirs_exist_ok=True)


@nox.session
def wheels(session: nox.Session) -> None:
    """Resolve the wheel in a folder for every platform and Python, with wheels only; takes about half an hour."""
    install(session, "pip>=25", UV)
    found = [str(wheel) for folder in session.posargs for wheel in Path(folder).glob("*.whl")]
    session.run("python", "-m", "tools.wheels", *found)


def verify_types(session: nox.Session, programs: Path) -> None:
    """Verify that every public name has a type, as a type checker sees it in a host application."""
    pyright = Path(__file__).parent / ".npm" / "node_modules" / ".bin" / "pyright"
    if not pyright.exists() and not IN_CI:
        session.warn("pyright is not installed; see .ci/run")
        return
    # pyright verifies the types of the first Python in PATH, where nox puts that of the session.
    path = f"PATH={programs}{os.pathsep}{os.environ['PATH']}"
    session.run("env", path, str(pyright), "--ignoreexternal", "--verifytypes", "mcp_elicit_client", external=True)


@nox.session
def long(session: nox.Session) -> None:
    """Repeat random and concurrent tests more often, and measure the coverage; takes about an hour."""
    install(session, "-e", f".[{EXTRAS}]", *TEST, f"mcp=={MCP[0]}.*", *FASTMCP["2"])
    session.env["ELICIT_LONG"] = "true"
    pytest(session, *TESTS, profile="long")
    session.run("coverage", "combine")
    session.run("coverage", "report")


@nox.session
def mutants(session: nox.Session) -> None:
    """Find changes to the core that no test notices; takes about fifteen minutes."""
    install(session, "-e", f".[{EXTRAS}]", *TEST, "mutmut>=3.3")
    session.run("mutmut", "run", *session.posargs, env={"HYPOTHESIS_PROFILE": "mutants"})
    session.run("mutmut", "results")
