"""Agents that fight what watches them: each is named, and none of their processes lives on."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.unit.hardgate.subjects.command.agents import (
    PROGRAM,
    left_of,
    start,
    start_and_stop,
)


@pytest.mark.parametrize("how", ["kill", "kill_group", "stop", "stop_group"])
def test_an_agent_that_kills_or_stops_its_parent(tmp_path, how):
    ended = start(tmp_path, "kills_parent", how)
    assert ended.limits_hit == ("supervisor_killed",)
    assert (ended.exit_code, ended.signal, ended.left_behind) == (None, None, 2)


def test_an_agent_that_stops_all_that_watches_it(tmp_path):
    ended = start_and_stop(tmp_path, "stops_all_ancestors")
    assert ended.limits_hit == ("stopped", "supervisor_killed")


def test_an_agent_that_kills_all_that_watches_it(tmp_path):
    with subprocess.Popen(["sleep", "600"]) as other:
        ended = start(tmp_path, "kills_all_ancestors")
        assert other.poll() is None
        other.kill()
    assert ended.limits_hit == ("supervisor_killed",)
    assert (ended.exit_code, ended.signal, ended.left_behind) == (None, None, 1)


def test_an_agent_that_multiplies(tmp_path):
    ended = start_and_stop(tmp_path, "multiplies", "4")
    assert (ended.limits_hit, ended.signal) == (("stopped",), signal.SIGKILL)
    assert ended.left_behind == 3**4 - 1


def test_an_agent_that_never_stays_the_same_process(tmp_path):
    ended = start(tmp_path, "hops")
    assert ended.exit_code == 0
    assert ended.left_behind >= 1
    assert "processes_remain" not in ended.limits_hit


HARNESS = """
import sys
from hardgate.subjects.command.process import Launch, run
run(Launch(tuple(sys.argv[1:]), sys.argv[-2], {}))
"""


def test_an_agent_does_not_outlive_the_harness(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    agent = [sys.executable, "-I", "-S", PROGRAM, tmp_path, "ignores_sigterm"]
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS, *agent], env=environment
    ) as harness:
        while not tmp_path.joinpath("ready").exists():
            assert harness.poll() is None
            time.sleep(0.01)
        assert len(left_of(tmp_path)) == 2
        harness.kill()
    # The supervisor notices by itself; the time limit of the test ends the wait.
    while left_of(tmp_path):
        time.sleep(0.01)
