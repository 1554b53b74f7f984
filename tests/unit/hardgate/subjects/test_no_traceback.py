"""Whatever stands in a file of the suite, it is read or refused with places: never a traceback.

One value of a file that uses every key is replaced by another one, at any depth.
"""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardgate.cases.expected import ALIASES, Expected
from hardgate.cases.loader import load_case
from hardgate.cases.model import Case
from hardgate.cases.names import name_problems
from hardgate.cases.needs import need_problems
from hardgate.cases.outside import outside_problems
from hardgate.cases.planned import planned_runs
from hardgate.cases.rules import own_problems
from hardgate.cases.vocabulary import Vocabulary
from hardgate.cases.volatile import load_volatile_fields
from hardgate.documents.problems import DefinitionError
from hardgate.documents.strict_yaml import load
from hardgate.documents.validation import validate
from hardgate.fixtures.judge import load_judge
from hardgate.fixtures.model_script import load_script, played_script
from hardgate.fixtures.tool_results import load_tool_results

EXPECTED = {
    "terminal_status": "completed",
    "failure_reason": "max_steps_exceeded",
    "stop_cause": "max_turns",
    "final_text": "a",
    "final_text_contains": ["a"],
    "final_text_not_contains": ["b"],
    "final_text_contains_any": ["a", "c"],
    "final_text_matches": "a+",
    "tools": ["demo.a"],
    "tools_in_order": ["demo.a"],
    "tool_calls": [
        {
            "name": "demo.a",
            "min_count": 1,
            "max_count": 2,
            "arguments_subset": {"x": [1, {"y": None}]},
            "reason_code": "tool.succeeded",
        }
    ],
    "args": [{"tool": "demo.a", "key": "x", "equals": 1, "contains": "1", "subset": {"a": 1}}],
    "forbidden_tool_calls": ["demo.b"],
    "no_tools": True,
    "tool_started_count": 1,
    "ended_on_failed_call": False,
    "maximum_steps": 3,
    "maximum_model_calls": 3,
    "maximum_tool_calls": 3,
    "model_calls": 2,
    "event_order": ["run.queued", {"event": "run.completed", "tool": "demo.a", "step": 1}],
    "effects": [{"tool": "demo.a", "watermark": "set", "count": 1}],
    "workspace": {"created": ["a.txt"], "changed": ["b.txt"], "removed": ["c.txt"]},
    "reason_codes": ["tool.succeeded"],
    "approval_requested": True,
    "pending_approvals": 0,
    "blocked_sends": 0,
    "taint": {"private": True, "untrusted": False},
    "trust": [{"item": "tool_result", "tool": "demo.a", "level": "user", "private": True}],
    "distinct_prefixes": 1,
    "minimum_compactions": 1,
    "artifacts": [{"name": "a", "media_type": "text/plain", "sha256": "0" * 64, "contains": "x"}],
    "metrics": {"a_total": 1},
    "absent_strings": ["x"],
    "judge": "Is polite.",
    "verify": "true",
    "implicit": {"allow_errored_run": True},
}
CASE = {
    "name": "sample",
    "milestone": 1,
    "source": "trajectory",
    "source_export_id": "e",
    "reviewed_by": "us",
    "tags": ["smoke"],
    "subject": {
        "agent": "mine",
        "command": ["{agent}", "{prompt_file}", "{workspace}/x"],
        "prompt": "file",
        "api": "openai_chat",
        "environment": {"LEVEL": "1", "MY_TOKEN": "not-a-key"},
        "answer": {"file": "out.txt"},
        "limits": {"wall_seconds": 2.5, "output_bytes": 100, "turns": 3},
        "reports": ["events", "effects"],
    },
    "agent_id": "general",
    "principal": "eval.standard",
    "policy_profile": "eval.default",
    "clock": {"start": "2026-01-01T00:00:00Z", "advance_on_step": "1s"},
    "input": {"turns": ["a", "b"]},
    "model_fixture": "one",
    "fixtures": {
        "tools": ["demo.a"],
        "tool_results": "times",
        "workspace": "notes",
        "judge": "polite",
        "run_limits": {"max_steps": 2, "max_cost_micros": 3, "deadline_seconds": 1.5},
        "compact_at_tokens": 100,
        "mcp_servers": ["files"],
        "skills": ["notes"],
    },
    "interventions": [
        {
            "at": "run.queued",
            "action": "disconnect",
            "occurrence": 2,
            "where": {"tool": "demo.a", "call_id": "c", "step": 1},
            "reconnect": {"after": "immediately", "last_event_id": 3},
        },
        {"at": "after_effect", "action": "approve", "actor": "eval.approver"},
        {"at": "pipeline.3.before", "action": "answer", "text": "yes"},
    ],
    "session": {"advance_seconds": 5, "revoke_scope": "a.b", "revoke_scope_turn": 2},
    "expected": EXPECTED,
    "arms": [
        {"name": "one", "expected": {"contains": ["x"]}, "model_fixture": "two"},
        {"name": "two", "expected": {"max_turns": 2}, "carry": ["memory"], "clock": {}},
    ],
    "delta": {"outcome": "same", "policy_failures": "improves"},
}
SCRIPT = {
    "on_exhausted": "repeat_last",
    "turns": [
        {
            "kind": "tool_calls",
            "text": "a",
            "calls": [
                {"call_id": "c", "name": "demo.a", "arguments": {"x": None}},
                {"call_id": "d", "name": "demo.a", "arguments": "{"},
            ],
            "usage": {"input_tokens": 1, "output_tokens": 2},
        },
        {
            "kind": "error",
            "error_class": "rate_limit",
            "text": "caf\u00e9",
            "after_bytes": 3,
            "retry_after_seconds": 1,
        },
        {"kind": "final", "text": "b", "stop_reason": "end_turn", "delay_seconds": 0.5},
    ],
}
RESULTS = {
    "results": [
        {"tool": "demo.a", "arguments": {"x": [1.5, None]}, "output": {}, "content": ""},
        {"tool": "demo.a", "arguments_sha256": "0" * 64, "reason_code": "tool.internal"},
    ]
}
JUDGE = {
    "rubric": "a",
    "verdicts": [
        {"answer": "a", "passed": True, "reason": "b"},
        {"answer": "b", "passed": False, "reason": "c"},
    ],
}
VOLATILE = [{"event": "*", "field": "a.b", "reason": "nobody can pin it"}]
KNOWN = frozenset({"COMPLETED"})


