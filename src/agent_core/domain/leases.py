"""Leases: for how long a worker may take a run to be its own."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

LEASE_SECONDS = 30.0
MAXIMUM_ATTEMPTS = 3
"""How often a run may be claimed before it has failed: a lease that expires takes one."""


class Lease(NamedTuple):
    """The hold of one worker. `epoch` rises with every claim and never falls, so of two workers
    that believe to hold a run only the later one is right."""

    owner: str
    epoch: int
    expires_at: datetime

    def is_over(self, now: datetime) -> bool:
        """Whether the run may be taken from the owner; the last instant is already too late."""
        return self.expires_at <= now
