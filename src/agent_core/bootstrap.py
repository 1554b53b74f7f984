"""Explicit construction of the runtime. Imported by entry points only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypedDict, Unpack

from agent_core.adapters.determinism.clocks import PinnedClock, SystemClock
from agent_core.adapters.determinism.ids import PinnedIdFactory, SystemIdFactory
from agent_core.adapters.determinism.schedulers import ConcurrentScheduler, DeterministicScheduler
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.models.scripted import ScriptedModelProvider
from agent_core.adapters.policy.rule_set_policy import NO_EFFECTS, RuleSetPolicy
from agent_core.adapters.tools.ask_user import AskUser
from agent_core.adapters.tools.current_time import CurrentTime
from agent_core.adapters.tools.demo_write import DemoExternalWrite, DemoUnsafeWrite
from agent_core.adapters.tools.math_calculate import MathCalculate
from agent_core.adapters.tools.recorded import with_recorded
from agent_core.adapters.tools.registry import StaticToolRegistry
from agent_core.application.call_journal import CallJournal
from agent_core.application.cancellation import CancellationToken
from agent_core.application.dispatcher import Heartbeat, RunDispatcher
from agent_core.application.executor import RunExecutor
from agent_core.application.finalize import Finalizer
from agent_core.application.journal import Journal
from agent_core.application.model_step import ModelStep
from agent_core.application.run_loop import RunLoop
from agent_core.application.runtime import Runtime
from agent_core.application.settlement import Settlement
from agent_core.application.tool_batch import ToolBatch
from agent_core.application.tool_pipeline import ToolPipeline
from agent_core.domain.deployment import DeploymentMode
from agent_core.domain.errors import AgentCoreError
from agent_core.domain.events import Event
from agent_core.domain.leases import LEASE_SECONDS
from agent_core.domain.model_script import ScriptedTurn
from agent_core.domain.recorded_results import RecordedResults
from agent_core.domain.sessions import DEFAULT_TENANT, Principal
from agent_core.ports.determinism import BatchScheduler, Clock, IdFactory
from agent_core.ports.maintenance import TenantMaintenance
from agent_core.ports.models import ModelProvider
from agent_core.ports.observation import PipelineObserver
from agent_core.ports.persistence import EventListener, UnitOfWorkFactory
from agent_core.ports.policies import PolicyEngine
from agent_core.ports.tools import Tool, ToolRegistry

if TYPE_CHECKING:
    from agent_core.application.reviews import ReviewService
    from agent_core.application.worker import Worker, WorkerSettings

PINNED_START = datetime(2026, 1, 1, tzinfo=UTC)
_IDS_OF_A_WORKER = 1_000_000


def builtin_tools() -> tuple[Tool, ...]:
    """The tools of a deployment that does not say which it wants."""
    return AskUser(), CurrentTime(), DemoExternalWrite(), DemoUnsafeWrite(), MathCalculate()


class _Parts(NamedTuple):
    """What the services of one deployment share."""

    units: UnitOfWorkFactory
    clock: Clock
    ids: IdFactory
    journal: Journal
    registry: ToolRegistry
    dispatcher: RunDispatcher


class Options(TypedDict, total=False):
    """What a composition may choose. `clock`, `ids` and `scheduler` default to the system's, which
    need `asyncio.run`; `tools` to the builtins; `policy` to one that allows only what has no side
    effect. `heartbeat_units` work in any thread: from one of their own they keep the leases of the
    runs that are executed here, as it takes where workers see the store. `observer` watches calls
    in the pipeline."""

    clock: Clock | None
    ids: IdFactory | None
    tools: Iterable[Tool] | None
    policy: PolicyEngine | None
    scheduler: BatchScheduler | None
    heartbeat_units: UnitOfWorkFactory | None
    lease_seconds: float
    observer: PipelineObserver | None


def _parts(model: ModelProvider, units: UnitOfWorkFactory, owner: str, options: Options) -> _Parts:
    clock = options.get("clock") or SystemClock()
    ids = options.get("ids") or SystemIdFactory()
    journal = Journal(clock, ids)
    calls = CallJournal(clock, ids, journal)
    tools = options.get("tools")
    registry = StaticToolRegistry(builtin_tools() if tools is None else tools)
    rules = options.get("policy") or RuleSetPolicy(NO_EFFECTS)
    order = options.get("scheduler") or ConcurrentScheduler()
    lease_seconds = options.get("lease_seconds", LEASE_SECONDS)
    observer = options.get("observer")
    settlement = Settlement(clock, ids, calls)

    def build_executor(held: UnitOfWorkFactory, token: CancellationToken) -> RunExecutor:
        pipeline = ToolPipeline(
            units=held,
            clock=clock,
            ids=ids,
            calls=calls,
            registry=registry,
            policy=rules,
            token=token,
            observer=observer,
        )
        loop = RunLoop(
            units=held,
            clock=clock,
            journal=journal,
            registry=registry,
            model_step=ModelStep(
                units=held, clock=clock, ids=ids, journal=journal, provider=model, token=token
            ),
            batch=ToolBatch(
                clock=clock, ids=ids, registry=registry, pipeline=pipeline, scheduler=order
            ),
            token=token,
        )
        finalizer = Finalizer(units=held, clock=clock, journal=journal, settlement=settlement)
        return RunExecutor(units=held, clock=clock, journal=journal, loop=loop, finalizer=finalizer)

    dispatcher = RunDispatcher(
        units=units,
        clock=clock,
        journal=journal,
        build_executor=build_executor,
        owner=owner,
        heartbeat=_heartbeat(options.get("heartbeat_units"), clock, lease_seconds),
        lease_seconds=lease_seconds,
    )
    return _Parts(units, clock, ids, journal, registry, dispatcher)


def _heartbeat(
    units: UnitOfWorkFactory | None, clock: Clock, lease_seconds: float
) -> Heartbeat | None:
    if units is None:
        return None
    from agent_core.application.heartbeat import HeartbeatThread

    return HeartbeatThread(units=units, clock=clock, lease_seconds=lease_seconds)


def build_runtime(
    *,
    model: ModelProvider,
    listener: EventListener | None = None,
    units: UnitOfWorkFactory | None = None,
    owner: str = "in_process",
    **options: Unpack[Options],
) -> Runtime:
    """The services of a deployment, and its runs within this process.

    Records are kept in memory, and `listener` is told of each event that is committed, unless
    `units` are given. Raises `RegistrationError` for tools that may not be registered.
    """
    return Runtime(**_parts(model, units or _in_memory(listener), owner, options)._asdict())


def build_worker(
    *,
    model: ModelProvider,
    units: UnitOfWorkFactory,
    owner: str,
    settings: WorkerSettings | None = None,
    on_error: Callable[[Exception], None] | None = None,
    **options: Unpack[Options],
) -> Worker:
    """A worker named `owner`. Without `heartbeat_units` a run has to end within the first
    `lease_seconds`, or is lost to whoever sweeps then. `on_error` is told of each error that the
    worker survives. Raises `RegistrationError` for tools that may not be registered.
    """
    # Imported here: a process that works on one run does not pay for what only workers use.
    from agent_core.application.hooks import HOOK_WORKS, HookQueue, HookRunner
    from agent_core.application.projector import Projector
    from agent_core.application.sweeps import Sweeps
    from agent_core.application.worker import Worker

    parts = _parts(model, units, owner, options)
    clock = parts.clock
    hooks = HookQueue(units=units, clock=clock, ids=parts.ids)
    runner = HookRunner(
        units=units,
        clock=clock,
        owner=owner,
        works=HOOK_WORKS,
        lease_seconds=options.get("lease_seconds", LEASE_SECONDS),
    )
    return Worker(
        clock=clock,
        dispatcher=parts.dispatcher,
        sweeps=Sweeps(units=units, clock=clock, journal=parts.journal, hooks=hooks),
        hook_queue=hooks,
        hook_runner=runner,
        projector=Projector(units=units),
        settings=settings,
        on_error=on_error,
    )


def build_reviews(units: UnitOfWorkFactory) -> ReviewService:
    """The service for the calls of which nobody knows what they did."""
    from agent_core.application.reviews import ReviewService

    return ReviewService(units=units, clock=SystemClock())


def _in_memory(listener: EventListener | None) -> UnitOfWorkFactory:
    store = InMemoryUnitOfWork(listener)
    return lambda: store


class Storage(NamedTuple):
    """Where the records of one tenant are kept.

    `units` may be used on any thread, where they are not in memory; `close` ends what they hold.
    """

    units: UnitOfWorkFactory
    close: Callable[[], None]


def open_storage(
    url: str, *, tenant_id: str = DEFAULT_TENANT, listener: EventListener | None = None
) -> Storage:
    """Open `memory`, `sqlite:///PATH` or `postgresql+psycopg://...` for a tenant; `listener` is told
    of each event that these units commit.

    A file of SQLite is made, or brought to the present schema, and the tenant registered. On
    PostgreSQL that takes the owner (`migrate_storage`, `register_tenant`). Raises `ValueError` for
    another URL, `SchemaMismatch`, `NotFound` for the tenant, and `StorageUnavailable`.
    """
    if url == "memory":
        return Storage(_in_memory(listener), lambda: None)
    # Imported here: a process that keeps its records in memory does not pay for SQL.
    from agent_core.adapters.sql.schema_version import SCHEMA_VERSION
    from agent_core.adapters.sql.store import SqlStore

    store = SqlStore(url)
    try:
        if store.is_embedded:
            if store.schema_version() != SCHEMA_VERSION:
                migrate_storage(url)
            store.register_tenant(tenant_id)
        store.check_schema()
        store.check_tenant(tenant_id)
    except AgentCoreError:
        store.close()
        raise
    return Storage(store.units(tenant_id, listener), store.close)


def migrate_storage(
    url: str, application_role: str | None = None, maintenance_role: str | None = None
) -> None:
    """Bring a database to the present schema, and grant roles of PostgreSQL what they need.

    Raises `ValueError` for a URL that is none of a database and for a role that does not exist or
    could see past the policies on rows, `SchemaMismatch` for the schema of a newer program, and
    `StorageUnavailable`; then nothing was changed.
    """
    from agent_core.adapters.sql.migrate import upgrade

    upgrade(url, application_role, maintenance_role)


def register_tenant(url: str, tenant_id: str) -> None:
    """Let a tenant have records in a database; on PostgreSQL with the URL of its owner. Raises
    `ValueError` for a URL that is none of a database and for an empty id, and
    `StorageUnavailable`."""
    from agent_core.adapters.sql.store import SqlStore

    store = SqlStore(url)
    store.register_tenant(tenant_id)
    store.close()


class Maintenance(NamedTuple):
    """Maintenance of a store; `close` ends its connections."""

    tenants: TenantMaintenance
    close: Callable[[], None]


def open_maintenance(url: str) -> Maintenance:
    """Open a database for maintenance; on PostgreSQL with the URL of the role for it. Raises
    `ValueError` for a URL that is none of a database."""
    from agent_core.adapters.sql.maintenance import SqlTenantMaintenance

    maintenance = SqlTenantMaintenance(url)
    return Maintenance(maintenance, maintenance.close)


class Identity(NamedTuple):
    """The principals of a deployment, and its policy profiles as engines, by name."""

    principals: Mapping[str, Principal]
    policies: Mapping[str, PolicyEngine]


def load_identity(root: str, mode: DeploymentMode) -> Identity:
    """What the folder `root` holds. Raises `ConfigurationRefused`, also for every principal and
    profile of evaluations where `mode` is not development."""
    # Imported here: a process that reads no files does not pay for the libraries that do.
    from agent_core.adapters.configuration.deployment import read_identity

    found = read_identity(root, mode)
    policies = {name: RuleSetPolicy(rules) for name, rules in found.profiles.items()}
    return Identity(found.principals, policies)


class DeploymentRules(NamedTuple):
    """Who may act in a deployment, by name, and under which policy."""

    mode: DeploymentMode
    principals: Mapping[str, Principal]
    policy: PolicyEngine


def load_deployment(path: str) -> DeploymentRules:
    """What the deployment file at `path` says. Raises `ConfigurationRefused` with every problem of
    its files."""
    from agent_core.adapters.configuration.deployment import read_deployment

    settings = read_deployment(path)
    principals = settings.identity.principals
    return DeploymentRules(settings.mode, principals, RuleSetPolicy(settings.rules))


class Deployment(NamedTuple):
    """A runtime as a deployment file describes it, and who may act in it, by name."""

    mode: DeploymentMode
    principals: Mapping[str, Principal]
    runtime: Runtime


def start_deployment(path: str, *, model: ModelProvider) -> Deployment:
    """Start what the deployment file at `path` describes, with its records in memory.

    Raises `ConfigurationRefused`, before anything is built, with every problem of its files.
    """
    rules = load_deployment(path)
    runtime = build_runtime(model=model, policy=rules.policy)
    return Deployment(rules.mode, rules.principals, runtime)


def scripted_model(turns: Sequence[ScriptedTurn]) -> ScriptedModelProvider:
    """A model that plays `turns` by the system's clock. `ValueError` for what cannot be played."""
    return ScriptedModelProvider(turns, SystemClock())


