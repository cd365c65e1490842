"""
Runs ``mcp-elicit check`` on the handlers of other libraries and writes the findings into docs/check-results.md.

    python -m benchmarks.check_others --venvs DIR --results FILE [--sdk-examples CHECKOUT]

Each library has its own virtual environment in DIR, which the first run
creates.  The handlers are those of the installed libraries.  The examples of
the SDK are not on the package index, so they are taken from a checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mcp_elicit_client.check.results import count_outcomes
from mcp_elicit_client.check.runner import LoadError, ScenarioRunner
from mcp_elicit_client.check.settings import ANSWER_TIMEOUT, CallbackShape
from mcp_elicit_client.testing import SCENARIOS, ScenarioResult
from tests.support.environments import make_environment

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "check-results.md"
BEGIN, END = "<!-- found -->\n", "<!-- /found -->"

OF_A_LIBRARY = (
    "form-accept-is-accept",
    "form-decline-is-decline",
    "form-cancel-is-cancel",
    "url-decline-is-decline",
    "url-cancel-is-cancel",
    "exception-text-not-told",
    "values-not-in-errors",
)
"""Scenarios whose result depends on the library between the handler and the server."""

OF_A_LAYER = (
    *OF_A_LIBRARY,
    *("url-accept-is-accept", "no-content-with-url", "no-content-with-decline", "no-content-with-cancel"),
    *("confirmation-accept-is-accept", "confirmation-decline-is-decline", "confirmation-cancel-is-cancel"),
    *("no-mode-is-a-form", "unknown-keys-do-no-harm", "thinking-takes-time", "two-questions-at-once"),
    *("repeated-question-is-asked-again", "two-users-at-once", "restarted-server-asks-again"),
    *("tasks-get-their-answers", "text-of-any-script", "text-is-not-changed", "long-text-kept", "the-word-decline"),
    *("integer-stays-integer", "fraction-kept", "zero-kept", "false-kept", "true-is-true", "choice-sends-value"),
    *("enum-names-send-value", "several-are-a-list", "one-of-several-is-a-list", "optional-of-pydantic"),
    *("date-kept", "date-time-keeps-zone", "name-with-hyphen", "name-of-python", "optional-values-arrive"),
    *("nobody-fills-in-no-form", "nobody-confirms-nothing", "nobody-is-not-a-decline", "nobody-raises-nothing"),
    *("silence-is-no-answer-to-a-form", "silence-confirms-nothing", "silence-opens-no-url"),
    *("broken-interface-raises-nothing", "broken-interface-is-no-decision", "values-not-logged", "url-not-logged"),
    *("leaving-ends-the-question", "withdrawn-is-no-answer", "server-may-die"),
)
"""Scenarios whose result depends on a layer that passes a request on and its answer back, but does not ask."""

OF_AN_EXAMPLE = (
    *("accept-has-content", "no-content-with-url", "only-what-was-asked-for", "message-only-gets-an-answer"),
    *("nobody-fills-in-no-form", "nobody-confirms-nothing", "nobody-is-not-a-decline", "nobody-raises-nothing"),
    *("url-not-opened-by-nobody", "url-not-fetched", "url-not-logged"),
)
"""Scenarios for a handler that asks no user."""

AT_ONE_PROMPT = tuple(name for name in SCENARIOS if name != "two-users-at-once")
"""Scenarios for prompts that share one terminal: it is a race which of two prompts reads a line that is typed."""


@dataclass(frozen=True, kw_only=True)
class Other:
    """
    A handler of another library.

    Attributes:
        title: Its name in the table.
        venv: The name of its virtual environment.
        packages: The packages to install.
        versions: The packages whose versions are listed.
        callback: The handler.
        user: The user hook; None if the handler asks no user.
        shape: The parameters of the handler.
        server: The server name that the handler shows.
        scenarios: The scenarios to run.
        answer_timeout: Maximum seconds for one answer.
        overrides: Packages whose newest release is installed, whatever is
            required.
        python: The version of Python; None for that of this process.
    """

    title: str
    venv: str
    packages: Sequence[str]
    versions: Sequence[str]
    callback: str
    user: str | None
    shape: CallbackShape = "sdk"
    server: str = "fake-server"
    scenarios: Sequence[str] = tuple(SCENARIOS)
    answer_timeout: float = ANSWER_TIMEOUT
    overrides: Sequence[str] = ()
    python: str | None = None


OTHERS = (
    Other(
        title="FastMCP 3, command line",
        venv="fastmcp-3",
        packages=["fastmcp>=3.4,<4"],
        versions=["fastmcp", "mcp"],
        callback="fastmcp.cli.client:_terminal_elicitation_handler",
        user="benchmarks.other_users:fastmcp_command_line",
        shape="fastmcp",
        scenarios=AT_ONE_PROMPT,
    ),
    Other(
        title="FastMCP 4, command line",
        venv="fastmcp-4",
        packages=["fastmcp>=4.1,<5"],
        overrides=["certifi"],
        versions=["fastmcp", "mcp"],
        callback="fastmcp.cli.client:_terminal_elicitation_handler",
        user="benchmarks.other_users:fastmcp_command_line",
        shape="fastmcp",
        scenarios=AT_ONE_PROMPT,
    ),
    Other(
        title="FastMCP 3, client",
        venv="fastmcp-3",
        packages=["fastmcp>=3.4,<4"],
        versions=["fastmcp", "mcp"],
        callback="benchmarks.other_users:mirror.fastmcp",
        user="benchmarks.other_users:mirror.follow",
        shape="fastmcp",
        scenarios=OF_A_LIBRARY,
    ),
    Other(
        title="FastMCP 4, client",
        venv="fastmcp-4",
        packages=["fastmcp>=4.1,<5"],
        overrides=["certifi"],
        versions=["fastmcp", "mcp"],
        callback="benchmarks.other_users:mirror.fastmcp",
        user="benchmarks.other_users:mirror.follow",
        shape="fastmcp",
        scenarios=OF_A_LIBRARY,
    ),
    Other(
        title="mcp-agent, console",
        venv="mcp-agent",
        packages=["mcp-agent==0.2.6", "mcp<2"],
        versions=["mcp-agent", "mcp"],
        callback="mcp_agent.elicitation.handler:console_elicitation_callback",
        user="benchmarks.other_users:mcp_agent_console",
        shape="mcp-agent",
        scenarios=AT_ONE_PROMPT,
    ),
    Other(
        title="fast-agent, form",
        venv="fast-agent",
        packages=["fast-agent-mcp==0.10.48"],
        versions=["fast-agent-mcp", "mcp"],
        callback="benchmarks.fast_agent_user:handler",
        user="benchmarks.fast_agent_user:user.follow",
        server="mail",
        answer_timeout=15.0,
        overrides=["certifi"],
        python="3.13",
    ),
    Other(
        title="LiteLLM, relay",
        venv="litellm",
        packages=["litellm>=1.109", "expression", "mcp>=2.3,<3"],
        versions=["litellm", "mcp"],
        callback="benchmarks.other_layers:litellm_relay",
        user="benchmarks.other_users:mirror.follow",
        overrides=["certifi"],
        scenarios=OF_A_LAYER,
    ),
    Other(
        title="Copilot SDK, session",
        venv="copilot",
        packages=["github-copilot-sdk>=1.0.27", "mcp>=2.3,<3"],
        versions=["github-copilot-sdk", "mcp"],
        callback="benchmarks.other_layers:copilot_session",
        user="benchmarks.other_users:mirror.follow",
        scenarios=OF_A_LAYER,
    ),
    Other(
        title="Copilot SDK, example",
        venv="copilot",
        packages=["github-copilot-sdk>=1.0.27", "mcp>=2.3,<3"],
        versions=["github-copilot-sdk", "mcp"],
        callback="benchmarks.other_layers:copilot_example",
        user=None,
        scenarios=OF_AN_EXAMPLE,
    ),
)


def sdk_example(checkout: Path) -> Other:
    """Return the handler of the SDK's URL example, from a checkout of the SDK."""
    return Other(
        title="SDK, example for URLs",
        venv="sdk",
        packages=["mcp>=2.3,<3"],
        versions=["mcp"],
        callback=f"{checkout / 'examples/snippets/clients/url_elicitation_client.py'}:handle_elicitation",
        user="benchmarks.other_users:sdk_url_example",
    )


