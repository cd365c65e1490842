"""
The process that runs a server's regular expressions.

It is started by path, without site-packages but for the one that it is told,
and imports nothing of this package.  It reads one JSON list ``[pattern,
text]`` a line and answers with one byte: ``1`` for a match, ``0`` for none,
``e`` for a pattern that ECMAScript does not have.  ``r`` says that it is
ready.
"""

import json
import signal
import sys

MEMORY = 512 * 1024 * 1024
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
    sys.stdout.buffer.write(b"r")
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        pattern, text = json.loads(line)
        if set_timer is not None:
            set_timer(signal.ITIMER_REAL, LIFE)
        try:
            answer = b"1" if Regex(pattern, "u").find(text) is not None else b"0"
        except RegressError:
            answer = b"e"
        if set_timer is not None:
            set_timer(signal.ITIMER_REAL, 0)
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
