"""Whether PostgreSQL keeps tenants apart: for each role, behind the adapter, after a migration."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hypothesis import strategies as st
from psycopg import Connection, sql
from psycopg.errors import UniqueViolation
from sqlalchemy import ColumnClause, Engine, Select, column, select, table

from agent_core.adapters.sql.engine import open_engine
from agent_core.adapters.sql.migrate import upgrade
from agent_core.adapters.sql.tables import METADATA, TENANTS
from agent_core.adapters.sql.transaction import begin, commit
from hardgate.documents.tree import Tree
from hardgate.kinds.checking import require
from hardgate.kinds.property import PropertyContext
from tests.support import postgres_process, postgres_template, row_level_security
from tests.support.postgres import Role, Server
from tests.support.postgres_roles import ROLES
from tests.support.row_level_security import Pair

_DATABASE = postgres_template.DATABASE
_ROLES: tuple[Role, ...] = ("app", "maintenance", "owner")
_TOO_STRONG = {
    "SUPERUSER": "ALTER ROLE {role} SUPERUSER",
    "BYPASSRLS": "ALTER ROLE {role} BYPASSRLS",
    "MEMBER": "GRANT {owner} TO {role}",
}
_ONE_PAIR = ("tenant_one", "tenant_two")
_MOST_TURNS = 6


def check(context: PropertyContext) -> None:
    """Migrates a server of its own; the network is off, and its socket is a file."""
    with _migrated(context.tree) as server, server.connect("admin", _DATABASE) as admin:
        rows = _Rows(admin)
        _check_rows(context, server, rows)
        _check_settings(context, server, rows)
        _check_grants(context, server, admin)


@contextmanager
def _migrated(tree: Tree) -> Iterator[Server]:
    """A server on the empty cluster among the sources, with the roles and every migration."""
    (archive,) = tree.paths()
    folder = postgres_process.new_folder()
    data = folder / "data"
    try:
        with tempfile.NamedTemporaryFile(suffix=".tar") as copy:
            Path(copy.name).write_bytes(tree.read(archive))
            postgres_process.unpack(Path(copy.name), data)
        log = postgres_process.log_file(folder)
        running = postgres_process.start(folder, data, log, {"fsync": "off"})
        try:
            admin_url = f"postgresql://{postgres_template.SUPERUSER}@/template1?host={folder}"
            postgres_template.prepare(admin_url, _DATABASE, None)
            yield Server(admin_url, None, _DATABASE)
        finally:
            postgres_process.stop(running, "QUIT")
    finally:
        postgres_process.forget(folder, data)


class _Rows:
    """The tenants that have a row in every table."""

    def __init__(self, admin: Connection) -> None:
        self._admin = admin
        self._tenants: set[str] = set()

    def add(self, tenants: Sequence[str]) -> None:
        """Gives those their rows that have none yet, with the same ids as everybody's."""
        try:
            row_level_security.fill(self._admin, sorted(set(tenants) - self._tenants))
        except UniqueViolation as taken:
            require(False, "key_without_tenant", f"two tenants can't have the same ids: {taken}")
        self._tenants.update(tenants)


def _names() -> st.SearchStrategy[str]:
    """What a tenant may be called: any text that PostgreSQL can hold."""
    letters = st.characters(codec="utf-8", exclude_characters="\0")
    return st.text(letters, min_size=1, max_size=20)


def _pairs() -> st.SearchStrategy[Pair]:
    """Two tenants, most of them with names that look alike to a careless comparison."""
    word = st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True)
    alike = word.flatmap(
        lambda name: (
            st.sampled_from([name.upper(), name + " ", " " + name, name + "%", "_", "%"])
            .filter(lambda other: other != name)
            .flatmap(lambda other: st.permutations((name, other)))
        )
    )
    different = st.lists(_names(), min_size=2, max_size=2, unique=True)
    return st.one_of(alike, different).map(lambda pair: (pair[0], pair[1]))