def scripted_runs(turns: Sequence[ScriptedTurn]) -> ModelProvider:
    """A model for workers that plays `turns` to every run, by the system's clock. `ValueError` for
    what cannot be played."""
    from agent_core.adapters.models.scripted_runs import ScriptedRunsProvider

    return ScriptedRunsProvider(turns, SystemClock())


class PinnedRuntime(NamedTuple):
    """A runtime in which nothing is left to chance, with the parts that a driver looks at.

    `model` knows how many turns were played and at which step the script ran out, if it did.
    Each of `listeners`, to which a driver may add, is told of each event that is committed.
    `missing_results` are the ids of the invocations of recorded tools without a result.
    Nothing in it waits for the outside, so `agent_core.application.inline.run_inline` runs it.
    """

    runtime: Runtime
    clock: PinnedClock
    model: ScriptedModelProvider
    listeners: list[EventListener]
    missing_results: list[str]


StoreFor: TypeAlias = Callable[[EventListener], UnitOfWorkFactory]
"""Gives units of work that tell a listener of each event which they commit."""


def build_pinned_runtime(
    *,
    turns: Sequence[ScriptedTurn],
    seed: str,
    start: datetime = PINNED_START,
    tools: Iterable[Tool] | None = None,
    policy: PolicyEngine | None = None,
    scheduler: BatchScheduler | None = None,
    recorded: RecordedResults | None = None,
    observer: PipelineObserver | None = None,
    store: StoreFor | None = None,
) -> PinnedRuntime:
    """A runtime that plays `turns`, with ids made from `seed` and a clock that stands at `start`.

    The calls of a batch take turns by `scheduler`, by default in the order of the batch. A tool
    with results in `recorded` gives these instead of working. Records are kept in `store`, by
    default in memory. Raises `ValueError` for turns that cannot be played.
    """
    clock = PinnedClock(start)
    model = ScriptedModelProvider(turns, clock)
    listeners, tell = _listeners()
    missing: list[str] = []
    offered = builtin_tools() if tools is None else tools
    runtime = build_runtime(
        model=model,
        clock=clock,
        ids=PinnedIdFactory(seed),
        tools=with_recorded(offered, recorded or {}, missing),
        policy=policy,
        scheduler=scheduler or DeterministicScheduler(),
        units=(store or _in_memory)(tell),
        observer=observer,
    )
    return PinnedRuntime(runtime, clock, model, listeners, missing)


