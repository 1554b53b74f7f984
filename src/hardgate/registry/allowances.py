"""Lines in which a scan for secrets may find something all the same: gates/allowances/*.yaml."""

from __future__ import annotations

import hashlib
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hardgate.documents.problems import DefinitionError, Problem
from hardgate.documents.safe_path import UnsafePath, relative_inside
from hardgate.documents.strict_yaml import load
from hardgate.documents.tree import Tree
from hardgate.documents.validation import refused, validate_list
from hardgate.registry.grammar import LONGEST_PATH, LONGEST_PROSE, RuleName, matching, prose

ALLOWANCE_FILES = "gates/allowances/*.yaml"
_DIGEST = "^[0-9a-f]{64}$"
_DIGEST_ALLOWED = "the SHA-256 of the line without its end, in 64 digits of 0-9 and a-f"


def _inside(text: str) -> str:
    try:
        return relative_inside((), text)
    except UnsafePath as error:
        raise refused("path_malformed", str(error)) from None


class Allowance(BaseModel):
    """One line of one file in which one rule may find something."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    path: Annotated[
        str, AfterValidator(_inside), Field(json_schema_extra={"maxLength": LONGEST_PATH})
    ] = Field(description="The file, relative to the workspace.")
    rule: RuleName = Field(description="What finds something there, such as assigned_secret.")
    line_sha256: Annotated[
        str,
        AfterValidator(matching(_DIGEST, "digest_malformed", _DIGEST_ALLOWED, 64)),
        Field(json_schema_extra={"pattern": _DIGEST}),
    ] = Field(description="The SHA-256 of the line, so that it may move but not change.")
    reason: Annotated[
        str,
        AfterValidator(prose("allowance_reason")),
        Field(json_schema_extra={"minLength": 1, "maxLength": LONGEST_PROSE}),
    ] = Field(description="Why that line is no secret, in a sentence.")

    def allows(self, path: str, rule: str, line: str) -> bool:
        """Whether this is the line. It is known by its digest, so it may move but not change."""
        return (path, rule) == (self.path, self.rule) and self.line_sha256 == line_digest(line)


def line_digest(line: str) -> str:
    """The SHA-256 of a line without its end, in hexadecimal digits."""
    return hashlib.sha256(line.encode("utf-8")).hexdigest()


def read_allowances(tree: Tree, path: str) -> tuple[dict[Allowance, int], list[Problem]]:
    """The allowances of a file with their lines, and what is wrong with others.

    Without a file there are none.
    """
    if not tree.exists(path):
        return {}, []
    try:
        document = load(path, tree.read(path))
    except DefinitionError as error:
        return {}, list(error.problems)
    found, problems = validate_list(document, Allowance)
    return {one: document.position((index,))[0] for index, one in found.items()}, problems
