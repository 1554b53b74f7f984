"""The service for effect reviews."""

from datetime import timedelta

import pytest

from agent_core.adapters.determinism.clocks import PinnedClock
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.application.inline import run_inline
from agent_core.application.reviews import ReviewService
from agent_core.bootstrap import PINNED_START
from agent_core.domain.errors import NotFound, NotPermitted, ReviewConflict
from agent_core.domain.reviews import MAXIMUM_NOTE_CHARACTERS, EffectReview, ReviewResolution
from agent_core.domain.sessions import Principal

SCOPES = frozenset({"review.resolve"})
REVIEWER = Principal("reviewer", SCOPES, "tenant_a")
OTHER = Principal("other", SCOPES, "tenant_a")
STRANGER = Principal("stranger", SCOPES, "tenant_b")
NOBODY = Principal("nobody", frozenset({"approval.resolve"}), "tenant_a")
REVIEW = EffectReview(
    "review", "tenant_a", "run", "row", "demo.tool", "tool.outcome_unknown", PINNED_START
)
HAPPENED = ReviewResolution.HAPPENED


class Office:
    def __init__(self):
        self.store = InMemoryUnitOfWork()
        self.clock = PinnedClock(PINNED_START)
        self.service = ReviewService(units=lambda: self.store, clock=self.clock)
        run_inline(self.store.reviews.add(REVIEW))

    def resolve(self, principal=REVIEWER, resolution=HAPPENED, note=""):
        return run_inline(self.service.resolve(principal, "review", resolution, note))

    @property
    def stored(self):
        return run_inline(self.store.reviews.get("review"))


def test_a_review_is_listed_until_it_is_resolved():
    office = Office()
    assert run_inline(office.service.list_open(REVIEWER)) == (REVIEW,)
    assert run_inline(office.service.get(REVIEWER, "review")) == REVIEW
    office.clock.advance(5)
    resolved = office.resolve(note="seen at the destination")
    assert resolved == office.stored
    assert resolved == REVIEW._replace(
        resolution=HAPPENED,
        resolved_at=PINNED_START + timedelta(seconds=5),
        resolved_by="reviewer",
        note="seen at the destination",
    )
    assert run_inline(office.service.list_open(REVIEWER)) == ()


def test_the_same_resolution_again_changes_nothing():
    office = Office()
    first = office.resolve()
    office.clock.advance(5)
    assert office.resolve(OTHER, note="me too") == first == office.stored


@pytest.mark.parametrize("other", [one for one in ReviewResolution if one is not HAPPENED])
def test_another_resolution_is_a_conflict(other):
    office = Office()
    first = office.resolve()
    with pytest.raises(ReviewConflict, match="happened"):
        office.resolve(OTHER, other)
    assert office.stored == first


def test_it_takes_the_scope():
    office = Office()
    for call in (
        office.service.list_open(NOBODY),
        office.service.get(NOBODY, "review"),
        office.service.resolve(NOBODY, "review", HAPPENED),
    ):
        with pytest.raises(NotPermitted, match=r"review\.resolve"):
            run_inline(call)
    assert office.stored == REVIEW


def test_another_tenant_sees_and_resolves_nothing():
    office = Office()
    assert run_inline(office.service.list_open(STRANGER)) == ()
    for call in (
        office.service.get(STRANGER, "review"),
        office.service.resolve(STRANGER, "review", HAPPENED),
        office.service.resolve(REVIEWER, "unknown", HAPPENED),
    ):
        with pytest.raises(NotFound):
            run_inline(call)
    assert office.stored == REVIEW


@pytest.mark.parametrize("note", ["x" * (MAXIMUM_NOTE_CHARACTERS + 1), "\ud800"])
def test_a_note_is_a_short_text(note):
    office = Office()
    with pytest.raises(ValueError):
        office.resolve(note=note)
    assert office.stored == REVIEW
