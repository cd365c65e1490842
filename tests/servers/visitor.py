"""
A server that sends its users to URLs, and is not always nice about it.

What it sees, it writes line by line into the file that ``ELICIT_SEEN`` names,
which also survives its death.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import mcp.types
from mcp.server.lowlevel import Server

from tests.servers.serving import MCP_2, serve

NAME = "visitor"
FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
URL = "https://login.example.com/start"


@dataclass
class Asks:
    """What a tool returns in place of a result (2026-07-28)."""

    questions: dict[str, Any]
    state: str | None = None


class RefusalError(Exception):
    def __init__(self, code: int, data: Any) -> None:
        super().__init__("refused")
        self.code = code
        self.data = data


@dataclass
class Peer:
    """The client, in one call."""

    session: Any
    request_id: Any
    answers: dict[str, Any]
    state: str | None
    rounds: bool
    progress_token: Any = None

    async def form(self, message: str = "Who are you?") -> dict[str, Any]:
        return wire(await self.session.elicit_form(message, FORM, self.request_id))

    async def url(self, url: str, elicitation_id: str) -> dict[str, Any]:
        return wire(await self.session.elicit_url("Please sign in", url, elicitation_id, self.request_id))

    async def complete(self, elicitation_id: str) -> None:
        await self.session.send_elicit_complete(elicitation_id, related_request_id=self.request_id)

    async def progress(self, progress: float) -> None:
        if self.progress_token is not None:
            await self.session.report_progress(progress, 2.0, f"Step {progress:.0f}")


def wire(model: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    dumped.pop("resultType", None)
    return dumped


def visit(url: str = URL, elicitation_id: str = "e1", **more: Any) -> dict[str, Any]:
    return {"mode": "url", "message": "Please sign in", "url": url, "elicitationId": elicitation_id, **more}


def asked_url(url: str = URL) -> dict[str, Any]:
    return {"mode": "url", "message": "Please sign in", "url": url}


def asked_form(message: str = "Who are you?") -> dict[str, Any]:
    return {"mode": "form", "message": message, "requestedSchema": FORM}


class Tools:
    """One server's memory, and what its tools do."""

    def __init__(self, seen: Callable[[str], None]) -> None:
        self.seen = seen
        self.calls: Counter[str] = Counter()
        self.tasks: list[asyncio.Task[None]] = []

    async def run(self, name: str, arguments: dict[str, Any], peer: Peer) -> dict[str, Any] | Asks:
        self.calls[name] += 1
        self.seen(f"{name} {json.dumps(peer.answers)}" if peer.answers else name)
        try:
            result: dict[str, Any] | Asks = await getattr(self, name)(peer, **arguments)
        except BaseException as error:
            is_cancelled = isinstance(error, anyio.get_cancelled_exc_class())
            self.seen(f"{name} ended by {'cancellation' if is_cancelled else type(error).__name__}")
            raise
        if isinstance(result, dict):
            self.seen(f"{name} done")
        return result

    async def url(self, peer: Peer, url: str = URL, *, early: bool = False) -> Any:
        if peer.rounds:
            return {"got": peer.answers["q"]} if peer.answers else Asks({"q": asked_url(url)}, "s")
        if early:
            await peer.complete("e1")
        answer = await peer.url(url, "e1")
        self.seen(f"answer {answer['action']}")
        if not early:
            await peer.complete("e1")
        return {"got": answer}

    async def form(self, peer: Peer) -> Any:
        if peer.rounds:
            return {"got": peer.answers["q"]} if peer.answers else Asks({"q": asked_form()}, "s")
        answer = await peer.form()
        self.seen(f"answer {answer['action']}")
        return {"got": answer}

    async def fail(self, peer: Peer, code: int = -32000) -> Any:
        """Ask once, and then fail with an error that has *code*."""
        if peer.rounds and not peer.answers:
            return Asks({"q": asked_form()}, "s")
        if not peer.rounds:
            await peer.form()
        raise RefusalError(code, None)

    async def refuse(self, peer: Peer) -> Any:
        """Ask once, and then return a result that is an error."""
        if not peer.answers:
            return Asks({"q": asked_form()}, "s")
        return {"error": "fully booked"}

    async def required(
        self,
        peer: Peer,
        urls: list[str],
        *,
        times: int = 1,
        complete: str = "",
        key: str = "required",
        fresh: bool = False,
    ) -> Any:
        """
        Want *urls* visited first, *times* times; say early that they are finished.

        Calls are counted by *key*.  Each call makes *fresh* URLs with the same IDs.
        """
        self.calls[key] += key != "required"
        urls = [f"{url}?state={self.calls[key]}" for url in urls] if fresh else urls
        if self.calls[key] > times:
            return {"calls": self.calls[key]}
        ids = [f"e{number}" for number, _ in enumerate(urls)]
        if complete == "early":
            for each in ids:
                await peer.complete(each)
        raise RefusalError(-32042, {"elicitations": [visit(url, each) for url, each in zip(urls, ids, strict=True)]})

    async def again(self, peer: Peer, mark: str) -> Any:
        """Ask twice; the second question names the number of calls.  The first call with an answer waits for *mark*."""
        if not peer.answers:
            return Asks({"q": asked_form()}, "asked")
        if peer.state != "asked":
            return {"state": peer.state}
        self.calls["answers"] += 1
        number = self.calls["answers"]
        if number == 1:
            self.seen("waiting")
            await until_marked(mark)
        return Asks({"q": asked_form(f"Answer {number}?")}, f"answer {number}")

    async def form_then_required(self, peer: Peer) -> Any:
        """Require a URL in the round with the answer to a form, once."""
        if not peer.answers:
            return Asks({"q": asked_form()}, "s")
        if self.calls["form_then_required"] == 2:
            raise RefusalError(-32042, {"elicitations": [visit()]})
        return {"got": peer.answers, "state": peer.state}

    async def opened(self, peer: Peer, mark: str) -> Any:
        """Send the user to a URL, and report completion once the file *mark* is there."""
        answer = await peer.url(URL, "e1")
        self.seen("opened")
        await until_marked(mark)
        await peer.complete("e1")
        return {"got": answer}

    async def required_until(self, peer: Peer, mark: str) -> Any:
        """Require a URL until the file *mark* is there; report completion then."""
        if Path(mark).exists():
            return {"calls": self.calls["required_until"]}

        async def complete() -> None:
            await until_marked(mark)
            await peer.session.send_elicit_complete("e1")

        self.tasks.append(asyncio.create_task(complete()))
        raise RefusalError(-32042, {"elicitations": [visit()]})

    async def steps(self, peer: Peer) -> Any:
        """Report progress before and after a question."""
        if not peer.answers:
            await peer.progress(1)
        if peer.rounds and not peer.answers:
            return Asks({"q": asked_form()}, "s")
        answer = peer.answers["q"] if peer.rounds else await peer.form()
        await peer.progress(2)
        return {"got": answer}

    async def finish(self, peer: Peer, elicitation_id: str) -> Any:
        await peer.complete(elicitation_id)
        return {}

    async def malformed(self, _peer: Peer, data: Any) -> Any:
        raise RefusalError(-32042, data)

    async def looks(self, peer: Peer, times: int = 3) -> Any:
        """Ask for the same URL until looked at *times* times."""
        look = int(peer.state or "0")
        return {"looks": look} if look >= times else Asks({"q": asked_url()}, str(look + 1))

    async def polls(self, peer: Peer, times: int) -> Any:
        """Have nothing to ask and no result either, *times* times."""
        poll = int(peer.state or "0")
        return {"polls": poll} if poll >= times else Asks({}, str(poll + 1))

    async def signs_in(self, peer: Peer, times: int = 10_000) -> Any:
        """Ask for a URL, and then wait for the user, *times* times."""
        if peer.state is None:
            return Asks({"q": asked_url()}, "0")
        poll = int(peer.state)
        return {"polls": poll} if poll >= times else Asks({}, str(poll + 1))

    async def two(self, peer: Peer) -> Any:
        if not peer.answers:
            return Asks({"a": asked_form("First?"), "b": asked_form("Second?")}, "s")
        return {"got": [peer.answers["a"], peer.answers["b"]]}

    async def both(self, peer: Peer) -> Any:
        """Ask two questions at the same time with server-initiated requests."""
        got: dict[int, Any] = {}

        async def ask(number: int, message: str) -> None:
            got[number] = await peer.form(message)

        async with anyio.create_task_group() as group:
            group.start_soon(ask, 0, "First?")
            group.start_soon(ask, 1, "Second?")
        return {"got": [got[0], got[1]]}

    async def password(self, peer: Peer) -> Any:
        """Ask for a name and, at the same time, for a password."""
        if peer.answers:
            return {"got": peer.answers}
        hidden = {"type": "object", "properties": {"password": {"type": "string", "format": "password"}}}
        return Asks({"a": asked_form(), "b": {**asked_form("Your password?"), "requestedSchema": hidden}}, "s")

    async def order(self, peer: Peer, number: int) -> Any:
        """Ask who orders, and note the order: the same answer that arrives again is the same order."""
        if peer.rounds and not peer.answers:
            return Asks({"q": asked_form()}, f"order {number}")
        answer = peer.answers["q"] if peer.rounds else await peer.form()
        self.seen(f"placed {number} {json.dumps(answer, sort_keys=True)}")
        return {"number": number, "answer": answer}

    async def twice(self, peer: Peer) -> Any:
        """Ask two questions, one after the other."""
        if not peer.rounds:
            return {"got": [await peer.form("First?"), await peer.form("Second?")]}
        if peer.state is None:
            return Asks({"q": asked_form("First?")}, "[]")
        got = [*json.loads(peer.state), peer.answers["q"]]
        return {"got": got} if len(got) > 1 else Asks({"q": asked_form("Second?")}, json.dumps(got))

    async def crowd(self, _peer: Peer, count: int) -> Any:
        return Asks({f"q{number}": asked_form(f"{number}?") for number in range(count)}, "s")

    async def mixed(self, peer: Peer) -> Any:
        if peer.answers:
            return {"got": peer.answers}
        return Asks(
            {"a": asked_form(), "roots": "roots/list", "bad": asked_url("https://evil.example\\@a.example/")}, "s"
        )

    async def state(self, peer: Peer, size: int) -> Any:
        if peer.answers:
            return {"size": len(peer.state or ""), "same": peer.state == "\u00e9" * size}
        return Asks({"q": asked_form()}, "\u00e9" * size)

    async def nag(self, peer: Peer, *, reword: bool = False, times: int = 40, keys: str = "q") -> Any:
        """Ask for ever, or *times* times, whatever the answer is; the same under each of *keys*."""
        if peer.rounds:
            number = int(peer.state or "0")
            return Asks(dict.fromkeys(keys, asked_form(f"Please {number if reword else ''}")), str(number + 1))
        answers = [(await peer.form(f"Please {number if reword else ''}"))["action"] for number in range(times)]
        return {"got": answers}

    async def push(self, peer: Peer) -> Any:
        """Ask with a server-initiated request, whether or not the protocol version has them."""
        return {"got": await peer.form()}

    async def hang(self, peer: Peer) -> Any:
        """Ask, and do nothing for ever with the answer."""
        if peer.rounds and not peer.answers:
            return Asks({"q": asked_form()}, "s")
        if not peer.rounds:
            await peer.form()
        self.seen("hanging")
        await anyio.sleep_forever()

    async def die(self, peer: Peer, mark: str, *, required: bool = False) -> Any:
        """Ask, and die once the file *mark* is there."""
        if peer.rounds:
            DYING.append(mark)
            return Asks({"q": asked_url()}, "s")
        if required:
            DYING.append(mark)
            raise RefusalError(-32042, {"elicitations": [visit()]})
        async with anyio.create_task_group() as group:
            group.start_soon(die_when_marked, mark)
            await peer.url(URL, "e1")

    async def withdraw(self, peer: Peer, mark: str, *, url: bool = False) -> Any:
        """Ask, and take the question back once the file *mark* is there."""
        async with anyio.create_task_group() as group:
            group.start_soon(*((peer.url, URL, "e1") if url else (peer.form,)))
            while not Path(mark).exists():
                await anyio.sleep(0.01)
            if not MCP_2:  # which does not tell it by itself
                types: Any = mcp.types
                params = {"requestId": peer.session._request_id - 1}
                notice = {"method": "notifications/cancelled", "params": params}
                cancelled = types.CancelledNotification.model_validate(notice)
                await peer.session.send_notification(types.ServerNotification(cancelled))
            group.cancel_scope.cancel()
        return {"withdrawn": True}

    async def stubborn(self, peer: Peer, mark: str) -> Any:
        """Ignore that the call is cancelled, and ask once the file *mark* is there."""
        with anyio.CancelScope(shield=True):
            self.seen("waiting")
            await until_marked(mark)
            with anyio.move_on_after(5):
                await peer.form("Delete all files?")
        return {}

    async def silent(self, _peer: Peer) -> Any:
        """Neither ask nor return."""
        await anyio.sleep_forever()

    async def slow(self, peer: Peer, mark: str) -> Any:
        """Return once the file *mark* is there, having asked nothing."""
        await until_marked(mark)
        return {"slow": True}

    async def echo(self, _peer: Peer, **arguments: Any) -> Any:
        return arguments


