"""
Requests over HTTP: signed and sent to a webhook, which answers in its response or later.

Receivers in Python use `verify_signature` and `sign`; others use any library
for Standard Webhooks.
"""

from mcp_elicit_client.handlers.webhook.handler import DeferredAnswers, WebhookHandler
from mcp_elicit_client.handlers.webhook.signatures import (
    Purpose,
    Secrets,
    SignatureError,
    generate_secret,
    sign,
    verify_signature,
    webhook_authenticator,
)

__all__ = [
    "DeferredAnswers",
    "Purpose",
    "Secrets",
    "SignatureError",
    "WebhookHandler",
    "generate_secret",
    "sign",
    "verify_signature",
    "webhook_authenticator",
]
