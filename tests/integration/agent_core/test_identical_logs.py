"""Two runs of one script are the same to the byte, wherever they happen."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
from agent_core.application.inline import run_inline
from agent_core.bootstrap import build_pinned_runtime
from agent_core.domain.canonical import canonical_json
from agent_core.domain.model import ModelErrorClass
from agent_core.domain.model_script import ErrorTurn, FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.sessions import Principal

def calls(*pairs):
    return ToolCallsTurn(tuple(
        ScriptedToolCall(f"c{n}", name, arguments) for n, (name, arguments) in enumerate(pairs)
    ))

TURNS = [
    ErrorTurn(ModelErrorClass.RATE_LIMIT, "part", 2, 3.5),
    calls(
        ("math.calculate", '{"expression": "1/3"}'),
        ("math.calculate", '{"expression": "2/0"}'),
        ("system.current_time", "{}"),
    ),
    calls(
        ("demo.unsafe_write", '{"destination": "\\u00e9", "content": "x"}'),
        ("demo.invented", "{"),
        ("math.calculate", '{"expression": "4"}'),
    ),
    FinalTurn("Done."),
    FinalTurn("Again."),
]

async def converse():
    pinned = build_pinned_runtime(turns=TURNS, seed="everywhere")
    runtime = pinned.runtime
    session = await runtime.open_session(Principal("somebody", frozenset({"b", "a", "demo.write"})))
    told = []
    for text in ("first", "second"):
        run_id = await runtime.submit(session.id, text)
        run = await runtime.run_until_terminal(run_id)
        told += [run.status, run.usage, await runtime.transcript(run_id)]
        told += [row._replace(
            result=row.result and row.result.content, created_at=0, started_at=0, completed_at=0,
            effect_sent_at=0,
        ) for row in await runtime.invocations(run_id)]
    for event in await runtime.events(session.id):
        told.append(event._replace(created_at=event.created_at.isoformat()))
    return [*told, pinned.clock.sleeps]

print(canonical_json(run_inline(converse())))
"""


def told(**environment):
    finished = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM],
        env={
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONIOENCODING": "utf-8",
            "PYTHONHASHSEED": "0",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def reference():
    text = told()
    assert "tool.call.completed" in text
    return text


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4294967295"},
        {"TZ": "Pacific/Kiritimati"},
        {"TZ": "America/St_Johns", "LC_ALL": "C", "LANG": "C"},
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
        {"PYTHONOPTIMIZE": "2", "HOME": "/nonexistent", "USER": "nobody"},
    ],
)
def test_neither_hashes_nor_time_zones_nor_locales_show(reference, environment):
    assert told(**environment) == reference
