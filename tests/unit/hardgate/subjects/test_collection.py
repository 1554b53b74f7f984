"""Gathering a case: everything it names is found and read, or refused with the nearest name."""

import pytest

from hardgate.cases.vocabulary import Vocabulary
from hardgate.documents.problems import DefinitionError
from hardgate.documents.tree import DirectoryTree
from hardgate.subjects import collection

FILES = {
    "evals/fixtures/models/hello.yaml": "turns:\n  - {kind: final, text: hello}\n",
    "evals/fixtures/models/calls.yaml": (
        "turns:\n  - kind: tool_calls\n    calls: [{call_id: c, name: made.up, arguments: {}}]\n"
        "  - {kind: final, text: hello}\n"
    ),
    "evals/fixtures/models/again.yaml": (
        "on_exhausted: repeat_last\nturns:\n  - {kind: final, text: hello}\n"
    ),
    "evals/fixtures/models/broken.yaml": "turns:\n  - {kind: finale, text: hello}\n",
    "evals/fixtures/workspaces/notes/a.txt": "one",
    "evals/fixtures/tools/times.yaml": (
        "results: [{tool: demo.time, arguments: {}, reason_code: tool.internal}]\n"
    ),
    "evals/fixtures/tools/bad.yaml": "results: [{tool: demo.time, arguments: {}}]\n",
    "evals/fixtures/judges/polite.yaml": (
        "rubric: Is polite.\nverdicts:\n"
        "  - {answer: Hello!, passed: true, reason: It greets.}\n"
        "  - {answer: Go., passed: false, reason: It does not.}\n"
    ),
    "evals/fixtures/mcp/mail.yaml": "server_id: mail\ntransport: stdio\ntools: []\n",
    "evals/fixtures/mcp/files.yaml": "server_id: files\ntransport: http\ntools: []\n",
    "evals/fixtures/mcp/mail_again.yaml": "server_id: mail\ntransport: http\ntools: []\n",
    "evals/fixtures/mcp/broken.yaml": "server_id: mail\ntransport: tcp\ntools: []\n",
}
PATH = "evals/cases/01_sample.yaml"
HEAD = "name: sample\nmilestone: 2\ninput: {text: Hi}\n"


class Subject:
    name = "fake"
    version = "1"

    def __init__(self, **known):
        plain = {
            "terminal_statuses": frozenset({"COMPLETED"}),
            "event_types": frozenset({"run.completed"}),
            "tools": frozenset({"demo.time"}),
            "reason_codes": None,
            "principals": None,
            "policy_profiles": None,
            "abilities": frozenset({"turns", "tool_results", "mcp_servers"}),
        }
        self._vocabulary = Vocabulary(**{**plain, **known})

    def vocabulary(self):
        return self._vocabulary


@pytest.fixture
def collect(tmp_path):
    for path, text in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "evals/cases").mkdir()

    def collect(text, subject=None, head=HEAD, **options):
        (tmp_path / PATH).write_text(head + text)
        tree = DirectoryTree(tmp_path)
        loaded = collection.load(tree, PATH)
        subject = subject or Subject()
        return collection.collect(tree, loaded, "evals/fixtures", subject, **options)

    return collect


@pytest.fixture
def refusals(collect):
    def refusals(*arguments, **options):
        with pytest.raises(DefinitionError) as refused:
            collect(*arguments, **options)
        return [problem.render() for problem in refused.value.problems]

    return refusals


EXPECTED = "expected: {terminal_status: completed}\n"


def test_everything_a_case_names_is_gathered(collect):
    runnable = collect(
        "model_fixture: hello\nexpected: {judge: Is polite.}\n"
        "fixtures: {workspace: notes, tool_results: times, judge: polite,\n"
        "  mcp_servers: [mail, files]}\n"
    )
    (run,) = runnable.runs
    assert runnable.script is run.script
    assert run.script.turns[0].text == "hello"
    assert dict(run.files) == {"a.txt": b"one"}
    assert run.tool_results.tools == {"demo.time"}
    assert run.judge.rubric == "Is polite."
    assert [server.server_id for server in run.mcp_servers] == ["mail", "files"]


def test_what_is_not_named_is_not_there(collect):
    (run,) = collect("model_fixture: hello\n" + EXPECTED).runs
    assert (dict(run.files), run.tool_results, run.judge) == ({}, None, None)
    assert run.mcp_servers == ()


UNKNOWN = [
    ("model_fixture: helo\n" + EXPECTED, "4:16", "models/helo.yaml", "'hello'"),
    ("fixtures: {workspace: note}\n", "6:23", "workspaces/note/", "'notes'"),
    ("fixtures: {tool_results: time}\n", "6:26", "tools/time.yaml", "'times'"),
    ("fixtures: {mcp_servers: [mail, fles]}\n", "6:32", "mcp/fles.yaml", "'files'"),
]


