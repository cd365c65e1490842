"""
Registrations that type checkers refuse: each line that ends in "error" has one.

Checked by `test_typing`, never run.
"""

# pyright: strict

from __future__ import annotations

from mcp import Client

from mcp_elicit_client import Answer, ElicitationRegistry, FormRequest, UrlRequest
from mcp_elicit_client.calls import Caller, SuspendOptions
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.policies import rate_limit, recommended
from mcp_elicit_client.sdk.callback import elicitation_callback
from mcp_elicit_client.typing import Request

registry = ElicitationRegistry()


async def form(request: FormRequest) -> Answer:
    return Answer.cancel(by="user", reason=str(request.form))


async def url(request: UrlRequest) -> Answer:
    return Answer.cancel(by="user", reason=str(request.target))


async def anything(request: Request) -> Answer:
    return Answer.cancel(by="user", reason=request.message)


def not_async(request: Request) -> Answer:
    return Answer.cancel(by="user", reason=request.message)


async def no_answer(request: Request) -> str:
    return request.message


registry.on_elicitation(form)  # error
registry.on_elicitation(url)  # error
registry.on_elicitation()(form)  # error
registry.on_elicitation(mode="url")(form)  # error
registry.on_elicitation(mode="form")(url)  # error
registry.on_elicitation(server="mail")(form)  # error
registry.on_elicitation(when=lambda request: bool(request.message))(form)  # error
registry.on_elicitation(mode="file")  # error
registry.on_elicitation(form, server="mail")  # error
registry.on_elicitation(form, mode="url")  # error
registry.on_elicitation(url, mode="form", server="mail")  # error
registry.on_elicitation(not_async)  # error
registry.on_elicitation(mode="form")(not_async)  # error
registry.on_elicitation(no_answer)  # error
registry.on_elicitation(HeadlessHandler)  # error
registry.on_elicitation("mail")  # error
registry.callback(form)  # error
registry.callback(None)  # error
ElicitationRegistry(policy=recommended)  # error
ElicitationRegistry(policy=anything)  # error
rate_limit(5)  # error
elicitation_callback(form, server="mail")  # error
elicitation_callback(anything)  # error
Caller("mail", anything)  # error
Caller(url, "mail")  # error


async def wrong_calls(client: Client, caller: Caller, suspend: SuspendOptions) -> None:
    await caller.call_tool(client, 5)  # error
    await caller.call_tool("https://mcp.example.com/mcp", "book")  # error
    await caller.call_tool(client, "book", timeout="5")  # error
    await caller.call_tool(client, "book", ["Monday"])  # error
    await caller.call_tool(client, "book", suspend=suspend.inbox)  # error
    await caller.call_tool(client, "book", progress_callback=5)  # error
    print((await caller.call_tool(client, "book", suspend=suspend)).content)  # error
    print((await caller.call_tool(client, "book", wait=False)).content)  # error
    print((await caller.get_prompt(client, "plan")).content)  # error
