"""
Ask over HTTP: the question goes to a webhook, signed; the answer comes back in its response, or later.

Receivers in Python have `verify` and `sign`; others any library of Standard
Webhooks.
"""

from mcp_elicit_client.handlers.remote.asking import DeferredAnswers
from mcp_elicit_client.handlers.remote.handler import WebhookHandler
from mcp_elicit_client.handlers.remote.receiving import webhook_authenticator
from mcp_elicit_client.handlers.remote.signing import SignatureError, generate_secret, sign, verify_signature

__all__ = ["DeferredAnswers", "WebhookHandler", "SignatureError", "generate_secret", "webhook_authenticator", "sign", "verify_signature"]