class PinnedWorker(NamedTuple):
    """A worker in which nothing is left to chance; beside it, the services over the same store.
    The other parts are those of a `PinnedRuntime`."""

    worker: Worker
    runtime: Runtime
    clock: PinnedClock
    listeners: list[EventListener]
    missing_results: list[str]


def build_pinned_worker(
    *,
    turns: Sequence[ScriptedTurn],
    turns_played: int,
    seed: str,
    number: int,
    start: datetime,
    store: StoreFor,
    policy: PolicyEngine | None = None,
    recorded: RecordedResults | None = None,
    observer: PipelineObserver | None = None,
) -> PinnedWorker:
    """The worker of this `number`, from 1, over a store that others used before it.

    `turns_played` of the turns were played already. Its ids are its own and sort after those of
    workers with lower numbers. Its leases are not renewed: they end by the clock, which stands.
    """
    clock = PinnedClock(start)
    listeners, tell = _listeners()
    missing: list[str] = []
    units = store(tell)
    ids = PinnedIdFactory(seed, number * _IDS_OF_A_WORKER)
    worker = build_worker(
        model=ScriptedModelProvider(turns, clock, turns_played),
        units=units,
        owner=f"worker_{number}",
        clock=clock,
        ids=ids,
        tools=with_recorded(builtin_tools(), recorded or {}, missing),
        policy=policy,
        scheduler=DeterministicScheduler(),
        observer=observer,
    )
    services = build_runtime(
        model=ScriptedModelProvider((), clock), clock=clock, ids=ids, units=units
    )
    return PinnedWorker(worker, services, clock, listeners, missing)


def _listeners() -> tuple[list[EventListener], EventListener]:
    """Listeners, and one that tells all of them."""
    listeners: list[EventListener] = []

    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return listeners, tell
