"""
Run a module of the tests' servers as ``python -m`` does, but as a fork of ``forking.py``.

The arguments are the socket of ``forking.py``, the name of the module and its arguments.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys


def main() -> None:
    path, module, *arguments = sys.argv[1:]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [b"\n"], [0, 1, 2])
        folder = os.getcwd()  # noqa: PTH109 - an import of pathlib takes as long as the rest
        started = [module, arguments, folder, dict(os.environ)]
        connection.sendall(json.dumps(started).encode() + b"\n")
        pid = int(connection.recv(20))
        signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
        connection.recv(1)  # The server sends nothing: the connection ends with it.


if __name__ == "__main__":
    main()
