"""Wrong arguments fail when they are given, with a message that names the fix."""

from __future__ import annotations

import asyncio
import functools
import math
import re
from collections.abc import Callable, Coroutine
from datetime import timedelta, timezone
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from mcp import ClientSession

from mcp_elicit_client import (
    Answer,
    ChoiceField,
    ElicitationRegistry,
    Limits,
    RequestOptions,
    Server,
    TextField,
    UrlRules,
    apply_defaults,
    find_secrets,
    inspect_url,
    normalize_enum,
    parse_request,
    sanitize_text,
)
from mcp_elicit_client.audit import AuditLog
from mcp_elicit_client.audit import verify as verify_log
from mcp_elicit_client.calls import Caller, SuspendOptions
from mcp_elicit_client.core.schema.writer import to_params, to_schema
from mcp_elicit_client.dispatch import Dispatcher
from mcp_elicit_client.handlers.browser import BrowserHandler
from mcp_elicit_client.handlers.chat import ChatHandler, ChatLimits
from mcp_elicit_client.handlers.headless import HeadlessHandler
from mcp_elicit_client.handlers.langgraph import resume_value
from mcp_elicit_client.handlers.notebook import NotebookHandler
from mcp_elicit_client.handlers.terminal import TerminalHandler
from mcp_elicit_client.handlers.webhook import (
    DeferredAnswers,
    WebhookHandler,
    generate_secret,
    sign,
    verify_signature,
    webhook_authenticator,
)
from mcp_elicit_client.hosts import copilot, fastmcp, openai_codex
from mcp_elicit_client.hosts.google_adk import with_timeout
from mcp_elicit_client.hosts.langchain import wrap_session
from mcp_elicit_client.hosts.mcp_use import with_handler
from mcp_elicit_client.hosts.strands import run_in_loop
from mcp_elicit_client.inbox import Inbox, InboxHandler, PostgresStore, RedisStore, SqliteStore
from mcp_elicit_client.inbox.stores.memory import MemoryStore
from mcp_elicit_client.inbox.web import inbox_app
from mcp_elicit_client.policies import (
    AutomaticAnswers,
    Permissions,
    RememberedAnswers,
    answer_timeout,
    compose,
    cooldown_after_declines,
    flag_impersonation,
    form_fingerprint,
    hooks,
    one_at_a_time,
    protect_secrets,
    rate_limit,
    recommended,
)
from mcp_elicit_client.presentation.catalog import MessageCatalog
from mcp_elicit_client.presentation.input_parsing import parse_text
from mcp_elicit_client.presentation.opener import open_url
from mcp_elicit_client.presentation.url_prompts import completion_prompt, consent_prompt
from mcp_elicit_client.relay import Relay
from mcp_elicit_client.sdk.callback import elicitation_callback
from mcp_elicit_client.testing import CallbackUnderTest, FakeServer, ScriptedUser, run_scenario
from mcp_elicit_client.typing import Request

registry = ElicitationRegistry()

INBOX = Inbox(MemoryStore())
SESSION: Any = SimpleNamespace(call_tool=None)


async def ask(request: Request) -> Answer:
    return Answer.cancel(by="user", reason=request.message)


def not_async(request: Request) -> Answer:
    return Answer.cancel(by="user", reason=request.message)


async def generator(request: Request) -> Any:
    yield request


async def user() -> str:
    return "ann"


async def always(_request: Request) -> bool:
    return True


class Screen:
    def ask(self, request: Request) -> Answer:
        return not_async(request)

    def __call__(self, request: Request) -> Answer:
        return not_async(request)


class WithNotify(HeadlessHandler):
    def notify(self, notice: object) -> None:
        raise AssertionError(notice)


class Bound:
    async def ask(self, request: Request) -> Answer:
        return await ask(request)


async def nothing() -> Answer:
    return Answer.cancel(by="user")


async def two(_context: object, request: Request) -> Answer:
    return await ask(request)


async def keyword(*, request: Request) -> Answer:
    return await ask(request)


def call(client: Any = SESSION, **options: Any) -> None:
    asyncio.run(CALLER.call_tool(client, "book", **options))


CALLER = Caller(ask, "mail")


def user_of(_web: object) -> str:
    return "ann"


def webhook(secret: Any = None, **options: Any) -> WebhookHandler:
    return WebhookHandler("https://hooks.example", secret if not options else generate_secret(), **options)


def chat(**options: Any) -> ChatHandler:
    limits = ChatLimits(max_text=4096, max_label=60, max_input=4096)
    return ChatHandler(SimpleNamespace(limits=limits, send=AsyncMock(), edit=AsyncMock()), **options)


def relay(upstream: Any = "https://a.example", **options: Any) -> Relay:
    return Relay("mail", upstream, **options)


def connect(callback: Any) -> None:
    asyncio.run(FakeServer().connected(callback).__aenter__())


class PolicyWithoutHandler:
    def __call__(self, handler: Any) -> None:
        """Return no handler."""


def returns_sync(_handler: Any) -> Any:
    return not_async


def make_policy(option: object = None) -> Callable[[Any], Any]:
    def policy(handler: Any) -> Any:
        return handler if option else ask

    return policy


WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    # handlers
    "a sync function": (
        lambda any_: any_.on_elicitation(not_async),
        "`not_async` is not async. Define the handler with",
    ),
    "a sync function for a mode": (lambda any_: any_.on_elicitation(mode="form")(not_async), "is not async"),
    "a sync lambda": (lambda any_: any_.on_elicitation(lambda _: None), "is not async"),
    "a sync method": (lambda any_: any_.on_elicitation(Screen().ask), "`Screen.ask` is not async"),
    "an object with a sync call": (lambda any_: any_.on_elicitation(Screen()), "type `Screen` is not async"),
    "a partial of a sync function": (lambda any_: any_.on_elicitation(functools.partial(not_async)), "is not async"),
    "an async generator": (lambda any_: any_.on_elicitation(generator), "is not async"),
    "a class": (
        lambda any_: any_.on_elicitation(TerminalHandler),
        "is a class, not a handler. Pass an instance, such as Te",
    ),
    "an object": (lambda any_: any_.on_elicitation(object()), "A handler is an async function that takes a request"),
    "a policy": (lambda any_: any_.on_elicitation(recommended()), "If it is a policy, pass it as `policy`"),
    "a policy factory": (lambda any_: any_.on_elicitation(recommended), "Pass `policy=recommended()`"),
    "a wrapped sync handler": (lambda any_: recommended()(any_(not_async)), "is not async"),
    "a handler whose notify is not async": (
        lambda any_: any_.on_elicitation(WithNotify()),
        "`notify` must be an async function",
    ),
    "None as the handler": (
        lambda any_: any_.on_elicitation(None),
        "None is not a handler. A handler is an async function that takes a request.",
    ),
    "a handler without parameters": (
        lambda any_: any_.on_elicitation(nothing),
        "`nothing` does not take one argument. Define the handler as `async def handle(request)`",
    ),
    "a callback as the handler": (lambda any_: Caller(any_(two), "mail"), "`two` does not take one argument"),
    "a wrapped callback": (lambda any_: recommended()(any_(two)), "`two` does not take one argument"),
    "a method of a class": (lambda any_: any_.on_elicitation(Bound.ask), "`Bound.ask` does not take one argument"),
    "a handler with a keyword": (lambda any_: any_.on_elicitation(keyword), "`keyword` does not take one argument"),
    # swapped arguments
    "a name as the handler": (
        lambda any_: any_.on_elicitation("mail"),
        "the server as `server`",
    ),
    "swapped arguments of Caller": (
        lambda any_: Caller(any_("mail"), any_(ask)),
        "handler first and the server second",
    ),
    "the handler as the server": (lambda any_: registry.callback(any_(ask)), "The server must be a string or a Server"),
    "swapped arguments of a callback": (
        lambda any_: elicitation_callback(any_("mail"), server=any_(ask)),
        "Pass the handler first and the server second",
    ),
    "a name as the handler of a callback": (
        lambda any_: elicitation_callback(any_("mail"), server="mail"),
        "'mail' is not a handler. .* Pass the handler first, and the server as `server`",
    ),
    "a name as the handler of a dispatcher": (lambda any_: Dispatcher(any_("mail")), "is not a handler"),
    # server names
    "no server": (lambda any_: registry.callback(any_(None)), "must be a string or a Server, not NoneType"),
    "a number": (lambda any_: registry.callback(any_(3)), "must be a string or a Server, not int"),
    "an empty name": (lambda _: registry.callback(""), "The server name is empty. Pass the name that your users see"),
    "a blank name": (lambda _: registry.callback(" \t"), "The server name is empty"),
    "a server without name": (lambda _: Caller(ask, Server(name=" ")), "The server name is empty"),
    "an empty name of a request": (lambda _: parse_request({"message": "m"}, server=""), "The server name is empty"),
    "a handler for an empty name": (lambda _: registry.on_elicitation(server=""), "Omit `server`"),
    "a handler for a Server": (
        lambda any_: any_.on_elicitation(server=Server(name="a")),
        "must be the name of a server",
    ),
    # policies
    "an un-called policy factory": (
        lambda any_: ElicitationRegistry(policy=any_(recommended)),
        "Call it: recommended().",
    ),
    "un-called with arguments": (lambda any_: ElicitationRegistry(policy=any_(rate_limit)), "Call it: rate_limit()."),
    "un-called within others": (lambda any_: compose(recommended(), any_(one_at_a_time)), "Call it: one_at_a_time()."),
    "un-called in recommended": (lambda any_: recommended(rate_limit=any_(rate_limit)), "Call it: rate_limit()."),
    "an un-called factory of the host": (
        lambda any_: ElicitationRegistry(policy=any_(make_policy)),
        r"The policy \(`make_policy`\) returned .* call it: make_policy\(\)",
    ),
    "a policy that returns a function that is not async": (
        lambda any_: ElicitationRegistry(policy=any_(returns_sync)),
        "returned `not_async`, which is not a handler. Define it with `async def`.",
    ),
    "a policy object that returns something else": (
        lambda any_: ElicitationRegistry(policy=any_(PolicyWithoutHandler())),
        r"The policy \(an object of type `PolicyWithoutHandler`\) returned None, .* Return an async function",
    ),
    "a handler as the policy": (lambda any_: ElicitationRegistry(policy=any_(ask)), "is async, so it is not a policy"),
    "a handler object as the policy": (
        lambda any_: compose(any_(HeadlessHandler())),
        "is async, so it is not a policy",
    ),
    "permissions as the policy": (lambda any_: compose(any_(Permissions())), "Pass its method `policy`"),
    "the class of a log as the policy": (lambda any_: compose(any_(AuditLog)), "is a class, not a policy"),
    "a string as the policy": (lambda any_: compose(any_("ask")), "is not a policy"),
    "rates in place of a policy": (
        lambda any_: recommended(rate_limit=any_(["5/minute"])),
        re.escape('`rate_limit` must be a policy, such as `rate_limit(["5/minute"])`, not list'),
    ),
    "an action in place of a policy": (
        lambda any_: recommended(secrets=any_("warn")),
        re.escape('such as `protect_secrets(action="warn")`, not str'),
    ),
    "a path in place of a policy": (
        lambda any_: recommended(audit=any_("audit.jsonl")),
        re.escape("such as `AuditLog(path).policy`, not str"),
    ),
    "a policy in place of seconds": (
        lambda any_: recommended(answer_timeout=any_(answer_timeout(60))),
        "must be a number of seconds, not a policy",
    ),
    "a caller as the handler": (lambda any_: any_.on_elicitation(CALLER), "Pass its attribute `handler`"),
    # texts, functions
    "a rate as one string": (lambda _: rate_limit("5/minute"), r"`rates` must be .* Pass \['5/minute'\]"),
    "a rate of the server as one string": (lambda _: rate_limit(server_rates="9/hour"), "`server_rates` must be"),
    "a name as one string": (lambda _: flag_impersonation(known_names="mail"), "`known_names` must be"),
    "a name as one string in recommended": (lambda _: recommended(known_names="mail"), "`known_names` must be"),
    "a server as one string": (lambda _: HeadlessHandler(accept_defaults_from="ci"), "`accept_defaults_from` must be"),
    "a mode as one string": (lambda any_: RequestOptions(modes=any_("form")), "`modes` must be a collection"),
    "an async user": (lambda any_: registry.callback("mail", user=any_(user)), "`user` must not be async"),
    "an async predicate": (lambda any_: any_.on_elicitation(when=always), "`when` must not be async"),
    "a predicate that is no function": (lambda any_: any_.on_elicitation(when=True), "`when` must be a function"),
    "a predicate without parameters": (
        lambda any_: any_.on_elicitation(when=lambda: True),
        "`when` must be a function that can be called as `when(request)`",
    ),
    "a user with a parameter": (
        lambda any_: registry.callback("mail", user=any_(lambda context: context)),
        "`user` must be a function that can be called as `user()`",
    ),
    "a hook with a wrong parameter": (lambda any_: hooks(before=any_(two)), "can be called as `before(request)`"),
    "a hook with too few parameters": (lambda any_: hooks(after=any_(ask)), "called as `after(request, answer)`"),
    "a confirmation with too few parameters": (
        lambda any_: protect_secrets(confirm=any_(always)),
        "can be called as `confirm(request, findings)`",
    ),
    "a sync function for new requests": (
        lambda any_: InboxHandler(INBOX, on_pending=any_(lambda _owner, _id: None)),
        "`on_pending` must be an async function",
    ),
    "a function for new requests with too few parameters": (
        lambda any_: InboxHandler(INBOX, on_pending=any_(always)),
        "`on_pending` must be a function that can be called as `on_pending(owner, entry_id)`",
    ),
    "a sync hook": (lambda any_: hooks(before=any_(not_async)), "`before` must be an async function"),
    "a sync confirmation": (
        lambda any_: protect_secrets(confirm=any_(not_async)),
        "`confirm` must be an async function",
    ),
    "an unknown action": (lambda any_: protect_secrets(action=any_("Refuse")), '`action` must be "refuse" or "warn"'),
    "a store as the inbox": (lambda any_: InboxHandler(any_(MemoryStore())), "Pass Inbox\\(store\\)"),
    "an async owner": (lambda any_: InboxHandler(INBOX, any_(user)), "must be a string or None"),
    # options
    "a limit as text": (
        lambda any_: Limits(max_fields=any_("x")),
        "`max_fields` must be an int of at least 0, not 'x'",
    ),
    "a limit that is a bool": (
        lambda _: Limits(max_options=True),
        "`max_options` must be an int",
    ),
    "a limit that is a float": (lambda any_: Limits(max_answer=any_(1.5)), "`max_answer` must be an int"),
    "a switch as text": (lambda any_: Limits(check_patterns=any_("no")), "`check_patterns` must be bool, not str"),
    "a rule as text": (lambda any_: UrlRules(allow_loopback=any_("no")), "`allow_loopback` must be bool, not str"),
    "a rule as a number": (lambda any_: UrlRules(allow_private=any_(1)), "`allow_private` must be bool, not int"),
    "limits as a mapping": (lambda any_: RequestOptions(limits=any_({})), "`limits` must be Limits, not dict"),
    "limits of a registry": (lambda any_: ElicitationRegistry(limits=any_(None)), "`limits` must be Limits, not None"),
    "no rules": (lambda any_: RequestOptions(url_rules=any_(None)), "`url_rules` must be UrlRules, not None"),
    "a report as text": (lambda any_: RequestOptions(report_outcome=any_("on")), "`report_outcome` must be bool"),
    "a mode as a number": (lambda any_: RequestOptions(modes=any_(3)), "`modes` must be a collection of strings"),
    "modes in a list": (lambda any_: RequestOptions(modes=any_([["form"]])), "`modes` must be a collection of strings"),
    # calls
    "limits in place of options": (
        lambda any_: Caller(ask, "mail", request_options=any_(Limits())),
        "`request_options` must be RequestOptions or None, not Limits",
    ),
    "a mode of a caller as one string": (
        lambda any_: Caller(ask, "mail", modes=any_("form")),
        "`modes` must be",
    ),
    "a maximum as text": (lambda any_: Caller(ask, "mail", max_questions=any_("3")), "`max_questions` must be an int"),
    "no maximum": (lambda any_: Caller(ask, "mail", max_rounds=any_(None)), "`max_rounds` must be an int"),
    "no client": (lambda any_: call(any_(None)), "`client` must be a connected ClientSession or Client, not None"),
    "a name in place of the client": (lambda any_: call(any_("book")), "`client` must be a connected ClientSession"),
    "a timeout as text": (lambda any_: call(timeout=any_("3")), "`timeout` must be a number above 0 or None, not '3'"),
    "a timeout that is a bool": (lambda any_: call(timeout=any_(True)), "`timeout` must be a number above 0 or None"),
    "a timedelta": (lambda any_: call(answer_timeout=any_(timedelta(1))), "`answer_timeout` must be a number above 0"),
    "metadata as a list": (lambda any_: call(meta=any_([1])), "`meta` must be Mapping or None, not list"),
    "waiting as text": (lambda any_: call(wait=any_("no")), "`wait` must be bool, not str"),
    "a progress callback for one number": (
        lambda any_: call(progress_callback=any_(ask)),
        "can be called as `progress_callback(progress, total, message)`",
    ),
    "a sync progress callback": (
        lambda any_: call(progress_callback=any_(not_async)),
        "`progress_callback` must be an async function",
    ),
    "a sync function for the status": (
        lambda any_: call(on_task_status=any_(not_async)),
        "`on_task_status` must be an async function",
    ),
    "a task that is a number": (
        lambda any_: asyncio.run(CALLER.resume_task(any_(3), SESSION)),
        "`task` must be TaskHandle or str, not int",
    ),
    "no call": (
        lambda any_: asyncio.run(CALLER.resume(any_(None), SESSION, SuspendOptions(INBOX))),
        "`call_id` must be str, not None",
    ),
    "a command as a list": (
        lambda any_: CALLER.connect(any_(["python", "server.py"])),
        "`server` must be a URL, StdioServerParameters, a transport or a server, not list",
    ),
    "no server to connect to": (lambda any_: CALLER.connect(any_(None)), "`server` must be a URL"),
    "a message handler without parameters": (
        lambda any_: CALLER.message_handler(any_(nothing)),
        "can be called as `message_handler(message)`",
    ),
    "a sync message handler": (
        lambda any_: CALLER.message_handler(any_(not_async)),
        "`message_handler` must be an async function",
    ),
    "a store to suspend in": (
        lambda any_: SuspendOptions(any_(MemoryStore())),
        "`inbox` must be Inbox, not MemoryStore",
    ),
    "an owner that is a number": (lambda any_: SuspendOptions(INBOX, owner=any_(3)), "`owner` must be str or None"),
    "a reference that is a number": (
        lambda any_: SuspendOptions(INBOX, reference=any_(3)),
        "`reference` must be str",
    ),
    "a timeout to resume as text": (
        lambda any_: SuspendOptions(INBOX, resume_timeout=any_("9")),
        "`resume_timeout` must be a number above 0 and at most 31622400, not '9'",
    ),
    # functions
    "a URL that is a number": (lambda any_: inspect_url(any_(3)), "`url` must be str, not int"),
    "a schema that is no mapping": (lambda any_: normalize_enum(any_("x")), "`schema` must be Mapping, not str"),
    "rules for a URL as a dictionary": (
        lambda any_: inspect_url("https://a.example/", any_({})),
        "`rules` must be UrlRules, not dict",
    ),
    "no text to sanitize": (lambda any_: sanitize_text(any_(None)), "`text` must be str, not NoneType"),
    "the value of an option": (
        lambda any_: ChoiceField(name="a", title="A").label_of(any_("x")),
        "`choice` must be Choice, not str. Pass one of `choices`",
    ),
    "a form to ask for consent": (
        lambda any_: consent_prompt(any_(parse_request({"message": "m"}, server="mail"))),
        "`request` must be UrlRequest, not FormRequest",
    ),
    "a form to wait for": (lambda any_: completion_prompt(any_(3)), "`request` must be UrlRequest, not int"),
    "params to write as params": (
        lambda any_: to_params(any_({"message": "m"})),
        "`request` must be FormRequest or UrlRequest, not dict",
    ),
    "a cursor that is a number": (
        lambda any_: asyncio.run(INBOX.list("ann", cursor=any_(3))),
        "`cursor` must be str or None, not int",
    ),
    "content as a list": (
        lambda any_: Answer.accept(any_([1]), by="host"),
        "`content` must be a mapping or None, not list",
    ),
    # user interfaces
    "no servers": (lambda any_: HeadlessHandler(accept_defaults_from=any_(3)), "`accept_defaults_from` must be a coll"),
    "servers without a name": (lambda any_: HeadlessHandler(accept_defaults_from=any_([3])), "of strings, not [3]"),
    "an answer timeout as text": (
        lambda any_: BrowserHandler(answer_timeout=any_("3")),
        "must be a number above 0 and at most",
    ),
    "an answer timeout that is a bool": (
        lambda _: BrowserHandler(answer_timeout=True),
        "must be a number above 0 and at most",
    ),
    "a language of pages": (
        lambda any_: BrowserHandler(messages=any_("de")),
        "`messages` must be MessageCatalog or None",
    ),
    "a sync opener": (lambda any_: BrowserHandler(open_file=any_(not_async)), "`open_file` must be an async function"),
    "an async printer": (lambda any_: BrowserHandler(show_url=any_(ask)), "`show_url` must not be async"),
    "a directory that is a number": (
        lambda any_: BrowserHandler(directory=any_(3)),
        "`directory` must be str or PathLike",
    ),
    "a console": (
        lambda any_: TerminalHandler(console=any_(3)),
        "`console` must be an object with the method `ask`, such as a `Console`",
    ),
    "a sync browser": (lambda any_: TerminalHandler(open_url=any_(not_async)), "`open_url` must be an async function"),
    "a sync clipboard": (
        lambda any_: TerminalHandler(copy_url=any_(not_async)),
        "`copy_url` must be an async function",
    ),
    "the name of a theme": (lambda any_: TerminalHandler(theme=any_("dark")), "`theme` must be Theme or None, not str"),
    "the name of a language": (
        lambda any_: TerminalHandler(messages=any_("de")),
        "`messages` must be MessageCatalog or",
    ),
    "a mouse as text": (lambda any_: TerminalHandler(mouse=any_("yes")), "`mouse` must be bool, not str"),
    "a language of web pages": (
        lambda any_: inbox_app(INBOX, user_of, messages=any_("de")),
        "not the string 'de'. For one language, pass MessageCatalog.for_language('de').",
    ),
    "a language of a notebook": (
        lambda any_: NotebookHandler(messages=any_("de")),
        "`messages` must be MessageCatalog or",
    ),
    "chat without limits": (
        lambda any_: ChatHandler(any_(SimpleNamespace(send=AsyncMock(), edit=AsyncMock()))),
        "`platform.limits` must be ChatLimits, not NoneType",
    ),
    "chat that cannot edit": (
        lambda any_: ChatHandler(any_(SimpleNamespace(send=AsyncMock()))),
        "`platform.edit` must be an async function, not None",
    ),
    "chat that sends without a person": (
        lambda any_: ChatHandler(any_(SimpleNamespace(send=ask))),
        "`platform.send` must be a function that can be called as `platform.send(person, message)`",
    ),
    "no chat": (
        lambda any_: ChatHandler(any_("slack")),
        "`platform` must be an object with the method `send`, such as a `ChatPlatform`",
    ),
    "a time zone as an object": (
        lambda any_: chat(time_zone=any_(timezone.utc)),
        "`time_zone` must be str or None, not timezone",
    ),
    # webhooks
    "a secret as bytes": (lambda any_: webhook(any_(b"x" * 32)), "`secret` must be str, not bytes"),
    "secrets as bytes": (lambda any_: webhook(any_([b"x" * 32])), "`secret` must be str, not bytes"),
    "no secret": (lambda any_: webhook(any_(None)), "`secret` must be str or Sequence, not None"),
    "an unknown purpose of a signature": (
        lambda any_: sign(b"{}", "id", generate_secret(), purpose=any_("reply")),
        '`purpose` must be "question" or "answer", not',
    ),
    "a body to sign as text": (lambda any_: sign(any_("{}"), "id", generate_secret()), "`body` must be bytes"),
    "an ID to sign that is a number": (lambda any_: sign(b"", any_(3), generate_secret()), "`message_id` must be str"),
    "headers of ASGI": (
        lambda any_: verify_signature(b"", any_([(b"webhook-id", b"1")]), generate_secret()),
        "`headers` must be an object with the method `items`, such as those of the request, not an object of type",
    ),
    "a limit of a chat as text": (
        lambda any_: ChatLimits(max_text=any_("9"), max_label=9, max_input=9),
        "`max_text` must be an int of at least 0, not '9'",
    ),
    "limits of a dialog as a dictionary": (
        lambda any_: ChatLimits(max_text=9, max_label=9, max_input=9, dialog=any_({})),
        "`dialog` must be DialogLimits or None, not dict",
    ),
    "an async escape": (
        lambda any_: ChatLimits(max_text=9, max_label=9, max_input=9, escape=any_(always)),
        "`escape` must not be async",
    ),
    "values to resume with as a list": (
        lambda any_: resume_value({"question": "q"}, "accept", any_([1])),
        "`content` must be Mapping or None, not list",
    ),
    "a part of the value of an interrupt": (
        lambda _: resume_value({"message": "Go on?"}, "decline"),
        "`question` is not the value of an interrupt",
    ),
    "limits as a dictionary": (
        lambda any_: parse_request({"message": "m"}, limits=any_({})),
        "`limits` must be Limits, not dict",
    ),
    "rules for URLs as a list": (
        lambda any_: parse_request({"message": "m"}, url_rules=any_([])),
        "`url_rules` must be UrlRules, not list",
    ),
    "an answer to search as a list": (
        lambda any_: find_secrets({"message": "m"}, any_(["a"])),
        "`content` must be Mapping or None, not list",
    ),
    "policies in a list": (
        lambda any_: ElicitationRegistry(policy=any_([rate_limit()])),
        "is not a policy. A policy is a function that takes a handler and returns one. Join several with `compose`.",
    ),
    "values as a list": (
        lambda any_: apply_defaults({"message": "m"}, any_([1])),
        "`partial` must be Mapping or None, not list",
    ),
    "a request to write as a schema": (
        lambda any_: to_schema(any_(parse_request({"message": "m"}))),
        "`form` must be Form, not FormRequest. Pass `request.form`.",
    ),
    "a URL to open as text": (
        lambda any_: asyncio.run(open_url(any_("https://a.example/"))),
        "`target` must be TargetUrl, not str. Pass `request.target`",
    ),
    "no text to parse": (
        lambda any_: parse_text(TextField(name="a", title="A"), any_(None)),
        "`text` must be str, not NoneType",
    ),
    "no language": (lambda any_: MessageCatalog.for_language(any_(None)), "`language` must be str, not NoneType"),
    "a checkpoint as text": (
        lambda any_: verify_log("audit.jsonl", checkpoint=any_("1:" + 64 * "0")),
        "`checkpoint` must be tuple or None, not str. Read a text with `Checkpoint.parse`.",
    ),
    "the key of a log as text": (
        lambda any_: verify_log("audit.jsonl", any_(32 * "k")),
        "`key` must be bytes or bytearray or None, not str",
    ),
    "a secret to verify as bytes": (
        lambda any_: webhook_authenticator(any_(b"x" * 32)),
        "`secret` must be str, not bytes",
    ),
    "an inbox as deferred": (lambda any_: webhook(deferred=any_(INBOX)), "`deferred` must be DeferredAnswers or None"),
    "no answer timeout": (
        lambda any_: webhook(answer_timeout=any_(None)),
        "`answer_timeout` must be a number above 0 and at most",
    ),
    "attempts as text": (lambda any_: webhook(attempts=any_("3")), "`attempts` must be an int of at least 1, not '3'"),
    "a client that is none": (lambda any_: webhook(client=any_(3)), "`client` must be AsyncClient or None, not int"),
    "a pause that is a number": (lambda any_: webhook(pause=any_(3)), "`pause` must be a function"),
    "a store of deferred answers": (
        lambda any_: DeferredAnswers(inbox=any_(MemoryStore()), url="https://a.example"),
        "`inbox` must be Inbox, not MemoryStore. Pass Inbox(store).",
    ),
    # the inbox
    "no store": (
        lambda any_: Inbox(any_("x")),
        "`store` must be an object with the method `put`, such as `MemoryStore()`, not the string 'x'",
    ),
    "the class of a store": (lambda any_: Inbox(any_(MemoryStore)), "not `MemoryStore`"),
    "a key as text": (lambda any_: Inbox(MemoryStore(), any_("text" * 9)), "`key` must be bytes or bytearray, not str"),
    "a history as text": (
        lambda any_: MemoryStore(max_history=any_("3")),
        "`max_history` must be an int of at least 0",
    ),
    "no time": (
        lambda any_: MemoryStore(history_ttl=any_(None)),
        "`history_ttl` must be a number of at least 0, not None",
    ),
    "a clock that is a number": (lambda any_: MemoryStore(clock=any_(3)), "`clock` must be a function"),
    "a file that is a number": (lambda any_: SqliteStore(any_(3)), "`path` must be str or PathLike, not int"),
    "a history of a file": (lambda any_: SqliteStore("x", max_history=any_("3")), "`max_history` must be an int"),
    "a lock timeout as text": (
        lambda any_: SqliteStore("x", lock_timeout=any_("3")),
        "`lock_timeout` must be a number",
    ),
    "a store for an app": (
        lambda any_: inbox_app(any_(MemoryStore()), user_of),
        "`inbox` must be Inbox, not MemoryStore",
    ),
    "a user in place of a function": (lambda any_: inbox_app(INBOX, any_("ann")), "`authenticate` must be a function"),
    "a function without parameters": (
        lambda any_: inbox_app(INBOX, any_(lambda: "ann")),
        "`authenticate` must be a function that can be called as `authenticate(web)`",
    ),
    "one origin": (lambda _: inbox_app(INBOX, user_of, origins="https://a.example"), "`origins` must be a collection"),
    "a page as text": (
        lambda any_: inbox_app(INBOX, user_of, single_request=any_("no")),
        "`single_request` must be bool",
    ),
    "remembered as a switch": (
        lambda any_: inbox_app(INBOX, user_of, remembered=any_(True)),
        "`remembered` must be RememberedAnswers, not bool",
    ),
    "a language of an app": (
        lambda any_: inbox_app(INBOX, user_of, messages=any_("de")),
        "`messages` must be a function",
    ),
    # what policies take
    "no forms": (lambda any_: AutomaticAnswers(any_(3)), "`allowed` must be Mapping, not int"),
    "a server alone": (lambda any_: AutomaticAnswers(any_({"mail": {}})), "A key of `allowed` must be (server, form)"),
    "a form as JSON": (lambda any_: form_fingerprint(any_({})), "must be Form, not dict. Pass `request.form`"),
    "values that are none": (
        lambda any_: AutomaticAnswers(any_({("mail", "f"): 3})),
        "`allowed` must be Mapping, not int",
    ),
    "a file in place of permissions": (
        lambda any_: recommended(permissions=any_("x")),
        "`permissions` must be Permissions or None, not str",
    ),
    "the class of permissions": (
        lambda any_: recommended(permissions=any_(Permissions)),
        "must be Permissions or None",
    ),
    "automatic answers as a mapping": (lambda any_: recommended(automatic=any_({})), "`automatic` must be Autom"),
    "a switch for remembered answers": (lambda any_: recommended(remembered=any_(True)), "`remembered` must be Remem"),
    "a rate that is a number": (lambda any_: rate_limit(any_(3)), "`rates` must be a collection of strings, not int"),
    "an iterator of rates": (lambda any_: rate_limit(any_(iter(["5/minute"]))), "`rates` must be a collection"),
    "an iterator of servers": (
        lambda any_: HeadlessHandler(accept_defaults_from=any_(iter(["ci"]))),
        "`accept_defaults_from` must be a collection of strings",
    ),
    "an iterator of origins": (
        lambda any_: inbox_app(Inbox(MemoryStore()), user_of, origins=any_(iter(["https://app.example"]))),
        "`origins` must be a collection of strings",
    ),
    "an iterator of names": (
        lambda any_: flag_impersonation(known_names=any_(iter(["mail"]))),
        "`known_names` must be a collection of strings",
    ),
    "a storage that is a number": (lambda any_: rate_limit(storage=any_(3)), "`storage` must be str, not int"),
    "declines as text": (
        lambda any_: cooldown_after_declines(declines=any_("3")),
        "`declines` must be an int of at least 1",
    ),
    "a queue as text": (lambda any_: one_at_a_time(max_queued=any_("3")), "`max_queued` must be an int of at least 0"),
    "names that are numbers": (
        lambda any_: flag_impersonation(known_names=any_([3])),
        "`known_names` must be a collection",
    ),
    "a list of an owner that is a number": (
        lambda any_: asyncio.run(INBOX.list(any_(3))),
        "`owner` must be str, not int",
    ),
    "a closed inbox of a number": (
        lambda any_: asyncio.run(INBOX.history(any_(3))),
        "`owner` must be str, not int",
    ),
    "an ID that is None": (
        lambda any_: asyncio.run(INBOX.get("ann", any_(None))),
        "`entry_id` must be str, not NoneType",
    ),
    "a call without its client": (
        lambda any_: asyncio.run(CALLER.call_tool(any_("book"), any_({}))),
        "Pass the client first, then the name",
    ),
    "a server that is a number": (
        lambda any_: Permissions().set("ask", server=any_(3)),
        "`server` must be str or None",
    ),
    "a path that is a number": (lambda any_: Permissions(any_(3)), "`path` must be str or PathLike or None, not int"),
    "a log key as text": (
        lambda any_: AuditLog("x", key=any_("text" * 9)),
        "`key` must be bytes or bytearray, not str",
    ),
    "a log size as text": (lambda any_: AuditLog("x", max_bytes=any_("3")), "`max_bytes` must be an int of at least 1"),
    "a log switch as text": (
        lambda any_: AuditLog("x", include_values=any_("no")),
        "`include_values` must be bool, not str",
    ),
    # gateways and hosts
    "no upstream": (
        lambda any_: Relay("mail", any_(None)),
        "`upstream` must be a URL, StdioServerParameters, a transport",
    ),
    "an upstream function without parameters": (
        lambda any_: relay(any_(lambda: "x")),
        "can be called as `upstream(user)`",
    ),
    "one policy": (
        lambda any_: relay(policies=any_(recommended())),
        "`policies` must be Sequence, not function. Pass a li",
    ),
    "the user of a relay": (lambda any_: relay(user=any_("ann")), "`user` must be a function, not the string 'ann'"),
    "an async user of a relay": (lambda any_: relay(user=any_(always)), "`user` must not be async"),
    "a relay key as text": (
        lambda any_: relay(key=any_("text" * 9)),
        "`key` must be bytes or bytearray or None, not str",
    ),
    "a store of a relay": (
        lambda any_: relay(inbox=any_(MemoryStore())),
        "`inbox` must be Inbox or None, not MemoryStore",
    ),
    "limits of a relay": (
        lambda any_: relay(request_options=any_(Limits())),
        "`request_options` must be RequestOptions or",
    ),
    "a relay timeout as text": (
        lambda any_: relay(timeout=any_("3")),
        "`timeout` must be a number above 0 or None, not '3'",
    ),
    "no answer timeout of a relay": (
        lambda any_: relay(answer_timeout=any_(None)),
        "`answer_timeout` must be a number",
    ),
    "a session before its caller": (lambda any_: wrap_session(any_(SESSION), CALLER), "Pass the caller first and the"),
    "the class of a session": (
        lambda any_: wrap_session(CALLER, any_(ClientSession)),
        "`session` must be an object with the method `call_tool`, such as a `ClientSession`",
    ),
    "a URL in place of a client of mcp-use": (
        lambda any_: with_handler(any_("https://a.example"), ask),
        "`client` must be an object with the method `create_session`, such as an `MCPClient`",
    ),
    "a sync function for the clients of mcp-use": (
        lambda any_: with_handler(any_(SimpleNamespace(create_session=ask)), any_(not_async)),
        "`not_async` is not async",
    ),
    "parameters of a connection as a dictionary": (
        lambda any_: with_timeout(any_({})),
        "`params` must be an object with the method `model_copy`, such as `StdioConnectionParams`",
    ),
    "a caller in place of its class": (
        lambda any_: fastmcp.clients_from_config(ask, {}, caller=any_(CALLER)),
        "`caller` must be a function, not an object of type `Caller`",
    ),
    "a class in place of a caller": (
        lambda any_: fastmcp.client(any_(Caller), "https://a.example"),
        "`caller` must be Caller, not the class Caller.",
    ),
    "seconds as text": (
        lambda any_: with_timeout(any_(None), any_("9")),
        "`seconds` must be a number above 0, not '9'",
    ),
    "no event loop": (lambda any_: run_in_loop(ask, any_(3)), "`loop` must be AbstractEventLoop, not int"),
    "list of servers": (
        lambda any_: copilot.elicitation_handler(ask, servers=any_(["mail"])),
        "`servers` must be Mapping or None, not list",
    ),
    "server as a name": (
        lambda any_: copilot.elicitation_handler(ask, servers={"mail": any_("Mail")}),
        "`servers['mail']` must be Server, not str",
    ),
    "no other handler": (
        lambda any_: openai_codex.approval_handler(ask, any_(3)),
        "`otherwise` must be a function, not",
    ),
    "async other handler": (
        lambda any_: openai_codex.approval_handler(ask, any_(ask)),
        "`otherwise` must not be async",
    ),
    # tests of host applications
    "a handler in place of a callback": (
        lambda any_: connect(any_(ask)),
        "can be called as `callback(context, params)`. Pass `registry.callback(server)`.",
    ),
    "a registry in place of a callback": (lambda any_: connect(any_(registry)), "Pass `registry.callback(server)`."),
    "a name in place of a callback": (
        lambda any_: connect(any_("mail")),
        "`callback` must be a function, not the string",
    ),
    "the name of a fake server": (lambda any_: FakeServer(name=any_(3)), "`name` must be str, not int"),
    "a callback that is not wrapped": (
        lambda any_: asyncio.run(run_scenario(any_(two), "decline")),
        "`under_test` must be CallbackUnderTest, not function. Pass CallbackUnderTest(callback).",
    ),
    "no callback to test": (lambda any_: CallbackUnderTest(any_(None)), "`callback` must be Callable, not None"),
    "a list of answers": (
        lambda any_: ScriptedUser().answers(any_(["x"])),
        "`content` must be Mapping or None, not list",
    ),
    "a text without a field": (lambda any_: ScriptedUser().types(any_("x")), "`texts` must be Mapping, not str"),
    "a number that is typed": (
        lambda any_: ScriptedUser().types(any_({"age": 3})),
        "`age` must be str, not int. Use `answers` for other values.",
    ),
    "an error as text": (lambda any_: ScriptedUser().fails(any_("x")), "`error` must be Exception or None, not str"),
    "a time as text": (lambda any_: ScriptedUser().waits(any_("3")), "`until` must be a number of at least 0 or None"),
    "an event of asyncio": (lambda any_: ScriptedUser().waits(any_(asyncio.Event())), "pass an `anyio.Event`."),
    "an action as text": (lambda any_: ScriptedUser().follow(any_("accept")), "`action` must be UserAction, not str"),
}

