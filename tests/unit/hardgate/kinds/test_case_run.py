"""What a run of a case is given, and the evidence it leaves: workspaces, arms, judges, commands."""

import pytest

from hardgate.cases.record import ObservedEvent, Record
from hardgate.cases.vocabulary import Vocabulary
from hardgate.documents.tree import DirectoryTree
from hardgate.kinds.case_run import Identity, event_excerpt, run_case
from hardgate.subjects import collection
from hardgate.subjects.port import SubjectError
from hardgate.verdicts.network import ATTEMPTS, NetworkProof

OFF = NetworkProof(True, (), tuple((name, "ENETUNREACH") for name in ATTEMPTS), "", "")
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
FIXTURES = {
    "models/hello.yaml": "turns:\n  - {kind: final, text: hello}\n",
    "models/other.yaml": "turns:\n  - {kind: final, text: other}\n",
    "workspaces/notes/a.txt": "one",
    "workspaces/notes/deep/b.txt": "two",
    "tools/times.yaml": (
        "results: [{tool: demo.time, arguments: {}, reason_code: tool.internal}]\n"
    ),
    "judges/polite.yaml": (
        "rubric: Is polite.\nverdicts:\n"
        "  - {answer: Hello!, passed: true, reason: It greets.}\n"
        "  - {answer: Go., passed: false, reason: It does not.}\n"
    ),
}
HEAD = "name: sample\nmilestone: 1\ninput: {text: Hi}\nmodel_fixture: hello\n"


class Subject:
    """Does to each workspace what a test says, and hands back a record for each run."""

    name = "fake"
    version = "1"

    def __init__(self, *results, does=lambda folder: None):
        self.results = list(results or [RECORD])
        self.does = does
        self.seen = []

    def vocabulary(self):
        abilities = frozenset({"tool_results", "turns"})
        return Vocabulary(frozenset({"COMPLETED"}), *[None] * 5, abilities=abilities)

    def run(self, case, script, workspace, tool_results=None, mcp_servers=()):
        self.seen.append((case, script, workspace, tool_results))
        self.does(workspace)
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result


@pytest.fixture
def run(tmp_path):
    (tmp_path / "evals/cases").mkdir(parents=True)
    for path, text in FIXTURES.items():
        file = tmp_path / "evals/fixtures" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run(subject, text, head=HEAD, **options):
        path = "evals/cases/01_sample.yaml"
        (tmp_path / path).write_text(head + text)
        tree = DirectoryTree(tmp_path)
        loaded = collection.load(tree, path)
        runnable = collection.collect(tree, loaded, "evals/fixtures", subject)
        folder = tmp_path / "run"
        folder.mkdir()
        return run_case(runnable, subject, str(folder), OFF, **options)

    run.folder = tmp_path / "run"
    return run


def failed(result):
    return [(check.name, check.message) for check in result.verdict.failed_checks()]


PLAIN = "expected: {terminal_status: completed}\n"


def test_a_run_starts_with_the_files_of_its_workspace(run):
    found = []

    def look(folder):
        for name in ("a.txt", "deep/b.txt"):
            with open(f"{folder}/{name}") as file:
                found.append(file.read())

    result = run(Subject(does=look), PLAIN + "fixtures: {workspace: notes}\n")
    assert found == ["one", "two"]
    assert failed(result) == []


def test_without_that_key_the_workspace_is_empty(run):
    def look(folder):
        with open(f"{folder}/a.txt"):
            pass

    result = run(Subject(does=look), PLAIN)
    found = [(finding.rule, finding.message) for finding in result.verdict.findings]
    assert ("subject.crashed", "FileNotFoundError") in found


def write(name, text):
    def does(folder):
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)

    return does


@pytest.mark.parametrize(
    ("expected", "messages"),
    [
        ("", ["unexpected, changed: a.txt"]),
        ("workspace: {changed: [a.txt]}", []),
        (
            "workspace: {created: [a.txt]}",
            ["missing, not created: a.txt; unexpected, changed: a.txt"],
        ),
    ],
)
def test_what_changes_is_compared_with_the_files_of_the_start(run, expected, messages):
    text = (
        f"expected:\n  terminal_status: completed\n  {expected}\nfixtures: {{workspace: notes}}\n"
    )
    result = run(Subject(does=write("a.txt", "other")), text)
    assert [message for _, message in failed(result)] == messages


def test_the_command_sees_what_the_run_left_and_changes_no_comparison(run):
    text = (
        "expected:\n  verify: grep -q other a.txt && rm a.txt && touch new\n"
        "  workspace: {changed: [a.txt]}\nfixtures: {workspace: notes}\n"
    )
    result = run(Subject(does=write("a.txt", "other")), text)
    assert failed(result) == []
    assert sorted(path.name for path in run.folder.iterdir()) == ["deep", "new"]


