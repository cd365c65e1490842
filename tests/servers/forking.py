"""
A process that has imported the SDK, and forks for each server that ``forked.py`` starts.

An import of the SDK takes a second, and the tests start some hundred servers.
The argument is the descriptor of a socket that listens; the process ends with
its standard input.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading

import mcp.server.lowlevel
import mcp.server.stdio  # noqa: F401

import mcp_elicit_client.relay
import mcp_elicit_client.sdk.callback  # noqa: F401
import tests.servers.serving  # noqa: F401


def main() -> None:
    listener = socket.socket(fileno=int(sys.argv[1]))
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # The system forgets servers that ended.
    while True:
        ready, _, _ = select.select([listener.fileno(), 0], [], [])
        if 0 in ready:
            break
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            become(connection)
            break
        connection.close()


def become(connection: socket.socket) -> None:
    """Become the server that was asked for over *connection*."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, descriptors, _, _ = socket.recv_fds(connection, 1, 3)
    for standard, descriptor in enumerate(descriptors):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    # The streams of this process remember whether its files were seekable; those of the server may differ.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    with connection.makefile() as lines:
        module, sys.argv[1:], folder, environment = json.loads(lines.readline())
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    connection.sendall(str(os.getpid()).encode())
    threading.Thread(target=end_with, args=[connection], daemon=True).start()
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def end_with(connection: socket.socket) -> None:
    """End this process once the other side of *connection* ended."""
    connection.recv(1)
    os._exit(1)


if __name__ == "__main__":
    main()
