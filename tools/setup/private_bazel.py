"""A private copy of Bazel, made of Debian packages in a folder of the user.

A copy is built under another name, renamed, tried, and only then gets its marker file; a folder
without the marker is never used. The folder's name carries a hash of the recipe, so a changed
recipe makes another copy and Bazel servers that run from the old one are left alone.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from tools.setup import debian, probe, relocate, trust_store
from tools.setup.launch import Launch
from tools.setup.progress import SetupError, last_line, say

MARKER = "complete"
NEEDED_BYTES = 1_000_000_000  # package lists, packages and the unpacked copy together
START_SECONDS = 60.0
# Modules that Bazel's own tools or ours depend on and Debian ships, by folder below the base.
SHIPPED = {
    "platforms": "tools/platforms",
    "rules_java": "rules/java",
    "rules_cc": "rules/cc",
    "bazel_features": "tools/features",
    "bazel_skylib": "tools/skylib",
    "rules_license": "rules/license",
    "rules_proto": "rules/proto",
}
# Modules in the graph of which nothing is built here: an empty one each.
EMPTY = ("protobuf", "apple_support", "zlib", "buildozer")
# Repositories that WORKSPACE mode would download.
# The last one is loaded with @platforms//:incompatible, which pending gates depend on.
WORKSPACE_REPOSITORIES = ("rules_cc", "rules_java", "bazel_skylib", "rules_license")
STAND_IN = "third_party/rules_python_standin"  # in the checkout that bazelw lies in


def recipe_hash() -> str:
    """Twelve hexadecimal digits that stand for the code which makes a copy."""
    digest = hashlib.sha256()
    for module in (__file__, debian.__file__, relocate.__file__, trust_store.__file__):
        digest.update(Path(module).read_bytes())
    return digest.hexdigest()[:12]


class PrivateBazel:
    """The copy of one Bazel version for one of Debian's architectures, made or not."""

    def __init__(self, cache: Path, version: str, arch: str) -> None:
        self.version = version
        self.arch = arch
        self.path = cache / "bazel" / f"{version}-{arch}-{recipe_hash()}"
        self.base = self.path / relocate.BASE
        self.java = self.path / relocate.java_folder(arch)
        self.program = self.path / "usr/bin/bazel"
        self.options = (
            f"--install_base={self.base}",
            "--trust_install_base",
            f"--server_javabase={self.java}",
        )

    def launch(self, here: Path) -> Launch:
        """How to start it for the checkout `here`."""
        modules = {name: self.base / folder for name, folder in SHIPPED.items()}
        modules.update({name: self.path / "empty" / name for name in EMPTY})
        modules["rules_python"] = here / STAND_IN
        # Overridden modules would be written into the lock file that is checked in.
        # Without --noenable_workspace Bazel asks a download site for what it brings itself.
        lines = ["common --lockfile_mode=off", "common --noenable_workspace"]
        for name, path in modules.items():
            lines.append("common " + shlex.quote(f"--override_module={name}={path}"))
        lines.append("common:workspace --noenable_bzlmod --enable_workspace")
        for name in WORKSPACE_REPOSITORIES:
            option = shlex.quote(f"--override_repository={name}={modules[name]}")
            lines.append(f"common:workspace {option}")
        return Launch(
            origin=f"private copy of Debian's packages in {self.path}",
            program=self.program,
            options=self.options,
            rc_lines=tuple(lines),
            rests_on=(
                self.path / MARKER,
                self.path / relocate.CLASS_PATH,
                self.base / "A-server.jar",
                self.base / "linux-sandbox",
                self.java / "bin/java",
                self.java / "lib/modules",
            ),
        )

    def faults(self) -> list[str]:
        """What is wrong with the copy, one line each; nothing when it can be used."""
        marker = self.path / MARKER
        if not self.path.exists():
            return ["it has not been made yet"]
        if not marker.is_file():
            return ["it was never finished"]
        found = []
        for line in marker.read_text(errors="replace").splitlines():
            size, _, name = line.partition(" ")
            try:
                actual = os.lstat(self.path / name).st_size
            except OSError:
                found.append(f"{self.path / name} is missing")
                continue
            if str(actual) != size:
                found.append(f"{self.path / name} has {actual} bytes instead of {size}")
        return found or self.start_faults()

    def start_faults(self) -> list[str]:
        """Do the client and the Java runtime start, and does the client report the version?"""
        found = []
        printed = _first_words([str(self.program), *self.options, "--version"])
        if not probe.reports(self.version, printed):
            found.append(f"{self.program} says {last_line(printed)!r}")
        printed = _first_words([str(self.java / "bin/java"), "--version"])
        if not printed.startswith("openjdk 21"):
            found.append(f"{self.java / 'bin/java'} says {last_line(printed)!r}")
        return found

    def build(self) -> None:
        """Make the copy, in place of a broken one. The caller holds the lock.

        Raises SetupError or OSError; nothing half made is left behind then.
        """
        self._refuse_tmp()
        parent = self.path.parent
        parent.mkdir(parents=True, exist_ok=True)
        for leftover in (*parent.glob("*.partial.*"), self.path):
            if leftover.exists():
                say(f"private copy: removing {leftover}, which cannot be used")
                shutil.rmtree(leftover, ignore_errors=True)
        free = shutil.disk_usage(parent).free
        if free < NEEDED_BYTES:
            raise SetupError(
                f"the disk of {parent} is too full for a private copy of Bazel: "
                f"{free // 1_000_000} MB are free, {NEEDED_BYTES // 1_000_000} MB are needed",
                "free some space, or set HARDGATE_CACHE to a folder on another disk",
            )
        partial = Path(tempfile.mkdtemp(prefix=f"{self.path.name}.partial.", dir=parent))
        try:
            prefix = partial / "copy"
            debian.unpack_bazel(self.version, self.arch, partial, prefix)
            say("private copy: making it run from its own folder")
            relocate.relocate(prefix, self.path, self.arch, self.version)
            trust_store.provide(prefix / relocate.java_folder(self.arch))
            self._add_empty_modules(prefix)
            prefix.rename(self.path)
            self._finish()
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        say(f"private copy: Bazel {self.version} is ready in {self.path}")

    def _add_empty_modules(self, prefix: Path) -> None:
        for name in EMPTY:
            folder = prefix / "empty" / name
            folder.mkdir(parents=True)
            (folder / "MODULE.bazel").write_text(f'module(name = "{name}")\n')
            (folder / "BUILD.bazel").touch()

    def _finish(self) -> None:
        """Try the copy, then write its marker: the size and name of each file."""
        wrong = self.start_faults()
        if wrong:
            shutil.rmtree(self.path)
            raise SetupError(
                f"the private copy was made but does not run: {'; '.join(wrong)}",
                debian.USE_BAZELISK,
            )
        walked = os.walk(self.path)
        files = sorted(Path(where, name) for where, _, names in walked for name in names)
        # Links are not followed: some lead to files of the system, which may change.
        lines = [f"{os.lstat(file).st_size} {file.relative_to(self.path)}\n" for file in files]
        unfinished = self.path / f"{MARKER}.partial"
        unfinished.write_text("".join(lines))
        unfinished.rename(self.path / MARKER)

    def _refuse_tmp(self) -> None:
        if Path("/tmp").resolve() in self.path.resolve().parents:
            raise SetupError(
                f"the cache folder lies below /tmp ({self.path.parent.parent}): Bazel's sandbox "
                "mounts a /tmp of its own, so a private copy there cannot work",
                "set HARDGATE_CACHE to a folder elsewhere, such as ~/.cache/hardgate",
            )


def _first_words(words: list[str]) -> str:
    """What a program prints, or why it does not start."""
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=START_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stdout.strip() or done.stderr.strip()