def test_a_command_that_fails_fails_the_case(run):
    result = run(Subject(), "expected: {verify: 'echo no such note; exit 2'}\n")
    assert failed(result) == [
        ("verify", "the command ended with exit code 2; its output ends:\nno such note")
    ]


@pytest.mark.parametrize(("answer", "names"), [("Hello!", []), ("Go.", ["judge"])])
def test_a_scripted_judge_decides(run, answer, names):
    text = "expected: {judge: Is polite.}\nfixtures: {judge: polite}\n"
    result = run(Subject(RECORD._replace(final_text=answer)), text)
    assert [name for name, _ in failed(result)] == names


def test_recorded_results_reach_the_subject(run):
    subject = Subject()
    run(subject, PLAIN + "fixtures: {tool_results: times}\n")
    (seen,) = subject.seen
    assert [key[0] for key in seen[3].by_key()] == ["demo.time"]


ARMS = """\
arms:
  - name: first
    expected: {terminal_status: completed, contains: [hello]}
  - name: second
    model_fixture: other
    fixtures: {workspace: notes}
    expected: {terminal_status: completed, contains: [hello]}
"""
DENIED = RECORD._replace(
    events=(ObservedEvent(1, "tool.call.denied", {}), ObservedEvent(2, "run.completed", {}))
)


def test_each_arm_runs_once_in_a_folder_of_its_own(run):
    subject = Subject(RECORD, RECORD)
    result = run(subject, ARMS + "delta: {outcome: same}\n")
    assert failed(result) == []
    assert [case.name for case, *_ in subject.seen] == ["sample.first", "sample.second"]
    assert [script.turns[0].text for _, script, *_ in subject.seen] == ["hello", "other"]
    folders = [folder for _, _, folder, _ in subject.seen]
    assert folders == [str(run.folder / "first"), str(run.folder / "second")]
    assert not (run.folder / "first/a.txt").exists()
    assert (run.folder / "second/a.txt").exists()
    assert (result.verdict.id, result.verdict.seed) == ("case.sample", "sample")
    assert result.verdict.examined == 4


def test_a_failure_names_its_arm_and_shows_the_log_of_both(run):
    bad = RECORD._replace(final_text="Go.")
    result = run(Subject(RECORD, bad), ARMS)
    assert failed(result) == [("final_text_contains", "in the arm second: missing: hello")]
    (check,) = result.verdict.failed_checks()
    assert (check.path, check.line) == ("evals/cases/01_sample.yaml", 11)
    assert event_excerpt(result) == (
        "in the arm first:\n  1 run.started\n  2 run.completed\n"
        "in the arm second:\n  1 run.started\n  2 run.completed"
    )


@pytest.mark.parametrize(
    ("records", "names"),
    [
        ((DENIED, RECORD), []),
        ((RECORD, RECORD), ["delta.policy_failures"]),
        ((RECORD, DENIED), ["delta.policy_failures"]),
    ],
)
def test_the_second_arm_is_compared_with_the_first(run, records, names):
    result = run(Subject(*records), ARMS + "delta: {policy_failures: improves}\n")
    assert [name for name, _ in failed(result)] == names


def test_an_arm_that_cannot_run_is_a_finding_and_the_other_one_is_judged(run):
    subject = Subject(SubjectError("no model"), RECORD._replace(final_text="Go."))
    result = run(subject, ARMS + "delta: {outcome: same}\n")
    assert [finding.message for finding in result.verdict.findings] == [
        "in the arm first: no model"
    ]
    assert [name for name, _ in failed(result)] == ["final_text_contains"]


@pytest.mark.parametrize(
    ("sent", "failures"),
    [(2, []), (1, [("input.messages_sent", "missing: 1 of 2 messages")])],
)
def test_every_message_of_a_conversation_has_to_be_sent(run, sent, failures):
    subject = Subject(RECORD._replace(messages_sent=sent))
    result = run(subject, PLAIN, head=HEAD.replace("{text: Hi}", "{turns: [Hi, And then?]}"))
    assert failed(result) == failures


def test_a_crash_is_raised_where_it_is_no_finding(run):
    with pytest.raises(ZeroDivisionError):
        run(Subject(ZeroDivisionError()), PLAIN, crash_is_finding=False)


def test_the_identity_of_a_gate(run):
    result = run(Subject(), PLAIN, identity=Identity("gate.a.b", "case", 4))
    assert (result.verdict.id, result.verdict.kind, result.verdict.milestone) == (
        "gate.a.b",
        "case",
        4,
    )
