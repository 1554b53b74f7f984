"""The schema of a case file: evals/cases/NN_<name>.yaml.

The schema is closed, and a field checks one value at a time. What concerns several keys, the names
a subject knows or the fixtures is checked in `rules`, `names` and `needs` of this package.
"""

from typing import Annotated, Literal

from pydantic import Field

from hardgate.cases.command import CommandSubject
from hardgate.cases.expected import Entry, Expected
from hardgate.cases.values import (
    LONGEST_LIST,
    Count,
    CountFromZero,
    DottedName,
    Duration,
    Identity,
    Instant,
    Name,
    Stem,
    Tag,
    Text,
    Texts,
    ToolName,
    ToolNames,
    Trigger,
)

LARGEST_MILESTONE = 99
LARGEST_BUDGET = 1_000_000_000
ARMS = 2

Budget = Annotated[int, Field(ge=1, le=LARGEST_BUDGET)]
Stems = Annotated[tuple[Stem, ...], Field(min_length=1, max_length=LONGEST_LIST)]


class Clock(Entry):
    """The clock of the run. It moves only where the case says so."""

    start: Instant = Field(default="2026-01-01T00:00:00Z", description="When the run starts.")
    advance_on_step: Duration | None = Field(
        default=None,
        description="How far the clock moves at the start of each step after the first.",
    )


class Input(Entry):
    """What the user sends: one message, or several, one after the other, in one conversation."""

    text: Text | None = Field(default=None, description="The user's message.")
    turns: Texts | None = Field(
        default=None,
        description="The user's messages; each is sent when the run before has completed.",
    )


class RunLimits(Entry):
    """Upper bounds of a run; without a key, the subject's own default. Passing one ends the run."""

    max_steps: Count | None = Field(default=None, description="How many steps.")
    max_model_calls: Count | None = Field(
        default=None, description="Model calls, failed attempts included."
    )
    max_tool_calls: CountFromZero | None = Field(default=None, description="How many tool calls.")
    max_input_tokens: Budget | None = Field(default=None, description="Tokens of all requests.")
    max_output_tokens: Budget | None = Field(default=None, description="Tokens of all answers.")
    max_cost_micros: Budget | None = Field(
        default=None, description="Cost, in millionths of the currency of the price list."
    )
    deadline_seconds: Annotated[float, Field(gt=0, le=LARGEST_BUDGET)] | None = Field(
        default=None, description="Time from the submission on, by the clock of the case."
    )


class Fixtures(Entry):
    """What stands around the run."""

    tools: ToolNames | None = Field(
        default=None,
        description="The tools that the session offers. Without this key: all that the subject "
        "has.",
    )
    tool_results: Stem | None = Field(
        default=None,
        description="Results that tools give instead of running: evals/fixtures/tools/<this>.yaml.",
    )
    workspace: Stem | None = Field(
        default=None,
        description="The files the run starts with: all below evals/fixtures/workspaces/<this>/. "
        "Without this key the workspace is empty.",
    )
    judge: Stem | None = Field(
        default=None,
        description="The scripted judge of expected.judge: evals/fixtures/judges/<this>.yaml.",
    )
    run_limits: RunLimits = Field(
        default=RunLimits.model_construct(), description="Upper bounds of each run."
    )
    compact_at_tokens: Budget | None = Field(
        default=None, description="The size of a conversation from which it is summarized."
    )
    mcp_servers: Stems | None = Field(
        default=None, description="Scripted MCP servers: evals/fixtures/mcp/<this>.yaml."
    )
    skills: Stems | None = Field(default=None, description="Skill packages that are installed.")


class Where(Entry):
    """Which of several events of one type triggers an intervention."""

    tool: ToolName | None = Field(default=None, description="The tool that it is about.")
    call_id: Text | None = Field(default=None, description="The authored id of the call.")
    step: Count | None = Field(default=None, description="The number of the step, from 1.")


class Reconnect(Entry):
    """How a client that was disconnected comes back."""

    after: DottedName | Literal["immediately"] = Field(
        description="immediately, or the type of the event that it waits for."
    )
    last_event_id: Literal["last_seen"] | CountFromZero = Field(
        description="last_seen, or the sequence number of the event it claims to have seen last."
    )


class Intervention(Entry):
    """Something that somebody does while the run goes on. One that never fires fails the case."""

    at: Trigger = Field(
        description="What triggers it: an event type, before_effect or after_effect, or "
        "pipeline.<step>.before or .after; approval_requested and user_input_requested are other "
        "names of approval.requested and run.waiting_for_user."
    )
    action: Literal["approve", "deny", "cancel", "kill_worker", "answer", "disconnect"] = Field(
        description="What is done."
    )
    actor: Identity | None = Field(
        default=None, description="Who approves or denies; eval.approver where it is left out."
    )
    text: Text | None = Field(default=None, description="What is answered.")
    occurrence: Count = Field(default=1, description="At which of the triggers, counted from 1.")
    where: Where | None = Field(default=None, description="Which triggers count.")
    reconnect: Reconnect | None = Field(
        default=None, description="How a disconnected client comes back."
    )


