"""The schema of a case file: evals/cases/NN_<name>.yaml.

The schema is closed, and a field checks one value at a time. What concerns several keys, the names
a subject knows or the fixtures is checked in `hardgate.cases.rules`.
"""

from collections.abc import Mapping
from typing import Any

from hardgate.cases.values import DOTTED_NAME, IDENTITY, INSTANT, NAME, STEM, TAG
from hardgate.documents.shapes import (
    AnyMap,
    Choice,
    Entry,
    Many,
    Number,
    OnlyTrue,
    Part,
    Text,
    key,
)

LARGEST_MILESTONE = 99
LARGEST_COUNT = 1000
LONGEST_LIST = 100
LONGEST_TEXT = 10_000
LONGEST_PATTERN = 512

_COUNT = Number(minimum=1, maximum=LARGEST_COUNT, whole=True)
_TEXT = Text(minimum=1, maximum=LONGEST_TEXT)
_NAMES = Many(DOTTED_NAME, minimum=1, maximum=LONGEST_LIST)


class Clock(Entry):
    """The clock of the run. It stands still unless the run waits."""

    start: str = key(INSTANT, "When the run starts.", default="2026-01-01T00:00:00Z")


class Input(Entry):
    """What the user sends."""

    text: str = key(_TEXT, "The user's message.")


class Fixtures(Entry):
    """What stands around the run."""

    tools: tuple[str, ...] | None = key(
        _NAMES,
        "The tools that the session offers. Without this key: all that the subject has.",
        default=None,
    )


class ExpectedCall(Entry):
    """Calls that the model has to propose."""

    name: str = key(DOTTED_NAME, "The tool's name.")
    count: int | None = key(
        _COUNT,
        "The exact number of calls. The counts of all entries of one name together are all calls "
        "of that tool. Without it: at least one.",
        default=None,
    )
    arguments_subset: Mapping[str, Any] | None = key(
        AnyMap(minimum=1),
        "What the arguments have to contain: maps as subsets at every depth, lists item by item, "
        "1 equal to 1.0, true equal to true only. Each call serves one entry.",
        default=None,
    )


class ExpectedEffect(Entry):
    """An irreversible effect that has to have happened."""

    tool: str = key(DOTTED_NAME, "The tool that caused it.")
    watermark: str = key(Choice("set"), "The state of the effect watermark.")
    count: int = key(_COUNT, "The exact number of calls that set it.", default=1)


class Implicit(Entry):
    """Opt-outs from what is checked of every run; one that turns out unneeded fails the case."""

    allow_errored_run: bool | None = key(
        OnlyTrue(),
        "The run may end as failed. Not needed where terminal_status says so.",
        default=None,
    )
    allow_malformed_arguments: bool | None = key(
        OnlyTrue(),
        "The model may propose arguments that are no JSON object or do not fit the tool's schema.",
        default=None,
    )
    allow_invented_tool: bool | None = key(
        OnlyTrue(), "The model may propose a tool that the session does not offer.", default=None
    )


class Expected(Entry):
    """What a correct run looks like. Every key that is given becomes at least one check."""

    terminal_status: str | None = key(
        Text(minimum=1, maximum=40),
        "How the run ends, in lower or in upper case: completed, failed or cancelled.",
        default=None,
    )
    final_text_contains: tuple[str, ...] | None = key(
        Many(_TEXT, minimum=1, maximum=LONGEST_LIST),
        "Texts that the final answer has to contain. Compared on both sides without regard to "
        "case, markdown emphasis (* _ `), commas between groups of digits, and kinds and amounts "
        "of white space.",
        default=None,
    )
    final_text_matches: str | None = key(
        Text(minimum=1, maximum=LONGEST_PATTERN),
        "A regular expression (Python's) found somewhere in the final answer, exactly as the "
        "answer is written.",
        default=None,
    )
    tool_calls: tuple[ExpectedCall, ...] | None = key(
        Many(Part(ExpectedCall), minimum=1, maximum=LONGEST_LIST),
        "The calls that the model has to propose, in any order.",
        default=None,
    )
    forbidden_tool_calls: tuple[str, ...] | None = key(
        _NAMES,
        "Tools that the model must not propose, whatever becomes of the call.",
        default=None,
    )
    no_tools: bool | None = key(OnlyTrue(), "The model proposes no tool call at all.", default=None)
    maximum_steps: int | None = key(
        _COUNT, "The largest number of steps (one model call and its tools).", default=None
    )
    event_order: tuple[str, ...] | None = key(
        _NAMES,
        "Event types that occur in this order; other events may lie between them. A type that is "
        "listed twice has to occur twice.",
        default=None,
    )
    effects: tuple[ExpectedEffect, ...] = key(
        Many(Part(ExpectedEffect), maximum=LONGEST_LIST),
        "The irreversible effects of the run. The default, an empty list, says that there is "
        "none; it is checked of every run.",
        default=(),
    )
    reason_codes: tuple[str, ...] | None = key(
        _NAMES, "Reason codes that outcomes of tool calls have to carry.", default=None
    )
    implicit: Implicit = key(
        Part(Implicit), "Opt-outs from what is checked of every run.", default=Implicit()
    )


class Case(Entry):
    """One case: an input, a scripted model, and what a correct run looks like."""

    name: str = key(NAME, "The file's name after its number; also seeds the run's ids.")
    milestone: int = key(
        Number(minimum=0, maximum=LARGEST_MILESTONE, whole=True),
        "The first milestone at which the case has to pass; until then it is pending.",
    )
    input: Input = key(Part(Input), "What the user sends.")
    model_fixture: str = key(
        STEM, "The script that the model plays: evals/fixtures/models/<this>.yaml."
    )
    expected: Expected = key(Part(Expected), "What a correct run looks like.")
    tags: tuple[str, ...] = key(
        Many(TAG, maximum=LONGEST_LIST), "Words to select cases by.", default=()
    )
    principal: str = key(IDENTITY, "Whose scopes the run has.", default="eval.standard")
    policy_profile: str = key(IDENTITY, "The policy profile that decides.", default="eval.default")
    clock: Clock = key(Part(Clock), "The clock of the run.", default=Clock())
    fixtures: Fixtures = key(Part(Fixtures), "What stands around the run.", default=Fixtures())
