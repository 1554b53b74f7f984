"""The runner of a case, with a subject that hands back what the test tells it."""

import json

import pytest

from hardgate.cases.record import ObservedEvent, Record
from hardgate.cases.vocabulary import Vocabulary
from hardgate.kinds.case import EXIT_DEFINITION, EXIT_USAGE, main
from hardgate.kinds.case_files import CHANGES_LIMIT
from hardgate.subjects.port import SubjectError

CASE = """\
name: greeting
milestone: 1
input: {text: Say hello}
model_fixture: hello
expected:
  terminal_status: completed
  final_text_contains: [hello]
"""
SCRIPT = "turns:\n  - {kind: final, text: hello}\n"
RECORD = Record(
    terminal_status="COMPLETED",
    failure_reason=None,
    final_text="Hello!",
    step_count=1,
    model_call_count=1,
    tool_call_count=0,
    tool_calls=(),
    events=(ObservedEvent(1, "run.started", {}), ObservedEvent(2, "run.completed", {})),
    turns_consumed=1,
    turns_total=1,
)


class Off:
    def ways_out(self):
        return ()

    def attempt(self, name):
        return "ENETUNREACH"


class On(Off):
    def ways_out(self):
        return ("interface eth0 is up",)


class FakeSubject:
    """Gives a record, raises an error, or first leaves files in its workspace."""

    name = "fake"
    version = "1.2"

    def __init__(self, result=RECORD, files=()):
        self.result = result
        self.files = files
        self.seen = None

    def vocabulary(self):
        nothing_said = [None] * 5
        return Vocabulary(frozenset({"COMPLETED", "FAILED"}), *nothing_said)

    def run(self, case, script, workspace, tool_results=None, mcp_servers=()):
        self.seen = (case.name, script.turns[0].text, workspace)
        for name in self.files:
            with open(f"{workspace}/{name}", "w") as file:
                file.write("x")
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "evals/cases").mkdir(parents=True)
    (tmp_path / "evals/fixtures/models").mkdir(parents=True)
    (tmp_path / "scratch").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "evals/cases/07_greeting.yaml").write_text(CASE)
    (tmp_path / "evals/fixtures/models/hello.yaml").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEST_TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setenv("TEST_UNDECLARED_OUTPUTS_DIR", str(tmp_path / "out"))
    monkeypatch.setenv("XML_OUTPUT_FILE", str(tmp_path / "out/test.xml"))

    def run(subject, *, probe=None, milestone="1", case="evals/cases/07_greeting.yaml"):
        argv = ["--case", case, "--fixtures", "evals/fixtures", "--milestone", milestone]
        repeat = ["--repeat", "bazel test //evals:cases/greeting"]
        return main([*argv, *repeat], subject, probe or Off())

    return run


def test_a_case_that_passes(run, tmp_path, capsys):
    subject = FakeSubject()
    assert run(subject) == 0
    assert capsys.readouterr().out == "PASS case.greeting: 11 checks, 2 events\n"
    verdict = json.loads((tmp_path / "out/verdict.json").read_text())
    assert verdict["outcome"] == "pass"
    assert (verdict["id"], verdict["kind"], verdict["milestone"]) == ("case.greeting", "case", 1)
    assert (verdict["seed"], verdict["subject"]) == ("greeting", "fake 1.2")
    assert verdict["network"]["off"] is True
    assert (tmp_path / "out/test.xml").exists()
    assert subject.seen[:2] == ("greeting", "hello")


def test_a_case_that_fails_shows_everything_needed(run, capsys):
    record = RECORD._replace(final_text="Good bye\x1b[2J")
    assert run(FakeSubject(record)) == 1
    printed = capsys.readouterr().out
    assert printed == (
        "FAIL case.greeting (case, milestone 1)\n\n"
        "1 of 11 checks failed:\n\n"
        "evals/cases/07_greeting.yaml:7: final_text_contains\n"
        "  expected: hello\n"
        "  observed: Good bye\\x1b[2J\n"
        "  missing: hello\n\n"
        "event log, around the divergence:\n"
        "  1 run.started\n"
        "  2 run.completed\n\n"
        "repeat: bazel test //evals:cases/greeting\n"
    )


