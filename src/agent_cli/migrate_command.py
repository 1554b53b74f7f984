"""`agent migrate`: make a store, or bring one to the schema of this program."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from agent_cli.stores import CODES, add_store, guarded, store_errors
from agent_core.bootstrap import migrate_storage, register_tenant
from agent_core.domain.sessions import DEFAULT_TENANT
from hardgate.cli.console import Console
from hardgate.cli.exits import OK
from hardgate.cli.parser import CommandParser

PROGRAM = "agent migrate"
DESCRIPTION = """\
Makes the tables of a store, or brings them to the schema of this program, all or nothing. A store
that has it already is left alone. On PostgreSQL the URL is the owner's; the roles exist before."""


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit code."""
    return guarded(PROGRAM, arguments, _options, _run)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser(
        PROGRAM,
        "--store URL [--tenant NAME...] [--application-role ROLE]\n"
        "       [--maintenance-role ROLE] [--json]",
        DESCRIPTION,
        "--store sqlite:///records.db",
        CODES,
        in_workspace=False,
    )
    add_store(parser)
    add = parser.add_argument
    who = f"a tenant that may have records; repeat (default: {DEFAULT_TENANT})"
    add("--tenant", action="append", metavar="NAME", help=who)
    add("--application-role", metavar="ROLE", help="PostgreSQL's role that runs agents")
    add("--maintenance-role", metavar="ROLE", help="PostgreSQL's role that removes records")
    return parser.parse(arguments)


def _run(options: argparse.Namespace, console: Console) -> int:
    registered: list[str] = list(dict.fromkeys(options.tenant or [DEFAULT_TENANT]))
    with store_errors(", ".join(registered), "--store, or a role"):
        migrate_storage(options.store, options.application_role, options.maintenance_role)
        for tenant_id in registered:
            register_tenant(options.store, tenant_id)
    if options.json:
        console.json({"schema_version": 1, "ok": True, "tenants": registered})
    else:
        console.result(f"the store is ready for {', '.join(registered)}")
    return OK
