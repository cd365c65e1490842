"""Asks a question with the form of fast-agent: ``python -m benchmarks.key_counts.fast_agent_form QUESTION``."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from fast_agent.mcp.elicitation_handlers import make_forms_elicitation_handler
from mcp import types

from benchmarks.key_counts.questions import QUESTIONS

params = QUESTIONS[sys.argv[1]]
model: Any = types.ElicitRequestURLParams if "url" in params else types.ElicitRequestFormParams
parsed = model.model_validate(params)
handler = make_forms_elicitation_handler(agent_name="agent", server_name="restaurant")
answer = asyncio.run(handler(None, parsed))
print("RESULT", json.dumps((answer.content or True) if answer.action == "accept" else answer.action), flush=True)
