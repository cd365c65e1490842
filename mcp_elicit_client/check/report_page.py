"""The report of ``mcp-elicit check`` as a web page without scripts, which has the JSON document embedded."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from importlib.resources import files
from string import Template
from typing import Any

from mcp_elicit_client.check.report import BEGIN_EMBEDDED, END_EMBEDDED, CheckReport, as_text

_SYMBOLS = {"pass": "✓", "fail": "✗", "inconclusive": "?"}


def as_page(report: CheckReport) -> str:
    """Return *report* as HTML."""
    template = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
    return template.substitute(
        callback=html.escape(str(report["tested"]["callback"])),
        created=html.escape(report["created"]),
        sha256=html.escape(report["sha256"]),
        summary="".join(_count(outcome, count) for outcome, count in report["counts"].items()),
        facts="\n".join(_facts(report)),
        contents="\n".join(map(_content_row, report["pages"])),
        pages="\n".join(line for page in report["pages"] for line in _page(page)),
        scenarios="\n".join(_scenarios(report["scenarios"])),
        # Within a script element, only the end tag needs to be hidden.
        document=f"{BEGIN_EMBEDDED}{as_text(report).replace('<', chr(92) + 'u003c')}{END_EMBEDDED}",
    )


def is_page_of(report: CheckReport, text: str) -> bool:
    """Return True if *text* is what `as_page` returns for *report*, which may be of another version, or forged."""
    try:
        return as_page(report) == text
    except (KeyError, TypeError, AttributeError):  # members are missing, or of another type
        return False


def _count(outcome: str, count: int) -> str:
    return f'<li class="{_class(outcome)}"><b>{count}</b> {html.escape(outcome)}</li>'


def _facts(report: CheckReport) -> Iterator[str]:
    for name, value in {**report["tested"], **report["versions"]}.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        if shown is not None:
            yield f"<dt>{html.escape(name.replace('_', ' '))}</dt><dd>{html.escape(str(shown))}</dd>"


def _content_row(page: Mapping[str, Any]) -> str:
    counts = "".join(f"<td{'' if count else ' class=quiet'}>{count}</td>" for count in page["counts"].values())
    link = f'<a href="#{_anchor(page["page"])}">{html.escape(page["title"])}</a>'
    return f"<tr><th scope=row>{link}</th><td>{len(page['requirements'])}</td>{counts}</tr>"


def _page(page: Mapping[str, Any]) -> Iterator[str]:
    yield f'<section id="{_anchor(page["page"])}"><h2>{html.escape(page["title"])}</h2>'
    yield f'<p class=quiet><a href="{html.escape(page["url"])}">{html.escape(page["url"])}</a></p>'
    yield "<table class=requirements><thead>"
    yield "<tr><th>Requirement<th>Outcome<th>Scenarios, or why it cannot be tested</thead>"
    for each in page["requirements"]:
        scenarios = " ".join(_link(name, outcome) for name, outcome in each["scenarios"].items())
        yield (
            f'<tr id="{_anchor(each["id"])}"><td>{html.escape(each["text"])}'
            f"<br><small>{html.escape(each['id'].rpartition('#')[2])}</small></td>"
            f"{_outcome(each['outcome'])}<td class=names>{scenarios or html.escape(each['reason'])}</td></tr>"
        )
    yield "</table></section>"


def _link(name: str, outcome: str) -> str:
    shown = html.escape(name)
    return f'<a class="{_class(outcome)}" title="{html.escape(outcome)}" href="#{_anchor(name)}">{shown}</a>'


def _scenarios(scenarios: list[dict[str, Any]]) -> Iterator[str]:
    group = ""
    for each in scenarios:
        if each["group"] != group:
            group = each["group"]
            yield f"<tr class=group><th colspan=3 scope=colgroup>{html.escape(group[0].upper() + group[1:])}</th></tr>"
        notes = "".join(f"<br>{html.escape(each[name])}" for name in ("reason", "next_step") if each[name])
        yield (
            f'<tr id="{_anchor(each["name"])}"><td><code>{html.escape(each["name"])}</code></td>'
            f"{_outcome(each['outcome'])}<td>{html.escape(each['title'])}{notes}</td></tr>"
        )


def _outcome(outcome: str) -> str:
    symbol = _SYMBOLS.get(outcome, "")
    return f'<td class="outcome {_class(outcome)}">{symbol} {html.escape(outcome)}</td>'


def _class(outcome: str) -> str:
    return outcome.replace(" ", "-")


def _anchor(name: str) -> str:
    return html.escape(name.replace("/", "-").replace("#", "-"))
