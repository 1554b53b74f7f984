"""`hardgate schemas`: the JSON Schemas by which editors check definitions as they are written."""

from __future__ import annotations

from collections.abc import Sequence

from hardgate.cases.schemas import schemas as suite_schemas
from hardgate.cli.app import Context
from hardgate.cli.console import many
from hardgate.cli.exits import OK, REFUSED, USAGE
from hardgate.cli.parser import CommandParser
from hardgate.cli.workspace import find_workspace
from hardgate.cli.writing import write_all
from hardgate.documents.schema_files import FOLDER
from hardgate.registry.schemas import schemas as registry_schemas

DESCRIPTION = f"""\
Writes the JSON Schemas of cases, fixtures and the registry to {FOLDER}, over those
that are there. `hardgate new` names them in the first line of what it writes, where editors look
for them, and `hardgate doctor` says when they are stale."""


def main(arguments: Sequence[str], context: Context) -> int:
    """The command; returns the exit code."""
    words = "[--workspace DIR] [--json]"
    codes = (OK, USAGE, REFUSED)
    options = CommandParser(context.name, words, DESCRIPTION, "--json", codes).parse(arguments)
    workspace = find_workspace(options.workspace)
    texts = {**suite_schemas(), **registry_schemas()}
    files = {f"{FOLDER}/{name}": text for name, text in sorted(texts.items())}
    write_all(workspace.root, files)
    if options.json:
        context.console.json({"schema_version": 1, "ok": True, "written": list(files)})
    else:
        context.console.result(f"wrote {many(len(files), 'schema')} to {FOLDER}")
    return OK