OUT_OF_RANGE: dict[str, tuple[Callable[[], Any], str]] = {
    "an empty default user of an inbox": (
        lambda: InboxHandler(INBOX, default_user=""),
        "`default_user` must have 1 to 256 characters",
    ),
    "an empty default user of suspended calls": (
        lambda: SuspendOptions(INBOX, default_user=""),
        "`default_user` must have 1 to 256 characters",
    ),
    "an empty default user of a webhook": (
        lambda: DeferredAnswers(inbox=INBOX, url="https://a.example/", default_user=""),
        "`default_user` must have 1 to 256 characters",
    ),
    "an empty default user of the answers of a webhook": (
        lambda: webhook_authenticator(generate_secret(), default_user=""),
        "`default_user` must have 1 to 256 characters",
    ),
    "an empty default user of a chat": (lambda: chat(default_user=""), "`default_user` must have 1 to 256 characters"),
    "limit": (lambda: Limits(max_fields=-1), "`max_fields` must be an int of at least 0, not -1"),
    "maximum": (lambda: Caller(ask, "mail", max_retries=-1), "`max_retries` must be an int of at least 0, not -1"),
    "timeout": (lambda: call(timeout=0), "`timeout` must be a number above 0 or None, not 0"),
    "nan": (lambda: call(timeout=float("nan")), "`timeout` must be a number above 0 or None, not nan"),
    "answer timeout": (lambda: call(answer_timeout=-1), "`answer_timeout` must be a number above 0 or None, not -1"),
    "resume timeout": (lambda: SuspendOptions(INBOX, task_timeout=0), "`task_timeout` must be a number above 0"),
    "attempts": (lambda: webhook(attempts=0), "`attempts` must be an int of at least 1, not 0"),
    "history": (lambda: MemoryStore(max_history=-1), "`max_history` must be an int of at least 0, not -1"),
    "the URL of a file": (lambda: SqliteStore("sqlite:///inbox.db"), "such as inbox.db, not a URL"),
    "lease": (lambda: SqliteStore("x", lease_ttl=0), "`lease_ttl` must be a number above 0, not 0"),
    "origin": (
        lambda: inbox_app(INBOX, user_of, origins=["a.example"]),
        "such as 'https://app.example', not 'a.example'",
    ),
    "page": (lambda: inbox_app(INBOX, user_of, allowed_origins=["https://a.example/"]), "must contain origins"),
    "an origin in capital letters": (
        lambda: inbox_app(INBOX, user_of, origins=["https://App.example"]),
        "Use lower case, and omit paths and the default port.",
    ),
    "a default port": (
        lambda: inbox_app(INBOX, user_of, origins=["https://a.example:443"]),
        "origins as browsers send",
    ),
    "an international origin": (
        lambda: inbox_app(INBOX, user_of, allowed_origins=["https://bücher.example"]),
        "origins as browsers send them",
    ),
    "declines": (lambda: cooldown_after_declines(declines=0), "`declines` must be an int of at least 1, not 0"),
    "cooldown": (lambda: cooldown_after_declines(seconds=-1), "`seconds` must be a number above 0, not -1"),
    "remembering": (lambda: RememberedAnswers(seconds=math.inf), "`seconds` must be a number above 0 and at most"),
    "a storage": (lambda: rate_limit(storage="memorystore://"), "`storage` must be memory:// or a URL of Redis"),
    "a relay": (lambda: relay(answer_timeout=math.inf), "`answer_timeout` must be a number above 0 and at most"),
    "queue": (lambda: one_at_a_time(max_queued=-1), "`max_queued` must be an int of at least 0, not -1"),
    "log": (lambda: AuditLog("x", backup_count=-1), "`backup_count` must be an int of at least 0, not -1"),
    "mode": (
        lambda: Permissions().set("block", server="mail", mode="uri"),  # type: ignore[arg-type]
        '`mode` must be "form" or "url", not \'uri\'',
    ),
    "URL of Redis": (lambda: RedisStore("http://127.0.0.1"), "`url` must be a URL of Redis"),
    "option of Redis": (lambda: RedisStore("redis://127.0.0.1?tls=on"), "with known options"),
    "value of Redis": (lambda: RedisStore("rediss://127.0.0.1?ssl_cert_reqs=some"), "with known options"),
    "connections of Redis": (
        lambda: RedisStore("redis://127.0.0.1?max_connections=1"),
        "`max_connections` in `url` must be at least 2: one waits for messages.",
    ),
    "URL of PostgreSQL": (lambda: PostgresStore("http://127.0.0.1/db"), "`url` must be a URL of PostgreSQL"),
    "host of PostgreSQL": (lambda: PostgresStore("postgresql://["), "`url` must be a URL of PostgreSQL"),
    "calls": (lambda: relay(max_calls=0), "`max_calls` must be an int of at least 1, not 0"),
    "mode of connections": (lambda: relay(mode="lagacy"), "`mode` must be auto"),
    "idle timeout": (lambda: relay(idle_timeout=-1), "`idle_timeout` must be a number of at least 0, not -1"),
    "name of a time zone": (lambda: chat(time_zone="Europe/Berlim"), "`time_zone` 'Europe/Berlim' is not known"),
    "offset of a time zone": (lambda: chat(time_zone="+25:00"), "or an offset such as '+01:00'"),
    "empty time zone": (lambda: chat(time_zone=""), "`time_zone` '' is not known on this computer"),
    "URL": (lambda: CALLER.connect("python server.py"), "Pass a command as StdioServerParameters"),
}


