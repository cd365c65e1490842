"""`ConfirmView`: a form without fields, or with one question of yes or no, that is answered with one key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_elicit_client.core.form import BooleanField
from mcp_elicit_client.core.messages import Message
from mcp_elicit_client.handlers.terminal.interactive.rendering import INDENT, Drawing, host_text, server_text
from mcp_elicit_client.handlers.terminal.interactive.view import App, KeyAction, View
from mcp_elicit_client.presentation import messages
from mcp_elicit_client.presentation.catalog import no_keys, yes_keys
from mcp_elicit_client.presentation.descriptions import describe_field
from mcp_elicit_client.presentation.remembering import remember_label
from mcp_elicit_client.typing import Answer, FormRequest, Source


class ConfirmView(View):
    """
    A question that is answered with yes or no.

    Attributes:
        field: The only field of the form, or None, so that yes
            accepts the request and no declines it.
    """

    request: FormRequest
    warned: bool

    def __init__(self, app: App, request: FormRequest) -> None:
        super().__init__(app, request)
        fields = request.form.fields
        self.field: BooleanField | None = fields[0] if fields and isinstance(fields[0], BooleanField) else None
        self.warned = self.warned or (self.field is not None and self.field.sensitive)

    def actions(self) -> Sequence[KeyAction]:
        catalog = self.catalog
        yes = self._answering("yes", messages.YES_KEY, yes_keys(catalog))
        no = self._answering("no", messages.NO_KEY, no_keys(catalog))
        decline, *others = self.leaving_actions()
        if self.field is None:
            return [yes, replace(decline, label=no.label, key=no.key, letters=no.letters + decline.letters), *others]
        keys = [yes, no, decline, *others]
        if not self.field.required:
            letter = next(each for each in "xqk" if each not in yes_keys(catalog) + no_keys(catalog))
            keys.insert(2, self._answering("skip", messages.NO_ANSWER_KEY, letter + letter.upper()))
        return keys

    def _answering(self, name: str, label: Message, letters: str) -> KeyAction:
        return KeyAction(name, self.catalog.text(label), letters[0], letters, guarded=True, careful=self.warned)

    @property
    def remember_label(self) -> str:
        return remember_label(self.request, self.catalog)

    def activate(self, name: str) -> None:
        content = {} if self.field is None or name == "skip" else {self.field.name: name == "yes"}
        sources: dict[str, Source] = dict.fromkeys(content, "user")
        self.app.end(Answer.accept(content, by="user", sources=sources))

    def body(self, width: int) -> Drawing:
        drawing = self.message(width)
        if self.field is not None:
            description = describe_field(self.field, self.catalog)
            drawing.lines += server_text(description.label or " ", width, "class:host")
            if description.help:
                drawing.lines += server_text(description.help, width)
            if self.field.default is not None:
                default = self.catalog.text(messages.YES if self.field.default else messages.NO)
                label = self.catalog.text(messages.LABEL, label=self.catalog.text(messages.SUGGESTED_VALUE))
                drawing.lines += host_text(f"{label} {default}", width, "class:hint", INDENT)
            if description.warning:
                warning = f"{self.app.symbols.attention} {description.warning}"
                drawing.lines += host_text(warning, width, "class:warning", INDENT)
            if self.details:
                label = self.catalog.text(messages.LABEL, label=self.catalog.text(messages.FIELD_NAME))
                drawing.lines += host_text(label, width, "class:hint", INDENT)
                drawing.lines += server_text(description.name, width)
            drawing.lines.append([])
        drawing.lines += self.remember_lines(width)
        drawing.cursor = (len(drawing.lines) - 1, 0)
        return drawing
