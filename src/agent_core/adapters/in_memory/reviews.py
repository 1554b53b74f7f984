"""Effect reviews in memory."""

from __future__ import annotations

from datetime import datetime

from agent_core.adapters.in_memory.undo import UndoLog
from agent_core.domain.errors import AlreadyExists, NotFound, StaleState
from agent_core.domain.reviews import EffectReview, ReviewResolution
from agent_core.ports.reviews import EffectReviewRepository


class InMemoryEffectReviewRepository(EffectReviewRepository):
    def __init__(self, undo: UndoLog | None = None) -> None:
        self._undo = undo or UndoLog()
        self._reviews: dict[str, EffectReview] = {}

    async def add(self, review: EffectReview) -> None:
        for one in self._reviews.values():
            if review.id == one.id or review.invocation_id == one.invocation_id:
                raise AlreadyExists(f"review {review.id} of invocation {review.invocation_id}")
        self._reviews[review.id] = review
        self._undo.record(lambda: self._reviews.pop(review.id))

    async def get(self, review_id: str) -> EffectReview:
        if review_id not in self._reviews:
            raise NotFound(f"review {review_id}")
        return self._reviews[review_id]

    async def list_open(self, tenant_id: str) -> tuple[EffectReview, ...]:
        return tuple(
            one
            for _, one in sorted(self._reviews.items())
            if one.tenant_id == tenant_id and one.resolution is None
        )

    async def list_for_run(self, run_id: str) -> tuple[EffectReview, ...]:
        return tuple(one for _, one in sorted(self._reviews.items()) if one.run_id == run_id)

    async def resolve(
        self,
        review_id: str,
        resolution: ReviewResolution,
        at: datetime,
        by: str,
        note: str,
    ) -> EffectReview:
        stored = await self.get(review_id)
        if stored.resolution is not None:
            raise StaleState(f"review {review_id}: resolved already")
        review = stored._replace(resolution=resolution, resolved_at=at, resolved_by=by, note=note)
        self._reviews[review_id] = review
        self._undo.record(lambda: self._reviews.update({review_id: stored}))
        return review

    def remove_run(self, run_id: str) -> None:
        for one in [one for one in self._reviews.values() if one.run_id == run_id]:
            del self._reviews[one.id]
