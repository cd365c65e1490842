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
import re
import signal
import struct
import sys
import time

MAX_MEMORY = 256 * 1024 * 1024
"""The maximum address space in bytes, on platforms that have such a limit."""

MAX_CHECK_TIME = 0.25
"""The maximum processor time of one check, in seconds.  After it the process ends with the signal SIGPROF."""


# A word boundary with a quantifier, or what may look like one: another escape or a class.
_REPEATED_BOUNDARY = re.compile(r"(\\[bB][*+?{])|\\.|\[(?:[^\]\\]|\\.)*\]", re.DOTALL)


def repeats_boundary(pattern: str) -> bool:
    """Return True if the valid pattern *pattern* repeats a word boundary: only `regress` allows that."""
    return any(match[1] for match in _REPEATED_BOUNDARY.finditer(pattern))


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
            regex = Regex(pattern, "u")
            result = b"e" if repeats_boundary(pattern) else b"0" if regex.find(text) is None else b"1"
        except RegressError:
            result = b"e"
        seconds = time.process_time() - begin
        if set_timer is not None:
            set_timer(signal.ITIMER_PROF, 0)
        sys.stdout.buffer.write(struct.pack("<cI", result, int(seconds * 1e6)))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