class _Any:
    """Hides the types of arguments from the type checker: what a host without one could write."""

    def __call__(self, value: Any) -> Any:
        return value

    def __getattr__(self, name: str) -> Any:
        return getattr(ElicitationRegistry(), name)


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_a_wrong_argument_fails_when_it_is_given(case: tuple[Callable[..., Any], str]) -> None:
    give, message = case
    pattern = message if "\\" in message or "|" in message or ".*" in message else re.escape(message)
    with pytest.raises((TypeError, ValueError), match=pattern):
        give(_Any())


@pytest.mark.parametrize("case", OUT_OF_RANGE.values(), ids=OUT_OF_RANGE)
def test_a_wrong_value_fails_when_it_is_given(case: tuple[Callable[[], Any], str]) -> None:
    give, message = case
    with pytest.raises(ValueError, match=re.escape(message)):
        give()


def returning(request: Request) -> Coroutine[Any, Any, Answer]:
    return ask(request)


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*arguments: Any) -> Any:
        return function(*arguments)

    return wrapper


RIGHT: list[Any] = [
    ask,
    returning,
    decorated(ask),
    functools.partial(ask),
    Bound().ask,
    HeadlessHandler(),
    AsyncMock(return_value=Answer.cancel(by="user")),
    recommended()(ask),
    ElicitationRegistry(),
]


