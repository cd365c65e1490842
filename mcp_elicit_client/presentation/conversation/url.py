"""`UrlConversation`: the conversation about a URL: consent, opening it, and waiting for completion."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias, get_args

from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.introduction import Introduction
from mcp_elicit_client.presentation.conversation.turns import Button, Effect, HostText, Link, Part, Style, Turn
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
from mcp_elicit_client.presentation.word_choices import ChoiceMaker, WordChoice, find_choice
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
        style: How the conversation is held.

    Attributes:
        turn: The number of the present turn.
    """

    def __init__(
        self,
        request: UrlRequest,
        catalog: MessageCatalog,
        *,
        time_zone: str | None,
        effects: Collection[Effect],
        style: Style,
    ) -> None:
        self.request = request
        self._style = style
        self._catalog = catalog
        self._introduction = Introduction(request, catalog, time_zone, style)
        self._can_open = "open" in effects
        self._make = ChoiceMaker(catalog, server_name(request.server), request.target.registrable_domain)
        if request.previous_visits:
            self._prompt = completion_prompt(request, can_open=self._can_open)
        else:
            self._prompt = consent_prompt(request, can_open=self._can_open, can_copy="copy" in effects)
        self._is_warned = not request.previous_visits and must_confirm(request_warnings(request, catalog))
        self._unconfirmed: _Opening | None = None
        self._chosen: _Opening = "show"
        self.turn: int = style.first_turn

    @property
    def draft(self) -> dict[str, FieldInput]:
        """Always empty: nothing is entered."""
        return {}

    stored_draft = draft

    @property
    def is_waiting(self) -> bool:
        """True if the user agreed, and the server may report completion."""
        return self._prompt.step == "waiting"

    def start(self) -> Turn:
        """Return the first turn."""
        begin, kept = self._introduction.begin(), self._introduction.kept()
        return self._make_turn(*begin, *self._question(), kept=kept)

    def ask_again(self, errors: Iterable[FieldError] = ()) -> Turn:
        """Return the turn that asks the present question, with buttons that were not pressed yet, below *errors*."""
        return self._ask(*(HostText(self._catalog.error(each)) for each in errors))

    def save(self) -> dict[str, Any]:
        """Return the state of the conversation as JSON data."""
        return {
            "turn": self.turn,
            "step": self._prompt.step,
            "unconfirmed": self._unconfirmed,
            "is_warned": self._is_warned,
            "inputs": {},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """
        Continue where `save` was called.

        Raises:
            ValueError: If *state* is not that of a conversation about a URL.
            LookupError: The same.
            TypeError: The same.
        """
        unconfirmed = state["unconfirmed"]
        if unconfirmed not in (None, *get_args(_Opening)) or state["step"] not in ("consent", "waiting"):
            raise ValueError("the state belongs to another request")
        self.turn, self._unconfirmed, self._is_warned = int(state["turn"]), unconfirmed, bool(state["is_warned"])
        if state["step"] == "waiting":
            self._prompt = completion_prompt(self.request, can_open=self._can_open)

    def is_offered(self, button: str) -> bool:
        """Return True if the present turn offers *button*, which is the ID of a button."""
        return any(each.id == button for each in self._buttons())

    def reply(self, text: str) -> Turn:
        """Return the turn after the user typed *text*."""
        choice = find_choice(text, self._choices())
        if choice is None and not text.strip() and self._unconfirmed is None:
            choice = self._prompt.default
        if choice is None:
            if self._style.has_buttons:
                return self._ask(HostText(self._catalog.text(messages.PRESS_BUTTON)))
            words = ", ".join(each.word for each in self._choices())
            return self._make_turn(HostText(self._catalog.text(messages.TYPE_ONE_OF, choices=words)))
        return self._choose(choice)

    def press(self, button: str) -> Turn:
        """Return the turn after the user pressed *button*, which is the ID of a button."""
        if not self.is_offered(button):
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
            case "done":
                return Turn(answer=Answer.accept(by="user", reason="the user reports completion"))
            case _:  # never consent to what was not offered
                raise ValueError(f"there is no choice {choice!r}")

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
        if not opened and not self._style.has_buttons:
            parts = *parts, *self._open_yourself()
        return self._ask(*parts)

    def _open_yourself(self) -> tuple[Part, ...]:
        hint = HostText(self._catalog.text(messages.OPEN_YOURSELF))
        return hint, Link(self.request.target, has_consent=True)

    # --- What is shown

    def _ask(self, *parts: Part) -> Turn:
        """Return the turn that asks the present question; with buttons, it takes the place of the turn before."""
        introduction = self._introduction.repeat(with_facts=self._prompt.step == "consent")
        return self._make_turn(*introduction, *parts, *self._question())

    def _question(self) -> Iterator[Part]:
        text, has_buttons = self._catalog.text, self._style.has_buttons
        if self._prompt.step == "waiting":
            if has_buttons:
                yield from self._open_yourself()
            done = messages.SELECT_WHEN_FINISHED if has_buttons else messages.TYPE_DONE
            yield HostText(text(done, domain=self._make.domain))
        elif self._unconfirmed is not None and not has_buttons:
            warnings = request_warnings(self.request, self._catalog)
            yield from (HostText(warning_line(each, self._catalog)) for each in warnings if not each.is_note)
            yield HostText(text(messages.TYPE_CONFIRM, word=text(messages.CHOICE_WORDS["confirm"])))

    def _make_turn(self, *parts: Part, kept: tuple[Part, ...] = ()) -> Turn:
        self.turn += 1
        default = self._prompt.default if self._unconfirmed is None else None
        words = " / ".join(each.word for each in self._choices())
        hint = "".join(f" [{each.word}]" for each in self._choices() if each.id == default)
        prompt = f"{self._make.server}: {words}{hint}: "
        return Turn(
            kept=kept,
            parts=parts,
            prompt=self._button_prompt() if self._style.has_buttons else prompt,
            buttons=self._buttons() if self._style.has_buttons else (),
            is_waiting=self._prompt.step == "waiting",
        )

    def _button_prompt(self) -> str:
        if self._unconfirmed is not None:
            text = self._catalog.text
            return text(messages.PRESS_CONFIRM, button=text(messages.CHOICE_LABELS["confirm"]))
        return "" if self._prompt.step == "waiting" else self._catalog.text(messages.PRESS_OPTION)

    def _choices(self) -> list[WordChoice]:
        if self._unconfirmed is None:
            return self._make.make(*self._prompt.choices)
        return self._make.make("confirm", "back", *refusals(self.request))

    def _buttons(self) -> tuple[Button, ...]:
        return tuple(Button(f"{self.turn}:{each.id}", each.label) for each in self._choices())
