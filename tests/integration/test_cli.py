"""The commands as processes: streams, exit codes, signals, and where they find the workspace."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCES = [path for path in sys.path if path]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """The suite and the deployment of this repository, as a workspace without gates and Bazel."""
    root = tmp_path_factory.mktemp("workspace")
    for name in ("config", "evals"):
        shutil.copytree(Path(name).resolve(), root / name, symlinks=False)
    return root


def command(module, *words):
    return [sys.executable, "-B", "-m", module, *words]


def environment(**variables):
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    path = os.pathsep.join(os.path.abspath(path) for path in SOURCES)
    return {**inherited, "PYTHONPATH": path, **variables}


def run(cwd, module, *words, **variables):
    return subprocess.run(
        command(module, *words),
        cwd=cwd,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


CALLS = [
    ("hardgate.cli", ("--version",), 0),
    ("hardgate.cli", ("lint", "--json"), 0),
    ("hardgate.cli", ("doctor", "--json"), 0),
    ("hardgate.cli", ("run", "--milestone", "1"), 4),
    ("hardgate.cli", ("explain", "calculator_tool"), 4),
    ("hardgate.cli", ("gates",), 4),
    ("hardgate.cli", ("lnt",), 2),
    ("hardgate.cli", ("lint", "--jsn"), 2),
    ("hardgate.cli", (), 2),
    ("agent_cli", ("eval", "lint"), 0),
    ("agent_cli", ("eval", "run", "direct_response", "--milestone", "1", "--json"), 0),
    ("agent_cli", ("eval", "run", "direct_respons"), 2),
    ("agent_cli", ("eval", "explain", "calculator_tool", "--json"), 0),
    ("agent_cli", ("eval", "doctor"), 0),
    ("agent_cli", ("evil",), 2),
    ("agent_cli", ("run", "Hi"), 2),
]


@pytest.mark.parametrize(("module", "words", "code"), CALLS)
def test_exit_codes_and_streams(module, words, code, workspace):
    done = run(workspace, module, *words)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert bool(done.stdout) is (code == 0 or not words)
    if "--json" in words:
        assert json.loads(done.stdout)["ok"] is True
    if code and words:
        assert done.stderr.startswith(module.partition("_")[0].partition(".")[0])


def test_from_below_the_workspace_and_from_bazel_run(workspace, tmp_path):
    below = run(
        workspace / "evals" / "cases", "agent_cli", "eval", "lint", "01_direct_response.yaml"
    )
    assert below.returncode == 0, below.stderr
    called = {
        "BUILD_WORKING_DIRECTORY": str(workspace / "evals"),
        "BUILD_WORKSPACE_DIRECTORY": str(workspace),
    }
    by_bazel = run(tmp_path, "agent_cli", "eval", "lint", "cases", **called)
    assert (by_bazel.returncode, by_bazel.stdout) == (0, below.stdout)
    nowhere = run(tmp_path, "agent_cli", "eval", "lint")
    assert nowhere.returncode == 4
    assert "found no workspace from" in nowhere.stderr


def test_a_run_says_the_same_whatever_the_hash_seed_and_zone(workspace):
    words = ("eval", "explain", "calculator_tool", "--json")
    texts = {
        run(workspace, "agent_cli", *words, PYTHONHASHSEED=seed, TZ=zone, LC_ALL=locale).stdout
        for seed, zone, locale in (
            ("1", "Pacific/Auckland", "C"),
            ("4242", "America/St_Johns", "C.UTF-8"),
            ("random", "UTC", "POSIX"),
        )
    }
    assert len(texts) == 1
    assert json.loads(texts.pop())["ok"] is True


def test_a_reader_that_leaves_early_is_no_error(workspace):
    reading, writing = os.pipe()
    process = subprocess.Popen(
        command("agent_cli", "eval", "explain", "calculator_tool"),
        cwd=workspace,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(reading)
    os.close(writing)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")


# SIGINT is ignored in processes that a shell starts in the background, so it is set back first.
INTERRUPTIBLE = """\
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("agent_cli", run_name="__main__")
"""


def test_an_interrupt_has_its_own_code(workspace, tmp_path):
    script = tmp_path / "slow.yaml"
    script.write_text("turns: [{kind: final, text: Late., delay_seconds: 3600}]\n")
    process = subprocess.Popen(
        [sys.executable, "-B", "-c", INTERRUPTIBLE, "run", "Hi", "--script", str(script)],
        cwd=workspace,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_until_it_waits(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (130, "", "agent run: interrupted\n")


def _wait_until_it_waits(process):
    """Until the process has worked, and then sleeps without having worked for half a second."""
    before, since = -1, time.monotonic()
    while process.poll() is None:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        state, worked = fields[0], int(fields[11]) + int(fields[12])
        if state != "S" or worked != before:
            before, since = worked, time.monotonic()
        elif worked and time.monotonic() - since > 0.5:
            return
        time.sleep(0.02)


def test_the_help_needs_no_library(workspace):
    """It is what people ask for first, and argparse and pydantic are not needed for it."""
    program = (
        "import sys; from hardgate.cli.app import main; main(['--help']); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-B", "-c", program],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "hardgate" in loaded
    assert not loaded & {"pydantic", "yaml", "hypothesis", "agent_core"}
