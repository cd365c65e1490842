"""
Ask over HTTP: the question goes to a webhook, signed; the answer comes back in its response, or later.

Receivers in Python have `verify` and `sign`; others any library of Standard
Webhooks.
"""

from mcp_elicit_client.handlers.remote.asking import Later
from mcp_elicit_client.handlers.remote.handler import RemoteHandler
from mcp_elicit_client.handlers.remote.receiving import receiver_of
from mcp_elicit_client.handlers.remote.signing import SignatureError, new_secret, sign, verify

__all__ = ["Later", "RemoteHandler", "SignatureError", "new_secret", "receiver_of", "sign", "verify"]
