"""The conversation: every reply leads on, nothing is sent by chance, and nothing that was entered is lost."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client import Answer, FormRequest, UrlRequest, parse_request
from mcp_elicit_client.core.answer import check_answer
from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.conversation import (
    AnswerRow,
    Conversation,
    FormConversation,
    HostText,
    Link,
    ServerText,
    Style,
    Turn,
    UrlConversation,
    start_conversation,
)
from mcp_elicit_client.presentation.conversation.turns import OptionList
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.presentation.form_input import Intent, Selection, inputs_from_json, inputs_to_json
from mcp_elicit_client.presentation.input_parsing import InputContext
from mcp_elicit_client.presentation.word_choices import ChoiceMaker, find_choice
from mcp_elicit_client.typing import Request
from tests.support import form_params

FIELDS: dict[str, Any] = {
    "name": {"type": "string", "title": "FORGED name", "default": "FORGED Ada"},
    "age": {"type": "integer", "title": "FORGED age", "minimum": 18},
    "dish": {"enum": ["FORGED pizza", "FORGED pasta"], "title": "FORGED dish"},
    "extras": {"type": "array", "items": {"enum": ["a", "b"]}},
    "sure": {"type": "boolean", "title": "FORGED sure"},
    "on": {"type": "string", "format": "date"},
}
REQUIRED = ["name", "sure"]


def form(fields: dict[str, Any], *required: str, **update: Any) -> FormRequest:
    request = parse_request(
        form_params({"properties": fields, "required": list(required)}, "FORGED message"), server="mail", tool="FORGED"
    )
    assert isinstance(request, FormRequest)
    return request.model_copy(update=update)


def url(port: str = "", **options: Any) -> UrlRequest:
    params = {"mode": "url", "message": "FORGED", "url": f"https://a.example{port}/x", "elicitationId": "1"}
    request = parse_request(params, server="mail", **options)
    assert isinstance(request, UrlRequest)
    return request


def converse(request: Request, catalog: MessageCatalog = ENGLISH, **options: Any) -> Conversation:
    context = InputContext(locale=catalog.locale, time_zone="UTC", catalog=catalog)
    return start_conversation(request, catalog, context, **options)


TOKYO = timedelta(hours=9)
BUTTONS = Style(has_buttons=True, max_options=4)
WARNED: dict[str, Any] = {"diagnostics": (Diagnostic(code="impersonation", message="It resembles another name."),)}


def play_on(conversation: Conversation, *replies: str) -> Turn:
    return [conversation.reply(reply) for reply in replies][-1]


def button(turn: Turn, name: str) -> str:
    return next(each.id for each in turn.buttons if each.id.partition(":")[2] == name)


def host_lines(turn: Turn) -> list[str]:
    return [part.text for part in turn.parts if isinstance(part, HostText)]


def play(conversation: Conversation, *replies: str) -> Turn:
    return [conversation.start(), *(conversation.reply(reply) for reply in replies)][-1]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("typed", "value"), [("(leer)", ""), ('" "', " "), ("1", "1")])
def test_an_option_with_a_blank_label_is_selected_by_the_label_that_is_shown(
    typed: str, value: str, several: bool
) -> None:
    options: dict[str, Any] = {"enum": ["", " ", "1"]}  # which numbers do not select
    field = {"type": "array", "items": options} if several else options
    conversation = converse(form({"f": field}, "f"), MessageCatalog.for_language("de"))
    labels = next(part for part in conversation.start().parts if isinstance(part, OptionList)).labels
    assert labels == ("(leer)", '" "', "1")

    answer = play_on(conversation, typed, "senden").answer
    assert answer is not None and answer.content == {"f": [value] if several else value}


@pytest.mark.parametrize("several", [False, True])
def test_an_option_that_looks_like_the_beginning_of_a_command_is_selected_by_its_label(several: bool) -> None:
    options: dict[str, Any] = {"enum": ["/d", "/ski", "/H"]}
    field = {"type": "array", "items": options} if several else options
    for option in options["enum"]:
        answer = play(converse(form({"f": field}, "f")), option, "send").answer

        assert answer is not None and answer.content == {"f": [option] if several else option}


# --- Random replies

WORDS = [
    "",
    "y",
    "yes",
    "n",
    "1",
    "2",
    "19",
    "x",
    "back",
    "/back",
    "/skip",
    "/help",
    "/options",
    "/empty",
    "edit 2",
    "3",
]
WORDS += [
    "confirm",
    "show",
    "reopen",
    "done",
    "open",
    "o",
    "/block",
    "block",
    "24.12.2026",
    "01/02/2026",
    "//skip",
    " ",
]
REPLIES = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=8)), max_size=30)
REQUESTS: list[Request] = [
    form(FIELDS, *REQUIRED),
    form(FIELDS, can_block=True),
    form({"a": {"type": "string", "title": "Password"}, "b": {"type": "string"}}, "a"),
    form({"b": {"type": "string"}}),
]


def means_send(text: str) -> bool:
    return bool(text.strip()) and "send".startswith(" ".join(text.split()).casefold().removeprefix("/") or "?")


@given(REPLIES, st.sampled_from(REQUESTS))
def test_random_replies_never_send_a_form_without_the_word_for_it(replies: list[str], request: FormRequest) -> None:
    conversation = converse(request)
    turn = conversation.start()
    for reply in (reply for reply in replies if not means_send(reply)):
        turn = conversation.reply(reply)
        if turn.answer is not None:
            break
        assert turn.prompt.startswith("mail: ")
        assert turn.prompt.endswith(": ")
        assert "FORGED" not in turn.prompt
        assert not any("FORGED" in line for line in host_lines(turn))

    assert turn.answer is None or turn.answer.action != "accept"


@given(REPLIES, st.sampled_from(REQUESTS))
def test_what_random_replies_send_was_reviewed_and_is_valid(replies: list[str], request: FormRequest) -> None:
    conversation = converse(request)
    turn, before = conversation.start(), None
    for reply in [*replies, "s"]:
        before, turn = turn, conversation.reply(reply)
        if turn.answer is not None:
            break

    if turn.answer is not None and turn.answer.action == "accept":
        assert before is not None
        assert before.field is None
        assert check_answer(request, turn.answer) == turn.answer


@given(REPLIES, st.booleans())
def test_random_replies_never_open_a_url_with_a_warning_by_one_input(replies: list[str], warned: bool) -> None:
    conversation = converse(url(":8443" if warned else ""), effects=("open", "copy"))
    conversation.start()
    last = ""
    for reply in replies:
        turn = conversation.reply(reply)
        if turn.effect is not None or turn.answer is not None:
            opens = turn.effect is not None
            assert not (opens and warned) or "confirm".startswith(reply.strip().casefold())
            assert not opens or reply.strip().casefold() != last
            return
        assert turn.prompt.startswith("mail: ")
        last = reply.strip().casefold()


@given(st.lists(st.integers(0, 30), max_size=30), st.sampled_from(REQUESTS))
def test_random_presses_lead_on_and_a_button_works_once(presses: list[int], request: FormRequest) -> None:
    conversation = converse(request, style=BUTTONS)
    turn = conversation.start()
    for index in presses:
        offered = [each for each in turn.buttons if each.id.partition(":")[2] not in ("decline", "block", "cancel")]
        if not offered:
            turn = conversation.reply("x")
            continue
        pressed = offered[index % len(offered)]
        assert len(pressed.id) <= 32
        turn = conversation.press(pressed.id)
        if turn.answer is not None:
            assert pressed.id.partition(":")[2] in ("send", "confirm")
            return
        again = conversation.press(pressed.id)
        assert "This button is no longer valid." in host_lines(again)
        assert again.prompt == turn.prompt
        turn = again


@given(REPLIES, st.sampled_from(REQUESTS))
def test_what_was_entered_survives_in_the_draft(replies: list[str], request: FormRequest) -> None:
    first = converse(request)
    turn = first.start()
    for reply in replies:
        turn = first.reply(reply)
        if turn.answer is not None:
            return

    second = converse(request, draft=first.draft)

    assert second.draft == first.draft
    play(second, *[""] * len(request.form.fields))
    assert {**first.draft, **second.draft} == first.draft


ENTERED = {
    "n": "1.234",
    "on": "24. Dezember 2026 18:00",
    "list": "a, b",
    "dish": "pasta",
    "sure": "ja",
    "no": "/skip",
    "s": "x",
}
MEANT = {"n": 1234, "on": "2026-12-24T18:00:00+01:00", "list": ["a", "b"], "dish": "pasta", "sure": True, "s": "x"}


@pytest.mark.parametrize("is_new_request", [False, True])
def test_what_was_entered_means_the_same_in_another_language_and_time_zone(*, is_new_request: bool) -> None:
    request = form(
        {
            "n": {"type": "number"},
            "on": {"type": "string", "format": "date-time"},
            "list": {"type": "array", "items": {"type": "string"}},
            "dish": {"enum": ["pizza", "pasta"]},
            "sure": {"type": "boolean"},
            "no": {"type": "string", "default": "y"},
            "s": {"type": "string"},
        }
    )
    german = MessageCatalog.for_language("de")
    in_berlin = InputContext(locale="de", time_zone="Europe/Berlin", catalog=german)
    before = start_conversation(request, german, in_berlin, style=BUTTONS)
    play(before, *ENTERED.values())
    stored = json.loads(json.dumps(inputs_to_json(before.stored_draft)))
    draft = inputs_from_json(stored) if is_new_request else None
    conversation = start_conversation(request, ENGLISH, InputContext(locale="en"), style=BUTTONS, draft=draft)
    if is_new_request:
        play(conversation, *[""] * len(ENTERED))
    else:
        conversation.restore(json.loads(json.dumps(before.save())))

    answer = conversation.reply("send").answer

    assert answer is not None
    assert answer.content == MEANT


def test_the_review_of_a_conversation_that_was_continued_says_that_a_pattern_was_not_checked() -> None:
    request = form({"a": {"type": "string", "pattern": "x" * 600}, "b": {"type": "string"}}, diagnostics=())
    before = converse(request, style=BUTTONS)
    play(before, "x")
    conversation = converse(request, style=BUTTONS)
    conversation.restore(json.loads(json.dumps(before.save())))

    assert "Some answers cannot be checked here. The server may reject them." in host_lines(conversation.reply("y"))


def test_a_value_that_was_skipped_does_not_return_with_the_draft() -> None:
    request = form({"a": {"type": "string", "default": "Ann"}, "b": {"type": "string"}})
    first, second = Drafts(), converse(request)
    play(second, "/skip", "Bob")
    first.keep(request, second.draft)
    third = converse(request, draft=first.take(request))

    answer = play(third, "", "/skip", "send").answer

    assert answer is not None
    assert answer.content == {}
    assert third.draft["b"] is Intent.OMIT


# --- One step after the other


def test_every_way_leads_through_the_review() -> None:
    conversation = converse(form(FIELDS, *REQUIRED))

    turn = play(conversation, "", "42", "1", "a,b", "yes", "24.12.2026")
    answer = conversation.reply("send").answer

    assert host_lines(turn)[:2] == ["Sent as 2026-12-24", "Check your answers"]
    assert answer is not None
    assert answer.content == {
        "name": "FORGED Ada",
        "age": 42,
        "dish": "FORGED pizza",
        "extras": ["a", "b"],
        "sure": True,
        "on": "2026-12-24",
    }
    assert answer.sources["name"] == "default"


def test_back_shows_the_answer_again_and_enter_keeps_it() -> None:
    conversation = converse(form({"a": {"type": "string", "default": "x"}, "b": {"type": "string"}}))

    turn = play(conversation, "typed", "/back")
    answer = play_on(conversation, "", "", "s").answer

    assert ServerText("typed", "Your answer") in turn.parts
    assert turn.prompt == "mail: Enter: keep your answer; /skip: do not provide (/help): "
    assert answer is not None
    assert answer.content == {"a": "typed"}


def test_back_from_the_review_asks_the_last_field() -> None:
    conversation = converse(form({"a": {"type": "string"}, "b": {"type": "string"}}))

    turn = play(conversation, "1", "2", "back")

    assert turn.field is not None
    assert turn.field.name == "b"


def test_an_edited_field_leads_back_to_the_review() -> None:
    conversation = converse(form({"a": {"type": "string"}, "b": {"type": "string"}}))
    play(conversation, "1", "2")

    for reply in ("edit 1", "1", "e 1", "/edit 1"):
        turn = conversation.reply(reply)
        assert turn.field is not None
        turn = conversation.reply(reply[::-1])
        assert host_lines(turn)[0] == "Check your answers"

    answer = conversation.reply("s").answer
    assert answer is not None
    assert answer.content == {"a": "1 tide/", "b": "2"}


def test_an_error_is_shown_once_and_the_question_is_not_repeated() -> None:
    turn = play(converse(form({"a": {"type": "integer"}})), "x")

    assert turn.parts == (HostText("Enter a whole number."),)
    assert turn.prompt == "mail: Enter: do not provide (/help): "


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize(("typed", "action"), [("/decline", "decline"), ("/cancel", "cancel")])
def test_every_question_can_be_declined_and_cancelled(at: int, typed: str, action: str) -> None:
    replies = ["x", KEY, "send"][:at]
    conversation = converse(form({"a": {"type": "string"}, "b": {"type": "string"}}), style=BUTTONS)
    turn = play(conversation, *replies)
    assert {"decline", "cancel"} <= {each.id.partition(":")[2] for each in turn.buttons}

    answer = conversation.reply(typed).answer

    assert answer is not None
    assert (answer.action, answer.by) == (action, "user")


KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize("command", messages.HELP_COMMANDS)
def test_no_command_sends_the_form(command: str) -> None:
    turn = play(converse(form({"on": {"type": "string"}}, can_block=True)), command)

    assert turn.answer is None or turn.answer.action != "accept"


def test_a_form_with_a_warning_is_sent_by_two_different_inputs() -> None:
    conversation = converse(form({"a": {"type": "string"}}))

    turn = play(conversation, KEY, "s")
    assert turn.answer is None
    assert conversation.reply("s").answer is None
    assert conversation.reply("").answer is None
    answer = conversation.reply("confirm").answer

    assert answer is not None
    assert (answer.action, answer.confirmed) == ("accept", True)


def test_a_yes_to_a_request_with_a_warning_is_reviewed_and_confirmed() -> None:
    empty = converse(form({}, **WARNED))
    boolean = converse(form({"a": {"type": "boolean"}}, **WARNED))

    assert play(empty, "y").answer is None
    assert empty.reply("y").answer is None
    assert empty.reply("confirm").answer is not None
    assert play(boolean, "y", "y").answer is None
    assert play_on(boolean, "s", "confirm").answer is not None


# --- Buttons and widgets


def test_a_form_is_answered_with_buttons_and_widgets() -> None:
    conversation = converse(form(FIELDS, *REQUIRED), style=BUTTONS)
    turn = conversation.start()
    assert isinstance(conversation, FormConversation)

    turn = conversation.press(button(turn, "use"))
    turn = conversation.press(button(turn, "skip"))
    turn = conversation.press(button(turn, "option:1"))
    turn = conversation.give(Selection(("b",)))
    turn = conversation.press(button(turn, "option:0"))
    turn = conversation.give(Intent.OMIT)
    turn = conversation.press(button(turn, "edit"))
    turn = conversation.press(button(turn, "edit:2"))
    turn = conversation.reply("20")
    answer = conversation.press(button(turn, "send")).answer

    assert answer is not None
    assert answer.content == {
        "name": "FORGED Ada",
        "age": 20,
        "dish": "FORGED pasta",
        "extras": ["b"],
        "sure": True,
    }


def test_a_dialog_is_reviewed_without_naming_what_is_sent_twice() -> None:
    request = form({"n": {"type": "number"}, "on": {"type": "string", "format": "date"}})
    conversation = converse(request, MessageCatalog.for_language("de"), style=BUTTONS)
    assert isinstance(conversation, FormConversation)
    conversation.start()

    turn = conversation.fill({"n": "7,5", "on": "24.12.2026"})

    assert isinstance(turn, Turn)
    assert host_lines(turn)[-2:] == ["Prüfen Sie Ihre Antworten", "Ihre Antworten werden an mail gesendet."]
    notes = [part.note for part in turn.parts if isinstance(part, AnswerRow)]
    assert notes == ["Wird gesendet als 7.5", "Wird gesendet als 2026-12-24"]


def server_words(turn: Turn) -> list[str]:
    return [part.text for part in turn.parts if isinstance(part, ServerText)]


@pytest.mark.parametrize(
    ("request_", "style", "replies"),
    [
        (form({}, remember_seconds=600), BUTTONS, ["remember"]),
        (form({}), BUTTONS, ["which?"]),
        (form({}, **WARNED), BUTTONS, ["yes", "back"]),
        (form({"a": {"type": "boolean"}}, remember_seconds=600), BUTTONS, ["remember"]),
        (form({"a": {"type": "integer"}, "b": {"type": "string"}}), BUTTONS, ["which?"]),
        (form({"a": {"type": "string"}, "b": {"type": "string"}}), BUTTONS, ["x", "/back"]),
        (form({"a": {"type": "string"}}), Style(has_buttons=True, begins_with_dialog=True), ["which?"]),
        (url(), BUTTONS, ["which?"]),
        (url(":8443"), BUTTONS, ["show", "back"]),
    ],
)
def test_the_first_question_of_a_chat_is_introduced_whenever_it_is_asked(
    request_: Request, style: Style, replies: list[str]
) -> None:
    conversation = converse(request_, style=style)
    first = play(conversation)

    for turn in (play_on(conversation, *replies), conversation.ask_again()):
        assert host_lines(first)[0] in host_lines(turn)
        assert server_words(turn)[: len(server_words(first))] == server_words(first)
        assert host_lines(turn).count("Quoted text comes from the server.") == 1


@pytest.mark.parametrize("style", [Style(), BUTTONS])
@pytest.mark.parametrize("fields", [{}, {"a": {"type": "boolean"}}, {"a": {"type": "string"}, "b": {"type": "string"}}])
def test_a_form_is_confirmed_below_the_warnings_about_its_request(style: Style, fields: dict[str, Any]) -> None:
    conversation = converse(form(fields, **WARNED), style=style)

    turn = play(conversation, *(["yes"] if len(fields) < 2 else ["x", "x"]), *(["send"] if fields else []))

    assert host_lines(turn).count("Warning: It resembles another name.") == 1
    assert ("FORGED message" in server_words(turn)) == (style is BUTTONS)
    answer = conversation.reply("confirm").answer
    assert answer is not None
    assert answer.confirmed


LONG = "a" * 40 + " FORGED"
SHORT = Style(has_buttons=True, max_repeated=40)


@pytest.mark.parametrize("replies", [["x"], ["x", "x"], ["x", "x", "edit"], ["x", "/back", "x"], ["which?"]])
@pytest.mark.parametrize(("style", "words"), [(BUTTONS, LONG), (SHORT, f"{'a' * 40}…")])
def test_each_turn_with_buttons_names_the_server_and_repeats_its_message(
    replies: list[str], style: Style, words: str
) -> None:
    request = form({"a": {"type": "integer"}} if replies == ["which?"] else {"a": {"type": "string"}}, message=LONG)
    turn = play(converse(request, style=style), *replies)

    assert host_lines(turn)[0] == "mail asks for 1 answer"
    assert server_words(turn)[0] == words


@pytest.mark.parametrize("style", [Style(), BUTTONS])
def test_an_empty_message_is_not_shown(style: Style) -> None:
    turn = converse(form({}, message="", tool=None), style=style).start()

    assert not [part for part in turn.parts if isinstance(part, ServerText)]


def test_a_visit_names_the_server_and_repeats_its_message_until_it_is_finished() -> None:
    turn = play(converse(url(), style=BUTTONS, effects=()), "show")

    assert turn.is_waiting
    assert host_lines(turn)[0] == "mail asks you to open a.example"
    assert server_words(turn) == ["FORGED"]


@pytest.mark.parametrize("request_", [form({}, message=LONG), form({"a": {"type": "string"}}, message=LONG), url()])
def test_a_message_that_is_too_long_to_be_repeated_stays(request_: Request) -> None:
    conversation = converse(request_.model_copy(update={"message": LONG}), style=SHORT)
    first = conversation.start()

    assert next(part.text for part in first.kept if isinstance(part, ServerText)) == LONG
    assert LONG not in server_words(first)
    assert not conversation.ask_again().kept
    assert not play(converse(request_, style=Style(max_repeated=4))).kept


def test_a_url_is_confirmed_below_its_warnings_and_what_it_is_for() -> None:
    turn = play(converse(url(":8443"), style=BUTTONS), "show")

    assert host_lines(turn).count("Warning: The URL uses an unusual port: 8443.") == 1
    assert server_words(turn) == ["FORGED"]
    assert [part for part in turn.parts if isinstance(part, Link)] == [Link(url(":8443").target)]


def test_a_search_finds_options_with_or_without_their_accents() -> None:
    cities = ["Århus", "Cádiz", "İzmir", "São Paulo", "Zürich"]
    for typed, found in [("sao", "São Paulo"), ("zür", "Zürich"), ("IZM", "İzmir"), ("cádi", "Cádiz")]:
        turn = play(converse(form({"city": {"type": "string", "enum": cities}}), style=BUTTONS), typed)

        assert [each.label for each in turn.buttons if each.number] == [found]


def test_the_command_for_all_options_ends_a_search_in_a_chat_and_shows_each_once() -> None:
    options = [f"option {number}" for number in range(9)]
    conversation = converse(form({"a": {"type": "string", "enum": options}}), style=BUTTONS)
    first = conversation.start()
    play_on(conversation, "on 8")

    turn = conversation.reply("/options")

    assert [each.label for each in turn.buttons] == [each.label for each in first.buttons]
    assert [part.labels for part in turn.parts if isinstance(part, OptionList)] == [tuple(options[:4])]


def test_selected_options_that_are_out_of_sight_are_counted() -> None:
    field = {"type": "array", "items": {"enum": [f"option {number}" for number in range(9)]}}
    conversation = converse(form({"a": field}), style=BUTTONS)
    turn = conversation.start()
    for name in ("option:0", "option:2"):
        turn = conversation.press(button(turn, name))
        assert "2 selected" not in host_lines(turn)

    turn = conversation.press(button(turn, "page:1"))
    assert "2 selected" in host_lines(turn)


def test_typed_options_join_those_that_were_selected_with_buttons() -> None:
    field = {"type": "array", "items": {"enum": ["salad", "wine", "bread"]}, "minItems": 2}
    conversation = converse(form({"a": field, "b": {"type": "string"}}), style=BUTTONS)
    conversation.press(button(conversation.start(), "option:2"))

    turn = conversation.reply("wine")
    assert [each.label for each in turn.buttons if each.is_selected] == ["wine", "bread"]
    turn = conversation.reply("soup")
    assert "Select one of the options." in host_lines(turn)
    conversation.press(button(turn, "choose"))
    answer = play_on(conversation, "/skip", "send").answer

    assert answer is not None
    assert answer.content == {"a": ["wine", "bread"]}


def test_a_name_that_selects_no_option_lists_those_that_contain_it_with_their_numbers() -> None:
    towns = [*(f"Town {at}" for at in range(40)), "Zürich", "Zug"]
    conversation = converse(form({"home": {"enum": towns}, "tags": {"type": "array", "items": {"enum": towns}}}))
    conversation.start()
    turn = conversation.reply("zur")
    assert host_lines(turn) == ["Select one of the options."]
    assert [(each.labels, each.numbers) for each in turn.parts if isinstance(each, OptionList)] == [
        (("Zürich",), (41,))
    ]
    turn = conversation.reply("town")
    assert [len(each.labels) for each in turn.parts if isinstance(each, OptionList)] == [20]
    assert "20 more. Type /options to list all." in host_lines(turn)
    assert not any(isinstance(each, OptionList) for each in conversation.reply("Paris").parts)
    conversation.reply("41")
    turn = conversation.reply("zu")
    assert [each.labels for each in turn.parts if isinstance(each, OptionList)] == [("Zürich", "Zug")]


@pytest.mark.parametrize("style", [Style(), BUTTONS])
def test_the_name_of_one_option_where_two_are_needed_says_so_and_starts_no_search(style: Style) -> None:
    conversation = converse(
        form({"f": {"type": "array", "items": {"enum": ["o1", "o2", "o10"]}, "minItems": 2}}), style=style
    )
    asked = len(conversation.start().buttons)

    turn = conversation.reply("o1")

    assert "Select at least 2 options." in host_lines(turn)
    assert len(turn.buttons) == asked
    assert [part.labels for part in turn.parts if isinstance(part, OptionList)] == [("o1", "o2", "o10")][: asked > 0]


@pytest.mark.parametrize(
    ("options", "typed", "found"),
    [
        (["Table 2", "Table 4", "Table 6"], "2", ["Table 2"]),
        (["Table 2", "Table 4", "Table 6"], "\uff14", ["Table 4"]),
        (["Table 12", "Table 2", "Table 3"], "3", []),
        (["Table 2", "Table 4", "Table 6"], "3", None),
        (["Table 2", "Table 4", "Table 6"], "1, 3", None),
        (["red", "green", "blue"], "2", []),
    ],
)
@pytest.mark.parametrize("several", [False, True])
def test_a_number_in_a_chat_means_no_position_if_options_have_numbers_themselves(
    options: list[str], typed: str, found: list[str] | None, several: bool
) -> None:
    field = {"type": "array", "items": {"enum": options}} if several else {"enum": options}
    conversation = converse(form({"f": field, "g": {"type": "string"}}), style=BUTTONS)
    conversation.start()

    turn = conversation.reply(typed)

    assert ("Select one of the options." in host_lines(turn)) is (found is None)
    assert [each.label for each in turn.buttons if each.number] == (options if found is None else found)


@pytest.mark.parametrize("style", [Style(), BUTTONS])
def test_a_number_in_a_label_does_not_select_the_option_with_this_value(style: Style) -> None:
    tables = [{"const": "1", "title": "Table 2"}, {"const": "2", "title": "Table 1"}, {"const": "3", "title": "30"}]
    conversation = converse(form({"f": {"oneOf": tables}}), style=style)
    conversation.start()

    turn = conversation.reply("1")
    assert [part.labels for part in turn.parts if isinstance(part, OptionList)] == [("Table 1",)]
    assert conversation.reply("30").field is None
    answer = conversation.reply("send").answer

    assert answer is not None and answer.content == {"f": "3"}


@pytest.mark.parametrize("style", [Style(), BUTTONS])
def test_a_word_of_a_label_does_not_select_another_option_with_this_value(style: Style) -> None:
    options = [
        {"const": "no", "title": "Yes, delete"},
        {"const": "yes", "title": "No"},
        {"const": "us", "title": "Busy"},
    ]
    for field in ({"oneOf": options}, {"type": "array", "items": {"anyOf": options}}):
        conversation = converse(form({"f": field}), style=style)
        conversation.start()

        turn = conversation.reply("yes")
        assert [part.labels for part in turn.parts if isinstance(part, OptionList)] == [("Yes, delete",)]
        answer = play_on(conversation, "Yes, delete", "send").answer
        assert answer is not None and answer.content in ({"f": "no"}, {"f": ["no"]})

        answer = play(converse(form({"f": field}), style=style), "us", "send").answer  # no label has this word
        assert answer is not None and answer.content in ({"f": "us"}, {"f": ["us"]})


@pytest.mark.parametrize("style", [Style(), BUTTONS])
@pytest.mark.parametrize("has_values", [False, True])
def test_a_number_selects_the_option_with_this_number_in_its_label(style: Style, has_values: bool) -> None:
    stars = [{"const": str(at) if has_values else f"v{at}", "title": f"{at} stars"} for at in range(1, 12)]
    answer = play(converse(form({"f": {"oneOf": stars}}), style=style), "1", "send").answer

    assert answer is not None and answer.content == {"f": stars[0]["const"]}


def test_the_number_of_an_option_is_accepted_in_line_mode_where_it_is_shown() -> None:
    answer = play(converse(form({"f": {"enum": ["Table 2", "Table 4"]}})), "2", "send").answer

    assert answer is not None and answer.content == {"f": "Table 4"}


def test_the_help_of_a_chat_names_no_keys() -> None:
    lines = host_lines(play(converse(form(FIELDS), style=BUTTONS), "/help"))
    assert "Send your answer as a message." in lines
    assert "/cancel: cancel the request" in lines
    assert "/cancel: cancel the request (also Ctrl+C)" in host_lines(play(converse(form(FIELDS)), "/help"))


def test_buttons_say_whose_words_they_are() -> None:
    turn = play(converse(form(FIELDS), style=BUTTONS), "", "")

    assert all(("FORGED" in each.label) == each.is_server_text for each in turn.buttons)


@pytest.mark.parametrize(
    ("zone", "shown"), [(None, "12:00:00 UTC"), ("Europe/Berlin", "13:00:00"), ("+01:00", "12:00:00 UTC")]
)
def test_the_deadline_says_utc_if_the_time_zone_of_the_user_is_not_known(zone: str | None, shown: str) -> None:
    request = form({}, deadline=datetime(2026, 11, 20, 12, 0, tzinfo=timezone.utc))
    turn = start_conversation(request, ENGLISH, InputContext(time_zone=zone), style=BUTTONS).start()

    assert f"Expires at {shown}" in host_lines(turn)


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
def test_a_deadline_that_is_days_ahead_has_its_date(zone: str | None) -> None:
    deadline = datetime.now(timezone.utc) + timedelta(days=3)
    turn = start_conversation(form({}, deadline=deadline), ENGLISH, InputContext(time_zone=zone), style=BUTTONS).start()

    shown = f"{deadline:%Y-%m-%d %H:%M:%S} UTC" if zone is None else f"{deadline + TOKYO:%Y-%m-%d %H:%M:%S}"
    assert f"Expires at {shown}" in host_lines(turn)


@pytest.mark.parametrize("pressed", ["", "1", "0:send", "1:send", "9:skip", "1:option:0", "1:edit:1", "x:y:z"])
def test_a_button_that_is_not_offered_does_nothing(pressed: str) -> None:
    conversation = converse(form({"a": {"type": "string"}}), style=BUTTONS)
    conversation.start()

    turn = conversation.press(pressed)

    assert "This button is no longer valid." in host_lines(turn)
    assert turn.answer is None


# --- URLs


def test_a_url_is_opened_after_consent() -> None:
    conversation = converse(url(protocol_version="2025-11-25"))
    assert isinstance(conversation, UrlConversation)

    assert play(conversation, "o").effect == "open"
    turn = conversation.report(done=True)

    assert turn.answer == Answer.accept(by="user", reason="the user agreed; the URL was passed to a browser")


def test_a_url_that_was_not_opened_is_shown_as_a_link() -> None:
    conversation = converse(url(protocol_version="2026-07-28"), effects=())
    assert isinstance(conversation, UrlConversation)

    turn = play(conversation, "show")

    assert turn.is_waiting
    assert turn.answer is None
    assert [part.has_consent for part in turn.parts if isinstance(part, Link)] == [True]
    assert conversation.complete().answer is not None


# --- Words


@pytest.mark.parametrize(
    ("typed", "choice"),
    [
        ("send", "send"),
        ("SEND", "send"),
        ("s", "send"),
        ("/send", "send"),
        ("Senden", "send"),
        ("sen", "send"),
        ("ab", None),
        ("ablehnen", "decline"),
        ("d", "decline"),
        ("abb", "cancel"),
        ("", None),
        ("/", None),
        ("sendx", None),
        ("x", None),
    ],
)
def test_a_choice_is_typed_in_either_language_or_by_a_beginning(typed: str, choice: str | None) -> None:
    pytest.importorskip("babel", reason="the extra languages is not installed")
    german = MessageCatalog.for_language("de")

    assert find_choice(typed, ChoiceMaker(german, "mail").make("send", "decline", "cancel")) == choice


@pytest.mark.parametrize(
    ("language", "typed", "choice"),
    [
        ("es", "si", "yes"),
        ("es", "SI\u0301", "yes"),  # as macOS separates accents
        ("de", "bestatigen", "confirm"),
        ("fr", "mémoriser", "remember"),
        ("fr", "memoriser", "remember"),
        ("ja", "はい", "yes"),
        ("ja", "ｎｏ", "no"),
    ],
)
def test_a_choice_is_typed_with_or_without_its_accents(language: str, typed: str, choice: str) -> None:
    pytest.importorskip("babel", reason="the extra languages is not installed")
    catalog = MessageCatalog.for_language(language)

    assert find_choice(typed, ChoiceMaker(catalog, "mail").make("yes", "no", "confirm", "remember")) == choice
