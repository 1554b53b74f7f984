"""Makes unpacked Debian packages run from a folder of their own instead of /."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

from tools.setup.progress import run

LOADERS = {"x86_64-linux-gnu": "ld-linux-x86-64.so.2", "aarch64-linux-gnu": "ld-linux-aarch64.so.1"}
UNUSED = (
    "usr/bin/patchelf",
    "usr/lib/debug",
    *(f"usr/share/{name}" for name in ("doc", "doc-base", "lintian", "man", "maven-repo")),
)


def java_home(prefix: Path) -> Path:
    """The Java runtime's folder below `prefix`."""
    return next((prefix / "usr/lib/jvm").glob("java-21-openjdk-*"))


def relocate(prefix: Path, final: Path, triplet: str, version: str) -> None:
    """Rewrite everything below `prefix` that names /usr so that it works from `final`."""
    patch_programs(prefix, final, triplet)
    relink(prefix)
    complete_class_path(prefix, final)
    label_server(prefix / "usr/share/bazel/A-server.jar", version)
    for name in UNUSED:
        path = prefix / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def patch_programs(prefix: Path, final: Path, triplet: str) -> None:
    """Let programs use the unpacked loader and libraries; those of the system may be too old."""
    libraries = Path("usr/lib") / triplet
    loader = libraries / LOADERS[triplet]
    patchelf = [prefix / loader, "--library-path", prefix / libraries, prefix / "usr/bin/patchelf"]
    java = java_home(prefix).relative_to(prefix)
    java_path = ":".join(str(final / part) for part in (java / "lib", java / "lib/server", libraries))

    def patch(files: list[Path], search_path: str, program: bool) -> None:
        interpreter = ["--set-interpreter", final / loader] if program else []
        run(
            [*patchelf, *interpreter, "--force-rpath", "--set-rpath", search_path, *files],
            "start again",
        )

    tools = sorted((prefix / "usr/libexec" / triplet / "bazel").iterdir())
    patch([prefix / "usr/bin/bazel", *tools], str(final / libraries), True)
    patch([prefix / java / "bin/java", prefix / java / "lib/jspawnhelper"], java_path, True)
    patch(sorted((prefix / java / "lib").rglob("*.so")), java_path, False)
    profiler = prefix / libraries / "bazel/libcpu_profiler.so"
    patch([profiler], str(final / libraries), False)


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
    """Point the server's class path to the copy; Debian's list lacks perfmark."""
    path = prefix / "usr/share/bazel/bazel_classpath_debian_depends.txt"
    jars = path.read_text().split()
    jars += [f"/usr/share/java/{jar.name}" for jar in (prefix / "usr/share/java").glob("perfmark-*.jar")]
    path.write_text("".join(f"{final}{jar}\n" for jar in jars))


def label_server(jar: Path, version: str) -> None:
    """Give the server its version: without one, rules take it for the newest Bazel and fail."""
    properties = f"build.label={version}\nbuild.timestamp=0\nbuild.timestamp.as.int=0\n"
    with zipfile.ZipFile(jar, "a") as archive:
        archive.writestr(zipfile.ZipInfo("build-data.properties"), properties)
