"""
A bot in Slack: ``/book`` calls a tool, and the server's requests are dialogs that only the user sees.

It connects in socket mode, with ``SLACK_BOT_TOKEN`` and ``SLACK_APP_TOKEN``.
"""

import asyncio
import os
import sys
from typing import Any

from mcp import StdioServerParameters
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from mcp_elicit_client import ElicitationRegistry
from mcp_elicit_client.calls import Caller
from mcp_elicit_client.handlers.slack import SlackHandler
from mcp_elicit_client.policies import recommended

SERVER = StdioServerParameters(command=sys.executable, args=["-m", "mcp_elicit_client.demo.server"])


def make_app(token: str, signing_secret: str = "", api: str = "https://slack.com/api/") -> AsyncApp:
    """Return the bot.  Over HTTP, it needs the signing secret; run it with ``app.start(port=3000)``."""
    app = AsyncApp(client=AsyncWebClient(token=token, base_url=api), signing_secret=signing_secret)
    registry = ElicitationRegistry(policy=recommended())
    registry.on_elicitation(SlackHandler(app))

    @app.command("/book")
    async def book(ack: Any, command: Any, client: Any) -> None:
        await ack()
        user = command["user_id"]  # whom the server's requests are for
        caller = Caller(registry, "restaurant", user=user)
        try:
            async with caller.connect(SERVER) as connection:
                result = await caller.call_tool(connection, "book_table", {})
        except Exception as error:  # noqa: BLE001 -- of the connection, the server or the call
            text = f"The call failed: {error}"
        else:
            text = "".join(part.text for part in result.content if part.type == "text") or "The call returned no text."
        # The server wrote the text: no Markdown in it, and no previews of its links.
        blocks = [{"type": "section", "text": {"type": "plain_text", "text": text[:3000]}}]
        await client.chat_postMessage(channel=user, text="Result", blocks=blocks, unfurl_links=False)

    return app


async def main() -> None:
    app = make_app(os.environ["SLACK_BOT_TOKEN"])
    await AsyncSocketModeHandler(app, os.environ["SLACK_APP_TOKEN"]).start_async()


if __name__ == "__main__":
    asyncio.run(main())
