"""`hardgate lint`: every definition, everything wrong at once, and where."""

import os

import pytest

from hardgate.documents.problems import DefinitionError, Problem
from tests.unit.hardgate.cli.samples import FakeSubject, answer, edit, write


def rules(answered):
    return [(problem["path"], problem["rule"]) for problem in answered["problems"]]


def test_a_sound_workspace(hardgate, capsys):
    assert hardgate("lint", FakeSubject()) == 0
    assert capsys.readouterr() == (
        "OK: 4 gates, 3 cases, 3 fixtures, 0 corpora: no problem\n",
        "",
    )


def test_without_a_subject_it_says_what_it_did_not_look_at(hardgate, capsys):
    assert hardgate("lint") == 0
    assert capsys.readouterr().err == (
        "hardgate lint: names of tools, events and reason codes were not compared with a subject\n"
    )


def test_everything_wrong_is_listed_at_once_with_its_place(workspace, hardgate, capsys):
    edit(workspace, "gates/tool.yaml", "kind: case", "kind: cases")
    edit(workspace, "evals/cases/01_greeting.yaml", "terminal_status", "terminal_state")
    edit(workspace, "evals/fixtures/models/wave.yaml", "kind: final", "kind: finale")
    write(workspace, "gates/allowances/x.yaml", "a: 1\na: 2\n")
    assert hardgate("lint") == 4
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[:2] for line in lines[:-1]] == [
        ["evals/cases/01_greeting.yaml:7:3", "schema.unknown_key"],
        ["evals/fixtures/models/wave.yaml:4:11", "schema.value"],
        ["gates/allowances/x.yaml:2:1", "yaml.duplicate_key"],
        ["gates/tool.yaml:14:9", "schema.value"],
    ]
    assert "did you mean 'terminal_status'?" in lines[0]
    assert "did you mean 'final'?" in lines[1]
    assert "did you mean 'case'?" in lines[3]
    assert lines[-1] == ("NOT OK: 3 gates, 2 cases, 3 fixtures, 0 corpora: 4 problems in 4 files")


def test_a_broken_registry_raises_no_further_problems_of_the_docs(workspace, hardgate, capsys):
    edit(workspace, "gates/tool.yaml", "kind: case", "kind: cases")
    assert hardgate("lint --json") == 4
    found = answer(capsys)
    assert rules(found) == [("gates/tool.yaml", "schema.value")]
    assert any("the docs were not compared" in note for note in found["notes"])


MISTAKES = [
    ("docs/specs/tool.md", "gate.tool.later", "gate.tool.latter", "gate_unregistered"),
    ("docs/specs/tool.md", "A greeting is answered by", "Nothing is said to", "statement_mismatch"),
    ("docs/specs/tool.md", "# Tools\n", "# Tools\n\n[x](gone.md)\n", "link_broken"),
    ("docs/specs/tool.md", "# Tools\n", "# Tools\n<!-- derived: gates.total -->5<!-- /derived -->",
     "derived_stale"),
    ("gates/checks/tool.py", "def sums_right", "def sums_wrong", "check_missing"),
    ("gates/defects/tool.py", "def sum_off", "def sum_on", "counterexample_missing"),
    ("gates/MILESTONE", "1", "one", "milestone_file"),
    ("evals/cases/01_greeting.yaml", "model_fixture: greeting", "model_fixture: greting",
     "case.unknown_fixture"),
    ("evals/cases/01_greeting.yaml", "expected:\n  terminal_status: completed\n"
     "  final_text_contains: [hello]\n", "expected: {}\n", "case.nothing_expected"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "old", "new", "rule"), MISTAKES)
def test_a_mistake_in_any_file(path, old, new, rule, workspace, hardgate, capsys):
    edit(workspace, path, old, new)
    assert hardgate("lint --json") == 4
    assert rule in [rule for _, rule in rules(answer(capsys))]


