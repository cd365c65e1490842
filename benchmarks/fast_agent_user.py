"""How the user of fast-agent's form answers: with keys, through prompt_toolkit's pipe."""

from __future__ import annotations

import math
import threading
from typing import Any

from fast_agent.mcp.elicitation_handlers import make_forms_elicitation_handler
from prompt_toolkit.application.current import get_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from mcp_elicit_client.testing.user_action import UnsupportedActionError, UserAction

SERVER = "mail"

handler = make_forms_elicitation_handler(agent_name="agent", server_name=SERVER)

_PAUSE = 0.5
_TAB, _ENTER, _ESCAPE, _END, _BACKSPACE = "\t", "\r", "\x1b", "\x05", "\x7f"


class Keys:
    """Types keys into whatever form is open, or opens next."""

    def __init__(self) -> None:
        self._context = create_pipe_input()
        self._pipe = self._context.__enter__()
        session = get_app_session()
        session._input = self._pipe  # noqa: SLF001 -- there is no terminal here
        session._output = DummyOutput()  # noqa: SLF001

    def follow(self, wish: UserAction) -> None:
        """Do what *wish* says; there is no way to break the form."""
        if wish.action == "hang" or wish.params.get("mode") == "url":
            return
        if wish.action in ("break", "leave"):
            raise UnsupportedActionError(f"this tester cannot make the form {wish.action}")
        if wish.action == "cancel":
            self._pipe.send_text(_ESCAPE)
            return
        fields = wish.params.get("requestedSchema", {}).get("properties", {})
        for name, schema in fields.items():
            if name in wish.content:
                self._pipe.send_text(_keys(schema, wish.content[name]))
            self._pipe.send_text(_TAB)
        last = _TAB + _ENTER if wish.action == "decline" else _ENTER
        # The form checks a field a moment after it is typed.
        threading.Timer(_PAUSE + wish.after, self._pipe.send_text, [last]).start()


def _keys(schema: dict[str, Any], value: Any) -> str:
    if schema.get("type") == "boolean":
        if not isinstance(value, bool):
            raise UnsupportedActionError("a box can only be ticked")
        return " " if value != bool(schema.get("default")) else ""
    if schema.get("type") == "array" or "enum" in schema or "oneOf" in schema or "anyOf" in schema:
        raise UnsupportedActionError("this tester has no keys for lists")
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UnsupportedActionError("this cannot be typed")
    text = "inf" if value == math.inf else str(value)
    clear = _END + _BACKSPACE * len(str(schema.get("default", "")))
    return clear + text


user = Keys()
