"""What the user decided is what the server gets."""

from __future__ import annotations

from typing import Any

from mcp_elicit_client.testing.scenario_run import InconclusiveError, ScenarioRun
from mcp_elicit_client.testing.scenarios.base import ACTIONS, CONFIRM, MODEL, MODES, NAME, TEXT, Group, form, visit
from mcp_elicit_client.testing.user_action import UserActionName

GROUP = Group("what the user decided")

_ASKED: dict[str, dict[str, Any]] = {"form": form("name", name=TEXT), "url": visit(), "confirmation": CONFIRM}
_CONTENT = {"name": NAME}
_DECLINED = (
    'Decline is "User explicitly declined the request", cancel "User dismissed without making an explicit choice"'
)


def _decides(kind: str, deed: UserActionName) -> None:
    params = _ASKED[kind]

    async def run(trial: ScenarioRun) -> None:
        trial.needs_user()
        # Whoever says the same to everything has not understood the user.
        content = _CONTENT if kind == "form" else {}
        if deed == "accept":
            control = await trial.ask(params, "decline", content)
            if control.accepted:
                raise InconclusiveError("it accepts also what the user declines")
        else:
            await trial.accepts(params, content)
        reply = await trial.ask(params, deed, content)
        if reply.refused:
            raise InconclusiveError(f"such questions are not served: the server got {reply}")
        trial.expect(reply.action == deed, f"the user did {deed}, and the server got {reply}")

    what = {"form": "a form", "url": "a URL", "confirmation": "a form without fields"}[kind]
    known = {
        ("form", "cancel"): (
            "anthropics/claude-code#89858",
            "a host that reports one as the other misleads the server",
        ),
        ("form", "decline"): ("mcp-agent 0.2.6, elicitation/handler.py", "typed declines became cancels"),
        ("confirmation", "decline"): ("openai/codex#17164", "empty forms were approved by themselves"),
        ("confirmation", "accept"): ("PrefectHQ/fastmcp#3910", "a form without fields hung its client"),
    }.get((kind, deed))
    because = _DECLINED if known is None else f"{_DECLINED}; {known[1]}"
    source = ACTIONS if known is None else f"{ACTIONS}; {known[0]}"
    verb = {"accept": "An accept", "decline": "A decline", "cancel": "A cancel"}[deed]
    GROUP.add(
        f"{kind}-{deed}-is-{deed}",
        f"{verb} of {what} reaches the server as {verb.lower()}.",
        run,
        because=because,
        source=source,
        hang_fails=kind == "confirmation",
    )


for _kind in _ASKED:
    for _deed in ("accept", "decline", "cancel"):
        _decides(_kind, _deed)


def _no_content(deed: UserActionName) -> None:
    async def run(trial: ScenarioRun) -> None:
        trial.needs_user()
        await trial.accepts(_ASKED["form"], _CONTENT)
        reply = await trial.ask(_ASKED["form"], deed, _CONTENT)
        trial.expect(reply.result is not None, f"the server got {reply}")
        trial.expect("content" not in (reply.result or {}), f"the server got {reply}")

    GROUP.add(
        f"no-content-with-{deed}",
        f"A {deed} carries no content.",
        run,
        because="with decline and cancel the content is omitted: what the user took back is not the server's",
        source=f"{ACTIONS}; modelcontextprotocol/go-sdk#758",
    )


_no_content("decline")
_no_content("cancel")


@GROUP.scenario(
    "no-content-with-url",
    "The accept of a URL carries no content.",
    because='"For URL mode: The content field is omitted"',
    source=ACTIONS,
)
async def _url_content(trial: ScenarioRun) -> None:
    reply = await trial.accepts(visit())
    trial.expect("content" not in (reply.result or {}), f"the server got {reply}")


@GROUP.scenario(
    "accept-has-content",
    "The accept of a form carries content, also where nothing was filled in.",
    because='"For form mode: The content field contains the submitted data"; servers fail on an accept without it',
    source=f"{ACTIONS}; modelcontextprotocol/python-sdk#1284",
)
async def _accept_has_content(trial: ScenarioRun) -> None:
    reply = await trial.accepts(form(name=TEXT))
    trial.expect(isinstance(reply.content, dict), f"the server got {reply}")


