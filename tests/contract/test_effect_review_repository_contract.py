"""What every repository of effect reviews promises."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from agent_core.adapters.in_memory.reviews import InMemoryEffectReviewRepository
from agent_core.adapters.sql.reviews import SqlEffectReviewRepository
from agent_core.domain.errors import AlreadyExists, NotFound, StaleState
from agent_core.domain.reviews import EffectReview, ReviewResolution
from tests.contract.stores import OTHER_TENANT, over

IMPLEMENTATIONS = [InMemoryEffectReviewRepository, SqlEffectReviewRepository]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
OPEN = EffectReview(
    id="review",
    tenant_id="tenant_default",
    run_id="run",
    invocation_id="invocation",
    tool_name="demo.unsafe_write",
    reason_code="tool.outcome_unknown",
    opened_at=NOW,
)
RESOLVED = OPEN._replace(
    resolution=ReviewResolution.HAPPENED,
    resolved_at=LATER,
    resolved_by="somebody",
    note="é",
)


@pytest.fixture(params=over(IMPLEMENTATIONS))
def store(request, databases):
    with databases.opened(request.param) as store:
        yield store


@pytest.fixture
def repository(store):
    return store.repository("reviews")


def add(repository, *reviews):
    for review in reviews:
        asyncio.run(repository.add(review))


def get(repository, review_id="review"):
    return asyncio.run(repository.get(review_id))


def resolve(repository, resolution=ReviewResolution.HAPPENED, by="somebody"):
    return asyncio.run(repository.resolve("review", resolution, LATER, by, "é"))


@pytest.mark.parametrize("review", [OPEN, RESOLVED])
def test_a_review_is_read_as_it_was_stored(repository, review):
    add(repository, review)
    assert get(repository) == review
    with pytest.raises(NotFound):
        get(repository, "unknown")


@pytest.mark.parametrize("change", [{"id": "other"}, {"invocation_id": "other"}])
def test_an_id_and_an_invocation_have_one_review(repository, change):
    add(repository, OPEN)
    with pytest.raises(AlreadyExists):
        add(repository, OPEN._replace(**change, note="other"))
    assert get(repository) == OPEN
    assert asyncio.run(repository.list_for_run("run")) == (OPEN,)


def test_the_open_reviews_of_a_tenant_come_by_id(store, repository):
    for review, review_id in [(OPEN, "c"), (OPEN, "a"), (RESOLVED, "b")]:
        add(repository, review._replace(id=review_id, invocation_id=review_id))
    other = OPEN._replace(id="d", run_id="d", invocation_id="d", tenant_id=OTHER_TENANT)
    others = store.repository("reviews", OTHER_TENANT)
    add(others, other)
    listed = asyncio.run(repository.list_open("tenant_default"))
    assert [review.id for review in listed] == ["a", "c"]
    assert asyncio.run(others.list_open(OTHER_TENANT)) == (other,)
    assert asyncio.run(repository.list_open("tenant_without_reviews")) == ()


def test_the_reviews_of_a_run_come_by_id_resolved_or_not(repository):
    for review, review_id, run_id in [
        (OPEN, "c", "run"),
        (RESOLVED, "a", "run"),
        (OPEN, "b", "x"),
    ]:
        add(
            repository,
            review._replace(id=review_id, invocation_id=review_id, run_id=run_id),
        )
    listed = asyncio.run(repository.list_for_run("run"))
    assert [review.id for review in listed] == ["a", "c"]
    assert asyncio.run(repository.list_for_run("y")) == ()


@pytest.mark.parametrize("resolution", list(ReviewResolution))
def test_a_review_is_resolved(repository, resolution):
    add(repository, OPEN)
    expected = RESOLVED._replace(resolution=resolution)
    assert resolve(repository, resolution) == expected
    assert get(repository) == expected


def test_a_review_is_resolved_once(repository):
    add(repository, OPEN)
    resolve(repository)
    for resolution in ReviewResolution:
        with pytest.raises(StaleState):
            resolve(repository, resolution, by="somebody else")
    assert get(repository) == RESOLVED


def test_an_unknown_review_is_not_resolved(repository):
    with pytest.raises(NotFound):
        resolve(repository)
