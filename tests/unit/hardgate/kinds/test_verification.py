"""The command of `verify`: what it gets, what it cannot do, and how it ends."""

import os
import time

import pytest

from hardgate.kinds import verification
from hardgate.kinds.verification import run_verification
from hardgate.verdicts.network import ATTEMPTS, NetworkProof

OFF = NetworkProof(True, (), tuple((name, "ENETUNREACH") for name in ATTEMPTS), "", "")
ON = NetworkProof(False, None, (), "network_on", "on")


def verify(command, folder, **more):
    return run_verification(command, str(folder), OFF, **more)


@pytest.mark.parametrize(
    ("command", "exit_code", "output"),
    [
        ("true", 0, ""),
        ("exit 3", 3, ""),
        ("echo out; echo err >&2", 0, "out\nerr\n"),
        ("test -f note.txt", 0, ""),
        ("test -f other.txt", 1, ""),
        ("cat note.txt; exit 1", 1, "hello"),
        ("printf '\\377'", 0, "\ufffd"),
        ("cat", 0, ""),
        ("no_such_program_here 2>/dev/null", 127, ""),
    ],
)
def test_a_command_in_the_workspace(tmp_path, command, exit_code, output):
    (tmp_path / "note.txt").write_text("hello")
    result = verify(command, tmp_path)
    assert (result.exit_code, result.problem, result.output) == (exit_code, "", output)


def test_it_gets_a_fixed_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    output = verify("pwd; env", tmp_path).output.splitlines()
    assert output[0] == os.path.realpath(tmp_path)
    names = {line.partition("=")[0] for line in output[1:]}
    assert {"PATH", "HOME", "LANG", "TZ"} <= names
    assert names - {"PATH", "HOME", "LANG", "TZ"} <= {"PWD", "OLDPWD", "SHLVL", "_"}


@pytest.mark.parametrize("network", [None, ON, OFF._replace(attempts=())])
def test_it_is_not_run_without_the_proof_that_the_network_is_off(tmp_path, network):
    result = run_verification("touch ran", str(tmp_path), network)
    assert (result.exit_code, result.output) == (None, "")
    assert result.problem == "the command was not run: the network is not proven off"
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_takes_too_long_is_ended(tmp_path):
    result = verify("echo begun; sleep 600", tmp_path, limit_seconds=0.3)
    assert result.exit_code is None
    assert result.problem == "the command took longer than 0.3 seconds"
    assert result.output == "begun\n"


def test_a_command_that_writes_without_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(verification, "OUTPUT_LIMIT_BYTES", 1000)
    result = verify("while true; do echo 0123456789; done", tmp_path)
    assert result.exit_code is None
    assert result.problem == "the command wrote more than 1000 bytes"


def test_the_end_of_the_output_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(verification, "OUTPUT_KEPT_BYTES", 4)
    assert verify("printf 0123456789", tmp_path).output == "6789"


def test_a_command_that_a_signal_ends(tmp_path):
    result = verify("kill -TERM $$", tmp_path)
    assert result.exit_code == -15
    assert result.problem == "the command was ended by signal 15"


def running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(") ", 1)[1][0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    ("command", "limit_seconds"),
    [
        ("sleep 600 & echo $!", 30),
        ("sleep 600 >/dev/null 2>&1 & echo $!", 30),
        ("(trap '' TERM; sleep 600) & echo $!; sleep 600", 0.3),
    ],
)
def test_nothing_that_it_started_is_left(tmp_path, command, limit_seconds):
    began = time.monotonic()
    result = verify(command, tmp_path, limit_seconds=limit_seconds)
    left = int(result.output.split()[0])
    # A killed process needs a moment to be gone.
    while running(left) and time.monotonic() < began + 20:
        time.sleep(0.01)
    assert not running(left)


def test_it_does_not_run_where_the_workspace_was_replaced(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "workspace").symlink_to("elsewhere")
    for name in ("workspace", "gone"):
        result = verify("touch seen", tmp_path / name)
        assert result.exit_code is None
        assert "the workspace is no folder any more" in result.problem
    assert not (tmp_path / "elsewhere/seen").exists()
