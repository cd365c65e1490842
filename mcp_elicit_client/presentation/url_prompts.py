"""`UrlPrompt`: the questions about a URL and their choices, for every user interface."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from mcp_elicit_client._arguments import check_type
from mcp_elicit_client.core.answer import Answer
from mcp_elicit_client.core.deferred import build_models
from mcp_elicit_client.core.request import Request, UrlRequest

__all__ = ["UrlChoice", "UrlPrompt", "completion_prompt", "consent_prompt"]

UrlChoice: TypeAlias = Literal["open", "copy", "show", "done", "reopen", "decline", "block", "cancel"]
"""
A choice of the user about a URL.

``open``, ``copy`` or ``show`` the URL; ``done`` after finishing there, or
``reopen`` it; ``decline``; ``block``: decline and block the server; ``cancel``.
"""


class UrlPrompt(BaseModel):
    """
    A question about a URL.

    Attributes:
        request: The server's request, with the URL and its warnings.
        step: ``consent`` before the user agreed to open the URL; ``waiting``
            after that, until the user has finished.
        choices: The choices, in the order in which to show them.
        default: The choice that an empty answer means; None if it means
            nothing.
    """

    # `defer_build`: built at the first URL, because it would slow down the import.
    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)

    request: UrlRequest
    step: Literal["consent", "waiting"]
    choices: tuple[UrlChoice, ...]
    default: UrlChoice | None = None


def consent_prompt(request: UrlRequest, *, can_open: bool = True, can_copy: bool = False) -> UrlPrompt:
    """
    Return the question whether to open the URL.

    If the URL has warnings, the default is to decline.  Otherwise there is no
    default.

    Args:
        request: The server's request.
        can_open: A browser can be opened here.
        can_copy: There is a clipboard to copy the URL to.

    Raises:
        TypeError: If *request* is not a `UrlRequest`.
    """
    check_type("request", request, UrlRequest)
    offered: dict[UrlChoice, bool] = {"open": can_open, "copy": can_copy, "show": True}
    build_models(UrlPrompt)
    return UrlPrompt(
        request=request,
        step="consent",
        choices=(*(choice for choice, is_offered in offered.items() if is_offered), *refusals(request)),
        default="decline" if request.target.warnings else None,
    )


def completion_prompt(request: UrlRequest, *, can_open: bool = True) -> UrlPrompt:
    """
    Return the question, after consent, whether the user has finished at the URL.

    Only the user knows: a browser that was started proves nothing, and a
    server does not have to report completion.

    Raises:
        TypeError: If *request* is not a `UrlRequest`.
    """
    check_type("request", request, UrlRequest)
    reopen: tuple[UrlChoice, ...] = ("reopen",) if can_open else ()
    build_models(UrlPrompt)
    return UrlPrompt(request=request, step="waiting", choices=("done", *reopen, *refusals(request)))


def after_choice(prompt: UrlPrompt, *, opened: bool, can_open: bool = True) -> UrlPrompt | Answer:
    """
    Return what follows after the user chose to visit the URL: the answer, or the next question.

    Args:
        prompt: The question that was answered.
        opened: A program has accepted the URL.  Otherwise the user has to
            open it.
        can_open: A browser can be opened here.
    """
    if prompt.step == "consent" and opened and prompt.request.respond_after == "consent":
        return Answer.accept(by="user", reason="the user agreed; the URL was passed to a browser")
    return completion_prompt(prompt.request, can_open=can_open)


def refusal(choice: str) -> Answer:
    """Return the answer for ``decline``, ``block`` or ``cancel``."""
    if choice == "cancel":
        return Answer.cancel(by="user")
    return Answer.decline(by="user", block_server=choice == "block")


def refusals(request: Request) -> tuple[UrlChoice, ...]:
    """Return the choices that refuse *request*: all that it offers, in the order in which to show them."""
    return ("decline", "block", "cancel") if request.can_block else ("decline", "cancel")
