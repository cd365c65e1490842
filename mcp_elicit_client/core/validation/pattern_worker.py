"""
The process that runs a server's regular expressions.

It is started by path, without site-packages but for the one that it is told,
and imports nothing of this package.  It reads one JSON list ``[pattern,
text]`` a line, and answers with five bytes: ``1`` for a match, ``0`` for none
or ``e`` for a pattern that ECMAScript does not have, and the processor time
of the check in microseconds, as a little-endian integer.  ``rrrrr`` says that
it is ready.
"""

import json
import signal
import struct
import sys
import time

MEMORY = 256 * 1024 * 1024
"""How much address space it may take, in bytes, where the platform has a limit for that."""

LIFE = 1.0
"""
How long one check may take, in seconds, before the process ends by itself:
for the case that nobody is left to kill it.
"""


def limit() -> None:
    """Take away what a pattern does not need."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> None:
    """Answer until standard input ends."""
    sys.path.append(sys.argv[1])
    from regress import Regex, RegressError

    limit()
    set_timer = getattr(signal, "setitimer", None)
    sys.stdout.buffer.write(b"rrrrr")
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        pattern, text = json.loads(line)
        if set_timer is not None:
            set_timer(signal.ITIMER_REAL, LIFE)
        begin = time.process_time()
        try:
            answer = b"1" if Regex(pattern, "u").find(text) is not None else b"0"
        except RegressError:
            answer = b"e"
        took = time.process_time() - begin
        if set_timer is not None:
            set_timer(signal.ITIMER_REAL, 0)
        sys.stdout.buffer.write(struct.pack("<cI", answer, int(took * 1e6)))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
