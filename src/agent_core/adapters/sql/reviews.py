"""Effect reviews in SQL."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, select, update

from agent_core.adapters.sql.records import record_of, values_of
from agent_core.adapters.sql.tables import EFFECT_REVIEWS
from agent_core.adapters.sql.transaction import Transaction
from agent_core.domain.errors import NotFound, StaleState
from agent_core.domain.reviews import EffectReview, ReviewResolution
from agent_core.ports.reviews import EffectReviewRepository


class SqlEffectReviewRepository(EffectReviewRepository):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    async def add(self, review: EffectReview) -> None:
        what = f"review {review.id} of invocation {review.invocation_id}"
        self._transaction.insert(EFFECT_REVIEWS, values_of(review), what)

    async def get(self, review_id: str) -> EffectReview:
        owned = self._transaction.owned(EFFECT_REVIEWS, id=review_id)
        row = self._transaction.first(select(EFFECT_REVIEWS).where(owned))
        if row is None:
            raise NotFound(f"review {review_id}")
        return record_of(EffectReview, row)

    async def list_open(self, tenant_id: str) -> tuple[EffectReview, ...]:
        owned = self._transaction.owned(EFFECT_REVIEWS, tenant_id=tenant_id)
        return self._by_id(owned & EFFECT_REVIEWS.c.resolution.is_(None))

    async def list_for_run(self, run_id: str) -> tuple[EffectReview, ...]:
        return self._by_id(self._transaction.owned(EFFECT_REVIEWS, run_id=run_id))

    async def resolve(
        self, review_id: str, resolution: ReviewResolution, at: datetime, by: str, note: str
    ) -> EffectReview:
        owned = self._transaction.owned(EFFECT_REVIEWS, id=review_id)
        resolved = (
            update(EFFECT_REVIEWS)
            .where(owned, EFFECT_REVIEWS.c.resolution.is_(None))
            .values(resolution=resolution, resolved_at=at, resolved_by=by, note=note)
            .returning(EFFECT_REVIEWS)
        )
        if row := self._transaction.first(resolved):
            return record_of(EffectReview, row)
        await self.get(review_id)
        raise StaleState(f"review {review_id}: resolved already")

    def _by_id(self, condition: ColumnElement[bool]) -> tuple[EffectReview, ...]:
        found = select(EFFECT_REVIEWS).where(condition).order_by(EFFECT_REVIEWS.c.id)
        return tuple(record_of(EffectReview, row) for row in self._transaction.rows(found))
