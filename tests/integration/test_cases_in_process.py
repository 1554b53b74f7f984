"""The suite's cases, run by the runner as test targets run them: one process each.

The outcome depends on the machine in one point only: with the network on, the proof fails the
verdict. So these tests look at the checks, and at the outcome together with the proof.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hardgate.cases.record import ObservedEvent
from hardgate.cases.volatile import load_volatile_fields
from hardgate.expectations.volatile import log_differences

VOLATILE = "evals/volatile_fields.yaml"
IMPORT_PATH = os.pathsep.join(os.path.abspath(path) for path in sys.path if path)
CASES = sorted(str(path) for path in Path("evals/cases").glob("*.yaml"))


# What a test target runs, and the same with the record kept beside the verdict.
ENTRY_POINT = ["-m", "agent_cli.case"]
KEEPING_THE_RECORD = """
import json, os, sys
from agent_cli.subject import reference_subject
from hardgate.kinds.case import main

subject = reference_subject()
run = subject.run

def keeping(*arguments):
    record = run(*arguments)
    log = [[event.sequence, event.type, event.payload] for event in record.events]
    with open(os.path.join(os.environ["TEST_UNDECLARED_OUTPUTS_DIR"], "log.json"), "w") as file:
        json.dump([log, record._replace(events=())], file)
    return record

