"""`agent submit`: put a message into a store, for a worker to run it."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence

from agent_cli.stores import (
    CODES,
    DEPLOYMENT,
    add_deployment,
    add_store,
    guarded,
    store_errors,
    the_only,
)
from agent_core.application.runtime import Runtime
from agent_core.bootstrap import build_runtime, load_deployment, open_storage, scripted_runs
from agent_core.domain.sessions import Principal
from hardgate.cli.console import Console
from hardgate.cli.exits import OK
from hardgate.cli.parser import CommandParser

PROGRAM = "agent submit"
DESCRIPTION = """\
Opens a conversation with one message in a store and prints the id of its run, which waits in the
queue for a worker: see `agent worker`."""


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit code."""
    return guarded(PROGRAM, arguments, _options, _run)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser(
        PROGRAM,
        "TEXT --store URL [--deployment FILE] [--principal NAME] [--json]",
        DESCRIPTION,
        '"What is 17 * 23?" --store sqlite:///records.db',
        CODES,
        in_workspace=False,
    )
    parser.add_argument("text", metavar="TEXT", help="the user's message")
    add_store(parser)
    add_deployment(parser)
    who = "who acts (default: the only one there is)"
    parser.add_argument("--principal", metavar="NAME", help=who)
    options = parser.parse(arguments)
    if not options.text.strip():
        parser.error("found an empty TEXT; allowed: a message")
    return options


def _run(options: argparse.Namespace, console: Console) -> int:
    rules = load_deployment(str(options.deployment or DEPLOYMENT))
    principal = rules.principals[the_only("principal", options.principal, rules.principals)]
    with store_errors(principal.tenant_id):
        storage = open_storage(options.store, tenant_id=principal.tenant_id)
    try:
        runtime = build_runtime(model=scripted_runs(()), units=storage.units)
        run_id = asyncio.run(_submitted(runtime, principal, options.text))
    finally:
        storage.close()
    if options.json:
        console.json({"schema_version": 1, "ok": True, "run_id": run_id})
    else:
        console.result(run_id)
    return OK


async def _submitted(runtime: Runtime, principal: Principal, text: str) -> str:
    session = await runtime.open_session(principal)
    return await runtime.submit(session.id, text)
