"""An agent that misbehaves, a program of its own: `bad_agent.py <folder> <behaviour> [argument]`.

`<folder>` is one of the test's own. It marks the processes, and what is written into it tells the
test how far the agent got, so that no test has to guess a time.
"""

import os
import platform
import signal
import sys
import threading
import time
from pathlib import Path

FOLDER = Path(sys.argv[1])
ARGUMENT = sys.argv[3] if len(sys.argv) > 3 else ""
REPORT = 3
# Longer than any test lasts: what is still there afterwards was not ended.
LONG_SECONDS = 120


def ready(name="ready"):
    FOLDER.joinpath(name).touch()


def wait_for(name):
    end = time.monotonic() + LONG_SECONDS
    while not FOLDER.joinpath(name).exists() and time.monotonic() < end:
        time.sleep(0.005)


def exits():
    sys.exit(int(ARGUMENT))


def garbage():
    os.write(1, b"\xff\xfe\0\x1b[2J\x1b]0;title\x07\r\n\xe2\x80\xae")


def floods():
    number = {"stdout": 1, "stderr": 2, "report": REPORT}[ARGUMENT]
    while True:
        os.write(number, b"flood of the agent\n" * 500)


def floods_deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    floods()


def writes():
    os.write(1, b"x" * int(ARGUMENT))


def hangs():
    ready()
    time.sleep(LONG_SECONDS)


def ignores_sigterm():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    hangs()


def ends_on_sigterm():
    def end(*_):
        print("goodbye")
        sys.exit(7)

    signal.signal(signal.SIGTERM, end)
    hangs()


def stops_itself():
    """With a child that says when it has stopped."""
    if os.fork() == 0:
        while b") T " not in Path(f"/proc/{os.getppid()}/stat").read_bytes():
            time.sleep(0.005)
        hangs()
    os.kill(os.getpid(), signal.SIGSTOP)


def leaves_daemon():
    """A child of a child in a session of its own, deaf and with pipes closed."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            for number in (0, 1, 2, REPORT):
                os.close(number)
            ready("daemon")
            time.sleep(LONG_SECONDS)
        os._exit(0)
    os.wait()
    wait_for("daemon")


def leaves_holder():
    """A child that keeps stdout and the report open."""
    if os.fork() == 0:
        time.sleep(LONG_SECONDS)
    print("done")


def leaves_headless():
    """A child whose first thread has ended, which makes it look like a zombie."""
    if os.fork() == 0:
        import ctypes

        threading.Thread(target=time.sleep, args=(LONG_SECONDS,)).start()
        ready("headless")
        exit_of_a_thread = {"x86_64": 60, "aarch64": 93}[platform.machine()]
        ctypes.CDLL(None).syscall(exit_of_a_thread, 0)
    wait_for("headless")


def has_helper():
    """A child that ends a little later than its parent, and because of that."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(write)
        os.read(read, 1)
        time.sleep(0.1)
        os._exit(0)


def many_orphans():
    """Orphans that end at once, while the agent goes on."""
    for _ in range(20):
        if os.fork() == 0:
            if os.fork() == 0:
                os._exit(0)
            os._exit(0)
        os.wait()
    hangs()


def dies():
    os.kill(os.getpid(), int(ARGUMENT))
    time.sleep(LONG_SECONDS)


def closes_everything():
    for number in (0, 1, 2, REPORT):
        os.close(number)
    hangs()


def changes_directory():
    os.chdir("/")
    Path("/").joinpath(FOLDER, "from_elsewhere").touch()
    print(os.getcwd())


def reads_slowly():
    total = 0
    while piece := os.read(0, 50_000):
        total += len(piece)
        time.sleep(0.001)
    print(total)


def echoes():
    sys.stdout.buffer.write(sys.stdin.buffer.read())


def environment():
    # As it was given: the interpreter adds to its own.
    given = Path("/proc/self/environ").read_bytes()
    os.write(1, given.replace(b"\0", b"\n") + os.fsencode(os.getcwd()) + b"\n")


def descriptors():
    for number in range(64):
        try:
            os.fstat(number)
        except OSError:
            continue
        print(number)


def reports():
    os.write(REPORT, os.fsencode(ARGUMENT))


def kills_parent():
    """Kills or stops what started it, with a child in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        ready("child")
        time.sleep(LONG_SECONDS)
    wait_for("child")
    number = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}[ARGUMENT.removesuffix("_group")]
    if ARGUMENT.endswith("_group"):
        os.killpg(os.getpgid(os.getppid()), number)
    else:
        os.kill(os.getppid(), number)
    time.sleep(LONG_SECONDS)


def stops_all_ancestors():
    """Stops both processes that watch it, but not what started them."""
    signals_all_ancestors(signal.SIGSTOP)
    hangs()


def kills_all_ancestors():
    """Kills both processes that watch it, but not what started them."""
    signals_all_ancestors(signal.SIGKILL)
    hangs()


def signals_all_ancestors(number):
    inner = os.getppid()
    status = Path(f"/proc/{inner}/stat").read_bytes()
    outer = int(status[status.rfind(b")") + 2 :].split()[1])
    os.kill(outer, number)
    os.kill(inner, number)


def multiplies():
    """Deaf processes, thrice as many with each round, some of them in sessions of their own."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    first = os.getpid()
    for _ in range(int(ARGUMENT)):
        if os.fork() == 0 and os.fork() == 0:
            os.setsid()
    ready(f"process_{os.getpid()}")
    while os.getpid() == first and len(list(FOLDER.iterdir())) < 3 ** int(ARGUMENT):
        time.sleep(0.005)
    if os.getpid() == first:
        ready()
    time.sleep(LONG_SECONDS)


def hops():
    """Moves on to a new process, and a new session, every few milliseconds."""
    end = time.monotonic() + LONG_SECONDS
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        os.setsid()
        ready()
        time.sleep(0.005)


if __name__ == "__main__":
    globals()[sys.argv[2]]()
