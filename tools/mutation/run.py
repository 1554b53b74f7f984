"""Mutates some modules in a copy of the workspace and says which changes no test noticed.

Run by hand from the workspace's root; docs/reference/mutation.md tells how and keeps the result.
The workspace itself is never changed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TARGETS = Path("tools/mutation/targets.toml")
COPIED = ("src", "tests", "docs", "evals", "gates", "config")
IGNORED = shutil.ignore_patterns("__pycache__", ".hypothesis", "mutants")

# The exit statuses under which mutmut records a mutant. One that no test reaches has survived.
RESULTS = {
    "killed": (1, 3),
    "survived": (0, 5, 33),
    "timed out": (24, -24, 36, 152, 255),
}


def main(arguments: list[str]) -> int:
    targets = tomllib.loads(TARGETS.read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(targets)}")
    parser.add_argument("--digits", help="a sample: the mutants whose number ends in one of these")
    parser.add_argument("--again", action="store_true", help="only what survived the last run")
    parser.add_argument("--work", type=Path, required=True, help="a folder for the copies")
    options = parser.parse_args(arguments)
    unknown = set(options.targets) - set(targets)
    if unknown:
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    for name in options.targets or targets:
        folder = options.work / name
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1"]
        if options.again:
            renew_tests(folder)
            command += survivors(folder)
        else:
            copy_workspace(folder)
            # mutmut counts the mutants of each function from 1
            command += [f"*__mutmut_*[{options.digits}]"] if options.digits else []
        configure(folder, targets[name])
        done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            print(f"{name}: mutmut ended with status {done.returncode}", file=sys.stderr)
            return 1
        report(folder)
    return 0


def copy_workspace(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name in COPIED:
        shutil.copytree(name, folder / name, ignore=IGNORED)


def configure(folder: Path, target: dict[str, Any]) -> None:
    """Writes what mutmut reads: one target of TARGETS, tried in `folder`."""
    skipped = " and ".join(f"not {name}" for name in target.get("skip", ()))
    options = ["-p", "no:cacheprovider", *(["-k", skipped] if skipped else [])]
    settings = {
        "source_paths": ["src"],
        "only_mutate": target["files"],
        "also_copy": [name for name in COPIED if name not in ("src", "tests")],
        "pytest_add_cli_args": options,
        "pytest_add_cli_args_test_selection": target["tests"],
        "track_dependencies": False,
        "use_git_change_detection": False,
    }
    # A JSON value of these types is a TOML value too.
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    text = "\n".join(["[tool.mutmut]", *lines, ""])
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def renew_tests(folder: Path) -> None:
    """Replaces the tests in `folder` and lets mutmut find out again which of them reach what."""
    for tests in (folder / "tests", folder / "mutants/tests"):
        shutil.rmtree(tests)
        shutil.copytree("tests", tests, ignore=IGNORED)
    (folder / "mutants/mutmut-stats.json").unlink()


def results(folder: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """Each mutated file with the exit status of each of its mutants that was run."""
    for path in sorted((folder / "mutants/src").rglob("*.py.meta")):
        recorded = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
        statuses = {key: status for key, status in recorded.items() if status is not None}
        if statuses:
            yield path.relative_to(folder / "mutants").as_posix().removesuffix(".meta"), statuses


def report(folder: Path) -> None:
    """Prints a row for each file, then the difference that each survivor makes."""
    for file, statuses in results(folder):
        counts = Counter(map(classify, statuses.values()))
        score = 100 * (counts["killed"] + counts["timed out"]) / len(statuses)
        figures = (len(statuses), *(counts[one] for one in ("killed", "survived", "timed out")))
        others = {one: n for one, n in counts.items() if one not in RESULTS}
        row = " | ".join(map(str, (file, *figures, f"{score:.1f} %")))
        print(f"| {row} |{f' {others}' if others else ''}", flush=True)
    for key in survivors(folder):
        subprocess.run([sys.executable, "-m", "mutmut", "show", key], cwd=folder, check=True)


def survivors(folder: Path) -> list[str]:
    return [
        key
        for _, statuses in results(folder)
        for key, status in statuses.items()
        if classify(status) == "survived"
    ]


def classify(status: int) -> str:
    """What became of a mutant; a status that mutmut has no result for is shown as it is."""
    return next((name for name, ones in RESULTS.items() if status in ones), f"status {status}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
