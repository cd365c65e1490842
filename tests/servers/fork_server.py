"""Commands of servers that start without an import of the SDK; see ``forking.py``."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVERS = Path(__file__).parent
SOCKET = "ELICIT_FORK_SERVER"
"""The variable that names the socket of the fork server, if there is one."""


def server_command(module: str, script: Path | None = None) -> list[str]:
    """
    Return the command that starts *module* as a server; there may be arguments after it.

    Without a fork server, *script* starts instead, which need not be in the search path of the process.
    """
    path = os.environ.get(SOCKET)
    if path is None:
        return [sys.executable, "-m", module] if script is None else [sys.executable, str(script)]
    return [sys.executable, "-IS", str(SERVERS / "forked.py"), path, module]


@contextmanager
def fork_server() -> Iterator[None]:
    """Run a fork server for the processes that start from now on."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        os.environ[SOCKET] = str(Path(folder, "socket"))
        listener.bind(os.environ[SOCKET])
        listener.listen()
        with subprocess.Popen(
            [sys.executable, "-m", "tests.servers.forking", str(listener.fileno())],
            cwd=SERVERS.parent.parent,
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
            start_new_session=True,
        ):
            yield
        del os.environ[SOCKET]
