"""Where nobody is watching."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from mcp_elicit_client.core.helpers import default_content
from mcp_elicit_client.core.validation.field_errors import AnswerError
from mcp_elicit_client.typing import Answer, FormRequest, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadlessHandler:
    """
    Answer where there is no user: cancel, since nobody was asked.

    Attributes:
        accept_defaults_from: What the host application calls the servers
            whose forms are accepted as the server suggests, if every
            required field has a valid default.  A form that suggests nothing
            is a question only a person can answer, and is cancelled; so is
            every URL.
    """

    accept_defaults_from: Collection[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.accept_defaults_from, str):
            raise TypeError("accept_defaults_from takes a collection of server names, not one text")

    async def __call__(self, request: Request, /) -> Answer:
        """Cancel, or accept the defaults of a form from a server that is named."""
        if not isinstance(request, FormRequest) or request.server.name not in self.accept_defaults_from:
            return Answer.cancel(by="unattended", reason="there is no user to ask")
        try:
            content = default_content(request)
        except AnswerError as error:
            return Answer.cancel(by="unattended", reason=str(error))
        if not content:
            return Answer.cancel(by="unattended", reason="the form suggests nothing; a person must answer")
        return Answer.accept(
            content, by="default", reason="the server is on the list", sources=dict.fromkeys(content, "default")
        )
