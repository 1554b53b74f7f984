"""A private copy of Bazel, made of Debian packages in a folder of the user.

A copy is built under another name, renamed, tried, and only then gets its marker file; a folder
without the marker is never used. The folder's name carries a hash of the recipe (this module and
the two it calls), so another recipe makes another copy and running servers are left alone.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tools.setup import debian, relocate
from tools.setup.launch import Launch
from tools.setup.progress import SetupError, run, say

MARKER = "complete"
NEEDED_BYTES = 1_500_000_000  # package lists, packages and the unpacked copy together
# Modules that Bazel's own tools or ours depend on and Debian ships, by folder below the install base.
SHIPPED = {
    "platforms": "tools/platforms",
    "rules_java": "rules/java",
    "rules_cc": "rules/cc",
    "bazel_features": "tools/features",
    "bazel_skylib": "tools/skylib",
    "rules_license": "rules/license",
    "rules_proto": "rules/proto",
}
# Modules in the graph of which nothing is ever built here: an empty one each.
EMPTY = ("protobuf", "apple_support", "zlib", "buildozer")
# Repositories that WORKSPACE mode would download.
WORKSPACE_REPOSITORIES = ("rules_cc", "rules_java", "bazel_skylib")
STAND_IN = "third_party/rules_python_standin"  # relative to the checkout that bazelw lies in


def folder(cache: Path, version: str, arch: str) -> Path:
    """Where the copy of `version` for Debian's `arch` belongs."""
    recipe = hashlib.sha256()
    for module in (__file__, debian.__file__, relocate.__file__):
        recipe.update(Path(module).read_bytes())
    return cache / "bazel" / f"{version}-{arch}-{recipe.hexdigest()[:12]}"


def launch(copy: Path, here: Path) -> Launch:
    """How to start the copy for the checkout `here`."""
    base, java = copy / "usr/share/bazel", relocate.java_home(copy)
    modules = {name: base / path for name, path in SHIPPED.items()}
    modules |= {name: copy / "empty" / name for name in EMPTY}
    modules["rules_python"] = here / STAND_IN
    # Overridden modules would be written into the lock file that is checked in.
    lines = ["common --lockfile_mode=off"]
    lines += [f"common --override_module={name}={path}" for name, path in modules.items()]
    lines.append("common:workspace --noenable_bzlmod --enable_workspace")
    lines += [
        f"common:workspace --override_repository={name}={base / SHIPPED[name]}"
        for name in WORKSPACE_REPOSITORIES
    ]
    return Launch(
        origin=f"private copy of Debian's packages in {copy}",
        program=copy / "usr/bin/bazel",
        options=startup_options(copy),
        rc_lines=tuple(lines),
        rests_on=(copy / MARKER, base / "A-server.jar", java / "bin/java", base / "linux-sandbox"),
    )


def startup_options(copy: Path) -> tuple[str, ...]:
    """Where the client finds its tools and its Java runtime."""
    return (
        f"--install_base={copy / 'usr/share/bazel'}",
        "--trust_install_base",
        f"--server_javabase={relocate.java_home(copy)}",
    )


def faults(copy: Path, version: str) -> list[str]:
    """What is wrong with the copy; nothing when it can be used."""
    marker = copy / MARKER
    if not marker.is_file():
        return ["it was never finished"]
    found = []
    for line in marker.read_text().splitlines():
        size, _, name = line.partition(" ")
        try:
            actual = (copy / name).stat().st_size
        except OSError:
            found.append(f"{name} is missing")
            continue
        if actual != int(size):
            found.append(f"{name} has {actual} bytes instead of {size}")
    return found or start_faults(copy, version)


def start_faults(copy: Path, version: str) -> list[str]:
    """Does the client start and report `version`, and does the Java runtime start?"""
    found = []
    for words, expected in (
        ([copy / "usr/bin/bazel", *startup_options(copy), "--version"], f"bazel {version}"),
        ([relocate.java_home(copy) / "bin/java", "--version"], "openjdk 21"),
    ):
        try:
            done = subprocess.run(
                words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
            )
            printed = done.stdout.strip() or done.stderr.strip()
        except (OSError, subprocess.TimeoutExpired) as error:
            printed = str(error)
        if not printed.startswith(expected):
            found.append(f"{words[0]} said {printed[:200]!r} instead of {expected!r}")
    return found


def build(copy: Path, version: str, arch: str) -> None:
    """Make the copy, replacing whatever lies there. The caller holds the lock.

    Raises SetupError; nothing half made is left behind then.
    """
    refuse_tmp(copy)
    partial = copy.with_name(copy.name + ".partial")
    try:
        for leftover in (partial, copy):
            if leftover.exists():
                say(f"private copy: removing {leftover}, which cannot be used")
                shutil.rmtree(leftover)
        partial.mkdir(parents=True)
        free = shutil.disk_usage(partial).free
        if free < NEEDED_BYTES:
            raise disk_full(copy, free)
        work, prefix = partial / "work", partial / "copy"
        work.mkdir()
        debian.unpack_bazel(version, arch, work, prefix)
        say("private copy: making it run from its own folder")
        relocate.relocate(prefix, copy, debian.TRIPLETS[arch], version)
        for name in EMPTY:
            module = prefix / "empty" / name
            module.mkdir(parents=True)
            (module / "MODULE.bazel").write_text(f'module(name = "{name}")\n')
            (module / "BUILD.bazel").touch()
        prefix.rename(copy)
        finish(copy, version)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(copy, 0) from error
        raise SetupError(
            f"cannot build in {copy.parent}: {error.strerror}: {error.filename}",
            "set HARDGATE_CACHE to a folder that you can write to, and start again",
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def finish(copy: Path, version: str) -> None:
    """Try the copy, then write its marker: the list of its files with their sizes."""
    wrong = start_faults(copy, version)
    if wrong:
        shutil.rmtree(copy)
        raise SetupError(
            "the private copy was made but does not run: " + "; ".join(wrong), debian.USE_BAZELISK
        )
    files = sorted(
        Path(where, name) for where, _, names in os.walk(copy) for name in names
    )
    lines = [f"{path.stat().st_size} {path.relative_to(copy)}\n" for path in files if path.exists()]
    unfinished = copy / f"{MARKER}.partial"
    unfinished.write_text("".join(lines))
    unfinished.rename(copy / MARKER)


def refuse_tmp(copy: Path) -> None:
    """Raise SetupError for a folder that Bazel's sandbox would hide."""
    if Path("/tmp").resolve() in copy.resolve().parents:
        raise SetupError(
            f"the cache folder lies below /tmp ({copy.parent}); Bazel's sandbox mounts a /tmp of "
            "its own, so a Bazel from there cannot work",
            "set HARDGATE_CACHE to a folder elsewhere, for example "
            "HARDGATE_CACHE=$HOME/.cache/hardgate, and start again",
        )


def disk_full(copy: Path, free: int) -> SetupError:
    """The error for a cache folder on a full disk; `free` in bytes."""
    return SetupError(
        f"the disk of {copy.parent} is too full for a private copy of Bazel: "
        f"{free // 1_000_000} MB are free, {NEEDED_BYTES // 1_000_000} MB are needed",
        "free some space, or set HARDGATE_CACHE to a folder on another disk, and start again",
    )
