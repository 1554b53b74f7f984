"""Installs the PyYAML of a hash-locked requirements file into a folder.

Usage: install_yaml.py LOCK FOLDER. It runs in a repository rule, with any Python from 3.9 on. Exits
with pip's message when that fails.
"""

import pathlib
import subprocess
import sys


def locked(requirements, name):
    """Returns the lines of one distribution of a requirements lock, or exits."""
    lines = requirements.split("\n")
    for start, line in enumerate(lines):
        if line.startswith(name + "=="):
            stop = start
            while lines[stop].endswith("\\"):
                stop += 1
            return "\n".join(lines[start : stop + 1]) + "\n"
    sys.exit(f"the lock has no line {name}==VERSION")


def main(lock, folder):
    """Installs PyYAML alone; its hashes are checked."""
    target = pathlib.Path(folder)
    target.mkdir()
    requirement = target / "pyyaml.lock"
    requirement.write_text(locked(pathlib.Path(lock).read_text("utf-8"), "pyyaml"), "utf-8")
    pip = [sys.executable, "-I", "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    pip += ["--disable-pip-version-check", "--target", folder, "-r", str(requirement)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
