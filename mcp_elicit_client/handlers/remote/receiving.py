"""For those who answer later, by the inbox API, and have no other name than the secret."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mcp_elicit_client.handlers.remote.signing import Secrets, SignatureError, parse_secrets, verify_signature


def webhook_authenticator(owner: str, secrets: Secrets) -> Callable[[Any], Awaitable[str | None]]:
    """
    Make the ``authenticate`` of an `inbox_app` that lets in who holds the webhook's secret, and nobody else.

    Whoever asks or answers there signs as in `sign`, with the question's id as the message's.

    Args:
        owner: Whose questions they are: what `Later.owner` says.
        secrets: Those of the `RemoteHandler`.

    Raises:
        ValueError: If a secret is none.
    """
    parse_secrets(secrets)

    async def authenticate(web: Any) -> str | None:
        try:
            message_id = verify_signature(await web.body(), web.headers, secrets)
        except SignatureError:
            return None
        # What was signed for one question says nothing about another.
        return owner if message_id == web.path_params.get("id") else None

    return authenticate
