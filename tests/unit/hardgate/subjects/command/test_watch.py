"""A supervisor that fails is noticed, and never waited for without end."""

import os
import sys

import pytest

from hardgate.subjects.command import watch
from hardgate.subjects.command.process import Launch, NotStarted, run
from tests.unit.hardgate.subjects.command.agents import launch


def failing(monkeypatch, code):
    """Puts another program in the supervisor's place."""
    monkeypatch.setattr(watch, "_SUPERVISOR", code)
    monkeypatch.setattr(watch, "_END_SECONDS", 0.3)


def refusal(folder):
    before = os.listdir("/proc/self/fd")
    with pytest.raises(NotStarted) as caught:
        run(Launch(("sleep", "120"), str(folder), {"PATH": os.defpath}))
    assert caught.value.reason_code == "agent.not_started"
    assert os.listdir("/proc/self/fd") == before
    return caught.value.text


def test_one_that_cannot_be_started(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/interpreter")
    assert "No such file" in refusal(tmp_path)


def test_one_that_ends_early(tmp_path, monkeypatch):
    failing(monkeypatch, "pass")
    assert "it ended early" in refusal(tmp_path)


def test_one_that_never_starts_the_agent(tmp_path, monkeypatch):
    failing(monkeypatch, "import time; time.sleep(120)")
    assert "it ended early" in refusal(tmp_path)


def test_one_that_never_ends_the_agent(tmp_path, monkeypatch):
    failing(monkeypatch, "import os, time; os.write(1, b'started\\n'); time.sleep(120)")
    ended = run(launch(tmp_path, "hangs", wall_seconds=0.1))
    assert ended.limits_hit == ("wall_seconds", "supervisor_killed")


def test_what_it_could_not_end_is_told(tmp_path, monkeypatch):
    told = b"started\\nexited 0 -1\\nended 3 2\\n"
    failing(monkeypatch, f"import os; os.write(1, {told!r})".replace("\\\\", "\\"))
    ended = run(launch(tmp_path, "hangs"))
    assert (ended.exit_code, ended.left_behind) == (0, 3)
    assert ended.limits_hit == ("processes_remain",)
