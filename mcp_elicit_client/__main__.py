"""``python -m mcp_elicit_client``: the command if scripts are not on the path."""

import sys

from mcp_elicit_client.cli import main

if __name__ == "__main__":
    sys.exit(main())
