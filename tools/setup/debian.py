"""Bazel's Debian packages, fetched by apt into a folder of our own.

apt keeps checking the archive's signature and every package's hash. It gets its own lists, status
and cache, so neither root nor a change of the system is needed.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from tools.setup.progress import SetupError, run, say

SUITE = "sid"  # the stable releases carry Bazel 4, which knows no modules
ROOTS = ("bazel-bootstrap", "openjdk-21-jre-headless", "libblake3-0", "patchelf")
# Of everything these pull in, only what client, server and embedded tools load at run time.
WANTED = re.compile(
    r"lib.*-java|lib.*-jni1?|bazel-.*|velocity|async-profiler.*|libc6|libstdc\+\+6|libgcc-s1"
    r"|libgrpc.*|libabsl.*|libprotobuf.*|zlib1g|libcares2|libre2.*|libblake3.*|libtbb.*"
    r"|openjdk-21-jre-headless|libssl3.*|libzstd1|patchelf"
)
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
USE_BAZELISK = (
    "install bazelisk (https://bazel.build/install/bazelisk) so that it is on PATH, and start again"
)
CHECK_NETWORK = "check that this machine reaches its Debian mirror (apt-get update), or " + (
    "set HARDGATE_DEBIAN_MIRROR to one that it reaches, and start again"
)


def architecture() -> str:
    """Debian's name of this machine's architecture; SetupError where there is no such thing."""
    if not all(shutil.which(tool) for tool in ("apt-get", "dpkg", "dpkg-deb")):
        raise SetupError(
            "no usable Bazel was found, and this system has no apt to make one from "
            "Debian packages",
            USE_BAZELISK,
        )
    name = run(["dpkg", "--print-architecture"], USE_BAZELISK).strip()
    if name not in TRIPLETS:
        raise SetupError(f"Debian carries no Bazel for the architecture {name}", USE_BAZELISK)
    return name


def keyring() -> Path:
    """The Debian archive's public keys as installed on this system."""
    for suffix in ("gpg", "pgp"):
        path = Path(f"/usr/share/keyrings/debian-archive-keyring.{suffix}")
        if path.exists():
            return path
    raise SetupError(
        "the Debian archive's keys are not installed, so its packages cannot be verified",
        f"install debian-archive-keyring; or {USE_BAZELISK}",
    )


def mirror(etc: Path = Path("/etc/apt")) -> str:
    """The Debian mirror that this system uses already, else Debian's own."""
    named = os.environ.get("HARDGATE_DEBIAN_MIRROR")
    if named:
        return named
    listed = sorted((etc / "sources.list.d").glob("*.sources"))
    for path in [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*.list")), *listed]:
        if not path.is_file():
            continue
        for line in path.read_text(errors="replace").splitlines():
            found = re.search(r"https?://\S+/debian/?(?=\s|$)", line.partition("#")[0])
            if found:
                return found.group()
    return "http://deb.debian.org/debian"


def configure(work: Path, arch: str) -> list[str]:
    """Write apt's private configuration into `work`; the words every apt command starts with."""
    for folder in ("lists/partial", "cache/archives/partial", "packages"):
        (work / folder).mkdir(parents=True)
    (work / "status").touch()
    source = f"deb [arch={arch} signed-by={keyring()}] {mirror()} {SUITE} main\n"
    (work / "sources.list").write_text(source)
    settings = {
        "Dir::State::lists": work / "lists",
        "Dir::State::status": work / "status",
        "Dir::Cache": work / "cache",
        "Dir::Etc::sourcelist": work / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::Etc::preferences": "/dev/null",
        "Dir::Etc::preferencesparts": "/dev/null",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Acquire::AllowInsecureRepositories": "false",
        "APT::Get::AllowUnauthenticated": "false",
        "Debug::NoLocking": "true",
    }
    if os.geteuid() == 0:
        settings["APT::Sandbox::User"] = "root"  # apt's own user cannot read our folder
    lines = [f'{key} "{value}";' for key, value in settings.items()]
    # Hooks that the system's owner set up for the system's own packages.
    lines += [f"#clear APT::Update::{hook};" for hook in ("Pre-Invoke", "Post-Invoke")]
    lines.append("#clear APT::Update::Post-Invoke-Success;")
    (work / "apt.conf").write_text("\n".join(lines) + "\n")
    return ["apt-get", "-c", str(work / "apt.conf")]


def choose_packages(uris: str, version: str) -> list[str]:
    """Names of the wanted packages in apt's list of downloads (`--print-uris`).

    Raises SetupError when the archive's Bazel is not `version`.
    """
    listed = re.findall(r"^'[^']*' ([^_ ]+)_([^_ ]+)_\S+ ", uris, flags=re.MULTILINE)
    bazel = next((ver for name, ver in listed if name == "bazel-bootstrap"), "none")
    if not re.match(re.escape(version) + r"(?![0-9.])", bazel):
        raise SetupError(
            f"Debian {SUITE} carries Bazel {bazel} now, and this repository pins {version}",
            USE_BAZELISK,
        )
    return sorted({name for name, _ in listed if WANTED.fullmatch(name)})


def unpack_bazel(version: str, arch: str, work: Path, prefix: Path) -> None:
    """Fetch Bazel `version` and what it loads, and unpack all of it below `prefix`."""
    apt = configure(work, arch)
    say(f"private copy: reading the package lists of Debian {SUITE}")
    run([*apt, "update", "-qq"], CHECK_NETWORK)
    uris = run(
        [*apt, "install", "-t", SUITE, "--no-install-recommends", "--print-uris", "-y", *ROOTS],
        CHECK_NETWORK,
    )
    names = choose_packages(uris, version)
    say(f"private copy: fetching {len(names)} packages")
    folder = work / "packages"
    run([*apt, "download", "-qq", *(f"{name}/{SUITE}" for name in names)], CHECK_NETWORK, cwd=folder)
    say("private copy: unpacking")
    for package in sorted(folder.glob("*.deb")):
        run(["dpkg-deb", "--extract", package, prefix], "start again")
