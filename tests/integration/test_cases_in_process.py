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

IMPORT_PATH = os.pathsep.join(os.path.abspath(path) for path in sys.path if path)
CASES = sorted(str(path) for path in Path("evals/cases").glob("*.yaml"))


def run(case, out, *, milestone="1", workspace=".", **environment):
    """One case in a process of its own, started as a test target starts it."""
    out.mkdir()
    arguments = ["--case", case, "--fixtures", "evals/fixtures", "--milestone", milestone]
    arguments += ["--repeat", "bazel test //evals:cases/x"]
    return subprocess.run(
        [sys.executable, "-S", "-s", "-B", "-P", "-m", "agent_cli.case", *arguments],
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


def test_the_suite_has_its_first_two_cases():
    assert [Path(case).name for case in CASES][:2] == [
        "01_direct_response.yaml",
        "02_calculator_tool.yaml",
    ]


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
def test_the_verdict_has_the_same_bytes_everywhere(case, tmp_path):
    found = set()
    for number, environment in enumerate(ENVIRONMENTS):
        run(case, tmp_path / str(number), **environment)
        found.add((tmp_path / str(number) / "verdict.json").read_bytes())
    assert len(found) == 1


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


@pytest.mark.parametrize(("edit", "names"), WRONG)
def test_a_wrong_case_or_script_fails_for_its_own_reason(edit, names, tmp_path):
    copy_suite(tmp_path, edit)
    done = run(f"evals/cases/{CALCULATOR}", tmp_path / "out", workspace=tmp_path)
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
    heavy = {"asyncio", "hypothesis", "logging", "pytest", "subprocess", "traceback", "unittest"}
    assert not loaded & (heavy | {"email", "http", "inspect", "random", "shutil", "tempfile"})