def interpreter(other: Other, venvs: Path) -> Path:
    """Return the interpreter of the environment, which is created if it is missing."""
    return make_environment(venvs / other.venv, other.packages, overrides=other.overrides, python=other.python)


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def versions(other: Other, python: Path) -> str:
    """Return the installed versions."""
    listed = f"(f'{{name}} {{version(name)}}' for name in {list(other.versions)!r})"
    code = f"from importlib.metadata import version; print(*{listed}, sep=', ')"
    return _run(str(python), "-c", code).strip()


def check(other: Other, python: Path) -> list[ScenarioResult]:
    """Run the scenarios on its handler."""
    runner = ScenarioRunner(
        callback=other.callback,
        user=other.user,
        shape=other.shape,
        server=other.server,
        scenarios=other.scenarios,
        answer_timeout=other.answer_timeout,
        python=str(python),
    )
    return list(runner.results())


def tables(found: dict[str, tuple[str, list[ScenarioResult]]]) -> Iterator[str]:
    """Yield the lines of two tables: the counts of each handler, and the handlers that fail each scenario."""
    yield "| handler | versions | results |"
    yield "|---|---|---|"
    for title, (installed, results) in found.items():
        yield f"| {title} | {installed} | {count_outcomes(results)} |"
    failed = {
        name: [title for title, (_, results) in found.items() if _has_failed(results, name)] for name in SCENARIOS
    }
    wrong = {name: titles for name, titles in failed.items() if titles}
    yield ""
    yield f"{len(wrong)} of {len(SCENARIOS)} scenarios fail somewhere.  The result is that of the first handler:"
    yield ""
    yield "| scenario | fails with | result |"
    yield "|---|---|---|"
    for name, titles in wrong.items():
        seen = next(each.reason for each in found[titles[0]][1] if each.scenario == name)
        yield f"| `{name}` | {'; '.join(titles)} | {_cell(seen)} |"


