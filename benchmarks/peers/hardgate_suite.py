"""The works for Hardgate: case files, a model script, and the reference runtime.

Every case gets a runtime, an event log and an empty folder of its own, and Hardgate's standing
checks (effects, changed files, malformed arguments, turns left over and more) come on top of the
ones that the work asks for. Started with the source tree of Hardgate on the path.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from agent_cli.subject import IDENTITY, reference_subject
from hardgate.documents.tree import DirectoryTree
from hardgate.kinds.case_run import run_case, temporary_workspace
from hardgate.subjects.collection import RunnableCase, collect, load
from hardgate.subjects.port import Subject

from works import Runner, Work, main, works

# Found while the workspace of Hardgate is the working directory.
IDENTITY_FILES = Path(IDENTITY).absolute()
FIXTURES = "evals/fixtures"
CASE = """\
name: case_{number:04}
milestone: 1
input:
  text: {work.question}
model_fixture: script
expected:
  final_text_contains: ["{work.expected_text}"]
"""
CALL = """\
  tool_calls:
    - name: math.calculate
      count: 1
      arguments_subset: {{expression: {work.expected_expression}}}
"""
TOOL_TURN = """\
  - kind: tool_calls
    calls:
      - call_id: call_1
        name: math.calculate
        arguments: {{expression: {work.expression}}}
"""
SCRIPT = """\
turns:
{tool_turn}  - kind: final
    text: {work.answer}
"""


class Suite(NamedTuple):
    """What was read, and the runtime that it is run against."""

    subject: Subject
    cases: list[RunnableCase]


def write_files(work: Work, count: int) -> None:
    """Makes a workspace with so many case files, and enters it."""
    os.chdir(tempfile.mkdtemp())
    for folder in ("evals/cases", f"{FIXTURES}/models"):
        Path(folder).mkdir(parents=True)
    shutil.copytree(IDENTITY_FILES, IDENTITY)
    for number in range(count):
        Path(case_path(number)).write_text(case_text(work, number), encoding="utf-8")
    tool_turn = "" if work.expression is None else TOOL_TURN.format(work=work)
    script = SCRIPT.format(work=work, tool_turn=tool_turn)
    Path(FIXTURES, "models", "script.yaml").write_text(script, encoding="utf-8")


def case_path(number: int) -> str:
    """Where a case stands."""
    return f"evals/cases/{number:04}_case_{number:04}.yaml"


def case_text(work: Work, number: int) -> str:
    """One case file."""
    call = "" if work.expected_expression is None else CALL
    return (CASE + call).format(number=number, work=work)


def prepare(work: Work, count: int) -> Suite:
    """Reads every case file, and the script again for each of them."""
    subject, tree = reference_subject(), DirectoryTree(".", ("evals",))
    loaded = [load(tree, case_path(number)) for number in range(count)]
    return Suite(subject, [collect(tree, case, FIXTURES, subject) for case in loaded])


def run(suite: Suite) -> int:
    """Runs the cases one after the other, as `agent eval run` does.

    Without the proof that the network is off: it is on here, which would fail every case.
    """
    passed = 0
    for case in suite.cases:
        with temporary_workspace() as folder:
            passed += run_case(case, suite.subject, folder, None).verdict.passed
    return passed


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:  # for the command line
        write_files(works()["tool"], 1)
        print(os.getcwd())
    else:
        main(Runner(prepare, run, write_files))