LISTED = os.environ.get("ELICIT_LISTED", "").split()
"""The names of the tools that are listed; most clients need no list."""

DYING: list[str] = []


async def until_marked(mark: str) -> None:
    while not Path(mark).exists():
        await anyio.sleep(0.01)


async def die_when_marked(mark: str) -> None:
    await until_marked(mark)
    os._exit(3)


async def die_later() -> None:
    while not DYING:
        await anyio.sleep(0.01)
    await die_when_marked(DYING[0])


def log() -> Callable[[str], None]:
    path = os.environ.get("ELICIT_SEEN")

    def seen(line: str) -> None:
        if path:
            with Path(path).open("a") as file:
                file.write(f"{line}\n")

    return seen


def capabilities(client: Any) -> Any:
    elicitation = None if client is None else client.elicitation
    return None if elicitation is None else wire(elicitation)


def content(result: dict[str, Any]) -> list[Any]:
    return [mcp.types.TextContent(type="text", text=json.dumps(result))]


def build(seen: Callable[[str], None] | None = None) -> Any:
    """Make the server; *seen* takes the place of the file."""
    tools = Tools(seen or log())
    return build_for_mcp_2(tools) if MCP_2 else build_for_mcp_1(tools)


def build_for_mcp_1(tools: Tools) -> Any:
    types: Any = mcp.types
    server: Any = Server(NAME)

    async def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        import mcp.shared.exceptions

        exceptions: Any = mcp.shared.exceptions
        context = server.request_context
        if name == "caps":
            return {"elicitation": capabilities(context.session.client_params.capabilities)}
        try:
            result = await tools.run(name, arguments, Peer(context.session, context.request_id, {}, None, rounds=False))
        except RefusalError as refusal:
            error = types.ErrorData(code=refusal.code, message="refused", data=refusal.data)
            raise exceptions.McpError(error) from None
        assert isinstance(result, dict)
        return result

    async def call_tool(request: Any) -> Any:
        result = await answer(request.params.name, request.params.arguments or {})
        return types.ServerResult(types.CallToolResult(content=content(result)))

    async def get_prompt(request: Any) -> Any:
        result = await answer(request.params.name, {})
        message = types.PromptMessage(role="user", content=content(result)[0])
        return types.ServerResult(types.GetPromptResult(messages=[message]))

    async def read_resource(request: Any) -> Any:
        result = await answer(request.params.uri.host, {})
        text = types.TextResourceContents(uri=request.params.uri, text=json.dumps(result))
        return types.ServerResult(types.ReadResourceResult(contents=[text]))

    async def list_tools(_request: Any) -> Any:
        return types.ServerResult(types.ListToolsResult(tools=[]))

    server.request_handlers[types.CallToolRequest] = call_tool
    server.request_handlers[types.GetPromptRequest] = get_prompt
    server.request_handlers[types.ReadResourceRequest] = read_resource
    server.request_handlers[types.ListToolsRequest] = list_tools
    return server


