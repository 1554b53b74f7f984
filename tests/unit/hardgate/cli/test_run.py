"""`hardgate run`: cases and gates in this process, judged by their checks."""

import sys
import xml.etree.ElementTree as ET

import pytest

from hardgate.cases.record import ObservedEvent
from hardgate.cli import run as command
from hardgate.cli.running import NOT_DETERMINISTIC
from hardgate.subjects.port import SubjectError
from hardgate.verdicts.network import ATTEMPTS, NetworkProof
from tests.unit.hardgate.cli.samples import RECORD, FakeSubject, answer, edit, write

ON = NetworkProof(False, ("interface eth0 is up",), (), "network_on", "the network is on")
OFF = NetworkProof(True, (), tuple((name, "ENETUNREACH") for name in ATTEMPTS), "", "")
WRONG = RECORD._replace(final_text="Good bye\x1b[2J")
DEVELOPMENT = "hardgate run: a development run, not a gate result: no sandbox around it; "


@pytest.fixture(autouse=True)
def network(monkeypatch):
    """With the network on, as it is where people develop."""
    monkeypatch.setattr(command, "prove", lambda: ON)


def test_all_cases_of_the_milestone_run(workspace, hardgate, capsys):
    subject = FakeSubject()
    assert hardgate("run", subject) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == "OK: 2 pass, 0 fail, 1 pending"
    assert [line.partition(":")[0] for line in out.splitlines()[:-1]] == [
        "PASS case.greeting",
        "PASS case.farewell",
    ]
    assert err == f"{DEVELOPMENT}the network is on\n"
    assert [name for name, _, _ in subject.ran] == ["greeting", "farewell"]
    assert {here for _, here, _ in subject.ran} == {str(workspace)}


def test_each_case_has_a_folder_of_its_own_that_goes(hardgate, tmp_path):
    subject = FakeSubject()
    hardgate("run", subject)
    folders = {folder for _, _, folder in subject.ran}
    assert len(folders) == 2
    assert not any((tmp_path / folder).exists() for folder in folders)


def test_a_failing_case_shows_what_its_target_would_show(hardgate, capsys):
    assert hardgate("run greeting", FakeSubject(WRONG)) == 1
    out = capsys.readouterr().out
    assert out.startswith("FAIL case.greeting (case, milestone 1)\n\n1 of ")
    assert "evals/cases/01_greeting.yaml:8: final_text_contains\n  expected: hello\n" in out
    assert "event log, around the divergence:" in out
    assert "\nrepeat: hardgate run greeting\n" in out
    assert out.endswith("\nNOT OK: 0 pass, 1 fail, 0 pending\n")
    assert "\x1b" not in out


def test_the_exit_code_judges_the_checks_and_the_verdict_carries_the_proof(hardgate, capsys):
    assert hardgate("run greeting --json", FakeSubject()) == 0
    found = answer(capsys)
    (result,) = found["results"]
    assert (found["ok"], found["network_off"], result["passed"]) == (True, False, True)
    assert result["verdict"]["outcome"] == "fail"
    assert result["verdict"]["network"]["rule"] == "network_on"
    assert result["verdict"]["findings"] == []
    assert any("a development run, not a gate result" in note for note in found["notes"])


def test_with_the_network_off_the_verdict_passes_too(hardgate, capsys, monkeypatch):
    monkeypatch.setattr(command, "prove", lambda: OFF)
    assert hardgate("run greeting --json", FakeSubject()) == 0
    found = answer(capsys)
    assert found["network_off"] is True
    assert found["results"][0]["verdict"]["outcome"] == "pass"
    hardgate("run greeting", FakeSubject())
    assert capsys.readouterr().err == f"{DEVELOPMENT}the network is off\n"


@pytest.mark.parametrize("error", [SubjectError("no such tool"), ValueError("secret\x1b[2J")])
def test_a_subject_that_breaks_fails_its_case_and_no_other(error, hardgate, capsys):
    assert hardgate("run", FakeSubject(error, RECORD)) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "NOT OK: 1 pass, 1 fail, 1 pending"
    rule = "subject.error" if isinstance(error, SubjectError) else "subject.crashed"
    assert f"evals/cases/01_greeting.yaml:1: {rule}" in out


def test_without_a_subject_no_case_runs_and_the_message_says_how_to_mount_one(hardgate, capsys):
    for words in ("run", "run greeting", "explain greeting"):
        assert hardgate(words) == 4
        out, err = capsys.readouterr()
        assert out == ""
        assert "no agent runtime is mounted here" in err
        assert "main(sys.argv[1:], subject=MySubject()" in err
        assert "`agent eval`" in err


