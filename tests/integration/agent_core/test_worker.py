"""The worker: what it claims, how it sweeps, and how it stops."""

import asyncio
import threading

import pytest

from agent_core.adapters.determinism.clocks import SystemClock
from agent_core.adapters.determinism.ids import SystemIdFactory
from agent_core.adapters.determinism.schedulers import ConcurrentScheduler
from agent_core.adapters.in_memory.maintenance import InMemoryTenantMaintenance
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.application.cancellation import CancellationToken, Cancelled
from agent_core.application.drain import Drain
from agent_core.application.heartbeat import HeartbeatThread
from agent_core.application.inline import run_inline
from agent_core.application.worker import WorkerSettings
from agent_core.bootstrap import build_runtime, build_worker, builtin_tools
from agent_core.domain.errors import Fenced, StorageUnavailable, TenantBusy
from agent_core.domain.hooks import HookKind, HookStatus
from agent_core.domain.runs import Run, RunLimits, RunStatus
from agent_core.domain.tools import ToolResult
from tests.integration.agent_core.scripted_runs import (
    DONE,
    SOMEBODY,
    Durable,
    Probe,
    proposes,
)

TURNS = [proposes(("demo.probe", "{}")), DONE]
TENANT = SOMEBODY.tenant_id
EAGER = WorkerSettings(poll_seconds=0.001, reclaim_seconds=0, hooks_seconds=0, retry_seconds=0.001)


def hooks_of(run):
    return run_inline(run.store.hooks.list_for_run(run.run_id))


def test_it_executes_what_is_queued_and_then_the_hooks():
    run = Durable(TURNS, [Probe()])
    worker = run.worker()
    assert run_inline(worker.work_once())
    assert run.run.status is RunStatus.COMPLETED
    assert [hook.status for hook in hooks_of(run)] == [HookStatus.PENDING]
    assert run_inline(worker.work_once())
    assert [hook.status for hook in hooks_of(run)] == [HookStatus.DONE]
    assert not run_inline(worker.work_once())


def test_projections_are_up_with_the_log():
    run = Durable(TURNS, [Probe()])
    run_inline(run.worker().run_until_idle())
    kept = run_inline(run.store.projections.get("run_summaries", run.run.session_id))
    assert kept.position == run.events[-1].sequence
    assert kept.state[run.run_id]["status"] == "COMPLETED"


def test_a_run_that_waits_has_no_hooks():
    run = Durable([proposes(("conversation.ask_user", '{"question": "?"}')), DONE], None)
    run_inline(run.worker().run_until_idle())
    assert run.run.status is RunStatus.WAITING_FOR_USER
    assert hooks_of(run) == ()


def test_the_hooks_of_a_worker_that_died_after_the_end_are_made_up_for():
    run = Durable([DONE], [Probe()])
    assert run.killed(7)  # the terminal commit
    assert run.run.status is RunStatus.COMPLETED
    assert hooks_of(run) == ()
    run_inline(run.worker().run_until_idle())
    assert [hook.status for hook in hooks_of(run)] == [HookStatus.DONE]


def test_hooks_that_cannot_be_enqueued_fail_no_run():
    run = Durable([DONE], [Probe()])
    errors = []
    worker = run.worker(on_error=errors.append)
    add = run.store.hooks.add

    async def refuse(task):
        raise StorageUnavailable("full")

    run.store.hooks.add = refuse
    assert run_inline(worker.work_once())
    assert run.run.status is RunStatus.COMPLETED
    assert [type(error) for error in errors] == [StorageUnavailable]
    run.store.hooks.add = add
    run_inline(worker.run_until_idle())
    assert [hook.kind for hook in hooks_of(run)] == list(HookKind)


