"""The schema of `expected`: what a correct run looks like.

Every key that is given becomes at least one check. Some keys have a second name, kept from an
earlier harness; a case uses either.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from hardgate.cases.values import (
    LONGEST_LIST,
    LONGEST_TEXT,
    Count,
    CountFromZero,
    DottedName,
    Name,
    Names,
    OnlyTrue,
    Path,
    Sha256,
    Text,
    Texts,
    ToolName,
    ToolNames,
)

LONGEST_PATTERN = 512
LARGEST_COUNTER = 1_000_000_000

TrustLevel = Literal[
    "platform",
    "trusted_configuration",
    "user",
    "internal_tool",
    "memory",
    "knowledge",
    "external_untrusted",
]


class Entry(BaseModel):
    """A closed map of a case. Built when the first case is read, all maps in one go."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class ExpectedCall(Entry):
    """Calls that the model has to propose. Each call serves one entry."""

    name: ToolName = Field(description="The tool's name.")
    count: Count | None = Field(
        default=None,
        description="The exact number of calls. The counts of all entries of one tool together are "
        "all calls of that tool. Without any count: at least one call.",
    )
    min_count: Count | None = Field(
        default=None, description="The least number of calls, instead of `count`."
    )
    max_count: Count | None = Field(
        default=None,
        description="The largest number of calls, instead of `count`, and still at least one; "
        "those of all entries of one tool together bound all calls of that tool.",
    )
    arguments_subset: Annotated[dict[str, Any], Field(min_length=1)] | None = Field(
        default=None,
        description="What the arguments have to contain: maps as subsets at every depth, lists "
        "item by item, 1 equal to 1.0, true equal to true only.",
    )
    reason_code: DottedName | None = Field(
        default=None, description="The reason code that the outcome of the call has to carry."
    )


class ExpectedArgument(Entry):
    """An argument that some call of a tool has to have; one call meets all that is said here."""

    tool: ToolName = Field(description="The tool's name.")
    key: Text = Field(description="The argument's name, at the top of the arguments.")
    equals: Any = Field(
        default=None,
        description="The value. A text also equals a value that is written like it: '1' equals 1.",
    )
    contains: Text | None = Field(
        default=None,
        description="A text that the value, written as a text, contains, whatever its case.",
    )
    subset: Any = Field(
        default=None,
        description="What the value contains: maps as subsets at every depth, lists item by item.",
    )


class ExpectedEffect(Entry):
    """What became of the effect watermarks of a tool's calls."""

    tool: ToolName = Field(description="The tool's name.")
    watermark: Literal["set", "clear"] = Field(
        description="set: the call may have had its effect. clear: the call was started and has "
        "certainly had none."
    )
    count: Count = Field(default=1, description="The exact number of such calls.")


class ExpectedFiles(Entry):
    """What a run changes in its workspace, compared with the files it was given."""

    created: tuple[Path, ...] = Field(
        default=(), max_length=LONGEST_LIST, description="Files that are new."
    )
    changed: tuple[Path, ...] = Field(
        default=(), max_length=LONGEST_LIST, description="Files with another content."
    )
    removed: tuple[Path, ...] = Field(
        default=(), max_length=LONGEST_LIST, description="Files that are gone."
    )


class EventFilter(Entry):
    """An event, told apart from others of its type by what it is about."""

    event: DottedName = Field(description="The type of the event.")
    tool: ToolName | None = Field(default=None, description="The tool that it is about.")
    call_id: Text | None = Field(default=None, description="The authored id of the call.")
    step: Count | None = Field(default=None, description="The number of the step, from 1.")


class ExpectedArtifact(Entry):
    """An artifact that the run produces."""

    name: Text = Field(description="Its file name.")
    media_type: Text | None = Field(default=None, description="Its media type.")
    sha256: Sha256 | None = Field(default=None, description="The hash of its bytes.")
    contains: Text | None = Field(default=None, description="A text that it contains.")


