"""The user of a request, as the SDK's authentication of HTTP requests verified it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from mcp_elicit_client.core.request import check_user
from mcp_elicit_client.relay.downstream import authenticated_user


@contextmanager
def authenticated(client: str, **claims: Any) -> Iterator[None]:
    access = AccessToken.model_validate({"token": "t", "client_id": client, "scopes": [], **claims})
    token = auth_context_var.set(AuthenticatedUser(access))
    try:
        yield
    finally:
        auth_context_var.reset(token)


def test_without_authentication_there_is_no_user() -> None:
    assert authenticated_user(None) is None


def test_a_user_is_the_client_and_what_the_token_says() -> None:
    with authenticated("app"):
        assert authenticated_user(None) == '["app",null,null]'


def test_long_names_are_different_users_that_can_make_calls() -> None:
    users = set()
    for client in ("a" * 300, "b" * 300):
        with authenticated(client):
            users.add(check_user(authenticated_user(None)))

    assert len(users) == 2
