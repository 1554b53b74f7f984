"""The JSON Schemas of the suite's files: `python -m hardgate.cases.schemas --write DIR`."""

from __future__ import annotations

import sys
from typing import Any

from hardgate.cases.model import Case
from hardgate.documents.problems import Problem
from hardgate.documents.schema_files import FOLDER, DocumentType, run, schema_texts, stale_schemas
from hardgate.documents.shapes import json_schema
from hardgate.documents.tree import Tree
from hardgate.fixtures.model_script import ModelScript
from hardgate.verdicts.schema import verdict_schema

PROGRAM = "python -m hardgate.cases.schemas"


class _Shaped(DocumentType):
    """A file that is read as an Entry."""

    def schema(self) -> dict[str, Any]:
        return json_schema(self.model)


class _Verdict(DocumentType):
    """The file that a test writes."""

    def schema(self) -> dict[str, Any]:
        return verdict_schema()


DOCUMENT_TYPES = (
    _Shaped(
        name="case",
        model=Case,
        title="Hardgate: a case",
        description="A file evals/cases/NN_<name>.yaml: an input, a scripted model, and what a "
        "correct run looks like.",
    ),
    _Shaped(
        name="model_script",
        model=ModelScript,
        title="Hardgate: a model script",
        description="A file evals/fixtures/models/<stem>.yaml: what the model answers, request by "
        "request.",
    ),
    _Verdict(
        name="verdict",
        model=None,
        title="Hardgate: a verdict",
        description="The file verdict.json of a gate or case: its outcome and the evidence for it.",
    ),
)


def schemas() -> dict[str, str]:
    """The text of each schema file of the suite, by file name."""
    return schema_texts(DOCUMENT_TYPES)


def stale(tree: Tree) -> list[Problem]:
    """Schema files of the suite that are missing or differ from what the code says."""
    return stale_schemas(tree, DOCUMENT_TYPES, f"{PROGRAM} --write {FOLDER}")


if __name__ == "__main__":
    sys.exit(run(DOCUMENT_TYPES, PROGRAM, sys.argv[1:]))
