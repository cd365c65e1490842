"""User hook for ``mcp-elicit check``: the user of fast-agent's form, who types keys through prompt_toolkit's pipe."""

from __future__ import annotations

import math
import threading
from typing import Any

from fast_agent.mcp.elicitation_handlers import make_forms_elicitation_handler
from prompt_toolkit.application.current import get_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from mcp_elicit_client.testing import UnsupportedActionError, UserAction

SERVER = "mail"

handler = make_forms_elicitation_handler(agent_name="agent", server_name=SERVER)

_PAUSE = 0.5
_TAB, _ENTER, _ESCAPE, _END, _BACKSPACE = "\t", "\r", "\x1b", "\x05", "\x7f"


class Keys:
    """Types keys into the form that is open or opens next."""

    def __init__(self) -> None:
        self._context = create_pipe_input()
        self._pipe = self._context.__enter__()
        session = get_app_session()
        session._input = self._pipe  # noqa: SLF001 -- there is no terminal
        session._output = DummyOutput()  # noqa: SLF001

    def follow(self, action: UserAction) -> None:
        """Perform *action*.  The form cannot be made to fail."""
        if action.action == "hang" or action.params.get("mode") == "url":
            return
        if action.action in ("fail", "absent"):
            raise UnsupportedActionError(f"The hook does not support the action {action.action}.")
        if action.action == "cancel":
            self._pipe.send_text(_ESCAPE)
            return
        fields = action.params.get("requestedSchema", {}).get("properties", {})
        for name, schema in fields.items():
            if name in action.content:
                self._pipe.send_text(_keys(schema, action.content[name]))
            self._pipe.send_text(_TAB)
        last = _TAB + _ENTER if action.action == "decline" else _ENTER
        # The form validates a field shortly after it was typed.
        threading.Timer(_PAUSE + action.after, self._pipe.send_text, [last]).start()


def _keys(schema: dict[str, Any], value: Any) -> str:
    if schema.get("type") == "boolean":
        if not isinstance(value, bool):
            raise UnsupportedActionError("A checkbox has no text.")
        return " " if value != bool(schema.get("default")) else ""
    if schema.get("type") == "array" or "enum" in schema or "oneOf" in schema or "anyOf" in schema:
        raise UnsupportedActionError("The hook does not support lists.")
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UnsupportedActionError("This value cannot be typed.")
    text = "inf" if value == math.inf else str(value)
    clear = _END + _BACKSPACE * len(str(schema.get("default", "")))
    return clear + text


user = Keys()
