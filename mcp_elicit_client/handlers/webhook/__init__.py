"""
Ask over HTTP: the question goes to a webhook, signed; the answer comes back in its response, or later.

Receivers in Python have `verify` and `sign`; others any library of Standard
Webhooks.
"""

from mcp_elicit_client.handlers.webhook.exchange import DeferredAnswers
from mcp_elicit_client.handlers.webhook.handler import WebhookHandler
from mcp_elicit_client.handlers.webhook.signatures import (
    Secrets,
    SignatureError,
    generate_secret,
    sign,
    verify_signature,
    webhook_authenticator,
)

__all__ = [
    "DeferredAnswers",
    "Secrets",
    "SignatureError",
    "WebhookHandler",
    "generate_secret",
    "sign",
    "verify_signature",
    "webhook_authenticator",
]
