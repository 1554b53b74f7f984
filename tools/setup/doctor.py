"""`bazelw doctor`: what this machine offers, a line each, and what to do about what is missing."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.setup import command, debian, probe
from tools.setup.bazelisk import Bazelisk
from tools.setup.launch import Launch
from tools.setup.private_bazel import PrivateBazel
from tools.setup.progress import last_line

OK, WARN, MISSING = "ok", "warn", "missing"
COLOURS = {OK: "32", WARN: "33", MISSING: "31"}
USABLE, UNUSABLE = 0, command.REFUSED
START_SECONDS = 120.0
DEFAULT_PYTHON = "3.11"  # where MODULE.bazel names none
ALLOW_NAMESPACES = (
    "allow unprivileged user namespaces: as root, sysctl -w kernel.unprivileged_userns_clone=1 or "
    "kernel.apparmor_restrict_unprivileged_userns=0; in a container, start it with "
    "--privileged or with seccomp and AppArmor unconfined"
)
# Run inside a sandbox: which interfaces and routes are there?
LOOK = (
    "cat /proc/net/dev && echo routes && cat /proc/net/route && echo ipv6 && "
    "if [ -e /proc/net/ipv6_route ]; then cat /proc/net/ipv6_route; fi"
)


@dataclass(frozen=True)
class Line:
    """One thing looked at: `state` is ok, warn or missing, `todo` may be empty."""

    name: str
    state: str
    found: str
    todo: str = ""

    def render(self, colour: bool) -> str:
        """As it is printed for people."""
        state = f"{self.state:<7}"
        if colour:
            state = f"\033[{COLOURS[self.state]}m{state}\033[0m"
        todo = f"; to do: {self.todo}" if self.todo else ""
        return f"{state}  {self.name}: {self.found}{todo}"


def main(workspace: Path, cache: Path, arguments: Sequence[str]) -> int:
    """Print the findings; 0 when gates can run on this machine, 4 when not."""
    parser = argparse.ArgumentParser(prog="bazelw doctor", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    lines = examine(workspace, cache)
    usable = all(line.state != MISSING for line in lines)
    if options.json:
        print(json.dumps({"usable": usable, "checks": [asdict(line) for line in lines]}, indent=1))
    else:
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        print("\n".join(line.render(colour) for line in lines))
    return USABLE if usable else UNUSABLE


def examine(workspace: Path, cache: Path) -> list[Line]:
    """All findings, in the order in which they are printed."""
    version = command.pinned_version(workspace)
    launch, bazel = look_for_bazel(workspace, cache, version)
    return [
        bazel,
        *look_at_sandbox(launch, workspace, cache),
        look_for_python(workspace, launch),
        look_at_disk_cache(workspace),
        look_at_cache(cache, launch),
    ]


def look_for_bazel(workspace: Path, cache: Path, version: str) -> tuple[Launch | None, Line]:
    """The Bazel that bazelw would start now, without getting or making one."""
    arch = debian.architecture()
    private = PrivateBazel(cache, version, arch) if arch else None
    faults = private.faults() if private else []
    launch = probe.on_path(version, workspace) or Bazelisk(cache, version).ready()
    if launch is None and private and not faults:
        launch = private.launch(workspace)
    if launch:
        return launch, Line("bazel", OK, f"{version}, {launch.origin}")
    if private and private.path.exists():
        found = f"the private copy of {version} is broken: {faults[0]}"
        todo = f"rm -r {private.path}, then ./bazelw version (makes it again)"
        return None, Line("bazel", MISSING, found, todo)
    todo = "./bazelw version (gets or makes it)"
    return None, Line("bazel", MISSING, f"{version} is not set up yet", todo)


def find_sandbox(launch: Launch, workspace: Path, cache: Path) -> tuple[Path, str]:
    """Where the linux-sandbox of that Bazel should be, and what Bazel said if it does not know."""
    base = next((o.partition("=")[2] for o in launch.options if o.startswith("--install_base")), "")
    said = ""
    if not base:
        kept = cache / "checkouts" / workspace.relative_to("/")
        words = launch.words(kept, ["--noblock_for_lock", "info", "install_base"])
        done = _run(words, cwd=workspace, env={**os.environ, **launch.environment})
        base, said = done.stdout.strip(), last_line(done.stderr)
    return Path(base, "linux-sandbox"), said


def look_at_sandbox(launch: Launch | None, workspace: Path, cache: Path) -> list[Line]:
    """Does linux-sandbox work, and does it take the network away?"""
    if platform.system() != "Linux":
        found = f"not examined on {platform.system()}; each test proves it for itself"
        return [Line("sandbox", WARN, found), Line("network", WARN, found)]
    if launch is None:
        unknown, todo = "not examined: no Bazel yet", "./bazelw version, then ./bazelw doctor"
        return [Line("sandbox", MISSING, unknown, todo), Line("network", MISSING, unknown, todo)]
    sandbox, said = find_sandbox(launch, workspace, cache)
    if not sandbox.is_file():
        unknown = f"not examined: this Bazel's install base has no linux-sandbox ({said})"
        todo = f"./bazelw info install_base, and see why {sandbox} is not there"
        return [Line("sandbox", MISSING, unknown, todo), Line("network", MISSING, unknown, todo)]
    done = _run([str(sandbox), "--", "/bin/true"])
    if done.returncode != 0:
        found = f"linux-sandbox does not work: {last_line(done.stderr)}"
        unknown = "not examined: no sandbox works"
        return [
            Line("sandbox", MISSING, found, ALLOW_NAMESPACES),
            Line("network", MISSING, unknown, "make the sandbox work"),
        ]
    works = Line("sandbox", OK, "linux-sandbox works")
    done = _run([str(sandbox), "-N", "--", "/bin/sh", "-c", LOOK])
    if done.returncode != 0:
        found = f"no look from inside the sandbox: {last_line(done.stderr)}"
        return [works, Line("network", MISSING, found, ALLOW_NAMESPACES)]
    return [works, judge_network(done.stdout)]


def judge_network(seen: str) -> Line:
    """Is the network off, from the tables that LOOK prints inside a sandbox?"""
    interfaces, _, routes = seen.partition("routes\n")
    ipv4, _, ipv6 = routes.partition("ipv6\n")
    names = [line.partition(":")[0].strip() for line in interfaces.splitlines() if ":" in line]
    reached = [line.split()[0] for line in ipv4.splitlines()[1:] if line.strip()]
    reached += [line.split()[-1] for line in ipv6.splitlines() if line.strip()]
    outside = sorted({name for name in names + reached if name != "lo"})
    if "lo" in names and not outside:
        return Line("network", OK, "off inside the sandbox: only lo, no route leads out")
    found = f"on inside the sandbox: interfaces and routes {', '.join(outside) or 'cannot be read'}"
    return Line("network", MISSING, found, ALLOW_NAMESPACES)


def look_for_python(workspace: Path, launch: Launch | None) -> Line:
    """The interpreter that the build will use."""
    module = workspace / "MODULE.bazel"
    declared = re.search(r'python_version = "(\d+\.\d+)"', module.read_text())
    wanted = declared.group(1) if declared else DEFAULT_PYTHON
    if launch and not launch.rc_lines:
        return Line("python", OK, f"{wanted}, fetched by rules_python")
    named = os.environ.get("HARDGATE_PYTHON")
    found = named or shutil.which(f"python{wanted}") or shutil.which("python3")
    todo = f"install python{wanted}, or set HARDGATE_PYTHON to an interpreter of that version"
    if not found:
        return Line("python", MISSING, f"no python{wanted} on PATH", todo)
    code = "import sys; print('%d.%d.%d' % sys.version_info[:3], sys.executable)"
    done = _run([found, "-I", "-c", code])
    actual, _, executable = done.stdout.strip().partition(" ")
    if done.returncode != 0:
        return Line("python", MISSING, f"{found} does not start: {last_line(done.stderr)}", todo)
    if not actual.startswith(f"{wanted}."):
        return Line("python", MISSING, f"{executable} is {actual}, and {wanted} is needed", todo)
    return Line("python", OK, f"{actual}, {executable}")


def look_at_disk_cache(workspace: Path) -> Line:
    """Where results are kept between builds, and how much that is."""
    setting = disk_cache_setting(workspace)
    if not setting:
        todo = "put `build --disk_cache=~/.cache/hardgate/disk` into user.bazelrc"
        return Line("disk cache", WARN, "off: each checkout builds everything itself", todo)
    folder = Path(setting.replace("%workspace%", str(workspace))).expanduser()
    if not folder.exists():
        return Line("disk cache", OK, f"{folder}, empty until the first build")
    if not os.access(folder, os.W_OK | os.X_OK):
        todo = f"make {folder} writable, or name another folder in user.bazelrc"
        return Line("disk cache", MISSING, f"{folder} is not writable", todo)
    return Line("disk cache", OK, f"{folder}, {folder_bytes_text(folder)}")


def look_at_cache(cache: Path, launch: Launch | None) -> Line:
    """The folder in which bazelw keeps what it made, and copies of Bazel that it uses no more."""
    copies = sorted(path for path in (cache / "bazel").glob("*") if path.is_dir())
    unused = [path for path in copies if launch and path not in launch.program.parents]
    if not unused:
        return Line("bazelw cache", OK, f"{cache}, {folder_bytes_text(cache / 'bazel')} of Bazel")
    sizes = ", ".join(f"{path} ({folder_bytes_text(path)})" for path in unused)
    todo = "once no Bazel server of another checkout runs from them, remove them"
    found = f"copies of Bazel that this checkout does not use: {sizes}"
    return Line("bazelw cache", WARN, found, todo)


def folder_bytes_text(folder: Path) -> str:
    """The size of a folder's files in megabytes."""
    return f"{probe.folder_bytes(folder) / 1e6:.0f} MB"


def disk_cache_setting(workspace: Path) -> str:
    """What the rc files say last about --disk_cache outside a named config; may be empty."""
    setting = ""
    for path in (
        workspace / ".bazelrc",
        workspace / "user.bazelrc",
        Path("~/.bazelrc").expanduser(),
    ):
        if path.is_file():
            pattern = r"^(?:common|build)\s(?:.*\s)?--disk_cache=(\S*)"
            for found in re.findall(pattern, path.read_text(errors="replace"), re.MULTILINE):
                setting = found
    return setting


def _run(
    words: Sequence[str], cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program; one that does not start or takes too long counts as failed."""
    try:
        return subprocess.run(
            words,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=START_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(list(words), 127, "", str(error))
