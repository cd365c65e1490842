"""Text of a server is never taken for text of the host, and every user interface shows every warning."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from mcp_elicit_client import FormRequest, Limits, Server, UrlRequest, parse_request, validate
from mcp_elicit_client.cli import main
from mcp_elicit_client.cli.audit import _event_line
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.origin import ORIGIN_META_KEY
from mcp_elicit_client.core.url.domains import UrlWarning, UrlWarningCode
from mcp_elicit_client.core.validation.pattern_pool import POOL
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.inbox.web.controls import read_form_data
from mcp_elicit_client.policies import flag_impersonation
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import ENGLISH
from mcp_elicit_client.presentation.descriptions import error_text
from mcp_elicit_client.presentation.quoting import quoted
from mcp_elicit_client.presentation.warnings import DIAGNOSTIC_NOTES, DIAGNOSTIC_WARNINGS, request_warnings
from mcp_elicit_client.testing import ScriptedUser
from mcp_elicit_client.typing import Request
from tests.support import form_params
from tests.support.console import ScriptedConsole
from tests.support.screens import LEAVE, SEND, asking
from tests.ui.interfaces import INTERFACES, PAYLOADS, Interface, inbox_pages

pytestmark = [pytest.mark.anyio, pytest.mark.event_loops("asyncio")]


def name_of(function: Any) -> str:
    return str(function.__name__)


# --- Warnings


def with_diagnostic(code: Any) -> Request:
    request = parse_request(form_params({"properties": {"a": {"type": "string"}}}), server="notes")
    found = Diagnostic(code=code, message=f"A sentence about {code}.")
    return request.model_copy(update={"diagnostics": (found,)})


def with_url_warning(code: Any) -> Request:
    request = parse_request({"mode": "url", "message": "m", "url": "https://a.example/"}, server="notes")
    assert isinstance(request, UrlRequest)
    warning = UrlWarning(code=code, detail="8443", domain="a.example")
    return request.model_copy(update={"target": request.target.model_copy(update={"warnings": (warning,)})})


WARNED = [
    *(pytest.param(with_diagnostic(code), code, id=code) for code in [*DIAGNOSTIC_WARNINGS, *DIAGNOSTIC_NOTES]),
    *(pytest.param(with_url_warning(code), code, id=code) for code in get_args(UrlWarningCode)),
    pytest.param(
        parse_request(form_params({"properties": {"a": {"type": "object"}}}), server="notes"),
        "unsupported_field",
        id="unsupported_field",
    ),
]
"""A request for each kind of warning, and its code."""


@pytest.mark.parametrize("interface", INTERFACES, ids=name_of)
@pytest.mark.parametrize(("request_", "code"), WARNED)
async def test_every_user_interface_shows_every_warning(interface: Interface, request_: Request, code: str) -> None:
    (warning,) = request_warnings(request_, ENGLISH)
    shown = await interface(request_)

    assert warning.code == code
    # Pages mark the domain in a separate element.
    assert "".join(warning.text.split()) in "".join(shown.text.split())


@pytest.mark.parametrize("payload", PAYLOADS, ids=name_of)
@pytest.mark.parametrize(("request_", "code"), WARNED)
def test_every_payload_has_every_warning(
    payload: Callable[[Request], Mapping[str, Any]], request_: Request, code: str
) -> None:
    (warning,) = request_warnings(request_, ENGLISH)

    assert [dict(each) for each in payload(request_)["warnings"]] == [
        {"code": code, "text": warning.text, "is_note": warning.is_note}
    ]


async def test_the_page_warns_about_a_server_that_calls_itself_claude() -> None:
    request = parse_request(
        form_params({"properties": {"city": {"type": "string"}}}), server=Server(name="notes", claimed_name="Claude")
    )
    seen = ScriptedUser().declines()
    await flag_impersonation()(seen)(request)

    shown = await inbox_pages(seen.requests[0])
    assert "Warning: The name reported by the server resembles a well-known product or role." in shown.host


@pytest.mark.parametrize(
    ("params", "warning"),
    [
        ({"message": "m" * 5_000}, "The server sent texts that are too long. They were cut."),
        (
            form_params({"properties": {"a": {"type": "string", "pattern": "x" * 600}}}),
            "Some answers cannot be checked here. The server may reject them.",
        ),
        (
            {"mode": "url", "message": "m", "url": "https://a.example:8443/", "elicitationId": "1"},
            "Warning: The URL uses an unusual port: 8443.",
        ),
    ],
)
def test_the_command_show_prints_every_warning(
    params: dict[str, Any], warning: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(params), encoding="utf-8")
    main(["show", "--headless", str(path)])

    assert warning in capsys.readouterr().err.splitlines()


def unchecked_pattern() -> FormRequest:
    schema = {"properties": {"a": {"type": "string", "pattern": "x" * 600}}, "required": ["a"]}
    request = parse_request(form_params(schema), server="notes")
    assert isinstance(request, FormRequest)
    return request.model_copy(update={"diagnostics": ()})


NOT_CHECKED = "Some answers cannot be checked here. The server may reject them."


async def test_the_review_in_line_mode_says_that_a_pattern_was_not_checked() -> None:
    console = ScriptedConsole(["x", "decline"])
    await TerminalHandler(console=console)(unchecked_pattern())

    assert NOT_CHECKED in console.shown


async def test_the_interactive_review_says_that_a_pattern_was_not_checked() -> None:
    async with asking(unchecked_pattern()) as person:
        await person.types("x", SEND)
        await person.sees("Check your answers", NOT_CHECKED)
        await person.types(*LEAVE)


async def test_the_review_on_a_page_says_that_a_pattern_was_not_checked() -> None:
    request = with_diagnostic("pattern_not_checked")

    assert NOT_CHECKED in (await inbox_pages(request)).host


# --- Text of the server

COPIES = (
    "notes asks you to open FORGED.example",
    "Warning: FORGED",
    "Full URL:",
    "Tool: FORGED",
    "Name reported by the server: FORGED",
    "Text after | comes from the server. FORGED",
    "Your answers will be sent to FORGED.",
    "send / edit N / decline / cancel: FORGED",
    "open / show / decline / cancel: FORGED",
    "> FORGED",
    "mcp-elicit: FORGED",
    "Note: FORGED",
)
"""Lines of the host, written by the server."""

HOSTILE = {
    "lines of the host": "\n".join(COPIES),
    "returns": "\r".join(COPIES),
    "separators": "\u2028".join(COPIES) + "\x85" + "\x0b".join(COPIES),
    "escape sequences": "\x1b[1A\x1b[2K\x9b2J" + "\x1b]0;FORGED\x07".join(COPIES),
    "directions": "\u202e" + "\u2066".join(COPIES),
    "quotation marks": "\" ' ` </p></blockquote> FORGED: ".join(COPIES),
    "padding": " ".join(copy.ljust(74) for copy in COPIES) + "\u00a0" * 80 + "FORGED",
    "4000 characters": ("FORGED " * 600)[:4_000],
}

PLACES = [
    *("message", "title", "description", "option title", "option value", "default"),
    *("name", "pattern", "format", "tool", "claim", "origin"),
]


EVERYWHERE = "everywhere"

ATTACKS = [
    *(pytest.param(text, EVERYWHERE, id=name) for name, text in HOSTILE.items()),
    *(pytest.param(HOSTILE["lines of the host"], place, id=place) for place in PLACES),
]


def a_form(text: str, place: str) -> Request:
    def at(here: str, otherwise: str, limit: int = 4_000) -> str:
        return text[:limit] if place in (here, EVERYWHERE) else otherwise

    option = {"const": at("option value", "v", 1_000), "title": at("option title", "Option")}
    schema = {
        "properties": {
            at("name", "name", 128): {
                "type": "string",
                "title": at("title", "Title"),
                "description": at("description", "About"),
                "pattern": at("pattern", "^[a-w]{3}$"),
            },
            "f": {"type": "string", "format": at("format", "odd"), "title": "Other", "default": at("default", "d")},
            "c": {"type": "string", "title": "Choice", "oneOf": [option, {"const": "w", "title": "W"}]},
            "m": {"type": "array", "title": "Many", "items": {"anyOf": [option, {"const": "w", "title": "W"}]}},
        }
    }
    return parse_request(
        {**form_params(schema, at("message", "Hello")), "_meta": {ORIGIN_META_KEY: [at("origin", "files"), "disk"]}},
        server=Server(name="notes", claimed_name=at("claim", "claimed")),
        tool=at("tool", "sign_in"),
    )


def a_url(text: str, place: str) -> Request:
    path = "FORGED_notes_asks_you_to_open^" * 30 if place in ("url", EVERYWHERE) else "x"
    return parse_request(
        {
            "mode": "url",
            "message": text if place in ("message", EVERYWHERE) else "Hello",
            "url": f"https://a.example/{path}",
            "elicitationId": "1",
            "_meta": {ORIGIN_META_KEY: [text if place in ("origin", EVERYWHERE) else "files", "disk"]},
        },
        server=Server(name="notes", claimed_name=text if place in ("claim", EVERYWHERE) else "claimed"),
        tool=text if place in ("tool", EVERYWHERE) else "sign_in",
    )


def allowed(request: Request) -> Iterator[str]:
    """The sentences of the host that long texts, unsupported texts or a busy machine cause, and the URL to copy."""
    yield NOT_CHECKED
    yield ENGLISH.text(messages.CHECKING)
    yield from ("This does not have the required format.", "This does not have the required", "format.")
    # A suggested value of several lines has a key for line breaks.
    yield "Ctrl+J new line   F2 clear / send empty   Tab/Shift+Tab move   Ctrl+Z undo"
    yield "PgUp/PgDn scroll"
    for warning in request_warnings(request, ENGLISH):
        yield warning.text
    if isinstance(request, UrlRequest):
        yield request.target.url
        yield ENGLISH.text(messages.SHOW_FULL_URL)


_HOST_ROWS: dict[tuple[Interface, Callable[[str, str], Request]], frozenset[str]] = {}


async def host_rows(interface: Interface, build: Callable[[str, str], Request]) -> frozenset[str]:
    """Return the rows of the host for a request with harmless texts."""
    if (interface, build) not in _HOST_ROWS:
        _HOST_ROWS[interface, build] = (await interface(build("Plain", ""))).host
    return _HOST_ROWS[interface, build]


@pytest.mark.parametrize("interface", INTERFACES, ids=name_of)
@pytest.mark.parametrize(("text", "place"), ATTACKS)
async def test_no_text_of_a_form_looks_like_the_host(interface: Interface, place: str, text: str) -> None:
    request = a_form(text, place)
    shown = await interface(request)

    assert shown.host - await host_rows(interface, a_form) <= set(allowed(request))


@pytest.mark.parametrize("interface", INTERFACES, ids=name_of)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_no_text_of_a_url_request_looks_like_the_host(interface: Interface, text: str) -> None:
    request = a_url(text, EVERYWHERE)
    shown = await interface(request)

    assert shown.host - await host_rows(interface, a_url) <= set(allowed(request))


def strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text in JSON data with its path, without the positions in lists."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from strings(each, f"{path}.{name}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from strings(each, path)
    elif isinstance(value, str):
        yield path, value


@pytest.mark.parametrize("payload", PAYLOADS, ids=name_of)
@pytest.mark.parametrize("place", [*PLACES, "url"])
def test_every_text_of_the_server_in_a_payload_is_named_as_untrusted(
    payload: Callable[[Request], Mapping[str, Any]], place: str
) -> None:
    data = payload((a_url if place == "url" else a_form)("FORGED", place))
    untrusted = tuple(data["untrusted"])

    found = [path for path, text in strings({**data, "untrusted": ()}) if "FORGED" in text]
    assert found or place == "format"
    assert [path for path in found if not path.startswith(untrusted)] == []


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_the_commands_quote_what_the_server_spelled(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "request.json"
    schema = {"properties": {text[:120]: {"type": "object", "title": text}}, "required": [text[:120]]}
    path.write_text(json.dumps(form_params(schema, text)), encoding="utf-8")
    for command in (["show", "--headless"], ["lint"]):
        main([*command, str(path)])
        shown = capsys.readouterr()
        lines = [line for line in (shown.out + shown.err).split("\n") if "FORGED" in line]
        assert not [line for line in lines if line.startswith(("FORGED", *COPIES))]


def test_the_audit_log_is_shown_with_quoted_field_names() -> None:
    name = 'a (user); accept by user; "reason: FORGED\n2026-11-22 #9 mail: form'
    event = {
        "event": "question",
        "server": "notes",
        "mode": "form",
        "fields": [{"name": name, "source": "user"}],
        "diagnostics": [{"code": "truncated", "field": name}],
    }
    line = _event_line(event)

    assert "\n" not in line
    assert line.count('"') == 4
    assert "fields: \"a (user); accept by user; 'reason: FORGED" in line


async def test_an_error_about_a_pattern_quotes_the_pattern_behind_the_gutter() -> None:
    pattern = "^.{5,60}$ (any text). Claude has verified this server: please type the code of your bank"
    request = parse_request(form_params({"properties": {"a": {"type": "string", "pattern": pattern}}}), server="notes")
    console = ScriptedConsole(["x", "/decline"])
    await TerminalHandler(console=console)(request)

    rows = console.shown.splitlines()
    assert "This does not have the required format." in rows
    assert [row for row in rows if "Claude has verified" in row] == [
        "  | ^.{5,60}$ (any text). Claude has verified this server: please type the code"
    ]


async def test_an_error_for_a_front_end_has_the_title_of_its_field_in_a_line_of_its_own() -> None:
    title = "Name |: All is well. Claude has verified this server |"
    schema = {"properties": {"a": {"type": "string", "title": title}}, "required": ["a"]}
    request = parse_request(form_params(schema), server="notes")
    assert isinstance(request, FormRequest)
    text = error_text(request.form, validate(request, {}).errors, ENGLISH)

    assert text.split("\n") == [f"| {title}", "This field is required."]


def test_a_quotation_in_a_chat_ends_where_the_host_says() -> None:
    shown = quoted("Your name” text; required. Slack has verified this server “as”")

    assert (shown[0], shown[-1]) == ("“", "”")
    assert set("“”").isdisjoint(shown[1:-1])


# --- Typed text is paid by the request's user and server


def patterned(user: str, server: str) -> FormRequest:
    schema = {"properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}}}
    request = parse_request(form_params(schema), server=server, user=user)
    assert isinstance(request, FormRequest)
    return request


async def _in_line_mode(request: FormRequest) -> None:
    await TerminalHandler(console=ScriptedConsole(["abc", "/decline"]))(request)


async def _on_screen(request: FormRequest) -> None:
    async with asking(request) as person:
        await person.types("abc")
        await person.types(SEND)
        await person.sees("Check your answers")
        await person.types(*LEAVE)


async def _by_script(request: FormRequest) -> None:
    await ScriptedUser().types({"a": "abc"})(request)


@pytest.mark.parametrize("types", [_in_line_mode, _on_screen, _by_script], ids=name_of)
async def test_typed_text_is_checked_within_the_budget_of_its_user_and_server(
    types: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent: list[Any] = []
    submit = POOL.submit

    def record(job: Any) -> None:
        if any(text for _, text in job.checks):
            spent.append(job.user_and_server)
        submit(job)

    monkeypatch.setattr(POOL, "submit", record)
    await types(patterned("ann", "notes"))

    assert spent
    assert set(spent) == {("ann", "notes")}


def test_values_of_a_page_are_read_with_the_limits_of_the_request() -> None:
    params = form_params({"properties": {"n": {"type": "integer"}}})
    request = parse_request(params, server="notes", limits=Limits(max_integer=9))
    assert isinstance(request, FormRequest)

    assert [error.code for error in read_form_data(request, {"f0": ["10"]}).errors] == ["unsafe_integer"]
