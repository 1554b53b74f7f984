"""The schema of `subject`: an agent that is started as a process and watched from outside.

What concerns several keys is checked in `command_rules`, what can be expected of such an agent in
`outside`.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from hardgate.cases.expected import Entry
from hardgate.cases.values import Name, Path
from hardgate.documents.texts import matching

LONGEST_COMMAND = 100
LONGEST_ENVIRONMENT = 100
LONGEST_WORD = 4096
# A test of this size is ended by Bazel after 300 seconds; what is behind the run needs some.
LONGEST_WALL_SECONDS = 200
MOST_OUTPUT_BYTES = 64 * 1024 * 1024
MOST_REQUESTS = 1000
VARIABLE_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*$"

WALL_SECONDS = 30.0
OUTPUT_BYTES = 1024 * 1024

Api = Literal["openai_chat", "openai_responses", "anthropic_messages"]
Told = Literal["events", "effects", "labels"]

Word = Annotated[str, Field(min_length=1, max_length=LONGEST_WORD)]
Variable = Annotated[
    str,
    Field(min_length=1, max_length=100, json_schema_extra={"pattern": VARIABLE_PATTERN}),
    AfterValidator(
        matching(VARIABLE_PATTERN, "case.variable", "a name such as LOG_LEVEL (letters, 0-9, _)")
    ),
]


class CommandLimits(Entry):
    """Upper bounds of the process. Reaching one ends the agent and fails the case."""

    wall_seconds: Annotated[float, Field(gt=0, le=LONGEST_WALL_SECONDS)] = Field(
        default=WALL_SECONDS, description="How long the agent may run."
    )
    output_bytes: Annotated[int, Field(ge=1, le=MOST_OUTPUT_BYTES)] = Field(
        default=OUTPUT_BYTES, description="How much it may write to stdout, and to stderr."
    )
    turns: Annotated[int, Field(ge=1, le=MOST_REQUESTS)] | None = Field(
        default=None,
        description="How many requests of any kind it may send to the provider. Default: the turns "
        "of the script and 20 more.",
    )


class AnswerFile(Entry):
    """A file that the agent writes its answer to."""

    file: Path = Field(
        description="The file, relative to the workspace. It is the answer and counts as a change "
        "of the workspace, too."
    )


def _form_of_answer(value: Any) -> str:
    """Which of the two forms is meant, so that a mistake in one is no complaint about the other."""
    return "file" if isinstance(value, (dict, AnswerFile)) else "word"


AnswerPlace = Annotated[
    Annotated[Literal["stdout", "last_turn", "report"], Tag("word")]
    | Annotated[AnswerFile, Tag("file")],
    Discriminator(_form_of_answer),
]


class CommandSubject(Entry):
    """An agent in any language, started as a process and gated by what it sends and leaves."""

    agent: Name | None = Field(
        default=None,
        description="Which of the agents that the macro or --agent names stands for {agent}. "
        "Default: the one without a name.",
    )
    command: Annotated[tuple[Word, ...], Field(min_length=1, max_length=LONGEST_COMMAND)] = Field(
        default=("{agent}",),
        description="The program and its arguments, without a shell. {agent}, {mcp_config}, "
        "{prompt}, {prompt_file} and {workspace} are replaced, also within a word.",
    )
    prompt: Literal["stdin", "argument", "file"] = Field(
        default="stdin",
        description="How the message gets in: on stdin, in place of {prompt}, or in the file that "
        "{prompt_file} names.",
    )
    api: Api | None = Field(
        default=None,
        description="The API that the agent has to speak. Default: any of the three.",
    )
    environment: Annotated[
        dict[Variable, Annotated[str, Field(max_length=LONGEST_WORD)]],
        Field(max_length=LONGEST_ENVIRONMENT),
    ] = Field(
        default={},
        description="More environment variables. Names that Hardgate sets are refused; one that "
        "is named like a secret may only be not-a-key.",
    )
    answer: AnswerPlace = Field(
        default="stdout",
        description="What the final answer is: what the agent writes to stdout, the text of the "
        "last turn it received, the answer it reports, or a file.",
    )
    limits: CommandLimits = Field(
        default=CommandLimits.model_construct(), description="Upper bounds of the process."
    )
    reports: Annotated[tuple[Told, ...], Field(max_length=3)] = Field(
        default=(),
        description="What the agent promises to report (docs/reference/agent-report.md). Only then "
        "can it be expected, and an agent that does not keep the promise fails the case.",
    )


DEFAULT = CommandSubject.model_construct()