class Site:
    """A store, and workers and services over it with the system's clock."""

    def __init__(self, turns=(DONE,), tools=(Probe(),), runs=1):
        self.store = InMemoryUnitOfWork()
        self.clock = SystemClock()
        self.turns = list(turns)
        self.tools = tools
        self.errors = []
        self.runs = runs
        self.run_ids = []

    def parts(self, **more):
        return {
            "model": ScriptedModelProvider(self.turns * self.runs, self.clock),
            "units": lambda: self.store,
            "clock": self.clock,
            "ids": SystemIdFactory(),
            "tools": self.tools,
            "scheduler": ConcurrentScheduler(),
            **more,
        }

    async def submit(self):
        runtime = build_runtime(**self.parts())
        for _ in range(self.runs):
            session = await runtime.open_session(SOMEBODY)
            self.run_ids.append(await runtime.submit(session.id, "Please."))

    def worker(self, owner="worker", settings=EAGER, **more):
        return build_worker(
            **self.parts(), owner=owner, settings=settings, on_error=self.errors.append, **more
        )

    def drain(self, timeout_seconds=20):
        return Drain(units=lambda: self.store, clock=self.clock).wait(TENANT, timeout_seconds)

    async def stored(self):
        async with self.store as unit:
            return [await unit.runs.get(run_id) for run_id in self.run_ids]

    async def types(self):
        async with self.store as unit:
            return [
                event.event_type.value
                for run in [await unit.runs.get(run_id) for run_id in self.run_ids]
                for event in await unit.events.list_for_session(run.session_id)
            ]


def test_several_workers_do_each_run_once_and_the_tenant_can_be_truncated():
    site = Site(TURNS, runs=12)

    async def played():
        await site.submit()
        workers = [site.worker(f"worker {n}") for n in range(3)]
        tasks = [asyncio.create_task(worker.run()) for worker in workers]
        waiting = await site.drain()
        for worker in workers:
            worker.stop()
        await asyncio.gather(*tasks)
        runs, types = await site.stored(), await site.types()
        await InMemoryTenantMaintenance(site.store).truncate_tenant(TENANT)
        async with site.store as unit:
            left = await unit.runs.list_for_session(runs[0].session_id)
        return waiting, runs, types, left

    waiting, runs, types, left = asyncio.run(played())
    assert waiting == left == ()
    assert {run.status for run in runs} == {RunStatus.COMPLETED}
    assert types.count("run.claimed") == types.count("run.completed") == 12
    assert "run.fenced" not in types
    assert site.errors == []


def test_told_to_stop_it_finishes_what_is_under_way():
    started = asyncio.Event()

    async def work(arguments):
        started.set()
        await asyncio.sleep(0.05)
        return ToolResult({}, "done")

    site = Site(TURNS, [Probe(work)])

    async def played():
        await site.submit()
        worker = site.worker()
        task = asyncio.create_task(worker.run())
        await started.wait()
        worker.stop()
        worker.stop()
        await task
        return (await site.stored())[0], await site.types()

    run, types = asyncio.run(played())
    assert run.status is RunStatus.COMPLETED
    assert "run.requeued" not in types


def test_what_takes_too_long_to_stop_is_given_back():
    started = asyncio.Event()

    async def work(arguments):
        started.set()
        await asyncio.Event().wait()

    site = Site(TURNS, [Probe(work)])

    async def played():
        await site.submit()
        worker = site.worker(settings=EAGER._replace(grace_seconds=0))
        task = asyncio.create_task(worker.run())
        await started.wait()
        worker.stop()
        await task
        return (await site.stored())[0], await site.types()

    run, types = asyncio.run(played())
    assert (run.status, run.lease, run.attempts) == (RunStatus.QUEUED, None, 0)
    assert types[-1] == "run.requeued"


def test_neither_a_broken_run_nor_a_store_that_fails_ends_it():
    class Broken(ScriptedModelProvider):
        async def stream(self, request):
            raise ZeroDivisionError("a defect of the adapter")
            yield

    site = Site()

    async def played():
        await site.submit()
        claim = site.store.runs.claim
        calls = []

        async def failing_once(*arguments):
            calls.append(arguments)
            if len(calls) == 1:
                raise StorageUnavailable("restarting")
            return await claim(*arguments)

        site.store.runs.claim = failing_once
        parts = {**site.parts(), "model": Broken([], site.clock)}
        worker = build_worker(**parts, owner="worker", settings=EAGER, on_error=site.errors.append)
        task = asyncio.create_task(worker.run())
        await site.drain()
        worker.stop()
        await task
        return (await site.stored())[0]

    run = asyncio.run(played())
    assert run.status is RunStatus.FAILED
    assert [type(error) for error in site.errors] == [StorageUnavailable, ZeroDivisionError]


