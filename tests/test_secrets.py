"""What a form must not ask for, and what an answer must not hold."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_elicit_client import find_secrets
from mcp_elicit_client.core.secrets import secret_fields, secret_values
from tests.support import table

ROWS: list[dict[str, Any]] = table("sensitive")
CLEAR = [row for row in ROWS if not row.get("borderline")]


def params(row: dict[str, Any]) -> dict[str, Any]:
    """The request that a row is about."""
    schema = {"type": "object", "properties": {row["name"]: row["schema"]}}
    return {"message": row.get("message") or "Please fill in the form.", "requestedSchema": schema}


def found(row: dict[str, Any]) -> bool:
    """Whether a secret is found: asked for, or held by the answer."""
    if row["kind"] == "field":
        return bool(find_secrets(params(row)))
    return any(each.where == "answer" for each in find_secrets(params(row), {row["name"]: row["answer"]}))


@pytest.mark.parametrize("row", CLEAR, ids=[f"{row['kind']}-{row['name']}-{at}" for at, row in enumerate(CLEAR)])
def test_what_is_a_secret_is_found_and_what_only_looks_like_one_is_not(row: dict[str, Any]) -> None:
    assert found(row) == row["sensitive"], row["why"]


@pytest.mark.parametrize(("kind", "precision", "recall"), [("field", 0.95, 0.95), ("answer", 0.95, 0.90)])
def test_few_are_missed_and_few_are_wrong(kind: str, precision: float, recall: float) -> None:
    rows = [row for row in CLEAR if row["kind"] == kind]
    flagged = [row for row in rows if found(row)]
    right = [row for row in flagged if row["sensitive"]]

    assert len(right) / len(flagged) >= precision
    assert len(right) / len([row for row in rows if row["sensitive"]]) >= recall


@pytest.mark.parametrize("row", [row for row in CLEAR if row["kind"] == "answer" and row["sensitive"]])
def test_no_sentence_quotes_what_was_typed(row: dict[str, Any]) -> None:
    findings = find_secrets(params(row), {row["name"]: row["answer"]})

    assert findings
    assert all(row["answer"] not in each.message and each.message.endswith(".") for each in findings)


def test_findings_of_a_request_name_the_field_and_where_it_asks() -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name"},
            "pw": {"type": "string", "title": "Password"},
            "ok": {"type": "boolean", "title": "Reset the password?"},
        },
    }

    (finding,) = find_secrets({"message": "Log in", "requestedSchema": schema})

    assert (finding.field, finding.kind) == ("pw", "password")


def test_a_url_request_asks_for_nothing() -> None:
    assert find_secrets({"mode": "url", "message": "Enter your password", "url": "https://a.example/"}) == ()


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_looked_at_without_an_error(name: str, title: str, message: str) -> None:
    from mcp_elicit_client import Form, TextField

    form = Form(fields=(TextField(name=name, title=title, description=message),))

    for finding in secret_fields(form, message):
        assert finding.field in (name, None)
    assert all(each.field == name for each in secret_values({name: title, "n": 5, "l": [title]}) if each.field != "l")
