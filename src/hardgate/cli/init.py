"""`hardgate init`: a workspace whose first gates pass, to go on from."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from hardgate.cli.app import Context
from hardgate.cli.exits import OK, REFUSED, USAGE, UsageError
from hardgate.cli.init_agent import agent_files
from hardgate.cli.init_files import (
    MODULE,
    declaration,
    gate_files,
    index_repository,
    module_file,
    settings_files,
)
from hardgate.cli.parser import CommandParser
from hardgate.cli.writing import write_all
from hardgate.documents.wording import quoted

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NAME_ALLOWED = "a module's name: a-z, 0-9 and _, a letter first, at most 64 characters"
# Bazel would look for these in the new workspace itself.
_TAKEN = frozenset({"bazel_tools", "hardgate", "platforms", "rules_python"})
_TITLE = "A workspace with gates."


def main(arguments: Sequence[str], context: Context) -> int:
    """The command; returns the exit code."""
    options = _parser(context).parse(arguments)
    here = Path(os.path.abspath(os.environ.get("BUILD_WORKING_DIRECTORY") or os.getcwd()))
    root = here / options.directory
    if root.exists() and not root.is_dir():
        raise UsageError(f"found {options.directory}, which is no folder; allowed: a folder")
    name = _module_name(options.name, root)
    override = _override(options.hardgate, here, root)
    has_module = os.path.lexists(root / MODULE)
    files = dict(agent_files(index_repository(name)) if options.agent else gate_files(name))
    if not has_module:
        files[MODULE] = module_file(name, _TITLE, override)
    # Settings that are there already are somebody's own, and the gates do without ours.
    for path, text in settings_files(override).items():
        if not os.path.lexists(root / path):
            files[path] = text
    write_all(root, files, new=True)
    bazel = "./bazelw" if os.path.lexists(root / "bazelw") else "bazel"
    missing = declaration(name) if has_module else None
    _tell(context, options.json, root, sorted(files), missing, f"{bazel} test //...")
    return OK


def _parser(context: Context) -> CommandParser:
    parser = CommandParser(
        context.name,
        "[DIR] [OPTION...]",
        "Writes a workspace with two gates that pass, each with a counterexample. With --agent it\n"
        "has an agent, a case of it, a gate upon the case and a broken agent instead. Nothing is\n"
        "overwritten, and nothing half written is left behind.",
        "my_gates --agent",
        (OK, USAGE, REFUSED),
        in_workspace=False,
    )
    parser.add_argument("directory", metavar="DIR", nargs="?", default=".", help="default: here")
    parser.add_argument("--agent", action="store_true", help="an agent to replace by your own")
    parser.add_argument("--name", metavar="NAME", help="the module; default: the folder's name")
    parser.add_argument(
        "--hardgate", metavar="DIR", help="Hardgate's sources; default: the version of a registry"
    )
    return parser


def _module_name(given: str | None, root: Path) -> str:
    name = given if given is not None else re.sub(r"[^a-z0-9_]", "_", root.resolve().name.lower())
    if _NAME.fullmatch(name) and name not in _TAKEN:
        return name
    found = f"--name: found {quoted(name)}" if given is not None else f"found a folder {root.name}"
    taken = ", the name of another module" if name in _TAKEN else ""
    hint = "" if given is not None else "; give one with --name"
    raise UsageError(f"{found}{taken}; allowed: {_NAME_ALLOWED}{hint}")


def _override(given: str | None, here: Path, root: Path) -> str | None:
    """The folder of Hardgate's sources as MODULE.bazel names it: relative to the new workspace."""
    if given is None:
        return None
    sources = here / given
    if not (sources / "tools" / "extensions.bzl").is_file():
        raise UsageError(f"--hardgate: found {given}; allowed: the top folder of Hardgate")
    relative = os.path.relpath(sources.resolve(), root.resolve())
    if not relative.isprintable() or '"' in relative or "\\" in relative:
        raise UsageError(f"--hardgate: found {quoted(relative)}; allowed: a path without quotes")
    return relative


def _tell(
    context: Context,
    as_json: bool,
    root: Path,
    written: list[str],
    missing: str | None,
    following: str,
) -> None:
    """What was written, what is left to do by hand, and the command to try next."""
    if as_json:
        context.console.json(
            {
                "schema_version": 1,
                "ok": True,
                "root": str(root),
                "written": written,
                "add_to_module": missing,
                "next": following,
            }
        )
        return
    lines = [f"wrote {path}" for path in written]
    if missing is not None:
        lines += ["", f"{MODULE} is yours: add bazel_dep(name = \"hardgate\", ...) and", missing]
    context.console.result("\n".join([*lines, "", f"next: {following}"]))