class ExpectedSpan(Entry):
    """Pieces of the conversation, and the labels that each of them has to carry."""

    item: Name = Field(description="The kind of the pieces, such as user_message or tool_result.")
    tool: ToolName | None = Field(default=None, description="The tool that gave the result.")
    call_id: Text | None = Field(default=None, description="The authored id of the call.")
    level: TrustLevel = Field(description="The level of trust.")
    private: bool | None = Field(default=None, description="Whether the content is private.")


class Taint(Entry):
    """What the conversation holds at its end; a key that is left out is not checked."""

    private: bool | None = Field(default=None, description="Whether it holds private content.")
    untrusted: bool | None = Field(
        default=None, description="Whether it holds content that somebody from outside wrote."
    )


class Implicit(Entry):
    """Opt-outs from what is checked of every run; one that turns out unneeded fails the case."""

    allow_errored_run: OnlyTrue | None = Field(
        default=None,
        description="The run may end as failed. Not needed where terminal_status, failure_reason "
        "or stop_cause say so.",
    )
    allow_malformed_arguments: OnlyTrue | None = Field(
        default=None,
        description="The model may propose arguments that are no JSON object or do not fit the "
        "tool's schema.",
    )
    allow_invented_tool: OnlyTrue | None = Field(
        default=None, description="The model may propose a tool that the session does not offer."
    )


ALIASES: Mapping[str, str] = {
    "contains": "final_text_contains",
    "not_contains": "final_text_not_contains",
    "contains_any": "final_text_contains_any",
    "forbid_tools": "forbidden_tool_calls",
    "max_turns": "maximum_steps",
    "min_compactions": "minimum_compactions",
    "error_code": "failure_reason",
}


def _with_aliases(schema: dict[str, Any]) -> None:
    """Adds the second names to the JSON Schema, for editors."""
    properties = schema["properties"]
    for alias, name in ALIASES.items():
        properties[alias] = {**properties[name], "description": f"Another name of {name}."}


