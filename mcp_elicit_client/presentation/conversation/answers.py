"""`FormAnswers`: what the user entered in a conversation so far, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from mcp_elicit_client.core.diagnostics import Diagnostic
from mcp_elicit_client.core.form import Field, TextField
from mcp_elicit_client.core.validation.content import to_json_value
from mcp_elicit_client.core.validation.field_errors import FieldError
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.conversation.turns import AnswerRow, HostText, Part, ServerText
from mcp_elicit_client.presentation.descriptions import answer_note, describe_field, format_value
from mcp_elicit_client.presentation.form_input import OMITTED, FieldInput, FieldState, Intent, Selection, read_field
from mcp_elicit_client.presentation.input_parsing import InputContext, accepts_empty
from mcp_elicit_client.presentation.quoting import GUTTER, quoted
from mcp_elicit_client.presentation.warnings import (
    RequestWarning,
    answer_warnings,
    must_confirm,
    request_warnings,
)
from mcp_elicit_client.typing import FormRequest, Source

Present: TypeAlias = Literal["answered", "restored", "suggested"]
"""The origin of a field's present value: the answer, the draft from before, or the default."""


class FormAnswers:
    """
    The answers of a user.

    Args:
        request: The request.
        catalog: The texts.
        context: The user's locale and time zone.
        before: What the user had entered when the request was shown before.

    Attributes:
        context: The user's locale and time zone.
        inputs: What the user entered now, by field name.
    """

    def __init__(
        self, request: FormRequest, catalog: MessageCatalog, context: InputContext, before: Mapping[str, FieldInput]
    ) -> None:
        self._form = request.form
        self._catalog = catalog
        self.context: InputContext = context
        self._before = before
        self._is_request_warned = must_confirm(request_warnings(request, catalog))
        self.inputs: dict[str, FieldInput] = {}
        self._states: dict[str, FieldState] = {}

    @property
    def draft(self) -> dict[str, FieldInput]:
        """What the user entered or cleared, now or before."""
        return self._draft(self.inputs)

    @property
    def stored_inputs(self) -> dict[str, FieldInput]:
        """`inputs` so that they mean the same in any language and time zone: values in place of typed text."""
        return {name: self._stored(name, given) for name, given in self.inputs.items()}

    @property
    def stored_draft(self) -> dict[str, FieldInput]:
        """`draft` with `stored_inputs`."""
        return self._draft(self.stored_inputs)

    @property
    def content(self) -> dict[str, Any]:
        """The values by field name, as they would be sent."""
        return {name: state.value for name, state in self._in_order() if state.is_set}

    @property
    def sources(self) -> dict[str, Source]:
        """The origin of each value."""
        return {name: state.source for name, state in self._in_order() if state.source is not None}

    def set(self, field: Field, given: FieldInput) -> FieldState:
        """Use *given* for *field*, unless there are errors in the state that this returns."""
        state = read_field(field, given, self.context)
        if not state.errors:
            self.inputs[field.name], self._states[field.name] = given, state
        return state

    @property
    def unchecked(self) -> list[Diagnostic]:
        """The patterns that could not be checked."""
        return [each for _, state in self._in_order() for each in state.unchecked]

    def restore(self, inputs: Mapping[str, FieldInput], unchecked: Sequence[Diagnostic]) -> None:
        """
        Use *inputs*, which `set` took before.

        Patterns are not checked again: the whole answer is, at the end.

        Args:
            inputs: What the user entered, by field name.
            unchecked: What `unchecked` was.
        """
        for field in self._form.fields:
            if field.name in inputs:
                given = inputs[field.name]
                self.inputs[field.name] = given
                state = read_field(field, given, self.context, check_pattern=False)
                found = tuple(each for each in unchecked if each.field == field.name)
                self._states[field.name] = state._replace(unchecked=found)

    def value(self, field: Field) -> Any:
        """Return the value of *field*; `OMITTED` if it is not provided."""
        return self._states[field.name].value

    def present(self, field: Field) -> Present | None:
        """Return where the present value of *field*, which an empty reply keeps, comes from; None if it has none."""
        if field.name in self.inputs:
            return "answered"
        if field.name in self._before and not self._restored(field).errors:
            return "restored"
        return None if field.default is None else "suggested"

    def on_enter(self, field: Field) -> FieldInput:
        """Return what an empty reply means: the present value of *field*."""
        match self.present(field):
            case "answered":
                return self.inputs[field.name]
            case "restored":
                return self._before[field.name]
            case _:
                return Intent.UNTOUCHED

    def shown(self, field: Field) -> str:
        """Return the present value of *field* in words: of the answer, or of the draft."""
        return format_value(field, self.present_value(field), self._catalog)

    def present_value(self, field: Field) -> Any:
        """Return the present value of *field*; `OMITTED` if it has none."""
        match self.present(field):
            case "answered":
                return self._states[field.name].value
            case "restored":
                return self._restored(field).value
            case "suggested":
                return to_json_value(field, field.default)
            case _:
                return OMITTED

    def rows(self) -> Iterator[Part]:
        """Yield the answers as they are reviewed, and notes about them."""
        for number, field in enumerate(self._form.fields, 1):
            state = self._states.get(field.name, FieldState())
            value = format_value(field, state.value, self._catalog, multiline=True)
            note = answer_note(field, value, state.value, state.source, self._catalog)
            # Further lines have a gutter, so that they cannot look like other answers.
            yield AnswerRow(number, field.title, value.replace("\n", f"\n{GUTTER}"), note)
        for warning in self.warnings():
            if warning.is_note:
                yield HostText(warning.text)

    @property
    def must_confirm(self) -> bool:
        """True if there is a warning about the request or the answers, so that the user must confirm to send them."""
        return self._is_request_warned or must_confirm(self.warnings())

    def warnings(self) -> Sequence[RequestWarning]:
        """Return the warnings and notes about the answers."""
        return answer_warnings(self._form, self.content, self.sources, self._catalog, self.unchecked)

    def _in_order(self) -> Iterator[tuple[str, FieldState]]:
        return ((each.name, self._states[each.name]) for each in self._form.fields if each.name in self._states)

    def _draft(self, inputs: Mapping[str, FieldInput]) -> dict[str, FieldInput]:
        now = {name: given for name, given in inputs.items() if given is not Intent.UNTOUCHED}
        return {**self._before, **now}

    def _stored(self, name: str, given: FieldInput) -> FieldInput:
        state = self._states[name]
        if not isinstance(given, str) or not state.is_set:
            return given
        values = tuple(state.value) if isinstance(state.value, list) else (state.value,)
        return Selection(values) if values else Intent.EMPTY

    def _restored(self, field: Field) -> FieldState:
        return read_field(field, self._before[field.name], self.context, check_pattern=False)

    def refusal_parts(self, errors: Iterable[FieldError]) -> Iterator[HostText | ServerText]:
        """Yield why the answer was refused as a whole: the label of each field and its error."""
        for error in errors:
            field = self._form.by_name.get(error.field)
            if field is not None:
                yield ServerText(field.title)
            yield HostText(self._catalog.error(error))

    def error_text(self, field: Field, state: FieldState) -> str:
        """Return the errors in *state* of *field*, and what to enter, in one line."""
        parts = self.error_parts(field, state, has_commands=False)
        return " ".join(map(self._in_line, parts))

    def _in_line(self, part: HostText | ServerText) -> str:
        if isinstance(part, HostText):
            return part.text
        return f"{self._catalog.text(messages.LABEL, label=part.label)} {quoted(part.text)}"

    def error_parts(self, field: Field, state: FieldState, *, has_commands: bool) -> Iterator[HostText | ServerText]:
        """Yield the errors in *state* of *field*, and what to enter."""
        for error in state.errors:
            yield HostText(self._catalog.error(error))
            if error.code == "pattern":
                yield ServerText(describe_field(field, self._catalog).pattern, self._catalog.text(messages.PATTERN))
            if has_commands and error.code == "required" and isinstance(field, TextField) and accepts_empty(field):
                yield HostText(self._catalog.text(messages.TYPE_EMPTY))