FILES = [
    ("evals/cases/04_x.yml", "case.file_name"),
    ("evals/cases/more/04_x.yaml", "case.file_name"),
    ("evals/fixtures/models/more/x.yaml", "fixture.file_name"),
    ("gates/retired.yaml", "yaml.empty_file"),
    ("evals/quarantine.yaml", "yaml.empty_file"),
    ("evals/volatile_fields.yml", "yaml.empty_file"),
    ("gates/Tool.YAML", "registry_file_name"),
    ("gates/tool2.Yml", "registry_file_name"),
    ("gates/allowances/Secrets.YAML", "yaml_file_name"),
    ("evals/cases/04_x.YAML", "yaml_file_name"),
    ("evals/cases/04_x.yaml/notes.txt", "yaml_file_name"),
]


@pytest.mark.parametrize(("path", "rule"), FILES)
def test_a_file_that_nothing_reads_or_that_is_empty(path, rule, workspace, hardgate, capsys):
    write(workspace, path, "")
    assert hardgate("lint --json") == 4
    named = path.removesuffix("/notes.txt")
    assert [one for one in rules(answer(capsys)) if one[0] == named] == [(named, rule)]


@pytest.mark.parametrize(
    ("target", "word"), [("/", "out of the workspace"), ("nowhere.yaml", "nowhere")]
)
def test_a_link_that_leads_elsewhere(target, word, workspace, hardgate, capsys):
    (workspace / "gates/area.yaml").symlink_to(target)
    assert hardgate("lint --json") == 4
    (problem,) = answer(capsys)["problems"]
    assert (problem["path"], problem["rule"]) == ("gates/area.yaml", "yaml_file_name")
    assert word in problem["message"]


def test_a_pipe_is_no_file_and_is_not_waited_for(workspace, hardgate, capsys):
    os.mkfifo(workspace / "evals/cases/04_pipe.yaml")
    assert hardgate("lint --json") == 4
    (problem,) = answer(capsys)["problems"]
    assert (problem["path"], problem["rule"]) == ("evals/cases/04_pipe.yaml", "yaml_file_name")


ENTRY = "since: '2026-01-31'\n  reason: It failed twice on one day.\n"
QUARANTINES = [
    ("- test: //tests:unit/test_a\n  " + ENTRY, []),
    ("- case: farewell\n  " + ENTRY, []),
    ("- test: gate.tool.sums_right\n  " + ENTRY, ["gate_quarantined"]),
    ("- test: //gates:tool/sums_right\n  " + ENTRY, ["gate_quarantined"]),
    ("- test: tests/unit/test_a.py\n  " + ENTRY, ["label_malformed"]),
    ("- " + ENTRY, ["quarantine_subject"]),
    ("- test: //a:b\n  case: c\n  " + ENTRY, ["quarantine_subject"]),
    ("- test: //a:b\n  " + ENTRY.replace("01-31", "02-30"), ["date_malformed"]),
    ("- test: //a:b\n  " + ENTRY.replace("2026-01-31", "20260131"), ["date_malformed"]),
    ("- test: //a:b\n  until: '2027-01-01'\n  " + ENTRY, ["schema.unknown_key"]),
    ("- test: //a:b\n  since: '2026-01-31'\n", ["schema.missing_key"]),
    ("a: 1\n", ["schema.type"]),
]


@pytest.mark.parametrize(("text", "expected"), QUARANTINES)
def test_the_quarantine(text, expected, workspace, hardgate, capsys):
    write(workspace, "evals/quarantine.yaml", text)
    assert hardgate("lint --json") == (4 if expected else 0)
    assert rules(answer(capsys)) == [("evals/quarantine.yaml", rule) for rule in expected]


ALLOWANCE = f"- path: a.txt\n  rule: assigned_secret\n  line_sha256: '{'a' * 64}'\n"
ALLOWANCES = [
    (ALLOWANCE + "  reason: It is a sample.\n", []),
    (ALLOWANCE, ["schema.missing_key"]),
    (ALLOWANCE + "  reason: todo\n", ["allowance_reason"]),
    (ALLOWANCE.replace("aaaa", "AAAA") + "  reason: It is a sample.\n", ["digest_malformed"]),
    (ALLOWANCE.replace("a.txt", "../a") + "  reason: It is a sample.\n", ["path_malformed"]),
]


