"""`ServerAddress`: how a command reaches a server, and what of that is stored with a suspended call."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

from mcp_elicit_client.calls._connect import Command
from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.common import CommandFailedError, UsageError
from mcp_elicit_client.core.secrets.in_answer import secret_values
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.presentation.quoting import quote_name
from mcp_elicit_client.sdk.http_transport import http_transport

_MAX_NAME = 80
_RANDOM = re.compile(r"(?=[^/]*[0-9])(?=[^/]*[A-Za-z])[A-Za-z0-9_+=~-]{16,}")
"""A long part with letters and digits, as keys have it."""

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"([!-~]([\t -~]*[!-~])?)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """
    How a server is reached.  Values of environment variables and headers are not part of it.

    Attributes:
        command: The command of a server process; empty for a URL.
        url: The URL of a server with streamable HTTP; empty for a command.
        directory: The working directory of the process.
        env: The names of environment variables to pass to the process.
        headers: The names of HTTP headers, with the environment variables
            that have their values.
    """

    command: Sequence[str] = ()
    url: str = ""
    directory: str = ""
    env: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> ServerAddress | None:
        """
        Return the address in the options; None without one.

        Raises:
            UsageError: If there are two, the command is empty, or an option
                does not fit the address or has no effect without one.
        """
        headers = _pairs(options.header)
        if options.url and options.server_command:
            raise UsageError(messages.SERVER_MISSING)
        if options.url:
            if options.env:
                raise UsageError(messages.OPTIONS_CONFLICT, first="--env", second="--url")
            _check_url(options.url)
            return cls(url=options.url, headers=headers)
        if options.server_command:
            if headers:
                raise UsageError(messages.OPTIONS_CONFLICT, first="--header", second="-- COMMAND")
            if not options.server_command[0].strip():
                raise UsageError(messages.SERVER_MISSING)
            return cls(command=tuple(options.server_command), directory=str(Path.cwd()), env=tuple(options.env))
        if options.env or headers or options.name:
            raise UsageError(messages.SERVER_MISSING)
        return None

    @property
    def name(self) -> str:
        """The name of the server, unless the user chose one: the address, without what may be secret."""
        if not self.may_contain_secrets:
            return self.text
        return _cut((urlsplit(self.url).hostname or "") if self.url else Path(self.command[0]).name)

    @property
    def text(self) -> str:
        """The address as it was typed, for names that are not stored."""
        return _cut(self.url or " ".join(self.command))

    @property
    def may_contain_secrets(self) -> bool:
        """True if a part of the address looks like a secret, so that it must not be stored."""
        if self.url:
            parts = urlsplit(self.url)
            return bool(parts.username or parts.password or parts.query or _has_key(parts.path.split("/")))
        return bool(secret_values({"command": " ".join(self.command)})) or _has_key(self.command[1:])

    def target(self, errlog: TextIO) -> Command | AbstractAsyncContextManager[Any] | str:
        """
        Return what `connect` takes, with the values of this process's environment.

        Raises:
            CommandFailedError: If an environment variable is not set, or
                cannot be the value of a header.
        """
        if self.command:
            env = {name: _variable(name) for name in self.env} or None
            return Command(self.command, errlog, env, self.directory or None)
        headers = {name: _header_value(variable) for name, variable in self.headers.items()}
        return http_transport(self.url, headers) if headers else self.url


def _cut(name: str) -> str:
    return sanitize_text(name, limit=_MAX_NAME, multiline=False)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise UsageError(messages.SERVER_URL)


def _has_key(parts: Sequence[str]) -> bool:
    return any(_RANDOM.fullmatch(piece) for part in parts for piece in re.split(r"[=:]", part))


def _pairs(assignments: Sequence[str]) -> dict[str, str]:
    """Return the headers of ``--header``, with the names of their environment variables."""
    found: dict[str, str] = {}
    for assignment in assignments:
        name, separator, variable = assignment.partition("=")
        if not (_HEADER_NAME.fullmatch(name) and separator and variable):
            raise UsageError(messages.HEADER_SHAPE)
        found[name] = variable
    return found


def _header_value(variable: str) -> str:
    """Return the value of a header.  It is checked here, since errors of HTTP libraries quote it."""
    value = _variable(variable)
    if not _HEADER_VALUE.fullmatch(value):
        raise CommandFailedError(messages.HEADER_VALUE, name=quote_name(variable))
    return value


def _variable(name: str) -> str:
    if name not in os.environ:
        raise CommandFailedError(messages.VARIABLE_MISSING, name=quote_name(name))
    return os.environ[name]
