"""
Does ``validate`` say what the validator of JavaScript servers says?

Ajv 8 with ajv-formats is the oracle, not the law: each difference has a
reason here, and their number is bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from mcp_elicit_client import RequestError, ValidationResult, parse_request, validate
from tests.support import corpus, form_params

WE_REFUSE = {
    "null": "null is never sent, also where the schema of a required field allows it",
    "format": "Ajv takes a space for the T of a date-time; servers in other languages do not (RFC 3339, 5.6)",
    "type": "of a union one kind of answer is asked for; a list without items is one of texts, as the wire has it",
}
WE_ACCEPT = {
    "format": "an e-mail address without a dot in its domain is one by RFC 5321, 4.1.2",
    "maxLength": "a negative maxLength is no JSON Schema (2020-12, 6.3.1): it is ignored, Ajv refuses every text",
    "required": "a name that is no text is no JSON Schema (2020-12, 6.5.3): it is ignored, Ajv misses it",
    "oneOf": "an option without const in oneOf: no field can say 'any text but this'; noted as rule_not_checked",
}


def reason(row: Mapping[str, Any], ours: ValidationResult) -> str:
    if ours.valid:
        keywords = {error["keyword"] for error in row["errors"]}
        return next((f"accept {keyword}" for keyword in WE_ACCEPT if keyword in keywords), "accept without reason")
    codes = {error.code for error in ours.errors}
    return next((f"refuse {code}" for code in WE_REFUSE if code in codes), "refuse without reason")


def test_verdicts_are_those_of_ajv_but_for_listed_differences() -> None:
    same = 0
    refused = 0
    differing: Counter[str] = Counter()
    for row in corpus("ajv.jsonl"):
        if row["valid"] is None:  # Ajv itself could not say
            continue
        try:
            ours = validate(form_params(row["schema"]), row["content"])
        except RequestError:
            refused += 1  # nobody could answer; there is nothing to validate
            continue
        if ours.valid == row["valid"]:
            same += 1
        else:
            differing[reason(row, ours)] += 1

    assert same > 2_000
    assert set(differing) <= {f"accept {keyword}" for keyword in WE_ACCEPT} | {f"refuse {code}" for code in WE_REFUSE}
    assert differing.total() <= 0.01 * (same + differing.total()), differing
    assert refused <= 0.01 * (same + differing.total())


def test_what_we_accept_and_ajv_refuses_is_an_address_or_no_json_schema() -> None:
    for row in corpus("ajv.jsonl"):
        if row["valid"] is not False:
            continue
        try:
            ours = validate(form_params(row["schema"]), row["content"])
        except RequestError:
            continue
        if not ours.valid:
            continue
        why = reason(row, ours)
        if why == "accept format":
            assert any(isinstance(value, str) and value.endswith("@b") for value in row["content"].values()), row
        elif why == "accept maxLength":
            assert any(each.get("maxLength", 0) < 0 for each in row["schema"]["properties"].values())
        elif why == "accept required":
            assert not all(isinstance(name, str) for name in row["schema"]["required"])
        else:
            request = parse_request(form_params(row["schema"]))
            assert "rule_not_checked" in {problem.code for problem in request.diagnostics}
