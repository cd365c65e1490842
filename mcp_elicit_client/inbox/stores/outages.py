"""`Outages`: gives other processes the time to renew leases that they could not renew while a store failed."""

from __future__ import annotations

from mcp_elicit_client.inbox.stores.models import Clock


class Outages:
    """
    Notes when this process could not use the store.

    Other processes could not either, so their leases may have ended although
    they run.  For the time of a lease afterwards, no lease counts as ended.

    Args:
        clock: Returns the current time.
        lease_ttl: Seconds for which a lease is valid.
    """

    def __init__(self, clock: Clock, lease_ttl: float) -> None:
        self._clock = clock
        self._lease_ttl = lease_ttl
        self._over_at = 0.0

    def note(self) -> None:
        """Note that the store could not be used."""
        self._over_at = self._clock() + self._lease_ttl

    @property
    def leases_end_at(self) -> float:
        """The time until which a lease must have ended so that it counts as ended now."""
        now = self._clock()
        return now if now >= self._over_at else 0.0