def _has_failed(results: Sequence[ScenarioResult], name: str) -> bool:
    return any(each.scenario == name and each.outcome == "fail" for each in results)


def _cell(text: str) -> str:
    short = text if len(text) <= 130 else f"{text[:127]}..."
    return re.sub(r"([|<>\\*_`])", r"\\\1", short)


def main() -> int:
    """Check all handlers and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venvs", type=Path, required=True, help="directory of the virtual environments")
    parser.add_argument("--sdk-examples", type=Path, help="a checkout of the SDK")
    parser.add_argument("--results", type=Path, required=True, help="file in which the results are stored as JSON")
    parser.add_argument(
        "--only", action="append", help="check only this title, and keep the stored results of the others"
    )
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # LiteLLM fetches a list of prices otherwise
    others = [*OTHERS, *([sdk_example(options.sdk_examples.resolve())] if options.sdk_examples else [])]
    found: dict[str, tuple[str, list[ScenarioResult]]] = {}
    kept = json.loads(options.results.read_text()) if options.only and options.results.exists() else {}
    for other in others:
        if options.only and other.title not in options.only and other.title in kept:
            stored = kept[other.title]
            results = [ScenarioResult(**each) for each in stored["results"] if each["scenario"] in other.scenarios]
            found[other.title] = (stored["versions"], results)
            continue
        try:
            python = interpreter(other, options.venvs.resolve())
            results = check(other, python)
        except (OSError, subprocess.CalledProcessError, LoadError) as error:
            print(f"{other.title}: cannot be tested: {getattr(error, 'stderr', None) or error}", file=sys.stderr)
            continue
        found[other.title] = (versions(other, python), results)
        print(f"{other.title}: {count_outcomes(results)}", flush=True)
    stored = {
        title: {"versions": installed, "results": [asdict(each) for each in results]}
        for title, (installed, results) in found.items()
    }
    options.results.write_text(json.dumps(stored, indent=1))
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{chr(10).join(tables(found))}\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
