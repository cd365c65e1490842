"""`UrlConversation`: the conversation about a URL: consent, opening it, and waiting for completion."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias

from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.choices import Choice, ChoiceMaker, find_choice
from mcp_elicit_client.presentation.conversation.introduction import introduction
from mcp_elicit_client.presentation.conversation.turns import Button, Effect, HostText, Link, Part, Turn
from mcp_elicit_client.presentation.descriptions import server_name
from mcp_elicit_client.presentation.form_input import FieldInput
from mcp_elicit_client.presentation.url_prompts import (
    after_choice,
    completion_prompt,
    consent_prompt,
    refusal,
    refusals,
)
from mcp_elicit_client.presentation.warnings import must_confirm, request_warnings, warning_line
from mcp_elicit_client.typing import Answer, UrlRequest

_Opening: TypeAlias = Literal["open", "reopen", "copy", "show"]


class UrlConversation:
    """
    The conversation about a URL.

    The URL is opened only after the user chose to, and if there are warnings
    confirmed it with another input.

    Args:
        request: The request.
        catalog: The texts.
        time_zone: The user's time zone.
        effects: What the platform can do with a URL.
    """

    def __init__(
        self,
        request: UrlRequest,
        catalog: MessageCatalog,
        *,
        time_zone: str | None = None,
        effects: Collection[Effect] = frozenset[Effect]({"open"}),
    ) -> None:
        self.request = request
        self._catalog = catalog
        self._time_zone = time_zone
        self._can_open = "open" in effects
        self._make = ChoiceMaker(catalog, server_name(request.server), request.target.registrable_domain)
        if request.previous_visits:
            self._prompt = completion_prompt(request, can_open=self._can_open)
        else:
            self._prompt = consent_prompt(request, can_open=self._can_open, can_copy="copy" in effects)
        self._is_warned = not request.previous_visits and must_confirm(request_warnings(request, catalog))
        self._unconfirmed: _Opening | None = None
        self._chosen: _Opening = "show"
        self._turn = 0

    @property
    def draft(self) -> dict[str, FieldInput]:
        """Always empty: nothing is entered."""
        return {}

    def start(self) -> Turn:
        """Return the first turn."""
        return self._ask(*introduction(self.request, self._catalog, self._time_zone))

    def reply(self, text: str) -> Turn:
        """Return the turn after the user typed *text*."""
        choice = find_choice(text, self._choices())
        if choice is None and not text.strip() and self._unconfirmed is None:
            choice = self._prompt.default
        if choice is None:
            words = ", ".join(each.word for each in self._choices())
            return self._make_turn(HostText(self._catalog.text(messages.TYPE_ONE_OF, choices=words)))
        return self._choose(choice)

    def press(self, button: str) -> Turn:
        """Return the turn after the user pressed *button*, which is the ID of a button."""
        if button not in [each.id for each in self._buttons()]:
            return self._ask(HostText(self._catalog.text(messages.OLD_BUTTON)))
        return self._choose(button.partition(":")[2])

    def report(self, *, done: bool, failure: Message = messages.NO_BROWSER) -> Turn:
        """
        Return the turn after the platform did what the turn before told it.

        Args:
            done: The platform has opened or copied the URL.
            failure: What happened otherwise.
        """
        text = self._catalog.text
        if self._chosen == "copy":
            return self._went(HostText(text(messages.COPIED if done else messages.NOT_COPIED)), opened=False)
        domain = self.request.target.registrable_domain
        return self._went(HostText(text(messages.OPENING, domain=domain) if done else text(failure)), opened=done)

    def complete(self) -> Turn:
        """Return the last turn after the server reported completion."""
        part = HostText(self._catalog.text(messages.FINISHED, server=self._make.server))
        return Turn(
            parts=(part,), answer=Answer.accept(by="user", reason="the user agreed; the server reports completion")
        )

    # --- Steps

    def _choose(self, choice: str) -> Turn:
        match choice:
            case "decline" | "block" | "cancel":
                return Turn(answer=refusal(choice))
            case "back":
                self._unconfirmed = None
                return self._ask()
            case "open" | "reopen" | "copy" | "show":
                if self._is_warned:
                    self._unconfirmed = choice
                    return self._ask()
                return self._visit(choice)
            case "confirm" if self._unconfirmed is not None:
                return self._visit(self._unconfirmed)
            case _:
                return Turn(answer=Answer.accept(by="user", reason="the user reports completion"))

    def _visit(self, choice: _Opening) -> Turn:
        self._chosen, self._unconfirmed, self._is_warned = choice, None, False
        if choice == "show":
            return self._went(opened=False)
        effect: Effect = "copy" if choice == "copy" else "open"
        return Turn(effect=effect)

    def _went(self, *parts: Part, opened: bool) -> Turn:
        """Return the turn after the URL was opened, copied or shown."""
        text = self._catalog.text
        following = after_choice(self._prompt, opened=opened, can_open=self._can_open)
        if isinstance(following, Answer):
            more = HostText(text(messages.NOTHING_OPENS)), Link(self.request.target, has_consent=True)
            return Turn(parts=(*parts, *more), answer=following)
        self._prompt = following
        if not opened:
            parts = *parts, HostText(text(messages.OPEN_YOURSELF)), Link(self.request.target, has_consent=True)
        return self._ask(*parts)

    # --- What is shown

    def _ask(self, *parts: Part) -> Turn:
        text = self._catalog.text
        if self._unconfirmed is not None:
            warnings = request_warnings(self.request, self._catalog)
            parts = *parts, *(HostText(warning_line(each, self._catalog)) for each in warnings if not each.is_note)
            parts = *parts, HostText(text(messages.TYPE_CONFIRM, word=text(messages.CHOICE_WORDS["confirm"])))
        elif self._prompt.step == "waiting":
            parts = *parts, HostText(text(messages.TYPE_DONE, domain=self._make.domain))
        return self._make_turn(*parts)

    def _make_turn(self, *parts: Part) -> Turn:
        self._turn += 1
        default = self._prompt.default if self._unconfirmed is None else None
        words = " / ".join(each.word for each in self._choices())
        hint = "".join(f" [{each.word}]" for each in self._choices() if each.id == default)
        return Turn(
            parts=parts,
            prompt=f"{self._make.server}: {words}{hint}: ",
            buttons=self._buttons(),
            is_waiting=self._prompt.step == "waiting",
        )

    def _choices(self) -> list[Choice]:
        if self._unconfirmed is None:
            return self._make.make(*self._prompt.choices)
        return self._make.make("confirm", "back", *refusals(self.request))

    def _buttons(self) -> tuple[Button, ...]:
        return tuple(Button(f"{self._turn}:{each.id}", each.label) for each in self._choices())