@pytest.mark.parametrize(("text", "expected"), ALLOWANCES)
def test_the_allowances(text, expected, workspace, hardgate, capsys):
    write(workspace, "gates/allowances/secrets.yaml", text)
    assert hardgate("lint --json") == (4 if expected else 0)
    found = rules(answer(capsys))
    assert found == [("gates/allowances/secrets.yaml", rule) for rule in expected]


def test_what_a_defect_lays_over_the_workspace_may_be_wrong(workspace, hardgate):
    write(workspace, "gates/defects/tool/bad/evals/x.yaml", "a: [")
    assert hardgate("lint") == 0


def test_two_cases_of_one_name_or_number(workspace, hardgate, capsys):
    case = (workspace / "evals/cases/01_greeting.yaml").read_text()
    write(workspace, "evals/cases/07_greeting.yaml", case)
    (workspace / "evals/cases/02_farewell.yaml").rename(workspace / "evals/cases/01_farewell.yaml")
    assert hardgate("lint --json") == 4
    found = answer(capsys)
    assert rules(found) == [
        ("evals/cases/01_greeting.yaml", "case.duplicate_number"),
        ("evals/cases/07_greeting.yaml", "case.duplicate_name"),
    ]
    assert "first in evals/cases/01_greeting.yaml" in found["problems"][1]["message"]


def test_a_script_that_no_case_names(workspace, hardgate, capsys):
    write(workspace, "evals/fixtures/models/left.yaml", "turns: [{kind: final, text: x}]\n")
    assert hardgate("lint --json") == 4
    assert rules(answer(capsys)) == [("evals/fixtures/models/left.yaml", "fixture.unused")]


RESULTS = """\
results:
  - tool: math.calculate
    arguments: {expression: 1 + 1}
    output: {value: "2"}
    content: "2"
"""
JUDGE = """\
rubric: It greets.
verdicts:
  - {answer: Hello!, passed: true, reason: It does.}
  - {answer: Go away., passed: false, reason: It does not.}
"""
SERVER = "server_id: mail\ntransport: stdio\ntools: []\n"
KINDS = [
    ("tools/{}.yaml", RESULTS, "tool_results: {}"),
    ("judges/{}.yaml", JUDGE, "judge: {}"),
    ("mcp/{}.yaml", SERVER, "mcp_servers: [{}]"),
    ("workspaces/{}/notes.txt", "x", "workspace: {}"),
]


@pytest.mark.parametrize(("path", "text", "naming"), KINDS)
def test_fixtures_of_every_kind_have_to_be_used(path, text, naming, workspace, hardgate, capsys):
    """Those of a case that uses one are read; those that no case names are left over."""
    for stem in ("used", "left"):
        write(workspace, "evals/fixtures/" + path.format(stem), text)
    more = "\n  judge: It greets." if naming.startswith("judge") else ""
    edit(workspace, "evals/cases/01_greeting.yaml", "model_fixture: greeting\nexpected:",
         f"model_fixture: greeting\nfixtures: {{{naming.format('used')}}}\nexpected:{more}")  # fmt: skip
    subject = FakeSubject()
    known = subject.vocabulary()
    able = known._replace(abilities=known.abilities | {"mcp_servers"})
    subject.vocabulary = lambda: able
    assert hardgate("lint --json", subject) == 4
    found = answer(capsys)
    (problem,) = found["problems"]
    place = "evals/fixtures/" + path.format("left").removesuffix("/notes.txt")
    assert (problem["path"], problem["rule"]) == (place, "fixture.unused")
    assert problem["message"].endswith(f"allowed: one with fixtures.{naming.format('left')}")
    assert found["read"]["fixtures"] == 5


@pytest.mark.parametrize(("path", "text", "naming"), KINDS[:3])
def test_fixtures_that_no_case_names_are_read_all_the_same(
    path, text, naming, workspace, hardgate, capsys
):
    place = "evals/fixtures/" + path.format("left")
    write(workspace, place, text + "more: 1\n")
    assert hardgate("lint --json") == 4
    assert rules(answer(capsys)) == [(place, "fixture.unused"), (place, "schema.unknown_key")]


