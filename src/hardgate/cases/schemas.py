"""The JSON Schemas of the suite's files: `python -m hardgate.cases.schemas --write DIR`."""

from __future__ import annotations

import sys
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import NullableSchema, WithDefaultSchema

from hardgate.cases.model import Case
from hardgate.cases.volatile import VolatileField
from hardgate.documents.problems import Problem
from hardgate.documents.schema_files import FOLDER, DocumentType, run, schema_texts, stale_schemas
from hardgate.documents.tree import Tree
from hardgate.fixtures.judge import ScriptedJudge
from hardgate.fixtures.mcp_server import McpServer
from hardgate.fixtures.model_script import ModelScript
from hardgate.fixtures.tool_results import ToolResults
from hardgate.verdicts.schema import verdict_schema

PROGRAM = "python -m hardgate.cases.schemas"


class _WithoutNull(GenerateJsonSchema):
    """A key that may be left out may not be null: the loader refuses it."""

    def nullable_schema(self, schema: NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        inner = super().default_schema(schema)
        # The default of a map is what its own keys say.
        if isinstance(inner.get("default"), (dict, type(None))):
            inner.pop("default", None)
        return inner


class _Suite(DocumentType):
    """A file of the suite, see `hardgate.documents.validation.validate_without_nulls`."""

    def schema(self) -> dict[str, Any]:
        return TypeAdapter(self.model).json_schema(schema_generator=_WithoutNull)


class _Verdict(DocumentType):
    """The file that a test writes."""

    def schema(self) -> dict[str, Any]:
        return verdict_schema()


DOCUMENT_TYPES = (
    _Suite(
        name="case",
        model=Case,
        title="Hardgate: a case",
        description="A file evals/cases/NN_<name>.yaml: an input, a scripted model, and what a "
        "correct run looks like.",
    ),
    _Suite(
        name="model_script",
        model=ModelScript,
        title="Hardgate: a model script",
        description="A file evals/fixtures/models/<stem>.yaml: what the model answers, request by "
        "request.",
    ),
    _Suite(
        name="tool_results",
        model=ToolResults,
        title="Hardgate: recorded tool results",
        description="A file evals/fixtures/tools/<stem>.yaml: results that tools give instead of "
        "running.",
    ),
    _Suite(
        name="judge",
        model=ScriptedJudge,
        title="Hardgate: a scripted judge",
        description="A file evals/fixtures/judges/<stem>.yaml: the verdict of a judge for each "
        "answer.",
    ),
    _Suite(
        name="mcp_server",
        model=McpServer,
        title="Hardgate: a scripted MCP server",
        description="A file evals/fixtures/mcp/<stem>.yaml: the tools that a server offers, what "
        "they answer, and what goes wrong.",
    ),
    _Suite(
        name="volatile_fields",
        model=list[VolatileField],
        title="Hardgate: the volatile fields",
        description="The file evals/volatile_fields.yaml: what may differ between two runs of one "
        "case.",
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
