"""
The process that runs a server's regular expressions.

It is started by path, without site-packages except the directory that it is
given, and imports nothing of this package.  It reads one JSON list
``[pattern, text]`` per line and answers with five bytes.  The first is ``1``
for a match, ``0`` for no match or ``e`` for an invalid pattern.  The others
are the processor time of the check, in microseconds, little-endian.  It writes ``rrrrr``
when it is ready.
"""

import contextlib
import json
import signal
import struct
import sys
import time

MAX_MEMORY = 256 * 1024 * 1024
"""The maximum address space in bytes, on platforms that have such a limit."""

MAX_CHECK_TIME = 0.25
"""The maximum processor time of one check, in seconds.  After it the process ends with the signal SIGPROF."""


def limit_resources() -> None:
    """Limit memory and disable core dumps, as far as the system allows it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for limit, value in ((resource.RLIMIT_AS, MAX_MEMORY), (resource.RLIMIT_CORE, 0)):
        # macOS cannot limit the address space.  Elsewhere, the host application has set a lower limit.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))


def main() -> None:
    """Check patterns until standard input ends."""
    sys.path.append(sys.argv[1])
    from regress import Regex, RegressError

    limit_resources()
    set_timer = getattr(signal, "setitimer", None)
    sys.stdout.buffer.write(b"rrrrr")
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        pattern, text = json.loads(line)
        if set_timer is not None:
            set_timer(signal.ITIMER_PROF, MAX_CHECK_TIME)
        begin = time.process_time()
        try:
            result = b"1" if Regex(pattern, "u").find(text) is not None else b"0"
        except RegressError:
            result = b"e"
        seconds = time.process_time() - begin
        if set_timer is not None:
            set_timer(signal.ITIMER_PROF, 0)
        sys.stdout.buffer.write(struct.pack("<cI", result, int(seconds * 1e6)))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
