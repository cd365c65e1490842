"""Answers that are given in advance: ``mcp-elicit call`` with ``--answers``, ``--set``, ``--decline`` and the like."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_elicit_client.cli import main
from mcp_elicit_client.cli.answer_options import scripted_answers
from mcp_elicit_client.cli.common import UsageError
from mcp_elicit_client.core.parse import parse_request
from mcp_elicit_client.core.request import Server
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.handlers.scripted import ScriptedAnswers
from mcp_elicit_client.policies import compose, protect_secrets
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.sdk.callback import supports_multi_round_trip
from mcp_elicit_client.typing import Answer
from tests.support import DEMO, form_params

ORDER = form_params(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "guests": {"type": "integer", "minimum": 1, "default": 2},
            "days": {"type": "array", "items": {"anyOf": [{"const": "fri", "title": "Friday"}, {"const": "sat"}]}},
            "terrace": {"type": "boolean"},
        },
        "required": ["name"],
    },
    "Your  order?",
)
CONFIRM = form_params({"type": "object", "properties": {}}, "Shall I book it?")
PASSWORD = form_params({"type": "object", "properties": {"password": {"type": "string"}}}, "Log in")
VISIT = {"mode": "url", "message": "Please pay.", "url": "https://pay.example.com/7", "elicitationId": "7"}


NO_OPTIONS: Mapping[str, Any] = {
    "set": [],
    "decline": False,
    "cancel": False,
    "open_url": None,
    "headless": False,
    "browser": False,
    "suspend": False,
    "store": None,
    "user": None,
    "suspend_timeout": None,
}


def script(tmp_path: Path, *, answers: object = None, **chosen: Any) -> ScriptedAnswers:
    path = None
    if answers is not None:
        path = str(tmp_path / "answers.json")
        Path(path).write_text(answers if isinstance(answers, str) else json.dumps(answers), encoding="utf-8")
    options = argparse.Namespace(tool="book", answers=path, **{"catalog": ENGLISH, **NO_OPTIONS, **chosen})
    found = scripted_answers(options)
    assert found is not None
    return found


def ask(answering: ScriptedAnswers, *requests: object) -> list[Answer]:
    """Return the answers to *requests*, with the policies of ``mcp-elicit call``."""
    policy = compose(answering.policy, protect_secrets(action="warn"))
    dispatcher = Dispatcher(policy(answering))

    async def answer_all() -> list[Answer]:
        return [await dispatcher.answer(each, server=Server(name="server")) for each in requests]

    return anyio.run(answer_all)


def problems(answering: ScriptedAnswers) -> str:
    return " ".join(problem for each in answering.unanswered for problem in each.problems)


def test_texts_are_read_as_typed_and_other_fields_have_their_default(tmp_path: Path) -> None:
    answering = script(tmp_path, set=["name=Ada=Eve", "days=friday, sat", "terrace=yes"])

    (answer,) = ask(answering, ORDER)

    assert answer.content == {"name": "Ada=Eve", "guests": 2, "days": ["fri", "sat"], "terrace": True}
    assert answer.by == "host"
    assert answer.sources["guests"] == "default"
    assert "user" not in answer.sources.values()
    assert answering.report(width=100, include_unused=True) == ""


@pytest.mark.parametrize(
    ("language", "typed", "value"),
    [("de", "ja", True), ("de", "Nein", False), ("fr", "oui", True), ("es", "sí", True), ("ja", "いいえ", False)],
)
def test_a_yes_or_no_is_read_in_the_language_of_the_user(
    tmp_path: Path, language: str, typed: str, value: bool
) -> None:
    catalog = MessageCatalog.for_language(language)
    answering = script(tmp_path, catalog=catalog, set=["name=Ada", f"terrace={typed}"])

    (answer,) = ask(answering, ORDER)

    assert answer.content is not None
    assert answer.content["terrace"] is value


def test_an_object_answers_one_form_and_can_be_completed_by_texts(tmp_path: Path) -> None:
    answering = script(tmp_path, answers={"name": "Ada", "guests": 5}, set=["terrace=no"])

    first, second = ask(answering, ORDER, ORDER)

    assert first.content == {"name": "Ada", "guests": 5, "terrace": False}
    assert (second.action, second.by) == ("cancel", "unattended")
    assert "No answer was given" in problems(answering)


def test_an_object_answers_a_form_that_has_a_field_named_action(tmp_path: Path) -> None:
    form = {"type": "object", "properties": {"action": {"type": "string"}, "count": {"type": "integer"}}}
    answering = script(tmp_path, answers={"action": "decline"})

    (answer,) = ask(answering, form_params(form))

    assert (answer.action, answer.content) == ("accept", {"action": "decline"})


def test_a_wrong_value_in_a_form_that_has_a_field_named_action_is_no_answer_without_a_list(tmp_path: Path) -> None:
    form = {"type": "object", "properties": {"action": {"type": "string", "minLength": 20}}}
    answering = script(tmp_path, answers={"action": "decline"})

    ask(answering, form_params(form))

    assert "Enter at least 20 characters." in problems(answering)
    assert "list" not in problems(answering)


def test_a_list_answers_by_message_and_else_in_order(tmp_path: Path) -> None:
    answering = script(
        tmp_path,
        answers=[
            {"action": "decline"},
            {"message": "Your order?", "content": {"name": "Ada"}},
            {"action": "accept"},
            {"message": "Please pay.", "action": "cancel"},
        ],
    )

    answers = ask(answering, ORDER, VISIT, CONFIRM, CONFIRM)

    assert [each.action for each in answers] == ["accept", "cancel", "decline", "accept"]
    assert {each.by for each in answers} == {"host"}
    assert answering.report(width=100, include_unused=True) == ""


@pytest.mark.parametrize(
    ("answers", "request_", "problem"),
    [
        ({"name": "Ada", "nmae": "x"}, ORDER, '"nmae": The server did not request this field.'),
        ({"name": "Ada", "guests": "5"}, ORDER, '"guests": Enter a whole number.'),
        ({"name": "Ada", "guests": 0}, ORDER, '"guests": Enter 1 or more.'),
        ({"guests": 3}, ORDER, '"name": '),
        ({"name": None}, ORDER, '"name": '),
        ({"name": "Ada", "guests": float("nan")}, ORDER, '"guests": '),
        ({"name": "Ada"}, CONFIRM, '"name": The server did not request this field.'),
        ([{"message": "Something else", "content": {"name": "Ada"}}], ORDER, "No answer was given for it."),
        ([{"action": "accept"}], VISIT, "pass --open-url none"),
        ([], VISIT, "pass --open-url none"),
        ({"name": "ghp_" + "a1B2" * 9}, ORDER, "This answer seems to contain"),
        ({"action": "decline"}, CONFIRM, 'write a list: [{"action": "decline"}]'),
        ({"message": "Your order?", "action": "cancel"}, ORDER, '[{"message": "Your order?", "action": "cancel"}]'),
        ({"action": "decline"}, VISIT, 'write a list: [{"action": "decline"}]'),
    ],
)
def test_an_answer_that_does_not_fit_is_not_sent(
    tmp_path: Path, answers: object, request_: dict[str, Any], problem: str
) -> None:
    answering = script(tmp_path, answers=answers)

    (answer,) = ask(answering, request_)

    assert (answer.action, answer.content) == ("cancel", None)
    assert problem in problems(answering)
    assert request_["message"].split()[0] in answering.report(width=100, include_unused=False)


def test_the_schema_of_an_unanswered_form_can_be_read(tmp_path: Path) -> None:
    answering = script(tmp_path, set=["guests=many"])
    ask(answering, ORDER)

    (found,) = (each.to_json() for each in answering.unanswered)

    assert found["requestedSchema"]["properties"]["guests"] == {
        "type": "integer",
        "minimum": 1,
        "title": "guests",
        "default": 2,
    }
    assert found["problems"] == ['"guests": Enter a whole number.']


def test_a_sensitive_field_is_refused_in_arguments_and_accepted_from_a_file(tmp_path: Path) -> None:
    in_arguments = script(tmp_path, set=["password=hunter2"])
    from_file = script(tmp_path, answers={"password": "hunter2"})

    assert ask(in_arguments, PASSWORD)[0].action == "cancel"
    assert "--answers -" in problems(in_arguments)
    assert "hunter2" not in in_arguments.report(width=100, include_unused=True)
    assert ask(from_file, PASSWORD)[0].content == {"password": "hunter2"}


def test_a_url_is_accepted_without_opening_and_without_a_user(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answering = script(tmp_path, open_url="none")

    visit, form = ask(answering, VISIT, CONFIRM)

    assert (visit.action, visit.by, visit.content) == ("accept", "host", None)
    assert "not opened" in visit.reason
    assert form.action == "cancel"
    assert "not opened:\n  | https://pay.example.com/7\n" in capsys.readouterr().err


def test_a_url_that_the_server_still_requires_is_not_accepted_again(tmp_path: Path) -> None:
    answering = script(tmp_path, open_url="none")
    request = parse_request(VISIT).model_copy(update={"previous_visits": 1})

    assert ask(answering, request)[0].action == "cancel"
    assert "still requires this URL" in problems(answering)


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_every_request_can_be_declined_or_cancelled(tmp_path: Path, action: str) -> None:
    answering = script(tmp_path, **{action: True})

    answers = ask(answering, ORDER, VISIT, CONFIRM)

    assert [(each.action, each.by) for each in answers] == [(action, "host")] * 3
    assert answering.report(width=100, include_unused=True) == ""


REFUSED = """
import anyio
from mcp_elicit_client.demo import server
server.REQUESTS["visit"] = {"mode": "url", "message": "Go", "url": "javascript:alert(1)", "elicitationId": "1"}
anyio.run(server.serve)
"""


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--open-url", "none"], ["--decline"], ["--legacy", "--decline"]])
def test_a_request_that_is_refused_before_it_is_read_is_reported(
    capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    status, out, err = call(capsys, "visit", "--json", *options, "--", sys.executable, "-c", REFUSED)

    assert status == 3
    assert json.loads(out.splitlines()[-1]) == {"unanswered": [{"problems": ["`url` must have the scheme https"]}]}
    assert "has no valid answer:\n  `url` must have the scheme https" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("javascript:alert(1)", "`url` must have the scheme https"),
        ("https://[::1]/", "`url` leads to the user's own computer. To allow it, pass --allow-loopback."),
    ],
)
def test_a_user_learns_that_a_request_was_refused(capsys: pytest.CaptureFixture[str], url: str, reason: str) -> None:
    server = REFUSED.replace("javascript:alert(1)", url)
    _, _, err = call(capsys, "visit", "--", sys.executable, "-c", server)

    assert f"The request was not answered: {reason}\n" in err


def test_an_answer_without_a_request_is_reported(tmp_path: Path) -> None:
    answering = script(tmp_path, answers=[{"action": "accept"}, {"message": "Never sent", "action": "decline"}])
    ask(answering, CONFIRM)

    assert "Answer 2 was not used" in answering.report(width=100, include_unused=True)
    assert answering.report(width=100, include_unused=False) == ""


@pytest.mark.parametrize(
    ("answers", "chosen", "reason"),
    [
        ('{"name": 1, "name": 2}', {}, 'two answers for "name"'),
        ({"name": "Ada"}, {"set": ["name=Eve"]}, 'two answers for "name"'),
        (None, {"set": ["name=Eve", "name=Ada"]}, 'two answers for "name"'),
        ([{"message": "A  b", "action": "decline"}, {"message": "A b", "action": "cancel"}], {}, 'answers for "A b"'),
        ([{"action": "accept"}], {"set": ["name=Eve"]}, "--set cannot be combined"),
        ("{", {}, "is not JSON"),
        ("[" * 100_000, {}, "is not JSON"),
        ("7", {}, "an object with the values of one form"),
        ({"message": "m", "content": {"name": "Ada"}}, {}, "or a list of answers"),
        ([{"action": "agree"}], {}, "Answer 1 must be"),
        ([{"action": "accept"}, {"message": "m"}], {}, "Answer 2 must be"),
        ([{"action": "decline", "content": {}}], {}, "Answer 1 must be"),
        ([{"action": ["accept"]}], {}, "Answer 1 must be"),
        ([{"content": [1]}], {}, "Answer 1 must be"),
        ([{"content": {}, "mesage": "m"}], {}, 'Answer 1 has the unknown member "mesage".'),
        ([{"action": "accept"}, {"contents": {}}], {}, 'Answer 2 has the unknown member "contents".'),
        ([{"content": {}, "message": 1}], {}, "Answer 1 must be"),
        (None, {"set": ["name"]}, "FIELD=VALUE"),
        (None, {"set": ["=x"]}, "FIELD=VALUE"),
        (None, {"decline": True, "cancel": True}, "--decline cannot be combined with --cancel"),
        ({}, {"decline": True}, "--answers cannot be combined with --decline"),
        (None, {"set": ["a=b"], "headless": True}, "--set cannot be combined with --headless"),
        (None, {"open_url": "none", "browser": True}, "--open-url cannot be combined with --browser"),
        (None, {"cancel": True, "tool": None}, "--cancel needs a TOOL"),
    ],
)
def test_answers_that_cannot_be_used_are_explained(
    tmp_path: Path, answers: object, chosen: dict[str, Any], reason: str
) -> None:
    path = tmp_path / "answers.json"
    path.write_text(answers if isinstance(answers, str) else json.dumps(answers), encoding="utf-8")
    words: Sequence[tuple[str, Any]] = [("answers", None if answers is None else str(path)), *chosen.items()]
    options = argparse.Namespace(**{"tool": "book", "catalog": ENGLISH, **NO_OPTIONS, **dict(words)})

    with pytest.raises(UsageError) as caught:
        scripted_answers(options)

    assert reason in caught.value.text(ENGLISH)


# --- with servers


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(("call", *words))
    shown = capsys.readouterr()
    return status, shown.out, shown.err


@pytest.mark.slow
@pytest.mark.parametrize("legacy", [[], ["--legacy"]])
def test_a_server_gets_the_answers_of_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, legacy: list[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"guests": 4}')))

    status, out, _ = call(capsys, "book_table", *legacy, "--answers", "-", "--set", "days=Friday", *DEMO)

    assert status == 0
    content = json.loads(out)["content"]
    assert (content["guests"], content["days"], content["name"]) == (4, ["fri"], "Ada Lovelace")


@pytest.mark.slow
def test_a_server_gets_the_accept_of_a_url_that_was_not_opened(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = call(capsys, "pay_deposit", "--open-url", "none", *DEMO)

    assert (status, json.loads(out)) == (0, {"action": "accept"})
    assert "not opened:\n  | https://pay.example.com/" in err


@pytest.mark.slow
def test_an_unanswered_request_has_an_exit_status_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = call(capsys, "book_table", "--json", "--set", "guests=many", *DEMO)

    assert status == 3
    result, report = map(json.loads, out.splitlines())
    assert json.loads(result["content"][0]["text"]) == {"action": "cancel"}
    (unanswered,) = report["unanswered"]
    assert unanswered["requestedSchema"]["required"] == ["name", "guests", "days"]
    assert unanswered["problems"] == ['"guests": Enter a whole number.']
    assert "has no valid answer:\n  | Welcome!" in err


ASKS_AND_DIES = """
import os
from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel
app = FastMCP("dies")
class Order(BaseModel):
    guests: int
@app.tool()
async def order(ctx: Context) -> str:
    await ctx.elicit("How many?", Order)
    os._exit(1)
app.run()
"""


@pytest.mark.slow
def test_a_server_that_fails_after_an_unanswered_request_is_the_first_line_of_the_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = ASKS_AND_DIES
    if supports_multi_round_trip():
        program = program.replace("mcp.server.fastmcp", "mcp.server.mcpserver").replace("FastMCP", "MCPServer")

    status, out, _ = call(
        capsys, "order", "--json", "--legacy", "--set", "guests=many", "--", sys.executable, "-c", program
    )

    failure, report = map(json.loads, out.splitlines())
    assert (status, failure["status"], failure["code"]) == (3, "failed", "server")
    assert report["unanswered"][0]["message"] == "How many?"


@pytest.mark.slow
def test_a_failed_tool_is_told_apart_from_an_unused_answer(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = call(capsys, "nonsense", "--set", "a=b", *DEMO)

    assert status == 1
    assert "not used" not in err