def test_the_volatile_list_is_read_with_the_subjects_event_types(workspace, hardgate, capsys):
    path = "evals/volatile_fields.yaml"
    write(workspace, path, "- {event: run.complted, field: ms, reason: It is measured.}\n")
    subject = FakeSubject()
    known = subject.vocabulary()._replace(event_types=frozenset({"run.completed"}))
    subject.vocabulary = lambda: known
    assert hardgate("lint") == 0
    capsys.readouterr()
    assert hardgate("lint --json", subject) == 4
    assert rules(answer(capsys)) == [(path, "volatile.unknown_event_type")]
    write(workspace, path, "- {event: run.completed, field: ms}\n")
    assert hardgate("lint --json", subject) == 4
    assert rules(answer(capsys)) == [(path, "schema.missing_key")]


def test_a_subject_whose_own_files_are_refused_hides_no_other_problem(workspace, hardgate, capsys):
    edit(workspace, "evals/cases/01_greeting.yaml", "terminal_status", "terminal_state")
    subject = FakeSubject()

    def refuse():
        raise DefinitionError([Problem("evals/identity/a.yaml", 2, 1, "identity", "found x")])

    subject.vocabulary = refuse
    assert hardgate("lint --json", subject) == 4
    assert rules(answer(capsys)) == [
        ("evals/cases/01_greeting.yaml", "schema.unknown_key"),
        ("evals/identity/a.yaml", "identity"),
    ]


def test_what_a_subject_cannot_do_yet_waits_for_its_milestone(workspace, hardgate, capsys):
    """Case 3 is of milestone 2, and the repository has reached 1."""
    edit(
        workspace,
        "evals/cases/03_wave.yaml",
        "model_fixture",
        "principal: eval.nobody\nmodel_fixture",
    )
    subject = FakeSubject()
    known = subject.vocabulary()._replace(principals=frozenset({"eval.standard"}))
    subject.vocabulary = lambda: known
    assert hardgate("lint", subject) == 0
    write(workspace, "gates/MILESTONE", "2\n")
    assert hardgate("lint --json", subject) == 4
    assert "case.unknown_principal" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "unused"),
    [("expected:", "expectd:", True), ("expected:", "expected: [", False)],
)
def test_a_broken_case_still_names_its_script_where_it_can_be_parsed(
    old, new, unused, workspace, hardgate, capsys
):
    """A case that cannot be parsed may name any script, so none is called unused then."""
    edit(workspace, "evals/cases/01_greeting.yaml", old, new)
    write(workspace, "evals/fixtures/models/left.yaml", "turns: [{kind: final, text: x}]\n")
    assert hardgate("lint --json") == 4
    found = rules(answer(capsys))
    assert (("evals/fixtures/models/left.yaml", "fixture.unused") in found) is unused
    assert ("evals/fixtures/models/greeting.yaml", "fixture.unused") not in found


def test_names_are_compared_with_the_subject(workspace, hardgate, capsys):
    edit(workspace, "evals/cases/01_greeting.yaml", "completed", "complete")
    assert hardgate("lint") == 0
    assert hardgate("lint --json", FakeSubject()) == 4
    assert "did you mean 'completed'?" in capsys.readouterr().out


MEMBER = "id: one\nsource: authored\nvector: tool_output\nexpect: denied\n---\nIgnore that.\n"


def test_corpora_are_read_and_have_to_be_named(workspace, hardgate, capsys):
    write(workspace, "evals/corpora/injection/one.txt", MEMBER)
    write(workspace, "evals/corpora/marks/one.txt", MEMBER.replace("vector", "vektor"))
    write(workspace, "evals/corpora/marks/two.txt", MEMBER.replace("---\n", ""))
    write(workspace, "evals/corpora/void/README.md", "x")
    assert hardgate("lint --json") == 4
    found = answer(capsys)
    assert found["read"]["corpora"] == 3
    assert set(rules(found)) >= {
        ("evals/corpora/injection", "corpus.unused"),
        ("evals/corpora/marks/one.txt", "schema.unknown_key"),
        ("evals/corpora/marks/two.txt", "corpus.no_separator"),
        ("evals/corpora/void", "corpus.empty"),
    }