@GROUP.scenario(
    "no-mode-is-a-form",
    "A request without a mode is a form.",
    because='"Clients MUST treat requests without a mode field as form mode"',
    source=MODES,
)
async def _no_mode(trial: ScenarioRun) -> None:
    params = form("name", name=TEXT)
    await trial.accepts(params, _CONTENT)
    del params["mode"]
    reply = await trial.ask(params, "accept", _CONTENT)
    trial.expect(reply.accepted, f"with its mode it is accepted, without the server got {reply}")


@GROUP.scenario(
    "unknown-keys-do-no-harm",
    "Keys that the specification does not know, in a request and in its schema, change nothing.",
    because="servers send $schema, additionalProperties, x-... keys and a _meta of their own",
    source="seen in requests of real servers",
)
async def _unknown_keys(trial: ScenarioRun) -> None:
    params = form("name", name=TEXT)
    await trial.accepts(params, _CONTENT)
    schema = {
        **params["requestedSchema"],
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "additionalProperties": False,
        "x-order": ["name"],
    }
    reply = await trial.ask({**params, "requestedSchema": schema, "_meta": {"vendor/key": 1}}, "accept", _CONTENT)
    trial.expect(
        reply.accepted and reply.content == _CONTENT, f"without them it is accepted, with them the server got {reply}"
    )


@GROUP.scenario(
    "thinking-takes-time",
    "An answer that takes the user a while arrives all the same.",
    because="a user thinks for longer than a program; a clock that runs meanwhile loses the answer",
    source="modelcontextprotocol/typescript-sdk#903, MCPJam/inspector#1603",
)
async def _thinking(trial: ScenarioRun) -> None:
    trial.needs_user()
    params, content = await trial.answerable()
    reply = await trial.ask(params, "accept", content, after=0.8)
    trial.expect(reply.accepted, f"the server got {reply}")


@GROUP.scenario(
    "two-questions-at-once",
    "Two questions at once get an answer each, and not each other's.",
    because="the SDK asks concurrently since 2.0; prompts without a queue fight for the user",
    source="modelcontextprotocol/python-sdk#2489, docker/docker-agent#3584",
)
async def _two(trial: ScenarioRun) -> None:
    trial.needs_user()
    first = form("fruit", fruit={"type": "string", "title": "A fruit"}, message="Which fruit?")
    second = form("city", city={"type": "string", "title": "A city"}, message="Which city?")
    await trial.accepts(first, {"fruit": "pear"})
    replies = await trial.ask_all([(first, "accept", {"fruit": "plum"}), (second, "accept", {"city": "Bern"})])
    got = [reply.content for reply in replies]
    trial.expect(got == [{"fruit": "plum"}, {"city": "Bern"}], f"the server got {replies[0]} and {replies[1]}")


@GROUP.scenario(
    "server-is-named",
    "The user is shown which server asks.",
    because='"Provide UI that makes it clear which server is requesting information" (MUST)',
    source=MODEL,
)
async def _server_named(trial: ScenarioRun) -> None:
    trial.needs_user()
    await trial.answerable()
    trial.shows("word-4711")
    trial.expect(
        trial.under_test.server in trial.shown or trial.server.name in trial.shown,
        "the user is shown the question, and no name of a server",
    )


@GROUP.scenario(
    "message-is-shown",
    "The user is shown the server's message.",
    because='"makes it clear what information is being requested and why" (SHOULD)',
    source="2025-11-25, client/elicitation, Security Considerations",
)
async def _message_shown(trial: ScenarioRun) -> None:
    trial.needs_user()
    field = {"type": "string", "title": "colour-4711"}
    params = form("colour-4711", message="reason-4712", **{"colour-4711": field})
    await trial.ask(params, "accept", {"colour-4711": "red"})
    trial.shows("colour-4711")
    trial.expect("reason-4712" in trial.shown, "the user is shown the fields, and not the message")


@GROUP.scenario(
    "options-are-shown",
    "The user is shown the options of a choice.",
    because="a choice whose options are not shown cannot be made",
    source="FastMCP CLI, fastmcp/cli/client.py: no options, defaults or descriptions are shown",
)
async def _options_shown(trial: ScenarioRun) -> None:
    trial.needs_user()
    size = {"type": "string", "title": "Size 4711", "enum": ["petite", "grande"]}
    await trial.ask(form("size", size=size, message="Which size, 4711?"), "accept", {"size": "grande"})
    trial.shows("4711")
    trial.expect(
        "petite" in trial.shown and "grande" in trial.shown, "the user is shown the question, and not its options"
    )
