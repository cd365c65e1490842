"""What a person is asked about a URL: one model, whatever shows it."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from mcp_elicit_client.core.request import UrlRequest

UrlStep: TypeAlias = Literal["consent", "waiting"]
"""Before the URL is opened, or after, until the user is done there."""

UrlChoice: TypeAlias = Literal["open", "copy", "show", "done", "reopen", "decline", "block", "cancel"]
"""
What a person can choose: open the page; copy its address; only show it;
go on, being done there; open it again; say no; say no for this server, for
ever; leave the question.
"""


class UrlPrompt(BaseModel):
    """
    What to show, and what can be chosen.

    Attributes:
        request: Who asks, what for, and for which URL with which warnings.
        step: Whether this is about going there, or about being done there.
        choices: What can be chosen, in this order.
        default: What an empty answer means; None if it means nothing.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True)

    request: UrlRequest
    step: UrlStep
    choices: tuple[UrlChoice, ...]
    default: UrlChoice | None = None


def consent_prompt(request: UrlRequest, *, can_open: bool = True, can_copy: bool = False) -> UrlPrompt:
    """
    Ask whether to go there.

    Where there are warnings, no is the default; without, there is none.

    Args:
        request: The server's request.
        can_open: Whether a browser can be opened here.
        can_copy: Whether there is a clipboard to copy the address to.
    """
    ways: dict[UrlChoice, bool] = {"open": can_open, "copy": can_copy, "show": True}
    return UrlPrompt(
        request=request,
        step="consent",
        choices=(*(way for way, there in ways.items() if there), *_ways_out(request)),
        default="decline" if request.target.warnings else None,
    )


def completion_prompt(request: UrlRequest, *, can_open: bool = True) -> UrlPrompt:
    """
    Ask, after the user agreed, whether they are done there.

    Nothing else can tell: neither a browser that was started nor one that
    was not proves anything, and a server need not say when it is satisfied.
    """
    again: tuple[UrlChoice, ...] = ("reopen",) if can_open else ()
    return UrlPrompt(request=request, step="waiting", choices=("done", *again, *_ways_out(request)))


def _ways_out(request: UrlRequest) -> tuple[UrlChoice, ...]:
    return ("decline", "block", "cancel") if request.can_block else ("decline", "cancel")
