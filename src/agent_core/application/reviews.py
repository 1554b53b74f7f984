"""The service for effect reviews: what nobody knows, and what a person found out about it."""

from __future__ import annotations

from agent_core.domain.errors import NotFound, NotPermitted, ReviewConflict, StaleState
from agent_core.domain.reviews import MAXIMUM_NOTE_CHARACTERS, EffectReview, ReviewResolution
from agent_core.domain.scopes import Scope
from agent_core.domain.sessions import Principal
from agent_core.ports.determinism import Clock
from agent_core.ports.persistence import UnitOfWork, UnitOfWorkFactory


class ReviewService:
    """Every method takes who asks; it takes the scope `review.resolve`, and shows nothing of
    another tenant."""

    def __init__(self, *, units: UnitOfWorkFactory, clock: Clock) -> None:
        self._units = units
        self._clock = clock

    async def list_open(self, principal: Principal) -> tuple[EffectReview, ...]:
        """The reviews of the principal's tenant that wait for a resolution, the oldest first.
        Raises `NotPermitted`."""
        _check(principal)
        async with self._units() as unit:
            return await unit.reviews.list_open(principal.tenant_id)

    async def get(self, principal: Principal, review_id: str) -> EffectReview:
        """Raises `NotPermitted`, and `NotFound` also for a review of another tenant."""
        _check(principal)
        async with self._units() as unit:
            return await _of_tenant(unit, principal, review_id)

    async def resolve(
        self,
        principal: Principal,
        review_id: str,
        resolution: ReviewResolution,
        note: str = "",
    ) -> EffectReview:
        """Say what was found out. The same resolution again changes nothing and gives the review
        as it was resolved first.

        Raises `NotPermitted`, `NotFound`, `ValueError` for a note that is too long, and
        `ReviewConflict` for a review that was resolved in another way.
        """
        _check(principal)
        if len(note) > MAXIMUM_NOTE_CHARACTERS:
            raise ValueError(f"a note has at most {MAXIMUM_NOTE_CHARACTERS} characters")
        note.encode()
        try:
            async with self._units() as unit:
                await _of_tenant(unit, principal, review_id)
                return await unit.reviews.resolve(
                    review_id, resolution, self._clock.now(), principal.id, note
                )
        except StaleState:
            async with self._units() as unit:
                stored = await _of_tenant(unit, principal, review_id)
        if stored.resolution is not resolution:
            raise ReviewConflict(f"review {review_id}: resolved as {stored.resolution}")
        return stored


async def _of_tenant(unit: UnitOfWork, principal: Principal, review_id: str) -> EffectReview:
    review = await unit.reviews.get(review_id)
    if review.tenant_id != principal.tenant_id:
        raise NotFound(f"review {review_id}")
    return review


def _check(principal: Principal) -> None:
    if Scope.REVIEW_RESOLVE not in principal.scopes:
        raise NotPermitted(Scope.REVIEW_RESOLVE)
