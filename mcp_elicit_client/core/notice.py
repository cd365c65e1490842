"""`Notice`: a request that a policy declined before a user was asked."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Setting

from mcp_elicit_client.core.request import Request


class Notice(BaseModel):
    """
    A request that a policy declined, in place of the user.

    Attributes:
        request: The request, as it was read.
        policy: The name of the policy, such as ``secrets``.
        reason: The reason, in English, for developers.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, defer_build=True)

    request: Request = Setting(discriminator="mode")
    policy: str
    reason: str