subject.run = keeping
sys.exit(main(sys.argv[1:], subject))
"""


def run(case, out, *, milestone="2", workspace=".", program=ENTRY_POINT, **environment):
    """One case in a process of its own, started as a test target starts it."""
    out.mkdir()
    arguments = ["--case", case, "--fixtures", "evals/fixtures", "--milestone", milestone]
    arguments += ["--repeat", "bazel test //evals:cases/x"]
    return subprocess.run(
        [sys.executable, "-S", "-s", "-B", "-P", *program, *arguments],
        env={
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": IMPORT_PATH,
            "TEST_TMPDIR": str(out),
            "TEST_UNDECLARED_OUTPUTS_DIR": str(out),
            "XML_OUTPUT_FILE": str(out / "test.xml"),
            **environment,
        },
        cwd=workspace,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def verdict_of(out):
    return json.loads((out / "verdict.json").read_text())


def test_the_suite_has_its_first_eleven_cases():
    numbers = [Path(case).name.partition("_")[0] for case in CASES]
    assert numbers[:11] == [f"{number:02}" for number in range(1, 12)]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("case", CASES)
def test_a_case_passes_all_its_checks(case, tmp_path):
    done = run(case, tmp_path / "out")
    verdict = verdict_of(tmp_path / "out")
    assert [check for check in verdict["checks"] if check["outcome"] != "pass"] == []
    assert len(verdict["checks"]) > 8
    assert verdict["findings"] == []
    assert verdict["outcome"] == ("pass" if verdict["network"]["off"] else "fail")
    assert done.returncode == (0 if verdict["network"]["off"] else 1)
    assert done.stderr == ""
    assert (tmp_path / "out" / "test.xml").exists()


ENVIRONMENTS = [
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "POSIX"},
    {"PYTHONHASHSEED": "random", "TZ": "UTC", "LC_ALL": "C.UTF-8", "LANG": "tr_TR.UTF-8"},
]


@pytest.mark.parametrize("case", CASES)
def test_two_runs_differ_in_nothing_but_the_volatile_fields(case, tmp_path):
    """Not in a byte of the verdict, and in no other field of the log or of what was observed."""
    volatile = load_volatile_fields(VOLATILE, Path(VOLATILE).read_bytes())
    found = []
    for number, environment in enumerate(ENVIRONMENTS):
        out = tmp_path / str(number)
        run(case, out, program=["-c", KEEPING_THE_RECORD], **environment)
        log, observed = json.loads((out / "log.json").read_text())
        events = [ObservedEvent(*event) for event in log]
        found.append(((out / "verdict.json").read_bytes(), observed, events))
    (verdict, observed, events), *others = found
    assert len(events) > 5
    for other_verdict, other_observed, other_events in others:
        assert list(log_differences(events, other_events, volatile)) == []
        assert other_observed == observed
        assert other_verdict == verdict


def copy_suite(folder, edit):
    """A copy of the suite in which `edit` maps file names to (old, new)."""
    for source in Path("evals").rglob("*.yaml"):
        text = source.read_text()
        if source.name in edit:
            old, new = edit[source.name]
            assert text.count(old) == 1
            text = text.replace(old, new)
        target = folder / source
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


CALCULATOR = "02_calculator_tool.yaml"
SCRIPT = "calculator_then_answer.yaml"
WRONG = [
    ({CALCULATOR: ('["391"]', '["392"]')}, {"final_text_contains"}),
    ({CALCULATOR: ("count: 1", "count: 2")}, {"tool_calls.count", "tool_calls.arguments_subset"}),
    ({CALCULATOR: ("maximum_steps: 2", "maximum_steps: 1")}, {"maximum_steps"}),
    (
        {CALCULATOR: ("terminal_status: completed", "terminal_status: cancelled")},
        {"terminal_status"},
    ),
    ({CALCULATOR: ("- tool.call.authorized", "- tool.call.denied")}, {"event_order"}),
    ({SCRIPT: ("17 * 23", "17 * 22")}, {"tool_calls.arguments_subset"}),
    (
        {SCRIPT: ("17 * 23", "17 */ 23")},
        {"tool_calls.arguments_subset", "reason_codes", "event_order"},
    ),
    (
        {SCRIPT: ("name: math.calculate", "name: math.guess")},
        {
            "tool_calls.count",
            "tool_calls.arguments_subset",
            "reason_codes",
            "event_order",
            "implicit.invented_tool",
        },
    ),
    (
        {SCRIPT: ("17 multiplied by 23 is 391.", "It is 391.\n  - {kind: final, text: x}")},
        {"fixture.unconsumed"},
    ),
    (
        {SCRIPT: ("  - kind: final\n    text: 17 multiplied by 23 is 391.\n", "")},
        {
            "terminal_status",
            "final_text_contains",
            "event_order",
            "fixture.exhausted",
            "implicit.errored_run",
        },
    ),
]


# Of every other case, what it alone proves, taken away.
WRONG_ELSEWHERE = [
    (
        "01_direct_response.yaml",
        "direct_answer.yaml",
        ("The capital of France is Paris.", "It is Lyon."),
        {"final_text_contains"},
    ),
    (
        "03_sequential_reads.yaml",
        "03_sequential_reads.yaml",
        ("call_id: call_time, level: internal_tool", "call_id: call_time, level: user"),
        {"trust"},
    ),
    (
        "04_bad_arguments.yaml",
        "bad_arguments_then_answer.yaml",
        ("{formula: 17 * 23}", "{expression: 17 * 23}"),
        {
            "tool_calls.arguments_subset",
            "tool_calls.reason_code",
            "tool_started_count",
            "event_order",
        },
    ),
    (
        "05_tool_not_in_session.yaml",
        "05_tool_not_in_session.yaml",
        ("[system.current_time]", "[math.calculate]"),
        {
            "tool_calls.reason_code",
            "tool_started_count",
            "event_order",
            "absent_strings",
        },
    ),
    (
        "06_recoverable_tool_failure.yaml",
        "failing_then_working_call.yaml",
        ("{expression: 2 + 2}", "{expression: 2 / 0}"),
        {
            "tool_calls.arguments_subset",
            "tool_calls.reason_code",
            "ended_on_failed_call",
            "event_order",
        },
    ),
    (
        "07_permanent_tool_failure.yaml",
        "too_large_then_answer.yaml",
        ("{expression: 9 ** 9 ** 9}", "{expression: 9 ** 9}"),
        {
            "tool_calls.arguments_subset",
            "tool_calls.reason_code",
            "ended_on_failed_call",
            "metrics",
        },
    ),
    (
        "08_transient_model_error.yaml",
        "transient_error_then_answer.yaml",
        ("transient\n", "permanent\n"),
        {
            "terminal_status",
            "final_text_contains",
            "model_calls",
            "event_order",
            "metrics",
            "implicit.errored_run",
            "fixture.unconsumed",
        },
    ),
    (
        "09_permanent_model_error.yaml",
        "permanent_error.yaml",
        ("permanent\n", "transient\n"),
        {"model_calls", "metrics", "fixture.exhausted"},
    ),
    (
        "10_step_limit.yaml",
        "10_step_limit.yaml",
        ("max_steps: 2", "max_steps: 3"),
        {"failure_reason", "stop_cause", "model_calls", "fixture.exhausted"},
    ),
    (
        "11_repeated_call.yaml",
        "same_call_five_times.yaml",
        (
            "call_id: call_5, name: math.calculate, arguments: {expression: 1 + 1}",
            "call_id: call_5, name: math.calculate, arguments: {expression: 1 + 2}",
        ),
        {
            "failure_reason",
            "tool_calls.arguments_subset",
            "tool_calls.reason_code",
            "tool_started_count",
            "model_calls",
            "maximum_steps",
            "event_order",
            "fixture.exhausted",
        },
    ),
    (
        "16_restart_after_checkpoint.yaml",
        "16_restart_after_checkpoint.yaml",
        ("occurrence: 2", "occurrence: 9"),
        {"event_order", "interventions"},
    ),
    (
        "17_recorded_outcome_reused.yaml",
        "17_recorded_outcome_reused.yaml",
        ("at: tool.call.completed\n", "at: pipeline.13.before\n"),
        {"event_order", "metrics"},
    ),
    (
        "18a_killed_before_effect.yaml",
        "18a_killed_before_effect.yaml",
        ("at: before_effect", "at: after_effect"),
        {"tool_calls.reason_code", "event_order", "metrics"},
    ),
    (
        "18b_killed_after_effect.yaml",
        "18b_killed_after_effect.yaml",
        ("at: after_effect", "at: before_effect"),
        {"tool_calls.reason_code", "event_order", "metrics"},
    ),
]


@pytest.mark.parametrize(
    ("case", "edit", "names"),
    [(CALCULATOR, edit, names) for edit, names in WRONG]
    + [(case, {file: edit}, names) for case, file, edit, names in WRONG_ELSEWHERE],
)
def test_a_wrong_case_or_script_fails_for_its_own_reason(case, edit, names, tmp_path):
    copy_suite(tmp_path, edit)
    done = run(f"evals/cases/{case}", tmp_path / "out", workspace=tmp_path)
    assert done.returncode == 1
    verdict = verdict_of(tmp_path / "out")
    assert {check["name"] for check in verdict["checks"] if check["outcome"] == "fail"} == names
    for name in names:
        assert name in done.stdout
    assert "event log, around the divergence:" in done.stdout
    assert done.stdout.endswith("repeat: bazel test //evals:cases/x\n")


def test_a_case_above_the_milestone_does_not_run(tmp_path):
    done = run(CASES[0], tmp_path / "out", milestone="0")
    assert done.returncode == 2
    assert "pending until milestone 1" in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_the_process_imports_no_more_than_it_needs(tmp_path):
    """What each case would pay for, beyond what a model of pydantic imports by itself."""
    (tmp_path / "out").mkdir()
    program = (
        "import pydantic, sys\n"
        "class Model(pydantic.BaseModel):\n    one: int = pydantic.Field(ge=1)\n"
        "before = set(sys.modules)\n"
        "import agent_cli.case as case\n"
        "argv = ['--case', sys.argv[1], '--fixtures', 'evals/fixtures', '--milestone', '1']\n"
        "case.main([*argv, '--repeat', 'x'], case.reference_subject())\n"
        "print(*(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, "evals/cases/02_calculator_tool.yaml"],
        env={
            "PYTHONPATH": IMPORT_PATH,
            "TEST_TMPDIR": str(tmp_path),
            "TEST_UNDECLARED_OUTPUTS_DIR": str(tmp_path / "out"),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert {"hardgate", "agent_core", "yaml"} <= loaded
    assert "agent_core.evals.in_process" in done.stdout
    for module in ("evals.interventions", "evals.stored", "adapters.sql"):
        assert f"agent_core.{module}" not in done.stdout
    heavy = {"asyncio", "hypothesis", "logging", "pytest", "subprocess", "traceback", "unittest"}
    assert not loaded & (heavy | {"email", "http", "inspect", "random", "shutil", "tempfile"})