SELECTIONS = [
    ("greeting", ["greeting"]),
    ("farewell greeting farewell", ["greeting", "farewell"]),
    ("evals/cases/02_farewell.yaml", ["farewell"]),
    ("02_farewell.yaml", ["farewell"]),
    ("02_farewell", ["farewell"]),
    ("gate.tool.greets", ["greeting"]),
    ("gate.tool.greets greeting", ["greeting"]),
    ("--tag smoke", ["greeting"]),
    ("--tag slow", ["farewell"]),
    ("--tag smoke --milestone 2", ["wave"]),
    ("--milestone 1", ["greeting", "farewell"]),
    ("--milestone 2", ["wave"]),
    ("wave --milestone 2", ["wave"]),
    ("--kind case", ["greeting", "farewell"]),
]


@pytest.mark.parametrize(("words", "names"), SELECTIONS)
def test_what_is_selected(words, names, hardgate, capsys):
    subject = FakeSubject()
    assert hardgate(f"run {words}", subject) == 0
    assert [name for name, _, _ in subject.ran] == names


MISTAKES = [
    ("greting", "found no case 'greting'; did you mean 'greeting'?"),
    ("zzz", "found no case 'zzz'; there is: farewell, greeting, wave"),
    ("gate.tool.greet", "found no gate 'gate.tool.greet'; did you mean 'gate.tool.greets'?"),
    ("gate.tool.tidy", "is of the kind structural, which only the build can judge; try: bazel"),
    ("gate.tool.later", "gate.tool.later has no check yet; its entry in gates/tool.yaml needs one"),
    ("wave", "pending at milestone 1: wave (milestone 2); --milestone 2 looks ahead"),
    ("--tag smoky", "--tag: found no tag 'smoky'; did you mean 'smoke'?"),
    ("--tag smoke --tag slow", "found nothing of the tag smoke and the tag slow; there is: case"),
    ("--milestone 7", "found nothing of the milestone 7; there is: case of milestone 1, case of"),
    ("--kind corpus", "found nothing of the kind corpus"),
    ("--kind structural", "--kind: found 'structural'; allowed: case, property or corpus"),
    ("--kind proprety", "did you mean 'property'?"),
    ("--repeat 0", "found '0'; allowed: a whole number from 1 to 1000"),
    ("--repeat 2 --seed 3", "not allowed with argument"),
    ("--seed 3 greeting", "--seed is for gates of the kind property; greeting is of the kind case"),
    ("--seed 3", "--seed is for gates of the kind property; greeting is of the kind case"),
]


@pytest.mark.parametrize(("words", "complaint"), MISTAKES)
def test_mistakes_are_usage_errors(words, complaint, hardgate, capsys):
    assert hardgate(f"run {words}", FakeSubject()) == 2
    assert complaint in capsys.readouterr().err


def test_a_run_of_nothing_is_no_success(workspace, hardgate, capsys):
    write(workspace, "gates/MILESTONE", "0\n")
    edit(workspace, "gates/tool.yaml", "sum_differs", "sum_differs")
    assert hardgate("run", FakeSubject()) == 1
    out, err = capsys.readouterr()
    assert out == "NOT OK: 0 pass, 0 fail, 3 pending\n"
    assert "nothing ran, which proves nothing; pending at milestone 0: greeting (mile" in err
    assert hardgate("run --json", FakeSubject()) == 1
    found = answer(capsys)
    assert (found["ok"], found["pending"]) == (False, ["greeting", "farewell", "wave"])


def test_a_workspace_without_gates_has_no_milestone_to_wait_for(workspace, hardgate, capsys):
    (workspace / "gates").rename(workspace.parent / "gates")
    assert hardgate("run", FakeSubject()) == 0
    assert capsys.readouterr().out.endswith("OK: 3 pass, 0 fail, 0 pending\n")


def test_a_broken_case_keeps_a_run_of_all_from_starting(workspace, hardgate, capsys):
    edit(workspace, "evals/cases/02_farewell.yaml", "expected:", "expectd:")
    subject = FakeSubject()
    assert hardgate("run", subject) == 4
    assert "evals/cases/02_farewell.yaml:6:1: schema.unknown_key" in capsys.readouterr().err
    assert subject.ran == []
    assert hardgate("run greeting", subject) == 0
    assert hardgate("run farewell", subject) == 4
    assert [name for name, _, _ in subject.ran] == ["greeting"]


