"""Installs the peers, in the locked versions, below a scratch folder, and says how to start them.

Nothing of the project imports or builds with what is installed here. Registries are the ones that
pip and npm are set up for; after the installs no peer gets to the network.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench import progress

WORKSPACE = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")).absolute()
HERE = WORKSPACE / "benchmarks" / "peers"
LOCKS = ("requirements.txt", "package.json", "package-lock.json")
SUITE_FILES = ("*.py", "*.mjs", "works.json")
# Port 9 of this machine, where nothing listens: a peer that calls home all the same is refused.
NOWHERE = "http://127.0.0.1:9"
QUIET = {
    "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "HTTP_PROXY": NOWHERE,
    "HTTPS_PROXY": NOWHERE,
    "ALL_PROXY": NOWHERE,
}


class Installed(NamedTuple):
    """The scratch folder with everything in it."""

    scratch: Path

    @property
    def programs(self) -> Path:
        """The folder of python, node, and the commands of the Python peers."""
        return self.scratch / "venv" / "bin"

    @property
    def suites(self) -> Path:
        """A copy of the suites, so that nothing is written into the workspace."""
        return self.scratch / "suites"

    @property
    def temporary(self) -> Path:
        """Where measured processes put files of their own."""
        return self.scratch / "tmp"

    def environment(self) -> dict[str, str]:
        """All variables of a measured process; none of the caller's own."""
        home = self.scratch / "home"
        return {
            "PATH": f"{self.programs}:{self.scratch}/node_modules/.bin:/usr/bin:/bin",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": str(WORKSPACE / "src"),
            "PYTHONPYCACHEPREFIX": str(self.scratch / "pycache"),
            "PROMPTFOO_CONFIG_DIR": str(home / "promptfoo"),
            **QUIET,
        }


def install(scratch: Path) -> Installed:
    """Installs what is not there in the locked versions; ends the program where that fails."""
    stamp, wanted = scratch / "installed", _wanted()
    installed = Installed(scratch)
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        stamp.unlink(missing_ok=True)
        for name in ("venv", "node_modules"):
            shutil.rmtree(scratch / name, ignore_errors=True)
        scratch.mkdir(parents=True, exist_ok=True)
        progress(f"installing the peers below {scratch}: 1 GB, some minutes")
        _install_python(installed)
        _install_node(installed)
        stamp.write_text(wanted, encoding="utf-8")
    _copy_suites(installed)
    return installed


def versions() -> dict[str, str]:
    """The locked versions of the peers."""
    lock = (HERE / "requirements.txt").read_text(encoding="utf-8")
    found = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock, re.MULTILINE))
    npm = (HERE / "package.json").read_text(encoding="utf-8")
    [found["promptfoo"]] = re.findall(r'"promptfoo": "(.*)"', npm)
    names = ("inspect-ai", "pydantic-evals", "deepeval", "promptfoo")
    return {name.replace("inspect-ai", "inspect_ai"): found[name] for name in names}


def _wanted() -> str:
    """What the installation is made from; another Python needs another one."""
    digest = hashlib.sha256(sys.version.encode())
    for name in LOCKS:
        digest.update((HERE / name).read_bytes())
    return digest.hexdigest()


def _install_python(installed: Installed) -> None:
    _run([sys.executable, "-m", "venv", str(installed.scratch / "venv")], installed)
    pip = [str(installed.programs / "python"), "-m", "pip", "install", "--quiet"]
    _run([*pip, "--require-hashes", "--no-deps", "-r", str(HERE / "requirements.txt")], installed)


def _install_node(installed: Installed) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HERE / name, installed.scratch / name)
    # Without the optional packages, which are clients of providers and 2 GB; the database library
    # that is optional because there is one for each platform is named in package.json, for two
    # platforms, and --force lets the one of the other platform be installed too.
    options = ["--omit=optional", "--force", "--ignore-scripts", "--no-audit", "--no-fund"]
    _run([str(installed.programs / "npm"), "ci", "--loglevel=error", *options], installed)


def _run(line: list[str], installed: Installed) -> None:
    """Runs one step of an installation with the caller's settings of pip and npm."""
    environment = {**os.environ, "PATH": f"{installed.programs}:{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)  # what `bazel run` sets is for this program
    done = subprocess.run(line, cwd=installed.scratch, env=environment, stdout=2, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(line)}\nended with {done.returncode}")


def _copy_suites(installed: Installed) -> None:
    for folder in (installed.suites, installed.temporary):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    (installed.scratch / "home").mkdir(exist_ok=True)
    for pattern in SUITE_FILES:
        for file in HERE.glob(pattern):
            shutil.copyfile(file, installed.suites / file.name)
