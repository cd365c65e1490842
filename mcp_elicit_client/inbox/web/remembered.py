"""`RememberedEndpoint`: the list of the answers that the signed-in user has chosen to remember, and their end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from pydantic_core import from_json
from starlette.exceptions import HTTPException
from starlette.requests import Request as WebRequest
from starlette.responses import JSONResponse, Response

from mcp_elicit_client.inbox.web.endpoints import wants_page
from mcp_elicit_client.inbox.web.pages import Pages
from mcp_elicit_client.inbox.web.security_middleware import media_type

if TYPE_CHECKING:
    from mcp_elicit_client.policies import RememberedAnswer, RememberedAnswers

_ALL = "all"
"""The ID that stands for all answers of the user."""


@dataclass(frozen=True, slots=True)
class RememberedEndpoint:
    """
    The endpoint ``remembered``.

    Attributes:
        remembered: The remembered answers.
        owner_of: Returns the signed-in user of a Starlette request.
        pages_for: Returns the writer of the pages for a Starlette request.
    """

    remembered: RememberedAnswers
    owner_of: Callable[[WebRequest], Awaitable[str]]
    pages_for: Callable[[WebRequest], Pages]

    async def show(self, web: WebRequest) -> Response:
        """List the remembered answers of the user, oldest first."""
        answers = self.remembered.list(await self.owner_of(web))
        if wants_page(web):
            return self.pages_for(web).remembered(answers)
        return JSONResponse({"answers": [_to_json(each) for each in answers]})

    async def revoke(self, web: WebRequest) -> Response:
        """Forget one answer of the user, or all of them."""
        owner = await self.owner_of(web)
        is_json = media_type(web.headers) == "application/json"
        answer_id = _read_id(await web.body(), is_json=is_json)
        if answer_id == _ALL:
            count = self.remembered.revoke_all(user=owner)
        else:
            count = int(self.remembered.revoke(answer_id, user=owner))
        if is_json:
            return JSONResponse({"revoked": count}, 200 if count or answer_id == _ALL else 404)
        return Response(status_code=303, headers={"Location": "remembered"})


def _read_id(body: bytes, *, is_json: bool) -> str:
    try:
        given: Any = from_json(body) if is_json else {k: v[-1] for k, v in parse_qs(body.decode()).items()}
    except ValueError:
        given = None
    answer_id = given.get("revoke") if isinstance(given, dict) else None
    if not isinstance(answer_id, str):
        raise HTTPException(400, "`revoke` must be the ID of an answer, or all.")
    return answer_id


def _to_json(answer: RememberedAnswer) -> dict[str, Any]:
    return {
        "id": answer.id,
        "server": answer.server,
        "message": answer.message,
        "action": answer.action,
        "content": None if answer.content is None else dict(answer.content),
        "seconds_left": round(answer.seconds_left),
    }
