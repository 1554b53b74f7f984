"""What every maintenance of a store promises."""

import asyncio
from datetime import UTC, datetime

import pytest

from agent_core.adapters.in_memory.maintenance import InMemoryTenantMaintenance
from agent_core.adapters.sql.maintenance import SqlTenantMaintenance
from agent_core.domain.checkpoints import Checkpoint, CheckpointTrigger
from agent_core.domain.context import ContextItem, ItemKind
from agent_core.domain.errors import NotFound, TenantBusy
from agent_core.domain.events import ActorType, EventType, NewEvent
from agent_core.domain.hooks import HookKind, HookStatus, HookTask
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.projections import ProjectedState
from agent_core.domain.recorded_turns import RecordedTurn
from agent_core.domain.reviews import EffectReview
from agent_core.domain.runs import Run, RunLimits, RunStatus, RunUsage
from agent_core.domain.sessions import Principal, Session
from agent_core.domain.trust import Labels, TrustLevel
from tests.contract.stores import OTHER_TENANT, TENANT, over

IMPLEMENTATIONS = [InMemoryTenantMaintenance, SqlTenantMaintenance]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LABELS = Labels(TrustLevel.USER)


@pytest.fixture(params=over(IMPLEMENTATIONS))
def store(request, databases):
    with databases.opened(request.param) as store:
        yield store


async def fill(unit, tenant_id, status=RunStatus.COMPLETED, hook=HookStatus.DONE):
    """One record of everything, all named after the tenant."""
    name = tenant_id
    await unit.sessions.add(Session(name, Principal("somebody", tenant_id=tenant_id), (), NOW))
    await unit.runs.add(
        Run(
            name,
            name,
            "somebody",
            frozenset(),
            status,
            RunLimits(),
            NOW,
            tenant_id=tenant_id,
        )
    )
    event = await unit.events.append(
        NewEvent(name, name, name, EventType.RUN_QUEUED, 1, ActorType.RUNTIME, "x", {}, NOW)
    )
    row = ToolInvocation(
        name, name, 1, "call", "demo.tool", {}, LABELS, InvocationStatus.UNCERTAIN, NOW
    )
    await unit.invocations.add(row._replace(idempotency_key=name))
    item = ContextItem(name, ItemKind.ASSISTANT_TURN, "model", LABELS, "text")
    await unit.turns.add(RecordedTurn(name, 1, item))
    trigger = CheckpointTrigger.MODEL_RESPONSE
    await unit.checkpoints.add(Checkpoint(name, 1, trigger, 1, RunUsage(), (item,), NOW))
    await unit.reviews.add(EffectReview(name, tenant_id, name, name, "demo.tool", "code", NOW))
    await unit.hooks.add(HookTask(name, tenant_id, name, HookKind.TRAJECTORY_MARKER, hook, NOW))
    await unit.projections.save(ProjectedState("demo", name, 1, event.sequence, {}), None)


async def left(unit, tenant_id):
    """Which kinds of record there are of a tenant."""
    found = {
        "events": await unit.events.list_for_session(tenant_id),
        "invocations": await unit.invocations.list_for_run(tenant_id),
        "turns": await unit.turns.list_for_run(tenant_id),
        "checkpoint": await unit.checkpoints.latest(tenant_id),
        "reviews": await unit.reviews.list_for_run(tenant_id),
        "hooks": await unit.hooks.list_for_run(tenant_id),
        "runs": await unit.runs.list_for_session(tenant_id),
        "projections": await unit.projections.get("demo", tenant_id),
    }
    try:
        found["session"] = await unit.sessions.get(tenant_id)
    except NotFound:
        pass
    return {name for name, records in found.items() if records}


EVERYTHING = {
    "session",
    "runs",
    "events",
    "invocations",
    "turns",
    "checkpoint",
    "reviews",
    "hooks",
    "projections",
}


def truncated(store, **options):
    """What is left of the tenant, and of another one, after an attempt."""

    async def attempt():
        async with store.units(TENANT)() as unit:
            await fill(unit, TENANT, **options)
        async with store.units(OTHER_TENANT)() as unit:
            await fill(unit, OTHER_TENANT, RunStatus.RUNNING, HookStatus.PENDING)
        refused = False
        try:
            await store.maintenance.truncate_tenant(TENANT)
        except TenantBusy:
            refused = True
        async with store.units(TENANT)() as unit:
            of_tenant = await left(unit, TENANT)
        async with store.units(OTHER_TENANT)() as unit:
            return refused, of_tenant, await left(unit, OTHER_TENANT)

    return asyncio.run(attempt())


def test_everything_of_the_tenant_goes_and_nothing_of_another(store):
    assert truncated(store) == (False, set(), EVERYTHING)


@pytest.mark.parametrize("status", [one for one in RunStatus if not one.is_terminal])
def test_a_tenant_with_a_run_that_has_not_ended_is_left_alone(store, status):
    assert truncated(store, status=status) == (True, EVERYTHING, EVERYTHING)


@pytest.mark.parametrize("status", [one for one in HookStatus if not one.is_finished])
def test_a_tenant_with_a_hook_that_has_not_ended_is_left_alone(store, status):
    assert truncated(store, hook=status) == (True, EVERYTHING, EVERYTHING)


def test_the_names_can_be_used_again(store):
    async def twice():
        for _ in range(2):
            async with store.units(TENANT)() as unit:
                await fill(unit, TENANT)
            await store.maintenance.truncate_tenant(TENANT)
        async with store.units(TENANT)() as unit:
            return await left(unit, TENANT)

    assert asyncio.run(twice()) == set()


def test_a_tenant_without_records_is_truncated_to_nothing(store):
    asyncio.run(store.maintenance.truncate_tenant(TENANT))
    assert truncated(store)[1] == set()