class Session(Entry):
    """What happens to a long session between its turns (see input.turns)."""

    advance_seconds: Budget | None = Field(
        default=None, description="How far the clock moves between two turns."
    )
    prompt_padding_bytes: Budget | None = Field(
        default=None, description="How many bytes are added to each message."
    )
    revoke_scope: Identity | None = Field(
        default=None, description="A scope that the principal loses."
    )
    revoke_scope_turn: Count | None = Field(default=None, description="Before which turn.")
    memory_write_turn: Count | None = Field(
        default=None, description="The turn before which a memory is written."
    )
    memory_correction_turn: Count | None = Field(
        default=None, description="The turn before which that memory is corrected."
    )


class Arm(Entry):
    """One of two ways to run the case: what it says replaces what the case says, key by key."""

    name: Name = Field(description="The arm's name, shown with each of its failures.")
    expected: Expected = Field(description="What a correct run of this arm looks like.")
    input: Input | None = Field(
        default=None, description="What the user sends, where the case itself does not say it."
    )
    model_fixture: Stem | None = Field(default=None, description="The script the model plays.")
    principal: Identity | None = Field(default=None, description="Whose scopes the run has.")
    policy_profile: Identity | None = Field(default=None, description="The policy profile.")
    clock: Clock | None = Field(default=None, description="The clock of the run.")
    fixtures: Fixtures | None = Field(default=None, description="What stands around the run.")
    carry: Annotated[tuple[Literal["memory", "skills"], ...], Field(max_length=LONGEST_LIST)] = (
        Field(
            default=(),
            description="What this arm keeps from the one before; everything else is new.",
        )
    )


Relation = Literal["same", "improves", "not_worse"]


class Delta(Entry):
    """How the second arm compares with the first."""

    outcome: Relation | None = Field(
        default=None, description="How the run ended: completed is better than failed or cancelled."
    )
    policy_failures: Relation | None = Field(
        default=None, description="How often the policy refused something: fewer is better."
    )


class Case(Entry):
    """One case: an input, a scripted model, and what a correct run looks like."""

    name: Name = Field(description="The file's name after its number; also seeds the run's ids.")
    milestone: Annotated[int, Field(ge=0, le=LARGEST_MILESTONE)] = Field(
        description="The first milestone at which the case has to pass; until then it is pending."
    )
    source: Literal["authored", "trajectory"] = Field(
        default="authored",
        description="Whether somebody wrote the case or it was made from a recorded run.",
    )
    source_export_id: Text | None = Field(
        default=None, description="With source trajectory: the id of the export."
    )
    reviewed_by: Text | None = Field(
        default=None, description="With source trajectory: who read the case before it was kept."
    )
    tags: Annotated[tuple[Tag, ...], Field(max_length=LONGEST_LIST)] = Field(
        default=(), description="Words to select cases by."
    )
    subject: CommandSubject | None = Field(
        default=None,
        description="An agent that is started as a process. Default: the runtime that is mounted, "
        "or, where there is none, {agent} with all its defaults.",
    )
    agent_id: Name = Field(default="general", description="The agent that runs.")
    principal: Identity = Field(default="eval.standard", description="Whose scopes the run has.")
    policy_profile: Identity = Field(
        default="eval.default", description="The policy profile that decides."
    )
    clock: Clock = Field(default=Clock.model_construct(), description="The clock of the run.")
    input: Input | None = Field(default=None, description="What the user sends.")
    model_fixture: Stem | None = Field(
        default=None,
        description="The script that the model plays: evals/fixtures/models/<this>.yaml.",
    )
    fixtures: Fixtures = Field(
        default=Fixtures.model_construct(), description="What stands around the run."
    )
    interventions: Annotated[tuple[Intervention, ...], Field(max_length=LONGEST_LIST)] = Field(
        default=(), description="What somebody does while the run goes on."
    )
    session: Session | None = Field(
        default=None, description="What happens to the session between its turns."
    )
    expected: Expected | None = Field(
        default=None, description="What a correct run looks like. A case has this or arms."
    )
    arms: Annotated[tuple[Arm, ...], Field(min_length=ARMS, max_length=ARMS)] | None = Field(
        default=None,
        description="Two ways to run the case, in this order, each in its own session.",
    )
    delta: Delta | None = Field(
        default=None, description="With arms: how the second compares with the first."
    )
