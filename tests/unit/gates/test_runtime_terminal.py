"""Who may end a run: every second way is found, and the one way has to be whole."""

import pytest

from gates.checks.runtime import one_terminal_writer
from tests.unit.gates.sources import examine, said

FINALIZE = "src/agent_core/application/finalize.py"
LOOP = "src/agent_core/application/loop.py"
SOUND = """\
from agent_core.domain.events import EventType
from agent_core.domain.runs import RunStatus


class Finalizer:
    async def finalize(self, run_id):
        async with self._units() as unit:
            run = (await unit.runs.get(run_id))._replace(status=RunStatus.COMPLETED)
            await unit.runs.update(run, expected=RunStatus.RUNNING)
            await self._journal.record(unit, run, EventType.RUN_COMPLETED, {})
        return run
"""
IMPORTS = (
    "from agent_core.domain.events import EventType as E\n"
    "from agent_core.domain.runs import RunStatus as S\n"
)


def test_a_runtime_with_one_writer_passes():
    text = (
        f"{IMPORTS}def f(run, unit):\n"
        "    '''Like run.completed.'''\n"
        "    ends = [one for one in S if one.is_terminal]\n"
        "    return run._replace(status=S.RUNNING), E.RUN_STARTED, ends\n"
    )
    domain = "src/agent_core/domain/catalogue.py"
    examination = examine(
        one_terminal_writer, {FINALIZE: SOUND, LOOP: text, domain: f"{IMPORTS}A = E('x')\n"}
    )
    assert (list(examination.findings), examination.examined) == ([], 3)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("status = S.FAILED", "terminal_status"),
        ("kind = E.RUN_CANCELLED if False else E.RUN_FAILED", "terminal_event"),
        ("log('run.failed')", "terminal_event"),
        ("S('FAILED')", "terminal_computed"),
        ("S[name]", "terminal_computed"),
        ("E(text)", "terminal_computed"),
        ("getattr(S, name)", "terminal_computed"),
        ("T = S\nT.COMPLETED", "terminal_status"),
    ],
)
def test_a_second_way_to_end_a_run_is_found(line, rule):
    examination = examine(one_terminal_writer, {FINALIZE: SOUND, LOOP: f"{IMPORTS}{line}\n"})
    assert {one.split(": ")[1] for one in said(examination)} == {rule}
    assert {one.path for one in examination.findings} == {LOOP}


UPDATE = "            await unit.runs.update(run, expected=RunStatus.RUNNING)\n"


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        ("async def finalize", "async def conclude", {"writer_missing"}),
        ("expected=RunStatus.RUNNING", "expected=run.status", {"unguarded_end"}),
        (", expected=RunStatus.RUNNING", "", {"unguarded_end"}),
        (UPDATE, UPDATE * 2, {"writes_repeated"}),
        (UPDATE, "", {"writes_repeated"}),
        (UPDATE, f"{UPDATE}        async with self._units() as unit:\n", {"split_end"}),
    ],
)
def test_the_writer_itself_has_to_be_whole(old, new, rules):
    examination = examine(one_terminal_writer, {FINALIZE: SOUND.replace(old, new)})
    assert {one.split(": ")[1] for one in said(examination)} == rules


def test_a_function_beside_the_writer_and_a_missing_module_are_found():
    beside = f"{SOUND}\n\nasync def other(unit, run):\n    await unit.runs.update(run)\n"
    assert {one.rule for one in examine(one_terminal_writer, {FINALIZE: beside}).findings} == {
        "second_writer",
        "unguarded_end",
        "writes_repeated",
        "split_end",
    }
    missing = examine(one_terminal_writer, {LOOP: ""})
    assert said(missing) == [f"{FINALIZE}:1: writer_missing"]
