"""bazelw as a user starts it, on a made-up machine: every program it may call is a stub on PATH."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.setup import debian, relocate

ARCH = debian.architecture() or "amd64"
TRIPLET = relocate.TRIPLETS[ARCH]
JAVA = relocate.java_folder(ARCH)
SYSTEM_TOOLS = ("cat", "chmod", "cp", "ls", "mkdir", "readlink", "sh", "sleep", "touch")
NO_NETWORK = """\
Inter-|   Receive
 face |bytes
    lo:       0       0
routes
Iface Destination Gateway
ipv6
00000000000000000000000000000001 80 00 00 00 00 00000000 00000002 00000000 80200001       lo
"""
ECHO = 'if [ "$last" = --version ]; then echo "bazel {version}"; else printf "<%s>" "$@"; fi'


class Machine:
    """A checkout, a cache folder, and a PATH on which nothing is but stubs and a few tools."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.checkout, self.bin, self.cache = root / "checkout", root / "bin", root / "cache"
        self.log = root / "log"
        shutil.copytree("tools/setup", self.checkout / "tools/setup")
        for name in ("bazelw", ".bazelversion"):
            shutil.copy(name, self.checkout / name)
        (self.checkout / "MODULE.bazel").write_text('python_version = "3.11"\n')
        for folder in ("bin", "home", "tree"):
            (root / folder).mkdir()
        (root / "keys.gpg").touch()
        self.log.touch()
        self.version = (self.checkout / ".bazelversion").read_text().strip()
        for tool in SYSTEM_TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or tool)
        self.stub("python3", f'exec "{sys.executable}" "$@"')
        self.environment = {
            "PATH": str(self.bin),
            "HOME": str(root / "home"),
            "USER": "tester",
            "HARDGATE_CACHE": str(self.cache),
            "HARDGATE_DEBIAN_KEYRING": str(root / "keys.gpg"),
        }

    def stub(self, name: str, body: str, folder: Path | None = None) -> Path:
        """A shell script that logs its call; `$last` is its last argument."""
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        log = f'echo "{name} $*" >> "{self.log}"'
        path.write_text(f'#!/bin/sh\n{log}\nfor last in "$@"; do :; done\n{body}\n')
        path.chmod(0o755)
        return path

    def calls(self, text: str) -> int:
        """How many calls of stubs contained `text`."""
        return sum(text in line for line in self.log.read_text().splitlines())

    def start(self, *arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        """Start bazelw in a process group of its own."""
        return subprocess.Popen(
            [self.checkout / "bazelw", *arguments],
            cwd=cwd or self.checkout,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run bazelw to its end."""
        process = self.start(*arguments, cwd=cwd)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def debian(self, packaged: str = "", before_download: str = "") -> None:
        """Stubs of apt and dpkg whose archive holds a Bazel of shell scripts."""
        packaged = packaged or self.version
        tree = self.root / "tree"
        base, java, libraries = tree / relocate.BASE, tree / JAVA, tree / "usr/lib" / TRIPLET
        tools = tree / "usr/libexec" / TRIPLET / "bazel"
        self.stub("bazel", ECHO.format(version=self.version), tree / "usr/bin")
        self.stub("patchelf", "", tree / "usr/bin")
        self.stub(relocate.LOADERS[ARCH], "", libraries)
        self.stub("linux-sandbox", f"cat <<'X'\n{NO_NETWORK}X", tools)
        self.stub("java", "echo openjdk 21.0.1", java / "bin")
        files = [java / "lib/jspawnhelper", java / "lib/modules", java / "lib/libjli.so"]
        files += [libraries / "bazel/libcpu_profiler.so", java / "lib/security/policy"]
        for file in [*files, tree / "usr/share/java/perfmark-api-0.21.0.jar"]:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("content\n")
        base.mkdir(parents=True)
        (base / "linux-sandbox").symlink_to(f"/usr/libexec/{TRIPLET}/bazel/linux-sandbox")
        (tree / relocate.CLASS_PATH).write_text("/usr/share/java/guava.jar\n")
        with zipfile.ZipFile(base / "A-server.jar", "w"):
            pass
        listing = f"'http://x/b.deb' bazel-bootstrap_{packaged}+ds-1_{ARCH}.deb 1 SHA256:0"
        self.stub(
            "apt-get",
            f'case " $* " in *" --print-uris "*) echo "{listing}" ;;\n'
            f'*" download "*) {before_download or ":"}; touch bazel.deb ;; esac',
        )
        self.stub("dpkg-deb", f'cp -R "{tree}/." "$3"')

    def copies(self) -> list[str]:
        """What lies where private copies of Bazel are made."""
        return sorted(path.name for path in (self.cache / "bazel").glob("*"))

    def copy(self) -> Path:
        """The one private copy."""
        (name,) = self.copies()
        return self.cache / "bazel" / name


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine whose folders do not lie below /tmp, where bazelw refuses to build."""
    if Path("/tmp").resolve() not in tmp_path.resolve().parents:
        yield Machine(tmp_path)
        return
    with tempfile.TemporaryDirectory(dir="/var/tmp") as elsewhere:
        yield Machine(Path(elsewhere))


def wait_for(path: Path) -> None:
    """Wait until a stub has made `path`."""
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never appeared"
        time.sleep(0.02)


# --- a Bazel on PATH -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bazel", "bazelisk"])
def test_bazel_of_the_pinned_version_on_path_gets_all_arguments_unchanged(
    machine: Machine, name: str
) -> None:
    machine.stub(name, ECHO.format(version=machine.version) + '; echo "$USE_BAZEL_VERSION"')
    arguments = ["--startup", "test", "a b", "", "--x='$y'", "//..."]
    done = machine.run(*arguments)
    printed = "".join(f"<{argument}>" for argument in arguments)
    assert (done.stdout, done.stderr) == (f"{printed}{machine.version}\n", "")


def test_exit_code_and_working_directory_are_bazels(machine: Machine) -> None:
    body = ECHO.format(version=machine.version)
    machine.stub("bazel", f'{body}; pwd; [ "$last" = --version ] || exit 37')
    done = machine.run("build", cwd=machine.root / "home")
    assert done.returncode == 37
    assert done.stdout == f"<build>{machine.root / 'home'}\n"


@pytest.mark.parametrize("printed", ["bazel 8.0.0", "bazel 7.7.1rc1", "bazel 7.7.10", "", "hello"])
def test_another_version_on_path_is_not_used(machine: Machine, printed: str) -> None:
    machine.stub("bazel", f'echo "{printed}"')
    machine.debian()
    done = machine.run("build")
    assert "is not Bazel 7.7.1" in done.stderr
    assert done.stdout.endswith("<build>")
    assert machine.copies() != []


def test_bazelw_on_path_under_the_name_bazel_is_not_asked_forever(machine: Machine) -> None:
    other = machine.root / "other"
    shutil.copytree(machine.checkout, other)
    (machine.bin / "bazel").symlink_to(machine.checkout / "bazelw")
    (machine.bin / "bazelisk").symlink_to(other / "bazelw")
    machine.debian()
    done = machine.run("build")
    assert "this is bazelw itself" in done.stderr
    assert done.stdout.endswith("<build>")


def test_a_bazel_that_appears_changes_or_goes_is_noticed(machine: Machine) -> None:
    machine.debian()
    assert "--server_javabase" in machine.run("build").stdout
    machine.stub("bazel", ECHO.format(version=machine.version))
    assert machine.run("build").stdout == "<build>"
    machine.stub("bazel", ECHO.format(version="9.9.9") + "; echo changed")
    assert "--server_javabase" in machine.run("build").stdout
    (machine.bin / "bazel").unlink()
    assert "--server_javabase" in machine.run("build").stdout


def test_what_a_python_shim_adds_to_path_does_not_count(machine: Machine) -> None:
    shims = machine.stub("bazel", ECHO.format(version="7.7.1"), machine.root / "shims").parent
    machine.stub("python3", f'PATH="{shims}:$PATH" exec "{sys.executable}" "$@"')
    machine.debian()
    assert "--server_javabase" in machine.run("build").stdout


def test_bazel_on_path_needs_no_cache_folder(machine: Machine) -> None:
    machine.stub("bazel", ECHO.format(version=machine.version))
    machine.environment["HARDGATE_CACHE"] = str(machine.log / "not-a-folder")
    for _ in range(2):
        assert machine.run("build").stdout == "<build>"


# --- a private copy ------------------------------------------------------------------------------


def test_private_copy_is_made_once_and_then_started_in_silence_without_python(
    machine: Machine,
) -> None:
    machine.debian()
    first = machine.run("build", "//x")
    assert first.returncode == 0
    assert "npm is not on PATH" in first.stderr
    for step in ("package lists", "fetching 1 packages", "unpacking", "is ready in"):
        assert step in first.stderr
    started = machine.calls("python3 ")
    second = machine.run("build", "//x")
    assert (second.stdout, second.stderr) == (first.stdout, "")
    assert machine.calls("python3 ") == started
    assert machine.calls(" update ") == 1


def test_private_copy_is_started_with_the_stand_in_beside_bazelw(machine: Machine) -> None:
    machine.debian()
    nested = machine.checkout / "examples"
    nested.mkdir()
    printed = machine.run("info", cwd=nested).stdout
    base = machine.copy() / relocate.BASE
    assert f"<--install_base={base}>" in printed
    assert f"<--server_javabase={machine.copy() / JAVA}>" in printed
    rc_file = printed.partition("<--bazelrc=")[2].partition(">")[0]
    lines = Path(rc_file).read_text().splitlines()
    stand_in = machine.checkout / "third_party/rules_python_standin"
    assert f"common --override_module=rules_python={stand_in}" in lines
    assert "common --lockfile_mode=off" in lines
    assert "common --noenable_workspace" in lines
    cc = base / "rules/cc"
    assert f"common:workspace --override_repository=rules_cc={cc}" in lines


def test_two_checkouts_share_the_copy_and_not_the_stand_in(machine: Machine) -> None:
    machine.debian()
    first = machine.run("build").stdout
    machine.checkout = machine.checkout.rename(machine.root / "another place")
    second = machine.run("build").stdout
    assert machine.calls(" update ") == 1
    assert first != second
    rc_file = Path(second.partition("<--bazelrc=")[2].partition(">")[0])
    assert f"rules_python={machine.checkout}/third_party" in rc_file.read_text()


@pytest.mark.parametrize("way", ["link", "sh", "relative"])
def test_bazelw_finds_its_own_checkout(machine: Machine, way: str) -> None:
    machine.debian()
    link = machine.root / "home/link"
    link.symlink_to(machine.checkout / "bazelw")
    words = {"link": [str(link)], "sh": ["sh", "bazelw"], "relative": ["checkout/bazelw"]}[way]
    cwd = machine.root if way == "relative" else machine.checkout
    done = subprocess.run(
        [*words, "build"], cwd=cwd, env=machine.environment, capture_output=True, text=True
    )
    assert f"/checkouts{machine.checkout}/bazelrc>" in done.stdout


def test_two_starts_at_once_make_one_copy(machine: Machine) -> None:
    begun, go = machine.root / "begun", machine.root / "go"
    machine.debian(before_download=f'touch "{begun}"; while [ ! -e "{go}" ]; do sleep 0.05; done')
    first = machine.start("build")
    wait_for(begun)
    second = machine.start("build")
    assert second.stderr is not None
    assert "waiting for another bazelw" in second.stderr.readline()
    go.touch()
    assert first.communicate(timeout=30)[0] == second.communicate(timeout=30)[0] != ""
    assert machine.calls(" download ") == 1


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_copy_interrupted_half_way_is_never_used(machine: Machine, kill: signal.Signals) -> None:
    begun = machine.root / "begun"
    machine.debian(before_download=f'touch "{begun}"; [ -e "{begun}.again" ] || sleep 30')
    process = machine.start("build")
    wait_for(begun)
    os.killpg(process.pid, kill)
    out, _ = process.communicate(timeout=30)
    assert out == ""
    assert process.returncode != 0
    if kill != signal.SIGKILL:
        assert machine.copies() == []
    begun.with_suffix(".again").touch()
    assert machine.run("build").stdout.endswith("<build>")
    assert ".partial." not in machine.copy().name


def same_size(path: Path) -> None:
    path.write_bytes(b"x" * path.stat().st_size)


@pytest.mark.parametrize(
    ("file", "harm"),
    [
        ("complete", Path.unlink),
        ("usr/bin/bazel", Path.unlink),
        ("usr/bin/bazel", same_size),
        (f"{relocate.BASE}/A-server.jar", lambda path: os.truncate(path, 3)),
        (f"{JAVA}/bin/java", same_size),
        (f"{JAVA}/lib/modules", Path.unlink),
        (f"{relocate.BASE}/linux-sandbox", Path.unlink),
    ],
)
def test_a_broken_copy_is_made_again(machine: Machine, file: str, harm: object) -> None:
    machine.debian()
    machine.run("build")
    assert callable(harm)
    harm(machine.copy() / file)
    done = machine.run("build")
    assert "which cannot be used" in done.stderr
    assert done.stdout.endswith("<build>")
    assert machine.calls(" update ") == 2
    assert machine.run("build").stderr == ""


# --- what cannot be done is said -----------------------------------------------------------------


def test_failing_apt_is_explained_and_leaves_nothing(machine: Machine) -> None:
    machine.debian()
    machine.stub("apt-get", "echo 'E: Could not resolve mirror' >&2; exit 100")
    done = machine.run("build")
    assert (done.returncode, done.stdout) == (4, "")
    assert "apt-get failed (exit code 100): E: Could not resolve mirror" in done.stderr
    assert "try: check that this machine reaches its Debian mirror" in done.stderr
    assert machine.copies() == []


def test_without_apt_the_way_out_is_bazelisk(machine: Machine) -> None:
    done = machine.run("build")
    assert done.returncode == 4
    assert "apt-get and dpkg-deb are not on PATH" in done.stderr
    assert "try: install bazelisk" in done.stderr


def test_archive_with_another_bazel_is_refused(machine: Machine) -> None:
    machine.debian(packaged="8.4.0")
    done = machine.run("build")
    assert done.returncode == 4
    assert "carries Bazel 8.4.0+ds-1 now, and .bazelversion pins 7.7.1" in done.stderr


def test_copy_that_does_not_run_is_not_kept(machine: Machine) -> None:
    machine.debian()
    machine.stub("java", "echo no such library >&2; exit 127", machine.root / "tree" / JAVA / "bin")
    done = machine.run("build")
    assert done.returncode == 4
    assert "does not run" in done.stderr
    assert "no such library" in done.stderr
    assert machine.copies() == []


def test_cache_below_tmp_is_refused(machine: Machine) -> None:
    machine.debian()
    with tempfile.TemporaryDirectory(dir="/tmp") as cache:
        machine.environment["HARDGATE_CACHE"] = cache
        done = machine.run("build")
    assert done.returncode == 4
    assert f"the cache folder lies below /tmp ({cache})" in done.stderr
    assert machine.calls("apt-get") == 0


def test_cache_that_cannot_be_written_is_explained(machine: Machine) -> None:
    machine.debian()
    machine.environment["HARDGATE_CACHE"] = str(machine.log / "cache")
    done = machine.run("build")
    assert done.returncode == 4
    assert "try: set HARDGATE_CACHE to a folder that you can write to" in done.stderr
    assert "Traceback" not in done.stderr


def test_npm_package_with_other_content_is_refused(machine: Machine) -> None:
    machine.debian()
    machine.stub("npm", "echo tampered > bazelisk.tgz")
    done = machine.run("build")
    assert "no bazelisk from npm: the archive has the SHA-512" in done.stderr
    assert done.stdout.endswith("<build>")
    assert not list((machine.cache / "bazelisk").rglob("bazelisk*"))


def test_without_python_set_up_says_so(machine: Machine) -> None:
    (machine.bin / "python3").unlink()
    done = machine.run("build")
    assert done.returncode == 4
    assert "python3 is not on PATH" in done.stderr


# --- doctor --------------------------------------------------------------------------------------


def doctor(machine: Machine) -> tuple[int, dict[str, str]]:
    """Exit code and state by name."""
    done = machine.run("doctor", "--json")
    report = json.loads(done.stdout)
    assert report["usable"] == (done.returncode == 0)
    return done.returncode, {check["name"]: check["state"] for check in report["checks"]}


def test_doctor_tells_what_is_missing_and_makes_nothing(machine: Machine) -> None:
    machine.debian()
    code, states = doctor(machine)
    assert code == 4
    assert (states["bazel"], states["sandbox"], states["network"]) == ("missing",) * 3
    assert machine.calls("apt-get") == 0
    text = machine.run("doctor").stdout
    assert "missing  bazel: 7.7.1 is not set up yet; to do: ./bazelw version" in text
    assert "\033" not in text


def test_doctor_on_a_machine_that_has_all(machine: Machine) -> None:
    machine.debian()
    machine.stub("python3.11", "echo 3.11.9 /usr/bin/python3.11")
    machine.run("version")
    code, states = doctor(machine)
    assert code == 0
    assert {name: state for name, state in states.items() if state != "ok"} == {
        "disk cache": "warn"
    }


def test_doctor_sees_a_damaged_file_that_no_start_would_notice(machine: Machine) -> None:
    machine.debian()
    machine.run("version")
    (machine.copy() / "usr/share/java/perfmark-api-0.21.0.jar").unlink()
    done = machine.run("doctor")
    assert done.returncode == 4
    assert "perfmark-api-0.21.0.jar is missing; to do: rm -r" in done.stdout


def test_doctor_refuses_an_unknown_option(machine: Machine) -> None:
    assert machine.run("doctor", "--jsno").returncode == 2
