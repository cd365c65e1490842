"""Line mode: holds a conversation on a console, and opens the URLs to which the user agreed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import anyio

from mcp_elicit_client._concurrency import run_until
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.handlers.terminal.console import Console, LineTooLongError, TerminalConsole
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation import (
    AnswerRow,
    Conversation,
    Effect,
    FormConversation,
    HostText,
    Link,
    OptionList,
    Part,
    ServerText,
    Turn,
    UrlConversation,
    start_conversation,
)
from mcp_elicit_client.presentation.drafts import Drafts
from mcp_elicit_client.presentation.formatting import LOCAL_TIME_ZONE
from mcp_elicit_client.presentation.input_parsing import InputContext, context_of_this_computer
from mcp_elicit_client.presentation.opener import UrlAction, opening_failure
from mcp_elicit_client.presentation.qr import qr_code
from mcp_elicit_client.presentation.quoting import quote, sentence
from mcp_elicit_client.typing import Answer, Request, UrlRequest

_KEYS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
"""What keys such as arrows type into a line: the terminal edits lines, but only with Backspace, Ctrl+W and Ctrl+U."""


@dataclass(frozen=True, slots=True)
class LineMode:
    """
    Asks on a console, line by line.

    Attributes:
        console: The console.
        catalog: The texts.
        drafts: What users had entered in requests that were not answered.
        open_url: Opens a URL.
        copy_url: Copies a URL; None if that is not possible.
    """

    console: Console
    catalog: MessageCatalog
    drafts: Drafts
    open_url: UrlAction
    copy_url: UrlAction | None = None

    async def ask(self, request: Request) -> Answer:
        """Return the user's answer.  What was entered is kept as a draft, unless it was sent or declined."""
        if isinstance(request, UrlRequest):
            effects: Sequence[Effect] = ("open",) if self.copy_url is None else ("open", "copy")
            context = InputContext(time_zone=LOCAL_TIME_ZONE)
            return await self._hold(start_conversation(request, self.catalog, context, effects=effects))
        context = context_of_this_computer(request, self.catalog)
        conversation = start_conversation(request, self.catalog, context, draft=self.drafts.take(request))
        answer: Answer | None = None
        try:
            answer = await self._hold(conversation)
        finally:
            if answer is None or answer.action == "cancel":
                self.drafts.keep(request, conversation.draft)
        return answer

    async def _hold(self, conversation: Conversation) -> Answer:
        turn = conversation.start()
        while True:
            self._show(turn)
            if turn.answer is not None:
                return turn.answer
            turn = await self._next(conversation, turn)

    async def _next(self, conversation: Conversation, turn: Turn) -> Turn:
        if isinstance(conversation, FormConversation):
            return await self._reply(conversation, turn)
        if turn.effect is not None:
            return await self._perform(turn.effect, conversation)
        completion = conversation.request.completion
        if not turn.is_waiting or completion is None:
            return await self._reply(conversation, turn)
        following = await run_until(completion.wait, lambda: self._reply(conversation, turn))
        if following is None:
            self.console.write("")
            return conversation.complete()
        return following

    async def _reply(self, conversation: Conversation, turn: Turn) -> Turn:
        if isinstance(self.console, TerminalConsole) and self.console.discard():
            self.console.write(self._wrap(self.catalog.text(messages.INPUT_IGNORED)))
        try:
            typed = await self.console.ask(f"{self._wrap(turn.prompt)} ", hidden=turn.is_hidden)
        except LineTooLongError:
            ignored: Message | None = messages.LINE_TOO_LONG
        else:
            ignored = messages.KEYS_IGNORED if re.search(_KEYS, typed) else None
        if ignored is not None:
            self.console.write(self._wrap(self.catalog.text(ignored)))
            return await self._reply(conversation, turn)
        # Patterns are checked in another process.
        return await anyio.to_thread.run_sync(conversation.reply, typed, abandon_on_cancel=True)

    async def _perform(self, effect: Effect, conversation: UrlConversation) -> Turn:
        target = conversation.request.target
        if effect == "open":
            return conversation.report(done=await self.open_url(target), failure=opening_failure())
        return conversation.report(done=self.copy_url is not None and await self.copy_url(target))

    # --- What is shown

    def _show(self, turn: Turn) -> None:
        for part in turn.parts:
            for line in self._lines(part):
                self.console.write(line)

    def _lines(self, part: Part) -> Iterator[str]:
        width = self.console.width
        match part:
            case HostText(text, is_heading):
                # A heading begins on a new line, whatever the host has printed.
                yield f"\n{self._wrap(text)}" if is_heading else self._wrap(text)
            case ServerText(text, label):
                yield from [self._wrap(self.catalog.text(messages.LABEL, label=label))] if label else []
                yield quote(text, width)
            case OptionList(labels, are_numbered, numbers):
                for number, label in zip(numbers, labels, strict=True):
                    yield quote(f"{number}) {label}" if are_numbered else f"- {label}", width)
            case AnswerRow(number, label, value, note):
                yield quote(f"{number}) {label}: {value}", width)
                yield from [self._wrap(f"    ({note})")] if note else []
            case Link(target, has_consent):
                yield from self._link(target.url) if has_consent else [quote(target.as_sent, width)]

    def _link(self, url: str) -> Iterator[str]:
        yield f"\n{url}\n"  # without a gutter: it can be selected or clicked
        code = qr_code(url, self.console.width)
        if code is not None:
            yield f"{code}\n"

    def _wrap(self, text: str) -> str:
        return sentence(text, self.console.width)
