"""What cannot be seen of an agent that is a process is refused, unless the agent reports it."""

import re
from pathlib import Path

import pytest

from hardgate.cases import outside
from hardgate.cases.command import DEFAULT
from hardgate.cases.expected import Expected
from hardgate.cases.loader import load_case
from hardgate.cases.model import Case, Fixtures
from hardgate.cases.names import name_problems

GUIDE = Path("docs/guide/your-agent.md")
PATH = "evals/cases/01_sample.yaml"
HEAD = """\
name: sample
milestone: 0
model_fixture: hello
"""
INPUT = "input: {text: Hello?}\n"
EXPECTED = "expected: {terminal_status: completed}\n"


def problems(text):
    loaded = load_case(PATH, text.encode())
    found = outside.outside_problems(loaded.case, loaded.document)
    return [problem.render().removeprefix(f"{PATH}:") for problem in found]


def about_expected(expected, subject="{}"):
    return problems(f"{HEAD}{INPUT}subject: {subject}\nexpected: {{{expected}}}\n")


def test_every_key_of_expected_is_seen_or_needs_something():
    assert outside.SEEN | outside.NEEDS.keys() == set(Expected.model_fields)
    assert not outside.SEEN & outside.NEEDS.keys()


def test_every_key_of_a_case_is_obeyed_or_refused():
    obeyed = {
        "name", "milestone", "source", "source_export_id", "reviewed_by", "tags", "subject",
        "input", "model_fixture", "fixtures", "expected", "arms", "delta",
    }  # fmt: skip
    assert obeyed | outside._CASE_KEYS.keys() == set(Case.model_fields)
    assert {"workspace", "judge", "mcp_servers"} | outside._FIXTURE_KEYS.keys() == set(
        Fixtures.model_fields
    )


NEVER = {
    "tool_started_count": "tool_started_count: 1",
    "reason_codes": "reason_codes: [tool.succeeded]",
    "pending_approvals": "pending_approvals: 0",
    "blocked_sends": "blocked_sends: 0",
    "distinct_prefixes": "distinct_prefixes: 1",
    "artifacts": "artifacts: [{name: a}]",
    "metrics": "metrics: {a_total: 1}",
}
REPORTED = {
    "effects": ("effects: [{tool: send, watermark: set}]", "effects"),
    "taint": ("taint: {untrusted: true}", "labels"),
    "trust": ("trust: [{item: tool_result, level: user}]", "labels"),
    "approval_requested": ("approval_requested: true", "events"),
    "minimum_compactions": ("minimum_compactions: 1", "events"),
}


def test_the_tables_below_are_whole():
    needed = {name: one.report for name, one in outside.NEEDS.items()}
    assert needed == dict.fromkeys(NEVER) | {name: one[1] for name, one in REPORTED.items()}


@pytest.mark.parametrize(("key", "text"), NEVER.items())
def test_what_no_agent_can_report(key, text):
    (found,) = about_expected(text, "{reports: [events, effects, labels]}")
    assert found == (
        f"6:12: case.not_observable: found '{key}', which cannot be observed from outside: leave "
        "it out, an agent cannot report it either"
    )


@pytest.mark.parametrize(("key", "text", "report"), [(k, *v) for k, v in REPORTED.items()])
def test_what_an_agent_has_to_report(key, text, report):
    (found,) = about_expected(text)
    assert found == (
        f"6:12: case.not_observable: found '{key}', which cannot be observed from outside: have "
        f"the agent report {report} (docs/reference/agent-report.md) and say so in subject.reports"
    )
    others = sorted({"events", "effects", "labels"} - {report})
    assert len(about_expected(text, f"{{reports: {others}}}".replace("'", ""))) == 1
    assert about_expected(text, f"{{reports: [{report}]}}") == []


@pytest.mark.parametrize(
    ("text", "subject", "place", "words"),
    [
        ("stop_cause: max_turns", "{}", "6:24", "allowed: completed"),
        ("ended_on_failed_call: true", "{}", "6:12", "subject.api anthropic_messages"),
        ("ended_on_failed_call: true", "{api: openai_chat}", "6:12", "anthropic_messages"),
        (
            "tool_calls: [{name: add, reason_code: tool.succeeded}]",
            "{}",
            "6:37",
            "'reason_code', which cannot be observed",
        ),
        (
            "effects: [{tool: add, watermark: clear}]",
            "{reports: [effects]}",
            "6:34",
            "'watermark'",
        ),
        (
            "event_order: [agent.started, my.event]",
            "{reports: [events]}",
            "6:41",
            "found 'my.event', which the agent reports, behind 'agent.started', which the "
            "provider sees",
        ),
        (
            "event_order: [{event: mcp.tool.called, tool: x}, agent.ended]",
            "{}",
            "6:61",
            "found 'agent.ended', which the provider sees, behind 'mcp.tool.called', which an MCP "
            "server sees",
        ),
    ],
)
def test_values_that_no_run_could_show(text, subject, place, words):
    (found,) = about_expected(text, subject)
    assert found.startswith(f"{place}: case.not_observable: ")
    assert words in found