@pytest.mark.anyio
@pytest.mark.parametrize("handler", RIGHT, ids=lambda handler: type(handler).__name__)
async def test_every_kind_of_async_handler_is_accepted(handler: Any) -> None:
    outer = ElicitationRegistry(policy=recommended())
    outer.on_elicitation(handler)

    answer = await Dispatcher(outer).answer({"message": "m"}, server=Server(name="mail"))

    assert (answer.action, answer.by) in [("cancel", "user"), ("cancel", "unattended")]


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), 10**12])
@pytest.mark.parametrize(
    "use",
    [
        answer_timeout,
        lambda seconds: recommended(answer_timeout=seconds),
        lambda seconds: Inbox(MemoryStore(), answer_timeout=seconds),
        lambda seconds: BrowserHandler(answer_timeout=seconds),
        lambda seconds: NotebookHandler(answer_timeout=seconds),
        lambda seconds: WebhookHandler("https://hooks.example", generate_secret(), answer_timeout=seconds),
    ],
    ids=["answer_timeout", "recommended", "Inbox", "BrowserHandler", "NotebookHandler", "WebhookHandler"],
)
def test_a_time_in_which_no_request_can_be_answered_is_refused(use: Callable[[float], object], seconds: float) -> None:
    with pytest.raises(ValueError, match="must be a number above 0 and at most 31536000"):
        use(seconds)