def read_case(data):
    """Everything that reads a case, although the sample contradicts itself as a whole."""
    document = load("evals/cases/01_sample.yaml", data)
    case = validate(document, Case)
    problems = own_problems(case, document)
    vocabulary = Vocabulary(*[KNOWN] * 10, abilities=frozenset())
    problems += outside_problems(case, document)
    for run in planned_runs(case):
        problems += name_problems(run, document, vocabulary, frozenset())
        problems += need_problems(run, document, frozenset(), runs_now=True)
    raise DefinitionError(problems)


READERS = {
    "case": (CASE, read_case),
    "case file": (CASE, lambda data: load_case("evals/cases/01_sample.yaml", data)),
    "script": (SCRIPT, lambda data: played_script(load_script("s.yaml", data), 5)),
    "tool results": (RESULTS, lambda data: load_tool_results("t.yaml", data).by_key()),
    "judge": (JUDGE, lambda data: load_judge("j.yaml", data)),
    "volatile": (VOLATILE, lambda data: load_volatile_fields("v.yaml", data, ["run.queued"])),
}
STRANGE = (
    st.sampled_from([None, True, False, "", " ", "a", "\u00e9", "(", "x" * 600, "../a", "1"])
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([[], {}, [None], [[]], {"a": {}}, [{"name": 1}], {"name": ["a"]}])
)


def places(value, at=()):
    """The keys of everything in a value, itself included."""
    yield at
    if isinstance(value, dict):
        for key, below in value.items():
            yield from places(below, (*at, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from places(below, (*at, index))


def replaced(value, keys, new):
    if not keys:
        return new
    copy = value.copy()
    copy[keys[0]] = replaced(value[keys[0]], keys[1:], new)
    return copy


def test_the_sample_uses_every_key():
    assert set(CASE) == set(Case.model_fields)
    assert set(EXPECTED) == set(Expected.model_fields)
    assert {name for arm in CASE["arms"] for name in arm["expected"]} <= set(ALIASES)


@pytest.mark.parametrize("name", READERS)
def test_one_strange_value_anywhere(name):
    good, read = READERS[name]

    @settings(derandomize=True, database=None, deadline=None, max_examples=400)
    @given(st.sampled_from(list(places(good))), STRANGE)
    def holds(keys, strange):
        text = json.dumps(replaced(good, keys, strange), ensure_ascii=False)
        try:
            read(text.encode())
        except DefinitionError as error:
            for problem in error.problems:
                assert min(problem.line, problem.column) >= 1
                assert problem.message.startswith("found ")
                assert "\n" not in problem.message
                assert "; allowed: " in problem.message

    holds()
