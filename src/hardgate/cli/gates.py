"""`hardgate gates`: runs all gates by Bazel and prints the report, like `//gates:report`."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from pathlib import Path

from hardgate.cli.app import Context
from hardgate.cli.exits import RefusedError
from hardgate.cli.workspace import BAZEL_MARKERS, bazel_root, find_workspace
from hardgate.report.__main__ import main as report

REGISTRY = "gates"


def main(arguments: Sequence[str], context: Context) -> int:
    """The command; all options but --workspace are the report's. Returns its exit code."""
    parser = argparse.ArgumentParser(prog=context.name, add_help=False, allow_abbrev=False)
    parser.add_argument("--workspace")
    options, rest = parser.parse_known_args(list(arguments))
    if "--help" in rest or "-h" in rest:
        return report(["--help"], context.name)
    workspace = find_workspace(options.workspace)
    top = bazel_root(workspace.root)
    if top is None:
        markers = " or ".join(BAZEL_MARKERS)
        message = f"found no {markers} from {workspace.root} upwards, so there is no Bazel to run"
        raise RefusedError(f"{message} the gates; `{context.program} run` runs the cases")
    with contextlib.chdir(top):
        return report([*_folder(top, workspace.root), *rest], context.name, workspace.here)


def _folder(top: Path, root: Path) -> list[str]:
    """The option that names the registry, where it is not in the top folder."""
    return [] if root == top else ["--gates", (root / REGISTRY).relative_to(top).as_posix()]