def test_a_live_network_fails_a_case_that_passes(run, tmp_path, capsys):
    assert run(FakeSubject(), probe=On()) == 1
    assert "network_on" in capsys.readouterr().out
    assert json.loads((tmp_path / "out/verdict.json").read_text())["outcome"] == "fail"


def test_the_workspace_is_empty_at_first_and_gone_afterwards(run, tmp_path):
    subject = FakeSubject()
    run(subject)
    assert subject.seen[2].startswith(str(tmp_path / "scratch"))
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_file_left_in_the_workspace_fails_the_case(run, tmp_path, capsys):
    assert run(FakeSubject(files=["note.txt"])) == 1
    assert "unexpected, created: note.txt" in capsys.readouterr().out
    assert list((tmp_path / "scratch").iterdir()) == []


def test_more_files_than_can_be_looked_at_fail_the_case(run, capsys):
    assert run(FakeSubject(files=[str(number) for number in range(CHANGES_LIMIT)])) == 1
    assert "limit_hit" not in capsys.readouterr().out
    assert run(FakeSubject(files=[str(number) for number in range(CHANGES_LIMIT + 1)])) == 1
    assert "limit_hit: the limit workspace_files was reached" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "rule", "words"),
    [
        (SubjectError("no such model"), "subject.error", "no such model"),
        (ZeroDivisionError("oops"), "subject.crashed", "ZeroDivisionError"),
    ],
)
def test_what_goes_wrong_in_the_subject_is_a_finding(run, tmp_path, capsys, error, rule, words):
    assert run(FakeSubject(error)) == 1
    printed = capsys.readouterr()
    assert f"evals/cases/07_greeting.yaml:1: {rule}: {words}" in printed.out
    assert ("Traceback" in printed.err) == (rule == "subject.crashed")
    verdict = json.loads((tmp_path / "out/verdict.json").read_text())
    assert {finding["rule"] for finding in verdict["findings"]} == {rule, "nothing_examined"}


def test_a_record_that_was_cut_short_fails(run, capsys):
    assert run(FakeSubject(RECORD._replace(limits_hit=("events",)))) == 1
    assert "limit_hit: the limit events was reached" in capsys.readouterr().out


def test_a_case_above_the_milestone_is_pending(run, tmp_path, capsys):
    subject = FakeSubject()
    assert run(subject, milestone="0") == EXIT_USAGE
    assert "greeting is pending until milestone 1; the given milestone is 0" in (
        capsys.readouterr().err
    )
    assert subject.seen is None
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("milestone", ["", "-1", "one", "1.0", "\u0661"])
def test_a_milestone_is_a_number(run, milestone, capsys):
    with pytest.raises(SystemExit) as refused:
        run(FakeSubject(), milestone=milestone)
    assert refused.value.code == EXIT_USAGE
    assert "--milestone" in capsys.readouterr().err


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_missing_fixture_names_the_nearest_one(run, tmp_path, capsys):
    edit(tmp_path / "evals/cases/07_greeting.yaml", "fixture: hello", "fixture: helo")
    assert run(FakeSubject()) == EXIT_DEFINITION
    said = capsys.readouterr().err
    assert said == (
        "evals/cases/07_greeting.yaml:4:16: case.unknown_fixture: found 'helo', but there is no "
        "evals/fixtures/models/helo.yaml; allowed: hello; did you mean 'hello'?\n"
    )


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        (
            "cases/07_greeting.yaml",
            "completed",
            "done",
            "07_greeting.yaml:6:20: case.unknown_status",
        ),
        (
            "cases/07_greeting.yaml",
            "expected",
            "expects",
            "07_greeting.yaml:5:1: schema.unknown_key",
        ),
        ("fixtures/models/hello.yaml", "final", "finale", "hello.yaml:2:12: schema.value"),
    ],
)
def test_a_bad_file_is_a_definition_error(run, tmp_path, capsys, path, old, new, said):
    edit(tmp_path / "evals" / path, old, new)
    assert run(FakeSubject()) == EXIT_DEFINITION
    printed = capsys.readouterr()
    assert said in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""
    assert list((tmp_path / "out").iterdir()) == []


def test_a_missing_case_file_is_a_definition_error(run, capsys):
    assert run(FakeSubject(), case="evals/cases/99_none.yaml") == EXIT_DEFINITION
    assert capsys.readouterr().err == (
        "evals/cases/99_none.yaml:1:1: file.unreadable: cannot be read: there is no such file\n"
    )