@pytest.mark.parametrize(("text", "place", "path", "nearest"), UNKNOWN)
def test_a_fixture_that_is_not_there(refusals, text, place, path, nearest):
    if not text.startswith("model"):
        text = f"model_fixture: hello\n{EXPECTED}{text}"
    (said,) = refusals(text)
    assert said.startswith(f"{PATH}:{place}: case.unknown_fixture: found ")
    assert f"but there is no evals/fixtures/{path}; allowed: " in said
    assert said.endswith(f"did you mean {nearest}?")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "model_fixture: broken\n" + EXPECTED,
            "evals/fixtures/models/broken.yaml:2:12: schema.value: found 'finale'",
        ),
        (
            "model_fixture: hello\nfixtures: {tool_results: bad}\n" + EXPECTED,
            "evals/fixtures/tools/bad.yaml:1:11: tool_results.outcome: found a result without",
        ),
        (
            "model_fixture: hello\nfixtures: {judge: polite}\nexpected: {judge: Is kind.}\n",
            f"{PATH}:6:19: case.rubric: found another condition than the rubric of polite.yaml",
        ),
        (
            "model_fixture: hello\nfixtures: {mcp_servers: [broken]}\n" + EXPECTED,
            "evals/fixtures/mcp/broken.yaml:2:12: schema.value: found 'tcp'",
        ),
        (
            "model_fixture: hello\nfixtures: {mcp_servers: [mail, mail_again]}\n" + EXPECTED,
            f"{PATH}:5:32: case.mcp_server_id: found mail_again, whose server_id mail another",
        ),
        (
            "model_fixture: again\n" + EXPECTED,
            f"{PATH}:4:16: case.repeat_last: found again, whose on_exhausted is repeat_last",
        ),
        (
            "model_fixture: hello\nexpected: {tools: [made.up]}\n",
            f"{PATH}:5:20: case.unknown_tool: found 'made.up'; allowed: demo.time",
        ),
        (
            "model_fixture: hello\nexpected: {approval_requested: true}\n",
            f"{PATH}:5:12: case.needs_approvals: found 'approval_requested'",
        ),
    ],
)
def test_what_is_wrong_with_a_case_and_its_fixtures(refusals, text, said):
    found = refusals(text)
    assert len(found) == 1, found
    assert found[0].startswith(said)


def test_the_problems_of_all_files_at_once(refusals):
    found = refusals(
        "model_fixture: broken\nfixtures: {tool_results: bad, workspace: none}\n"
        "expected: {approval_requested: true}\n"
    )
    rules = [said.split(": ")[1] for said in found]
    assert rules == [
        "case.unknown_fixture",
        "case.needs_approvals",
        "schema.value",
        "tool_results.outcome",
    ]


def test_a_tool_that_the_script_proposes_may_be_spoken_of(collect):
    runnable = collect("model_fixture: calls\nexpected: {tools: [made.up]}\n")
    assert runnable.runs[0].planned.expected.tools == ("made.up",)


def test_a_case_that_waits_may_use_names_and_abilities_of_later(collect, refusals):
    text = "model_fixture: hello\nexpected: {event_order: [approval.requested]}\n"
    assert "case.unknown_event_type" in refusals(text)[0]
    collect(text, runs_now=False)
    later = HEAD.replace("milestone: 2", "milestone: 4")
    needy = "model_fixture: hello\nexpected: {approval_requested: true}\n"
    collect(needy, head=later, runs_now=False)
    assert "case.needs_approvals" in refusals(needy, runs_now=False)[0]
    assert "case.needs_approvals" in refusals(needy, head=later)[0]


def test_the_last_answer_is_repeated_for_every_message(collect):
    head = HEAD.replace("{text: Hi}", "{turns: [one, two, three]}")
    runnable = collect("model_fixture: again\n" + EXPECTED, head=head)
    assert [turn.text for turn in runnable.script.turns] == ["hello"] * 3


def test_arms_have_their_own_fixtures(collect, refusals):
    arms = (
        "model_fixture: hello\narms:\n"
        "  - {name: one, expected: {terminal_status: completed}}\n"
        "  - {name: two, model_fixture: NAME, expected: {terminal_status: completed}}\n"
    )
    runs = collect(arms.replace("NAME", "calls")).runs
    assert [len(run.script.turns) for run in runs] == [1, 2]
    (said,) = refusals(arms.replace("NAME", "cals"))
    assert said.startswith(f"{PATH}:7:32: case.unknown_fixture: found 'cals'")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("evals/cases/02_none.yaml", "cannot be read: there is no such file"),
    ],
)
def test_a_file_that_is_not_there(tmp_path, path, said):
    with pytest.raises(DefinitionError, match=said):
        collection.load(DirectoryTree(tmp_path), path)


def test_the_files_that_a_case_names(collect):
    runnable = collect(
        "model_fixture: hello\nfixtures: {tool_results: times}\narms:\n"
        "  - {name: one, expected: {terminal_status: completed}}\n"
        "  - {name: two, model_fixture: calls, expected: {terminal_status: completed}}\n"
    )
    assert collection.fixture_paths(runnable.loaded, "evals/fixtures") == {
        "evals/fixtures/models/hello.yaml",
        "evals/fixtures/models/calls.yaml",
        "evals/fixtures/tools/times.yaml",
    }


PROCESS = "model_fixture: hello\nsubject: {}\nexpected: {terminal_status: completed"


def test_a_case_of_a_process_is_not_run_in_one(refusals):
    assert refusals(PROCESS + "}\n") == [
        f"{PATH}:5:1: case.subject: found subject, but cases run in the process of fake here; "
        "allowed: with hardgate.kinds.command_case"
    ]


def test_a_case_of_a_process_is_judged_by_what_is_seen_of_one(collect, refusals):
    foreign = Subject(outside=True, tools=None)
    assert collect(PROCESS + "}\n", foreign).runs
    refused = refusals(PROCESS + ", metrics: {a: 1}, event_order: [run.completed]}\n", foreign)
    assert [one.split(": ")[1] for one in refused] == [
        "case.not_observable",
        "case.unknown_event_type",
    ]


def test_a_case_that_says_nothing_is_judged_by_what_it_runs_against(collect, refusals):
    text = "model_fixture: hello\nexpected: {final_text: hello, metrics: {a: 1}}\n"
    assert "case.needs_metrics" in refusals(text)[0]
    assert "case.not_observable" in refusals(text, Subject(outside=True))[0]
