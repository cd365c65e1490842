"""`Rendering`: the messages of a chat that show a turn of a conversation or its end, within the limits of the chat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcp_elicit_client.core.notice import Notice
from mcp_elicit_client.exceptions import State
from mcp_elicit_client.handlers.chat.platform import ChatButton, ChatLimits, ChatMessage, Paragraph, ParagraphKind
from mcp_elicit_client.inbox.records import Entry
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation import (
    AnswerRow,
    Button,
    HostText,
    Link,
    OptionList,
    Part,
    ServerText,
    Turn,
)
from mcp_elicit_client.presentation.descriptions import describe_field, server_name, title_line
from mcp_elicit_client.presentation.notices import describe_notice
from mcp_elicit_client.presentation.quoting import quoted
from mcp_elicit_client.typing import Answer, Request

SELECTED_MARK = "✓ "
"""What begins the label of a selected option."""

_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Rendering:
    """
    Renders turns for one chat.

    Attributes:
        limits: What the chat can show.
        catalog: The texts.
    """

    limits: ChatLimits
    catalog: MessageCatalog

    def message(self, turn: Turn, entry: Entry) -> list[ChatMessage]:
        """
        Return the messages that show *turn*, at least one; the last one has the buttons.

        Args:
            turn: The turn.
            entry: The request, whose ID the buttons carry.
        """
        request = entry.read()
        prompt = " ".join(filter(None, (turn.prompt, self._hint(turn))))
        last = HostText(f"{server_name(request.server)}: {prompt}")
        parts = (*turn.parts, last) if prompt else turn.parts
        buttons = [
            ChatButton(
                self.label(each),
                f"{entry.id}:{each.id}",
                is_option=each.number > 0,
                opens_dialog=each.opens_dialog,
            )
            for each in turn.buttons
        ]
        title, buttons = title_line(request, self.catalog), [*self._link_buttons(parts), *buttons]
        kept = self.split(title, self._unescaped(turn.kept)) if turn.kept else []
        return [*kept, *self.split(title, self._unescaped(parts), tuple(buttons))]

    def _hint(self, turn: Turn) -> str:
        """Return how to type the answer, if the chat has no dialogs."""
        if turn.field is None or self.limits.dialog is not None:
            return ""
        kind = describe_field(turn.field, self.catalog).input_kind
        return "" if kind in ("boolean", "option", "options") else self.catalog.text(messages.REPLY)

    def sentence(self, request: Request, text: str) -> ChatMessage:
        """Return the message that says *text* in place of *request*."""
        title = title_line(request, self.catalog)
        return ChatMessage(title, tuple(self.paragraphs([HostText(title, is_heading=True), HostText(text)])))

    def outcome(self, entry: Entry) -> ChatMessage:
        """Return the message that says how a request ended."""
        decision = "" if entry.action is None else self.catalog.text(messages.DECISIONS[entry.action])
        return self.sentence(entry.read(), decision or self.closed_text(entry))

    def ended(self, request: Request, answer: Answer | None) -> ChatMessage:
        """Return the same for a request that is no longer stored; *answer* is None if it was withdrawn."""
        if answer is not None and answer.by == "user":
            return self.sentence(request, self.catalog.text(messages.DECISIONS[answer.action]))
        state: State = "expired" if answer is not None and answer.by == "timeout" else "withdrawn"
        text = self.catalog.text(messages.CLOSED_BECAUSE[state], server=server_name(request.server))
        return self.sentence(request, text)

    def closed_text(self, entry: Entry) -> str:
        """Return why a request can no longer be answered."""
        message = messages.CLOSED_BECAUSE.get(entry.state, messages.CLOSED_BECAUSE["withdrawn"])
        return self.catalog.text(message, server=server_name(entry.read().server))

    def notice(self, notice: Notice) -> list[ChatMessage]:
        """Return the messages that say that a policy declined a request."""
        text = describe_notice(notice, self.catalog)
        quotes = [ServerText(each.text, each.label) for each in text.details]
        quotes += [ServerText(text.message)] if text.message else []
        return self.split(text.title, self._unescaped([HostText(f"{text.title} {text.reason}"), *quotes]))

    def split(
        self, title: str, paragraphs: Sequence[Paragraph], buttons: tuple[ChatButton, ...] = ()
    ) -> list[ChatMessage]:
        """
        Return *paragraphs* as messages of which none is over the limits; the last one has the buttons.

        They must not be escaped yet: a break in an escape sequence would let
        markup take effect, and each piece may begin with what is markup at
        the beginning of a line.
        """
        pages: list[list[Paragraph]] = [[]]
        room = self.limits.max_text
        for paragraph in paragraphs:
            for piece in self._pieces(paragraph):
                size = length(piece.text) + 1
                if pages[-1] and (size > room or len(pages[-1]) == self.limits.max_paragraphs):
                    pages.append([])
                    room = self.limits.max_text
                pages[-1].append(piece)
                room -= size
        last = len(pages) - 1
        return [ChatMessage(title, tuple(page), buttons if at == last else ()) for at, page in enumerate(pages)]

    def paragraphs(self, parts: Sequence[Part]) -> list[Paragraph]:
        """Return *parts* as paragraphs, escaped.  Quotations that follow each other become one."""
        return [Paragraph(each.kind, self._escape(each.kind, each.text)) for each in self._unescaped(parts)]

    def _escape(self, kind: ParagraphKind, text: str) -> str:
        return text if kind == "url" else self.limits.escape(text)

    def _pieces(self, paragraph: Paragraph) -> Iterator[Paragraph]:
        """Yield *paragraph*, escaped, in pieces that fit into a message, broken after lines or words if possible."""
        kind, text, limit = paragraph.kind, paragraph.text, self.limits.max_text
        while text.strip():
            end = min(len(text), limit)
            while length(escaped := self._escape(kind, text[:end].rstrip())) >= limit and end > 1:
                end = max(min(end - 1, end * limit // length(escaped)), 1)
            if end < len(text):
                at = max(text.rfind("\n", 0, end), text.rfind(" ", end // 2, end))
                if at > 0:
                    end = at + 1
                    escaped = self._escape(kind, text[:end].rstrip())
            if escaped:
                yield Paragraph(kind, escaped)
            text = text[end:]

    def _unescaped(self, parts: Sequence[Part]) -> list[Paragraph]:
        found: list[Paragraph] = []
        for part in parts:
            for kind, text in self._lines(part):
                if (
                    kind == "quote"
                    and found
                    and found[-1].kind == "quote"
                    and isinstance(part, (AnswerRow, OptionList))
                ):
                    found[-1] = Paragraph(kind, f"{found[-1].text}\n{text}")
                elif text:
                    found.append(Paragraph(kind, text))
        return found

    def _lines(self, part: Part) -> Iterator[tuple[ParagraphKind, str]]:
        match part:
            case HostText(text, is_heading):
                yield ("heading" if is_heading else "text"), text
            case ServerText(text, label):
                if label:
                    yield "text", self.catalog.text(messages.LABEL, label=label)
                yield "quote", text
            case OptionList(labels, _, numbers):
                if any(length(quoted(each)) > self.limits.max_label for each in labels):
                    yield from (("quote", f"{at}. {label}") for at, label in zip(numbers, labels, strict=True))
            case AnswerRow(number, label, value, note):
                yield "quote", f"{number}. {label}: {value}"
                if note:
                    yield "text", f"({note})"
            case Link(target, has_consent):
                before, domain, after = target.split_at_domain
                yield "url", target.url if has_consent else f"{before}[{domain}]{after}"

    def _link_buttons(self, parts: Sequence[Part]) -> Iterator[ChatButton]:
        """Yield a button for each URL that the user agreed to open, if the chat takes it."""
        for part in parts:
            if isinstance(part, Link) and part.has_consent:
                url, domain = part.target.url, part.target.registrable_domain
                if url.startswith(("https://", "http://")) and len(url) <= self.limits.max_url:
                    text = self.catalog.text(messages.URL_CHOICES["open"], domain=domain)
                    yield ChatButton(cut(text, self.limits.max_label), url=url)

    def label(self, button: Button) -> str:
        """Return the text on *button*: a label of the server in quotation marks, numbered if it has to be."""
        mark = SELECTED_MARK if button.is_selected else ""
        if not button.is_server_text:
            return cut(mark + button.label, self.limits.max_label)
        whole = mark + quoted(button.label)
        if length(whole) <= self.limits.max_label and not button.is_ambiguous:
            return whole
        start = f"{mark}{button.number}. "
        return start + quoted(cut(button.label, self.limits.max_label - length(start) - 2))


def length(text: str) -> int:
    """Return the number of UTF-16 units of *text*, as most chats count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "replace")) // 2


def cut(text: str, limit: int) -> str:
    """Return *text* with an ellipsis in place of what is over *limit*."""
    text = " ".join(text.split())
    if length(text) <= limit:
        return text
    text = text[:limit]
    while length(text) > limit - 1:
        text = text[:-1]
    return text + _ELLIPSIS