class Expected(Entry):
    """What a correct run looks like. Every key that is given becomes at least one check."""

    model_config = ConfigDict(json_schema_extra=_with_aliases)

    aliases: ClassVar[Mapping[str, str]] = ALIASES

    terminal_status: Annotated[str, Field(min_length=1, max_length=40)] | None = Field(
        default=None,
        description="How the run ends, in lower or in upper case: completed, failed or cancelled.",
    )
    failure_reason: Name | None = Field(
        default=None, description="Why the run failed, such as max_steps_exceeded."
    )
    stop_cause: (
        Literal["completed", "interrupted", "max_turns", "output_token_budget", "cost_budget"]
        | None
    ) = Field(
        default=None,
        description="Why the run stopped: it completed, was cancelled (interrupted), reached its "
        "step limit (max_turns), or used up its budget of output tokens or of cost.",
    )
    final_text: Annotated[str, Field(max_length=LONGEST_TEXT)] | None = Field(
        default=None, description="The final answer, exactly."
    )
    final_text_contains: Texts | None = Field(
        default=None,
        description="Texts that the final answer has to contain, each of them. Compared on both "
        "sides without regard to case, markdown emphasis (asterisks, underscores, backticks), "
        "commas between groups of digits, and kinds and amounts of white space.",
    )
    final_text_not_contains: Texts | None = Field(
        default=None,
        description="Texts that the final answer must not contain, compared likewise.",
    )
    final_text_contains_any: Texts | None = Field(
        default=None,
        description="Texts of which the final answer has to contain at least one, compared "
        "likewise.",
    )
    final_text_matches: Annotated[str, Field(min_length=1, max_length=LONGEST_PATTERN)] | None = (
        Field(
            default=None,
            description="A regular expression (Python's) found somewhere in the final answer, "
            "exactly as the answer is written.",
        )
    )
    tools: ToolNames | None = Field(
        default=None,
        description="Tools that the model has to propose, in any order: one listed n times has to "
        "be proposed at least n times.",
    )
    tools_in_order: ToolNames | None = Field(
        default=None,
        description="Tools that the model has to propose in this order; other calls may lie "
        "between them.",
    )
    tool_calls: (
        Annotated[tuple[ExpectedCall, ...], Field(min_length=1, max_length=LONGEST_LIST)] | None
    ) = Field(default=None, description="Calls that the model has to propose, in any order.")
    args: (
        Annotated[tuple[ExpectedArgument, ...], Field(min_length=1, max_length=LONGEST_LIST)] | None
    ) = Field(default=None, description="Arguments that some call has to have.")
    forbidden_tool_calls: ToolNames | None = Field(
        default=None,
        description="Tools that the model must not propose, whatever becomes of the call.",
    )
    no_tools: OnlyTrue | None = Field(
        default=None, description="The model proposes no tool call at all."
    )
    tool_started_count: CountFromZero | None = Field(
        default=None, description="The exact number of tool calls that were started."
    )
    ended_on_failed_call: bool | None = Field(
        default=None,
        description="Whether the run completed although the last call that was executed failed; "
        "calls that were denied or never started do not count.",
    )
    maximum_steps: Count | None = Field(
        default=None, description="The largest number of steps (one model turn and its tools)."
    )
    maximum_model_calls: Count | None = Field(
        default=None, description="The largest number of model calls, failed attempts included."
    )
    maximum_tool_calls: CountFromZero | None = Field(
        default=None, description="The largest number of tool calls."
    )
    model_calls: Count | None = Field(
        default=None, description="The exact number of model calls, failed attempts included."
    )
    event_order: (
        Annotated[
            tuple[DottedName | EventFilter, ...], Field(min_length=1, max_length=LONGEST_LIST)
        ]
        | None
    ) = Field(
        default=None,
        description="Events that occur in this order; other events may lie between them. What is "
        "listed twice has to occur twice.",
    )
    effects: Annotated[tuple[ExpectedEffect, ...], Field(max_length=LONGEST_LIST)] = Field(
        default=(),
        description="The irreversible effects of the run. The default, an empty list, says that "
        "there is none; it is checked of every run.",
    )
    workspace: ExpectedFiles = Field(
        default=ExpectedFiles.model_construct(),
        description="What the run changes in its workspace. Without it nothing may change; it is "
        "checked of every run.",
    )
    reason_codes: Names | None = Field(
        default=None, description="Reason codes that outcomes of tool calls have to carry."
    )
    approval_requested: bool | None = Field(
        default=None, description="Whether an approval is requested at all."
    )
    pending_approvals: CountFromZero | None = Field(
        default=None, description="The exact number of approvals that wait at the end."
    )
    blocked_sends: CountFromZero | None = Field(
        default=None,
        description="The exact number of outbound calls refused because the conversation holds "
        "both private and untrusted content.",
    )
    taint: Taint | None = Field(default=None, description="What the conversation holds at its end.")
    trust: (
        Annotated[tuple[ExpectedSpan, ...], Field(min_length=1, max_length=LONGEST_LIST)] | None
    ) = Field(default=None, description="The labels of pieces of the conversation.")
    distinct_prefixes: Count | None = Field(
        default=None,
        description="The exact number of different prefixes in all model requests (by "
        "prefix_sha256).",
    )
    minimum_compactions: Count | None = Field(
        default=None, description="The least number of times the conversation is summarized."
    )
    artifacts: (
        Annotated[tuple[ExpectedArtifact, ...], Field(min_length=1, max_length=LONGEST_LIST)] | None
    ) = Field(default=None, description="Artifacts that the run produces.")
    metrics: (
        Annotated[
            dict[Name, Annotated[int, Field(ge=0, le=LARGEST_COUNTER)]],
            Field(min_length=1, max_length=LONGEST_LIST),
        ]
        | None
    ) = Field(default=None, description="Counters by name, each with its exact value.")
    absent_strings: Texts | None = Field(
        default=None,
        description="Texts that stand nowhere in the final answer and nowhere in the event log, "
        "exactly as they are written.",
    )
    judge: Text | None = Field(
        default=None,
        description="What a judge has to find in the answer, written as the condition for passing. "
        "Needs the scripted judge fixtures.judge.",
    )
    verify: Text | None = Field(
        default=None,
        description="A shell command that exits with 0 in the workspace after the run.",
    )
    implicit: Implicit = Field(
        default=Implicit.model_construct(),
        description="Opt-outs from what is checked of every run.",
    )
