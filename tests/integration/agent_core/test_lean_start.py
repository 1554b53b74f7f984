"""A process that runs one case loads nothing that the case does not need."""

import json
import os
import subprocess
import sys

PROGRAM = """
import json, sys
before = set(sys.modules)
from agent_core.application.inline import run_inline
from agent_core.bootstrap import build_pinned_runtime
from agent_core.domain.model_script import FinalTurn, ScriptedToolCall, ToolCallsTurn
from agent_core.domain.sessions import Principal

async def case():
    call = ScriptedToolCall("call_1", "math.calculate", '{"expression": "17 * 23"}')
    turns = [ToolCallsTurn((call,)), FinalTurn("391")]
    runtime = build_pinned_runtime(turns=turns, seed="lean").runtime
    session = await runtime.open_session(Principal("somebody"))
    run = await runtime.run_until_terminal(await runtime.submit(session.id, "17 * 23?"))
    return run.status, await runtime.final_text(run.id)

print(json.dumps([run_inline(case()), sorted(set(sys.modules) - before)]))
"""
HEAVY = {
    "asyncio",
    "dataclasses",
    "inspect",
    "logging",
    "pydantic",
    "socket",
    "unicodedata",
    "yaml",
}


def test_a_pinned_run_imports_nothing_heavy():
    # -S: a site's own start-up files may import anything.
    finished = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM],
        env={"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    result, loaded = json.loads(finished.stdout)
    assert result == ["COMPLETED", "391"]
    assert "agent_core.bootstrap" in loaded
    assert not HEAVY & set(loaded)