def _check_rows(context: PropertyContext, server: Server, rows: _Rows) -> None:
    """What each role reaches of another tenant's, in every table."""
    with (
        server.connect("app", _DATABASE) as app,
        server.connect("maintenance", _DATABASE) as maintenance,
        server.connect("owner", _DATABASE) as owner,
    ):
        connections = {"app": app, "maintenance": maintenance, "owner": owner}

        def tenants_stay_apart(role: Role, pair: Pair) -> None:
            rows.add(pair)
            found = row_level_security.examine(connections[role], pair, owner=role == "owner")
            for rule, name, message in found.violations:
                require(False, rule, f"{role}, {name or 'role'}: {message}")
            missed = METADATA.tables.keys() - set(found.tables)
            require(not missed, "table_missed", f"{sorted(missed)} are not in the catalogue")
            # Whatever else it was granted, a role reads every table.
            require(
                found.attempts >= len(found.tables),
                "table_missed",
                f"{role}: {found.attempts} attempts on {len(found.tables)} tables",
            )

        context.for_all(
            tenants_stay_apart,
            examples=[{"role": role, "pair": _ONE_PAIR} for role in _ROLES],
            role=st.sampled_from(_ROLES),
            pair=_pairs(),
        )


def _check_settings(context: PropertyContext, server: Server, rows: _Rows) -> None:
    """Which tenant a transaction of the adapter acts for, and the next one on its connection."""
    tenants = [f"tenant_{number}" for number in range(4)]
    engine = open_engine(server.url("app", _DATABASE))

    def setting_ends_with_transaction(turns: list[tuple[str, bool]], name: str) -> None:
        rows.add(tenants)
        for tenant, is_committed in turns:
            connection, transaction = begin(engine, tenant)
            with connection:
                seen = {row["tenant"] for row in transaction.execute(_tenants_in(name))}
                require(seen == {tenant}, "tenant_not_set", f"{tenant} sees {sorted(seen)}")
                if is_committed:
                    commit(connection)
            left = _seen_by_nobody(engine, name)
            require(not left, "setting_kept", f"after {tenant}, nobody sees {left}")

    try:
        context.for_all(
            setting_ends_with_transaction,
            turns=st.lists(
                st.tuples(st.sampled_from(tenants), st.booleans()), min_size=1, max_size=_MOST_TURNS
            ),
            name=st.sampled_from(sorted(METADATA.tables)),
        )
    finally:
        engine.dispose()


def _tenants_in(name: str) -> Select[str]:
    """A query for the tenants of a table's rows, which leaves every condition to the policies."""
    key: ColumnClause[str] = column("id" if name == TENANTS.name else "tenant_id")
    return select(key.label("tenant")).select_from(table(name, key))


def _seen_by_nobody(engine: Engine, name: str) -> Sequence[str]:
    with engine.connect() as connection:
        return sorted(connection.execute(_tenants_in(name)).scalars())


def _check_grants(context: PropertyContext, server: Server, admin: Connection) -> None:
    """That a role which could see past the policies is granted nothing."""
    owner = server.url("owner", _DATABASE)

    def strong_role_gets_nothing(rights: set[str], suffix: str, is_application: bool) -> None:
        role = f"strong_{suffix}"
        words = {"role": sql.Identifier(role), "owner": sql.Identifier(ROLES["owner"])}
        admin.execute(sql.SQL("CREATE ROLE {role}").format(**words))
        try:
            for right in sorted(rights):
                admin.execute(sql.SQL(_TOO_STRONG[right]).format(**words))
            refused = False
            try:
                upgrade(owner, *((role, None) if is_application else (None, role)))
            except ValueError:
                refused = True
            require(refused, "strong_role_granted", f"{role} with {sorted(rights)}")
        finally:
            admin.execute(sql.SQL("DROP OWNED BY {role}").format(**words))
            admin.execute(sql.SQL("DROP ROLE {role}").format(**words))

    context.for_all(
        strong_role_gets_nothing,
        rights=st.sets(st.sampled_from(sorted(_TOO_STRONG)), min_size=1),
        suffix=st.from_regex(r"[a-z0-9_]{1,20}", fullmatch=True),
        is_application=st.booleans(),
    )