def test_draining_says_what_is_left():
    site = Site()

    async def played():
        await site.submit()
        await site.drain(timeout_seconds=0)

    with pytest.raises(TenantBusy, match="run .* is QUEUED"):
        asyncio.run(played())


def test_draining_leaves_runs_that_wait_to_somebody():
    site = Site([proposes(("conversation.ask_user", '{"question": "?"}')), DONE], builtin_tools())

    async def played():
        await site.submit()
        await site.worker().run_until_idle()
        return await site.drain(timeout_seconds=0)

    (waiting,) = asyncio.run(played())
    assert waiting.status is RunStatus.WAITING_FOR_USER


NOW = SystemClock().now()
RUN = Run("run", "session", "somebody", frozenset(), RunStatus.QUEUED, RunLimits(), NOW)


def beating(seconds, during, renew=None, lease_seconds=0.03):
    """The token, and the run, after a heartbeat over a run that is held."""
    store, clock, token = InMemoryUnitOfWork(), SystemClock(), CancellationToken()

    async def played():
        await store.runs.add(RUN)
        held = await store.runs.claim("worker", NOW, NOW)
        if renew is not None:
            store.runs.renew = renew(store)
        beats = HeartbeatThread(units=lambda: store, clock=clock, lease_seconds=lease_seconds)
        async with beats("run", held.lease, token):
            await during(store)
            # Blocks the event loop, as a tool that computes does.
            while clock.now().timestamp() < NOW.timestamp() + seconds + 0.2 and not (
                (await store.runs.get("run")).lease.expires_at > NOW
            ):
                pass
            for _ in range(200):
                await asyncio.sleep(0.005)
                if _told(token):
                    break
        return await store.runs.get("run")

    return token, asyncio.run(played())


def _told(token):
    try:
        token.check()
    except (Fenced, Cancelled) as told:
        return type(told)
    return None


async def nothing(store):
    return None


def test_a_lease_is_renewed_while_the_event_loop_is_blocked():
    async def asks_to_cancel(store):
        await store.runs.request_cancel("run", NOW)

    token, run = beating(20, asks_to_cancel)
    assert run.lease.expires_at > NOW
    assert _told(token) is Cancelled


def test_a_heartbeat_that_finds_the_run_lost_says_so():
    async def is_taken(store):
        stored = await store.runs.get("run")
        await store.runs.requeue(stored, NOW, 0)
        await store.runs.claim("other", NOW, NOW.replace(year=NOW.year + 1))

    token, run = beating(20, is_taken)
    assert _told(token) is Fenced
    assert run.lease.owner == "other"


@pytest.mark.parametrize("error", [StorageUnavailable("restarting"), ZeroDivisionError("a defect")])
def test_a_renewal_that_fails_is_tried_again(error):
    calls = []

    def failing_once(store):
        renew = store.runs.renew

        async def renewed(*arguments):
            calls.append(arguments)
            if len(calls) == 1:
                raise error
            return await renew(*arguments)

        return renewed

    async def asks_to_cancel(store):
        await store.runs.request_cancel("run", NOW)

    token, run = beating(20, asks_to_cancel, failing_once)
    assert len(calls) >= 2
    assert run.lease.expires_at > NOW
    assert _told(token) is Cancelled


def test_one_thread_renews_the_leases_of_all_runs_and_ends_when_there_are_none():
    store, clock = InMemoryUnitOfWork(), SystemClock()
    beats = HeartbeatThread(units=lambda: store, clock=clock, lease_seconds=0.01)
    before = set(threading.enumerate())

    async def renewed(run_id):
        await store.runs.add(RUN._replace(id=run_id))
        held = await store.runs.claim("worker", NOW, NOW)
        async with beats(run_id, held.lease, CancellationToken()):
            while not (await store.runs.get(run_id)).lease.expires_at > NOW:
                await asyncio.sleep(0.001)
            return set(threading.enumerate()) - before

    async def played():
        return await asyncio.gather(*(renewed(f"run {n}") for n in range(5)))

    started = asyncio.run(played())
    assert {len(threads) for threads in started} == {1}
    for thread in started[0]:
        thread.join(30)
        assert not thread.is_alive()
    (again,) = asyncio.run(renewed("run 9"))
    assert again not in started[0]