@pytest.mark.parametrize(
    "text",
    [
        "stop_cause: completed",
        "event_order: [agent.started, {event: tool.call.proposed, tool: add}, agent.ended]",
        "event_order: [mcp.tool.called, mcp.tool.called]",
        "tool_calls: [{name: getWeather, count: 1}]",
        "workspace: {created: [a.txt]}",
    ],
)
def test_what_is_seen(text):
    assert about_expected(text) == []


def test_what_only_the_api_tells():
    assert about_expected("ended_on_failed_call: true", "{api: anthropic_messages}") == []


@pytest.mark.parametrize(
    ("more", "place", "words"),
    [
        ("agent_id: other\n", "7:1", "'agent_id'"),
        ("principal: eval.standard\n", "7:1", "'principal'"),
        ("policy_profile: eval.default\n", "7:1", "'policy_profile'"),
        ("clock: {advance_on_step: 1s}\n", "7:1", "'clock', which no command obeys: the clock"),
        ("interventions: [{at: run.queued, action: cancel}]\n", "7:1", "'interventions'"),
        ("fixtures: {tools: [add]}\n", "7:12", "the agent offers its own tools"),
        ("fixtures: {tool_results: times}\n", "7:12", "'tool_results'"),
        ("fixtures: {run_limits: {max_steps: 1}}\n", "7:12", "subject.limits"),
        ("fixtures: {compact_at_tokens: 9}\n", "7:12", "'compact_at_tokens'"),
        ("fixtures: {skills: [x]}\n", "7:12", "'skills'"),
    ],
)
def test_what_no_command_obeys(more, place, words):
    (found,) = problems(f"{HEAD}{INPUT}subject: {{}}\n{EXPECTED}{more}")
    assert found.startswith(f"{place}: case.not_controllable: ")
    assert words in found


def test_several_messages_and_what_happens_between_them():
    text = f"{HEAD}input: {{turns: [a, b]}}\nsubject: {{}}\n{EXPECTED}session: {{advance_seconds: 1}}\n"
    assert [one.split(": ")[0] for one in problems(text)] == ["7:1", "4:9"]


def test_arms_are_looked_at_one_by_one_and_so_is_their_comparison():
    text = f"""\
{HEAD}{INPUT}subject: {{}}
arms:
  - {{name: one, expected: {{terminal_status: completed}}, clock: {{}}}}
  - {{name: two, expected: {{metrics: {{a: 1}}}}, carry: [memory]}}
delta: {{policy_failures: same}}
"""
    assert [" ".join(one.split(": ")[:2]) for one in problems(text)] == [
        "9:9 case.not_observable",
        "7:57 case.not_controllable",
        "8:46 case.not_controllable",
        "8:28 case.not_observable",
    ]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("failure_reason: agent_exit_cod", "case.unknown_failure_reason"),
        ("failure_reason: wall_seconds", "case.unknown_failure_reason"),
        ("terminal_status: cancelled", "case.unknown_status"),
        ("event_order: [agent.startd]", "case.unknown_event_type"),
    ],
)
def test_names_that_no_run_could_show(text, rule):
    loaded = load_case(PATH, f"{HEAD}{INPUT}subject: {{}}\nexpected: {{{text}}}\n".encode())
    names = outside.vocabulary(DEFAULT)
    found = name_problems(loaded.runs[0], loaded.document, names, frozenset())
    assert [problem.rule for problem in found] == [rule]


def test_the_guide_lists_what_is_never_seen_and_what_is_reported():
    row = re.search(r"^\| how it ended.*$", GUIDE.read_text(encoding="utf-8"), re.M)[0]
    _, _, reported, never, _ = row.split("|")
    assert set(re.findall(r"`([a-z_]+)`", never)) == set(NEVER)
    for name, (_, report) in REPORTED.items():
        assert f"`{name}`" in reported and report in reported


def test_the_guide_names_every_event_that_is_seen():
    text = GUIDE.read_text(encoding="utf-8")
    for name in outside.SEEN_EVENTS | {outside.MCP_CALLED}:
        assert f"`{name}`" in text
