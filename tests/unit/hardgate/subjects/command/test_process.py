"""An agent as a process: what it is given, what is kept of it, and how it ends."""

import os
import signal
import subprocess
import sys

import pytest

from hardgate.subjects.command.process import printable, run
from hardgate.subjects.command.report import REPORT_LIMIT_BYTES
from tests.unit.hardgate.subjects.command.agents import (
    HASTY_SECONDS,
    PROGRAM,
    launch,
    left_of,
    start,
    start_and_stop,
)


def test_what_is_left_would_be_found(tmp_path):
    command = [sys.executable, "-I", "-S", PROGRAM, tmp_path, "hangs"]
    with subprocess.Popen(command) as process:
        while not tmp_path.joinpath("ready").exists():
            pass
        found = left_of(tmp_path)
        process.kill()
    assert found == [process.pid]


@pytest.mark.parametrize("code", [0, 3, 255])
def test_the_exit_code_is_kept(tmp_path, code):
    ended = start(tmp_path, "exits", str(code))
    assert (ended.exit_code, ended.signal) == (code, None)
    assert (ended.limits_hit, ended.left_behind) == ((), 0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_the_signal_that_ended_it_is_kept(tmp_path, number):
    ended = start(tmp_path, "dies", str(int(number)))
    assert (ended.exit_code, ended.signal) == (None, number)
    assert ended.limits_hit == ()
    assert list(tmp_path.iterdir()) == []


def test_garbage_is_kept_as_it_is(tmp_path):
    ended = start(tmp_path, "garbage")
    assert ended.stdout == b"\xff\xfe\0\x1b[2J\x1b]0;title\x07\r\n\xe2\x80\xae"
    assert (ended.exit_code, ended.limits_hit) == (0, ())


def test_it_gets_its_environment_its_folder_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_HARNESS", "hidden")
    environment = {"B": "two words", "A": "é=\udcff"}
    ended = start(tmp_path, "environment", environment=environment)
    lines = ["B=two words", "A=é=\udcff", "HARDGATE_REPORT_FD=3", str(tmp_path)]
    assert ended.stdout.decode("utf-8", "surrogateescape").splitlines() == lines


def test_without_a_report_it_is_offered_none(tmp_path):
    ended = start(tmp_path, "environment", environment={}, report=False)
    assert ended.stdout.decode().splitlines() == [str(tmp_path)]


@pytest.mark.parametrize(("report", "numbers"), [(True, "0123"), (False, "012")])
def test_it_gets_the_descriptors_that_it_should_have(tmp_path, report, numbers):
    other = os.open(tmp_path, os.O_RDONLY)
    try:
        ended = start(tmp_path, "descriptors", report=report)
    finally:
        os.close(other)
    assert ended.stdout.decode().split() == list(numbers)


def test_all_of_stdin_arrives_and_comes_back(tmp_path):
    stdin = bytes(range(256)) * 4000
    ended = start(tmp_path, "echoes", stdin=stdin)
    assert ended.stdout == stdin


def test_stdin_may_be_read_slowly(tmp_path):
    ended = start(tmp_path, "reads_slowly", stdin=b"x" * 1_000_001)
    assert ended.stdout == b"1000001\n"


def test_stdin_need_not_be_read(tmp_path):
    ended = start(tmp_path, "exits", "0", stdin=b"x" * 5_000_000)
    assert (ended.exit_code, ended.limits_hit) == (0, ())


def test_stdin_that_is_never_read_holds_nothing_up(tmp_path):
    ended = start(tmp_path, "hangs", stdin=b"x" * 5_000_000, wall_seconds=HASTY_SECONDS)
    assert ended.limits_hit == ("wall_seconds",)


def test_where_it_goes_does_not_matter(tmp_path):
    ended = start(tmp_path, "changes_directory")
    assert (ended.stdout, ended.exit_code) == (b"/\n", 0)
    assert [one.name for one in tmp_path.iterdir()] == ["from_elsewhere"]


def test_an_agent_that_hangs_is_ended(tmp_path):
    ended = start(tmp_path, "hangs", wall_seconds=HASTY_SECONDS)
    assert ended.limits_hit == ("wall_seconds",)
    assert (ended.exit_code, ended.signal, ended.left_behind) == (None, signal.SIGTERM, 0)


def test_an_agent_can_be_stopped_early(tmp_path):
    ended = start_and_stop(tmp_path, "hangs")
    assert ended.limits_hit == ("stopped",)
    assert (ended.exit_code, ended.signal, ended.left_behind) == (None, signal.SIGTERM, 0)


def test_an_agent_that_ignores_sigterm_is_killed(tmp_path):
    ended = start_and_stop(tmp_path, "ignores_sigterm")
    assert (ended.limits_hit, ended.signal, ended.left_behind) == (("stopped",), signal.SIGKILL, 0)


def test_an_agent_may_end_in_order_when_it_is_stopped(tmp_path):
    ended = start_and_stop(tmp_path, "ends_on_sigterm")
    assert (ended.limits_hit, ended.exit_code) == (("stopped",), 7)
    assert ended.stdout == b"goodbye\n"


def test_a_stopped_process_is_ended(tmp_path):
    ended = start_and_stop(tmp_path, "stops_itself")
    assert (ended.limits_hit, ended.signal) == (("stopped",), signal.SIGKILL)


def test_an_agent_that_closed_everything_is_still_waited_for(tmp_path):
    ended = start_and_stop(tmp_path, "closes_everything")
    assert (ended.limits_hit, ended.signal) == (("stopped",), signal.SIGTERM)


def test_the_agent_is_ended_if_the_question_whether_to_stop_fails(tmp_path):
    def fails():
        if tmp_path.joinpath("ready").exists():
            raise LookupError("of the caller")

    with pytest.raises(LookupError, match="of the caller"):
        run(launch(tmp_path, "ignores_sigterm"), fails)
    assert left_of(tmp_path) == []


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_of_output_ends_the_agent(tmp_path, stream):
    ended = start(tmp_path, "floods", stream, output_limit_bytes=100_000)
    assert ended.limits_hit == (f"{stream}_bytes",)
    assert (ended.exit_code, ended.signal) == (None, signal.SIGTERM)
    kept = ended.stdout if stream == "stdout" else ended.stderr
    assert kept == (b"flood of the agent\n" * 6000)[:100_000]


def test_a_flood_is_ended_by_its_limit_and_not_by_a_broken_pipe(tmp_path):
    ended = start(tmp_path, "floods_deaf", "stdout", output_limit_bytes=10)
    assert (ended.limits_hit, ended.signal) == (("stdout_bytes",), signal.SIGKILL)
    assert ended.stderr == b""


def test_a_flood_of_reports_ends_the_agent(tmp_path):
    ended = start(tmp_path, "floods", "report")
    assert (ended.limits_hit, ended.signal) == (("report_bytes",), signal.SIGTERM)
    assert ended.report_problems[0].startswith("line 1: it is no JSON")
    assert REPORT_LIMIT_BYTES > 1_000_000  # so that the agent was ended and did not end by itself


@pytest.mark.parametrize(("count", "limits"), [(1000, ()), (1001, ("stdout_bytes",))])
def test_as_much_as_the_limit_is_allowed(tmp_path, count, limits):
    ended = start(tmp_path, "writes", str(count), output_limit_bytes=1000)
    assert (ended.stdout, ended.limits_hit) == (b"x" * 1000, limits)


def test_the_reports_are_read(tmp_path):
    lines = '{"type":"capabilities","reports":[]}\n{"type":"answer","text":"42"}\nnonsense\n'
    ended = start(tmp_path, "reports", lines)
    assert [one.line for one in ended.reports] == [1, 2]
    assert len(ended.report_problems) == 1


def test_no_descriptor_is_left_open(tmp_path):
    before = os.listdir("/proc/self/fd")
    start(tmp_path, "exits", "0")
    start(tmp_path, "floods", "stdout", output_limit_bytes=10)
    assert os.listdir("/proc/self/fd") == before


def test_text_for_a_message_shows_what_it_holds():
    assert printable(b"a\x1b[2J\xff\0\r\n\xe2\x80\xae\xc3\xa9", 100) == (
        "a\\x1b[2J\\xff\\x00\\r\n\\u202e\xe9"
    )
    assert len(printable(b"x" * 1_000_000, 100)) < 200
