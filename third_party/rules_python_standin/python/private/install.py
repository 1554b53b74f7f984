"""Installs a hash-locked requirements file and writes a BUILD file over what it holds.

Usage: install.py LOCK HUB_NAME, in the folder of the repository to make.
"""

import csv
import pathlib
import re
import subprocess
import sys
from email.parser import HeaderParser

SITE = pathlib.Path("site-packages")


def install(lock):
    """Installs exactly what the lock names, then compiles it with hash-based .pyc files.

    Unchecked-hash files do not depend on modification times: the bytes are the same on every
    machine, and no test compiles a library again.
    """
    pip = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    pip += ["--only-binary=:all:", "--no-compile", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(SITE), "--requirement", lock], check=True)
    compile_all = ["-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    # Some wheels ship templates that are no valid Python; a failure there is not one of ours.
    subprocess.run([sys.executable, "-I", *compile_all, str(SITE)], check=False)


def normalized(name):
    """Returns a distribution's name as Bazel targets spell it."""
    return re.sub(r"[-_.]+", "_", name).lower()


def distributions():
    """Returns {name: (top-level entries, names of required distributions)}, sorted by name."""
    found = {}
    for info in sorted(SITE.glob("*.dist-info")):
        metadata = HeaderParser().parsestr((info / "METADATA").read_text("utf-8"))
        with (info / "RECORD").open(encoding="utf-8", newline="") as record:
            files = [row[0] for row in csv.reader(record)]
        tops = {file.split("/")[0] for file in files if not file.startswith(("..", "/"))}
        tops = {top for top in tops if (SITE / top).exists() and top not in ("bin", "__pycache__")}
        required = [
            normalized(re.match(r"[A-Za-z0-9._-]+", line)[0])
            for line in metadata.get_all("Requires-Dist", [])
            if "extra ==" not in line
        ]
        found[normalized(metadata["Name"])] = (sorted(tops), required)
    return dict(sorted(found.items()))


def write_build_files(hub_name, found):
    """Writes the libraries, and a package of aliases for each, under the hub's usual labels."""
    lines = [
        'load("@rules_python//python:defs.bzl", "py_library")',
        "",
        'package(default_visibility = ["//visibility:public"])',
    ]
    for name, (tops, required) in found.items():
        # A folder is one input of a target, where its files would be hundreds; RECORD, with the
        # hash of each file, is there so that another content is another input. METADATA is what
        # a program reads that asks for the version of a distribution.
        entries = [f"{SITE}/{top}" for top in tops if not top.endswith(".dist-info")]
        entries += [
            f"{SITE}/{top}/{name}"
            for top in tops
            if top.endswith(".dist-info")
            for name in ("METADATA", "RECORD")
        ]
        deps = sorted({f":{other}" for other in required if other in found})
        lines += [
            "",
            "py_library(",
            f"    name = {name!r},",
            f"    data = {entries!r},",
            f"    imports = [{str(SITE)!r}],",
            f"    deps = {deps!r},",
            ")",
        ]
        folder = pathlib.Path(name)
        folder.mkdir(exist_ok=True)
        (folder / "BUILD.bazel").write_text(
            'package(default_visibility = ["//visibility:public"])\n\n'
            f'alias(name = "{name}", actual = "//:{name}")\n\n'
            f'alias(name = "pkg", actual = "//:{name}")\n'
        )
    pathlib.Path("BUILD.bazel").write_text("\n".join(lines) + "\n")
    pathlib.Path("requirements.bzl").write_text(
        "def requirement(name):\n"
        f'    return "@{hub_name}//" + name.replace("-", "_").replace(".", "_").lower()\n'
    )


if __name__ == "__main__":
    install(sys.argv[1])
    write_build_files(sys.argv[2], distributions())
