"""A small workspace that depends on this repository: two areas of gates, three cases, one pending of each."""

CHECK = '''
from hardgate.kinds.context import Examination
from hardgate.verdicts.verdict import Finding


def {name}(context):
    """Finds each line of the sources that {rule} refuses."""
    findings, examined = [], 0
    for path in context.tree.glob("texts/*.txt"):
        for number, line in enumerate(context.tree.read(path).decode().splitlines(), start=1):
            examined += 1
            if {refused}:
                findings.append(Finding(path, number, "{rule}", "found " + line))
    return Examination(findings, examined, "lines")
'''
DEFECT = '''
def {name}(bench):
    """Adds a line that must be refused."""
    bench.tree.edit("texts/{file}.txt", "{old}", "{new}")
'''
ENTRY = """
- id: gate.{area}.{slug}
  milestone: {milestone}
  kind: structural
  spec: docs/specs/{area}.md#hard-gates
  statement: {statement}
"""
ACTIVE = (
    ENTRY
    + """  check: gates/checks/{area}.py::{slug}
  sources: [//texts:{area}]
  counterexamples:
    - {{name: {defect}, reason: {rule}}}
"""
)
QUIET = ACTIVE.format(
    area="words",
    slug="quiet",
    milestone=0,
    statement="No word is shouted (größer, 大きい, 😀).",
    defect="shouted",
    rule="shouting",
)
SMALL = ACTIVE.format(
    area="numbers",
    slug="small",
    milestone=0,
    statement="All numbers are small.",
    defect="grown",
    rule="too_large",
)
EVEN = ACTIVE.format(
    area="numbers",
    slug="even",
    milestone=0,
    statement="All numbers are even.",
    defect="made_odd",
    rule="odd",
)
# Two ready checks, in an area without code: its counterexamples are folders.
CODE = """
- id: gate.code.no_shell
  milestone: 0
  kind: structural
  spec: docs/specs/code.md#hard-gates
  statement: Nothing starts a shell.
  check: hardgate:forbidden_calls
  options:
    roots: [.]
    calls:
      - names: [os.system, subprocess]
        reason: It starts another program.
  sources: [//texts:plain]
  counterexamples:
    - {name: shell, reason: forbidden_call, tree: gates/defects/code/shell}
- id: gate.code.layers
  milestone: 0
  kind: structural
  spec: docs/specs/code.md#hard-gates
  statement: The lower module knows nothing of the higher one.
  check: hardgate:import_layers
  options: {roots: [.], layers: [[texts.low], [texts.high]]}
  sources: [//texts:plain]
  counterexamples:
    - {name: upward, reason: layer_order, tree: gates/defects/code/upward}
"""
TURNED = """
- id: gate.notes.turned
  milestone: 0
  kind: property
  spec: docs/specs/notes.md#hard-gates
  statement: A text that is turned twice is the text itself.
  check: gates/checks/notes.py::turned
  trials: 20
  counterexamples:
    - {name: cut, reason: not_restored}
"""
KIND = """
- id: gate.notes.kind
  milestone: 0
  kind: corpus
  spec: docs/specs/notes.md#hard-gates
  statement: No note of the corpus is rude.
  check: gates/checks/notes.py::kind
  corpus: evals/corpora/notes
  minimum_members: 2
  counterexamples:
    - {name: rude, reason: rude_note}
"""
NOTES_CHECKS = '''
from hypothesis import strategies

import texts.turn
from hardgate.kinds.checking import require


def turned(context):
    """Turning is its own inverse."""

    def restored(text):
        require(texts.turn.turn(texts.turn.turn(text)) == text, "not_restored", "not the same")

    context.for_all(restored, text=strategies.text(min_size=2))


def kind(context):
    """No member says the word."""
    context.for_each(lambda member: require("rude" not in member.body, "rude_note", member.id))
'''
NOTES_DEFECTS = '''
import texts.turn


def cut(bench):
    """Loses the first character."""
    bench.replace(texts.turn, "turn", lambda original: lambda text: original(text)[1:])


def rude(bench):
    """Makes one note rude."""
    bench.tree.edit("evals/corpora/notes/first.txt", "Good morning", "A rude morning")
'''
MEMBER = "id: {name}\nsource: written for this test\nvector: note\nexpect: kindness\n---\n{body}\n"
LATER = ENTRY.format(area="words", slug="later", milestone=2, statement="Holds some day.")
CASE = "name: {name}\nmilestone: {milestone}\nmodel_fixture: {fixture}\n"
# The least that runs a case: it shows what it was given, and fails where the fixture says so.
RUNNER = """
import pathlib
import sys

options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
case = pathlib.Path(options["--case"]).read_text()
fixtures = sorted(pathlib.Path(options["--fixtures"]).rglob("*.yaml"))
print(case, *fixtures, options["--milestone"], options["--repeat"], sep="\\n")
sys.exit(any("broken" in fixture.read_text() for fixture in fixtures))
"""
TOP = """
load("@my_gates//:index.bzl", "INDEX")
load("@rules_python//python:defs.bzl", "py_library")
load("@hardgate//tools:defs.bzl", "hardgate_cases", "hardgate_gates")
"""
FILES = {
    "gates/BUILD.bazel": TOP
    + 'hardgate_gates(name = "gates", index = INDEX, check_deps = {"notes": ["//texts:turn"]})\n',
    "gates/MILESTONE": "0\n",
    "gates/words.yaml": QUIET + LATER,
    "gates/numbers.yaml": SMALL + EVEN,
    "gates/notes.yaml": TURNED + KIND,
    "gates/code.yaml": CODE,
    "gates/defects/code/shell/texts/low.py": "from os import system as go\n\ngo('true')\n",
    "gates/defects/code/upward/texts/low.py": "def late():\n    import texts.high\n",
    "texts/low.py": "import json\n",
    "texts/high.py": "from texts import low\n",
    "gates/checks/notes.py": NOTES_CHECKS,
    "gates/defects/notes.py": NOTES_DEFECTS,
    "gates/checks/words.py": CHECK.format(name="quiet", rule="shouting", refused="line.isupper()"),
    "gates/checks/numbers.py": CHECK.format(
        name="small", rule="too_large", refused="int(line) > 99"
    )
    + CHECK.format(name="even", rule="odd", refused="int(line) % 2"),
    "gates/defects/words.py": DEFECT.format(name="shouted", file="words", old="one", new="ONE"),
    "gates/defects/numbers.py": DEFECT.format(name="grown", file="numbers", old="10", new="1000")
    + DEFECT.format(name="made_odd", file="numbers", old="10", new="11"),
    "texts/turn.py": "def turn(text):\n    return text[::-1]\n",
    "texts/BUILD.bazel": 'load("@rules_python//python:defs.bzl", "py_library")\n'
    'py_library(name = "turn", srcs = ["turn.py"], visibility = ["//visibility:public"])\n'
    'filegroup(name = "plain", srcs = ["high.py", "low.py"], visibility = ["//visibility:public"])\n'
    + "".join(
        f'filegroup(name = "{name}", srcs = ["{name}.txt"], visibility = ["//visibility:public"])\n'
        for name in ("words", "numbers")
    ),
    "texts/words.txt": "one\ntwo\n",
    "texts/numbers.txt": "10\n20\n",
    "evals/BUILD.bazel": TOP
    + 'py_library(name = "runner", srcs = ["runner.py"])\n'
    + 'hardgate_cases(name = "suite", index = INDEX, main = "evals.runner", deps = [":runner"])\n',
    "evals/runner.py": RUNNER,
    "evals/cases/01_first.yaml": CASE.format(name="first", milestone=0, fixture="alpha"),
    "evals/cases/02_second.yaml": CASE.format(name="second", milestone=0, fixture="beta"),
    "evals/cases/03_third.yaml": CASE.format(name="third", milestone=1, fixture="beta"),
    "evals/corpora/notes/first.txt": MEMBER.format(name="first", body="Good morning to you all."),
    "evals/corpora/notes/second.txt": MEMBER.format(name="second", body="See you at the lake."),
    "evals/fixtures/models/alpha.yaml": "turns: []\n",
    "evals/fixtures/models/beta.yaml": "turns: []\n",
}
SMALL_GATE = {"//gates:numbers/small", "//gates:numbers/small.counterexample.grown"}
EVEN_GATE = {"//gates:numbers/even", "//gates:numbers/even.counterexample.made_odd"}
QUIET_GATE = {"//gates:words/quiet", "//gates:words/quiet.counterexample.shouted"}
TURNED_GATE = {"//gates:notes/turned", "//gates:notes/turned.counterexample.cut"}
KIND_GATE = {"//gates:notes/kind", "//gates:notes/kind.counterexample.rude"}
CASES = {"//evals:cases/first", "//evals:cases/second"}
PENDING = {"//gates:words/later", "//evals:cases/third"}
CODE_GATES = {
    "//gates:code/no_shell",
    "//gates:code/no_shell.counterexample.shell",
    "//gates:code/layers",
    "//gates:code/layers.counterexample.upward",
}
STRUCTURAL = SMALL_GATE | EVEN_GATE | QUIET_GATE | CODE_GATES
ACTIVE_TARGETS = STRUCTURAL | TURNED_GATE | KIND_GATE | CASES
