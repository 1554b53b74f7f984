"""Where effect reviews are kept."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from agent_core.domain.reviews import EffectReview, ReviewResolution


class EffectReviewRepository(Protocol):
    async def add(self, review: EffectReview) -> None:
        """Store a new review. `AlreadyExists` for an id, or an invocation, that has one."""
        ...

    async def get(self, review_id: str) -> EffectReview:
        """Raises `NotFound`."""
        ...

    async def list_open(self, tenant_id: str) -> tuple[EffectReview, ...]:
        """The reviews of a tenant that are not resolved, by id, the order of their opening."""
        ...

    async def list_for_run(self, run_id: str) -> tuple[EffectReview, ...]:
        """The reviews of a run, by id."""
        ...

    async def resolve(
        self,
        review_id: str,
        resolution: ReviewResolution,
        at: datetime,
        by: str,
        note: str,
    ) -> EffectReview:
        """Resolve a review that is open, and return what is stored now.

        `StaleState` for one that is resolved already; nothing is written then.
        """
        ...
