"""`agent worker` as a process: signals, death, and several at once over one file of SQLite."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

CALL = (
    "  - kind: tool_calls\n"
    "    calls: [{call_id: c1, name: math.calculate, arguments: {expression: 17 * 23}}]\n"
)
ANSWER = "  - {kind: final, text: 17 times 23 is 391.}\n"
SLOW_ANSWER = "  - {kind: final, text: Late., delay_seconds: 3600}\n"
ENVIRONMENT = {
    "PATH": os.environ.get("PATH", ""),
    "PYTHONPATH": os.pathsep.join(os.path.abspath(path) for path in sys.path if path),
}
LIMIT_SECONDS = 120


class Workspace:
    def __init__(self, folder):
        self.folder = folder
        self.started = []
        shutil.copytree(Path("config").resolve(), folder / "config", symlinks=False)
        (folder / "fast.yaml").write_text(f"turns:\n{CALL}{ANSWER}")
        (folder / "slow.yaml").write_text(f"turns:\n{CALL}{SLOW_ANSWER}")
        self.agent("migrate")

    def command(self, *words):
        return [sys.executable, "-B", "-m", "agent_cli", *words, "--store", "sqlite:///records.db"]

    def agent(self, *words):
        done = subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=LIMIT_SECONDS,
        )
        return done.stdout.strip()

    def submit(self):
        return self.agent("submit", "What is 17 * 23?")

    def start(self, script, *words):
        """A worker that tells what it does on its stderr, line by line."""
        process = subprocess.Popen(
            self.command("worker", "--script", script, "--json", *words),
            cwd=self.folder,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process


@pytest.fixture
def workspace(tmp_path):
    workspace = Workspace(tmp_path)
    yield workspace
    for process in workspace.started:
        process.kill()
        process.communicate()


def until(process, pattern):
    """Read what a worker tells until a line fits."""
    seen = []
    for line in process.stderr:
        seen.append(line)
        if re.search(pattern, line):
            return seen
    pytest.fail(f"it ended without {pattern}: {seen}")


def ended(process):
    out, _ = process.communicate(timeout=LIMIT_SECONDS)
    counts = {name: count for name, count in json.loads(out)["runs"].items() if count}
    return process.returncode, counts


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_worker_ends_at_a_signal(workspace, number):
    process = workspace.start("fast.yaml")
    workspace.submit()
    until(process, "completed")
    process.send_signal(number)
    assert ended(process) == (0, {"claimed": 1, "completed": 1})


@pytest.mark.parametrize("words", [("--grace-seconds", "0"), ("--until-idle",), ("--once",)])
def test_a_run_that_takes_too_long_is_given_back_and_goes_on_elsewhere(workspace, words):
    workspace.submit()
    process = workspace.start("slow.yaml", *words)
    until(process, "claimed")
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (0, {"claimed": 1, "requeued": 1})
    # Nothing has to expire: it is in the queue again.
    assert ended(workspace.start("fast.yaml", "--until-idle")) == (
        0,
        {"claimed": 1, "completed": 1},
    )


def test_within_the_grace_time_a_run_is_finished(workspace):
    (workspace.folder / "soon.yaml").write_text(f"turns:\n{CALL}{SLOW_ANSWER.replace('3600', '1')}")
    workspace.submit()
    process = workspace.start("soon.yaml", "--grace-seconds", "100")
    until(process, "claimed")
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (0, {"claimed": 1, "completed": 1})


def test_a_worker_that_is_killed_loses_nothing(workspace):
    run_id = workspace.submit()
    process = workspace.start("slow.yaml", "--lease-seconds", "1")
    until(process, "claimed")
    process.kill()
    other = workspace.start("fast.yaml", "--reclaim-seconds", "0")
    told = until(other, f"run {run_id}: completed")
    assert any(f"run {run_id}: requeued" in line for line in told)
    other.send_signal(signal.SIGTERM)
    assert ended(other) == (0, {"claimed": 1, "completed": 1, "requeued": 1})


def test_two_workers_share_a_queue_and_no_run(workspace):
    workers = [workspace.start("fast.yaml") for _ in range(2)]
    for process in workers:
        until(process, "works for")
    for _ in range(4):
        workspace.submit()
    # Whatever the two have left by now is done by a third.
    third = workspace.start("fast.yaml", "--until-idle")
    found = [ended(third)]
    for process in workers:
        process.send_signal(signal.SIGTERM)
        found.append(ended(process))
    assert [code for code, _ in found] == [0, 0, 0]
    assert sum((Counter(counts) for _, counts in found), Counter()) == {
        "claimed": 4,
        "completed": 4,
    }


def test_one_of_two_workers_is_idle_while_the_other_works(workspace):
    workspace.submit()
    busy = workspace.start("slow.yaml", "--grace-seconds", "0")
    until(busy, "claimed")
    assert ended(workspace.start("fast.yaml", "--until-idle")) == (0, {})
    busy.send_signal(signal.SIGTERM)
    assert ended(busy) == (0, {"claimed": 1, "requeued": 1})


def test_a_store_that_goes_away_is_told_and_has_its_code(workspace):
    os.remove(workspace.folder / "records.db")
    os.mkdir(workspace.folder / "records.db")
    process = workspace.start("fast.yaml")
    out, err = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.returncode, out) == (5, "")
    assert "agent worker: --store: it cannot be used" in err
    assert "Traceback" not in err
