"""The stores that the contracts of repositories and units of work run over.

HARDGATE_CONTRACT_STORES names them, because only targets that name PostgreSQL start a server:
`memory,sqlite` if it is not set.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agent_core.adapters.in_memory.maintenance import InMemoryTenantMaintenance
from agent_core.adapters.in_memory.unit_of_work import InMemoryUnitOfWork
from agent_core.adapters.sql import migrate
from agent_core.adapters.sql.engine import open_engine
from agent_core.adapters.sql.maintenance import SqlTenantMaintenance
from agent_core.adapters.sql.store import SqlStore
from agent_core.adapters.sql.tables import TENANT_OWNED
from agent_core.domain.errors import NotFound
from agent_core.domain.invocations import InvocationStatus, ToolInvocation
from agent_core.domain.runs import Run, RunLimits, RunStatus
from agent_core.domain.sessions import Principal, Session
from agent_core.domain.trust import Labels, TrustLevel
from agent_core.ports.maintenance import TenantMaintenance
from agent_core.ports.persistence import UnitOfWork, UnitOfWorkFactory

STORES = "HARDGATE_CONTRACT_STORES"
TENANT = "tenant_default"
OTHER_TENANT = "tenant_eval"

_ADAPTERS = {
    "memory": "agent_core.adapters.in_memory.",
    "sqlite": "agent_core.adapters.sql.",
    "postgresql": "agent_core.adapters.sql.",
}
_MEMBERS = sorted(name for name in vars(UnitOfWork) if not name.startswith("_"))
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Choice(NamedTuple):
    """A store, and the implementation of the port that is tested with it."""

    store: str
    implementation: type


def over(implementations: Sequence[type]) -> list[Any]:
    """A parameter for each store that was chosen. Each has to have its one implementation."""
    found = []
    for store in os.environ.get(STORES, "memory,sqlite").split(","):
        (implementation,) = [
            one for one in implementations if one.__module__.startswith(_ADAPTERS[store])
        ]
        found.append(pytest.param(Choice(store, implementation), id=store))
    return found


class Store(NamedTuple):
    """A new store without records, through the ports.

    `units_of` gives the units of work of a tenant; in memory they are those of all tenants.
    """

    units_of: Callable[[str], UnitOfWorkFactory]
    maintenance: TenantMaintenance

    def units(self, tenant_id: str = TENANT) -> UnitOfWorkFactory:
        return self.units_of(tenant_id)

    def repository(self, name: str, tenant_id: str = TENANT) -> Committed:
        """The repository that a unit of work has under `name`, each call a unit of its own."""
        return Committed(self.units(tenant_id), name, tenant_id)


class Committed:
    """A repository each call of which is a unit of work that ends with it.

    What a new record refers to is added with it where it is not there, so that a contract needs no
    more than the records that it is about.
    """

    def __init__(self, units: UnitOfWorkFactory, name: str, tenant_id: str) -> None:
        self._units = units
        self._name = name
        self._tenant_id = tenant_id

    def __getattr__(self, method: str) -> Callable[..., Any]:
        async def call(*arguments: Any, **options: Any) -> Any:
            async with self._units() as unit:
                repository = getattr(unit, self._name)
                if method in ("add", "append"):
                    await add_what_it_refers_to(unit, arguments[0], self._tenant_id)
                return await getattr(repository, method)(*arguments, **options)

        return call


async def add_what_it_refers_to(unit: UnitOfWork, record: object, tenant_id: str) -> None:
    """Add the session, the run and the invocation that a record names and that are not there."""
    session_id = getattr(record, "session_id", None) or f"session of {tenant_id}"
    run_id = getattr(record, "run_id", None)
    invocation_id = getattr(record, "invocation_id", None)
    if hasattr(record, "session_id") or run_id is not None:
        principal = Principal("somebody", tenant_id=tenant_id)
        session = Session(session_id, principal, (), _NOW)
        await _add_missing(unit.sessions, session)
    if run_id is not None:
        run = Run(run_id, session_id, "x", frozenset(), RunStatus.QUEUED, RunLimits(), _NOW)
        await _add_missing(unit.runs, run._replace(tenant_id=tenant_id))
    if run_id is not None and invocation_id is not None:
        labels, status = Labels(TrustLevel.USER), InvocationStatus.UNCERTAIN
        row = ToolInvocation(invocation_id, run_id, 1, "call", "x.y", {}, labels, status, _NOW)
        await _add_missing(unit.invocations, row._replace(idempotency_key=invocation_id))


async def _add_missing(repository: Any, record: Any) -> None:
    try:
        await repository.get(record.id)
    except NotFound:
        await repository.add(record)


async def _parts(store: Store) -> set[type]:
    """The types that a store is made of."""
    async with store.units()() as unit:
        members = [getattr(unit, name) for name in _MEMBERS]
        return {type(part) for part in (unit, store.maintenance, *members)}


class Databases:
    """Makes stores, and what they need once for all tests of a process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        self._ends = ExitStack()
        self._server: Any = None
        self._database = ""
        self._template: Path | None = None

    def close(self) -> None:
        self._ends.close()

    @contextmanager
    def opened(self, choice: Choice) -> Iterator[Store]:
        """A new store of the chosen kind; it is made of the chosen implementation."""
        with self._new(choice.store) as store:
            assert choice.implementation in asyncio.run(_parts(store))
            yield store

    @contextmanager
    def _new(self, kind: str) -> Iterator[Store]:
        if kind == "memory":
            memory = InMemoryUnitOfWork()
            yield Store(lambda tenant_id: lambda: memory, InMemoryTenantMaintenance(memory))
            return
        url, maintenance_url = self.new_database(kind)
        sql, maintenance = SqlStore(url), SqlTenantMaintenance(maintenance_url)
        yield Store(sql.units, maintenance)
        sql.close()
        maintenance.close()

    def new_database(self, kind: str) -> tuple[str, str]:
        """The URLs of a database without records, for the runtime and for maintenance."""
        if kind == "sqlite":
            url = self._new_file()
            return url, url
        server, name = self._started()
        return server.url("app", name), server.url("maintenance", name)

    def _new_file(self) -> str:
        if self._template is None:
            self._template = self._folder / "template.db"
            migrate.upgrade(f"sqlite:///{self._template}")
        self._count += 1
        copy = self._folder / f"{self._count}.db"
        shutil.copyfile(self._template, copy)
        return f"sqlite:///{copy}"

    def _started(self) -> tuple[Any, str]:
        """The server and an empty database in it: one is emptied sooner than another is made."""
        if self._server is None:
            # Imported here: the other stores need nothing of it.
            from tests.support import postgres

            self._server = self._ends.enter_context(postgres.server())
            self._database = self._server.fresh_database()
            return self._server, self._database
        engine = open_engine(self._server.url("admin", self._database))
        with engine.begin() as connection:
            names = ", ".join(table.name for table in TENANT_OWNED)
            connection.exec_driver_sql(f"TRUNCATE {names}")
        engine.dispose()
        return self._server, self._database
