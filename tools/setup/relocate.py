"""Makes unpacked Debian packages run from a folder of their own instead of /."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

from tools.setup.progress import run

TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}
LOADERS = {"amd64": "ld-linux-x86-64.so.2", "arm64": "ld-linux-aarch64.so.1"}
BASE = "usr/share/bazel"
CLASS_PATH = f"{BASE}/bazel_classpath_debian_depends.txt"
UNUSED = (
    "usr/bin/patchelf",
    "usr/lib/debug",
    *(f"usr/share/{name}" for name in ("doc", "doc-base", "lintian", "man", "maven-repo")),
)


def java_folder(arch: str) -> Path:
    """The Java runtime, relative to the copy."""
    return Path(f"usr/lib/jvm/java-21-openjdk-{arch}")


def relocate(prefix: Path, final: Path, arch: str, version: str) -> None:
    """Change what lies below `prefix` so that it works once it is renamed to `final`."""
    patch_programs(prefix, final, arch)
    relink(prefix)
    complete_class_path(prefix, final)
    label_server(prefix / BASE / "A-server.jar", version)
    for name in UNUSED:
        path = prefix / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def patch_programs(prefix: Path, final: Path, arch: str) -> None:
    """Let programs load the copy's own libraries; those of the system may be too old or absent."""
    triplet = TRIPLETS[arch]
    libraries, java = Path("usr/lib") / triplet, java_folder(arch)
    loader = libraries / LOADERS[arch]
    patchelf = [
        str(prefix / loader),
        "--library-path",
        str(prefix / libraries),
        str(prefix / "usr/bin/patchelf"),
    ]
    own = str(final / libraries)
    java_path = f"{final / java / 'lib'}:{final / java / 'lib/server'}:{own}"

    def patch(files: list[Path], search_path: str, *more: str) -> None:
        options = [*more, "--force-rpath", "--set-rpath", search_path]
        run([*patchelf, *options, *files], "start again")

    interpreter = ("--set-interpreter", str(final / loader))
    tools = sorted((prefix / "usr/libexec" / triplet / "bazel").iterdir())
    patch([prefix / "usr/bin/bazel", *tools], own, *interpreter)
    programs = [prefix / java / "bin/java", prefix / java / "lib/jspawnhelper"]
    patch(programs, java_path, *interpreter)
    patch(sorted((prefix / java / "lib").rglob("*.so")), java_path)
    patch([prefix / libraries / "bazel/libcpu_profiler.so"], own)


def relink(prefix: Path) -> None:
    """Make absolute links relative where their target was unpacked too."""
    for folder, folders, files in os.walk(prefix):
        for name in [*folders, *files]:
            link = Path(folder, name)
            if not link.is_symlink():
                continue
            target = os.readlink(link)
            inside = prefix / target.lstrip("/")
            if target.startswith("/") and os.path.lexists(inside):
                link.unlink()
                link.symlink_to(os.path.relpath(inside, link.parent))


def complete_class_path(prefix: Path, final: Path) -> None:
    """Point the server's class path to the copy, and add perfmark, which Debian's list lacks."""
    path = prefix / CLASS_PATH
    extra = sorted((prefix / "usr/share/java").glob("perfmark-*.jar"))
    jars = [*path.read_text().split(), *(f"/usr/share/java/{jar.name}" for jar in extra)]
    path.write_text("".join(f"{final}{jar}\n" for jar in jars))


def label_server(jar: Path, version: str) -> None:
    """Give the server its version: without one, rules take it for the newest Bazel and fail."""
    properties = f"build.label={version}\nbuild.timestamp=0\nbuild.timestamp.as.int=0\n"
    with zipfile.ZipFile(jar, "a") as archive:
        archive.writestr(zipfile.ZipInfo("build-data.properties"), properties)
