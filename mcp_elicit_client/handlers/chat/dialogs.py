"""Dialogs: whether a form fits into one, the dialog itself, and what was entered in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_elicit_client.core.form import BooleanField, Field, MultiChoiceField, TextField
from mcp_elicit_client.core.schema.enums import json_key
from mcp_elicit_client.core.text import unify_line_breaks
from mcp_elicit_client.handlers.chat.platform import ChatLimits, Dialog, DialogField, DialogLimits, DialogValue
from mcp_elicit_client.handlers.chat.rendering import Rendering, cut, length
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import ENGLISH, MessageCatalog
from mcp_elicit_client.presentation.conversation import FormConversation, HostText, Part, ServerText
from mcp_elicit_client.presentation.conversation.options import option_values
from mcp_elicit_client.presentation.descriptions import describe_field, option_labels, title_line
from mcp_elicit_client.presentation.form_input import OMITTED, FieldInput, Intent, Selection, preselected
from mcp_elicit_client.presentation.input_parsing import InputContext, accepts_empty, to_text
from mcp_elicit_client.presentation.quoting import quoted
from mcp_elicit_client.presentation.remembering import remember_label
from mcp_elicit_client.typing import FormRequest, Request, UrlRequest

_MAX_REPEATED = 500

REMEMBER = "remember"
"""The ID of the input of a dialog with which the user chooses to remember the answer."""


def max_repeated(limits: ChatLimits) -> int:
    """Return how much of the server's message each question repeats: the question is seen below it on a phone."""
    return min(_MAX_REPEATED, limits.max_text // 2)


def reason_not_shown(request: Request, limits: ChatLimits) -> str:
    """Return why the chat cannot show *request* at all; empty if it can."""
    if any(each.code == "sensitive_data" for each in request.diagnostics):
        return "the request asks for sensitive data, which is never asked for in a chat"
    room = limits.max_text * limits.max_messages
    introduction = _size(limits, request.message)
    repeated = _size(limits, request.message[: max_repeated(limits)])
    if isinstance(request, UrlRequest):
        is_too_long = introduction + length(request.target.url) > room
        return "the request is longer than the chat can show" if is_too_long else ""
    fields = request.form.fields
    if any(each.is_hidden for each in fields):
        return "a field asks for sensitive data, which is never asked for in a chat"
    longest = limits.dialog.max_input if limits.dialog else limits.max_input
    if any(isinstance(each, TextField) and (each.min_length or 0) > longest for each in fields):
        return "a field needs more text than the chat can send"
    first, *others = [_question_size(limits, each) for each in fields] or [0]
    review = sum(_size(limits, each.title) for each in fields)
    if max(introduction + first, *(repeated + each for each in (review, *others))) > room:
        return "the form is longer than the chat can show"
    return ""


def _size(limits: ChatLimits, *texts: str) -> int:
    return sum(length(limits.escape(each)) + 1 for each in texts)


def _question_size(limits: ChatLimits, field: Field) -> int:
    """Return how much text the question for *field* has: its title and help, and the options that fit on no button."""
    labels = option_labels(field, ENGLISH)
    if all(length(quoted(each)) <= limits.max_label for each in labels):
        labels = []
    longest = sorted((_size(limits, each) for each in labels), reverse=True)[: limits.max_options]
    return _size(limits, field.title, field.description) + sum(longest)


def fits_dialog(request: Request, limits: ChatLimits, catalog: MessageCatalog) -> bool:
    """Return True if *request* is a form that one dialog can show, and that buttons alone do not answer faster."""
    dialog = limits.dialog
    if dialog is None or isinstance(request, UrlRequest) or not request.form.fields:
        return False
    fields = request.form.fields
    if len(fields) == 1 and _has_buttons(fields[0], limits):
        return False
    if len(fields) > dialog.max_fields or length(request.message) > dialog.max_text:
        return False
    if sum(len(option_values(each)) for each in fields) > dialog.max_all_options:
        return False
    return all(_fits(each, dialog, catalog) for each in fields)


def _has_buttons(field: Field, limits: ChatLimits) -> bool:
    """Return True if there is a button for each answer to *field*."""
    return isinstance(field, BooleanField) or 0 < len(option_values(field)) <= limits.max_options


def _fits(field: Field, limits: DialogLimits, catalog: MessageCatalog) -> bool:
    labels = option_labels(field, catalog)
    default = "" if field.default is None or labels else to_text(field, field.default)
    return (
        length(quoted(field.title)) <= limits.max_label
        and length(_hint(field, catalog)) <= limits.max_hint
        and len(labels) <= limits.max_options
        and all(length(quoted(each)) <= limits.max_option for each in labels)
        and length(default) <= limits.max_input
    )


def make_dialog(
    conversation: FormConversation, fields: Sequence[Field], dialog_id: str, rendering: Rendering, context: InputContext
) -> Dialog:
    """Return the dialog for *fields* of the form of *conversation*."""
    catalog, limits = rendering.catalog, rendering.limits.dialog
    assert limits is not None
    request = conversation.request
    heading = HostText(title_line(request, catalog), is_heading=True)
    legend = HostText(catalog.text(messages.QUOTES_LEGEND))
    quote = [ServerText(request.message)] if length(request.message) <= limits.max_text else []
    parts: list[Part] = [heading, *quote, legend]
    whole = len(fields) == len(request.form.fields)
    inputs = [_dialog_field(conversation, each, limits, catalog, context) for each in fields]
    if whole and conversation.offers_to_remember:
        inputs += _remember_field(request, limits, catalog)[: limits.max_fields - len(inputs)]
    return Dialog(
        id=dialog_id,
        title=catalog.text(messages.DIALOG_TITLE),
        submit=catalog.text(messages.SEND if whole else messages.USE_VALUE),
        paragraphs=tuple(rendering.paragraphs(parts)),
        fields=tuple(inputs),
    )


def _remember_field(request: FormRequest, limits: DialogLimits, catalog: MessageCatalog) -> list[DialogField]:
    """Return the input with which the user chooses to remember the answer, if there is room for its text."""
    hint = remember_label(request, catalog)
    label, yes = (catalog.text(messages.CHOICE_LABELS[each]) for each in ("remember", "yes"))
    if length(hint) > limits.max_hint:
        return []
    return [
        DialogField(
            id=REMEMBER,
            kind="options",
            label=label,
            hint=hint,
            options=(yes,),
            initial=None,
            is_required=False,
            is_date=False,
        )
    ]


def _dialog_field(
    conversation: FormConversation, field: Field, limits: DialogLimits, catalog: MessageCatalog, context: InputContext
) -> DialogField:
    description = describe_field(field, catalog)
    is_boolean = isinstance(field, BooleanField)
    options = [catalog.text(messages.CHOICE_LABELS[each]) for each in ("yes", "no")] if is_boolean else []
    return DialogField(
        id=str(conversation.request.form.fields.index(field)),
        kind=description.input_kind,
        label=quoted(cut(description.label, limits.max_label - 2)),
        hint=cut(_hint(field, catalog), limits.max_hint),
        options=tuple(options or map(quoted, option_labels(field, catalog))),
        initial=_initial(conversation, field, limits, context),
        is_required=field.required and not (isinstance(field, MultiChoiceField) and accepts_empty(field)),
        is_date=isinstance(field, TextField) and field.format == "date",
    )


def _hint(field: Field, catalog: MessageCatalog) -> str:
    description = describe_field(field, catalog)
    help_text = quoted(description.help) if description.help else ""
    example = f"({description.example})" if description.example else ""
    return " ".join(filter(None, (help_text, f"{description.accepts}; {description.requirement}", example)))


def _initial(conversation: FormConversation, field: Field, limits: DialogLimits, context: InputContext) -> DialogValue:
    value = preselected(field) if conversation.is_suggested(field) else conversation.present_value(field)
    shown = _shown(field, value, context)
    return None if isinstance(shown, str) and length(shown) > limits.max_input else shown


def _shown(field: Field, value: Any, context: InputContext) -> DialogValue:
    """Return *value* of *field* as the input of a dialog holds it."""
    if value is OMITTED:
        return None
    if option_values(field):
        keys = [json_key(each) for each in option_values(field)]
        values = value if isinstance(field, MultiChoiceField) else [value]
        return [keys.index(json_key(each)) for each in values]
    return unify_line_breaks(to_text(field, value, context))


def read_dialog(
    request: FormRequest, values: Mapping[str, DialogValue], context: InputContext
) -> dict[str, FieldInput]:
    """
    Return what the user entered, by field name.  A suggested value that the user did not change is untouched.

    Raises:
        ValueError: If *values* do not come from a dialog for *request*.
        LookupError: The same.
    """
    fields = {str(at): field for at, field in enumerate(request.form.fields)}
    entered = {number: value for number, value in values.items() if number != REMEMBER}
    return {fields[number].name: _input(fields[number], value, context) for number, value in entered.items()}


def _is_as_suggested(value: DialogValue, suggested: DialogValue) -> bool:
    """Return True if an input that holds *suggested* returns *value* when the user does not change it."""
    if suggested is None:
        return False
    if isinstance(value, str) or isinstance(suggested, str):
        return (value or "") == suggested
    return {*(value or ())} == {*suggested}


def _input(field: Field, value: DialogValue, context: InputContext) -> FieldInput:
    if _is_as_suggested(value, _shown(field, preselected(field), context)):
        return Intent.UNTOUCHED
    if value is None:
        return Selection(()) if isinstance(field, MultiChoiceField) and field.required else Intent.OMIT
    if isinstance(value, str):
        return value
    if not value:
        return Selection(())
    options = option_values(field)
    if min(value) < 0:
        raise ValueError("not the position of an option")
    return Selection(tuple(options[at] for at in value))
