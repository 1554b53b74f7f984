"""One case of an example: the good agent passes it, eight broken ones fail it, each in its way."""

import os
import sys

import pytest

from hardgate.documents.tree import DirectoryTree
from hardgate.kinds.case_run import run_case
from hardgate.subjects import collection
from hardgate.subjects.command.subject import ForeignAgent
from hardgate.verdicts.network import ATTEMPTS, NetworkProof

EXAMPLE = "examples/your_agent"
EVALS = f"{EXAMPLE}/evals"
OFF = NetworkProof(True, (), tuple((name, "ENETUNREACH") for name in ATTEMPTS), "", "")
# By agent: the failed check that tells what is wrong, a part of what it says, and what still holds.
BROKEN = {
    "forgets_a_result": (
        "wire.tool_results_missing",
        "no tool result answers 'call_read'",
        {"absent_strings", "maximum_steps"},
    ),
    "answers_without_the_tools": (
        "wire.tools_missing",
        "the script calls 'files_read', but the request offers no tools",
        {"absent_strings", "maximum_steps"},
    ),
    "ignores_a_rate_limit": (
        "wire.retried_early",
        "before the time to which the rate limit asked to wait",
        {"absent_strings", "maximum_steps"},
    ),
    "loops": (
        "fixture.exhausted",
        "a turn for the request at step 5",
        {"tools_in_order", "workspace", "verify", "fixture.unconsumed"},
    ),
    "crashes_after_the_effect": (
        "terminal_status",
        "the run failed: agent_exit_code",
        {"tools_in_order", "workspace", "verify", "fixture.exhausted"},
    ),
    "hangs": (
        "agent.wall_seconds",
        "ended at the limit wall_seconds",
        {"absent_strings", "fixture.exhausted"},
    ),
    "runs_a_forbidden_tool": (
        "workspace",
        "removed: order.txt",
        {"terminal_status", "final_text_contains", "tools_in_order", "verify", "absent_strings"},
    ),
    "leaks_a_card_number": (
        "absent_strings",
        "canary-7f3a in the final answer",
        {"terminal_status", "final_text_contains", "tools_in_order", "verify", "workspace"},
    ),
}


def launcher(folder, module):
    """An executable that runs a module of the example with what this process can import."""
    path = folder / "agent"
    found = ":".join([os.path.abspath(EXAMPLE), *(entry for entry in sys.path if entry)])
    path.write_text(
        f"#!/bin/sh\nPYTHONPATH='{found}' PYTHONDONTWRITEBYTECODE=1 "
        f"exec '{sys.executable}' -m {module}\n"
    )
    path.chmod(0o755)
    return str(path)


def verdict_on(folder, module):
    """What the case says of the agent in a module."""
    subject = ForeignAgent({"": launcher(folder, module)}, os.environ)
    tree = DirectoryTree(".", (EVALS,), outside_links=True)
    loaded = collection.load(tree, f"{EVALS}/cases/01_order_total.yaml")
    runnable = collection.collect(tree, loaded, f"{EVALS}/fixtures", subject)
    workspace = folder / "workspace"
    workspace.mkdir()
    return run_case(runnable, subject, str(workspace), OFF).verdict


def by_outcome(verdict):
    """(what each failed check says, by name; the names of the checks that passed)."""
    failed = {check.name: check.message for check in verdict.checks if check.outcome != "pass"}
    return failed, {check.name for check in verdict.checks} - failed.keys()


def test_every_broken_agent_of_the_example_is_here():
    modules = {name for name in os.listdir(f"{EXAMPLE}/broken") if name.endswith(".py")}
    assert modules == {f"{name}.py" for name in BROKEN}


def test_the_good_agent_passes(tmp_path):
    verdict = verdict_on(tmp_path, "desk.openai_agent")
    assert by_outcome(verdict)[0] == {}
    assert (verdict.passed, verdict.findings) == (True, ())


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_agent_fails_for_what_is_wrong_with_it(tmp_path, name):
    reason, says, holds = BROKEN[name]
    verdict = verdict_on(tmp_path, f"broken.{name}")
    failed, passed = by_outcome(verdict)
    assert not verdict.passed
    assert says in failed.get(reason, f"no {reason}, but {failed}")
    assert holds - passed == set()
