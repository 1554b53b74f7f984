"""What the commands about one run of a store have in common."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable

from agent_cli.stores import DEPLOYMENT, add_deployment, add_store, store_errors, tenants, the_only
from agent_core.application.runtime import Runtime
from agent_core.bootstrap import build_runtime, load_deployment, open_storage, scripted_runs
from agent_core.domain.runs import Run
from hardgate.cli.console import Console
from hardgate.cli.exits import OK, UsageError
from hardgate.cli.parser import CommandParser


def add_run(parser: CommandParser) -> None:
    """The options that say which run it is, and where."""
    parser.add_argument("run", metavar="RUN", help="the run's id, as agent submit prints it")
    add_store(parser)
    add_deployment(parser)
    whose = "whose run (default: the deployment's only tenant)"
    parser.add_argument("--tenant", metavar="NAME", help=whose)


def change(
    options: argparse.Namespace, console: Console, change_of: Callable[[Runtime], Awaitable[Run]]
) -> int:
    """Let a service change the run, and print what it is then."""
    rules = load_deployment(str(options.deployment or DEPLOYMENT))
    tenant_id = the_only("tenant", options.tenant, tenants(rules.principals))
    with store_errors(tenant_id):
        storage = open_storage(options.store, tenant_id=tenant_id)
    owner = f"command-{os.getpid()}-{os.urandom(4).hex()}"
    runtime = build_runtime(model=scripted_runs(()), units=storage.units, owner=owner)
    try:
        run = asyncio.run(_awaited(change_of(runtime)))
    except ValueError as error:
        raise UsageError(str(error)) from None
    finally:
        storage.close()
    if options.json:
        console.json({"schema_version": 1, "ok": True, "run_id": run.id, "status": run.status})
    else:
        console.result(run.status)
    return OK


async def _awaited(run: Awaitable[Run]) -> Run:
    return await run
