"""Messages and dialogs as blocks of Slack, and what was entered in them."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from mcp_elicit_client.handlers.chat.platform import (
    ChatButton,
    ChatLimits,
    ChatMessage,
    Dialog,
    DialogField,
    DialogLimits,
    DialogValue,
    Paragraph,
    Reaction,
)
from mcp_elicit_client.handlers.chat.rendering import cut

NAME = "mcp-elicit"
"""How the names of buttons and dialogs begin."""

_MAX_TITLE = 24
_MAX_ROW = 25
_MAX_RADIO = 10

LIMITS = ChatLimits(
    max_text=3000,
    max_label=75,
    max_options=20,
    max_input=3000,
    dialog=DialogLimits(
        max_fields=50, max_options=100, max_option=75, max_label=2000, max_hint=2000, max_input=3000, max_text=3000
    ),
)
"""What a message and a dialog in Slack can show."""

Block: TypeAlias = dict[str, Any]


# --- Messages


def content(message: ChatMessage) -> dict[str, Any]:
    """Return *message* as the arguments of a method that sends it."""
    # Text elements, and no markup: nothing in a text can be taken for markup.
    blocks = [_rich_text(message.paragraphs)]
    options = [each for each in message.buttons if each.is_option]
    others = [each for each in message.buttons if not each.is_option]
    for group in (options, others):
        blocks += [_actions(group[at : at + _MAX_ROW], at) for at in range(0, len(group), _MAX_ROW)]
    return {"text": html.escape(message.title, quote=False), "blocks": blocks}


def _rich_text(paragraphs: Sequence[Paragraph]) -> Block:
    styles = {"heading": {"style": {"bold": True}}, "url": {"style": {"code": True}}}
    elements: list[Block] = []
    for paragraph in paragraphs:
        kind = "rich_text_quote" if paragraph.kind == "quote" else "rich_text_section"
        end = "" if kind == "rich_text_quote" else "\n"
        text = {"type": "text", "text": paragraph.text, **styles.get(paragraph.kind, {})}
        elements.append({"type": kind, "elements": [text, {"type": "text", "text": end}] if end else [text]})
    return {"type": "rich_text", "elements": elements}


def _actions(buttons: Sequence[ChatButton], start: int) -> Block:
    return {"type": "actions", "elements": [_button(each, start + at) for at, each in enumerate(buttons)]}


def _button(button: ChatButton, at: int) -> Block:
    target = {"url": button.url} if button.url else {"value": button.data}
    return {"type": "button", "text": _plain(button.label), "action_id": f"{NAME}:{at}", **target}


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": False}


# --- Dialogs


def view(dialog: Dialog) -> Block:
    """Return *dialog* as a modal view."""
    return {
        "type": "modal",
        "callback_id": NAME,
        "private_metadata": dialog.id,
        "title": _plain(cut(dialog.title, _MAX_TITLE)),
        "submit": _plain(cut(dialog.submit, _MAX_TITLE)),
        "blocks": [_rich_text(dialog.paragraphs), *map(_input, dialog.fields)],
    }


def _input(field: DialogField) -> Block:
    return {
        "type": "input",
        "block_id": field.id,
        "label": _plain(field.label),
        "hint": _plain(field.hint),
        "optional": not field.is_required,
        "element": {"action_id": "value", **_element(field)},
    }


def _element(field: DialogField) -> Block:
    if field.options:
        return _select(field)
    initial = field.initial
    if field.is_date:
        return {"type": "datepicker", **({"initial_date": initial} if initial else {})}
    is_long = field.kind in ("long_text", "list")
    typed = {"type": "plain_text_input", "multiline": is_long, "max_length": LIMITS.max_input}
    return {**typed, **({"initial_value": initial} if initial else {})}


def _select(field: DialogField) -> Block:
    options = [{"text": _plain(label), "value": str(at)} for at, label in enumerate(field.options)]
    initial = [options[at] for at in field.initial or () if isinstance(at, int)]
    is_short = len(options) <= _MAX_RADIO
    if field.kind == "options":
        kind = "checkboxes" if is_short else "multi_static_select"
        return {"type": kind, "options": options, **({"initial_options": initial} if initial else {})}
    kind = "radio_buttons" if is_short and field.is_required else "static_select"
    return {"type": kind, "options": options, **({"initial_option": initial[0]} if initial else {})}


def values(blocks: Mapping[str, Mapping[str, Any]]) -> dict[str, DialogValue]:
    """Return what was entered in a view."""
    return {name: _value(block["value"]) for name, block in blocks.items() if "value" in block}


def _value(state: Mapping[str, Any]) -> DialogValue:
    if "selected_options" in state:
        return [int(each["value"]) for each in state["selected_options"] or ()] or None
    if "selected_option" in state:
        return [int(state["selected_option"]["value"])] if state["selected_option"] else None
    entered = state.get("selected_date") if state.get("type") == "datepicker" else state.get("value")
    return str(entered) if entered else None


def acknowledgement(reaction: Reaction, view: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a view: nothing, or what is wrong."""
    errors = dict(reaction.errors or {})
    if reaction.note:
        errors = {next(each["block_id"] for each in view["blocks"] if each["type"] == "input"): reaction.note}
    return {"response_action": "errors", "errors": errors} if errors else {}
