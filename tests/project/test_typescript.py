"""The TypeScript types of the JSON of the inbox."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import httpx
import pydantic
import pytest

from mcp_elicit_client.core.origin import write_origin
from mcp_elicit_client.inbox import Inbox, MemoryStore
from mcp_elicit_client.inbox.web import inbox_app
from tests.support import ROOT, form_params, npm_environment, npm_tool, table
from tests.support.inboxes import URL, pending, request
from tools.typescript import FILE, types

FRONT_END = ROOT / "tests" / "typing" / "front_end.ts"
OPTIONS = ["--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler"]


def test_the_types_are_those_of_the_json_schemas() -> None:
    if pydantic.VERSION.startswith("2.12."):
        pytest.skip("pydantic 2.12 leaves some docstrings out of its schemas")
    assert FILE.read_text(encoding="utf-8") == types(), "run python -m tools.typescript"


async def real_json() -> dict[str, list[Any]]:
    """Return what the app of a real inbox sends, by the name of its type.  The form has every kind of field."""
    inbox = Inbox(MemoryStore())
    transport = httpx.ASGITransport(app=inbox_app(inbox, lambda _: "ann"))
    fields = {f"f{at}": row["schema"] for at, row in enumerate(table("fields"))}
    form = form_params({"properties": fields, "required": ["f0"]})
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        anyio.create_task_group() as group,
    ):
        for params in (form, {**URL, "_meta": write_origin(["files"])}):
            group.start_soon(inbox.ask, "ann", request(params))
        ids = [entry.id for entry in await pending(inbox, count=2)]
        page = (await client.get("/")).json()
        entries = [(await client.get(f"/{each}")).json() for each in ids]
        entries += [(await client.post(f"/{ids[0]}", json={"action": "extend"})).json()]
        results = [(await client.post(f"/{ids[0]}", json={"action": "accept", "content": {"f0": 7}})).json()]
        errors = [(await client.get("/nothing")).json()]
        for each in ids:
            results.append((await client.post(f"/{each}", json={"action": "decline"})).json())
            errors.append((await client.post(f"/{each}", json={"action": "decline"})).json())
        history = (await client.get("/history")).json()
    return {"EntryPage": [page, history], "Entry": entries, "ValidationResult": results, "ErrorBody": errors}


@pytest.mark.anyio
@pytest.mark.event_loops("asyncio")
async def test_a_front_end_and_real_json_fit_the_types(tmp_path: Path) -> None:
    path = tmp_path / "real.ts"
    lines = [f'import type * as types from "{FILE.with_name("mcp-elicitation.js")}";']
    for name, values in (await real_json()).items():
        assert values
        lines += [f"export const {name}{at}: types.{name} = {json.dumps(each)};" for at, each in enumerate(values)]
    path.write_text("\n".join(lines), encoding="utf-8")
    command = [npm_tool("tsc"), *OPTIONS, "--lib", "es2022,dom,dom.iterable", str(FRONT_END), str(path)]

    run = await anyio.run_process(command, cwd=ROOT, check=False, env=npm_environment())

    assert (run.stdout.decode(), run.returncode) == ("", 0)


@pytest.mark.anyio
@pytest.mark.event_loops("asyncio")
async def test_the_schema_of_an_entry_is_that_of_the_form_wherever_it_is_sent() -> None:
    sent = await real_json()
    page, _ = sent["EntryPage"]

    assert [entry["answer_schema"] for entry in page["entries"]] == [
        each["answer_schema"] for each in sent["Entry"][:2]
    ]
    assert sent["Entry"][0]["answer_schema"]["required"] == ["f0"]
    assert sent["Entry"][1]["answer_schema"] is None
