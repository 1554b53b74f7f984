"""`agent run`: one message, run to its answer by the runtime that a deployment file describes."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_core.application.runtime import Runtime
from agent_core.bootstrap import Deployment, scripted_model, start_deployment
from agent_core.domain.deployment import ConfigurationRefused
from agent_core.domain.runs import Run, RunStatus
from agent_core.domain.sessions import Principal
from agent_core.evals.script import played_turns
from hardgate.cli.console import Console, many
from hardgate.cli.exits import (
    FAILED,
    INTERRUPTED,
    OK,
    REFUSED,
    SUSPENDED,
    USAGE,
    UsageError,
)
from hardgate.cli.parser import CommandParser, unknown_name
from hardgate.documents.problems import DefinitionError
from hardgate.fixtures.model_script import load_script
from hardgate.verdicts.text import printable

PROGRAM = "agent run"
DEPLOYMENT = "config/deployment.yaml"
LONGEST_ANSWER_CHARACTERS = 1_000_000
DESCRIPTION = """\
Runs one message to its answer, with the system's clock and ids, and prints the answer. The model is
a script until live providers arrive at milestone 3. Everything else is as the deployment file says:
who may act, and under which policy."""


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit code."""
    console = Console(PROGRAM)
    try:
        options = _options(arguments)
        with contextlib.chdir(os.environ.get("BUILD_WORKSPACE_DIRECTORY") or os.getcwd()):
            return _run(options, console)
    except SystemExit as ended:
        return int(ended.code or OK)
    except UsageError as error:
        console.note(str(error))
        return USAGE
    except (DefinitionError, ConfigurationRefused) as refused:
        console.plain(str(refused))
        return REFUSED
    except OSError as error:
        console.note(f"{error.filename or 'a file'}: {error.strerror or error}")
        return REFUSED
    except KeyboardInterrupt:
        console.note("interrupted")
        return INTERRUPTED


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser(
        PROGRAM,
        "TEXT --script FILE [--deployment FILE] [--principal NAME] [--json]",
        DESCRIPTION,
        '"What is 17 * 23?" --script evals/fixtures/models/calculator_then_answer.yaml',
        (OK, FAILED, USAGE, SUSPENDED, REFUSED),
        in_workspace=False,
    )
    here = Path(os.environ.get("BUILD_WORKING_DIRECTORY") or os.getcwd())
    add = parser.add_argument
    add("text", metavar="TEXT", help="the user's message")
    add("--script", required=True, type=here.joinpath, metavar="FILE", help="what the model says")
    deployment = f"default: {DEPLOYMENT} of the workspace"
    add("--deployment", type=here.joinpath, metavar="FILE", help=deployment)
    add("--principal", metavar="NAME", help="who acts (default: the only one there is)")
    options = parser.parse(arguments)
    if not options.text.strip():
        parser.error("found an empty TEXT; allowed: a message")
    return options


def _run(options: argparse.Namespace, console: Console) -> int:
    path = str(options.script)
    model = scripted_model(played_turns(load_script(path, options.script.read_bytes())))
    deployment = start_deployment(str(options.deployment or DEPLOYMENT), model=model)
    principal = _principal(options.principal, deployment)
    run, answer = asyncio.run(_answered(deployment.runtime, principal, options.text))
    left = model.turns_total - model.turns_consumed
    if left:
        console.note(f"{many(left, 'turn')} of the script left over")
    if options.json:
        console.json(_plain(run, answer))
    elif run.status is RunStatus.COMPLETED and answer is not None:
        console.result(printable(answer, LONGEST_ANSWER_CHARACTERS))
    if run.status is RunStatus.COMPLETED:
        return OK
    if not run.status.is_terminal:
        console.note(f"the run waits as {run.status}; with a store, agent answer lets it go on")
        return SUSPENDED
    reason = "" if run.failure is None else f": {run.failure.reason} at step {run.step_count}"
    console.note(f"the run ended as {run.status}{reason}")
    return FAILED


def _principal(name: str | None, deployment: Deployment) -> Principal:
    """Raises UsageError for a name that nobody has, and for none where there are several."""
    names = sorted(deployment.principals)
    if name is None and len(names) == 1:
        return deployment.principals[names[0]]
    if name is None:
        raise UsageError(f"--principal: name one of {', '.join(names) or 'nobody'}")
    if name not in names:
        raise UsageError(f"--principal: {unknown_name('principal', name, names)}")
    return deployment.principals[name]


async def _answered(runtime: Runtime, principal: Principal, text: str) -> tuple[Run, str | None]:
    session = await runtime.open_session(principal)
    run = await runtime.run_until_terminal(await runtime.submit(session.id, text))
    return run, await runtime.final_text(run.id)


def _plain(run: Run, answer: str | None) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "ok": run.status is RunStatus.COMPLETED,
        "run_id": run.id,
        "status": str(run.status),
        "failure_reason": None if run.failure is None else str(run.failure.reason),
        "final_text": answer,
        "steps": run.step_count,
        "model_calls": run.usage.model_calls,
        "tool_calls": run.usage.tool_calls,
    }
