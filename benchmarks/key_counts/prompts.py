"""Asks a question with another library: ``python -m benchmarks.key_counts.prompts LIBRARY QUESTION``."""

from __future__ import annotations

import json
import sys
from typing import Any

from benchmarks.key_counts.questions import QUESTIONS

library, question = sys.argv[1:]
asked = QUESTIONS[question]
fields: dict[str, Any] = asked.get("requestedSchema", {}).get("properties", {})


def ask_questionary(title: str, field: dict[str, Any]) -> Any:
    import questionary

    if field["type"] == "boolean":
        return questionary.confirm(title, default=field.get("default", False)).ask()
    if "enum" in field:
        return questionary.select(title, field["enum"], default=field.get("default")).ask()
    return questionary.text(title, default=str(field.get("default", ""))).ask()


def ask_inquirer(title: str, field: dict[str, Any]) -> Any:
    from InquirerPy import inquirer

    if field["type"] == "boolean":
        return inquirer.confirm(title, default=field.get("default", False)).execute()
    if "enum" in field:
        return inquirer.select(title, field["enum"], default=field.get("default")).execute()
    return inquirer.text(title, default=str(field.get("default", ""))).execute()


ask = {"questionary": ask_questionary, "InquirerPy": ask_inquirer}[library]
if fields:
    answers = {name: ask(field["title"], field) for name, field in fields.items()}
    casts = {"integer": int, "number": float}
    result: Any = {name: casts.get(fields[name]["type"], lambda each: each)(value) for name, value in answers.items()}
else:
    text = f"{asked['message']} {asked.get('url', '')}".strip()
    result = ask(text, {"type": "boolean"})
print("RESULT", json.dumps(result), flush=True)
