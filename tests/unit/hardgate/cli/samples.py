"""A small workspace, and a subject that hands back what a test tells it."""

import json
from pathlib import Path

from hardgate.cases.record import ObservedCall, ObservedEvent, Record
from hardgate.cases.vocabulary import Vocabulary

GATES = """\
- id: gate.tool.sums_right
  milestone: 1
  kind: property
  spec: docs/specs/tool.md#hard-gates
  statement: The sum of two numbers does not depend on their order.
  check: gates/checks/tool.py::sums_right
  trials: 20
  counterexamples:
    - name: sum_off
      reason: sum_differs

- id: gate.tool.greets
  milestone: 1
  kind: case
  spec: docs/specs/tool.md#hard-gates
  statement: A greeting is answered by a greeting.
  check: case:greeting
  counterexamples:
    - name: greeting_lost
      reason: final_text_contains

- id: gate.tool.tidy
  milestone: 1
  kind: structural
  spec: docs/specs/tool.md#hard-gates
  statement: Every source file has a name of one word.
  check: gates/checks/tool.py::tidy
  sources:
    - //src:sources
  counterexamples:
    - name: untidy
      reason: two_words

- id: gate.tool.later
  milestone: 3
  kind: property
  spec: docs/specs/tool.md#hard-gates
  statement: What comes later comes after what came before.
  trials: 20
"""
SPEC = """\
# Tools

## Hard gates

1. **`gate.tool.sums_right`** — The sum of two numbers does not depend on their order. **M1.**
2. **`gate.tool.greets`** — A greeting is answered by a greeting. **M1.**
3. **`gate.tool.tidy`** — Every source file has a name of one word. **M1.**
4. **`gate.tool.later`** — What comes later comes after what came before. **M3.**
"""
CHECKS = '''\
"""The checks of the area tool."""

from hardgate.kinds.checking import require


def plus(one, two):
    return one + two


def sums_right(context):
    from hypothesis import strategies

    def commutes(one, two):
        require(plus(one, two) == plus(two, one), "sum_differs", "the order matters")

    context.for_all(commutes, one=strategies.integers(), two=strategies.integers())


def tidy(context):
    raise NotImplementedError
'''
DEFECTS = '''\
"""The counterexamples of the area tool."""


def sum_off(bench):
    """The second number counts twice."""


def greeting_lost(bench):
    """Nobody answers."""


def untidy(bench):
    """A file of two words."""
'''
CASE = """\
name: {name}
milestone: {milestone}
tags: [{tag}]
input: {{text: Say hello}}
model_fixture: {name}
expected:
  terminal_status: completed
  final_text_contains: [hello]
"""
SCRIPT = """\
turns:
  - kind: tool_calls
    calls: [{call_id: c1, name: math.calculate, arguments: {expression: 1 + 1}}]
  - kind: final
    text: hello
"""
RECORD = Record(
    terminal_status="COMPLETED",
    failure_reason=None,
    final_text="Hello!",
    step_count=2,
    model_call_count=2,
    tool_call_count=1,
    tool_calls=(
        ObservedCall(
            name="math.calculate",
            arguments={"expression": "1 + 1"},
            call_id="c1",
            step=1,
            status="SUCCEEDED",
            reason_code="tool.succeeded",
            started=True,
        ),
    ),
    events=(
        ObservedEvent(1, "run.started", {}),
        ObservedEvent(2, "model.response.completed", {"step_number": 1}),
        ObservedEvent(3, "tool.call.completed", {"call_id": "c1", "reason_code": "tool.succeeded"}),
        ObservedEvent(5, "model.response.completed", {"step_number": 2}),
        ObservedEvent(6, "assistant.message.completed", {"text": "Hello!"}),
        ObservedEvent(7, "run.completed", {}),
    ),
    turns_consumed=2,
    turns_total=2,
)


class FakeSubject:
    """Gives the records of `results` in turn, the last of them again and again, or raises one."""

    name = "fake"
    version = "1.2"

    def __init__(self, *results):
        self.results = list(results or [RECORD])
        self.ran = []

    def vocabulary(self):
        unknown = dict.fromkeys(Vocabulary._fields)
        return Vocabulary(
            **{
                **unknown,
                "terminal_statuses": frozenset({"COMPLETED", "FAILED"}),
                "tools": frozenset({"math.calculate"}),
                "abilities": frozenset({"turns", "tool_results", "trust_labels"}),
            }
        )

    def run(self, case, script, workspace, tool_results=None, mcp_servers=()):
        self.ran.append((case.name, str(Path.cwd()), workspace))
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, BaseException):
            raise result
        return result


def write(root, path, text):
    """Writes one file below a folder."""
    file = Path(root, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def edit(root, path, old, new):
    """Replaces a text that a file holds once."""
    file = Path(root, path)
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def make_workspace(root):
    """The workspace: gates of milestones 1 and 3, cases of 1 and 2; it has reached 1."""
    write(root, "gates/MILESTONE", "1\n")
    write(root, "gates/tool.yaml", GATES)
    write(root, "gates/checks/tool.py", CHECKS)
    write(root, "gates/defects/tool.py", DEFECTS)
    write(root, "docs/specs/tool.md", SPEC)
    for number, (name, milestone, tag) in enumerate(
        [("greeting", 1, "smoke"), ("farewell", 1, "slow"), ("wave", 2, "smoke")], start=1
    ):
        case = CASE.format(name=name, milestone=milestone, tag=tag)
        write(root, f"evals/cases/{number:02}_{name}.yaml", case)
        write(root, f"evals/fixtures/models/{name}.yaml", SCRIPT)
    return Path(root)


def files_of(root):
    """The text of every file below a folder, by path."""
    files = [path for path in Path(root).rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_text() for path in files}


def answer(capsys):
    """What was printed on stdout, as JSON."""
    return json.loads(capsys.readouterr().out)
