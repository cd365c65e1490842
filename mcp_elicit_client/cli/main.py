"""``mcp-elicit``: runs a command and returns its exit status."""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from collections.abc import Sequence

from mcp_elicit_client.cli import messages
from mcp_elicit_client.cli.messages import text
from mcp_elicit_client.cli.options import CommandFailedError, UsageError
from mcp_elicit_client.cli.parser import make_parser
from mcp_elicit_client.core.text import sanitize_text
from mcp_elicit_client.exceptions import RequestError

_FAILED = 1
_USAGE_ERROR = 2
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run the command.

    Args:
        argv: The arguments; None for those of the process.

    Returns:
        The exit status.
    """
    options = _parse(list(sys.argv[1:] if argv is None else argv))
    _configure_logging()
    try:
        if options.server_command and options.command != "call":
            raise UsageError(text(messages.COMMAND_NOT_ACCEPTED))  # noqa: TRY301 -- printed as the other errors
        return int(options.run(options))
    except UsageError as error:
        return _fail(error, _USAGE_ERROR)
    except (RequestError, CommandFailedError) as error:
        return _fail(error, _FAILED)
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of the output is gone.  Python must not complain when it flushes the stream.
        sys.stdout = None
        return _FAILED


def _parse(arguments: list[str]) -> argparse.Namespace:
    """Parse *arguments*; the server's command after ``--`` becomes `server_command`."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    options = make_parser().parse_args(arguments[:at])
    options.server_command = arguments[at + 1 :]
    return options


def _fail(error: Exception, status: int) -> int:
    print(text(messages.ERROR, reason=error), file=sys.stderr)
    return status


class _SanitizingFormatter(logging.Formatter):
    """Sanitizes log lines, which may quote a server."""

    def format(self, record: logging.LogRecord) -> str:
        return sanitize_text(super().format(record))


def _configure_logging() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(_SanitizingFormatter("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.ERROR, handlers=[handler])
    warnings.simplefilter("ignore")