def build_for_mcp_2(tools: Tools) -> Any:
    types: Any = mcp.types
    server_class: Any = Server

    def question(asked: Any) -> Any:
        if asked == "roots/list":
            return types.ListRootsRequest(method="roots/list")
        return types.ElicitRequest.model_validate({"method": "elicitation/create", "params": asked})

    async def answer(name: str, arguments: dict[str, Any], context: Any, params: Any) -> Any:
        if name == "caps":
            declared = context.meta.get("io.modelcontextprotocol/clientCapabilities") if context.meta else None
            if declared is not None:
                return {"elicitation": declared.get("elicitation")}
            return {"elicitation": capabilities(context.session.client_params.capabilities)}
        rounds = context.protocol_version >= "2026-07-28"
        answers = {key: wire(each) for key, each in (params.input_responses or {}).items()} if rounds else {}
        state = params.request_state if rounds else None
        token = (context.meta or {}).get("progress_token")
        peer = Peer(context.session, context.request_id, answers, state, rounds, token)
        try:
            result = await tools.run(name, arguments, peer)
        except RefusalError as refusal:
            raise mcp.MCPError(refusal.code, "refused", refusal.data) from None  # type: ignore[attr-defined,unused-ignore]
        if isinstance(result, Asks):
            asked = {key: question(each) for key, each in result.questions.items()}
            return types.InputRequiredResult(input_requests=asked or None, request_state=result.state)
        return result

    async def call_tool(context: Any, params: Any) -> Any:
        result = await answer(params.name, params.arguments or {}, context, params)
        if not isinstance(result, dict):
            return result
        return types.CallToolResult(content=content(result), is_error="error" in result)

    async def get_prompt(context: Any, params: Any) -> Any:
        result = await answer(params.name, {}, context, params)
        if not isinstance(result, dict):
            return result
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content(result)[0])])

    async def read_resource(context: Any, params: Any) -> Any:
        result = await answer(str(params.uri).split("//")[1].strip("/"), {}, context, params)
        if not isinstance(result, dict):
            return result
        text = types.TextResourceContents(uri=params.uri, text=json.dumps(result))
        return types.ReadResourceResult(contents=[text], ttl_ms=0, cache_scope="private")

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in LISTED])

    return server_class(
        NAME,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_get_prompt=get_prompt,
        on_read_resource=read_resource,
    )


if __name__ == "__main__":
    import threading

    threading.Thread(target=lambda: anyio.run(die_later), daemon=True).start()
    serve(build())
