"""The chain of servers of a request that gateways relay."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client import RequestError, Server, parse_request, sanitize_text
from mcp_elicit_client.core.origin import MAX_ORIGIN, MAX_ORIGIN_NAME, ORIGIN_META_KEY, join_origin, write_origin
from mcp_elicit_client.core.request import request_key, user_and_server_of
from mcp_elicit_client.inbox.records import draft_key, question_data, read_request, write_request
from mcp_elicit_client.typing import Request
from tests.support import form_params
from tests.support.strategies import JSON

EVIL = "\x1b[2J\u202e\nfiles > disk"


def relayed(*names: Any, server: str = "gateway") -> Request:
    return parse_request({**form_params({}), "_meta": {ORIGIN_META_KEY: list(names)}}, server=server)


def test_the_origin_begins_with_the_name_of_the_host() -> None:
    assert parse_request(form_params({}), server="files").origin == ("files",)
    assert relayed("files", "disk").origin == ("gateway", "files", "disk")
    assert relayed("files", "disk").claimed_origin == ("files", "disk")


def test_each_gateway_adds_the_name_that_it_gave_its_server() -> None:
    request = parse_request(form_params({}), server="disk")
    for gateway in ("files", "storage", "gateway"):
        request = parse_request({**form_params({}), "_meta": write_origin(request.origin)}, server=gateway)

    assert request.origin == ("gateway", "storage", "files", "disk")


def test_a_gateway_refuses_what_its_client_would_refuse() -> None:
    longest = relayed("b", "c", "d", "e", server="a")

    assert len(longest.origin) == MAX_ORIGIN
    with pytest.raises(RequestError, match="more than 4 gateways"):
        write_origin(longest.origin)
    with pytest.raises(RequestError, match="empty name"):
        write_origin([""])


def test_names_in_an_origin_are_sanitized_and_cut() -> None:
    request = relayed(EVIL, "x" * 10_000)

    assert request.claimed_origin[0] == "\\u{1b}[2J\\u{202e} files \\u{3e} disk"
    assert len(request.claimed_origin[1]) == MAX_ORIGIN_NAME + 1


def test_a_name_does_not_look_like_two_names() -> None:
    assert join_origin(relayed("files > disk", server="a > b").origin) == "a \\u{3e} b > files \\u{3e} disk"


@given(JSON)
def test_any_origin_is_read_within_bounds_or_refused(value: Any) -> None:
    try:
        request = parse_request({**form_params({}), "_meta": {ORIGIN_META_KEY: value}}, server="gateway")
    except RequestError as error:
        assert sanitize_text(str(error), multiline=False) == str(error)
    else:
        assert len(request.origin) <= MAX_ORIGIN


@given(st.lists(st.text(), max_size=6))
def test_what_a_gateway_writes_is_what_its_client_reads(names: list[str]) -> None:
    try:
        meta = write_origin(names)
    except RequestError:
        return
    request = parse_request({**form_params({}), "_meta": meta}, server="gateway")

    assert write_origin(request.claimed_origin) == meta
    assert all(sanitize_text(name, multiline=False) == name for name in request.claimed_origin)
    assert join_origin(request.origin).count(" > ") == len(names)


def test_no_decision_is_based_on_the_reported_origin() -> None:
    request = relayed("bank")

    assert user_and_server_of(request) == (None, "gateway")
    assert request.server == Server(name="gateway")


def test_the_same_question_of_two_servers_behind_a_gateway_is_not_the_same() -> None:
    assert request_key(relayed("files")) != request_key(relayed("mail"))


def test_requests_of_two_servers_are_never_the_same_whatever_the_servers_are_called() -> None:
    one = parse_request(form_params({}, "form m"), server="files")
    other = parse_request(form_params({}, "m"), server="files form")

    assert draft_key(one) != draft_key(other)


def test_an_origin_survives_storage_and_is_marked_as_untrusted() -> None:
    request = relayed("files")
    data = question_data(request)

    assert read_request(write_request(request)).origin == ("gateway", "files")
    assert data["request"]["origin"] == ["gateway", "files"]
    assert {"request.origin", "request.claimed_origin"} <= set(data["untrusted"])
