"""Bazel's Debian packages, fetched by apt into a folder of our own.

apt keeps checking the archive's signature and every package's hash. It gets its own lists, status
and cache, so neither root nor any change of the system is needed.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
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
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}  # by the kernel's name
APT = Path("/etc/apt")
KEYRINGS = (
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
)
USE_BAZELISK = (
    "install bazelisk (https://bazel.build/install/bazelisk) so that it is on PATH, and start again"
)
CHECK_NETWORK = (
    "check that this machine reaches its Debian mirror (apt-get update), or set "
    "HARDGATE_DEBIAN_MIRROR to one that it reaches, and start again"
)


def architecture() -> str | None:
    """Debian's name of this machine's architecture; None where there is no Bazel for it."""
    if platform.system() != "Linux":
        return None
    return ARCHITECTURES.get(platform.machine())


def keyring() -> Path:
    """The Debian archive's public keys as installed on this system, or the named mirror's own."""
    named = os.environ.get("HARDGATE_DEBIAN_KEYRING")
    for path in [Path(named)] if named else KEYRINGS:
        if path.exists():
            return path
    raise SetupError(
        "the Debian archive's keys are not installed, so its packages could not be verified",
        f"install debian-archive-keyring and start again; or {USE_BAZELISK}",
    )


def mirror(apt: Path) -> str:
    """The Debian mirror that is named, or that this system uses. Raises SetupError."""
    named = os.environ.get("HARDGATE_DEBIAN_MIRROR")
    if named:
        return named
    parts = sorted((apt / "sources.list.d").glob("*"))
    for path in [apt / "sources.list", *parts]:
        if path.suffix not in (".list", ".sources") or not path.is_file():
            continue
        for line in path.read_text(errors="replace").splitlines():
            found = re.search(r"https?://\S+/debian/?(?=\s|$)", line.partition("#")[0])
            if found:
                return found.group()
    raise SetupError(
        "apt's sources on this machine name no Debian mirror",
        f"set HARDGATE_DEBIAN_MIRROR to one; or {USE_BAZELISK}",
    )


def configure(work: Path, arch: str) -> list[str]:
    """Write apt's private configuration into `work`; the words every apt command starts with."""
    for folder in ("lists/partial", "cache/archives/partial", "packages"):
        (work / folder).mkdir(parents=True)
    (work / "status").touch()
    source = f"deb [arch={arch} signed-by={keyring()}] {mirror(APT)} {SUITE} main\n"
    (work / "sources.list").write_text(source)
    settings = {
        "APT::Architecture": arch,
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
        settings["APT::Sandbox::User"] = "root"  # apt's own user cannot write into our folder
    lines = [f'{key} "{value}";' for key, value in settings.items()]
    # What the system's owner set up for the system's own packages.
    hooks = ("Update::Pre-Invoke", "Update::Post-Invoke", "Update::Post-Invoke-Success")
    lines += [f"#clear APT::{name};" for name in ("Architectures", *hooks)]
    (work / "apt.conf").write_text("\n".join(lines) + "\n")
    return ["apt-get", "-c", str(work / "apt.conf")]


def choose_packages(uris: str, version: str) -> list[str]:
    """Names of the wanted packages in apt's list of downloads (`--print-uris`).

    Raises SetupError when the archive's Bazel is not `version`.
    """
    listed = re.findall(r"^'[^']*' ([^_ ]+)_([^_ ]+)_\S+ ", uris, flags=re.MULTILINE)
    bazel = next((found for name, found in listed if name == "bazel-bootstrap"), None)
    if bazel is None or not re.match(rf"{re.escape(version)}(?![\w.])", bazel):
        raise SetupError(
            f"Debian {SUITE} carries Bazel {bazel} now, and .bazelversion pins {version}",
            USE_BAZELISK,
        )
    return sorted({name for name, _ in listed if WANTED.fullmatch(name)})


def unpack_bazel(version: str, arch: str, work: Path, prefix: Path) -> None:
    """Fetch Bazel `version` and what it loads, and unpack all of it below `prefix`.

    Raises SetupError without apt, keys, network, or that version in the archive.
    """
    missing = [tool for tool in ("apt-get", "dpkg-deb") if shutil.which(tool) is None]
    if missing:
        raise SetupError(
            "no usable Bazel was found, and none can be made from Debian packages because "
            f"{' and '.join(missing)} are not on PATH",
            USE_BAZELISK,
        )
    apt = configure(work, arch)
    say(f"private copy: reading the package lists of Debian {SUITE}")
    run([*apt, "update", "-qq", "--error-on=any"], CHECK_NETWORK)
    wish = ["install", "-t", SUITE, "--no-install-recommends", "--print-uris", "-y", *ROOTS]
    names = choose_packages(run([*apt, *wish], CHECK_NETWORK), version)
    say(f"private copy: fetching {len(names)} packages")
    packages = work / "packages"
    wish = ["download", "-qq", *(f"{name}/{SUITE}" for name in names)]
    run([*apt, *wish], CHECK_NETWORK, cwd=packages)
    say("private copy: unpacking")
    prefix.mkdir()
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        for _ in pool.map(lambda file: _unpack(file, prefix), sorted(packages.glob("*.deb"))):
            pass


def _unpack(package: Path, prefix: Path) -> None:
    run(["dpkg-deb", "--extract", package, prefix], "start again")
