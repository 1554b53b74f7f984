"""The JSON Schemas of the registry's files: `python -m hardgate.registry.schemas --write DIR`."""

from __future__ import annotations

import sys

from hardgate.documents.problems import Problem
from hardgate.documents.schema_files import (
    FOLDER,
    DocumentType,
    run,
    schema_texts,
    stale_schemas,
)
from hardgate.documents.tree import Tree
from hardgate.registry.allowances import Allowance
from hardgate.registry.models import Gate, RetiredGate
from hardgate.registry.quarantine import Quarantined

PROGRAM = "python -m hardgate.registry.schemas"

DOCUMENT_TYPES = (
    DocumentType(
        name="gates",
        model=list[Gate],
        title="Hardgate: gates of one area",
        description="A file gates/<area>.yaml: a list of gates.",
    ),
    DocumentType(
        name="retired",
        model=list[RetiredGate],
        title="Hardgate: retired gates",
        description="The file gates/retired.yaml: gates that were removed on purpose.",
    ),
    DocumentType(
        name="allowances",
        model=list[Allowance],
        title="Hardgate: lines that are no secrets",
        description="A file of gates/allowances: lines in which a scan may find something.",
    ),
    DocumentType(
        name="quarantine",
        model=list[Quarantined],
        title="Hardgate: quarantine",
        description="The file evals/quarantine.yaml: tests that do not block for 14 days.",
    ),
)


def schemas() -> dict[str, str]:
    """The text of each schema file of the registry, by file name."""
    return schema_texts(DOCUMENT_TYPES)


def stale(tree: Tree) -> list[Problem]:
    """Schema files of the registry that are missing or differ from what the models say."""
    return stale_schemas(tree, DOCUMENT_TYPES, f"{PROGRAM} --write {FOLDER}")


if __name__ == "__main__":
    sys.exit(run(DOCUMENT_TYPES, PROGRAM, sys.argv[1:]))
