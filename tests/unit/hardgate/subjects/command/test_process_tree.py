"""The processes below this one, as /proc has them."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from hardgate.subjects.command.process_tree import alive, send

SLEEP = "import time; time.sleep(120)"
FORKS = f"import os; print(os.fork(), flush=True); {SLEEP}"


@pytest.fixture(params=["pidfd", "no_pidfd"])
def signalling(request, monkeypatch):
    """With what the kernel offers, and without it."""

    def refuses(pid):
        raise OSError(errno.ENOSYS, "not offered")

    if request.param == "no_pidfd":
        monkeypatch.setattr(os, "pidfd_open", refuses)


@pytest.fixture
def child():
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", SLEEP]) as process:
        yield process
        process.kill()


def below(pid):
    (found,) = [one for one in alive(os.getpid()) if one.pid == pid]
    return found


def test_children_of_children_are_found():
    command = [sys.executable, "-I", "-S", "-c", FORKS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        grandchild = max(int(process.stdout.readline()), int(process.stdout.readline()))
        found = {one.pid: one.parent for one in alive(os.getpid())}
        assert found[grandchild] == process.pid
        assert found[process.pid] == os.getpid()
        assert os.getpid() not in found
        assert [one.pid for one in alive(process.pid)] == [grandchild]
        os.kill(grandchild, signal.SIGKILL)
        process.kill()


def test_one_that_has_ended_is_not_alive(child):
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert child.pid not in {one.pid for one in alive(os.getpid())}


def test_a_name_may_look_like_what_follows_it(tmp_path):
    program = tmp_path / "x) Z 1 (y"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "120"]) as process:
        assert below(process.pid).parent == os.getpid()
        process.kill()


@pytest.mark.usefixtures("signalling")
def test_a_process_is_signalled(child):
    send(below(child.pid), signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM


@pytest.mark.usefixtures("signalling")
def test_another_process_of_the_same_pid_is_left_alone(child):
    found = below(child.pid)
    send(found._replace(started=found.started - 1), signal.SIGKILL)
    send(found, signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM


@pytest.mark.usefixtures("signalling")
def test_one_that_is_gone_is_no_error(child):
    found = below(child.pid)
    child.kill()
    child.wait()
    send(found, signal.SIGTERM)
