"""What an agent leaves running is counted and ended."""

import signal

from tests.unit.hardgate.subjects.command.agents import start, start_and_stop


def test_a_daemon_is_ended(tmp_path):
    ended = start(tmp_path, "leaves_daemon")
    assert (ended.exit_code, ended.left_behind, ended.limits_hit) == (0, 1, ())


def test_a_child_that_holds_stdout_open_is_ended(tmp_path):
    ended = start(tmp_path, "leaves_holder")
    assert (ended.exit_code, ended.left_behind, ended.limits_hit) == (0, 1, ())
    assert ended.stdout == b"done\n"


def test_a_child_that_looks_like_a_zombie_is_ended(tmp_path):
    ended = start(tmp_path, "leaves_headless")
    assert (ended.exit_code, ended.left_behind, ended.limits_hit) == (0, 1, ())


def test_a_helper_that_ends_with_its_agent_was_not_left_behind(tmp_path):
    ended = start(tmp_path, "has_helper")
    assert (ended.exit_code, ended.left_behind, ended.limits_hit) == (0, 0, ())


def test_orphans_that_end_are_no_end_of_the_agent(tmp_path):
    ended = start_and_stop(tmp_path, "many_orphans")
    assert (ended.limits_hit, ended.signal, ended.left_behind) == (("stopped",), signal.SIGTERM, 0)