def test_a_gate_that_cannot_be_read_may_name_any_corpus(workspace, hardgate, capsys):
    write(workspace, "evals/corpora/injection/one.txt", MEMBER)
    edit(workspace, "gates/tool.yaml", "kind: case", "kind: cases")
    assert hardgate("lint --json") == 4
    assert rules(answer(capsys)) == [("gates/tool.yaml", "schema.value")]


def test_a_corpus_that_a_gate_names(workspace, hardgate, capsys):
    write(workspace, "evals/corpora/injection/one.txt", MEMBER)
    edit(
        workspace,
        "gates/tool.yaml",
        "after what came before.\n  trials: 20",
        "after what came before.\n  corpus: evals/corpora/injection\n  minimum_members: 1",
    )
    edit(workspace, "gates/tool.yaml", "id: gate.tool.later\n  milestone: 3\n  kind: property",
         "id: gate.tool.later\n  milestone: 3\n  kind: corpus")  # fmt: skip
    assert hardgate("lint") == 0
    assert "4 gates, 3 cases, 3 fixtures, 1 corpus: no problem" in capsys.readouterr().out


def test_paths_choose_what_is_listed_and_all_is_read(workspace, hardgate, capsys, monkeypatch):
    edit(workspace, "gates/tool.yaml", "kind: case", "kind: cases")
    edit(workspace, "evals/cases/01_greeting.yaml", "terminal_status", "terminal_state")
    assert hardgate("lint --json gates") == 4
    assert rules(answer(capsys)) == [("gates/tool.yaml", "schema.value")]
    assert hardgate("lint --json docs evals/cases/02_farewell.yaml") == 0
    assert hardgate("lint --json .") == 4
    monkeypatch.chdir(workspace / "evals" / "cases")
    capsys.readouterr()
    assert hardgate("lint --json 01_greeting.yaml ../../docs") == 4
    assert rules(answer(capsys)) == [("evals/cases/01_greeting.yaml", "schema.unknown_key")]


PATHS = [
    ("evals/case", "found no evals/case; did you mean 'evals/cases'?"),
    ("evals/cases/01_greting.yaml", "did you mean 'evals/cases/01_greeting.yaml'?"),
    ("src", "found src, which holds no definition; allowed: docs, evals, gates, *.md"),
    ("../..", "which is outside of the workspace"),
    ("x\x1b[2J", "found no x\\x1b[2J"),
]


@pytest.mark.parametrize(("path", "complaint"), PATHS)
def test_paths_that_are_not_read(path, complaint, workspace, hardgate, capsys):
    write(workspace, "src/a.py", "")
    assert hardgate(["lint", path]) == 2
    assert complaint in capsys.readouterr().err


def test_a_workspace_of_cases_only(workspace, hardgate, capsys):
    write(workspace, "evals/corpora/injection/one.txt", MEMBER)
    for folder in ("gates", "docs"):
        (workspace / folder).rename(workspace.parent / folder)
    assert hardgate("lint", FakeSubject()) == 0
    assert capsys.readouterr().out.startswith("OK: 0 gates, 3 cases")


def test_a_workspace_without_anything_is_not_called_sound(workspace, hardgate, capsys):
    for folder in ("gates", "evals"):
        (workspace / folder).rename(workspace.parent / folder)
    write(workspace, "MODULE.bazel", "")
    assert hardgate("lint") == 4
    assert "found neither gates nor evals/cases" in capsys.readouterr().err


def test_hostile_names_print_as_escapes(workspace, hardgate, capsys):
    write(workspace, "evals/cases/04_\x1b[2J.yaml", "a: 1")
    assert hardgate("lint") == 4
    assert "\x1b" not in capsys.readouterr().out
