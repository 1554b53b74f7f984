"""The value types of a registry entry; each refusal says what was found and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, Field

from hardgate.documents.confusable import first_not_ascii
from hardgate.documents.safe_path import UnsafePath, relative_inside
from hardgate.documents.validation import refused
from hardgate.documents.wording import quoted

_WORD = "[a-z][a-z0-9_]*"
NAME_PATTERN = f"^{_WORD}$"
RULE_NAME_PATTERN = rf"^{_WORD}(\.{_WORD})*$"
GATE_ID_PATTERN = rf"^gate\.{_WORD}\.{_WORD}$"
SPEC_PATTERN = r"^docs/specs/[^#]+\.md#[^#\s]+$"
CHECK_PATTERN = rf"^(case:{_WORD}|hardgate:{_WORD}|gates/checks/{_WORD}\.py::{_WORD})$"
CORPUS_PATTERN = r"^evals/corpora/[^/]+(/[^/]+)*$"
DEFECT_FOLDER_PATTERN = rf"^gates/defects/{_WORD}/{_WORD}$"
FUNCTION_PATTERN = r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$"
LABEL_PATTERN = r"^(@@?[A-Za-z0-9._+~-]*)?//[A-Za-z0-9._/+~-]*(:[A-Za-z0-9._/+=,@~-]+)?$"

LONGEST_NAME = 100
LONGEST_PATH = 240
LONGEST_PROSE = 2000
FEWEST_WORDS = 3
_PLACEHOLDER = re.compile(
    r"(todo|tbd|tba|fixme|xxx+|wip|placeholder|lorem ipsum|to be (done|decided|defined|written)"
    r"|coming soon|n/a|\.\.\.|…|<[^>]*>)(\W|$)",
    re.IGNORECASE,
)


def path_inside(root: str, rule: str, separator: str = "#") -> Callable[[str], str]:
    """A check that the path before `separator` stays inside the folder `root`, or inside the
    workspace where that is empty."""
    roots = (root,) if root else ()

    def check(text: str) -> str:
        try:
            relative_inside(roots, text.split(separator, 1)[0])
        except UnsafePath as error:
            raise refused(rule, str(error)) from None
        return text

    return check


def matching(pattern: str, rule: str, allowed: str, longest: int) -> Callable[[str], str]:
    """A check that the whole text matches `pattern` and has at most `longest` characters."""
    matches = re.compile(pattern.rstrip("$")).fullmatch

    def check(text: str) -> str:
        if len(text) <= longest and matches(text):
            return text
        strange = first_not_ascii(text)
        remark = f" ({strange})" if strange else ""
        raise refused(rule, f"found {quoted(text)}{remark}; allowed: {allowed}")

    return check


def prose(rule: str) -> Callable[[str], str]:
    """A check that a text says something: no placeholder, at least three words."""

    def check(text: str) -> str:
        words = text.split()
        if _PLACEHOLDER.match(" ".join(words)) or len(words) < FEWEST_WORDS:
            found = quoted(" ".join(words)) if words else "an empty text"
            allowed = f"a sentence of at least {FEWEST_WORDS} words, no placeholder"
            raise refused(rule, f"found {found}; allowed: {allowed}")
        if len(text) > LONGEST_PROSE:
            found = f"a text of {len(text)} characters"
            raise refused("schema.length", f"found {found}; allowed: at most {LONGEST_PROSE}")
        return text

    return check


_ID_ALLOWED = "gate.<area>.<slug>, each of lower-case letters, digits and underscores"
_NAME_ALLOWED = "a name such as missing_await (a-z, 0-9 and _, a letter first)"
_RULE_ALLOWED = "the name of a rule or check, such as layer_order or fixture.unconsumed"
_CHECK_ALLOWED = "gates/checks/<area>.py::<function>, case:<case name> or hardgate:<name>"

GateId = Annotated[
    str,
    AfterValidator(matching(GATE_ID_PATTERN, "id_malformed", _ID_ALLOWED, LONGEST_NAME)),
    Field(json_schema_extra={"pattern": GATE_ID_PATTERN, "maxLength": LONGEST_NAME}),
]
Name = Annotated[
    str,
    AfterValidator(matching(NAME_PATTERN, "name_malformed", _NAME_ALLOWED, LONGEST_NAME)),
    Field(json_schema_extra={"pattern": NAME_PATTERN, "maxLength": LONGEST_NAME}),
]
RuleName = Annotated[
    str,
    AfterValidator(matching(RULE_NAME_PATTERN, "reason_malformed", _RULE_ALLOWED, LONGEST_NAME)),
    Field(json_schema_extra={"pattern": RULE_NAME_PATTERN, "maxLength": LONGEST_NAME}),
]
SpecAnchor = Annotated[
    str,
    AfterValidator(path_inside("docs/specs", "spec_malformed")),
    AfterValidator(
        matching(
            SPEC_PATTERN, "spec_malformed", "docs/specs/<spec>.md#<heading anchor>", LONGEST_PATH
        )
    ),
    Field(json_schema_extra={"pattern": SPEC_PATTERN, "maxLength": LONGEST_PATH}),
]
Check = Annotated[
    str,
    AfterValidator(matching(CHECK_PATTERN, "check_malformed", _CHECK_ALLOWED, LONGEST_PATH)),
    Field(json_schema_extra={"pattern": CHECK_PATTERN, "maxLength": LONGEST_PATH}),
]
CorpusFolder = Annotated[
    str,
    AfterValidator(path_inside("evals/corpora", "corpus_malformed")),
    Field(json_schema_extra={"pattern": CORPUS_PATTERN, "maxLength": LONGEST_PATH}),
]
DefectFolder = Annotated[
    str,
    AfterValidator(path_inside("gates/defects", "tree_malformed")),
    AfterValidator(
        matching(
            DEFECT_FOLDER_PATTERN, "tree_malformed", "gates/defects/<area>/<name>", LONGEST_PATH
        )
    ),
    Field(json_schema_extra={"pattern": DEFECT_FOLDER_PATTERN, "maxLength": LONGEST_PATH}),
]
EditedText = Annotated[str, Field(min_length=1, max_length=LONGEST_PROSE)]
NewText = Annotated[str, Field(max_length=LONGEST_PROSE)]
EditedFile = Annotated[
    str,
    AfterValidator(path_inside("", "path_malformed")),
    Field(json_schema_extra={"maxLength": LONGEST_PATH}),
]
FunctionName = Annotated[
    str,
    AfterValidator(
        matching(
            FUNCTION_PATTERN, "function_malformed", "<module>.<function>, dotted", LONGEST_PATH
        )
    ),
    Field(json_schema_extra={"pattern": FUNCTION_PATTERN, "maxLength": LONGEST_PATH}),
]
Label = Annotated[
    str,
    AfterValidator(
        matching(LABEL_PATTERN, "label_malformed", "a Bazel label such as //src:sources", 200)
    ),
    Field(json_schema_extra={"pattern": LABEL_PATTERN, "maxLength": 200}),
]
Statement = Annotated[
    str,
    AfterValidator(prose("statement_placeholder")),
    Field(json_schema_extra={"minLength": 1, "maxLength": LONGEST_PROSE}),
]
Reason = Annotated[
    str,
    AfterValidator(prose("reason_placeholder")),
    Field(json_schema_extra={"minLength": 1, "maxLength": LONGEST_PROSE}),
]