def test_repeating_finds_what_differs(hardgate, capsys):
    moved = RECORD._replace(events=(*RECORD.events[:-1], ObservedEvent(9, "run.completed", {})))
    assert hardgate("run greeting --repeat 4", FakeSubject()) == 0
    subject = FakeSubject(RECORD, RECORD, moved)
    capsys.readouterr()
    assert hardgate("run greeting --repeat 4 --json", subject) == 1
    (result,) = answer(capsys)["results"]
    assert (result["times"], result["passed"]) == (3, False)
    (finding,) = result["verdict"]["findings"]
    assert finding["rule"] == NOT_DETERMINISTIC
    assert finding["message"] == (
        "time 3 of 4 differs from the first: "
        "event 6: run.completed with sequence 7, then run.completed with sequence 9"
    )


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (RECORD._replace(events=RECORD.events[:-1]), "event 6: run.completed is in the first log"),
        (RECORD._replace(step_count=1), "the records differ, but not in an event"),
        (SubjectError("gone"), "event 1: run.started is in the first log only"),
    ],
)
def test_what_differs_is_named(other, difference, hardgate, capsys):
    assert hardgate("run greeting --repeat 2", FakeSubject(RECORD, other)) == 1
    assert difference in capsys.readouterr().out


def test_volatile_fields_may_differ(workspace, hardgate, capsys):
    timed = [
        RECORD._replace(events=(*RECORD.events[:-1], ObservedEvent(7, "run.completed", payload)))
        for payload in ({"duration_ms": 3}, {"duration_ms": 4}, {"duration_ms": 4, "steps": 2})
    ]
    assert hardgate("run greeting --repeat 2", FakeSubject(*timed[:2])) == 1
    listed = '- {event: "*", field: duration_ms, reason: A clock of the machine.}\n'
    write(workspace, "evals/volatile_fields.yaml", listed)
    assert hardgate("run greeting --repeat 2", FakeSubject(*timed[:2])) == 0
    capsys.readouterr()
    assert hardgate("run greeting --repeat 3", FakeSubject(*timed)) == 1
    assert "event 6 (run.completed).steps: nothing, then 2" in capsys.readouterr().out


def test_a_property_gate_runs_here_with_its_trials(hardgate, capsys):
    assert hardgate("run gate.tool.sums_right --json") == 0
    found = answer(capsys)
    (result,) = found["results"]
    assert (result["kind"], result["name"]) == ("property", "gate.tool.sums_right")
    assert result["verdict"]["trials"] >= 20
    assert hardgate("run --kind property --seed 7 --json") == 0
    assert answer(capsys)["results"][0]["verdict"]["seed"] == "7"


def test_a_property_gate_that_fails_says_how_to_repeat_it(workspace, hardgate, capsys):
    edit(workspace, "gates/checks/tool.py", "return one + two", "return one - two")
    assert hardgate("run gate.tool.sums_right --seed 9") == 1
    out = capsys.readouterr().out
    assert "sum_differs" in out
    assert "\nrepeat: hardgate run gate.tool.sums_right --seed 9\n" in out


@pytest.fixture(autouse=True)
def no_leftover_modules():
    """Each workspace has its own gates.checks."""
    yield
    for name in [name for name in sys.modules if name == "gates" or name.startswith("gates.")]:
        del sys.modules[name]


def test_junit(workspace, hardgate, capsys, monkeypatch):
    monkeypatch.chdir(workspace / "evals")
    assert hardgate("run greeting farewell --junit out.xml", FakeSubject(RECORD, WRONG)) == 1
    suites = ET.parse(workspace / "evals" / "out.xml").getroot()
    assert [(one.get("name"), one.get("failures")) for one in suites] == [
        ("case.greeting", "0"),
        ("case.farewell", "1"),
    ]
    (failure,) = suites.iter("failure")
    assert "final_text_contains" in failure.get("message")
    assert sorted(path.name for path in (workspace / "evals").iterdir() if path.is_file()) == [
        "out.xml"
    ]


def test_a_junit_file_that_cannot_be_written(hardgate, capsys):
    assert hardgate("run greeting --junit gone/out.xml", FakeSubject()) == 4
    assert "gone/out.xml" in capsys.readouterr().err


def test_progress_and_colours_are_for_terminals(hardgate, capsys, monkeypatch):
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    hardgate("run", FakeSubject(RECORD, WRONG))
    out, err = capsys.readouterr()
    assert err.startswith("[1/2] greeting\n[2/2] farewell\n")
    assert out.startswith("\x1b[32mPASS\x1b[0m case.greeting")
    assert "\n\x1b[31mFAIL\x1b[0m case.farewell" in out
    monkeypatch.setenv("NO_COLOR", "1")
    hardgate("run", FakeSubject(RECORD, WRONG))
    assert "\x1b" not in capsys.readouterr().out
