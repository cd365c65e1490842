from __future__ import annotations

import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client import Target, UnsafeURLError, UrlRules, inspect_url
from tests.support import cases, table

PIECES = st.sampled_from(
    ["https", "http", ":", "/", "//", "\\", "@", "example", ".com", ".", "paypal.com", "127.0.0.1", "[::1]", "%2e", "#"]
    + ["?", "xn--", "\t", " ", "\u3002", "0x7f", "localhost", ":443", "-", "_", "a", "\u00e9", "\u202e", "1"]
)


REFUSALS = {
    "insecure": ["the URL is not https"],
    "loopback": ["the URL leads to the user's own machine"],
    "not_plain": [
        "the URL does not start with https://",
        "the URL does not name its host plainly",
        "the URL's address is not written in its usual form",
        "the URL's host is longer than a name can be",
        "the URL's host is not a valid international name",
    ],
    "port": ["the URL's port does not exist"],
    "private": [
        "the URL leads into a private network",
        "the URL hides an address that is not public",
        "the URL's address is not one that people visit",
    ],
    "scheme": ["the URL's scheme is not https"],
    "too_long": ["the URL is longer than 2048 characters"],
}
WARNINGS = {
    "https://8.8.8.8/": ["It names its place by a number, not by a domain."],
    "https://example.com:8443/": ["It uses the unusual port 8443."],
    "https://xn--mnchen-3ya.de/": ["Its name is written in other letters: münchen.de"],
    "https://a_b.example.com/": ["Its name has an underscore, which domains do not have."],
    f"https://{'a' * 60}.example.com/": ["Its name is very long: look at its end."],
    "http://localhost/": ["It leads to a program on this computer."],
    "https://wiki.corp/": ["It leads into a private network."],
}


def verdict(url: str) -> str:
    try:
        return "warn" if inspect_url(url).warnings else "allow"
    except UnsafeURLError:
        return "refuse"


@pytest.mark.parametrize("case", cases("urls"))
def test_a_url_is_allowed_warned_about_or_refused_as_the_table_says(case: Any) -> None:
    assert case["expect"] == verdict(case["url"])


@pytest.mark.parametrize("case", [each for each in cases("urls") if each.values[0]["expect"] != "refuse"])
def test_the_host_that_is_shown_is_the_one_that_a_browser_contacts(case: Any) -> None:
    target = inspect_url(case["url"])

    assert case["browser_host"] == target.host
    assert case.get("domain", target.domain) == target.domain
    assert case.get("opens", case["url"]) == target.url
    assert case.get("port", target.port) == target.port
    assert case.get("warnings", [warning.code for warning in target.warnings]) == [
        warning.code for warning in target.warnings
    ]


@pytest.mark.parametrize("case", [each for each in cases("urls") if "code" in each.values[0]])
def test_a_refusal_says_why(case: Any) -> None:
    with pytest.raises(UnsafeURLError) as caught:
        inspect_url(case["url"])

    assert case["code"] == caught.value.code
    assert case["url"] == caught.value.url
    assert str(caught.value) in REFUSALS[case["code"]]


def test_at_most_two_verdicts_differ_from_the_labels_and_say_why() -> None:
    differing = [row for row in table("urls") if "labelled" in row]

    assert len(differing) <= 2
    assert all(row["why"] for row in differing)


@pytest.mark.parametrize(
    ("url", "codes"),
    [
        ("http://localhost:8080/", ["private", "port"]),
        ("http://127.0.0.1/", ["ip_address", "private"]),
        ("https://[::1]/", ["ip_address", "private"]),
    ],
)
def test_a_host_may_allow_its_own_machine(url: str, codes: list[str]) -> None:
    target = inspect_url(url, UrlRules(allow_loopback=True))

    assert codes == [warning.code for warning in target.warnings]


def test_a_host_may_allow_its_private_network_over_https_only() -> None:
    rules = UrlRules(allow_private=True)

    assert [warning.code for warning in inspect_url("https://wiki.corp/", rules).warnings] == ["private"]
    with pytest.raises(UnsafeURLError, match="not https"):
        inspect_url("http://wiki.corp/", rules)
    with pytest.raises(UnsafeURLError, match="own machine"):
        inspect_url("https://localhost/", rules)


@pytest.mark.parametrize(("url", "messages"), WARNINGS.items())
def test_a_warning_says_in_a_sentence_what_to_look_at(url: str, messages: list[str]) -> None:
    target = inspect_url(url, UrlRules(allow_loopback=True, allow_private=True))

    assert [warning.message for warning in target.warnings] == messages


@given(st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=20))
def test_any_text_is_a_target_or_refused(url: str) -> None:
    try:
        target = inspect_url(url)
    except UnsafeURLError as error:
        assert error.url == url
    else:
        assert target.url.startswith("https://")
        assert target.url.isascii()
        assert inspect_url(target.url) == target


def test_looking_at_a_url_touches_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a URL made us touch the network")

    monkeypatch.setattr(socket, "socket", never)
    monkeypatch.setattr(socket, "getaddrinfo", never)

    assert inspect_url("https://accounts.example.co.uk/").domain == "example.co.uk"


def test_a_target_survives_the_way_to_another_process_with_its_domain() -> None:
    target = inspect_url("https://a.example.com:8443/x")

    assert '"domain":"example.com"' in target.model_dump_json()
    assert Target.model_validate(target.model_dump(exclude={"domain"})) == target
