"""
How long the worst requests take to end, in an error or in a usable form.

Run from the checkout: ``python -m benchmarks.hostile``.  The baseline is an
ordinary form of eight fields; the bar for each payload is 100 ms.
"""

from __future__ import annotations

import sys
import time

from mcp_elicit_client import RequestError, parse_request
from mcp_elicit_client.testing import PAYLOADS
from tests.support import form_params

BAR = 0.1
ORDINARY = form_params({"properties": {f"field{at}": {"type": "string", "default": "x"} for at in range(8)}})


def seconds(params: object) -> tuple[float, str]:
    """Parse *params*; return the CPU seconds that it took and how it ended."""
    begin = time.process_time()
    try:
        parse_request(params)
        ended = "form"
    except RequestError as error:
        ended = str(error)
    return time.process_time() - begin, ended


def main() -> int:
    """Print a line for each payload; fail if one is above the bar."""
    seconds(ORDINARY)  # so that no import is measured
    ordinary, _ = seconds(ORDINARY)
    print(f"{ordinary * 1000:8.2f} ms   1.0 x  an ordinary form of eight fields")
    slow = 0
    for name, make in PAYLOADS.items():
        took, ended = seconds(make())
        slow += took > BAR
        print(f"{took * 1000:8.2f} ms {took / ordinary:5.1f} x  {name}: {ended}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
