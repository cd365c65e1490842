"""The React component of the documentation in a real Chromium, with React from npm and without a bundler."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route

from mcp_elicit_client.inbox import Inbox, MemoryStore
from mcp_elicit_client.inbox.web import inbox_app
from tests.support import ROOT, form_params, skip_or_fail
from tests.support.chromium import IN_A_BROWSER, browser, violations
from tests.support.inboxes import asking, pending, request
from tests.support.webapps import serving

pytestmark = [*IN_A_BROWSER, pytest.mark.slow]

WHO = form_params({"properties": {"name": {"type": "string", "title": "Your name"}}, "required": ["name"]}, "Who?")
PACKAGES = ROOT / ".npm" / "node_modules"
FILES = {
    "scheduler": "scheduler/cjs/scheduler.production.js",
    "react": "react/cjs/react.production.js",
    "react-dom": "react-dom/cjs/react-dom.production.js",
    "react-dom/client": "react-dom/cjs/react-dom-client.production.js",
}
NEEDS = {"react-dom": ("react",), "react-dom/client": ("scheduler", "react", "react-dom")}
EXPORTS = {"react": "createElement, useState", "react-dom/client": "createRoot"}

PAGE = """<!doctype html><html lang="en"><title>Host</title>
<script type="importmap">{"imports": {%s}}</script>
<script src="/requests/static/mcp-elicitation.js"></script>
<main><h1>Host</h1><div id="root"></div></main>
<script type="module" src="/component.js"></script></html>"""


def module_of(name: str) -> str:
    """Return a package of npm, which is CommonJS, as a module for browsers."""
    path = PACKAGES / FILES[name]
    if not path.exists():
        skip_or_fail("the npm packages react and react-dom are not installed; see .ci/run")
    needed = NEEDS.get(name, ())
    imports = "".join(f"import m{at} from '{each}';\n" for at, each in enumerate(needed))
    found = ", ".join(f"'{each}': m{at}" for at, each in enumerate(needed))
    exported = f"export const {{ {EXPORTS[name]} }} = module.exports;" if name in EXPORTS else ""
    return (
        f"{imports}const module = {{ exports: {{}} }}, exports = module.exports;\n"
        f"const require = (name) => ({{{found}}})[name];\n"
        f"{path.read_text(encoding='utf-8')}\n"
        f"export default module.exports;\n{exported}"
    )


def component() -> str:
    """Return the component of the documentation."""
    text = (ROOT / "docs" / "web-component.md").read_text(encoding="utf-8")
    return text.split("```js\n", 1)[1].split("```", 1)[0]


def host(inbox: Inbox, component: str) -> Starlette:
    urls = ", ".join(f'"{name}": "/modules/{name}"' for name in FILES)

    async def page(_: Request) -> Response:
        return HTMLResponse(PAGE % urls)

    async def script(web: Request) -> Response:
        name = web.path_params.get("name")
        return Response(module_of(name) if name else component, media_type="text/javascript")

    def authenticate(web: Request) -> str | None:
        return "ann" if web.headers.get("authorization") in (None, "Bearer secret") else None

    return Starlette(
        routes=[
            Route("/", page),
            Route("/component.js", script),
            Route("/modules/{name:path}", script),
            Mount("/requests", inbox_app(inbox, authenticate)),
        ]
    )


@asynccontextmanager
async def opened(app: Starlette) -> AsyncIterator[Any]:
    async with serving(app) as origin, browser() as launched:
        page = await (await launched.new_context(base_url=origin, locale="en-US")).new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
        assert errors == []


@pytest.mark.parametrize("token", ["undefined", '"secret"'])
async def test_a_request_is_answered_inside_a_react_application(token: str) -> None:
    module_of("react")  # or skip, before Chromium starts
    inbox = Inbox(MemoryStore())
    code = component().replace("{ token: undefined }", f"{{ token: {token} }}")
    async with asking(inbox, request(WHO)) as waiting, opened(host(inbox, code)) as page:
        waiting_for = (await pending(inbox))[0].id
        sent: list[Any] = []
        page.on("request", lambda each: sent.append(each))  # noqa: PLW0108 -- playwright takes no method of a builtin
        await page.goto("/")
        status = page.locator("[role=status]").first
        await page.get_by_role("link", name="mail").click()
        await page.get_by_text("Request: pending").wait_for()
        assert await violations(page) == []
        assert len([each for each in sent if each.url.endswith(waiting_for)]) == 1

        await page.get_by_label("Your name").fill("Ann")
        await page.get_by_role("button", name="Show all").click()
        await page.get_by_role("link", name="mail").click()
        assert await page.get_by_label("Your name").input_value() == "Ann"

        await page.get_by_role("button", name="Review").click()
        await page.locator("[data-awake] dl.answers").wait_for()
        await page.get_by_role("button", name="Send").click()
        await page.get_by_text("Request: answered").wait_for()
        assert await status.text_content() == "Request: answered"
        assert (await waiting.result()).content == {"name": "Ann"}
        assert ("Bearer secret" in {each.headers.get("authorization") for each in sent}) == (token != "undefined")
